// RUN: tcc-opt %s --tcc-verify-level -split-input-file -verify-diagnostics

#s = #tcc.schedule<block = [32, 32, 32], warps = [2, 1], mma = mma_sync, transport = cp_async, stages = 2, alignment = [16, 16, 16]>
gpu.module @m [#nvvm.target<chip = "sm_80">] {
  func.func @operand_from_registers(%A: memref<64x64xf16> {tcc.name = "A", tcc.dims = ["M", "K"], tcc.direction = "in"}, %B: memref<64x64xf16> {tcc.name = "B", tcc.dims = ["K", "N"], tcc.direction = "in"},
                %C: memref<64x64xf32> {tcc.name = "C", tcc.dims = ["M", "N"], tcc.direction = "out"})
      attributes {tcc.level = "L2", tcc.kernel = "k", tcc.variant = "all", tcc.preconditions = [], tcc.schedule = #s} {
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant dense<0.0> : tensor<32x32xf32>
    scf.forall (%m, %n) = (0, 0) to (64, 64) step (32, 32) {
      %sa = tcc.alloc_shared : !tcc.shared<32x32xf16>
      %acc = scf.for %k = %c0 to %c64 step %c32 iter_args(%c = %zero) -> (tensor<32x32xf32>) {
        tcc.copy cp_async %A[%m, %k], %sa {bytes = 16 : i64, clamp = 0 : i64} : memref<64x64xf16>, !tcc.shared<32x32xf16>
        %a = tensor.empty() : tensor<32x32xf16>
        // expected-error @below {{expects operands that are shared buffers or come from tcc.local_load (L2.1)}}
        %d = tcc.matmul %a, %a, %c : tensor<32x32xf16>, tensor<32x32xf16>, tensor<32x32xf32>
        scf.yield %d : tensor<32x32xf32>
      }
      tcc.store %acc, %C[%m, %n] {bytes = 8 : i64} : tensor<32x32xf32>, memref<64x64xf32>
    }
    return
  }
}

// -----

#s = #tcc.schedule<block = [32, 32, 32], warps = [2, 1], mma = mma_sync, transport = cp_async, stages = 2, alignment = [4, 4, 16]>
gpu.module @m [#nvvm.target<chip = "sm_80">] {
  func.func @copy_too_wide(%A: memref<64x64xf16> {tcc.name = "A", tcc.dims = ["M", "K"], tcc.direction = "in"}, %B: memref<64x64xf16> {tcc.name = "B", tcc.dims = ["K", "N"], tcc.direction = "in"},
                %C: memref<64x64xf32> {tcc.name = "C", tcc.dims = ["M", "N"], tcc.direction = "out"})
      attributes {tcc.level = "L2", tcc.kernel = "k", tcc.variant = "all", tcc.preconditions = [], tcc.schedule = #s} {
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant dense<0.0> : tensor<32x32xf32>
    scf.forall (%m, %n) = (0, 0) to (64, 64) step (32, 32) {
      %sa = tcc.alloc_shared : !tcc.shared<32x32xf16>
      %acc = scf.for %k = %c0 to %c64 step %c32 iter_args(%c = %zero) -> (tensor<32x32xf32>) {
        // expected-error @below {{moves 16 bytes at once, but the schedule aligns rows to 4 (L2.2)}}
        tcc.copy cp_async %A[%m, %k], %sa {bytes = 16 : i64, clamp = 0 : i64} : memref<64x64xf16>, !tcc.shared<32x32xf16>
        %a = tcc.local_load %sa : !tcc.shared<32x32xf16> -> tensor<32x32xf16>
        %d = tcc.matmul %a, %a, %c : tensor<32x32xf16>, tensor<32x32xf16>, tensor<32x32xf32>
        scf.yield %d : tensor<32x32xf32>
      }
      tcc.store %acc, %C[%m, %n] {bytes = 8 : i64} : tensor<32x32xf32>, memref<64x64xf32>
    }
    return
  }
}

