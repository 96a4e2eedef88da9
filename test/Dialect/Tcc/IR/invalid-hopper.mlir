// RUN: tcc-opt %s -split-input-file -verify-diagnostics

// Schedules.

// expected-error @+1 {{'pending' is from 0 to one less than 'stages', found 3}}
#all_pending = #tcc.schedule<block = [64, 64, 64], warps = [4, 1], mma = wgmma, transport = tma, stages = 3, pending = 3>

// -----

// expected-error @+1 {{'chunk' divides block N = 96, found 64}}
#uneven_chunk = #tcc.schedule<block = [64, 96, 64], warps = [4, 1], mma = wgmma, transport = tma, stages = 3, chunk = 64>

// -----

// expected-error @+1 {{'cluster' is the number of blocks along M and N, found [2]}}
#flat_cluster = #tcc.schedule<block = [64, 64, 64], warps = [4, 1], mma = wgmma, transport = tma, stages = 3, cluster = [2]>

// -----

// expected-error @+1 {{expected integer value}}
#word = #tcc.schedule<block = [64, 64, 64], warps = [4, 1], mma = wgmma, transport = tma, stages = 3, chunk = all>

// -----

func.func @non_empty_value(%i: index) {
  // expected-error @+1 {{attribute 'tcc.non_empty' must be a unit attribute, found true}}
  scf.for %k = %i to %i step %i {
  } {tcc.non_empty = true}
  return
}

// -----

// expected-error @+1 {{'split_k' is from 1 to 65536, found 0}}
#no_block = #tcc.schedule<block = [64, 64, 64], warps = [4, 1], mma = wgmma, transport = tma, stages = 3, split_k = 0>

// -----

// expected-error @+1 {{'producer_warps' is from 1 to 65536, found 0}}
#no_producer = #tcc.schedule<block = [64, 64, 64], warps = [4, 1], mma = wgmma, transport = tma, stages = 3, producer_warps = 0>

// -----

// Sums over a cluster.

func.func @sum_of_one_block(%acc: tensor<64x8xf32>, %s: !tcc.shared<64x64xf16>) {
  // expected-error @+1 {{expects a region for each of at least two blocks, found 1}}
  tcc.cluster_reduce %acc through %s : tensor<64x8xf32>, !tcc.shared<64x64xf16> {
  ^bb0(%sum: tensor<64x8xf32>):
  }
  return
}

// -----

func.func @half_a_sum(%acc: tensor<64x8xf32>, %s: !tcc.shared<64x64xf16>) {
  // expected-error @+1 {{expects regions with one argument, of the accumulator's type 'tensor<64x8xf32>'}}
  tcc.cluster_reduce %acc through %s : tensor<64x8xf32>, !tcc.shared<64x64xf16> {
  ^bb0(%sum: tensor<64x8xf32>):
  }, {
  ^bb0(%sum: tensor<32x8xf32>):
  }
  return
}

// -----

func.func @sum_without_memory(%acc: tensor<64x8xf32>) {
  // expected-error @+1 {{expects a buffer that the blocks read each other's parts in}}
  "tcc.cluster_reduce"(%acc) ({
  ^bb0(%sum: tensor<64x8xf32>):
  }, {
  ^bb0(%sum: tensor<64x8xf32>):
  }) : (tensor<64x8xf32>) -> ()
  return
}

// -----

// Copies and multiplications.

func.func @multicast_by_threads(%A: memref<?x?xf16>, %s: !tcc.shared<64x64xf16>, %i: index) {
  // expected-error @+1 {{has 'multicast', which is for the transport 'tma'}}
  tcc.copy cp_async %A[%i, %i], %s {bytes = 16, multicast = 0} : memref<?x?xf16>, !tcc.shared<64x64xf16>
  return
}

// -----

