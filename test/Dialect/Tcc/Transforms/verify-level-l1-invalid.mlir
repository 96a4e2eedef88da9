// RUN: tcc-opt %s --tcc-verify-level -split-input-file -verify-diagnostics

#s = #tcc.schedule<block = [32, 32, 32], warps = [2, 1], mma = mma_sync, transport = cp_async, stages = 2, alignment = [16, 16, 16]>
gpu.module @m [#nvvm.target<chip = "sm_80">] {
  func.func @work_beside_the_tiles(%A: memref<64x64xf16> {tcc.name = "A", tcc.dims = ["M", "K"], tcc.direction = "in"}, %B: memref<64x64xf16> {tcc.name = "B", tcc.dims = ["K", "N"], tcc.direction = "in"},
                %C: memref<64x64xf32> {tcc.name = "C", tcc.dims = ["M", "N"], tcc.direction = "out"})
      attributes {tcc.level = "L1", tcc.kernel = "k", tcc.variant = "all", tcc.preconditions = [], tcc.schedule = #s} {
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant dense<0.0> : tensor<32x32xf32>
    %z = arith.constant 0.0 : f32
    // expected-error @below {{can't stand beside the loop over tiles: expects constants, sizes and transposes (L1.1)}}
    memref.store %z, %C[%c0, %c0] : memref<64x64xf32>
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

#s = #tcc.schedule<block = [32, 32, 32], warps = [2, 1], mma = mma_sync, transport = cp_async, stages = 2, alignment = [16, 16, 16]>
gpu.module @m [#nvvm.target<chip = "sm_80">] {
  func.func @second_tile_loop(%A: memref<64x64xf16> {tcc.name = "A", tcc.dims = ["M", "K"], tcc.direction = "in"}, %B: memref<64x64xf16> {tcc.name = "B", tcc.dims = ["K", "N"], tcc.direction = "in"},
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
      tcc.store %acc, %C[%m, %n] : tensor<32x32xf32>, memref<64x64xf32>
    }
    // expected-error @below {{is a second loop over tiles; expects one (L1.1)}}
    scf.forall (%m, %n) = (0, 0) to (64, 64) step (32, 32) {
    }
    return
  }
}

// -----

#s = #tcc.schedule<block = [32, 32, 32], warps = [2, 1], mma = mma_sync, transport = cp_async, stages = 2, alignment = [16, 16, 16]>
gpu.module @m [#nvvm.target<chip = "sm_80">] {
  func.func @shared_memory(%A: memref<64x64xf16> {tcc.name = "A", tcc.dims = ["M", "K"], tcc.direction = "in"}, %B: memref<64x64xf16> {tcc.name = "B", tcc.dims = ["K", "N"], tcc.direction = "in"},
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
      // expected-error @below {{has no place before tcc-stage-shared (L1.2)}}
      %s = tcc.alloc_shared : !tcc.shared<32x32xf16>
      tcc.store %acc, %C[%m, %n] : tensor<32x32xf32>, memref<64x64xf32>
    }
    return
  }
}

// -----

#s = #tcc.schedule<block = [32, 32, 32], warps = [2, 1], mma = mma_sync, transport = cp_async, stages = 2, alignment = [16, 16, 16]>
gpu.module @m [#nvvm.target<chip = "sm_80">] {
  func.func @thread(%A: memref<64x64xf16> {tcc.name = "A", tcc.dims = ["M", "K"], tcc.direction = "in"}, %B: memref<64x64xf16> {tcc.name = "B", tcc.dims = ["K", "N"], tcc.direction = "in"},
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
      // expected-error @below {{has no place before tcc-map-grid (L1.2)}}
      %t = gpu.thread_id x
      tcc.store %acc, %C[%m, %n] : tensor<32x32xf32>, memref<64x64xf32>
    }
    return
  }
}

// -----

#s = #tcc.schedule<block = [32, 32, 32], warps = [2, 1], mma = mma_sync, transport = cp_async, stages = 2, alignment = [16, 16, 16]>
gpu.module @m [#nvvm.target<chip = "sm_80">] {
  func.func @encoding(%A: memref<64x64xf16> {tcc.name = "A", tcc.dims = ["M", "K"], tcc.direction = "in"}, %B: memref<64x64xf16> {tcc.name = "B", tcc.dims = ["K", "N"], tcc.direction = "in"},
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
      // expected-error @below {{expects tiles of static shape without encoding, found 'tensor<32x32xf32, #tcc.blocked<vector = 4, contiguous = 1, threads = 64>>' (L1.2)}}
      %e = tensor.empty() : tensor<32x32xf32, #tcc.blocked<vector = 4, contiguous = 1, threads = 64>>
      tcc.store %acc, %C[%m, %n] : tensor<32x32xf32>, memref<64x64xf32>
    }
    return
  }
}

// -----

#s = #tcc.schedule<block = [32, 32, 32], warps = [2, 1], mma = mma_sync, transport = cp_async, stages = 2, alignment = [16, 16, 16]>
gpu.module @m [#nvvm.target<chip = "sm_80">] {
  func.func @operand_is_not_loaded(%A: memref<64x64xf16> {tcc.name = "A", tcc.dims = ["M", "K"], tcc.direction = "in"}, %B: memref<64x64xf16> {tcc.name = "B", tcc.dims = ["K", "N"], tcc.direction = "in"},
                %C: memref<64x64xf32> {tcc.name = "C", tcc.dims = ["M", "N"], tcc.direction = "out"})
      attributes {tcc.level = "L1", tcc.kernel = "k", tcc.variant = "all", tcc.preconditions = [], tcc.schedule = #s} {
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant dense<0.0> : tensor<32x32xf32>
    scf.forall (%m, %n) = (0, 0) to (64, 64) step (32, 32) {
      %acc = scf.for %k = %c0 to %c64 step %c32 iter_args(%c = %zero) -> (tensor<32x32xf32>) {
        %a = tensor.empty() : tensor<32x32xf16>
        %b = tcc.load %B[%k, %n] : memref<64x64xf16> -> tensor<32x32xf16>
        // expected-error @below {{expects operands from tcc.load in the same loop (L1.3)}}
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
  func.func @rounds_otherwise(%A: memref<64x64xf16> {tcc.name = "A", tcc.dims = ["M", "K"], tcc.direction = "in"}, %B: memref<64x64xf16> {tcc.name = "B", tcc.dims = ["K", "N"], tcc.direction = "in"},
                %C: memref<64x64xf16> {tcc.name = "C", tcc.dims = ["M", "N"], tcc.direction = "out"})
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
      // expected-error @below {{rounds upward; accepted is to_nearest_even, the default}}
      %narrow = arith.truncf %acc upward : tensor<32x32xf32> to tensor<32x32xf16>
      tcc.store %narrow, %C[%m, %n] : tensor<32x32xf16>, memref<64x64xf16>
    }
    return
  }
}
