// RUN: tcc-opt %s --tcc-insert-barriers | FileCheck %s

#c = #tcc.fragment<wgmma, c, shape = [64, 32, 16], warps = [4, 1]>
#rows = #tcc.blocked<vector = 4, contiguous = 1, threads = 128>
#line = #tcc.layout<contiguous = 1, span = 64>
#dense = #tcc.layout<contiguous = 1>
!buffer = !tcc.shared<64x32xf16, stages = 2, #line>
!tile = tensor<64x32xf16, #c>

// A buffer may be written again when TMA has read it, which the thread that started the store knows
// and tells the others. What threads wrote is shown to TMA by each of them, before they meet. Blocks
// end when all stores have read their buffers.
// CHECK-LABEL: func.func @bulk_stores
// CHECK-SAME:    tcc.level = "L4"
// CHECK:         consumer {
// CHECK:         tcc.local_store
// CHECK-NEXT:    nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
// CHECK-NEXT:    tcc.group_barrier
// CHECK-NEXT:    tcc.bulk_store
// CHECK-NEXT:    tcc.bulk_wait read
// CHECK-NEXT:    tcc.group_barrier
// CHECK-NEXT:    tcc.local_store
// CHECK-NEXT:    nvvm.fence.proxy
// CHECK-NEXT:    tcc.group_barrier
// CHECK-NEXT:    tcc.bulk_store
// CHECK-NEXT:    tcc.bulk_wait read
// CHECK-NEXT:    }
func.func @bulk_stores(%t: !tile, %C: memref<?x?xf16>, %i: index) attributes {tcc.level = "L3g"} {
  %s = tcc.alloc_shared : !buffer
  tcc.warp_specialize consumers = 8 groups = 2 producer {
  } consumer {
    %g = tcc.consumer_group
    tcc.local_store %t, %s slot %g : !tile, !buffer
    tcc.bulk_store %s slot %g, %C[%i, %i] : !buffer, memref<?x?xf16>
    tcc.local_store %t, %s slot %g : !tile, !buffer
    tcc.bulk_store %s slot %g, %C[%i, %i] : !buffer, memref<?x?xf16>
  }
  return
}

// The store of one tile and the write of the next one: the wait stands where it is needed, at the end
// of what can be done beside the store.
// CHECK-LABEL: func.func @tiles
// CHECK:         scf.for
// CHECK-NEXT:      arith.addf
// CHECK-NEXT:      tcc.bulk_wait read
// CHECK-NEXT:      tcc.group_barrier
// CHECK-NEXT:      tcc.local_store
// CHECK-NEXT:      nvvm.fence.proxy
// CHECK-NEXT:      tcc.group_barrier
// CHECK-NEXT:      tcc.bulk_store
// CHECK-NEXT:    }
// CHECK-NEXT:    tcc.bulk_wait read
func.func @tiles(%t: !tile, %C: memref<?x?xf16>, %i: index) attributes {tcc.level = "L3g"} {
  %s = tcc.alloc_shared : !buffer
  tcc.warp_specialize consumers = 8 groups = 2 producer {
  } consumer {
    %g = tcc.consumer_group
    scf.for %tile = %i to %i step %i {
      %sum = arith.addf %t, %t : !tile
      tcc.local_store %sum, %s slot %g : !tile, !buffer
      tcc.bulk_store %s slot %g, %C[%i, %i] : !buffer, memref<?x?xf16>
    }
  }
  return
}

// Two buffers share one wait and one barrier.
// CHECK-LABEL: func.func @two_buffers
// CHECK:         tcc.local_store
// CHECK-NEXT:    tcc.local_store
// CHECK-NEXT:    nvvm.fence.proxy
// CHECK-NEXT:    tcc.group_barrier
// CHECK-NEXT:    tcc.bulk_store
// CHECK-NEXT:    tcc.bulk_store
// CHECK-NEXT:    tcc.bulk_wait read
// CHECK-NEXT:    tcc.group_barrier
// CHECK-NEXT:    tcc.local_store
// CHECK-NEXT:    tcc.local_store
// CHECK-NEXT:    tcc.bulk_wait read
func.func @two_buffers(%t: !tile, %C: memref<?x?xf16>, %i: index) attributes {tcc.level = "L3g"} {
  %s = tcc.alloc_shared : !buffer
  %u = tcc.alloc_shared : !buffer
  tcc.warp_specialize consumers = 8 groups = 2 producer {
  } consumer {
    %g = tcc.consumer_group
    tcc.local_store %t, %s slot %g : !tile, !buffer
    tcc.local_store %t, %u slot %g : !tile, !buffer
    tcc.bulk_store %s slot %g, %C[%i, %i] : !buffer, memref<?x?xf16>
    tcc.bulk_store %u slot %g, %C[%i, %i] : !buffer, memref<?x?xf16>
    tcc.local_store %t, %s slot %g : !tile, !buffer
    tcc.local_store %t, %u slot %g : !tile, !buffer
  }
  return
}

