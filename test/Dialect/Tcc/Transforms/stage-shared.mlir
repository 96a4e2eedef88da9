// RUN: tcc-opt %s --tcc-stage-shared | FileCheck %s

#schedule = #tcc.schedule<block = [128, 256, 64], warps = [2, 4], mma = mma_sync,
                          transport = cp_async, stages = 3, alignment = [16, 4, 16]>
#wmma = #tcc.schedule<block = [32, 64, 32], warps = [1, 2], mma = wmma, transport = register,
                      stages = 2, epilogue = shared, alignment = [2, 8, 8]>

gpu.module @direct [#nvvm.target<chip = "sm_80">] {
  // Copies stand where the loads stood, buffers at the top of the tile. A copy is as wide as the
  // rows of its operand are aligned.
  // CHECK-LABEL: func.func @operands
  // CHECK-SAME:    tcc.level = "L2"
  // CHECK:         scf.forall (%[[M:.*]], %[[N:.*]]) =
  // CHECK-NEXT:      %[[SA:.*]] = tcc.alloc_shared : <128x64xf16>
  // CHECK-NEXT:      %[[SB:.*]] = tcc.alloc_shared : <64x256xf16>
  // CHECK:           scf.for %[[K:.*]] = {{.*}} iter_args(%[[C:.*]] = %{{.*}})
  // CHECK-NEXT:        tcc.copy cp_async %{{.*}}[%[[M]], %[[K]]], %[[SA]] {bytes = 16 : i64, clamp = 0 : i64}
  // CHECK-NEXT:        tcc.copy cp_async %{{.*}}[%[[K]], %[[N]]], %[[SB]] {bytes = 4 : i64, clamp = 1 : i64}
  // CHECK-NEXT:        %[[A:.*]] = tcc.local_load %[[SA]]
  // CHECK-NEXT:        %[[B:.*]] = tcc.local_load %[[SB]]
  // CHECK-NEXT:        tcc.matmul %[[A]], %[[B]], %[[C]]
  // A thread of mma.sync holds two neighbours of a row: 8 bytes of f32.
  // CHECK:           tcc.store %{{.*}}, %{{.*}} {bytes = 8 : i64}
  func.func @operands(%A: memref<?x?xf16>, %B: memref<?x?xf16, strided<[1, ?]>>,
                      %C: memref<?x?xf32>)
      attributes {tcc.level = "L1", tcc.schedule = #schedule} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant dense<0.0> : tensor<128x256xf32>
    %M = memref.dim %A, %c0 : memref<?x?xf16>
    %K = memref.dim %A, %c1 : memref<?x?xf16>
    %N = memref.dim %B, %c1 : memref<?x?xf16, strided<[1, ?]>>
    scf.forall (%m, %n) = (0, 0) to (%M, %N) step (128, 256) {
      %acc = scf.for %k = %c0 to %K step %c64 iter_args(%c = %zero) -> (tensor<128x256xf32>) {
        %a = tcc.load %A[%m, %k] : memref<?x?xf16> -> tensor<128x64xf16>
        %b = tcc.load %B[%k, %n] : memref<?x?xf16, strided<[1, ?]>> -> tensor<64x256xf16>
        %d = tcc.matmul %a, %b, %c : tensor<128x64xf16>, tensor<64x256xf16>, tensor<128x256xf32>
        scf.yield %d : tensor<128x256xf32>
      }
      tcc.store %acc, %C[%m, %n] : tensor<128x256xf32>, memref<?x?xf32>
    }
    return
  }
}

