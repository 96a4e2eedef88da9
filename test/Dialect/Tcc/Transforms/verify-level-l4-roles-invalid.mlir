// RUN: tcc-opt %s --tcc-verify-level -split-input-file -verify-diagnostics

// What a consumer group owes its staging buffer.

#c = #tcc.fragment<wgmma, c, shape = [64, 32, 16], warps = [4, 1]>
#row = #tcc.layout<contiguous = 1, span = 64>
#s = #tcc.schedule<block = [64, 32, 32], warps = [4, 1], mma = wgmma, transport = tma, stages = 2, roles = cooperative, alignment = [16, 16, 16]>
!bufferA = !tcc.shared<64x32xf16, stages = 2, #row>
!bufferB = !tcc.shared<32x32xf16, stages = 2, #row>
!staging = !tcc.shared<64x32xf16, #row>
!pipe = !tcc.pipeline<tma, stages = 2>
!acc = tensor<64x32xf32, #c>
!tile = tensor<64x32xf16, #c>
gpu.module @m [#nvvm.target<chip = "sm_90a">] {
  func.func @read_of_a_write(%A: memref<?x?xf16> {tcc.name = "A", tcc.dims = ["M", "K"], tcc.direction = "in"}, %B: memref<?x?xf16> {tcc.name = "B", tcc.dims = ["K", "N"], tcc.direction = "in"}, %C: memref<?x?xf16> {tcc.name = "C", tcc.dims = ["M", "N"], tcc.direction = "out"})
      attributes {tcc.level = "L4", tcc.kernel = "k", tcc.variant = "all", tcc.preconditions = [], tcc.schedule = #s, tcc.grid = ["4", "1", "1"], tcc.block = 256, tcc.shared_bytes = 16416} {
    %i = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %K = memref.dim %B, %i : memref<?x?xf16>
    %i0 = arith.constant 0 : i32
    %sa = tcc.alloc_shared : !bufferA
    %sb = tcc.alloc_shared : !bufferB
    %sc = tcc.alloc_shared : !staging
    %p = tcc.create_pipeline %sa, %sb : !bufferA, !bufferB -> !pipe
    tcc.warp_specialize consumers = 4 producer {
      tcc.producer_acquire %p[%i0, %i0] : !pipe
      tcc.copy tma %A[%i, %i], %sa slot %i0 {bytes = 16 : i64} : memref<?x?xf16>, !bufferA
      tcc.copy tma %B[%i, %i], %sb slot %i0 {bytes = 16 : i64} : memref<?x?xf16>, !bufferB
      tcc.producer_commit %p[%i0, %i0] : !pipe
    } consumer {
      %zero = arith.constant dense<0.0> : !acc
      %acc = scf.for %k = %i to %K step %c32 iter_args(%c = %zero) -> (!acc) {
        tcc.consumer_wait %p[%i0, %i0] : !pipe
        %d = tcc.matmul %sa, %sb, %c slot %i0 : !bufferA, !bufferB, !acc
        tcc.consumer_release %p[%i0, %i0] : !pipe
        scf.yield %d : !acc
      }
      %r = arith.truncf %acc : !acc to !tile
      tcc.local_store %r, %sc : !tile, !staging
      // expected-error @below {{expects a tcc.group_barrier between this access and one before it to the same buffer (L4.4)}}
      %t = tcc.local_load %sc : !staging -> !tile
      tcc.store %t, %C[%i, %i] {bytes = 4} : !tile, memref<?x?xf16>
    }
    return
  }
}

// -----

