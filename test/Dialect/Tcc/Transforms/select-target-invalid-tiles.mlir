// RUN: tcc-opt %s --split-input-file --verify-diagnostics --tcc-select-target=chip=sm_80

// expected-error @below {{the schedule's block is [128, 128, 32], but the tile program steps by [64, 64, 32]}}
func.func @block_contradicts(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf32>)
    attributes {tcc.schedule = #tcc.schedule<block = [128, 128, 32], warps = [2, 2], mma = mma_sync,
                                             transport = cp_async, stages = 2>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %M = memref.dim %A, %c0 : memref<?x?xf16>
  %K = memref.dim %A, %c1 : memref<?x?xf16>
  %N = memref.dim %B, %c1 : memref<?x?xf16>
  scf.forall (%m, %n) = (0, 0) to (%M, %N) step (64, 64) {
    %zero = arith.constant dense<0.0> : tensor<64x64xf32>
    %acc = scf.for %k = %c0 to %K step %c32 iter_args(%c = %zero) -> (tensor<64x64xf32>) {
      %a = tcc.load %A[%m, %k] : memref<?x?xf16> -> tensor<64x32xf16>
      %b = tcc.load %B[%k, %n] : memref<?x?xf16> -> tensor<32x64xf16>
      %d = tcc.matmul %a, %b, %c : tensor<64x32xf16>, tensor<32x64xf16>, tensor<64x64xf32>
      scf.yield %d : tensor<64x64xf32>
    }
    tcc.store %acc, %C[%m, %n] : tensor<64x64xf32>, memref<?x?xf32>
  }
  return
}

// -----

func.func @steps(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %M = memref.dim %A, %c0 : memref<?x?xf16>
  %K = memref.dim %A, %c1 : memref<?x?xf16>
  %N = memref.dim %B, %c1 : memref<?x?xf16>
  scf.forall (%m, %n) = (0, 0) to (%M, %N) step (128, 64) {
    %zero = arith.constant dense<0.0> : tensor<64x64xf32>
    %acc = scf.for %k = %c0 to %K step %c32 iter_args(%c = %zero) -> (tensor<64x64xf32>) {
      %a = tcc.load %A[%m, %k] : memref<?x?xf16> -> tensor<64x32xf16>
      %b = tcc.load %B[%k, %n] : memref<?x?xf16> -> tensor<32x64xf16>
      // expected-error @below {{multiplies tiles of 64x64x32, but the loops step by 128, 64 and 32 (L1.5)}}
      %d = tcc.matmul %a, %b, %c : tensor<64x32xf16>, tensor<32x64xf16>, tensor<64x64xf32>
      scf.yield %d : tensor<64x64xf32>
    }
    tcc.store %acc, %C[%m, %n] : tensor<64x64xf32>, memref<?x?xf32>
  }
  return
}

// -----

func.func @dynamic_step(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %M = memref.dim %A, %c0 : memref<?x?xf16>
  %K = memref.dim %A, %c1 : memref<?x?xf16>
  %N = memref.dim %B, %c1 : memref<?x?xf16>
  // expected-error @below {{expected two dimensions, from 0, in constant steps}}
  scf.forall (%m, %n) = (0, 0) to (%M, %N) step (64, %c32) {
    %zero = arith.constant dense<0.0> : tensor<64x64xf32>
    %acc = scf.for %k = %c0 to %K step %c32 iter_args(%c = %zero) -> (tensor<64x64xf32>) {
      %a = tcc.load %A[%m, %k] : memref<?x?xf16> -> tensor<64x32xf16>
      %b = tcc.load %B[%k, %n] : memref<?x?xf16> -> tensor<32x64xf16>
      %d = tcc.matmul %a, %b, %c : tensor<64x32xf16>, tensor<32x64xf16>, tensor<64x64xf32>
      scf.yield %d : tensor<64x64xf32>
    }
    tcc.store %acc, %C[%m, %n] : tensor<64x64xf32>, memref<?x?xf32>
  }
  return
}

// -----

func.func @dynamic_k_step(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %M = memref.dim %A, %c0 : memref<?x?xf16>
  %K = memref.dim %A, %c1 : memref<?x?xf16>
  %N = memref.dim %B, %c1 : memref<?x?xf16>
  scf.forall (%m, %n) = (0, 0) to (%M, %N) step (64, 64) {
    %zero = arith.constant dense<0.0> : tensor<64x64xf32>
    // expected-error @below {{expected a loop over K from 0 in a constant step (L1.3)}}
    %acc = scf.for %k = %c0 to %K step %M iter_args(%c = %zero) -> (tensor<64x64xf32>) {
      %a = tcc.load %A[%m, %k] : memref<?x?xf16> -> tensor<64x32xf16>
      %b = tcc.load %B[%k, %n] : memref<?x?xf16> -> tensor<32x64xf16>
      %d = tcc.matmul %a, %b, %c : tensor<64x32xf16>, tensor<32x64xf16>, tensor<64x64xf32>
      scf.yield %d : tensor<64x64xf32>
    }
    tcc.store %acc, %C[%m, %n] : tensor<64x64xf32>, memref<?x?xf32>
  }
  return
}

// -----

