// RUN: tcc-opt %s --tcc-lower-pipeline --canonicalize --cse | FileCheck %s

// Barriers of the cluster count all of its threads. Those that don't multiply pass both of the reduction: they wait for
// the first, and for the second with the consumers, who may still store then.

#row = #tcc.layout<contiguous = 1, span = 128>
#s = #tcc.schedule<block = [64, 64, 64], warps = [4, 1], mma = wgmma, transport = tma, stages = 2, roles = cooperative, split_k = 2>
!pipe = !tcc.pipeline<tma, stages = 2>

gpu.module @kernels [#nvvm.target<chip = "sm_90a">] {
  // CHECK-LABEL: func.func @producer
  // CHECK:         nvvm.fence.mbarrier.init
  // CHECK:         gpu.barrier
  // CHECK-NOT:     nvvm.cluster
  // CHECK:         scf.if %{{.*}} {
  // CHECK:           nvvm.mbarrier.try_wait
  // CHECK:           nvvm.cluster.arrive {aligned}
  // CHECK-NEXT:      nvvm.cluster.wait {aligned}
  // CHECK-NEXT:      nvvm.cluster.arrive {aligned}
  // CHECK-NEXT:    } else {
  // CHECK:           scf.if %{{.*}} {
  // CHECK:             nvvm.mbarrier.arrive.expect_tx
  // CHECK-NEXT:      }
  // CHECK-NEXT:      nvvm.cluster.arrive{{$}}
  // CHECK-NEXT:      nvvm.cluster.wait{{$}}
  // CHECK-NEXT:      nvvm.cluster.arrive{{$}}
  // CHECK-NEXT:    }
  // CHECK-NEXT:    nvvm.cluster.wait{{$}}
  // CHECK-NEXT:    return
  func.func @producer(%slot: i32, %phase: i32) attributes {tcc.level = "L4d", tcc.schedule = #s} {
    %s = tcc.alloc_shared : !tcc.shared<64x64xf16, stages = 2, #row>
    %p = tcc.create_pipeline %s : !tcc.shared<64x64xf16, stages = 2, #row> -> !pipe
    tcc.warp_specialize consumers = 4 producer {
      tcc.producer_acquire %p[%slot, %phase] : !pipe
    } consumer {
      tcc.consumer_wait %p[%slot, %phase] : !pipe
      nvvm.cluster.arrive {aligned}
      nvvm.cluster.wait {aligned}
      nvvm.cluster.arrive {aligned}
    }
    return
  }
}
