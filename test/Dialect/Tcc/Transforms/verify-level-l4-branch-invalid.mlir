// RUN: tcc-opt %s --tcc-verify-level -split-input-file -verify-diagnostics

// What stands in a branch: barriers aren't followed there, and no access escapes the rules.

#c = #tcc.fragment<wgmma, c, shape = [64, 32, 16], warps = [4, 1]>
#row = #tcc.layout<contiguous = 1, span = 64>
#s = #tcc.schedule<block = [64, 32, 32], warps = [4, 1], mma = wgmma, transport = tma, stages = 2, roles = cooperative, alignment = [16, 16, 16]>
!bufferA = !tcc.shared<64x32xf16, #row>
!bufferB = !tcc.shared<32x32xf16, #row>
!acc = tensor<64x32xf32, #c>
gpu.module @m [#nvvm.target<chip = "sm_90a">] {
  func.func @unguarded_matmul(%A: memref<?x?xf16> {tcc.name = "A", tcc.dims = ["M", "K"], tcc.direction = "in"}, %B: memref<?x?xf16> {tcc.name = "B", tcc.dims = ["K", "N"], tcc.direction = "in"}, %C: memref<?x?xf32> {tcc.name = "C", tcc.dims = ["M", "N"], tcc.direction = "out"})
      attributes {tcc.level = "L4", tcc.kernel = "k", tcc.variant = "all", tcc.preconditions = [], tcc.schedule = #s, tcc.grid = ["4", "1", "1"], tcc.block = 256, tcc.shared_bytes = 6144} {
    %i = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %K = memref.dim %B, %i : memref<?x?xf16>
    %sa = tcc.alloc_shared : !bufferA
    %sb = tcc.alloc_shared : !bufferB
    %zero = arith.constant dense<0.0> : !acc
    %some = arith.cmpi sgt, %K, %i : index
    %r = scf.if %some -> (!acc) {
      %acc = scf.for %k = %i to %K step %c32 iter_args(%c = %zero) -> (!acc) {
        // expected-error @below {{reads a buffer that no pipeline guards (L4.1): run tcc-pipeline first}}
        %d = tcc.matmul %sa, %sb, %c : !bufferA, !bufferB, !acc
        scf.yield %d : !acc
      }
      scf.yield %acc : !acc
    } else {
      scf.yield %zero : !acc
    }
    tcc.store %r, %C[%i, %i] {bytes = 8 : i64} : !acc, memref<?x?xf32>
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
  func.func @store_in_a_branch(%A: memref<?x?xf16> {tcc.name = "A", tcc.dims = ["M", "K"], tcc.direction = "in"}, %B: memref<?x?xf16> {tcc.name = "B", tcc.dims = ["K", "N"], tcc.direction = "in"}, %C: memref<?x?xf16> {tcc.name = "C", tcc.dims = ["M", "N"], tcc.direction = "out"})
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
      %some = arith.cmpi sgt, %K, %i : index
      // expected-error @below {{'scf.if' op can't hold accesses to shared memory: only scf.for, tcc.warp_specialize and tcc.cluster_reduce may (L4.4)}}
      scf.if %some {
        %r = arith.truncf %acc : !acc to !tile
        tcc.local_store %r, %sc : !tile, !staging
      }
    }
    return
  }
}
