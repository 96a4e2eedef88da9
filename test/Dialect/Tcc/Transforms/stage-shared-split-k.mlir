// RUN: tcc-opt %s --tcc-stage-shared | FileCheck %s

// Blocks that share a tile need slices to divide: also of what is stored as it is, and as narrow as it takes for one each.

#direct = #tcc.schedule<block = [64, 64, 64], warps = [4, 1], mma = wgmma, transport = tma, stages = 3,
                        roles = cooperative, alignment = [16, 16, 16], split_k = 4>
#rows = #tcc.schedule<block = [48, 64, 64], warps = [1, 4], mma = wgmma, transport = tma, stages = 3,
                      roles = cooperative, epilogue = tma, alignment = [16, 16, 16], swapped = true, split_k = 8>

gpu.module @m [#nvvm.target<chip = "sm_90a">] {
  // 32 columns are a line of f32; four blocks have 16 each.
  // CHECK-LABEL: func.func @direct
  // CHECK:         %[[ACC:.*]] = scf.for
  // CHECK:         tensor.extract_slice %[[ACC]][0, 0] [64, 16] [1, 1]
  // CHECK:         tensor.extract_slice %[[ACC]][0, 16] [64, 16] [1, 1]
  // CHECK:         tensor.extract_slice %[[ACC]][0, 32] [64, 16] [1, 1]
  // CHECK:         tensor.extract_slice %[[ACC]][0, 48] [64, 16] [1, 1]
  // CHECK-NOT:     tensor.extract_slice
  func.func @direct(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf32>)
      attributes {tcc.level = "L1", tcc.schedule = #direct} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant dense<0.0> : tensor<64x64xf32>
    %M = memref.dim %A, %c0 : memref<?x?xf16>
    %K = memref.dim %A, %c1 : memref<?x?xf16>
    %N = memref.dim %B, %c1 : memref<?x?xf16>
    scf.forall (%m, %n) = (0, 0) to (%M, %N) step (64, 64) {
      %acc = scf.for %k = %c0 to %K step %c64 iter_args(%c = %zero) -> (tensor<64x64xf32>) {
        %a = tcc.load %A[%m, %k] : memref<?x?xf16> -> tensor<64x64xf16>
        %b = tcc.load %B[%k, %n] : memref<?x?xf16> -> tensor<64x64xf16>
        %d = tcc.matmul %a, %b, %c : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
        scf.yield %d : tensor<64x64xf32>
      }
      tcc.store %acc, %C[%m, %n] : tensor<64x64xf32>, memref<?x?xf32>
    }
    return
  }

  // 48 rows are 6 slices of 8: no atom has fewer. Two blocks get none.
  // CHECK-LABEL: func.func @rows
  // CHECK-COUNT-6: tensor.extract_slice %{{.*}} [8, 64] [1, 1]
  // CHECK-NOT:     tensor.extract_slice
  func.func @rows(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf16>)
      attributes {tcc.level = "L1", tcc.schedule = #rows} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant dense<0.0> : tensor<48x64xf32>
    %M = memref.dim %A, %c0 : memref<?x?xf16>
    %K = memref.dim %A, %c1 : memref<?x?xf16>
    %N = memref.dim %B, %c1 : memref<?x?xf16>
    scf.forall (%m, %n) = (0, 0) to (%M, %N) step (48, 64) {
      %acc = scf.for %k = %c0 to %K step %c64 iter_args(%c = %zero) -> (tensor<48x64xf32>) {
        %a = tcc.load %A[%m, %k] : memref<?x?xf16> -> tensor<48x64xf16>
        %b = tcc.load %B[%k, %n] : memref<?x?xf16> -> tensor<64x64xf16>
        %d = tcc.matmul %a, %b, %c : tensor<48x64xf16>, tensor<64x64xf16>, tensor<48x64xf32>
        scf.yield %d : tensor<48x64xf32>
      }
      %r = arith.truncf %acc : tensor<48x64xf32> to tensor<48x64xf16>
      tcc.store %r, %C[%m, %n] : tensor<48x64xf16>, memref<?x?xf16>
    }
    return
  }
}