gpu.module @shared [#nvvm.target<chip = "sm_70">] {
  // Row 0 and row 16: what depends on rows is done for each slice, the bias per column once.
  // CHECK-LABEL: func.func @epilogue
  // CHECK:         scf.forall (%[[M:.*]], %[[N:.*]]) =
  // CHECK:           %[[SC:.*]] = tcc.alloc_shared : <16x64xf32>
  // CHECK:           tcc.copy register %{{.*}} {bytes = 2 : i64, clamp = 0 : i64}
  // CHECK:           tcc.copy register %{{.*}} {bytes = 8 : i64, clamp = 1 : i64}
  // CHECK:           %[[COLUMN:.*]] = tcc.load %{{.*}}[%[[N]]] : memref<?xf32> -> tensor<64xf32>
  // CHECK:           %[[S0:.*]] = tensor.extract_slice %{{.*}}[0, 0] [16, 64] [1, 1]
  // CHECK-NEXT:      tcc.local_store %[[S0]], %[[SC]]
  // CHECK-NEXT:      %[[T0:.*]] = tcc.local_load %[[SC]]
  // CHECK-NEXT:      %[[E0:.*]] = tensor.empty() : tensor<16x64xf32>
  // CHECK-NEXT:      %[[BC0:.*]] = linalg.broadcast ins(%[[COLUMN]] : tensor<64xf32>) outs(%[[E0]] : tensor<16x64xf32>)
  // CHECK-NEXT:      %[[X0:.*]] = arith.addf %[[T0]], %[[BC0]]
  // CHECK-NEXT:      %[[ROW0:.*]] = tcc.load %{{.*}}[%[[M]]] : memref<?xf32> -> tensor<16xf32>
  // CHECK-NEXT:      %[[BR0:.*]] = linalg.broadcast ins(%[[ROW0]] : tensor<16xf32>) outs(%[[E0]]
  // CHECK-NEXT:      %[[Y0:.*]] = arith.mulf %[[X0]], %[[BR0]]
  // CHECK-NEXT:      %[[OLD0:.*]] = tcc.load %{{.*}}[%[[M]], %[[N]]] {bytes = 8 : i64} : {{.*}} -> tensor<16x64xf16>
  // CHECK-NEXT:      %[[WIDE0:.*]] = arith.extf %[[OLD0]] : tensor<16x64xf16> to tensor<16x64xf32>
  // CHECK-NEXT:      %[[Z0:.*]] = arith.addf %[[Y0]], %[[WIDE0]]
  // CHECK-NEXT:      %[[H0:.*]] = arith.truncf %[[Z0]]
  // CHECK-NEXT:      tcc.store %[[H0]], %{{.*}}[%[[M]], %[[N]]] {bytes = 8 : i64}
  // CHECK:           tensor.extract_slice %{{.*}}[16, 0] [16, 64] [1, 1]
  // CHECK-NOT:       tcc.load %{{.*}}[%[[N]]]
  // CHECK:           %[[C16:.*]] = arith.constant 16 : index
  // CHECK-NEXT:      %[[M16:.*]] = arith.addi %[[M]], %[[C16]]
  // CHECK-NEXT:      tcc.load %{{.*}}[%[[M16]]] : memref<?xf32> -> tensor<16xf32>
  // CHECK:           tcc.store %{{.*}}, %{{.*}}[%{{.*}}, %[[N]]] {bytes = 8 : i64}
  // CHECK-NOT:       tcc.store
  func.func @epilogue(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf16>,
                      %column: memref<?xf32>, %row: memref<?xf32>)
      attributes {tcc.level = "L1", tcc.schedule = #wmma} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    %zero = arith.constant dense<0.0> : tensor<32x64xf32>
    %M = memref.dim %A, %c0 : memref<?x?xf16>
    %K = memref.dim %A, %c1 : memref<?x?xf16>
    %N = memref.dim %B, %c1 : memref<?x?xf16>
    scf.forall (%m, %n) = (0, 0) to (%M, %N) step (32, 64) {
      %acc = scf.for %k = %c0 to %K step %c32 iter_args(%c = %zero) -> (tensor<32x64xf32>) {
        %a = tcc.load %A[%m, %k] : memref<?x?xf16> -> tensor<32x32xf16>
        %b = tcc.load %B[%k, %n] : memref<?x?xf16> -> tensor<32x64xf16>
        %d = tcc.matmul %a, %b, %c : tensor<32x32xf16>, tensor<32x64xf16>, tensor<32x64xf32>
        scf.yield %d : tensor<32x64xf32>
      }
      %e = tensor.empty() : tensor<32x64xf32>
      %v = tcc.load %column[%n] : memref<?xf32> -> tensor<64xf32>
      %bc = linalg.broadcast ins(%v : tensor<64xf32>) outs(%e : tensor<32x64xf32>) dimensions = [0]
      %x = arith.addf %acc, %bc : tensor<32x64xf32>
      %w = tcc.load %row[%m] : memref<?xf32> -> tensor<32xf32>
      %br = linalg.broadcast ins(%w : tensor<32xf32>) outs(%e : tensor<32x64xf32>) dimensions = [1]
      %y = arith.mulf %x, %br : tensor<32x64xf32>
      %old = tcc.load %C[%m, %n] : memref<?x?xf16> -> tensor<32x64xf16>
      %wide = arith.extf %old : tensor<32x64xf16> to tensor<32x64xf32>
      %z = arith.addf %y, %wide : tensor<32x64xf32>
      %h = arith.truncf %z : tensor<32x64xf32> to tensor<32x64xf16>
      tcc.store %h, %C[%m, %n] : tensor<32x64xf16>, memref<?x?xf16>
    }
    return
  }
}
