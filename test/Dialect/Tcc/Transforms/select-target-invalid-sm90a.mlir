// RUN: tcc-opt %s --split-input-file --verify-diagnostics --tcc-select-target=chip=sm_90a

// expected-error @below {{wgmma is performed by warpgroups of four warps along M; 2 warps aren't a multiple of 4; nearest legal: warps = [4, 1]}}
func.func @warpgroups(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf32>)
    attributes {tcc.schedule = #tcc.schedule<block = [128, 128, 64], warps = [2, 1], mma = wgmma, transport = tma, stages = 2, roles = cooperative>} {
  linalg.matmul ins(%A, %B : memref<?x?xf16>, memref<?x?xf16>) outs(%C : memref<?x?xf32>)
  return
}

// -----

// expected-error @below {{block M = 64 isn't a multiple of 128 (64 of wgmma m64n256k16 f16 x f16 -> f32, times 2 warpgroups along M); 128 is the nearest; nearest legal: warps = [4, 2]}}
func.func @rows(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf32>)
    attributes {tcc.schedule = #tcc.schedule<block = [64, 128, 64], warps = [8, 1], mma = wgmma, transport = tma, stages = 2, roles = cooperative>} {
  linalg.matmul ins(%A, %B : memref<?x?xf16>, memref<?x?xf16>) outs(%C : memref<?x?xf32>)
  return
}

// -----

// expected-error @below {{a warpgroup multiplies 264 columns, but one wgmma has at most 256; use block N = 256; nearest legal: block = [64, 256, 64]}}
func.func @columns(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf32>)
    attributes {tcc.schedule = #tcc.schedule<block = [64, 264, 64], warps = [4, 1], mma = wgmma, transport = tma, stages = 2, roles = cooperative>} {
  linalg.matmul ins(%A, %B : memref<?x?xf16>, memref<?x?xf16>) outs(%C : memref<?x?xf32>)
  return
}

// -----

// expected-error @below {{96 and 104 are the nearest; nearest legal: block = [64, 96, 64]}}
func.func @columns_step(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf32>)
    attributes {tcc.schedule = #tcc.schedule<block = [64, 100, 64], warps = [4, 1], mma = wgmma, transport = tma, stages = 2, roles = cooperative>} {
  linalg.matmul ins(%A, %B : memref<?x?xf16>, memref<?x?xf16>) outs(%C : memref<?x?xf32>)
  return
}

// -----

// expected-error @below {{needs 245840 bytes of shared memory (5 stages of 49152 bytes, 80 for epilogue and barriers), but sm_90a allows 232448 a block; nearest legal: stages = 4}}
func.func @shared(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf32>)
    attributes {tcc.schedule = #tcc.schedule<block = [128, 256, 64], warps = [8, 1], mma = wgmma, transport = tma, stages = 5, roles = cooperative>} {
  linalg.matmul ins(%A, %B : memref<?x?xf16>, memref<?x?xf16>) outs(%C : memref<?x?xf32>)
  return
}

// -----

// expected-error @below {{needs about 296 registers a thread (256 accumulators, 0 of operands, 0 in flight, 40 others), but sm_90a allows 232 with 384 threads; nearest legal: block = [256, 128, 64]}}
func.func @registers(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf32>)
    attributes {tcc.schedule = #tcc.schedule<block = [256, 256, 64], warps = [8, 1], mma = wgmma, transport = tma, stages = 2, roles = cooperative>} {
  linalg.matmul ins(%A, %B : memref<?x?xf16>, memref<?x?xf16>) outs(%C : memref<?x?xf32>)
  return
}

// -----

// expected-error @below {{one thread issues what transport tma copies: use roles = cooperative or ping_pong; nearest legal: roles = cooperative}}
func.func @uniform(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf32>)
    attributes {tcc.schedule = #tcc.schedule<block = [128, 128, 64], warps = [8, 1], mma = wgmma, transport = tma, stages = 2>} {
  linalg.matmul ins(%A, %B : memref<?x?xf16>, memref<?x?xf16>) outs(%C : memref<?x?xf32>)
  return
}

// -----

