// RUN: tcc-opt %s --tcc-verify-level -split-input-file -verify-diagnostics

#s = #tcc.schedule<block = [32, 32, 32], warps = [2, 1], mma = mma_sync, transport = cp_async, stages = 2, alignment = [16, 16, 16]>
gpu.module @m [#nvvm.target<chip = "sm_80">] {
  func.func @accumulator_is_not_zero(%A: memref<64x64xf16> {tcc.name = "A", tcc.dims = ["M", "K"], tcc.direction = "in"}, %B: memref<64x64xf16> {tcc.name = "B", tcc.dims = ["K", "N"], tcc.direction = "in"},
                %C: memref<64x64xf32> {tcc.name = "C", tcc.dims = ["M", "N"], tcc.direction = "out"})
      attributes {tcc.level = "L1", tcc.kernel = "k", tcc.variant = "all", tcc.preconditions = [], tcc.schedule = #s} {
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant dense<1.0> : tensor<32x32xf32>
    scf.forall (%m, %n) = (0, 0) to (64, 64) step (32, 32) {
      // expected-error @below {{expects an accumulator that starts as a zero constant (L1.3)}}
      %acc = scf.for %k = %c0 to %c64 step %c32 iter_args(%c = %zero) -> (tensor<32x32xf32>) {
        %a = tcc.load %A[%m, %k] : memref<64x64xf16> -> tensor<32x32xf16>
        %b = tcc.load %B[%k, %n] : memref<64x64xf16> -> tensor<32x32xf16>
        %d = tcc.matmul %a, %b, %c : tensor<32x32xf16>, tensor<32x32xf16>, tensor<32x32xf32>
        scf.yield %d : tensor<32x32xf32>
      }
      tcc.store %acc, %C[%m, %n] : tensor<32x32xf32>, memref<64x64xf32>
    }
    return
  }
}

// -----

#s = #tcc.schedule<block = [32, 32, 32], warps = [2, 1], mma = mma_sync, transport = cp_async, stages = 2, alignment = [16, 16, 16]>
gpu.module @m [#nvvm.target<chip = "sm_80">] {
  func.func @two_matmuls(%A: memref<64x64xf16> {tcc.name = "A", tcc.dims = ["M", "K"], tcc.direction = "in"}, %B: memref<64x64xf16> {tcc.name = "B", tcc.dims = ["K", "N"], tcc.direction = "in"},
                %C: memref<64x64xf32> {tcc.name = "C", tcc.dims = ["M", "N"], tcc.direction = "out"})
      attributes {tcc.level = "L1", tcc.kernel = "k", tcc.variant = "all", tcc.preconditions = [], tcc.schedule = #s} {
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant dense<0.0> : tensor<32x32xf32>
    scf.forall (%m, %n) = (0, 0) to (64, 64) step (32, 32) {
      %acc = scf.for %k = %c0 to %c64 step %c32 iter_args(%c = %zero) -> (tensor<32x32xf32>) {
        %a = tcc.load %A[%m, %k] : memref<64x64xf16> -> tensor<32x32xf16>
        %b = tcc.load %B[%k, %n] : memref<64x64xf16> -> tensor<32x32xf16>
        %e = tcc.matmul %a, %b, %c : tensor<32x32xf16>, tensor<32x32xf16>, tensor<32x32xf32>
        // expected-error @below {{is a second matmul; expects one (L1.3)}}
        %d = tcc.matmul %a, %b, %e : tensor<32x32xf16>, tensor<32x32xf16>, tensor<32x32xf32>
        scf.yield %d : tensor<32x32xf32>
      }
      tcc.store %acc, %C[%m, %n] : tensor<32x32xf32>, memref<64x64xf32>
    }
    return
  }
}

// -----

#s = #tcc.schedule<block = [32, 32, 32], warps = [2, 1], mma = mma_sync, transport = cp_async, stages = 2, alignment = [16, 16, 16]>
gpu.module @m [#nvvm.target<chip = "sm_80">] {
  func.func @not_elementwise(%A: memref<64x64xf16> {tcc.name = "A", tcc.dims = ["M", "K"], tcc.direction = "in"}, %B: memref<64x64xf16> {tcc.name = "B", tcc.dims = ["K", "N"], tcc.direction = "in"},
                %C: memref<64x64xf32> {tcc.name = "C", tcc.dims = ["M", "N"], tcc.direction = "out"})
      attributes {tcc.level = "L1", tcc.kernel = "k", tcc.variant = "all", tcc.preconditions = [], tcc.schedule = #s} {
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant dense<0.0> : tensor<32x32xf32>
    scf.forall (%m, %n) = (0, 0) to (64, 64) step (32, 32) {
      %acc = scf.for %k = %c0 to %c64 step %c32 iter_args(%c = %zero) -> (tensor<32x32xf32>) {
        %a = tcc.load %A[%m, %k] : memref<64x64xf16> -> tensor<32x32xf16>
        %b = tcc.load %B[%k, %n] : memref<64x64xf16> -> tensor<32x32xf16>
        %d = tcc.matmul %a, %b, %c : tensor<32x32xf16>, tensor<32x32xf16>, tensor<32x32xf32>
        scf.yield %d : tensor<32x32xf32>
      }
      // expected-error @below {{has no place after the loop: expects elementwise ops, splat constants, tcc.load and linalg.broadcast (L1.4)}}
      %s = tensor.extract_slice %acc[0, 0] [32, 16] [1, 1] : tensor<32x32xf32> to tensor<32x16xf32>
      tcc.store %acc, %C[%m, %n] : tensor<32x32xf32>, memref<64x64xf32>
    }
    return
  }
}

