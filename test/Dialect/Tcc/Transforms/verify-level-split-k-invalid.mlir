// RUN: tcc-opt %s --tcc-verify-level -split-input-file -verify-diagnostics

#c = #tcc.fragment<wgmma, c, shape = [64, 32, 16], warps = [4, 1]>
#row = #tcc.layout<contiguous = 1, span = 64>
#s = #tcc.schedule<block = [64, 32, 32], warps = [4, 1], mma = wgmma, transport = tma, stages = 2, roles = cooperative, alignment = [16, 16, 16], split_k = 2>
!bufferA = !tcc.shared<64x32xf16, #row>
!bufferB = !tcc.shared<32x32xf16, #row>
!acc = tensor<64x32xf32, #c>
gpu.module @m [#nvvm.target<chip = "sm_90a">] {
  // expected-error @below {{with split_k = 2 expects one tcc.cluster_reduce, found 0 (L3g.3)}}
  func.func @no_sum(%A: memref<64x96xf16> {tcc.name = "A", tcc.dims = ["M", "K"], tcc.direction = "in"}, %B: memref<96x32xf16> {tcc.name = "B", tcc.dims = ["K", "N"], tcc.direction = "in"}, %C: memref<64x32xf32> {tcc.name = "C", tcc.dims = ["M", "N"], tcc.direction = "out"})
      attributes {tcc.level = "L3g", tcc.kernel = "k", tcc.variant = "all", tcc.preconditions = [], tcc.schedule = #s, tcc.grid = ["2", "1", "1"], tcc.block = 256} {
    %i = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %c96 = arith.constant 96 : index
    %sa = tcc.alloc_shared : !bufferA
    %sb = tcc.alloc_shared : !bufferB
    %zero = arith.constant dense<0.0> : !acc
    %acc = scf.for %k = %i to %c96 step %c32 iter_args(%c = %zero) -> (!acc) {
      tcc.copy tma %A[%i, %k], %sa {bytes = 16} : memref<64x96xf16>, !bufferA
      tcc.copy tma %B[%k, %i], %sb {bytes = 16} : memref<96x32xf16>, !bufferB
      %d = tcc.matmul %sa, %sb, %c : !bufferA, !bufferB, !acc
      scf.yield %d : !acc
    }
    tcc.store %acc, %C[%i, %i] {bytes = 8} : !acc, memref<64x32xf32>
    return
  }
}

// -----

#c = #tcc.fragment<wgmma, c, shape = [64, 32, 16], warps = [4, 1]>
#row = #tcc.layout<contiguous = 1, span = 64>
#s = #tcc.schedule<block = [64, 32, 32], warps = [4, 1], mma = wgmma, transport = tma, stages = 2, roles = cooperative, alignment = [16, 16, 16]>
!bufferA = !tcc.shared<64x32xf16, #row>
!bufferB = !tcc.shared<32x32xf16, #row>
!acc = tensor<64x32xf32, #c>
gpu.module @m [#nvvm.target<chip = "sm_90a">] {
  // expected-error @below {{with split_k = 1 expects no tcc.cluster_reduce, found 1 (L3g.3)}}
  func.func @sum_of_whole_tiles(%A: memref<64x96xf16> {tcc.name = "A", tcc.dims = ["M", "K"], tcc.direction = "in"}, %B: memref<96x32xf16> {tcc.name = "B", tcc.dims = ["K", "N"], tcc.direction = "in"}, %C: memref<64x32xf32> {tcc.name = "C", tcc.dims = ["M", "N"], tcc.direction = "out"})
      attributes {tcc.level = "L3g", tcc.kernel = "k", tcc.variant = "all", tcc.preconditions = [], tcc.schedule = #s, tcc.grid = ["2", "1", "1"], tcc.block = 256} {
    %i = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %c96 = arith.constant 96 : index
    %sa = tcc.alloc_shared : !bufferA
    %sb = tcc.alloc_shared : !bufferB
    %zero = arith.constant dense<0.0> : !acc
    %acc = scf.for %k = %i to %c96 step %c32 iter_args(%c = %zero) -> (!acc) {
      tcc.copy tma %A[%i, %k], %sa {bytes = 16} : memref<64x96xf16>, !bufferA
      tcc.copy tma %B[%k, %i], %sb {bytes = 16} : memref<96x32xf16>, !bufferB
      %d = tcc.matmul %sa, %sb, %c : !bufferA, !bufferB, !acc
      scf.yield %d : !acc
    }
    tcc.cluster_reduce %acc through %sa, %sb : !acc, !bufferA, !bufferB {
    ^bb0(%sum: !acc):
      tcc.store %sum, %C[%i, %i] {bytes = 8} : !acc, memref<64x32xf32>
    }, {
    ^bb0(%sum: !acc):
    }
    return
  }
}