// expected-error @below {{with roles = ping_pong two groups take a block's tiles in turn: use persistent = true; nearest legal: roles = cooperative}}
func.func @ping_pong(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf32>)
    attributes {tcc.schedule = #tcc.schedule<block = [128, 128, 64], warps = [8, 1], mma = wgmma, transport = tma, stages = 2, roles = ping_pong>} {
  linalg.matmul ins(%A, %B : memref<?x?xf16>, memref<?x?xf16>) outs(%C : memref<?x?xf32>)
  return
}

// -----

// expected-error @below {{with roles = ping_pong each of two warpgroups has a tile of its own: use warps = [4, 1], not [8, 1]}}
func.func @ping_pong_warps(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf32>)
    attributes {tcc.schedule = #tcc.schedule<block = [128, 128, 64], warps = [8, 1], mma = wgmma, transport = tma, stages = 3, roles = ping_pong, persistent = true>} {
  linalg.matmul ins(%A, %B : memref<?x?xf16>, memref<?x?xf16>) outs(%C : memref<?x?xf32>)
  return
}

// -----

// expected-error @below {{a slot is given back at most one slab late: pending is 0 or 1, not 2}}
func.func @late(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf32>)
    attributes {tcc.schedule = #tcc.schedule<block = [128, 128, 64], warps = [8, 1], mma = wgmma, transport = tma, stages = 3, roles = cooperative, pending = 2>} {
  linalg.matmul ins(%A, %B : memref<?x?xf16>, memref<?x?xf16>) outs(%C : memref<?x?xf32>)
  return
}

// -----

// expected-error @below {{with warps = [4, 2], which split the columns, epilogue = tma stores rows of all of them; leave chunk out, or use warps = [8, 1]; nearest legal: chunk = 0}}
func.func @chunk_of_split_columns(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf32>)
    attributes {tcc.schedule = #tcc.schedule<block = [64, 128, 64], warps = [4, 2], mma = wgmma, transport = tma, stages = 3, roles = cooperative, epilogue = tma, chunk = 64>} {
  linalg.matmul ins(%A, %B : memref<?x?xf16>, memref<?x?xf16>) outs(%C : memref<?x?xf32>)
  return
}

// -----

// expected-error @below {{epilogue = tma stores rows that are aligned to 16 bytes, but the schedule's alignment of C is 8; use epilogue = direct}}
func.func @tma_epilogue_alignment(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf32>)
    attributes {tcc.schedule = #tcc.schedule<block = [128, 128, 64], warps = [8, 1], mma = wgmma, transport = tma, stages = 3, roles = cooperative, epilogue = tma, alignment = [16, 16, 8]>} {
  linalg.matmul ins(%A, %B : memref<?x?xf16>, memref<?x?xf16>) outs(%C : memref<?x?xf32>)
  return
}

// -----

// expected-error @below {{epilogue = tma stores multiples of 8 columns, as wgmma has them, but a chunk has 4; use a chunk that is a multiple of 8 and divides block N = 128, or epilogue = direct}}
func.func @narrow_chunk(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf32>)
    attributes {tcc.schedule = #tcc.schedule<block = [128, 128, 64], warps = [8, 1], mma = wgmma, transport = tma, stages = 3, roles = cooperative, epilogue = tma, chunk = 4>} {
  linalg.matmul ins(%A, %B : memref<?x?xf16>, memref<?x?xf16>) outs(%C : memref<?x?xf32>)
  return
}

// -----

// expected-error @below {{a cluster has at most 8 blocks, not 4 x 4}}
func.func @large_cluster(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf32>)
    attributes {tcc.schedule = #tcc.schedule<block = [128, 128, 64], warps = [8, 1], mma = wgmma, transport = tma, stages = 3, roles = cooperative, cluster = [4, 4]>} {
  linalg.matmul ins(%A, %B : memref<?x?xf16>, memref<?x?xf16>) outs(%C : memref<?x?xf32>)
  return
}

// -----

// expected-error @below {{3 blocks of a cluster share 128 lines of A, which isn't a multiple of 3; use a cluster of 1}}
func.func @uneven_cluster(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf32>)
    attributes {tcc.schedule = #tcc.schedule<block = [128, 128, 64], warps = [8, 1], mma = wgmma, transport = tma, stages = 3, roles = cooperative, cluster = [1, 3]>} {
  linalg.matmul ins(%A, %B : memref<?x?xf16>, memref<?x?xf16>) outs(%C : memref<?x?xf32>)
  return
}

