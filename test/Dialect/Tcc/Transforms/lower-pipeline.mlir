// RUN: tcc-opt %s --tcc-lower-pipeline -split-input-file -verify-diagnostics | FileCheck %s

#layout = #tcc.layout<contiguous = 1>

// CHECK-LABEL: func.func @cp_async
func.func @cp_async(%rd: i32, %rp: i32) -> (i32, i32) attributes {tcc.level = "L4d"} {
  %s = tcc.alloc_shared : !tcc.shared<16x16xf16, stages = 3, #layout>
  // CHECK-NOT: tcc.create_pipeline
  %p = tcc.create_pipeline %s : !tcc.shared<16x16xf16, stages = 3, #layout>
    -> !tcc.pipeline<cp_async, stages = 3>
  // CHECK: nvvm.cp.async.wait.group 1
  // CHECK-NEXT: gpu.barrier
  tcc.consumer_wait %p[%rd, %rp] {pending = 1} : !tcc.pipeline<cp_async, stages = 3>
  // CHECK-NEXT: nvvm.cp.async.commit.group
  tcc.producer_acquire %p[%rd, %rp] : !tcc.pipeline<cp_async, stages = 3>
  tcc.producer_commit %p[%rd, %rp] : !tcc.pipeline<cp_async, stages = 3>
  tcc.consumer_release %p[%rd, %rp] : !tcc.pipeline<cp_async, stages = 3>
  // The phase flips when the slots wrap.
  // CHECK: %[[NEXT:.*]] = arith.addi %{{.*}}, %c1_i32 : i32
  // CHECK: %[[WRAPS:.*]] = arith.cmpi eq, %[[NEXT]], %c3_i32 : i32
  // CHECK: %[[SLOT:.*]] = arith.select %[[WRAPS]], %c0_i32, %[[NEXT]] : i32
  // CHECK: %[[FLIP:.*]] = arith.extui %[[WRAPS]] : i1 to i32
  // CHECK: %[[PHASE:.*]] = arith.xori %{{.*}}, %[[FLIP]] : i32
  %slot, %phase = tcc.advance %p[%rd, %rp] : !tcc.pipeline<cp_async, stages = 3>
  // CHECK: nvvm.cp.async.wait.group 0
  // CHECK-NOT: gpu.barrier
  tcc.drain %p : !tcc.pipeline<cp_async, stages = 3>
  // CHECK: return %[[SLOT]], %[[PHASE]]
  return %slot, %phase : i32, i32
}

// -----

#layout = #tcc.layout<contiguous = 1>

// The next iteration fills the slots again, which other threads may still read.
// CHECK-LABEL: func.func @drain_in_loop
func.func @drain_in_loop(%n: index) attributes {tcc.level = "L4d"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %s = tcc.alloc_shared : !tcc.shared<16x16xf16, stages = 3, #layout>
  %p = tcc.create_pipeline %s : !tcc.shared<16x16xf16, stages = 3, #layout>
    -> !tcc.pipeline<cp_async, stages = 3>
  // CHECK: scf.for
  // CHECK-NEXT: nvvm.cp.async.wait.group 0
  // CHECK-NEXT: gpu.barrier
  scf.for %i = %c0 to %n step %c1 {
    tcc.drain %p : !tcc.pipeline<cp_async, stages = 3>
  }
  return
}

// -----

#layout = #tcc.layout<contiguous = 1>

// Copies through registers are done when their stores are: a barrier is all it takes.
// CHECK-LABEL: func.func @register
func.func @register(%rd: i32, %rp: i32) attributes {tcc.level = "L4d"} {
  %s = tcc.alloc_shared : !tcc.shared<16x16xf16, stages = 2, #layout>
  %p = tcc.create_pipeline %s : !tcc.shared<16x16xf16, stages = 2, #layout>
    -> !tcc.pipeline<register, stages = 2>
  // CHECK-NOT: nvvm
  // CHECK: gpu.barrier
  tcc.consumer_wait %p[%rd, %rp] : !tcc.pipeline<register, stages = 2>
  tcc.producer_acquire %p[%rd, %rp] : !tcc.pipeline<register, stages = 2>
  tcc.producer_commit %p[%rd, %rp] : !tcc.pipeline<register, stages = 2>
  tcc.consumer_release %p[%rd, %rp] : !tcc.pipeline<register, stages = 2>
  // CHECK-NOT: gpu.barrier
  // CHECK-NOT: nvvm
  tcc.drain %p : !tcc.pipeline<register, stages = 2>
  return
}

// -----

#layout = #tcc.layout<contiguous = 1, span = 32>