// -----

#c = #tcc.fragment<wgmma, c, shape = [64, 32, 16], warps = [4, 1]>
#row = #tcc.layout<contiguous = 1, span = 64>
#s = #tcc.schedule<block = [64, 32, 32], warps = [4, 1], mma = wgmma, transport = tma, stages = 2, roles = cooperative, alignment = [16, 16, 16], split_k = 3>
!bufferA = !tcc.shared<64x32xf16, #row>
!bufferB = !tcc.shared<32x32xf16, #row>
!acc = tensor<64x32xf32, #c>
gpu.module @m [#nvvm.target<chip = "sm_90a">] {
  func.func @two_of_three_blocks(%A: memref<64x96xf16> {tcc.name = "A", tcc.dims = ["M", "K"], tcc.direction = "in"}, %B: memref<96x32xf16> {tcc.name = "B", tcc.dims = ["K", "N"], tcc.direction = "in"}, %C: memref<64x32xf32> {tcc.name = "C", tcc.dims = ["M", "N"], tcc.direction = "out"})
      attributes {tcc.level = "L3g", tcc.kernel = "k", tcc.variant = "all", tcc.preconditions = [], tcc.schedule = #s, tcc.grid = ["2", "1", "1"], tcc.block = 256} {
    %i = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %c96 = arith.constant 96 : index
    %sa = tcc.alloc_shared : !bufferA
    %sb = tcc.alloc_shared : !bufferB
    %zero = arith.constant dense<0.0> : !acc
    %acc = scf.for %k = %i to %c96 step %c32 iter_args(%c = %zero) -> (!acc) {
      tcc.copy tma %A[%i, %k], %sa {bytes = 16} : memref<64x96xf16>, !bufferA
      tcc.copy tma %B[%k, %i], %sb {bytes = 16} : memref<96x32xf16>, !bufferB
      %d = tcc.matmul %sa, %sb, %c : !bufferA, !bufferB, !acc
      scf.yield %d : !acc
    }
    // expected-error @below {{expects a region for each of split_k = 3 blocks, found 2 (L3g.3)}}
    tcc.cluster_reduce %acc through %sa, %sb : !acc, !bufferA, !bufferB {
    ^bb0(%sum: !acc):
      tcc.store %sum, %C[%i, %i] {bytes = 8} : !acc, memref<64x32xf32>
    }, {
    ^bb0(%sum: !acc):
    }
    return
  }
}

// -----

#c = #tcc.fragment<wgmma, c, shape = [64, 32, 16], warps = [4, 1]>
#row = #tcc.layout<contiguous = 1, span = 64>
#s = #tcc.schedule<block = [64, 32, 32], warps = [4, 1], mma = wgmma, transport = tma, stages = 2, roles = cooperative, alignment = [16, 16, 16], split_k = 2>
!bufferA = !tcc.shared<64x32xf16, #row>
!bufferB = !tcc.shared<32x32xf16, #row>
!acc = tensor<64x32xf32, #c>
gpu.module @m [#nvvm.target<chip = "sm_90a">] {
  func.func @part_is_stored(%A: memref<64x96xf16> {tcc.name = "A", tcc.dims = ["M", "K"], tcc.direction = "in"}, %B: memref<96x32xf16> {tcc.name = "B", tcc.dims = ["K", "N"], tcc.direction = "in"}, %C: memref<64x32xf32> {tcc.name = "C", tcc.dims = ["M", "N"], tcc.direction = "out"})
      attributes {tcc.level = "L3g", tcc.kernel = "k", tcc.variant = "all", tcc.preconditions = [], tcc.schedule = #s, tcc.grid = ["2", "1", "1"], tcc.block = 256} {
    %i = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %c96 = arith.constant 96 : index
    %sa = tcc.alloc_shared : !bufferA
    %sb = tcc.alloc_shared : !bufferB
    %zero = arith.constant dense<0.0> : !acc
    %acc = scf.for %k = %i to %c96 step %c32 iter_args(%c = %zero) -> (!acc) {
      tcc.copy tma %A[%i, %k], %sa {bytes = 16} : memref<64x96xf16>, !bufferA
      tcc.copy tma %B[%k, %i], %sb {bytes = 16} : memref<96x32xf16>, !bufferB
      %d = tcc.matmul %sa, %sb, %c : !bufferA, !bufferB, !acc
      scf.yield %d : !acc
    }
    tcc.cluster_reduce %acc through %sa, %sb : !acc, !bufferA, !bufferB {
    ^bb0(%sum: !acc):
      tcc.store %sum, %C[%i, %i] {bytes = 8} : !acc, memref<64x32xf32>
    }, {
    ^bb0(%sum: !acc):
    }
    // expected-error @below {{uses one block's part of the sum: expects the argument of a region of tcc.cluster_reduce (L3g.3)}}
    tcc.store %acc, %C[%i, %i] {bytes = 8} : !acc, memref<64x32xf32>
    return
  }
}