func.func @offsets(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %M = memref.dim %A, %c0 : memref<?x?xf16>
  %K = memref.dim %A, %c1 : memref<?x?xf16>
  %N = memref.dim %B, %c1 : memref<?x?xf16>
  scf.forall (%m, %n) = (0, 0) to (%M, %N) step (64, 64) {
    %zero = arith.constant dense<0.0> : tensor<64x64xf32>
    %acc = scf.for %k = %c0 to %K step %c32 iter_args(%c = %zero) -> (tensor<64x64xf32>) {
      // expected-error @below {{expected the offsets [%m, %k] for operand A (L1.3)}}
      %a = tcc.load %A[%k, %m] : memref<?x?xf16> -> tensor<64x32xf16>
      %b = tcc.load %B[%k, %n] : memref<?x?xf16> -> tensor<32x64xf16>
      %d = tcc.matmul %a, %b, %c : tensor<64x32xf16>, tensor<32x64xf16>, tensor<64x64xf32>
      scf.yield %d : tensor<64x64xf32>
    }
    tcc.store %acc, %C[%m, %n] : tensor<64x64xf32>, memref<?x?xf32>
  }
  return
}

// -----

func.func @store_elsewhere(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %M = memref.dim %A, %c0 : memref<?x?xf16>
  %K = memref.dim %A, %c1 : memref<?x?xf16>
  %N = memref.dim %B, %c1 : memref<?x?xf16>
  scf.forall (%m, %n) = (0, 0) to (%M, %N) step (64, 64) {
    %zero = arith.constant dense<0.0> : tensor<64x64xf32>
    %acc = scf.for %k = %c0 to %K step %c32 iter_args(%c = %zero) -> (tensor<64x64xf32>) {
      %a = tcc.load %A[%m, %k] : memref<?x?xf16> -> tensor<64x32xf16>
      %b = tcc.load %B[%k, %n] : memref<?x?xf16> -> tensor<32x64xf16>
      %d = tcc.matmul %a, %b, %c : tensor<64x32xf16>, tensor<32x64xf16>, tensor<64x64xf32>
      scf.yield %d : tensor<64x64xf32>
    }
    // expected-error @below {{expected a row-major matrix and the offsets [%m, %n] (L1.6)}}
    tcc.store %acc, %C[%n, %m] : tensor<64x64xf32>, memref<?x?xf32>
  }
  return
}

// -----

func.func @no_store(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %M = memref.dim %A, %c0 : memref<?x?xf16>
  %K = memref.dim %A, %c1 : memref<?x?xf16>
  %N = memref.dim %B, %c1 : memref<?x?xf16>
  // expected-error @below {{expected a tcc.store of the result (L1.6)}}
  scf.forall (%m, %n) = (0, 0) to (%M, %N) step (64, 64) {
    %zero = arith.constant dense<0.0> : tensor<64x64xf32>
    %acc = scf.for %k = %c0 to %K step %c32 iter_args(%c = %zero) -> (tensor<64x64xf32>) {
      %a = tcc.load %A[%m, %k] : memref<?x?xf16> -> tensor<64x32xf16>
      %b = tcc.load %B[%k, %n] : memref<?x?xf16> -> tensor<32x64xf16>
      %d = tcc.matmul %a, %b, %c : tensor<64x32xf16>, tensor<32x64xf16>, tensor<64x64xf32>
      scf.yield %d : tensor<64x64xf32>
    }
  }
  return
}

// -----

func.func @two_stores(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %M = memref.dim %A, %c0 : memref<?x?xf16>
  %K = memref.dim %A, %c1 : memref<?x?xf16>
  %N = memref.dim %B, %c1 : memref<?x?xf16>
  scf.forall (%m, %n) = (0, 0) to (%M, %N) step (64, 64) {
    %zero = arith.constant dense<0.0> : tensor<64x64xf32>
    %acc = scf.for %k = %c0 to %K step %c32 iter_args(%c = %zero) -> (tensor<64x64xf32>) {
      %a = tcc.load %A[%m, %k] : memref<?x?xf16> -> tensor<64x32xf16>
      %b = tcc.load %B[%k, %n] : memref<?x?xf16> -> tensor<32x64xf16>
      %d = tcc.matmul %a, %b, %c : tensor<64x32xf16>, tensor<32x64xf16>, tensor<64x64xf32>
      scf.yield %d : tensor<64x64xf32>
    }
    tcc.store %acc, %C[%m, %n] : tensor<64x64xf32>, memref<?x?xf32>
    // expected-error @below {{stores to a matrix that is already stored to (L1.6)}}
    tcc.store %acc, %C[%m, %n] : tensor<64x64xf32>, memref<?x?xf32>
  }
  return
}

// -----

// expected-error @below {{no schedule fits the tile 8x64x32: block M = 8 isn't a multiple of 16 (16 of mma_sync m16n8k16 f16 x f16 -> f32, times 1 warps along M); 16 is the nearest; nearest legal: block = [16, 64, 32]}}
func.func @small_tile(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %M = memref.dim %A, %c0 : memref<?x?xf16>
  %K = memref.dim %A, %c1 : memref<?x?xf16>
  %N = memref.dim %B, %c1 : memref<?x?xf16>
  scf.forall (%m, %n) = (0, 0) to (%M, %N) step (8, 64) {
    %zero = arith.constant dense<0.0> : tensor<8x64xf32>
    %acc = scf.for %k = %c0 to %K step %c32 iter_args(%c = %zero) -> (tensor<8x64xf32>) {
      %a = tcc.load %A[%m, %k] : memref<?x?xf16> -> tensor<8x32xf16>
      %b = tcc.load %B[%k, %n] : memref<?x?xf16> -> tensor<32x64xf16>
      %d = tcc.matmul %a, %b, %c : tensor<8x32xf16>, tensor<32x64xf16>, tensor<8x64xf32>
      scf.yield %d : tensor<8x64xf32>
    }
    tcc.store %acc, %C[%m, %n] : tensor<8x64xf32>, memref<?x?xf32>
  }
  return
}
