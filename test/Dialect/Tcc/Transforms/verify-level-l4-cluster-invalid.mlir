// RUN: tcc-opt %s --tcc-verify-level -split-input-file -verify-diagnostics

// What the producer of a cluster owes its peers.

#c = #tcc.fragment<wgmma, c, shape = [64, 32, 16], warps = [4, 1]>
#row = #tcc.layout<contiguous = 1, span = 64>
#s = #tcc.schedule<block = [64, 32, 32], warps = [4, 1], mma = wgmma, transport = tma, stages = 2, roles = cooperative, cluster = [2, 1], alignment = [16, 16, 16]>
!bufferA = !tcc.shared<64x32xf16, stages = 2, #row>
!bufferB = !tcc.shared<32x32xf16, stages = 2, #row>
!pipe = !tcc.pipeline<tma, stages = 2>
!acc = tensor<64x32xf32, #c>
!tile = tensor<64x32xf16, #c>
gpu.module @m [#nvvm.target<chip = "sm_90a">] {
  func.func @no_tail(%A: memref<?x?xf16> {tcc.name = "A", tcc.dims = ["M", "K"], tcc.direction = "in"}, %B: memref<?x?xf16> {tcc.name = "B", tcc.dims = ["K", "N"], tcc.direction = "in"}, %C: memref<?x?xf16> {tcc.name = "C", tcc.dims = ["M", "N"], tcc.direction = "out"})
      attributes {tcc.level = "L4", tcc.kernel = "k", tcc.variant = "all", tcc.preconditions = [], tcc.schedule = #s, tcc.grid = ["4", "1", "1"], tcc.block = 256, tcc.shared_bytes = 12320} {
    %i = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %K = memref.dim %B, %i : memref<?x?xf16>
    %i0 = arith.constant 0 : i32
    %sa = tcc.alloc_shared : !bufferA
    %sb = tcc.alloc_shared : !bufferB
    %p = tcc.create_pipeline %sa, %sb : !bufferA, !bufferB -> !pipe
    // expected-error @below {{expects tcc.producer_tail as the last op of its producer, whose block is in a cluster (L4.5)}}
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
      tcc.store %r, %C[%i, %i] {bytes = 4} : !tile, memref<?x?xf16>
    }
    return
  }
}

// -----

#c = #tcc.fragment<wgmma, c, shape = [64, 32, 16], warps = [4, 1]>
#row = #tcc.layout<contiguous = 1, span = 64>
#s = #tcc.schedule<block = [64, 32, 32], warps = [4, 1], mma = wgmma, transport = tma, stages = 2, roles = cooperative, cluster = [2, 1], alignment = [16, 16, 16]>
!bufferA = !tcc.shared<64x32xf16, stages = 2, #row>
!bufferB = !tcc.shared<32x32xf16, stages = 2, #row>
!pipe = !tcc.pipeline<tma, stages = 2>
!acc = tensor<64x32xf32, #c>
!tile = tensor<64x32xf16, #c>
gpu.module @m [#nvvm.target<chip = "sm_90a">] {
  func.func @tail_too_early(%A: memref<?x?xf16> {tcc.name = "A", tcc.dims = ["M", "K"], tcc.direction = "in"}, %B: memref<?x?xf16> {tcc.name = "B", tcc.dims = ["K", "N"], tcc.direction = "in"}, %C: memref<?x?xf16> {tcc.name = "C", tcc.dims = ["M", "N"], tcc.direction = "out"})
      attributes {tcc.level = "L4", tcc.kernel = "k", tcc.variant = "all", tcc.preconditions = [], tcc.schedule = #s, tcc.grid = ["4", "1", "1"], tcc.block = 256, tcc.shared_bytes = 12320} {
    %i = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %K = memref.dim %B, %i : memref<?x?xf16>
    %i0 = arith.constant 0 : i32
    %sa = tcc.alloc_shared : !bufferA
    %sb = tcc.alloc_shared : !bufferB
    %p = tcc.create_pipeline %sa, %sb : !bufferA, !bufferB -> !pipe
    // expected-error @below {{expects tcc.producer_tail as the last op of its producer, whose block is in a cluster (L4.5)}}
    tcc.warp_specialize consumers = 4 producer {
      tcc.producer_tail %p[%i0, %i0] : !pipe
      tcc.producer_acquire %p[%i0, %i0] : !pipe
      tcc.copy tma %A[%i, %i], %sa slot %i0 {bytes = 16 : i64} : memref<?x?xf16>, !bufferA
      tcc.copy tma %B[%i, %i], %sb slot %i0 {bytes = 16 : i64} : memref<?x?xf16>, !bufferB
      tcc.producer_commit %p[%i0, %i0] : !pipe
      tcc.producer_acquire %p[%i0, %i0] : !pipe
    } consumer {
      %zero = arith.constant dense<0.0> : !acc
      %acc = scf.for %k = %i to %K step %c32 iter_args(%c = %zero) -> (!acc) {
        tcc.consumer_wait %p[%i0, %i0] : !pipe
        %d = tcc.matmul %sa, %sb, %c slot %i0 : !bufferA, !bufferB, !acc
        tcc.consumer_release %p[%i0, %i0] : !pipe
        scf.yield %d : !acc
      }
      %r = arith.truncf %acc : !acc to !tile
      tcc.store %r, %C[%i, %i] {bytes = 4} : !tile, memref<?x?xf16>
    }
    return
  }
}