// -----

#s = #tcc.schedule<block = [32, 64, 32], warps = [2, 1], mma = mma_sync, transport = cp_async, stages = 2, alignment = [16, 16, 16]>
gpu.module @m [#nvvm.target<chip = "sm_80">] {
  func.func @other_block(%A: memref<64x64xf16> {tcc.name = "A", tcc.dims = ["M", "K"], tcc.direction = "in"}, %B: memref<64x64xf16> {tcc.name = "B", tcc.dims = ["K", "N"], tcc.direction = "in"},
                %C: memref<64x64xf32> {tcc.name = "C", tcc.dims = ["M", "N"], tcc.direction = "out"})
      attributes {tcc.level = "L1", tcc.kernel = "k", tcc.variant = "all", tcc.preconditions = [], tcc.schedule = #s} {
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant dense<0.0> : tensor<32x32xf32>
    // expected-error @below {{steps by 32 and 32, but the schedule's block is 32 by 64 (L1.5)}}
    scf.forall (%m, %n) = (0, 0) to (64, 64) step (32, 32) {
      %acc = scf.for %k = %c0 to %c64 step %c32 iter_args(%c = %zero) -> (tensor<32x32xf32>) {
        %a = tcc.load %A[%m, %k] : memref<64x64xf16> -> tensor<32x32xf16>
        %b = tcc.load %B[%k, %n] : memref<64x64xf16> -> tensor<32x32xf16>
        %d = tcc.matmul %a, %b, %c : tensor<32x32xf16>, tensor<32x32xf16>, tensor<32x32xf32>
        scf.yield %d : tensor<32x32xf32>
      }
      tcc.store %acc, %C[%m, %n] : tensor<32x32xf32>, memref<64x64xf32>
    }
    return
  }
}

// -----

#s = #tcc.schedule<block = [32, 32, 64], warps = [2, 1], mma = mma_sync, transport = cp_async, stages = 2, alignment = [16, 16, 16]>
gpu.module @m [#nvvm.target<chip = "sm_80">] {
  func.func @other_slab(%A: memref<64x64xf16> {tcc.name = "A", tcc.dims = ["M", "K"], tcc.direction = "in"}, %B: memref<64x64xf16> {tcc.name = "B", tcc.dims = ["K", "N"], tcc.direction = "in"},
                %C: memref<64x64xf32> {tcc.name = "C", tcc.dims = ["M", "N"], tcc.direction = "out"})
      attributes {tcc.level = "L1", tcc.kernel = "k", tcc.variant = "all", tcc.preconditions = [], tcc.schedule = #s} {
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant dense<0.0> : tensor<32x32xf32>
    scf.forall (%m, %n) = (0, 0) to (64, 64) step (32, 32) {
      // expected-error @below {{expects the schedule's block K of 64 as its step (L1.5)}}
      %acc = scf.for %k = %c0 to %c64 step %c32 iter_args(%c = %zero) -> (tensor<32x32xf32>) {
        %a = tcc.load %A[%m, %k] : memref<64x64xf16> -> tensor<32x32xf16>
        %b = tcc.load %B[%k, %n] : memref<64x64xf16> -> tensor<32x32xf16>
        %d = tcc.matmul %a, %b, %c : tensor<32x32xf16>, tensor<32x32xf16>, tensor<32x32xf32>
        scf.yield %d : tensor<32x32xf32>
      }
      tcc.store %acc, %C[%m, %n] : tensor<32x32xf32>, memref<64x64xf32>
    }
    return
  }
}

// -----

