// RUN: tcc-opt %s --tcc-pipeline | FileCheck %s

// In a cluster the producer waits for all slots at its end, from the state behind its last copy on.

#c = #tcc.fragment<wgmma, c, shape = [64, 128, 16], warps = [8, 1]>
#row = #tcc.layout<contiguous = 1, span = 128>
#column = #tcc.layout<contiguous = 0, span = 128>
#s = #tcc.schedule<block = [128, 128, 64], warps = [8, 1], mma = wgmma, transport = tma, stages = 4, roles = cooperative, cluster = [2, 1]>
!bufferA = !tcc.shared<128x64xf16, #row>
!bufferB = !tcc.shared<64x128xf16, #column>
!acc = tensor<128x128xf32, #c>

gpu.module @m [#nvvm.target<chip = "sm_90a">] {
  // CHECK-LABEL: func.func @one_tile
  // CHECK:         %[[END:.*]]:2 = scf.for
  // CHECK:         } {tcc.non_empty}
  // CHECK-NEXT:    tcc.producer_tail %{{.*}}[%[[END]]#0, %[[END]]#1] : <tma, stages = 4>
  // CHECK-NEXT:  } consumer {
  func.func @one_tile(%A: memref<?x?xf16>, %B: memref<?x?xf16, strided<[1, ?]>>, %C: memref<?x?xf32>, %m: index, %n: index, %K: index)
      attributes {tcc.level = "L3g", tcc.schedule = #s} {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant dense<0.0> : !acc
    %sa = tcc.alloc_shared : !bufferA
    %sb = tcc.alloc_shared : !bufferB
    %acc = scf.for %k = %c0 to %K step %c64 iter_args(%c = %zero) -> (!acc) {
      tcc.copy tma %A[%m, %k], %sa {bytes = 16 : i64} : memref<?x?xf16>, !bufferA
      tcc.copy tma %B[%k, %n], %sb {bytes = 16 : i64} : memref<?x?xf16, strided<[1, ?]>>, !bufferB
      %d = tcc.matmul %sa, %sb, %c : !bufferA, !bufferB, !acc
      scf.yield %d : !acc
    }
    tcc.store %acc, %C[%m, %n] {bytes = 8 : i64} : !acc, memref<?x?xf32>
    return
  }

  // CHECK-LABEL: func.func @persistent
  // CHECK:         %[[END:.*]]:2 = scf.for
  // CHECK:           %[[K:.*]]:2 = scf.for
  // CHECK:           } {tcc.non_empty}
  // CHECK-NEXT:      scf.yield %[[K]]#0, %[[K]]#1 : i32, i32
  // CHECK-NEXT:    }
  // CHECK-NEXT:    tcc.producer_tail %{{.*}}[%[[END]]#0, %[[END]]#1] : <tma, stages = 4>
  // CHECK-NEXT:  } consumer {
  func.func @persistent(%A: memref<?x?xf16>, %B: memref<?x?xf16, strided<[1, ?]>>, %C: memref<?x?xf32>, %first: index, %tiles: index, %blocks: index, %K: index)
      attributes {tcc.level = "L3g", tcc.schedule = #s} {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %sa = tcc.alloc_shared : !bufferA
    %sb = tcc.alloc_shared : !bufferB
    scf.for %t = %first to %tiles step %blocks {
      %zero = arith.constant dense<0.0> : !acc
      %acc = scf.for %k = %c0 to %K step %c64 iter_args(%c = %zero) -> (!acc) {
        tcc.copy tma %A[%t, %k], %sa {bytes = 16 : i64} : memref<?x?xf16>, !bufferA
        tcc.copy tma %B[%k, %c0], %sb {bytes = 16 : i64} : memref<?x?xf16, strided<[1, ?]>>, !bufferB
        %d = tcc.matmul %sa, %sb, %c : !bufferA, !bufferB, !acc
        scf.yield %d : !acc
      }
      tcc.store %acc, %C[%t, %c0] {bytes = 8 : i64} : !acc, memref<?x?xf32>
    }
    return
  }
}