// -----

#c = #tcc.fragment<wgmma, c, shape = [64, 32, 16], warps = [4, 1]>
#row = #tcc.layout<contiguous = 1, span = 64>
#s = #tcc.schedule<block = [64, 32, 32], warps = [4, 1], mma = wgmma, transport = tma, stages = 2, roles = cooperative, alignment = [16, 16, 16], split_k = 2>
!bufferA = !tcc.shared<64x32xf16, #row>
!bufferB = !tcc.shared<32x32xf16, #row>
!acc = tensor<64x32xf32, #c>
gpu.module @m [#nvvm.target<chip = "sm_90a">] {
  func.func @sum_of_something_else(%A: memref<64x96xf16> {tcc.name = "A", tcc.dims = ["M", "K"], tcc.direction = "in"}, %B: memref<96x32xf16> {tcc.name = "B", tcc.dims = ["K", "N"], tcc.direction = "in"}, %C: memref<64x32xf32> {tcc.name = "C", tcc.dims = ["M", "N"], tcc.direction = "out"})
      attributes {tcc.level = "L3g", tcc.kernel = "k", tcc.variant = "all", tcc.preconditions = [], tcc.schedule = #s, tcc.grid = ["2", "1", "1"], tcc.block = 256} {
    %i = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %c96 = arith.constant 96 : index
    %sa = tcc.alloc_shared : !bufferA
    %sb = tcc.alloc_shared : !bufferB
    %zero = arith.constant dense<0.0> : !acc
    %acc = scf.for %k = %i to %c96 step %c32 iter_args(%c = %zero) -> (!acc) {
      tcc.copy tma %A[%i, %k], %sa {bytes = 16} : memref<64x96xf16>, !bufferA
      tcc.copy tma %B[%k, %i], %sb {bytes = 16} : memref<96x32xf16>, !bufferB
      %d = tcc.matmul %sa, %sb, %c : !bufferA, !bufferB, !acc
      scf.yield %d : !acc
    }
    // expected-error @below {{expects the result of the loop over K (L3g.3)}}
    tcc.cluster_reduce %zero through %sa, %sb : !acc, !bufferA, !bufferB {
    ^bb0(%sum: !acc):
      tcc.store %sum, %C[%i, %i] {bytes = 8} : !acc, memref<64x32xf32>
    }, {
    ^bb0(%sum: !acc):
    }
    return
  }
}

// -----

#c = #tcc.fragment<wgmma, c, shape = [64, 32, 16], warps = [4, 1]>
#row = #tcc.layout<contiguous = 1, span = 64>
#s = #tcc.schedule<block = [64, 32, 32], warps = [4, 1], mma = wgmma, transport = tma, stages = 2, roles = cooperative, alignment = [16, 16, 16], split_k = 2>
!bufferA = !tcc.shared<64x32xf16, stages = 2, #row>
!bufferB = !tcc.shared<32x32xf16, stages = 2, #row>
!pipe = !tcc.pipeline<tma, stages = 2>
!acc = tensor<64x32xf32, #c>
gpu.module @m [#nvvm.target<chip = "sm_90a">] {
  func.func @exchange_in_slots_that_are_read(%A: memref<?x?xf16> {tcc.name = "A", tcc.dims = ["M", "K"], tcc.direction = "in"}, %B: memref<?x?xf16> {tcc.name = "B", tcc.dims = ["K", "N"], tcc.direction = "in"}, %C: memref<?x?xf32> {tcc.name = "C", tcc.dims = ["M", "N"], tcc.direction = "out"})
      attributes {tcc.level = "L4", tcc.kernel = "k", tcc.variant = "all", tcc.preconditions = [], tcc.schedule = #s, tcc.grid = ["4", "1", "1"], tcc.block = 256, tcc.shared_bytes = 12320} {
    %i = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %K = memref.dim %B, %i : memref<?x?xf16>
    %i0 = arith.constant 0 : i32
    %sa = tcc.alloc_shared : !bufferA
    %sb = tcc.alloc_shared : !bufferB
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
      // expected-error @below {{expects to stand after the loop that reads the slots of its buffers, in the consumers' block (L4.1)}}
      tcc.cluster_reduce %acc through %sa, %sb : !acc, !bufferA, !bufferB {
      ^bb0(%sum: !acc):
        tcc.store %sum, %C[%i, %i] {bytes = 8 : i64} : !acc, memref<?x?xf32>
      }, {
      ^bb0(%sum: !acc):
      }
      tcc.consumer_wait %p[%i0, %i0] : !pipe
    }
    return
  }
}
