// RUN: tcc-opt %s --tcc-stage-shared | FileCheck %s

#chunks = #tcc.schedule<block = [128, 64, 64], warps = [8, 1], mma = wgmma, transport = tma, stages = 3,
                        roles = cooperative, epilogue = tma, chunk = 32, alignment = [16, 16, 16], cluster = [2, 1]>
#lines = #tcc.schedule<block = [128, 64, 64], warps = [8, 1], mma = wgmma, transport = tma, stages = 3,
                       roles = cooperative, epilogue = tma, alignment = [16, 16, 16], cluster = [2, 2]>
#split = #tcc.schedule<block = [128, 176, 64], warps = [4, 2], mma = wgmma, transport = tma, stages = 3,
                       roles = cooperative, epilogue = tma, alignment = [16, 16, 16]>

gpu.module @m [#nvvm.target<chip = "sm_90a">] {
  // The accumulator leaves in slices of 32 columns and all rows, each through the same buffer, whose
  // elements are the result's. Vectors are loaded ahead: the first slice's before the loop, the
  // second's before the first is computed. Two blocks along M have their columns of B in common, and
  // nothing of A.
  // CHECK-LABEL: func.func @chunks
  // CHECK:         scf.forall (%[[M:.*]], %[[N:.*]]) =
  // CHECK:           %[[SC:.*]] = tcc.alloc_shared : <128x32xf16>
  // CHECK:           %[[BIAS0:.*]] = tcc.load %{{.*}}[%[[N]]] : memref<?xf32> -> tensor<32xf32>
  // CHECK-NEXT:      scf.for
  // CHECK:           tcc.copy tma %{{.*}}[%[[M]], %{{.*}}], %{{.*}} {bytes = 16 : i64}
  // CHECK:           tcc.copy tma %{{.*}}[%{{.*}}, %[[N]]], %{{.*}} {bytes = 16 : i64, multicast = 0 : i64}
  // CHECK:           %[[N1:.*]] = arith.addi %[[N]], %c32{{.*}} : index
  // CHECK-NEXT:      %[[BIAS1:.*]] = tcc.load %{{.*}}[%[[N1]]] : memref<?xf32> -> tensor<32xf32>
  // CHECK:           %[[S0:.*]] = tensor.extract_slice %{{.*}}[0, 0] [128, 32] [1, 1]
  // CHECK:           %[[BC0:.*]] = linalg.broadcast ins(%[[BIAS0]]
  // CHECK-NEXT:      %[[X0:.*]] = arith.addf %[[S0]], %[[BC0]]
  // CHECK-NEXT:      %[[R0:.*]] = arith.truncf %[[X0]]
  // CHECK-NEXT:      tcc.local_store %[[R0]], %[[SC]]
  // CHECK-NEXT:      tcc.bulk_store %[[SC]], %{{.*}}[%[[M]], %[[N]]]
  // CHECK:           tensor.extract_slice %{{.*}}[0, 32] [128, 32] [1, 1]
  // CHECK:           linalg.broadcast ins(%[[BIAS1]]
  // CHECK:           tcc.local_store %{{.*}}, %[[SC]]
  // CHECK-NEXT:      tcc.bulk_store %[[SC]], %{{.*}}[%[[M]], %{{.*}}]
  // CHECK-NOT:       tcc.store
  // CHECK:         return
  func.func @chunks(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %bias: memref<?xf32>, %C: memref<?x?xf16>)
      attributes {tcc.level = "L1", tcc.schedule = #chunks} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant dense<0.0> : tensor<128x64xf32>
    %M = memref.dim %A, %c0 : memref<?x?xf16>
    %K = memref.dim %A, %c1 : memref<?x?xf16>
    %N = memref.dim %B, %c1 : memref<?x?xf16>
    scf.forall (%m, %n) = (0, 0) to (%M, %N) step (128, 64) {
      %acc = scf.for %k = %c0 to %K step %c64 iter_args(%c = %zero) -> (tensor<128x64xf32>) {
        %a = tcc.load %A[%m, %k] : memref<?x?xf16> -> tensor<128x64xf16>
        %b = tcc.load %B[%k, %n] : memref<?x?xf16> -> tensor<64x64xf16>
        %d = tcc.matmul %a, %b, %c : tensor<128x64xf16>, tensor<64x64xf16>, tensor<128x64xf32>
        scf.yield %d : tensor<128x64xf32>
      }
      %column = tcc.load %bias[%n] : memref<?xf32> -> tensor<64xf32>
      %e = tensor.empty() : tensor<128x64xf32>
      %bc = linalg.broadcast ins(%column : tensor<64xf32>) outs(%e : tensor<128x64xf32>) dimensions = [0]
      %x = arith.addf %acc, %bc : tensor<128x64xf32>
      %r = arith.truncf %x : tensor<128x64xf32> to tensor<128x64xf16>
      tcc.store %r, %C[%m, %n] : tensor<128x64xf16>, memref<?x?xf16>
    }
    return
  }

  // Without a chunk, slices are lines of 128 bytes: 32 columns of f32, the widest result. Each result
  // has a buffer of its own.
  // CHECK-LABEL: func.func @two_results
  // CHECK:         %[[SC:.*]] = tcc.alloc_shared : <128x32xf32>
  // CHECK-NEXT:    %[[SD:.*]] = tcc.alloc_shared : <128x32xf16>
  // CHECK:         tcc.copy tma {{.*}} {bytes = 16 : i64, multicast = 1 : i64}
  // CHECK-NEXT:    tcc.copy tma {{.*}} {bytes = 16 : i64, multicast = 0 : i64}
  // CHECK:         %[[S0:.*]] = tensor.extract_slice
  // CHECK-NEXT:    %[[H0:.*]] = arith.truncf %[[S0]]
  // CHECK-NEXT:    tcc.local_store %[[S0]], %[[SC]]
  // CHECK-NEXT:    tcc.bulk_store %[[SC]]
  // CHECK-NEXT:    tcc.local_store %[[H0]], %[[SD]]
  // CHECK-NEXT:    tcc.bulk_store %[[SD]]
  func.func @two_results(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf32>, %D: memref<?x?xf16>)
      attributes {tcc.level = "L1", tcc.schedule = #lines} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant dense<0.0> : tensor<128x64xf32>
    %M = memref.dim %A, %c0 : memref<?x?xf16>
    %K = memref.dim %A, %c1 : memref<?x?xf16>
    %N = memref.dim %B, %c1 : memref<?x?xf16>
    scf.forall (%m, %n) = (0, 0) to (%M, %N) step (128, 64) {
      %acc = scf.for %k = %c0 to %K step %c64 iter_args(%c = %zero) -> (tensor<128x64xf32>) {
        %a = tcc.load %A[%m, %k] : memref<?x?xf16> -> tensor<128x64xf16>
        %b = tcc.load %B[%k, %n] : memref<?x?xf16> -> tensor<64x64xf16>
        %d = tcc.matmul %a, %b, %c : tensor<128x64xf16>, tensor<64x64xf16>, tensor<128x64xf32>
        scf.yield %d : tensor<128x64xf32>
      }
      %r = arith.truncf %acc : tensor<128x64xf32> to tensor<128x64xf16>
      tcc.store %acc, %C[%m, %n] : tensor<128x64xf32>, memref<?x?xf32>
      tcc.store %r, %D[%m, %n] : tensor<128x64xf16>, memref<?x?xf16>
    }
    return
  }

  // Warps that split the columns have 64 rows at once: slices are rows of all columns, and what depends
  // on the column alone is loaded once for all of them.
  // CHECK-LABEL: func.func @rows
  // CHECK:         scf.forall (%[[M:.*]], %[[N:.*]]) =
  // CHECK:           tcc.alloc_shared : <128x64xf16>
  // CHECK-NEXT:      tcc.alloc_shared : <64x176xf16>
  // CHECK-NEXT:      %[[SC:.*]] = tcc.alloc_shared : <64x176xf16>
  // CHECK:           %[[BIAS:.*]] = tcc.load %{{.*}}[%[[N]]] : memref<?xf32> -> tensor<176xf32>
  // CHECK-NOT:       tcc.load
  // CHECK:           tensor.extract_slice %{{.*}}[0, 0] [64, 176] [1, 1]
  // CHECK:           linalg.broadcast ins(%[[BIAS]]
  // CHECK:           tcc.local_store %{{.*}}, %[[SC]]
  // CHECK-NEXT:      tcc.bulk_store %[[SC]], %{{.*}}[%[[M]], %[[N]]]
  // CHECK:           tensor.extract_slice %{{.*}}[64, 0] [64, 176] [1, 1]
  // CHECK:           linalg.broadcast ins(%[[BIAS]]
  // CHECK:           %[[M1:.*]] = arith.addi %[[M]], %c64{{.*}} : index
  // CHECK:           tcc.local_store %{{.*}}, %[[SC]]
  // CHECK-NEXT:      tcc.bulk_store %[[SC]], %{{.*}}[%[[M1]], %[[N]]]
  // CHECK-NOT:       tcc.store
  // CHECK:         return
  func.func @rows(%A: memref<?x?xf16>, %B: memref<?x?xf16, strided<[1, ?]>>, %bias: memref<?xf32>, %C: memref<?x?xf16>)
      attributes {tcc.level = "L1", tcc.schedule = #split} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant dense<0.0> : tensor<128x176xf32>
    %M = memref.dim %A, %c0 : memref<?x?xf16>
    %K = memref.dim %A, %c1 : memref<?x?xf16>
    %N = memref.dim %B, %c1 : memref<?x?xf16, strided<[1, ?]>>
    scf.forall (%m, %n) = (0, 0) to (%M, %N) step (128, 176) {
      %acc = scf.for %k = %c0 to %K step %c64 iter_args(%c = %zero) -> (tensor<128x176xf32>) {
        %a = tcc.load %A[%m, %k] : memref<?x?xf16> -> tensor<128x64xf16>
        %b = tcc.load %B[%k, %n] : memref<?x?xf16, strided<[1, ?]>> -> tensor<64x176xf16>
        %d = tcc.matmul %a, %b, %c : tensor<128x64xf16>, tensor<64x176xf16>, tensor<128x176xf32>
        scf.yield %d : tensor<128x176xf32>
      }
      %column = tcc.load %bias[%n] : memref<?xf32> -> tensor<176xf32>
      %e = tensor.empty() : tensor<128x176xf32>
      %bc = linalg.broadcast ins(%column : tensor<176xf32>) outs(%e : tensor<128x176xf32>) dimensions = [0]
      %x = arith.addf %acc, %bc : tensor<128x176xf32>
      %r = arith.truncf %x : tensor<128x176xf32> to tensor<128x176xf16>
      tcc.store %r, %C[%m, %n] : tensor<128x176xf16>, memref<?x?xf16>
    }
    return
  }
}
