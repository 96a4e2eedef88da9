// RUN: tcc-opt %s --tcc-stage-shared -split-input-file -verify-diagnostics

// expected-error @below {{tcc-stage-shared expects a kernel on level L1, found L0t: run tcc-tile first}}
func.func @early() attributes {tcc.level = "L0t"} {
  return
}

// -----

// expected-error @below {{tcc-stage-shared expects a kernel on level L1, found L3g, which is past it}}
func.func @late() attributes {tcc.level = "L3g"} {
  return
}

// -----

// expected-error @below {{tcc-stage-shared expects a kernel on level L1, found L0: run tcc-tile first}}
func.func @problem() {
  return
}

// -----

// expected-error @below {{unknown level 'L9'; known: L0t, L1, L2, L3, L3g, L4, L4d, L5}}
func.func @unknown() attributes {tcc.level = "L9"} {
  return
}

// -----

#s = #tcc.schedule<block = [32, 64, 32], warps = [1, 2], mma = wmma, transport = register, stages = 2>
// expected-error @below {{the positions of elements in a wmma fragment are unspecified (PTX ISA, wmma): expects epilogue = shared in the schedule, found epilogue = direct}}
func.func @wmma_direct() attributes {tcc.level = "L1", tcc.schedule = #s} {
  return
}

// -----

#s = #tcc.schedule<block = [32, 64, 32], warps = [1, 2], mma = mma_sync, transport = register, stages = 2>
// expected-error @below {{expects a loop over K with a tcc.matmul (L1.3)}}
func.func @no_matmul() attributes {tcc.level = "L1", tcc.schedule = #s} {
  return
}

// -----

#s = #tcc.schedule<block = [32, 64, 32], warps = [1, 2], mma = mma_sync, transport = cp_async, stages = 2, alignment = [16, 2, 4]>
gpu.module @narrow [#nvvm.target<chip = "sm_80">] {
  func.func @narrow(%A: memref<64x64xf16>, %B: memref<64x64xf16>, %C: memref<64x64xf32>) attributes {tcc.level = "L1", tcc.schedule = #s} {
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant dense<0.0> : tensor<32x64xf32>
    scf.forall (%m, %n) = (0, 0) to (64, 64) step (32, 64) {
      %acc = scf.for %k = %c0 to %c64 step %c32 iter_args(%c = %zero) -> (tensor<32x64xf32>) {
        %a = tcc.load %A[%m, %k] : memref<64x64xf16> -> tensor<32x32xf16>
        // expected-error @below {{can't be copied by cp_async, which moves at least 4 bytes: the schedule aligns the rows of operand 'b' so that 2 bytes can be moved at once; use transport = register}}
        %b = tcc.load %B[%k, %n] : memref<64x64xf16> -> tensor<32x64xf16>
        %d = tcc.matmul %a, %b, %c : tensor<32x32xf16>, tensor<32x64xf16>, tensor<32x64xf32>
        scf.yield %d : tensor<32x64xf32>
      }
      tcc.store %acc, %C[%m, %n] : tensor<32x64xf32>, memref<64x64xf32>
    }
    return
  }
}

// -----

#s = #tcc.schedule<block = [32, 64, 32], warps = [1, 2], mma = mma_sync, transport = register, stages = 2, epilogue = shared>
// expected-error @below {{expects to be in a gpu.module with one #nvvm.target (L0t.1): run tcc-select-target first}}
func.func @no_module(%A: memref<64x64xf16>, %C: memref<64x64xf32>) attributes {tcc.level = "L1", tcc.schedule = #s} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant dense<0.0> : tensor<32x32xf32>
  scf.forall (%m, %n) = (0, 0) to (64, 64) step (32, 32) {
    %acc = scf.for %k = %c0 to %c32 step %c32 iter_args(%c = %zero) -> (tensor<32x32xf32>) {
      %a = tcc.load %A[%m, %k] : memref<64x64xf16> -> tensor<32x32xf16>
      %d = tcc.matmul %a, %a, %c : tensor<32x32xf16>, tensor<32x32xf16>, tensor<32x32xf32>
      scf.yield %d : tensor<32x32xf32>
    }
    tcc.store %acc, %C[%m, %n] : tensor<32x32xf32>, memref<64x64xf32>
  }
  return
}

// -----

#s = #tcc.schedule<block = [48, 32, 32], warps = [2, 2], mma = mma_sync, transport = register, stages = 2, epilogue = shared>
gpu.module @rest [#nvvm.target<chip = "sm_80">] {
  func.func @rows_do_not_divide(%A: memref<64x64xf16>, %B: memref<64x64xf16>, %C: memref<64x64xf32>) attributes {tcc.level = "L1", tcc.schedule = #s} {
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %zero = arith.constant dense<0.0> : tensor<48x32xf32>
    scf.forall (%m, %n) = (0, 0) to (64, 64) step (48, 32) {
      // expected-error @below {{expects the block's 48 rows to be a multiple of 32, the rows of one atom on each warp along M}}
      %acc = scf.for %k = %c0 to %c32 step %c32 iter_args(%c = %zero) -> (tensor<48x32xf32>) {
        %a = tcc.load %A[%m, %k] : memref<64x64xf16> -> tensor<48x32xf16>
        %b = tcc.load %B[%k, %n] : memref<64x64xf16> -> tensor<32x32xf16>
        %d = tcc.matmul %a, %b, %c : tensor<48x32xf16>, tensor<32x32xf16>, tensor<48x32xf32>
        scf.yield %d : tensor<48x32xf32>
      }
      tcc.store %acc, %C[%m, %n] : tensor<48x32xf32>, memref<64x64xf32>
    }
    return
  }
}

// -----

#s = #tcc.schedule<block = [32, 32, 32], warps = [1, 2], mma = mma_sync, transport = register, stages = 2, epilogue = shared>
gpu.module @order [#nvvm.target<chip = "sm_80">] {
  func.func @load_after_store(%A: memref<64x64xf16>, %C: memref<64x64xf32>, %D: memref<64x64xf32>) attributes {tcc.level = "L1", tcc.schedule = #s} {
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %zero = arith.constant dense<0.0> : tensor<32x32xf32>
    scf.forall (%m, %n) = (0, 0) to (64, 64) step (32, 32) {
      %acc = scf.for %k = %c0 to %c32 step %c32 iter_args(%c = %zero) -> (tensor<32x32xf32>) {
        %a = tcc.load %A[%m, %k] : memref<64x64xf16> -> tensor<32x32xf16>
        %b = tcc.load %A[%k, %n] : memref<64x64xf16> -> tensor<32x32xf16>
        %d = tcc.matmul %a, %b, %c : tensor<32x32xf16>, tensor<32x32xf16>, tensor<32x32xf32>
        scf.yield %d : tensor<32x32xf32>
      }
      tcc.store %acc, %C[%m, %n] : tensor<32x32xf32>, memref<64x64xf32>
      // expected-error @below {{expects to stand before the stores (L1.4)}}
      %old = tcc.load %C[%n, %m] : memref<64x64xf32> -> tensor<32x32xf32>
      tcc.store %old, %D[%m, %n] : tensor<32x32xf32>, memref<64x64xf32>
    }
    return
  }
}
