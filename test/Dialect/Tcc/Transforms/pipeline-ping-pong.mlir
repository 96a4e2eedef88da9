// RUN: tcc-opt %s --tcc-pipeline | FileCheck %s

#c = #tcc.fragment<wgmma, c, shape = [64, 64, 16], warps = [4, 1]>
#part = #tcc.fragment<wgmma, c, shape = [64, 32, 16], warps = [4, 1]>
#row = #tcc.layout<contiguous = 1, span = 128>
#column = #tcc.layout<contiguous = 0, span = 128>
#line = #tcc.layout<contiguous = 1, span = 128>
#direct = #tcc.schedule<block = [64, 64, 64], warps = [4, 1], mma = wgmma, transport = tma, stages = 4, roles = ping_pong, persistent = true>
#late = #tcc.schedule<block = [64, 64, 64], warps = [4, 1], mma = wgmma, transport = tma, stages = 4, roles = ping_pong, persistent = true, epilogue = tma, pending = 1>
!bufferA = !tcc.shared<64x64xf16, #row>
!bufferB = !tcc.shared<64x64xf16, #column>
!staging = !tcc.shared<64x32xf32, #line>
!acc = tensor<64x64xf32, #c>

gpu.module @m [#nvvm.target<chip = "sm_90a">] {
  // Group g takes tiles g, g + 2, …: it begins g tiles' slabs on, and skips a tile's slabs after each.
  // The turn is passed when all slots of the tile were waited for; a group's first turn is 0, its next 1.
  // Four stages of 16384 bytes, 8 mbarriers and one a group.
  // CHECK-LABEL: func.func @turns
  // CHECK-SAME:    tcc.shared_bytes = 65616 : i64
  // CHECK:         %[[P:.*]] = tcc.create_pipeline
  // CHECK:         tcc.warp_specialize consumers = 8 groups = 2 producer {
  // CHECK-NOT:       tcc.turn_wait
  // CHECK:         } consumer {
  // CHECK:           %[[G:.*]] = tcc.consumer_group
  // CHECK:           %[[SLABS:.*]] = arith.index_cast %{{.*}} : index to i32
  // CHECK:           %[[AHEAD:.*]] = arith.muli %[[G]], %[[SLABS]] : i32
  // CHECK:           %[[S0:.*]], %[[P0:.*]] = tcc.advance %[[P]][%{{.*}}, %{{.*}}] by %[[AHEAD]]
  // CHECK:           %[[GI:.*]] = arith.index_cast %[[G]] : i32 to index
  // CHECK:           %[[TILES:.*]] = arith.muli %[[GI]], %[[BLOCKS:.*]] : index
  // CHECK:           %[[FIRST:.*]] = arith.addi %{{.*}}, %[[TILES]] : index
  // CHECK:           %[[STEP:.*]] = arith.muli %[[BLOCKS]], %c2{{.*}} : index
  // CHECK:           scf.for {{.*}} = %[[FIRST]] to %{{.*}} step %[[STEP]] iter_args(%[[S:.*]] = %[[S0]], %[[PH:.*]] = %[[P0]], %[[TURN:.*]] = %{{.*}}) -> (i32, i32, i32)
  // CHECK:             tcc.turn_wait %[[P]][%[[G]], %[[TURN]]]
  // CHECK:             %[[K:.*]]:3 = scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}, %[[RD:.*]] = %[[S]], %[[RP:.*]] = %[[PH]])
  // CHECK-NEXT:          tcc.consumer_wait %[[P]][%[[RD]], %[[RP]]]
  // CHECK-NEXT:          tcc.matmul {{.*}} slot %[[RD]] :
  // CHECK-NEXT:          tcc.consumer_release %[[P]][%[[RD]], %[[RP]]]
  // CHECK:             } {tcc.non_empty}
  // CHECK-NEXT:        tcc.turn_pass %[[P]][%[[G]], %[[TURN]]]
  // CHECK-NEXT:        tcc.store %[[K]]#0
  // CHECK-NEXT:        %[[S1:.*]], %[[P1:.*]] = tcc.advance %[[P]][%[[K]]#1, %[[K]]#2] by %[[SLABS]]
  // CHECK:             %[[NEXT:.*]] = arith.xori %[[TURN]], %{{.*}} : i32
  // CHECK-NEXT:        scf.yield %[[S1]], %[[P1]], %[[NEXT]]
  func.func @turns(%A: memref<?x?xf16>, %B: memref<?x?xf16, strided<[1, ?]>>, %C: memref<?x?xf32>,
                   %first: index, %tiles: index, %blocks: index, %K: index)
      attributes {tcc.level = "L3g", tcc.schedule = #direct} {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %sa = tcc.alloc_shared : !bufferA
    %sb = tcc.alloc_shared : !bufferB
    scf.for %t = %first to %tiles step %blocks {
      %m = arith.muli %t, %c64 : index
      %zero = arith.constant dense<0.0> : !acc
      %acc = scf.for %k = %c0 to %K step %c64 iter_args(%c = %zero) -> (!acc) {
        tcc.copy tma %A[%m, %k], %sa {bytes = 16 : i64} : memref<?x?xf16>, !bufferA
        tcc.copy tma %B[%k, %c0], %sb {bytes = 16 : i64} : memref<?x?xf16, strided<[1, ?]>>, !bufferB
        %d = tcc.matmul %sa, %sb, %c : !bufferA, !bufferB, !acc
        scf.yield %d : !acc
      }
      tcc.store %acc, %C[%m, %c0] {bytes = 8 : i64} : !acc, memref<?x?xf32>
    }
    return
  }

  // A slab is multiplied while the one before is given back, but for the first, which has none; the
  // last one's slot is given back after the loop. Each group has a staging buffer of its own.
  // CHECK-LABEL: func.func @late_release
  // CHECK:         %[[SC:.*]] = tcc.alloc_shared : <64x32xf32, stages = 2, #tcc.layout<contiguous = 1, span = 128>>
  // CHECK:           %[[G:.*]] = tcc.consumer_group
  // CHECK:             %[[L:.*]]:5 = scf.for %[[K:.*]] = %[[K0:.*]] to {{.*}} iter_args(%{{.*}} = %{{.*}}, %[[RD:.*]] = %[[S:.*]], %[[RP:.*]] = %[[PH:.*]], %[[OLD:.*]] = %[[S]], %[[OLDP:.*]] = %[[PH]])
  // CHECK-NEXT:          tcc.consumer_wait %[[P:.*]][%[[RD]], %[[RP]]]
  // CHECK-NEXT:          %[[D:.*]] = tcc.matmul {{.*}} slot %[[RD]] {pending = 1 : i64}
  // CHECK-NEXT:          %[[RD1:.*]], %[[RP1:.*]] = tcc.advance %[[P]][%[[RD]], %[[RP]]]
  // CHECK-NEXT:          %[[LATER:.*]] = arith.cmpi ne, %[[K]], %[[K0]] : index
  // CHECK-NEXT:          scf.if %[[LATER]] {
  // CHECK-NEXT:            tcc.consumer_release %[[P]][%[[OLD]], %[[OLDP]]]
  // CHECK-NEXT:          }
  // CHECK-NEXT:          scf.yield %[[D]], %[[RD1]], %[[RP1]], %[[RD]], %[[RP]]
  // CHECK:             tcc.turn_pass
  // CHECK-NEXT:        %[[W:.*]] = tcc.matmul_wait %[[L]]#0
  // CHECK-NEXT:        tcc.consumer_release %[[P]][%[[L]]#3, %[[L]]#4]
  // CHECK:             tensor.extract_slice %[[W]]
  // CHECK:             tcc.local_store %{{.*}}, %[[SC]] slot %[[G]]
  // CHECK:             tcc.bulk_store %[[SC]] slot %[[G]]
  // CHECK:             tcc.advance %[[P]][%[[L]]#1, %[[L]]#2] by
  func.func @late_release(%A: memref<?x?xf16>, %B: memref<?x?xf16, strided<[1, ?]>>, %C: memref<?x?xf32>,
                          %first: index, %tiles: index, %blocks: index, %K: index)
      attributes {tcc.level = "L3g", tcc.schedule = #late} {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %sa = tcc.alloc_shared : !bufferA
    %sb = tcc.alloc_shared : !bufferB
    %sc = tcc.alloc_shared : !staging
    scf.for %t = %first to %tiles step %blocks {
      %m = arith.muli %t, %c64 : index
      %zero = arith.constant dense<0.0> : !acc
      %acc = scf.for %k = %c0 to %K step %c64 iter_args(%c = %zero) -> (!acc) {
        tcc.copy tma %A[%m, %k], %sa {bytes = 16 : i64} : memref<?x?xf16>, !bufferA
        tcc.copy tma %B[%k, %c0], %sb {bytes = 16 : i64} : memref<?x?xf16, strided<[1, ?]>>, !bufferB
        %d = tcc.matmul %sa, %sb, %c : !bufferA, !bufferB, !acc
        scf.yield %d : !acc
      }
      %s = tensor.extract_slice %acc[0, 32] [64, 32] [1, 1] : !acc to tensor<64x32xf32, #part>
      tcc.local_store %s, %sc : tensor<64x32xf32, #part>, !staging
      tcc.bulk_store %sc, %C[%m, %c0] : !staging, memref<?x?xf32>
    }
    return
  }
}