// -----

#s = #tcc.schedule<block = [32, 32, 32], warps = [2, 1], mma = mma_sync, transport = cp_async, stages = 2, alignment = [16, 16, 4]>
gpu.module @m [#nvvm.target<chip = "sm_80">] {
  func.func @store_too_wide(%A: memref<64x64xf16> {tcc.name = "A", tcc.dims = ["M", "K"], tcc.direction = "in"}, %B: memref<64x64xf16> {tcc.name = "B", tcc.dims = ["K", "N"], tcc.direction = "in"},
                %C: memref<64x64xf32> {tcc.name = "C", tcc.dims = ["M", "N"], tcc.direction = "out"})
      attributes {tcc.level = "L2", tcc.kernel = "k", tcc.variant = "all", tcc.preconditions = [], tcc.schedule = #s} {
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant dense<0.0> : tensor<32x32xf32>
    scf.forall (%m, %n) = (0, 0) to (64, 64) step (32, 32) {
      %sa = tcc.alloc_shared : !tcc.shared<32x32xf16>
      %acc = scf.for %k = %c0 to %c64 step %c32 iter_args(%c = %zero) -> (tensor<32x32xf32>) {
        tcc.copy cp_async %A[%m, %k], %sa {bytes = 16 : i64, clamp = 0 : i64} : memref<64x64xf16>, !tcc.shared<32x32xf16>
        %a = tcc.local_load %sa : !tcc.shared<32x32xf16> -> tensor<32x32xf16>
        %d = tcc.matmul %a, %a, %c : tensor<32x32xf16>, tensor<32x32xf16>, tensor<32x32xf32>
        scf.yield %d : tensor<32x32xf32>
      }
      // expected-error @below {{moves 8 bytes at once, but the schedule aligns rows to 4 (L2.2)}}
      tcc.store %acc, %C[%m, %n] {bytes = 8 : i64} : tensor<32x32xf32>, memref<64x64xf32>
    }
    return
  }
}

// -----

#s = #tcc.schedule<block = [32, 32, 32], warps = [2, 1], mma = mma_sync, transport = cp_async, stages = 2, alignment = [16, 16, 16]>
gpu.module @m [#nvvm.target<chip = "sm_80">] {
  func.func @store_of_no_width(%A: memref<64x64xf16> {tcc.name = "A", tcc.dims = ["M", "K"], tcc.direction = "in"}, %B: memref<64x64xf16> {tcc.name = "B", tcc.dims = ["K", "N"], tcc.direction = "in"},
                %C: memref<64x64xf32> {tcc.name = "C", tcc.dims = ["M", "N"], tcc.direction = "out"})
      attributes {tcc.level = "L2", tcc.kernel = "k", tcc.variant = "all", tcc.preconditions = [], tcc.schedule = #s} {
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant dense<0.0> : tensor<32x32xf32>
    scf.forall (%m, %n) = (0, 0) to (64, 64) step (32, 32) {
      %sa = tcc.alloc_shared : !tcc.shared<32x32xf16>
      %acc = scf.for %k = %c0 to %c64 step %c32 iter_args(%c = %zero) -> (tensor<32x32xf32>) {
        tcc.copy cp_async %A[%m, %k], %sa {bytes = 16 : i64, clamp = 0 : i64} : memref<64x64xf16>, !tcc.shared<32x32xf16>
        %a = tcc.local_load %sa : !tcc.shared<32x32xf16> -> tensor<32x32xf16>
        %d = tcc.matmul %a, %a, %c : tensor<32x32xf16>, tensor<32x32xf16>, tensor<32x32xf32>
        scf.yield %d : tensor<32x32xf32>
      }
      // expected-error @below {{expects 'bytes' (L2.2)}}
      tcc.store %acc, %C[%m, %n] : tensor<32x32xf32>, memref<64x64xf32>
    }
    return
  }
}

// -----