#c = #tcc.fragment<wgmma, c, shape = [64, 32, 16], warps = [4, 1]>
#row = #tcc.layout<contiguous = 1, span = 64>
#s = #tcc.schedule<block = [64, 32, 32], warps = [4, 1], mma = wgmma, transport = tma, stages = 2, roles = cooperative, alignment = [16, 16, 16]>
!bufferA = !tcc.shared<64x32xf16, stages = 2, #row>
!bufferB = !tcc.shared<32x32xf16, stages = 2, #row>
!staging = !tcc.shared<64x32xf16, #row>
!pipe = !tcc.pipeline<tma, stages = 2>
!acc = tensor<64x32xf32, #c>
!tile = tensor<64x32xf16, #c>
gpu.module @m [#nvvm.target<chip = "sm_90a">] {
  func.func @bulk_store_of_a_write(%A: memref<?x?xf16> {tcc.name = "A", tcc.dims = ["M", "K"], tcc.direction = "in"}, %B: memref<?x?xf16> {tcc.name = "B", tcc.dims = ["K", "N"], tcc.direction = "in"}, %C: memref<?x?xf16> {tcc.name = "C", tcc.dims = ["M", "N"], tcc.direction = "out"})
      attributes {tcc.level = "L4", tcc.kernel = "k", tcc.variant = "all", tcc.preconditions = [], tcc.schedule = #s, tcc.grid = ["4", "1", "1"], tcc.block = 256, tcc.shared_bytes = 16416} {
    %i = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %K = memref.dim %B, %i : memref<?x?xf16>
    %i0 = arith.constant 0 : i32
    %sa = tcc.alloc_shared : !bufferA
    %sb = tcc.alloc_shared : !bufferB
    %sc = tcc.alloc_shared : !staging
    %p = tcc.create_pipeline %sa, %sb : !bufferA, !bufferB -> !pipe
    tcc.warp_specialize consumers = 4 producer {
      tcc.producer_acquire %p[%i0, %i0] : !pipe
      tcc.copy tma %A[%i, %i], %sa slot %i0 {bytes = 16 : i64} : memref<?x?xf16>, !bufferA
      tcc.copy tma %B[%i, %i], %sb slot %i0 {bytes = 16 : i64} : memref<?x?xf16>, !bufferB
      tcc.producer_commit %p[%i0, %i0] : !pipe
    } consumer {
      %zero = arith.constant dense<0.0> : !acc
      %acc = scf.for %k = %i to %K step %c32 iter_args(%c = %zero) -> (!acc) {
        tcc.consumer_wait %p[%i0, %i0] : !pipe
        %d = tcc.matmul %sa, %sb, %c slot %i0 : !bufferA, !bufferB, !acc
        tcc.consumer_release %p[%i0, %i0] : !pipe
        scf.yield %d : !acc
      }
      %r = arith.truncf %acc : !acc to !tile
      tcc.local_store %r, %sc : !tile, !staging
      // expected-error @below {{expects an nvvm.fence.proxy of kind 'async.shared' and a tcc.group_barrier between this access and one before it to the same buffer (L4.4)}}
      tcc.bulk_store %sc, %C[%i, %i] : !staging, memref<?x?xf16>
    }
    return
  }
}

// -----

#c = #tcc.fragment<wgmma, c, shape = [64, 32, 16], warps = [4, 1]>
#row = #tcc.layout<contiguous = 1, span = 64>
#s = #tcc.schedule<block = [64, 32, 32], warps = [4, 1], mma = wgmma, transport = tma, stages = 2, roles = cooperative, alignment = [16, 16, 16]>
!bufferA = !tcc.shared<64x32xf16, stages = 2, #row>
!bufferB = !tcc.shared<32x32xf16, stages = 2, #row>
!staging = !tcc.shared<64x32xf16, #row>
!pipe = !tcc.pipeline<tma, stages = 2>
!acc = tensor<64x32xf32, #c>
!tile = tensor<64x32xf16, #c>
gpu.module @m [#nvvm.target<chip = "sm_90a">] {
  func.func @write_under_a_bulk_store(%A: memref<?x?xf16> {tcc.name = "A", tcc.dims = ["M", "K"], tcc.direction = "in"}, %B: memref<?x?xf16> {tcc.name = "B", tcc.dims = ["K", "N"], tcc.direction = "in"}, %C: memref<?x?xf16> {tcc.name = "C", tcc.dims = ["M", "N"], tcc.direction = "out"})
      attributes {tcc.level = "L4", tcc.kernel = "k", tcc.variant = "all", tcc.preconditions = [], tcc.schedule = #s, tcc.grid = ["4", "1", "1"], tcc.block = 256, tcc.shared_bytes = 16416} {
    %i = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %K = memref.dim %B, %i : memref<?x?xf16>
    %i0 = arith.constant 0 : i32
    %sa = tcc.alloc_shared : !bufferA
    %sb = tcc.alloc_shared : !bufferB
    %sc = tcc.alloc_shared : !staging
    %p = tcc.create_pipeline %sa, %sb : !bufferA, !bufferB -> !pipe
    tcc.warp_specialize consumers = 4 producer {
      tcc.producer_acquire %p[%i0, %i0] : !pipe
      tcc.copy tma %A[%i, %i], %sa slot %i0 {bytes = 16 : i64} : memref<?x?xf16>, !bufferA
      tcc.copy tma %B[%i, %i], %sb slot %i0 {bytes = 16 : i64} : memref<?x?xf16>, !bufferB
      tcc.producer_commit %p[%i0, %i0] : !pipe
    } consumer {
      %zero = arith.constant dense<0.0> : !acc
      %acc = scf.for %k = %i to %K step %c32 iter_args(%c = %zero) -> (!acc) {
        tcc.consumer_wait %p[%i0, %i0] : !pipe
        %d = tcc.matmul %sa, %sb, %c slot %i0 : !bufferA, !bufferB, !acc
        tcc.consumer_release %p[%i0, %i0] : !pipe
        scf.yield %d : !acc
      }
      %r = arith.truncf %acc : !acc to !tile
      tcc.bulk_store %sc, %C[%i, %i] : !staging, memref<?x?xf16>
      tcc.group_barrier
      // expected-error @below {{expects a tcc.bulk_wait and a tcc.group_barrier between this access and one before it to the same buffer (L4.4)}}
      tcc.local_store %r, %sc : !tile, !staging
    }
    return
  }
}

