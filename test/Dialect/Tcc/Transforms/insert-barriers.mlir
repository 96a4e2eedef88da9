// RUN: tcc-opt %s --tcc-insert-barriers | FileCheck %s

#rows = #tcc.blocked<vector = 4, contiguous = 1, threads = 32>
#dense = #tcc.layout<contiguous = 1>
!buffer = !tcc.shared<16x16xf32, #dense>
!tile = tensor<16x16xf32, #rows>

// One barrier between write and read, one before the next write, none else.
// CHECK-LABEL: func.func @slices
// CHECK-SAME:    tcc.level = "L4"
// CHECK:         tcc.alloc_shared
// CHECK-NEXT:    tcc.local_store
// CHECK-NEXT:    gpu.barrier
// CHECK-NEXT:    tcc.local_load
// CHECK-NEXT:    tcc.local_load
// CHECK-NEXT:    gpu.barrier
// CHECK-NEXT:    tcc.local_store
// CHECK-NEXT:    gpu.barrier
// CHECK-NEXT:    tcc.local_load
// CHECK-NEXT:    return
func.func @slices(%t: !tile) attributes {tcc.level = "L3g"} {
  %s = tcc.alloc_shared : !buffer
  tcc.local_store %t, %s : !tile, !buffer
  %0 = tcc.local_load %s : !buffer -> !tile
  %1 = tcc.local_load %s : !buffer -> !tile
  tcc.local_store %t, %s : !tile, !buffer
  %2 = tcc.local_load %s : !buffer -> !tile
  return
}

// A barrier serves all buffers; one that is there is used.
// CHECK-LABEL: func.func @two_buffers
// CHECK:         tcc.local_store
// CHECK-NEXT:    tcc.local_store
// CHECK-NEXT:    gpu.barrier
// CHECK-NEXT:    tcc.local_load
// CHECK-NEXT:    tcc.local_load
// CHECK-NEXT:    gpu.barrier
// CHECK-NEXT:    tcc.local_store
// CHECK-NEXT:    return
func.func @two_buffers(%t: !tile) attributes {tcc.level = "L3g"} {
  %s = tcc.alloc_shared : !buffer
  %u = tcc.alloc_shared : !buffer
  tcc.local_store %t, %s : !tile, !buffer
  tcc.local_store %t, %u : !tile, !buffer
  %0 = tcc.local_load %s : !buffer -> !tile
  %1 = tcc.local_load %u : !buffer -> !tile
  gpu.barrier
  tcc.local_store %t, %s : !tile, !buffer
  return
}

// The read of one iteration and the write of the next.
// CHECK-LABEL: func.func @loop
// CHECK:         scf.for
// CHECK-NEXT:      gpu.barrier
// CHECK-NEXT:      tcc.local_store
// CHECK-NEXT:      gpu.barrier
// CHECK-NEXT:      tcc.local_load
// CHECK-NEXT:    }
func.func @loop(%t: !tile, %n: index) attributes {tcc.level = "L3g"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %s = tcc.alloc_shared : !buffer
  scf.for %i = %c0 to %n step %c1 {
    tcc.local_store %t, %s : !tile, !buffer
    %0 = tcc.local_load %s : !buffer -> !tile
  }
  return
}

// A pipeline's wait and drain are barriers of the block, and its buffers are none of this pass's.
// CHECK-LABEL: func.func @pipelined_loop
// CHECK-NOT:     gpu.barrier
// CHECK:         scf.for
// CHECK:           tcc.drain
// CHECK-NEXT:      tcc.local_store
// CHECK-NEXT:      gpu.barrier
// CHECK-NEXT:      tcc.local_load
// CHECK-NOT:     gpu.barrier
func.func @pipelined_loop(%t: !tile, %n: index, %A: memref<?x?xf32>) attributes {tcc.level = "L3g"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %i0 = arith.constant 0 : i32
  %g = tcc.alloc_shared : !tcc.shared<16x16xf32, stages = 2, #dense>
  %s = tcc.alloc_shared : !buffer
  %p = tcc.create_pipeline %g : !tcc.shared<16x16xf32, stages = 2, #dense> -> !tcc.pipeline<cp_async, stages = 2>
  scf.for %i = %c0 to %n step %c1 {
    tcc.copy cp_async %A[%i, %i], %g slot %i0 {bytes = 4 : i64} : memref<?x?xf32>, !tcc.shared<16x16xf32, stages = 2, #dense>
    %0 = tcc.local_load %g slot %i0 : !tcc.shared<16x16xf32, stages = 2, #dense> -> !tile
    tcc.drain %p : !tcc.pipeline<cp_async, stages = 2>
    tcc.local_store %t, %s : !tile, !buffer
    %1 = tcc.local_load %s : !buffer -> !tile
  }
  return
}
