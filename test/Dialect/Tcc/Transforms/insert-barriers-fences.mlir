// RUN: tcc-opt %s --tcc-insert-barriers | FileCheck %s

// What threads wrote TMA sees behind a fence of theirs and a barrier, in this order.

#c = #tcc.fragment<wgmma, c, shape = [64, 32, 16], warps = [4, 1]>
#line = #tcc.layout<contiguous = 1, span = 64>
!buffer = !tcc.shared<64x32xf16, stages = 2, #line>
!tile = tensor<64x32xf16, #c>

// A barrier for another buffer doesn't show TMA what threads wrote: no fence of theirs stands before it.
// CHECK-LABEL: func.func @barrier_without_fence
// CHECK:         tcc.local_store
// CHECK-NEXT:    tcc.local_store
// CHECK-NEXT:    tcc.group_barrier
// CHECK-NEXT:    tcc.local_load
// CHECK-NEXT:    nvvm.fence.proxy
// CHECK-NEXT:    tcc.group_barrier
// CHECK-NEXT:    tcc.bulk_store
// CHECK-NEXT:    tcc.bulk_wait read
func.func @barrier_without_fence(%t: !tile, %C: memref<?x?xf16>, %i: index) attributes {tcc.level = "L3g"} {
  %s = tcc.alloc_shared : !buffer
  %u = tcc.alloc_shared : !buffer
  tcc.warp_specialize consumers = 8 groups = 2 producer {
  } consumer {
    %g = tcc.consumer_group
    tcc.local_store %t, %s slot %g : !tile, !buffer
    tcc.local_store %t, %u slot %g : !tile, !buffer
    %0 = tcc.local_load %u slot %g : !buffer -> !tile
    tcc.bulk_store %s slot %g, %C[%i, %i] : !buffer, memref<?x?xf16>
  }
  return
}

// Behind the barrier a fence is of the threads that read; before it, those that wrote: nothing is missing then.
// CHECK-LABEL: func.func @fences_there
// CHECK:         tcc.local_store
// CHECK-NEXT:    tcc.group_barrier
// CHECK-NEXT:    nvvm.fence.proxy
// CHECK-NEXT:    nvvm.fence.proxy
// CHECK-NEXT:    tcc.group_barrier
// CHECK-NEXT:    tcc.bulk_store
// CHECK-NEXT:    tcc.local_store
// CHECK-NEXT:    nvvm.fence.proxy
// CHECK-NEXT:    tcc.group_barrier
// CHECK-NEXT:    tcc.bulk_store
// CHECK-NEXT:    tcc.bulk_wait read
func.func @fences_there(%t: !tile, %C: memref<?x?xf16>, %i: index) attributes {tcc.level = "L3g"} {
  %s = tcc.alloc_shared : !buffer
  %u = tcc.alloc_shared : !buffer
  tcc.warp_specialize consumers = 8 groups = 2 producer {
  } consumer {
    %g = tcc.consumer_group
    tcc.local_store %t, %s slot %g : !tile, !buffer
    tcc.group_barrier
    nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
    tcc.bulk_store %s slot %g, %C[%i, %i] : !buffer, memref<?x?xf16>
    tcc.local_store %t, %u slot %g : !tile, !buffer
    nvvm.fence.proxy {kind = #nvvm.proxy_kind<async>}
    tcc.group_barrier
    tcc.bulk_store %u slot %g, %C[%i, %i] : !buffer, memref<?x?xf16>
  }
  return
}

// What one iteration writes the next one stores.
// CHECK-LABEL: func.func @fence_in_a_loop
// CHECK:         scf.for
// CHECK-NEXT:      nvvm.fence.proxy
// CHECK-NEXT:      tcc.group_barrier
// CHECK-NEXT:      tcc.bulk_store
// CHECK-NEXT:      tcc.bulk_wait read
// CHECK-NEXT:      tcc.group_barrier
// CHECK-NEXT:      tcc.local_store
// CHECK-NEXT:      tcc.group_barrier
// CHECK-NEXT:    }
func.func @fence_in_a_loop(%t: !tile, %C: memref<?x?xf16>, %i: index) attributes {tcc.level = "L3g"} {
  %s = tcc.alloc_shared : !buffer
  tcc.warp_specialize consumers = 8 groups = 2 producer {
  } consumer {
    %g = tcc.consumer_group
    scf.for %tile = %i to %i step %i {
      tcc.bulk_store %s slot %g, %C[%i, %i] : !buffer, memref<?x?xf16>
      tcc.local_store %t, %s slot %g : !tile, !buffer
      tcc.group_barrier
    }
  }
  return
}