func.func @multicast_along_k(%A: memref<?x?xf16>, %s: !tcc.shared<64x64xf16>, %i: index) {
  // expected-error @+1 {{'multicast' is 0 or 1, a dimension of the cluster, found 2}}
  tcc.copy tma %A[%i, %i], %s {bytes = 16, multicast = 2} : memref<?x?xf16>, !tcc.shared<64x64xf16>
  return
}

// -----

func.func @pending_registers(%a: tensor<64x64xf16>, %b: tensor<64x64xf16>, %c: tensor<64x64xf32>) {
  // expected-error @+1 {{'pending' is 0, or more with both operands in shared memory, found 1}}
  %0 = tcc.matmul %a, %b, %c {pending = 1} : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
  return
}

// -----

func.func @negative_pending(%a: !tcc.shared<64x64xf16>, %b: !tcc.shared<64x64xf16>, %c: tensor<64x64xf32>) {
  // expected-error @+1 {{'pending' is 0, or more with both operands in shared memory, found -1}}
  %0 = tcc.matmul %a, %b, %c {pending = -1} : !tcc.shared<64x64xf16>, !tcc.shared<64x64xf16>, tensor<64x64xf32>
  return
}

// -----

func.func @bulk_store_of_another_type(%s: !tcc.shared<64x64xf32>, %C: memref<?x?xf16>, %i: index) {
  // expected-error @+1 {{expects tile and matrix of the same element type, found 'f32' and 'f16'}}
  tcc.bulk_store %s, %C[%i, %i] : !tcc.shared<64x64xf32>, memref<?x?xf16>
  return
}

// -----

func.func @bulk_store_without_slot(%s: !tcc.shared<64x64xf16, stages = 2>, %C: memref<?x?xf16>, %i: index) {
  // expected-error @+1 {{expects a slot: the buffer has 2 stages}}
  tcc.bulk_store %s, %C[%i, %i] : !tcc.shared<64x64xf16, stages = 2>, memref<?x?xf16>
  return
}

// -----

func.func @store_box_with_one_offset(%A: memref<?x?xf16>, %i: index, %a: !llvm.ptr<3>) {
  // expected-error @+1 {{expects a matrix of rank 2, two offsets and two extents of the box}}
  tcc.tma_store %a, %A[%i] box [64, 64] {span = 128} : !llvm.ptr<3>, memref<?x?xf16>
  return
}

// -----

func.func @empty_store_box(%A: memref<?x?xf16>, %i: index, %a: !llvm.ptr<3>) {
  // expected-error @+1 {{expects extents of the box from 1 to 256, found 0}}
  tcc.tma_store %a, %A[%i, %i] box [0, 64] {span = 128} : !llvm.ptr<3>, memref<?x?xf16>
  return
}

// -----

func.func @store_box_of_odd_span(%A: memref<?x?xf16>, %i: index, %a: !llvm.ptr<3>) {
  // expected-error @+1 {{'span' is 0, 32, 64 or 128 bytes, found 256}}
  tcc.tma_store %a, %A[%i, %i] box [64, 64] {span = 256} : !llvm.ptr<3>, memref<?x?xf16>
  return
}

// -----

// Roles.

func.func @three_groups() {
  // expected-error @+1 {{'groups' is 1 or 2, found 3}}
  tcc.warp_specialize consumers = 12 groups = 3 producer {
  } consumer {
  }
  return
}

// -----

func.func @half_a_warpgroup_each() {
  // expected-error @+1 {{'consumers' is a multiple of 8 warps (whole warpgroups, in each of 2 groups), found 4}}
  tcc.warp_specialize consumers = 4 groups = 2 producer {
  } consumer {
  }
  return
}

// -----

func.func @negative_consumers() {
  // expected-error @+1 {{'consumers' is a multiple of 4 warps (whole warpgroups), found -4}}
  tcc.warp_specialize consumers = -4 producer {
  } consumer {
  }
  return
}

// -----

