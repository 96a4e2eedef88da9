// RUN: tcc-opt %s --tcc-lower-pipeline --canonicalize --cse | FileCheck %s

// A producer and its consumers meet at mbarriers; tensor maps become parameters.

#row = #tcc.layout<contiguous = 1, span = 128>

gpu.module @kernels [#nvvm.target<chip = "sm_90a">] {
  // CHECK-LABEL: func.func @roles
  // CHECK-SAME: %[[MAP:[a-z0-9]+]]: !llvm.ptr {llvm.align = 64 : i64, llvm.byval = !llvm.array<128 x i8>})
  // CHECK-SAME: tcc.tensor_maps = [{argument = "A", box = [64, 64], dims = [1, 0], l2Promotion = 128 : i64, swizzle = 128 : i64, type = f16}]
  func.func @roles(
      %A: memref<?x?xf16, strided<[?, 1]>>
        {tcc.name = "A", tcc.dims = ["M", "K"], tcc.direction = "in"},
      %m: index, %k: index, %slot: i32, %phase: i32) attributes {tcc.level = "L4d"} {
    %s = tcc.alloc_shared : !tcc.shared<64x64xf16, stages = 4, #row>
    // Four full barriers of one arrival, four empty ones of an arrival a consumer warp.
    // CHECK: %[[BARRIERS:.*]] = tcc.alloc_shared : <1x8xi64,
    // CHECK: scf.if
    // CHECK-COUNT-8: nvvm.mbarrier.init
    // CHECK: nvvm.fence.mbarrier.init
    // CHECK: gpu.barrier
    %p = tcc.create_pipeline %s : !tcc.shared<64x64xf16, stages = 4, #row>
      -> !tcc.pipeline<tma, stages = 4>
    // CHECK: %[[CONSUMER:.*]] = arith.cmpi slt, %{{.*}}, %c256_i32
    // CHECK: scf.if %[[CONSUMER]] {
    // CHECK: nvvm.setmaxregister increase 232
    // CHECK: scf.while
    // CHECK: nvvm.mbarrier.try_wait %{{.*}}, %{{.*}} : !llvm.ptr<3>, i32 -> i1
    // CHECK: scf.condition
    // The first lane of a warp arrives on the slot's empty barrier.
    // CHECK: scf.if
    // CHECK: nvvm.mbarrier.arrive
    // CHECK: } else {
    // CHECK: nvvm.setmaxregister decrease 40
    // CHECK: scf.if
    // CHECK: nvvm.mbarrier.try_wait
    // CHECK: nvvm.mbarrier.arrive.expect_tx %{{.*}}, %c8192_i32
    // CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.*}}, %[[MAP]], %{{.*}}, box[%{{.*}}, %{{.*}}]
    tcc.warp_specialize consumers = 8 producer {
      tcc.producer_acquire %p[%slot, %phase] : !tcc.pipeline<tma, stages = 4>
      %o = arith.constant 0 : i32
      %d = tcc.shared_address %s slot %slot offset %o
        : !tcc.shared<64x64xf16, stages = 4, #row> -> !llvm.ptr<3>
      tcc.tma_load %A[%m, %k] box [64, 64], %d, %p[%slot] {span = 128}
        : memref<?x?xf16, strided<[?, 1]>>, !llvm.ptr<3>, !tcc.pipeline<tma, stages = 4>
      tcc.producer_commit %p[%slot, %phase] : !tcc.pipeline<tma, stages = 4>
    } consumer {
      tcc.consumer_wait %p[%slot, %phase] : !tcc.pipeline<tma, stages = 4>
      tcc.consumer_release %p[%slot, %phase] : !tcc.pipeline<tma, stages = 4>
    }
    return
  }

  // The block's 640 threads start with 96 registers each, not with a fifth of all: 128 x 5 x 96 less the
  // producer's 40 are 110 for each of four warpgroups' threads.
  // CHECK-LABEL: func.func @four_warpgroups
  // CHECK: nvvm.setmaxregister increase 104
  func.func @four_warpgroups(%slot: i32, %phase: i32) attributes {tcc.level = "L4d"} {
    %s = tcc.alloc_shared : !tcc.shared<64x64xf16, stages = 4, #row>
    %p = tcc.create_pipeline %s : !tcc.shared<64x64xf16, stages = 4, #row>
      -> !tcc.pipeline<tma, stages = 4>
    tcc.warp_specialize consumers = 16 producer {
      tcc.producer_acquire %p[%slot, %phase] : !tcc.pipeline<tma, stages = 4>
      tcc.producer_commit %p[%slot, %phase] : !tcc.pipeline<tma, stages = 4>
    } consumer {
      tcc.consumer_wait %p[%slot, %phase] : !tcc.pipeline<tma, stages = 4>
      tcc.consumer_release %p[%slot, %phase] : !tcc.pipeline<tma, stages = 4>
    }
    return
  }
}
