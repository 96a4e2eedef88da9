// RUN: tcc-opt %s --split-input-file --verify-diagnostics --tcc-select-target=chip=sm_80

// Loops end where their matrices do: what they leave out is not computed, what is beyond is not there.

func.func @swapped(%A: memref<?x?xf16>, %B: memref<?x128xf16>, %C: memref<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %M = memref.dim %A, %c0 : memref<?x?xf16>
  %K = memref.dim %A, %c1 : memref<?x?xf16>
  %N = memref.dim %B, %c1 : memref<?x128xf16>
  // expected-error @below {{the loop over M ends at dimension 1 of argument 'B', which isn't M (L1.1)}}
  scf.forall (%m, %n) = (0, 0) to (%N, %M) step (64, 64) {
    %zero = arith.constant dense<0.0> : tensor<64x64xf32>
    %acc = scf.for %k = %c0 to %K step %c32 iter_args(%c = %zero) -> (tensor<64x64xf32>) {
      %a = tcc.load %A[%m, %k] : memref<?x?xf16> -> tensor<64x32xf16>
      %b = tcc.load %B[%k, %n] : memref<?x128xf16> -> tensor<32x64xf16>
      %d = tcc.matmul %a, %b, %c : tensor<64x32xf16>, tensor<32x64xf16>, tensor<64x64xf32>
      scf.yield %d : tensor<64x64xf32>
    }
    tcc.store %acc, %C[%m, %n] : tensor<64x64xf32>, memref<?x?xf32>
  }
  return
}

// -----

func.func @constant_of_dynamic(%A: memref<?x?xf16>, %B: memref<?x128xf16>, %C: memref<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %K = memref.dim %A, %c1 : memref<?x?xf16>
  // expected-error @below {{the loop over M ends at 256, but M is known at launch only; expected a memref.dim (L1.1)}}
  scf.forall (%m, %n) = (0, 0) to (256, 128) step (64, 64) {
    %zero = arith.constant dense<0.0> : tensor<64x64xf32>
    %acc = scf.for %k = %c0 to %K step %c32 iter_args(%c = %zero) -> (tensor<64x64xf32>) {
      %a = tcc.load %A[%m, %k] : memref<?x?xf16> -> tensor<64x32xf16>
      %b = tcc.load %B[%k, %n] : memref<?x128xf16> -> tensor<32x64xf16>
      %d = tcc.matmul %a, %b, %c : tensor<64x32xf16>, tensor<32x64xf16>, tensor<64x64xf32>
      scf.yield %d : tensor<64x64xf32>
    }
    tcc.store %acc, %C[%m, %n] : tensor<64x64xf32>, memref<?x?xf32>
  }
  return
}

// -----

func.func @other_constant(%A: memref<?x?xf16>, %B: memref<?x128xf16>, %C: memref<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %M = memref.dim %A, %c0 : memref<?x?xf16>
  %K = memref.dim %A, %c1 : memref<?x?xf16>
  // expected-error @below {{the loop over N ends at 64, but N is 128 (L1.1)}}
  scf.forall (%m, %n) = (0, 0) to (%M, 64) step (64, 64) {
    %zero = arith.constant dense<0.0> : tensor<64x64xf32>
    %acc = scf.for %k = %c0 to %K step %c32 iter_args(%c = %zero) -> (tensor<64x64xf32>) {
      %a = tcc.load %A[%m, %k] : memref<?x?xf16> -> tensor<64x32xf16>
      %b = tcc.load %B[%k, %n] : memref<?x128xf16> -> tensor<32x64xf16>
      %d = tcc.matmul %a, %b, %c : tensor<64x32xf16>, tensor<32x64xf16>, tensor<64x64xf32>
      scf.yield %d : tensor<64x64xf32>
    }
    tcc.store %acc, %C[%m, %n] : tensor<64x64xf32>, memref<?x?xf32>
  }
  return
}

// -----

func.func @wrong_k(%A: memref<?x?xf16>, %B: memref<?x128xf16>, %C: memref<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %M = memref.dim %A, %c0 : memref<?x?xf16>
  scf.forall (%m, %n) = (0, 0) to (%M, 128) step (64, 64) {
    %zero = arith.constant dense<0.0> : tensor<64x64xf32>
    // expected-error @below {{the loop over K ends at dimension 0 of argument 'A', which isn't K (L1.1)}}
    %acc = scf.for %k = %c0 to %M step %c32 iter_args(%c = %zero) -> (tensor<64x64xf32>) {
      %a = tcc.load %A[%m, %k] : memref<?x?xf16> -> tensor<64x32xf16>
      %b = tcc.load %B[%k, %n] : memref<?x128xf16> -> tensor<32x64xf16>
      %d = tcc.matmul %a, %b, %c : tensor<64x32xf16>, tensor<32x64xf16>, tensor<64x64xf32>
      scf.yield %d : tensor<64x64xf32>
    }
    tcc.store %acc, %C[%m, %n] : tensor<64x64xf32>, memref<?x?xf32>
  }
  return
}

// -----

func.func @computed(%A: memref<?x?xf16>, %B: memref<?x128xf16>, %C: memref<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %M = memref.dim %A, %c0 : memref<?x?xf16>
  %K = memref.dim %A, %c1 : memref<?x?xf16>
  %half = arith.subi %K, %c32 : index
  scf.forall (%m, %n) = (0, 0) to (%M, 128) step (64, 64) {
    %zero = arith.constant dense<0.0> : tensor<64x64xf32>
    // expected-error @below {{expected the loop over K to end at a constant or a memref.dim of an argument (L1.1)}}
    %acc = scf.for %k = %c0 to %half step %c32 iter_args(%c = %zero) -> (tensor<64x64xf32>) {
      %a = tcc.load %A[%m, %k] : memref<?x?xf16> -> tensor<64x32xf16>
      %b = tcc.load %B[%k, %n] : memref<?x128xf16> -> tensor<32x64xf16>
      %d = tcc.matmul %a, %b, %c : tensor<64x32xf16>, tensor<32x64xf16>, tensor<64x64xf32>
      scf.yield %d : tensor<64x64xf32>
    }
    tcc.store %acc, %C[%m, %n] : tensor<64x64xf32>, memref<?x?xf32>
  }
  return
}