// -----

// expected-error @below {{warp roles belong to transport tma; with cp_async and register, roles is uniform; nearest legal: roles = uniform}}
func.func @cp_async_roles(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf32>)
    attributes {tcc.schedule = #tcc.schedule<block = [128, 128, 64], warps = [8, 1], mma = wgmma, transport = cp_async, stages = 2, roles = cooperative>} {
  linalg.matmul ins(%A, %B : memref<?x?xf16>, memref<?x?xf16>) outs(%C : memref<?x?xf32>)
  return
}

// -----

// expected-error @below {{transport tma feeds wgmma; with mma_sync and wmma, use cp_async; nearest legal: transport = cp_async}}
func.func @mma_sync(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf32>)
    attributes {tcc.schedule = #tcc.schedule<block = [128, 128, 64], warps = [2, 4], mma = mma_sync, transport = tma, stages = 2>} {
  linalg.matmul ins(%A, %B : memref<?x?xf16>, memref<?x?xf16>) outs(%C : memref<?x?xf32>)
  return
}

// -----

// expected-error @below {{a warpgroup multiplies 32 columns, but those of B, which is contiguous along N, lie in blocks of 64; use warps = [8, 1]}}
func.func @half_a_block_of_columns(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf32>)
    attributes {tcc.schedule = #tcc.schedule<block = [128, 64, 64], warps = [4, 2], mma = wgmma, transport = tma, stages = 3, roles = cooperative>} {
  linalg.matmul ins(%A, %B : memref<?x?xf16>, memref<?x?xf16>) outs(%C : memref<?x?xf32>)
  return
}

// -----

// expected-error @below {{chunk belongs to epilogue = tma; with direct, leave it out}}
func.func @direct_chunk(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf32>)
    attributes {tcc.schedule = #tcc.schedule<block = [128, 128, 64], warps = [8, 1], mma = wgmma, transport = tma, stages = 3, roles = cooperative, chunk = 32>} {
  linalg.matmul ins(%A, %B : memref<?x?xf16>, memref<?x?xf16>) outs(%C : memref<?x?xf32>)
  return
}

// -----

// All stages count, whatever the transport.
// expected-error @below {{needs 245760 bytes of shared memory (5 stages of 49152 bytes, 0 for epilogue and barriers), but sm_90a allows 232448 a block; nearest legal: stages = 4}}
func.func @shared_cp_async(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf32>)
    attributes {tcc.schedule = #tcc.schedule<block = [128, 256, 64], warps = [8, 1], mma = wgmma, transport = cp_async, stages = 5>} {
  linalg.matmul ins(%A, %B : memref<?x?xf16>, memref<?x?xf16>) outs(%C : memref<?x?xf32>)
  return
}

// -----

// Tiles on their way through registers count beside the accumulators.
// expected-error @below {{needs about 392 registers a thread (128 accumulators, 0 of operands, 160 in flight, 104 others), but sm_90a allows 255 with 128 threads; nearest legal: warps = [4, 2]}}
func.func @registers_in_flight(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf32>)
    attributes {tcc.schedule = #tcc.schedule<block = [64, 256, 128], warps = [4, 1], mma = wgmma, transport = register, stages = 2>} {
  linalg.matmul ins(%A, %B : memref<?x?xf16>, memref<?x?xf16>) outs(%C : memref<?x?xf32>)
  return
}

// -----

// expected-error @below {{the producer is one warp, or the 4 of a warpgroup whose registers go to the consumers: producer_warps is 1 or 4, not 2; nearest legal: producer_warps = 4}}
func.func @two_producer_warps(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf32>)
    attributes {tcc.schedule = #tcc.schedule<block = [128, 128, 64], warps = [8, 1], mma = wgmma, transport = tma, stages = 3, roles = cooperative, producer_warps = 2>} {
  linalg.matmul ins(%A, %B : memref<?x?xf16>, memref<?x?xf16>) outs(%C : memref<?x?xf32>)
  return
}
