// RUN: tcc-opt %s --tcc-verify-level -split-input-file -verify-diagnostics

#a = #tcc.fragment<mma_sync, a, shape = [16, 8, 16], warps = [2, 1]>
#b = #tcc.fragment<mma_sync, b, shape = [16, 8, 16], warps = [2, 1]>
#c = #tcc.fragment<mma_sync, c, shape = [16, 8, 16], warps = [2, 1]>
#x = #tcc.fragment<mma_sync, c, shape = [16, 8, 16], warps = [1, 1]>
#row = #tcc.layout<contiguous = 1, span = 64>
#s = #tcc.schedule<block = [32, 32, 32], warps = [2, 1], mma = mma_sync, transport = cp_async, stages = 2, alignment = [16, 16, 16]>
#l = #tcc.layout<contiguous = 1, span = 32>
#dense = #tcc.layout<contiguous = 1>
!buffer = !tcc.shared<32x16xf16, stages = 2, #l>
!bufferB = !tcc.shared<16x32xf16, stages = 2, #row>
!staging = !tcc.shared<32x32xf32, #dense>
!pipe = !tcc.pipeline<cp_async, stages = 2>
gpu.module @m [#nvvm.target<chip = "sm_80">] {
  // expected-error @below {{expects the attribute 'tcc.grid' (L3g.1)}}
  func.func @no_grid(%A: memref<64x64xf16> {tcc.name = "A", tcc.dims = ["M", "K"], tcc.direction = "in"}, %B: memref<64x64xf16> {tcc.name = "B", tcc.dims = ["K", "N"], tcc.direction = "in"},
                %C: memref<64x64xf32> {tcc.name = "C", tcc.dims = ["M", "N"], tcc.direction = "out"})
      attributes {tcc.level = "L3g", tcc.kernel = "k", tcc.variant = "all", tcc.preconditions = [], tcc.schedule = #s, tcc.shared_bytes = 12288} {
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %i0 = arith.constant 0 : i32
    %zero = arith.constant dense<0.0> : tensor<32x32xf32, #c>
    %sa = tcc.alloc_shared : !buffer
    %sb = tcc.alloc_shared : !bufferB
    %sc = tcc.alloc_shared : !staging
    %p = tcc.create_pipeline %sa, %sb : !buffer, !bufferB -> !pipe
    tcc.producer_acquire %p[%i0, %i0] : !pipe
    tcc.copy cp_async %A[%c0, %c0], %sa slot %i0 {bytes = 16 : i64, clamp = 0 : i64} : memref<64x64xf16>, !buffer
    tcc.copy cp_async %B[%c0, %c0], %sb slot %i0 {bytes = 16 : i64, clamp = 1 : i64} : memref<64x64xf16>, !bufferB
    tcc.producer_commit %p[%i0, %i0] : !pipe
    %acc = scf.for %k = %c0 to %c32 step %c32 iter_args(%c = %zero) -> (tensor<32x32xf32, #c>) {
      tcc.consumer_wait %p[%i0, %i0] : !pipe
      %a = tcc.local_load %sa slot %i0 : !buffer -> tensor<32x16xf16, #a>
      %b = tcc.local_load %sb slot %i0 : !bufferB -> tensor<16x32xf16, #b>
      %d = tcc.matmul %a, %b, %c : tensor<32x16xf16, #a>, tensor<16x32xf16, #b>, tensor<32x32xf32, #c>
      tcc.consumer_release %p[%i0, %i0] : !pipe
      scf.yield %d : tensor<32x32xf32, #c>
    }
    tcc.local_store %acc, %sc : tensor<32x32xf32, #c>, !staging
    tcc.store %acc, %C[%c0, %c0] {bytes = 8 : i64} : tensor<32x32xf32, #c>, memref<64x64xf32>
    return
  }
}

// -----

#a = #tcc.fragment<mma_sync, a, shape = [16, 8, 16], warps = [2, 1]>
#b = #tcc.fragment<mma_sync, b, shape = [16, 8, 16], warps = [2, 1]>
#c = #tcc.fragment<mma_sync, c, shape = [16, 8, 16], warps = [2, 1]>
#x = #tcc.fragment<mma_sync, c, shape = [16, 8, 16], warps = [1, 1]>
#row = #tcc.layout<contiguous = 1, span = 64>
#s = #tcc.schedule<block = [32, 32, 32], warps = [2, 1], mma = mma_sync, transport = cp_async, stages = 2, alignment = [16, 16, 16]>
#l = #tcc.layout<contiguous = 1, span = 32>
#dense = #tcc.layout<contiguous = 1>
!buffer = !tcc.shared<32x16xf16, stages = 2, #l>
!bufferB = !tcc.shared<16x32xf16, stages = 2, #row>
!staging = !tcc.shared<32x32xf32, #dense>
!pipe = !tcc.pipeline<cp_async, stages = 2>
gpu.module @m [#nvvm.target<chip = "sm_80">] {
  func.func @tile_loop(%A: memref<64x64xf16> {tcc.name = "A", tcc.dims = ["M", "K"], tcc.direction = "in"}, %B: memref<64x64xf16> {tcc.name = "B", tcc.dims = ["K", "N"], tcc.direction = "in"},
                %C: memref<64x64xf32> {tcc.name = "C", tcc.dims = ["M", "N"], tcc.direction = "out"})
      attributes {tcc.level = "L3g", tcc.kernel = "k", tcc.variant = "all", tcc.preconditions = [], tcc.schedule = #s, tcc.grid = ["4", "1", "1"], tcc.block = 64, tcc.shared_bytes = 12288} {
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %i0 = arith.constant 0 : i32
    %zero = arith.constant dense<0.0> : tensor<32x32xf32, #c>
    %sa = tcc.alloc_shared : !buffer
    %sb = tcc.alloc_shared : !bufferB
    %sc = tcc.alloc_shared : !staging
    %p = tcc.create_pipeline %sa, %sb : !buffer, !bufferB -> !pipe
    tcc.producer_acquire %p[%i0, %i0] : !pipe
    tcc.copy cp_async %A[%c0, %c0], %sa slot %i0 {bytes = 16 : i64, clamp = 0 : i64} : memref<64x64xf16>, !buffer
    tcc.copy cp_async %B[%c0, %c0], %sb slot %i0 {bytes = 16 : i64, clamp = 1 : i64} : memref<64x64xf16>, !bufferB
    tcc.producer_commit %p[%i0, %i0] : !pipe
    %acc = scf.for %k = %c0 to %c32 step %c32 iter_args(%c = %zero) -> (tensor<32x32xf32, #c>) {
      tcc.consumer_wait %p[%i0, %i0] : !pipe
      %a = tcc.local_load %sa slot %i0 : !buffer -> tensor<32x16xf16, #a>
      %b = tcc.local_load %sb slot %i0 : !bufferB -> tensor<16x32xf16, #b>
      %d = tcc.matmul %a, %b, %c : tensor<32x16xf16, #a>, tensor<16x32xf16, #b>, tensor<32x32xf32, #c>
      tcc.consumer_release %p[%i0, %i0] : !pipe
      scf.yield %d : tensor<32x32xf32, #c>
    }
    tcc.local_store %acc, %sc : tensor<32x32xf32, #c>, !staging
    // expected-error @below {{has no place after tcc-map-grid (L3g.1)}}
    scf.forall (%m, %n) = (0, 0) to (64, 64) step (32, 32) {
    }
    tcc.store %acc, %C[%c0, %c0] {bytes = 8 : i64} : tensor<32x32xf32, #c>, memref<64x64xf32>
    return
  }
}