#s = #tcc.schedule<block = [32, 32, 32], warps = [2, 1], mma = wmma, transport = cp_async, stages = 2, alignment = [16, 16, 16]>
gpu.module @m [#nvvm.target<chip = "sm_80">] {
  func.func @opaque_accumulator(%A: memref<64x64xf16> {tcc.name = "A", tcc.dims = ["M", "K"], tcc.direction = "in"}, %B: memref<64x64xf16> {tcc.name = "B", tcc.dims = ["K", "N"], tcc.direction = "in"},
                %C: memref<64x64xf32> {tcc.name = "C", tcc.dims = ["M", "N"], tcc.direction = "out"})
      attributes {tcc.level = "L2", tcc.kernel = "k", tcc.variant = "all", tcc.preconditions = [], tcc.schedule = #s} {
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant dense<0.0> : tensor<32x32xf32>
    scf.forall (%m, %n) = (0, 0) to (64, 64) step (32, 32) {
      %sa = tcc.alloc_shared : !tcc.shared<32x32xf16>
      %acc = scf.for %k = %c0 to %c64 step %c32 iter_args(%c = %zero) -> (tensor<32x32xf32>) {
        tcc.copy cp_async %A[%m, %k], %sa {bytes = 16 : i64, clamp = 0 : i64} : memref<64x64xf16>, !tcc.shared<32x32xf16>
        %a = tcc.local_load %sa : !tcc.shared<32x32xf16> -> tensor<32x32xf16>
        %d = tcc.matmul %a, %a, %c : tensor<32x32xf16>, tensor<32x32xf16>, tensor<32x32xf32>
        scf.yield %d : tensor<32x32xf32>
      }
      // expected-error @below {{uses a wmma accumulator, whose layout is unspecified: expects slices that go to shared memory (L2.3)}}
      tcc.store %acc, %C[%m, %n] {bytes = 8 : i64} : tensor<32x32xf32>, memref<64x64xf32>
    }
    return
  }
}

// -----

#s = #tcc.schedule<block = [32, 32, 32], warps = [2, 1], mma = mma_sync, transport = cp_async, stages = 2, alignment = [16, 16, 16]>
gpu.module @m [#nvvm.target<chip = "sm_80">] {
  func.func @buffer_in_the_loop(%A: memref<64x64xf16> {tcc.name = "A", tcc.dims = ["M", "K"], tcc.direction = "in"}, %B: memref<64x64xf16> {tcc.name = "B", tcc.dims = ["K", "N"], tcc.direction = "in"},
                %C: memref<64x64xf32> {tcc.name = "C", tcc.dims = ["M", "N"], tcc.direction = "out"})
      attributes {tcc.level = "L2", tcc.kernel = "k", tcc.variant = "all", tcc.preconditions = [], tcc.schedule = #s} {
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant dense<0.0> : tensor<32x32xf32>
    scf.forall (%m, %n) = (0, 0) to (64, 64) step (32, 32) {
      %acc = scf.for %k = %c0 to %c64 step %c32 iter_args(%c = %zero) -> (tensor<32x32xf32>) {
        // expected-error @below {{expects to stand at the top of the loop over tiles (L2.4)}}
        %sa = tcc.alloc_shared : !tcc.shared<32x32xf16>
        tcc.copy cp_async %A[%m, %k], %sa {bytes = 16 : i64, clamp = 0 : i64} : memref<64x64xf16>, !tcc.shared<32x32xf16>
        %a = tcc.local_load %sa : !tcc.shared<32x32xf16> -> tensor<32x32xf16>
        %d = tcc.matmul %a, %a, %c : tensor<32x32xf16>, tensor<32x32xf16>, tensor<32x32xf32>
        scf.yield %d : tensor<32x32xf32>
      }
      tcc.store %acc, %C[%m, %n] {bytes = 8 : i64} : tensor<32x32xf32>, memref<64x64xf32>
    }
    return
  }
}