// -----

#c = #tcc.fragment<wgmma, c, shape = [64, 32, 16], warps = [4, 1]>
#row = #tcc.layout<contiguous = 1, span = 64>
#s = #tcc.schedule<block = [64, 32, 32], warps = [4, 1], mma = wgmma, transport = tma, stages = 2, roles = cooperative, alignment = [16, 16, 16]>
!bufferA = !tcc.shared<64x32xf16, stages = 2, #row>
!bufferB = !tcc.shared<32x32xf16, stages = 2, #row>
!staging = !tcc.shared<64x32xf16, #row>
!pipe = !tcc.pipeline<tma, stages = 2>
!acc = tensor<64x32xf32, #c>
!tile = tensor<64x32xf16, #c>
gpu.module @m [#nvvm.target<chip = "sm_90a">] {
  func.func @bulk_wait_of_one_thread(%A: memref<?x?xf16> {tcc.name = "A", tcc.dims = ["M", "K"], tcc.direction = "in"}, %B: memref<?x?xf16> {tcc.name = "B", tcc.dims = ["K", "N"], tcc.direction = "in"}, %C: memref<?x?xf16> {tcc.name = "C", tcc.dims = ["M", "N"], tcc.direction = "out"})
      attributes {tcc.level = "L4", tcc.kernel = "k", tcc.variant = "all", tcc.preconditions = [], tcc.schedule = #s, tcc.grid = ["4", "1", "1"], tcc.block = 256, tcc.shared_bytes = 16416} {
    %i = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %K = memref.dim %B, %i : memref<?x?xf16>
    %i0 = arith.constant 0 : i32
    %sa = tcc.alloc_shared : !bufferA
    %sb = tcc.alloc_shared : !bufferB
    %sc = tcc.alloc_shared : !staging
    %p = tcc.create_pipeline %sa, %sb : !bufferA, !bufferB -> !pipe
    tcc.warp_specialize consumers = 4 producer {
      tcc.producer_acquire %p[%i0, %i0] : !pipe
      tcc.copy tma %A[%i, %i], %sa slot %i0 {bytes = 16 : i64} : memref<?x?xf16>, !bufferA
      tcc.copy tma %B[%i, %i], %sb slot %i0 {bytes = 16 : i64} : memref<?x?xf16>, !bufferB
      tcc.producer_commit %p[%i0, %i0] : !pipe
    } consumer {
      %zero = arith.constant dense<0.0> : !acc
      %acc = scf.for %k = %i to %K step %c32 iter_args(%c = %zero) -> (!acc) {
        tcc.consumer_wait %p[%i0, %i0] : !pipe
        %d = tcc.matmul %sa, %sb, %c slot %i0 : !bufferA, !bufferB, !acc
        tcc.consumer_release %p[%i0, %i0] : !pipe
        scf.yield %d : !acc
      }
      %r = arith.truncf %acc : !acc to !tile
      tcc.bulk_store %sc, %C[%i, %i] : !staging, memref<?x?xf16>
      tcc.bulk_wait read
      // expected-error @below {{expects a tcc.bulk_wait and a tcc.group_barrier between this access and one before it to the same buffer (L4.4)}}
      tcc.local_store %r, %sc : !tile, !staging
    }
    return
  }
}