// Threads that read each other's writes meet in their group, not in the block. No bulk store, no wait.
// CHECK-LABEL: func.func @staging
// CHECK-NOT:     gpu.barrier
// CHECK-NOT:     tcc.bulk_wait
// CHECK:         tcc.local_store
// CHECK-NEXT:    tcc.group_barrier
// CHECK-NEXT:    tcc.local_load
// CHECK-NEXT:    tcc.group_barrier
// CHECK-NEXT:    tcc.local_store
// CHECK-NOT:     tcc.bulk_wait
func.func @staging(%t: tensor<64x32xf32, #rows>, %i: index) attributes {tcc.level = "L3g"} {
  %s = tcc.alloc_shared : !tcc.shared<64x32xf32, #dense>
  tcc.warp_specialize consumers = 4 producer {
  } consumer {
    tcc.local_store %t, %s : tensor<64x32xf32, #rows>, !tcc.shared<64x32xf32, #dense>
    %0 = tcc.local_load %s : !tcc.shared<64x32xf32, #dense> -> tensor<64x32xf32, #rows>
    tcc.local_store %t, %s : tensor<64x32xf32, #rows>, !tcc.shared<64x32xf32, #dense>
  }
  return
}

// The consumers meet before they exchange their parts of a sum: what was written before is seen in all regions. A block
// runs one of them, so that each needs its own waits, and what follows has to mind all.
// CHECK-LABEL: func.func @shares
// CHECK:         tcc.local_store
// CHECK-NEXT:    tcc.cluster_reduce
// CHECK-NEXT:    ^bb0
// CHECK-NEXT:      tcc.local_load
// CHECK-NEXT:      tcc.group_barrier
// CHECK-NEXT:      tcc.local_store
// CHECK-NEXT:    }, {
// CHECK-NEXT:    ^bb0
// CHECK-NEXT:      tcc.local_load
// CHECK-NEXT:    {{^ +}}}
// CHECK-NEXT:    tcc.group_barrier
// CHECK-NEXT:    tcc.local_load
func.func @shares(%t: tensor<64x32xf32, #rows>, %acc: tensor<64x32xf32, #c>) attributes {tcc.level = "L3g"} {
  %s = tcc.alloc_shared : !tcc.shared<64x32xf32, #dense>
  tcc.warp_specialize consumers = 4 producer {
  } consumer {
    tcc.local_store %t, %s : tensor<64x32xf32, #rows>, !tcc.shared<64x32xf32, #dense>
    tcc.cluster_reduce %acc through %s : tensor<64x32xf32, #c>, !tcc.shared<64x32xf32, #dense> {
    ^bb0(%sum: tensor<64x32xf32, #c>):
      %0 = tcc.local_load %s : !tcc.shared<64x32xf32, #dense> -> tensor<64x32xf32, #rows>
      tcc.local_store %0, %s : tensor<64x32xf32, #rows>, !tcc.shared<64x32xf32, #dense>
    }, {
    ^bb0(%sum: tensor<64x32xf32, #c>):
      %0 = tcc.local_load %s : !tcc.shared<64x32xf32, #dense> -> tensor<64x32xf32, #rows>
    }
    %1 = tcc.local_load %s : !tcc.shared<64x32xf32, #dense> -> tensor<64x32xf32, #rows>
  }
  return
}

// A block that runs the second region hasn't waited in the first.
// CHECK-LABEL: func.func @wait_of_another_share
// CHECK:         tcc.bulk_store
// CHECK:         ^bb0
// CHECK-NEXT:      tcc.bulk_wait read
// CHECK-NEXT:      tcc.group_barrier
// CHECK-NEXT:      tcc.local_store
// CHECK:         ^bb0
// CHECK-NEXT:      tcc.group_barrier
// CHECK-NEXT:      tcc.bulk_wait read
// CHECK-NEXT:      tcc.group_barrier
// CHECK-NEXT:      tcc.local_store
func.func @wait_of_another_share(%t: !tile, %C: memref<?x?xf16>, %i: index, %acc: tensor<64x32xf32, #c>) attributes {tcc.level = "L3g"} {
  %s = tcc.alloc_shared : !buffer
  %u = tcc.alloc_shared : !tcc.shared<64x32xf32, #dense>
  tcc.warp_specialize consumers = 4 producer {
  } consumer {
    %g = tcc.consumer_group
    tcc.bulk_store %s slot %g, %C[%i, %i] : !buffer, memref<?x?xf16>
    tcc.cluster_reduce %acc through %u : tensor<64x32xf32, #c>, !tcc.shared<64x32xf32, #dense> {
    ^bb0(%sum: tensor<64x32xf32, #c>):
      tcc.bulk_wait read
      tcc.group_barrier
      tcc.local_store %t, %s slot %g : !tile, !buffer
    }, {
    ^bb0(%sum: tensor<64x32xf32, #c>):
      tcc.group_barrier
      tcc.local_store %t, %s slot %g : !tile, !buffer
    }
  }
  return
}
