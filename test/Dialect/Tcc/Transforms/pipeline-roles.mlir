// RUN: tcc-opt %s --tcc-pipeline | FileCheck %s

#c = #tcc.fragment<wgmma, c, shape = [64, 128, 16], warps = [8, 1]>
#row = #tcc.layout<contiguous = 1, span = 128>
#column = #tcc.layout<contiguous = 0, span = 128>
#roles = #tcc.schedule<block = [128, 128, 64], warps = [8, 1], mma = wgmma, transport = tma, stages = 4, roles = cooperative>
#uniform = #tcc.schedule<block = [128, 128, 64], warps = [8, 1], mma = wgmma, transport = cp_async, stages = 3>
!bufferA = !tcc.shared<128x64xf16, #row>
!bufferB = !tcc.shared<64x128xf16, #column>
!acc = tensor<128x128xf32, #c>
!vector = tensor<128xf32, #tcc.slice<dim = 0, size = 128, parent = #c>>

gpu.module @m [#nvvm.target<chip = "sm_90a">] {
  // The copies are the producer's, the matmul and all that follows the consumers'. Four stages of
  // 32768 bytes, and 8 mbarriers.
  // CHECK-LABEL: func.func @one_tile
  // CHECK-SAME:    tcc.shared_bytes = 131136 : i64
  // CHECK:         %[[P:.*]] = tcc.create_pipeline %[[SA:.*]], %[[SB:.*]] : {{.*}} -> <tma, stages = 4>
  // CHECK:         tcc.warp_specialize consumers = 8 producer {
  // CHECK:           %[[Z:.*]] = arith.constant 0 : i32
  // CHECK-NEXT:      scf.for %[[K:.*]] = {{.*}} iter_args(%[[WR:.*]] = %[[Z]], %[[WP:.*]] = %[[Z]]) -> (i32, i32)
  // CHECK-NEXT:        tcc.producer_acquire %[[P]][%[[WR]], %[[WP]]]
  // CHECK-NEXT:        tcc.copy tma %{{.*}}[%{{.*}}, %[[K]]], %[[SA]] slot %[[WR]] {bytes = 16 : i64}
  // CHECK-NEXT:        tcc.copy tma %{{.*}}[%[[K]], %{{.*}}], %[[SB]] slot %[[WR]] {bytes = 16 : i64}
  // CHECK-NEXT:        tcc.producer_commit %[[P]][%[[WR]], %[[WP]]]
  // CHECK-NEXT:        %[[WR1:.*]], %[[WP1:.*]] = tcc.advance %[[P]][%[[WR]], %[[WP]]]
  // CHECK-NEXT:        scf.yield %[[WR1]], %[[WP1]] : i32, i32
  // CHECK-NEXT:      } {tcc.non_empty}
  // CHECK-NEXT:    } consumer {
  // CHECK:           %[[ACC:.*]]:3 = scf.for {{.*}} iter_args(%[[C:.*]] = %{{.*}}, %[[RD:.*]] = %{{.*}}, %[[RP:.*]] = %{{.*}})
  // CHECK-NEXT:        tcc.consumer_wait %[[P]][%[[RD]], %[[RP]]]
  // CHECK-NEXT:        %[[D:.*]] = tcc.matmul %[[SA]], %[[SB]], %[[C]] slot %[[RD]]
  // CHECK-NEXT:        tcc.consumer_release %[[P]][%[[RD]], %[[RP]]]
  // CHECK-NEXT:        %[[RD1:.*]], %[[RP1:.*]] = tcc.advance %[[P]][%[[RD]], %[[RP]]]
  // CHECK-NEXT:        scf.yield %[[D]], %[[RD1]], %[[RP1]]
  // CHECK:           tcc.store %[[ACC]]#0, {{.*}} : tensor
  // CHECK-NEXT:    }
  // CHECK-NEXT:    return
  func.func @one_tile(%A: memref<?x?xf16>, %B: memref<?x?xf16, strided<[1, ?]>>, %C: memref<?x?xf32>,
                      %m: index, %n: index, %K: index)
      attributes {tcc.level = "L3g", tcc.schedule = #roles} {
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

  // Slot and phase go from tile to tile. The producer computes where a tile is, nothing else.
  // CHECK-LABEL: func.func @persistent
  // CHECK:         tcc.warp_specialize consumers = 8 producer {
  // CHECK:           scf.for %[[T:.*]] = %{{.*}} iter_args(%[[S:.*]] = %{{.*}}, %[[PH:.*]] = %{{.*}})
  // CHECK-NEXT:        %[[M:.*]] = arith.muli %[[T]], %{{.*}} : index
  // CHECK-NEXT:        %[[INNER:.*]]:2 = scf.for {{.*}} iter_args(%{{.*}} = %[[S]], %{{.*}} = %[[PH]])
  // CHECK:               tcc.copy tma %{{.*}}[%[[M]], %{{.*}}]
  // CHECK:             scf.yield %[[INNER]]#0, %[[INNER]]#1 : i32, i32
  // CHECK:         } consumer {
  // CHECK:           scf.for %[[T:.*]] = %{{.*}} iter_args(%[[S:.*]] = %{{.*}}, %[[PH:.*]] = %{{.*}})
  // CHECK:             %[[TILE:.*]]:3 = scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}, %{{.*}} = %[[S]], %{{.*}} = %[[PH]])
  // CHECK:             tcc.store %[[TILE]]#0, {{.*}} : tensor
  // CHECK-NEXT:        scf.yield %[[TILE]]#1, %[[TILE]]#2 : i32, i32
  func.func @persistent(%A: memref<?x?xf16>, %B: memref<?x?xf16, strided<[1, ?]>>, %C: memref<?x?xf32>,
                        %first: index, %tiles: index, %blocks: index, %K: index)
      attributes {tcc.level = "L3g", tcc.schedule = #roles} {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %c128 = arith.constant 128 : index
    %sa = tcc.alloc_shared : !bufferA
    %sb = tcc.alloc_shared : !bufferB
    scf.for %t = %first to %tiles step %blocks {
      %m = arith.muli %t, %c128 : index
      %unused = arith.addi %t, %c128 : index
      %zero = arith.constant dense<0.0> : !acc
      %acc = scf.for %k = %c0 to %K step %c64 iter_args(%c = %zero) -> (!acc) {
        tcc.copy tma %A[%m, %k], %sa {bytes = 16 : i64} : memref<?x?xf16>, !bufferA
        tcc.copy tma %B[%k, %c0], %sb {bytes = 16 : i64} : memref<?x?xf16, strided<[1, ?]>>, !bufferB
        %d = tcc.matmul %sa, %sb, %c : !bufferA, !bufferB, !acc
        scf.yield %d : !acc
      }
      tcc.store %acc, %C[%m, %unused] {bytes = 8 : i64} : !acc, memref<?x?xf32>
    }
    return
  }

  // An atom that reads shared memory works in a uniform pipeline, too.
  // CHECK-LABEL: func.func @uniform
  // CHECK:         scf.for {{.*}} iter_args(%[[C:.*]] = %{{.*}}, %[[RD:.*]] = %{{.*}}, %[[RP:.*]] = %{{.*}}, %[[WR:.*]] = %{{.*}}, %[[WP:.*]] = %{{.*}})
  // CHECK-NEXT:      tcc.consumer_wait %{{.*}}[%[[RD]], %[[RP]]] {pending = 1 : i64}
  // CHECK:           tcc.matmul %{{.*}}, %{{.*}}, %[[C]] slot %[[RD]]
  // CHECK-NEXT:      tcc.producer_acquire %{{.*}}[%[[WR]], %[[WP]]]
  // CHECK-NEXT:      tcc.copy cp_async {{.*}} slot %[[WR]]
  // CHECK-NEXT:      tcc.copy cp_async {{.*}} slot %[[WR]]
  // CHECK-NEXT:      tcc.producer_commit %{{.*}}[%[[WR]], %[[WP]]]
  // CHECK-NEXT:      tcc.consumer_release %{{.*}}[%[[RD]], %[[RP]]]
  func.func @uniform(%A: memref<?x?xf16>, %B: memref<?x?xf16, strided<[1, ?]>>, %m: index, %n: index, %K: index)
      attributes {tcc.level = "L3g", tcc.schedule = #uniform} {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant dense<0.0> : !acc
    %sa = tcc.alloc_shared : !bufferA
    %sb = tcc.alloc_shared : !bufferB
    %acc = scf.for %k = %c0 to %K step %c64 iter_args(%c = %zero) -> (!acc) {
      tcc.copy cp_async %A[%m, %k], %sa {bytes = 16 : i64, clamp = 0 : i64} : memref<?x?xf16>, !bufferA
      tcc.copy cp_async %B[%k, %n], %sb {bytes = 16 : i64, clamp = 1 : i64} : memref<?x?xf16, strided<[1, ?]>>, !bufferB
      %d = tcc.matmul %sa, %sb, %c : !bufferA, !bufferB, !acc
      scf.yield %d : !acc
    }
    return
  }

  // A vector that is loaded before the loop is the consumers', too: the producer's threads have no
  // columns.
  // CHECK-LABEL: func.func @vector_before_loop
  // CHECK-NOT:     tcc.load
  // CHECK:         tcc.warp_specialize consumers = 8 producer {
  // CHECK-NOT:     tcc.load
  // CHECK:         } consumer {
  // CHECK:           tcc.load %{{.*}}[%{{.*}}] {bytes = 4 : i64}
  // CHECK:           scf.for
  func.func @vector_before_loop(%A: memref<?x?xf16>, %B: memref<?x?xf16, strided<[1, ?]>>, %bias: memref<?xf32>,
                                %C: memref<?xf32>, %m: index, %n: index, %K: index)
      attributes {tcc.level = "L3g", tcc.schedule = #roles} {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant dense<0.0> : !acc
    %sa = tcc.alloc_shared : !bufferA
    %sb = tcc.alloc_shared : !bufferB
    %v = tcc.load %bias[%n] {bytes = 4 : i64} : memref<?xf32> -> !vector
    %acc = scf.for %k = %c0 to %K step %c64 iter_args(%c = %zero) -> (!acc) {
      tcc.copy tma %A[%m, %k], %sa {bytes = 16 : i64} : memref<?x?xf16>, !bufferA
      tcc.copy tma %B[%k, %n], %sb {bytes = 16 : i64} : memref<?x?xf16, strided<[1, ?]>>, !bufferB
      %d = tcc.matmul %sa, %sb, %c : !bufferA, !bufferB, !acc
      scf.yield %d : !acc
    }
    tcc.store %v, %C[%n] {bytes = 4 : i64} : !vector, memref<?xf32>
    return
  }
}