#s = #tcc.schedule<block = [32, 32, 32], warps = [2, 1], mma = mma_sync, transport = cp_async, stages = 2, alignment = [16, 16, 16]>
gpu.module @m [#nvvm.target<chip = "sm_80">] {
  func.func @stored_twice(%A: memref<64x64xf16> {tcc.name = "A", tcc.dims = ["M", "K"], tcc.direction = "in"}, %B: memref<64x64xf16> {tcc.name = "B", tcc.dims = ["K", "N"], tcc.direction = "in"},
                %C: memref<64x64xf32> {tcc.name = "C", tcc.dims = ["M", "N"], tcc.direction = "out"})
      attributes {tcc.level = "L1", tcc.kernel = "k", tcc.variant = "all", tcc.preconditions = [], tcc.schedule = #s} {
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant dense<0.0> : tensor<32x32xf32>
    scf.forall (%m, %n) = (0, 0) to (64, 64) step (32, 32) {
      %acc = scf.for %k = %c0 to %c64 step %c32 iter_args(%c = %zero) -> (tensor<32x32xf32>) {
        %a = tcc.load %A[%m, %k] : memref<64x64xf16> -> tensor<32x32xf16>
        %b = tcc.load %B[%k, %n] : memref<64x64xf16> -> tensor<32x32xf16>
        %d = tcc.matmul %a, %b, %c : tensor<32x32xf16>, tensor<32x32xf16>, tensor<32x32xf32>
        scf.yield %d : tensor<32x32xf32>
      }
      // expected-note @below {{it is stored here, too}}
      tcc.store %acc, %C[%m, %n] : tensor<32x32xf32>, memref<64x64xf32>
      // expected-error @below {{stores a matrix for the second time (L1.6)}}
      tcc.store %acc, %C[%m, %n] : tensor<32x32xf32>, memref<64x64xf32>
    }
    return
  }
}

// -----

#s = #tcc.schedule<block = [32, 32, 32], warps = [2, 1], mma = mma_sync, transport = cp_async, stages = 2, alignment = [16, 16, 16]>
gpu.module @m [#nvvm.target<chip = "sm_80">] {
  func.func @stored_elsewhere(%A: memref<64x64xf16> {tcc.name = "A", tcc.dims = ["M", "K"], tcc.direction = "in"}, %B: memref<64x64xf16> {tcc.name = "B", tcc.dims = ["K", "N"], tcc.direction = "in"},
                %C: memref<64x64xf32> {tcc.name = "C", tcc.dims = ["M", "N"], tcc.direction = "out"})
      attributes {tcc.level = "L1", tcc.kernel = "k", tcc.variant = "all", tcc.preconditions = [], tcc.schedule = #s} {
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant dense<0.0> : tensor<32x32xf32>
    scf.forall (%m, %n) = (0, 0) to (64, 64) step (32, 32) {
      %acc = scf.for %k = %c0 to %c64 step %c32 iter_args(%c = %zero) -> (tensor<32x32xf32>) {
        %a = tcc.load %A[%m, %k] : memref<64x64xf16> -> tensor<32x32xf16>
        %b = tcc.load %B[%k, %n] : memref<64x64xf16> -> tensor<32x32xf16>
        %d = tcc.matmul %a, %b, %c : tensor<32x32xf16>, tensor<32x32xf16>, tensor<32x32xf32>
        scf.yield %d : tensor<32x32xf32>
      }
      // expected-error @below {{expects the tile's own offsets, those of the loop over tiles (L1.6)}}
      tcc.store %acc, %C[%n, %m] : tensor<32x32xf32>, memref<64x64xf32>
    }
    return
  }
}

// -----

#s = #tcc.schedule<block = [32, 32, 32], warps = [2, 1], mma = mma_sync, transport = cp_async, stages = 2, alignment = [16, 16, 16]>
gpu.module @m [#nvvm.target<chip = "sm_80">] {
  func.func @not_stored(%A: memref<64x64xf16> {tcc.name = "A", tcc.dims = ["M", "K"], tcc.direction = "in"}, %B: memref<64x64xf16> {tcc.name = "B", tcc.dims = ["K", "N"], tcc.direction = "in"},
                %C: memref<64x64xf32> {tcc.name = "C", tcc.dims = ["M", "N"], tcc.direction = "out"})
      attributes {tcc.level = "L1", tcc.kernel = "k", tcc.variant = "all", tcc.preconditions = [], tcc.schedule = #s} {
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant dense<0.0> : tensor<32x32xf32>
    // expected-error @below {{expects a tcc.store of the result (L1.6)}}
    scf.forall (%m, %n) = (0, 0) to (64, 64) step (32, 32) {
      %acc = scf.for %k = %c0 to %c64 step %c32 iter_args(%c = %zero) -> (tensor<32x32xf32>) {
        %a = tcc.load %A[%m, %k] : memref<64x64xf16> -> tensor<32x32xf16>
        %b = tcc.load %B[%k, %n] : memref<64x64xf16> -> tensor<32x32xf16>
        %d = tcc.matmul %a, %b, %c : tensor<32x32xf16>, tensor<32x32xf16>, tensor<32x32xf32>
        scf.yield %d : tensor<32x32xf32>
      }
      
    }
    return
  }
}
