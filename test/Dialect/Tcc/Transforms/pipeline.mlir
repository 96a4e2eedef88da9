// RUN: tcc-opt %s --tcc-pipeline | FileCheck %s

#a = #tcc.fragment<mma_sync, a, shape = [16, 8, 16], warps = [2, 1]>
#b = #tcc.fragment<mma_sync, b, shape = [16, 8, 16], warps = [2, 1]>
#c = #tcc.fragment<mma_sync, c, shape = [16, 8, 16], warps = [2, 1]>
#row = #tcc.layout<contiguous = 1, span = 64>
#column = #tcc.layout<contiguous = 0, span = 64>
#cp_async = #tcc.schedule<block = [32, 32, 32], warps = [2, 1], mma = mma_sync, transport = cp_async, stages = 3>
#register = #tcc.schedule<block = [32, 32, 32], warps = [2, 1], mma = mma_sync, transport = register, stages = 2>

gpu.module @m [#nvvm.target<chip = "sm_80">] {
  // Two of three slots are filled ahead; an iteration waits for its own, so that one younger group
  // may be on its way, and fills the slot that the iteration before has read.
  // 3 stages of 2 buffers of 2048 bytes.
  // CHECK-LABEL: func.func @cp_async
  // CHECK-SAME:    tcc.shared_bytes = 12288 : i64
  // CHECK:         %[[SA:.*]] = tcc.alloc_shared : <32x32xf16, stages = 3, #{{.*}}>
  // CHECK:         %[[SB:.*]] = tcc.alloc_shared : <32x32xf16, stages = 3, #{{.*}}>
  // CHECK:         %[[P:.*]] = tcc.create_pipeline %[[SA]], %[[SB]] : {{.*}} -> <cp_async, stages = 3>
  // CHECK-NEXT:    %[[PHASE:.*]] = arith.constant 0 : i32
  // CHECK-NEXT:    %[[S0:.*]] = arith.constant 0 : i32
  // CHECK-NEXT:    tcc.producer_acquire %[[P]][%[[S0]], %[[PHASE]]]
  // CHECK-NEXT:    tcc.copy cp_async %{{.*}}[%{{.*}}, %[[LOWER:.*]]], %[[SA]] slot %[[S0]] {bytes = 16 : i64, clamp = 0 : i64}
  // CHECK-NEXT:    tcc.copy cp_async %{{.*}}[%[[LOWER]], %{{.*}}], %[[SB]] slot %[[S0]] {bytes = 16 : i64, clamp = 1 : i64}
  // CHECK-NEXT:    tcc.producer_commit %[[P]][%[[S0]], %[[PHASE]]]
  // CHECK:         %[[S1:.*]] = arith.constant 1 : i32
  // CHECK:         %[[K1:.*]] = arith.addi %[[LOWER]], %{{.*}} : index
  // CHECK-NEXT:    tcc.producer_acquire %[[P]][%[[S1]], %[[PHASE]]]
  // CHECK-NEXT:    tcc.copy cp_async %{{.*}}[%{{.*}}, %[[K1]]], %[[SA]] slot %[[S1]]
  // CHECK:         tcc.producer_commit %[[P]][%[[S1]], %[[PHASE]]]
  // CHECK:         %[[S2:.*]] = arith.constant 2 : i32
  // CHECK:         scf.for %[[K:.*]] = {{.*}} iter_args(%[[C:.*]] = %{{.*}}, %[[RD:.*]] = %[[Z:.*]], %[[RP:.*]] = %[[Z]], %[[WR:.*]] = %[[S2]], %[[WP:.*]] = %[[Z]])
  // CHECK-NEXT:      tcc.consumer_wait %[[P]][%[[RD]], %[[RP]]] {pending = 1 : i64}
  // CHECK-NEXT:      %[[DISTANCE:.*]] = arith.constant 64 : index
  // CHECK-NEXT:      %[[K2:.*]] = arith.addi %[[K]], %[[DISTANCE]] : index
  // CHECK-NEXT:      tcc.producer_acquire %[[P]][%[[WR]], %[[WP]]]
  // CHECK-NEXT:      tcc.copy cp_async %{{.*}}[%{{.*}}, %[[K2]]], %[[SA]] slot %[[WR]]
  // CHECK-NEXT:      tcc.copy cp_async %{{.*}}[%[[K2]], %{{.*}}], %[[SB]] slot %[[WR]]
  // CHECK-NEXT:      tcc.producer_commit %[[P]][%[[WR]], %[[WP]]]
  // CHECK-NEXT:      tcc.local_load %[[SA]] slot %[[RD]]
  // CHECK-NEXT:      tcc.local_load %[[SB]] slot %[[RD]]
  // CHECK-NEXT:      %[[D:.*]] = tcc.matmul
  // CHECK-NEXT:      tcc.consumer_release %[[P]][%[[RD]], %[[RP]]]
  // CHECK-NEXT:      %[[RD1:.*]], %[[RP1:.*]] = tcc.advance %[[P]][%[[RD]], %[[RP]]]
  // CHECK-NEXT:      %[[WR1:.*]], %[[WP1:.*]] = tcc.advance %[[P]][%[[WR]], %[[WP]]]
  // CHECK-NEXT:      scf.yield %[[D]], %[[RD1]], %[[RP1]], %[[WR1]], %[[WP1]]
  // CHECK:         tcc.drain %[[P]]
  // CHECK-NEXT:    tcc.store
  func.func @cp_async(%A: memref<?x?xf16>, %B: memref<?x?xf16, strided<[1, ?]>>, %C: memref<?x?xf32>,
                      %m: index, %n: index, %K: index)
      attributes {tcc.level = "L3g", tcc.schedule = #cp_async} {
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %zero = arith.constant dense<0.0> : tensor<32x32xf32, #c>
    %sa = tcc.alloc_shared : !tcc.shared<32x32xf16, #row>
    %sb = tcc.alloc_shared : !tcc.shared<32x32xf16, #column>
    %acc = scf.for %k = %c0 to %K step %c32 iter_args(%c = %zero) -> (tensor<32x32xf32, #c>) {
      tcc.copy cp_async %A[%m, %k], %sa {bytes = 16 : i64, clamp = 0 : i64} : memref<?x?xf16>, !tcc.shared<32x32xf16, #row>
      tcc.copy cp_async %B[%k, %n], %sb {bytes = 16 : i64, clamp = 1 : i64} : memref<?x?xf16, strided<[1, ?]>>, !tcc.shared<32x32xf16, #column>
      %a = tcc.local_load %sa : !tcc.shared<32x32xf16, #row> -> tensor<32x32xf16, #a>
      %b = tcc.local_load %sb : !tcc.shared<32x32xf16, #column> -> tensor<32x32xf16, #b>
      %d = tcc.matmul %a, %b, %c : tensor<32x32xf16, #a>, tensor<32x32xf16, #b>, tensor<32x32xf32, #c>
      scf.yield %d : tensor<32x32xf32, #c>
    }
    tcc.store %acc, %C[%m, %n] {bytes = 8 : i64} : tensor<32x32xf32, #c>, memref<?x?xf32>
    return
  }

  // A copy is cut in two: loads before the matmul, stores to the other slot after it. The offset
  // that the copy is made of is made again for the next slab.
  // CHECK-LABEL: func.func @register
  // CHECK-SAME:    tcc.shared_bytes = 8192 : i64
  // CHECK:         %[[P:.*]] = tcc.create_pipeline %[[SA:.*]], %[[SB:.*]] : {{.*}} -> <register, stages = 2>
  // CHECK:         tcc.producer_acquire
  // CHECK-NEXT:    %[[OFFSET:.*]] = arith.addi %{{.*}}, %{{.*}} : index
  // CHECK-NEXT:    %[[A0:.*]] = tcc.load %{{.*}}[%{{.*}}, %[[OFFSET]]] {bytes = 16 : i64, clamp = 0 : i64} : memref<?x?xf16> -> tensor<32x32xf16, #[[ROWS:.*]]>
  // CHECK-NEXT:    %[[B0:.*]] = tcc.load {{.*}} {bytes = 4 : i64, clamp = 1 : i64} {{.*}} -> tensor<32x32xf16, #[[COLUMNS:.*]]>
  // CHECK-NEXT:    tcc.local_store %[[A0]], %[[SA]] slot
  // CHECK-NEXT:    tcc.local_store %[[B0]], %[[SB]] slot
  // CHECK-NEXT:    tcc.producer_commit
  // CHECK:         scf.for %[[K:.*]] = {{.*}} iter_args(%{{.*}}, %[[RD:.*]] = %{{.*}}, %[[RP:.*]] = %{{.*}}, %[[WR:.*]] = %{{.*}}, %[[WP:.*]] = %{{.*}})
  // CHECK-NEXT:      tcc.consumer_wait %[[P]][%[[RD]], %[[RP]]] : <register
  // CHECK:           %[[K1:.*]] = arith.addi %[[K]]
  // CHECK-NEXT:      %[[OFFSET1:.*]] = arith.addi %[[K1]], %{{.*}} : index
  // CHECK-NEXT:      %[[A1:.*]] = tcc.load %{{.*}}[%{{.*}}, %[[OFFSET1]]]
  // CHECK-NEXT:      %[[B1:.*]] = tcc.load
  // CHECK-NEXT:      tcc.local_load %[[SA]] slot %[[RD]]
  // CHECK-NEXT:      tcc.local_load %[[SB]] slot %[[RD]]
  // CHECK-NEXT:      tcc.matmul
  // CHECK-NEXT:      tcc.producer_acquire %[[P]][%[[WR]], %[[WP]]]
  // CHECK-NEXT:      tcc.local_store %[[A1]], %[[SA]] slot %[[WR]]
  // CHECK-NEXT:      tcc.local_store %[[B1]], %[[SB]] slot %[[WR]]
  // CHECK-NEXT:      tcc.producer_commit %[[P]][%[[WR]], %[[WP]]]
  // CHECK-NEXT:      tcc.consumer_release %[[P]][%[[RD]], %[[RP]]]
  // CHECK-NEXT:      tcc.advance
  func.func @register(%A: memref<?x?xf16>, %B: memref<?x?xf16, strided<[1, ?]>>, %C: memref<?x?xf32>,
                      %m: index, %n: index, %K: index)
      attributes {tcc.level = "L3g", tcc.schedule = #register} {
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %zero = arith.constant dense<0.0> : tensor<32x32xf32, #c>
    %sa = tcc.alloc_shared : !tcc.shared<32x32xf16, #row>
    %sb = tcc.alloc_shared : !tcc.shared<32x32xf16, #column>
    %acc = scf.for %k = %c0 to %K step %c32 iter_args(%c = %zero) -> (tensor<32x32xf32, #c>) {
      %offset = arith.addi %k, %n : index
      tcc.copy register %A[%m, %offset], %sa {bytes = 16 : i64, clamp = 0 : i64} : memref<?x?xf16>, !tcc.shared<32x32xf16, #row>
      tcc.copy register %B[%k, %n], %sb {bytes = 4 : i64, clamp = 1 : i64} : memref<?x?xf16, strided<[1, ?]>>, !tcc.shared<32x32xf16, #column>
      %a = tcc.local_load %sa : !tcc.shared<32x32xf16, #row> -> tensor<32x32xf16, #a>
      %b = tcc.local_load %sb : !tcc.shared<32x32xf16, #column> -> tensor<32x32xf16, #b>
      %d = tcc.matmul %a, %b, %c : tensor<32x32xf16, #a>, tensor<32x32xf16, #b>, tensor<32x32xf32, #c>
      scf.yield %d : tensor<32x32xf32, #c>
    }
    tcc.store %acc, %C[%m, %n] {bytes = 8 : i64} : tensor<32x32xf32, #c>, memref<?x?xf32>
    return
  }
}
