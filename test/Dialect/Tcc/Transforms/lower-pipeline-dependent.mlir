// RUN: tcc-opt %s --tcc-lower-pipeline --canonicalize --cse | FileCheck %s

// Every thread waits for the grid ahead once the block's barriers are there, before any role begins. The
// producer lets the next grid start when its last copy is issued.

#row = #tcc.layout<contiguous = 1, span = 128>
#schedule = #tcc.schedule<block = [64, 64, 64], warps = [4, 1], mma = wgmma, transport = tma, stages = 2, roles = cooperative, dependent_launch = true>
!pipe = !tcc.pipeline<tma, stages = 2>

gpu.module @kernels [#nvvm.target<chip = "sm_90a">] {
  // CHECK-LABEL: func.func @waits
  // CHECK:         nvvm.fence.mbarrier.init
  // CHECK:         gpu.barrier
  // CHECK-NOT:     scf.if
  // CHECK:         nvvm.griddepcontrol wait
  // CHECK:         scf.if
  // CHECK-NOT:     griddepcontrol
  // CHECK:         nvvm.mbarrier.arrive.expect_tx
  // CHECK:         nvvm.griddepcontrol launch_dependents
  // CHECK-NOT:     griddepcontrol
  func.func @waits(%slot: i32, %phase: i32) attributes {tcc.level = "L4d", tcc.schedule = #schedule} {
    %s = tcc.alloc_shared : !tcc.shared<64x64xf16, stages = 2, #row>
    %p = tcc.create_pipeline %s : !tcc.shared<64x64xf16, stages = 2, #row> -> !pipe
    tcc.warp_specialize consumers = 4 producer {
      tcc.producer_acquire %p[%slot, %phase] : !pipe
    } consumer {
      tcc.consumer_wait %p[%slot, %phase] : !pipe
    }
    return
  }

  // CHECK-LABEL: func.func @reads_before_its_roles
  // CHECK:         nvvm.griddepcontrol wait
  // CHECK:         tcc.global_address
  // CHECK-NOT:     griddepcontrol wait
  func.func @reads_before_its_roles(%bias: memref<?xf32>, %out: !llvm.ptr<3>, %i: index, %slot: i32, %phase: i32)
      attributes {tcc.level = "L4d", tcc.schedule = #schedule} {
    %s = tcc.alloc_shared : !tcc.shared<64x64xf16, stages = 2, #row>
    %p = tcc.create_pipeline %s : !tcc.shared<64x64xf16, stages = 2, #row> -> !pipe
    %a = tcc.global_address %bias[%i] : memref<?xf32> -> !llvm.ptr<1>
    %x = llvm.load %a : !llvm.ptr<1> -> f32
    llvm.store %x, %out : f32, !llvm.ptr<3>
    tcc.warp_specialize consumers = 4 producer {
      tcc.producer_acquire %p[%slot, %phase] : !pipe
    } consumer {
      tcc.consumer_wait %p[%slot, %phase] : !pipe
    }
    return
  }

  // In a cluster the producer has something left to wait for.
  // CHECK-LABEL: func.func @before_the_tail
  // CHECK:         nvvm.mbarrier.arrive.expect_tx
  // CHECK-NEXT:    nvvm.griddepcontrol launch_dependents
  // CHECK-NEXT:    scf.for
  // CHECK:           nvvm.mbarrier.try_wait
  func.func @before_the_tail(%slot: i32, %phase: i32) attributes {tcc.level = "L4d", tcc.schedule = #schedule} {
    %s = tcc.alloc_shared : !tcc.shared<64x64xf16, stages = 2, #row>
    %p = tcc.create_pipeline %s : !tcc.shared<64x64xf16, stages = 2, #row> -> !pipe
    tcc.warp_specialize consumers = 4 producer {
      tcc.producer_acquire %p[%slot, %phase] : !pipe
      tcc.producer_tail %p[%slot, %phase] : !pipe
    } consumer {
    }
    return
  }
}