func.func @group_without_roles() {
  // expected-error @+1 {{expects to stand in the region 'consumer' of a tcc.warp_specialize}}
  %g = tcc.consumer_group
  return
}

// -----

func.func @barrier_of_the_producer() {
  tcc.warp_specialize consumers = 4 producer {
    // expected-error @+1 {{expects to stand in the region 'consumer' of a tcc.warp_specialize}}
    tcc.group_barrier
  } consumer {
  }
  return
}

// -----

func.func @turn_without_roles(%p: !tcc.pipeline<tma, stages = 2>, %g: i32) {
  // expected-error @+1 {{expects to stand in the region 'consumer' of a tcc.warp_specialize}}
  tcc.turn_wait %p[%g, %g] : !tcc.pipeline<tma, stages = 2>
  return
}

// -----

func.func @turn_of_the_producer(%p: !tcc.pipeline<tma, stages = 2>, %g: i32) {
  tcc.warp_specialize consumers = 8 groups = 2 producer {
    // expected-error @+1 {{expects to stand in the region 'consumer' of a tcc.warp_specialize}}
    tcc.turn_pass %p[%g, %g] : !tcc.pipeline<tma, stages = 2>
  } consumer {
  }
  return
}

// -----

func.func @turn_of_one_group(%p: !tcc.pipeline<tma, stages = 2>, %g: i32) {
  // expected-note @+1 {{the roles are here}}
  tcc.warp_specialize consumers = 4 producer {
  } consumer {
    // expected-error @+1 {{expects a tcc.warp_specialize with groups = 2, found 1}}
    tcc.turn_pass %p[%g, %g] : !tcc.pipeline<tma, stages = 2>
  }
  return
}

// -----

func.func @tail_without_tma(%p: !tcc.pipeline<cp_async, stages = 2>, %g: i32) {
  // expected-error @+1 {{expects a pipeline of transport 'tma', found 'cp_async'}}
  tcc.producer_tail %p[%g, %g] : !tcc.pipeline<cp_async, stages = 2>
  return
}

// -----

func.func @turn_without_tma(%p: !tcc.pipeline<cp_async, stages = 2>, %g: i32) {
  tcc.warp_specialize consumers = 8 groups = 2 producer {
  } consumer {
    // expected-error @+1 {{expects a pipeline of transport 'tma', found 'cp_async'}}
    tcc.turn_wait %p[%g, %g] : !tcc.pipeline<cp_async, stages = 2>
  }
  return
}

// -----

// expected-error @+1 {{'chunk' divides block M = 72, found 16}}
#uneven_rows = #tcc.schedule<block = [72, 64, 64], warps = [1, 4], mma = wgmma, transport = tma, stages = 3, chunk = 16, swapped = true>

// -----

// expected-error @+1 {{'transposed' is for accumulators of wgmma, found operand 'a' of wgmma}}
func.func private @transposed_operand(tensor<64x64xf16, #tcc.fragment<wgmma, a, shape = [64, 64, 16], warps = [4, 1], transposed = true>>)

// -----

// expected-error @+1 {{'transposed' is for accumulators of wgmma, found operand 'c' of mma_sync}}
func.func private @transposed_mma_sync(tensor<64x64xf32, #tcc.fragment<mma_sync, c, shape = [16, 8, 16], warps = [4, 1], transposed = true>>)

// -----

// expected-error @+1 {{wgmma needs whole warpgroups along N, found 2 warps}}
func.func private @transposed_half(tensor<64x128xf32, #tcc.fragment<wgmma, c, shape = [64, 64, 16], warps = [2, 1], transposed = true>>)

// -----

// expected-error @+1 {{a tile of 64x72 elements can't be built from atoms of 8x64 on 4x1 warps: its extents must be multiples of 8x64}}
func.func private @transposed_extents(tensor<64x72xf32, #tcc.fragment<wgmma, c, shape = [64, 8, 16], warps = [4, 1], transposed = true>>)