// Each thread wrote in the generic proxy, by cp.async too, and wgmma reads in the async proxy: the
// writer's fence comes after its copies are there and before the barrier.
// CHECK-LABEL: func.func @wgmma_cp_async
func.func @wgmma_cp_async(%rd: i32, %rp: i32) -> i64 attributes {tcc.level = "L4d"} {
  %s = tcc.alloc_shared : !tcc.shared<16x16xf16, stages = 3, #layout>
  %p = tcc.create_pipeline %s : !tcc.shared<16x16xf16, stages = 3, #layout>
    -> !tcc.pipeline<cp_async, stages = 3>
  // CHECK: nvvm.cp.async.wait.group 1
  // CHECK-NEXT: nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
  // CHECK-NEXT: gpu.barrier
  tcc.consumer_wait %p[%rd, %rp] {pending = 1} : !tcc.pipeline<cp_async, stages = 3>
  %zero = arith.constant 0 : i32
  %base = tcc.shared_address %s slot %rd offset %zero : !tcc.shared<16x16xf16, stages = 3, #layout> -> !llvm.ptr<3>
  %place = llvm.getelementptr %base[32] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
  %descriptor = tcc.matrix_descriptor %place {leading = 0, stride = 256, span = 32} : !llvm.ptr<3>
  return %descriptor : i64
}

// -----

#layout = #tcc.layout<contiguous = 1, span = 32>

// CHECK-LABEL: func.func @wgmma_register
func.func @wgmma_register(%rd: i32, %rp: i32) -> i64 attributes {tcc.level = "L4d"} {
  %s = tcc.alloc_shared : !tcc.shared<16x16xf16, stages = 2, #layout>
  %p = tcc.create_pipeline %s : !tcc.shared<16x16xf16, stages = 2, #layout>
    -> !tcc.pipeline<register, stages = 2>
  // CHECK: nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
  // CHECK-NEXT: gpu.barrier
  tcc.consumer_wait %p[%rd, %rp] : !tcc.pipeline<register, stages = 2>
  %zero = arith.constant 0 : i32
  %base = tcc.shared_address %s slot %rd offset %zero : !tcc.shared<16x16xf16, stages = 2, #layout> -> !llvm.ptr<3>
  %descriptor = tcc.matrix_descriptor %base {leading = 0, stride = 256, span = 32} : !llvm.ptr<3>
  return %descriptor : i64
}

// -----

#layout = #tcc.layout<contiguous = 1, span = 32>

// expected-error@+1 {{has a pipeline of transport 'tma' without a tcc.warp_specialize: TMA needs a producer}}
func.func @tma() attributes {tcc.level = "L4d"} {
  %s = tcc.alloc_shared : !tcc.shared<16x16xf16, stages = 2, #layout>
  %p = tcc.create_pipeline %s : !tcc.shared<16x16xf16, stages = 2, #layout>
    -> !tcc.pipeline<tma, stages = 2>
  return
}

// -----

func.func @pipeline_of_another(%p: !tcc.pipeline<tma, stages = 2>, %slot: i32, %phase: i32) attributes {tcc.level = "L4d"} {
  tcc.warp_specialize consumers = 4 producer {
  } consumer {
    // expected-error@+1 {{expects the result of a tcc.create_pipeline for its pipeline of transport 'tma', found an argument}}
    tcc.consumer_wait %p[%slot, %phase] : !tcc.pipeline<tma, stages = 2>
  }
  return
}

// -----

// expected-error@+1 {{expects to be in a gpu.module with one #nvvm.target (L0t.1): run tcc-select-target first}}
func.func @roles_of_no_chip() attributes {tcc.level = "L4d"} {
  tcc.warp_specialize consumers = 4 producer {
  } consumer {
  }
  return
}

// -----

// A store needs no pipeline: there is no thread that starts before the others to fetch its map.
gpu.module @kernels [#nvvm.target<chip = "sm_90a">] {
  // CHECK-LABEL: func.func @store_without_pipeline
  // CHECK-NOT:     nvvm.prefetch
  // CHECK:         nvvm.cp.async.bulk.tensor.global.shared.cta
  func.func @store_without_pipeline(%C: memref<?x?xf16> {tcc.name = "C", tcc.dims = ["M", "N"], tcc.direction = "out"}, %p: !llvm.ptr<3>, %m: index) attributes {tcc.level = "L4d"} {
    tcc.warp_specialize consumers = 4 producer {
    } consumer {
      tcc.tma_store %p, %C[%m, %m] box [16, 16] {span = 32} : !llvm.ptr<3>, memref<?x?xf16>
    }
    return
  }
}

// -----

// expected-error@+1 {{tcc-lower-pipeline expects a kernel on level L4d, found L4: run tcc-distribute, tcc-lower-pipeline and tcc-finalize-kernel first}}
func.func @too_early() attributes {tcc.level = "L4"} {
  return
}
