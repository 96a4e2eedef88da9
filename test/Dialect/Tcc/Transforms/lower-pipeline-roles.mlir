// RUN: tcc-opt %s --tcc-lower-pipeline --canonicalize --cse | FileCheck %s

// Groups of consumers, clusters, and loops that run at least once.

#row = #tcc.layout<contiguous = 1, span = 128>
#s22 = #tcc.schedule<block = [64, 64, 64], warps = [4, 1], mma = wgmma, transport = tma, stages = 2, roles = ping_pong, persistent = true, cluster = [2, 2]>
#warpgroup = #tcc.schedule<block = [128, 64, 64], warps = [8, 1], mma = wgmma, transport = tma, stages = 2, roles = cooperative>
#warp = #tcc.schedule<block = [128, 64, 64], warps = [8, 1], mma = wgmma, transport = tma, stages = 2, roles = cooperative, producer_warps = 1>
!pipe = !tcc.pipeline<tma, stages = 3>

gpu.module @kernels [#nvvm.target<chip = "sm_90a">] {
  // Behind three full and three empty barriers stand two of turns, which count the other group's 4 warps.
  // Group 0's first turn was passed before it began: it waits for the phase before. Group g meets at barrier
  // 1 + g. n slots on is n % 3 slots and another phase after an odd number of laps.
  // CHECK-LABEL: func.func @turns
  // CHECK:         %[[BARRIERS:.*]] = tcc.alloc_shared : <1x8xi64,
  // CHECK:         nvvm.fence.mbarrier.init
  // CHECK-NEXT:    }
  // CHECK-NEXT:    gpu.barrier
  // CHECK:         %[[G:.*]] = arith.shrui %{{.*}}, %c7_i32
  // CHECK:         %[[OTHER:.*]] = arith.xori %[[G]], %c1_i32
  // CHECK:         %[[TURN:.*]] = tcc.shared_address %[[BARRIERS]]
  // CHECK:         %[[PHASE:.*]] = arith.xori %{{.*}}, %[[OTHER]]
  // CHECK:         nvvm.mbarrier.try_wait %[[TURN]], %[[PHASE]]
  // CHECK:         scf.if
  // CHECK:           %[[O:.*]] = arith.muli %[[OTHER]], %c8_i32
  // CHECK-NEXT:      %[[OFFSET:.*]] = arith.addi %[[O]], %c48_i32
  // CHECK-NEXT:      %[[NEXT:.*]] = tcc.shared_address %[[BARRIERS]] offset %[[OFFSET]]
  // CHECK-NEXT:      nvvm.mbarrier.arrive %[[NEXT]]
  // CHECK:         %[[ID:.*]] = arith.addi %[[G]], %c1_i32
  // CHECK-NEXT:    nvvm.barrier id = %[[ID]] number_of_threads = %c128_i32
  // CHECK:         %[[LAPS:.*]] = arith.divui %[[N:.*]], %c3_i32
  // CHECK:         %[[REST:.*]] = arith.remui %[[N]], %c3_i32
  // CHECK:         %[[SUM:.*]] = arith.addi %{{.*}}, %[[REST]]
  // CHECK:         %[[WRAPS:.*]] = arith.cmpi uge, %[[SUM]], %c3_i32
  // CHECK:         %[[LESS:.*]] = arith.subi %[[SUM]], %c3_i32
  // CHECK:         %[[SLOT:.*]] = arith.select %[[WRAPS]], %[[LESS]], %[[SUM]]
  // CHECK:         %[[WRAP:.*]] = arith.extui %[[WRAPS]]
  // CHECK:         %[[ODD:.*]] = arith.andi %[[LAPS]], %c1_i32
  // CHECK:         %[[FLIP:.*]] = arith.xori %[[WRAP]], %[[ODD]]
  // CHECK:         %[[PHASE:.*]] = arith.xori %{{.*}}, %[[FLIP]]
  // CHECK:         arith.muli %[[SLOT]], %c8_i32
  // CHECK:         nvvm.mbarrier.try_wait %{{.*}}, %[[PHASE]]
  func.func @turns(%slot: i32, %phase: i32, %turn: i32, %n: i32) attributes {tcc.level = "L4d"} {
    %s = tcc.alloc_shared : !tcc.shared<64x64xf16, stages = 3, #row>
    %p = tcc.create_pipeline %s : !tcc.shared<64x64xf16, stages = 3, #row> -> !pipe
    tcc.warp_specialize consumers = 8 groups = 2 producer {
    } consumer {
      %g = tcc.consumer_group
      tcc.turn_wait %p[%g, %turn] : !pipe
      tcc.turn_pass %p[%g, %turn] : !pipe
      tcc.group_barrier
      %slot1, %phase1 = tcc.advance %p[%slot, %phase] by %n : !pipe
      tcc.consumer_wait %p[%slot1, %phase1] : !pipe
    }
    return
  }

  // A producer's warpgroup gives its registers to two warpgroups of consumers; one warp can't.
  // CHECK-LABEL: func.func @producer_warpgroup
  // CHECK:         nvvm.setmaxregister increase 232
  // CHECK:         nvvm.setmaxregister decrease 40
  func.func @producer_warpgroup() attributes {tcc.level = "L4d", tcc.schedule = #warpgroup} {
    tcc.warp_specialize consumers = 8 producer {
    } consumer {
    }
    return
  }
  // CHECK-LABEL: func.func @producer_warp
  // CHECK-NOT:     setmaxregister
  // CHECK:         return
  func.func @producer_warp() attributes {tcc.level = "L4d", tcc.schedule = #warp} {
    tcc.warp_specialize consumers = 8 producer {
    } consumer {
    }
    return
  }

  // Who passes a turn needs the other group's barrier, whether anybody waits for it or not.
  // CHECK-LABEL: func.func @turn_passed
  // CHECK:         %[[BARRIERS:.*]] = tcc.alloc_shared : <1x8xi64,
  // CHECK:         nvvm.mbarrier.arrive
  func.func @turn_passed(%turn: i32) attributes {tcc.level = "L4d"} {
    %s = tcc.alloc_shared : !tcc.shared<64x64xf16, stages = 3, #row>
    %p = tcc.create_pipeline %s : !tcc.shared<64x64xf16, stages = 3, #row> -> !pipe
    tcc.warp_specialize consumers = 8 groups = 2 producer {
    } consumer {
      %g = tcc.consumer_group
      tcc.turn_pass %p[%g, %turn] : !pipe
    }
    return
  }

  // C's tensor map is a parameter like those of A and B.
  // CHECK-LABEL: func.func @stores
  // CHECK-SAME:    %[[MAP:[a-z0-9]+]]: !llvm.ptr {llvm.align = 64 : i64, llvm.byval = !llvm.array<128 x i8>})
  // CHECK-SAME:    tcc.tensor_maps = [{argument = "C", box = [32, 128], dims = [1, 0], l2Promotion = 128 : i64, swizzle = 64 : i64, type = bf16}]
  // CHECK:         nvvm.cp.async.bulk.tensor.global.shared.cta %[[MAP]], %{{.*}}, box[%{{.*}}, %{{.*}}] : !llvm.ptr, <3>
  // CHECK-NEXT:    nvvm.barrier id = %c1_i32 number_of_threads = %c128_i32
  func.func @stores(%C: memref<?x?xbf16> {tcc.name = "C", tcc.dims = ["M", "N"], tcc.direction = "out"}, %p: !llvm.ptr<3>, %m: index, %n: index) attributes {tcc.level = "L4d"} {
    %s = tcc.alloc_shared : !tcc.shared<64x64xf16, stages = 3, #row>
    %pipe = tcc.create_pipeline %s : !tcc.shared<64x64xf16, stages = 3, #row> -> !pipe
    tcc.warp_specialize consumers = 4 producer {
    } consumer {
      tcc.tma_store %p, %C[%m, %n] box [128, 32] {span = 64} : !llvm.ptr<3>, memref<?x?xbf16>
      tcc.group_barrier
    }
    return
  }

  // A slot of a cluster of 2 x 2 is empty when the 4 warps of each of the three blocks have released it that
  // its block brings shares to. Three lanes tell one of them each: the two in its row, and the other one in
  // its column. The blocks begin together, and the producer ends when all slots are empty.
  // CHECK-LABEL: func.func @cluster
  // CHECK:         nvvm.mbarrier.init %{{.*}}, %c12_i32
  // CHECK:         nvvm.fence.mbarrier.init
  // CHECK-NEXT:    }
  // CHECK-NEXT:    nvvm.cluster.arrive.relaxed {aligned}
  // CHECK-NEXT:    nvvm.cluster.wait {aligned}
  // CHECK:         %[[PEER:.*]] = arith.select
  // CHECK:         %[[IS_PEER:.*]] = arith.cmpi slt, %{{.*}}, %c3_i32
  // CHECK-NEXT:    scf.if %[[IS_PEER]] {
  // CHECK:           %[[HERE:.*]] = tcc.shared_address
  // CHECK-NEXT:      %[[THERE:.*]] = nvvm.mapa %[[HERE]], %[[PEER]] : !llvm.ptr<3> -> !llvm.ptr<7>
  // CHECK-NEXT:      nvvm.mbarrier.arrive %[[THERE]] : !llvm.ptr<7>
  // CHECK:         nvvm.cp.async.bulk.tensor.shared.cluster.global {{.*}} multicast_mask = %{{.*}}
  // CHECK:         scf.for %{{.*}} = %c0_i32 to %c3_i32 step %c1_i32 iter_args(%[[SLOT:.*]] = %{{.*}}, %[[PHASE:.*]] = %{{.*}})
  // CHECK:           %[[O:.*]] = arith.muli %[[SLOT]], %c8_i32
  // CHECK-NEXT:      %[[OFFSET:.*]] = arith.addi %[[O]], %c24_i32
  // CHECK-NEXT:      %[[EMPTY:.*]] = tcc.shared_address %{{.*}} offset %[[OFFSET]]
  // CHECK-NEXT:      %[[OTHER:.*]] = arith.xori %[[PHASE]], %c1_i32
  // CHECK:             nvvm.mbarrier.try_wait %[[EMPTY]], %[[OTHER]]
  // CHECK:           scf.yield
  // CHECK-NOT:     nvvm.cluster
  // CHECK:         return
  func.func @cluster(%A: memref<?x?xf16> {tcc.name = "A", tcc.dims = ["M", "K"], tcc.direction = "in"}, %m: index, %k: index, %slot: i32, %phase: i32, %mask: i16) attributes {tcc.level = "L4d", tcc.schedule = #s22} {
    %s = tcc.alloc_shared : !tcc.shared<64x64xf16, stages = 3, #row>
    %p = tcc.create_pipeline %s : !tcc.shared<64x64xf16, stages = 3, #row> -> !pipe
    tcc.warp_specialize consumers = 4 producer {
      %o = arith.constant 0 : i32
      %d = tcc.shared_address %s slot %slot offset %o : !tcc.shared<64x64xf16, stages = 3, #row> -> !llvm.ptr<3>
      tcc.tma_load %A[%m, %k] box [32, 64], %d, %p[%slot] multicast %mask {span = 128} : memref<?x?xf16>, !llvm.ptr<3>, !pipe
      tcc.producer_tail %p[%slot, %phase] : !pipe
    } consumer {
      tcc.consumer_release %p[%slot, %phase] : !pipe
    }
    return
  }

  // CHECK-LABEL: func.func @loop
  // CHECK-SAME:    %[[K:[a-z0-9]+]]: index
  // CHECK:         %[[R:.*]]:3 = scf.while (%[[I:.*]] = %c0, %[[SLOT:.*]] = %{{.*}}, %[[PHASE:.*]] = %{{.*}})
  // CHECK:           nvvm.mbarrier.try_wait %{{.*}}, %[[PHASE]]
  // CHECK:           %[[NEXT:.*]] = arith.addi %[[I]], %c64 : index
  // CHECK-NEXT:      %[[AGAIN:.*]] = arith.cmpi slt, %[[NEXT]], %[[K]] : index
  // CHECK-NEXT:      scf.condition(%[[AGAIN]]) %[[NEXT]], %{{.*}}, %{{.*}}
  // CHECK:         arith.muli %[[R]]#1, %c8_i32
  func.func @loop(%K: index, %x: i32) -> i32 attributes {tcc.level = "L4d"} {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %s = tcc.alloc_shared : !tcc.shared<64x64xf16, stages = 3, #row>
    %p = tcc.create_pipeline %s : !tcc.shared<64x64xf16, stages = 3, #row> -> !pipe
    tcc.warp_specialize consumers = 4 producer {
    } consumer {
      %0:2 = scf.for %k = %c0 to %K step %c64 iter_args(%slot = %x, %phase = %x) -> (i32, i32) {
        tcc.consumer_wait %p[%slot, %phase] : !pipe
        %1, %2 = tcc.advance %p[%slot, %phase] : !pipe
        scf.yield %1, %2 : i32, i32
      } {tcc.non_empty}
      tcc.consumer_release %p[%0#0, %0#1] : !pipe
    }
    return %x : i32
  }
}
