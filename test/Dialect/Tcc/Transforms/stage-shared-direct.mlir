// RUN: tcc-opt %s --tcc-stage-shared | FileCheck %s

// Work between the loop and direct stores is done on slices of the accumulator, a store each.

#mma_sync = #tcc.schedule<block = [64, 64, 32], warps = [2, 2], mma = mma_sync, transport = cp_async, stages = 2, alignment = [16, 16, 8]>
#wgmma = #tcc.schedule<block = [128, 64, 32], warps = [8, 1], mma = wgmma, transport = cp_async, stages = 2, alignment = [16, 16, 8]>

gpu.module @mma_sync [#nvvm.target<chip = "sm_80">] {
  // The rows of an atom on each warp along M, of all columns.
  // CHECK-LABEL: func.func @rows
  // CHECK:         scf.forall (%[[M:.*]], %[[N:.*]]) =
  // CHECK:           %[[ACC:.*]] = scf.for
  // CHECK:           %[[S0:.*]] = tensor.extract_slice %[[ACC]][0, 0] [32, 64] [1, 1]
  // CHECK:           %[[OLD0:.*]] = tcc.load %[[MATRIX:.*]][%[[M]], %[[N]]] {bytes = 8 : i64}
  // CHECK-NEXT:      %[[SUM0:.*]] = arith.addf %[[S0]], %[[OLD0]] : tensor<32x64xf32>
  // CHECK-NEXT:      tcc.store %[[SUM0]], %[[MATRIX]][%[[M]], %[[N]]] {bytes = 8 : i64}
  // CHECK:           %[[S1:.*]] = tensor.extract_slice %[[ACC]][32, 0] [32, 64] [1, 1]
  // CHECK:           tcc.store %{{.*}}, %[[MATRIX]][%{{.*}}, %[[N]]] {bytes = 8 : i64}
  // CHECK-NOT:       tcc.store
  func.func @rows(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf32>)
      attributes {tcc.level = "L1", tcc.schedule = #mma_sync} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    %zero = arith.constant dense<0.0> : tensor<64x64xf32>
    %M = memref.dim %A, %c0 : memref<?x?xf16>
    %K = memref.dim %A, %c1 : memref<?x?xf16>
    %N = memref.dim %B, %c1 : memref<?x?xf16>
    scf.forall (%m, %n) = (0, 0) to (%M, %N) step (64, 64) {
      %acc = scf.for %k = %c0 to %K step %c32 iter_args(%c = %zero) -> (tensor<64x64xf32>) {
        %a = tcc.load %A[%m, %k] : memref<?x?xf16> -> tensor<64x32xf16>
        %b = tcc.load %B[%k, %n] : memref<?x?xf16> -> tensor<32x64xf16>
        %d = tcc.matmul %a, %b, %c : tensor<64x32xf16>, tensor<32x64xf16>, tensor<64x64xf32>
        scf.yield %d : tensor<64x64xf32>
      }
      %old = tcc.load %C[%m, %n] : memref<?x?xf32> -> tensor<64x64xf32>
      %sum = arith.addf %acc, %old : tensor<64x64xf32>
      tcc.store %sum, %C[%m, %n] : tensor<64x64xf32>, memref<?x?xf32>
    }
    return
  }
}

gpu.module @wgmma [#nvvm.target<chip = "sm_90a">] {
  // All rows, and the columns that fill a line of 128 bytes in C. The second slice's vector is loaded
  // before the first slice is computed; none before the loop, whose copies may pass registers.
  // CHECK-LABEL: func.func @columns
  // CHECK:         scf.forall (%[[M:.*]], %[[N:.*]]) =
  // CHECK:           %[[ACC:.*]] = scf.for
  // CHECK:           %[[BIAS0:.*]] = tcc.load %[[BIAS:.*]][%[[N]]] : memref<?xf32> -> tensor<32xf32>
  // CHECK:           %[[N32:.*]] = arith.addi %[[N]], %{{.*}} : index
  // CHECK:           tcc.load %[[BIAS]][%[[N32]]]
  // CHECK:           %[[S0:.*]] = tensor.extract_slice %[[ACC]][0, 0] [128, 32] [1, 1]
  // CHECK:           tcc.store %{{.*}}, %[[MATRIX:.*]][%[[M]], %[[N]]] {bytes = 8 : i64}
  // CHECK:           tensor.extract_slice %[[ACC]][0, 32] [128, 32] [1, 1]
  // CHECK:           tcc.store %{{.*}}, %[[MATRIX]][%[[M]], %{{.*}}] {bytes = 8 : i64}
  // CHECK-NOT:       tcc.store
  func.func @columns(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %bias: memref<?xf32>, %C: memref<?x?xf32>)
      attributes {tcc.level = "L1", tcc.schedule = #wgmma} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    %zero = arith.constant dense<0.0> : tensor<128x64xf32>
    %M = memref.dim %A, %c0 : memref<?x?xf16>
    %K = memref.dim %A, %c1 : memref<?x?xf16>
    %N = memref.dim %B, %c1 : memref<?x?xf16>
    scf.forall (%m, %n) = (0, 0) to (%M, %N) step (128, 64) {
      %acc = scf.for %k = %c0 to %K step %c32 iter_args(%c = %zero) -> (tensor<128x64xf32>) {
        %a = tcc.load %A[%m, %k] : memref<?x?xf16> -> tensor<128x32xf16>
        %b = tcc.load %B[%k, %n] : memref<?x?xf16> -> tensor<32x64xf16>
        %d = tcc.matmul %a, %b, %c : tensor<128x32xf16>, tensor<32x64xf16>, tensor<128x64xf32>
        scf.yield %d : tensor<128x64xf32>
      }
      %e = tensor.empty() : tensor<128x64xf32>
      %v = tcc.load %bias[%n] : memref<?xf32> -> tensor<64xf32>
      %bc = linalg.broadcast ins(%v : tensor<64xf32>) outs(%e : tensor<128x64xf32>) dimensions = [0]
      %sum = arith.addf %acc, %bc : tensor<128x64xf32>
      tcc.store %sum, %C[%m, %n] : tensor<128x64xf32>, memref<?x?xf32>
    }
    return
  }
}
