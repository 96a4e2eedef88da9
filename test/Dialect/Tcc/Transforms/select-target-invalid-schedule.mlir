// RUN: tcc-opt %s --split-input-file --verify-diagnostics --tcc-select-target=chip=sm_86

// expected-error @below {{block M = 100 isn't a multiple of 32 (16 of mma_sync m16n8k16 f16 x f16 -> f32, times 2 warps along M); 96 and 128 are the nearest; nearest legal: block = [96, 64, 32]}}
func.func @block_m(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf32>)
    attributes {tcc.schedule = #tcc.schedule<block = [100, 64, 32], warps = [2, 2], mma = mma_sync, transport = cp_async, stages = 2>} {
  linalg.matmul ins(%A, %B : memref<?x?xf16>, memref<?x?xf16>) outs(%C : memref<?x?xf32>)
  return
}

// -----

// expected-error @below {{block N = 4 isn't a multiple of 16 (8 of mma_sync m16n8k16 f16 x f16 -> f32, times 2 warps along N); 16 is the nearest; nearest legal: block = [64, 16, 32]}}
func.func @block_n(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf32>)
    attributes {tcc.schedule = #tcc.schedule<block = [64, 4, 32], warps = [2, 2], mma = mma_sync, transport = cp_async, stages = 2>} {
  linalg.matmul ins(%A, %B : memref<?x?xf16>, memref<?x?xf16>) outs(%C : memref<?x?xf32>)
  return
}

// -----

// expected-error @below {{block K = 24 isn't a multiple of 16 (k of mma_sync m16n8k16 f16 x f16 -> f32); 16 and 32 are the nearest; nearest legal: block = [64, 64, 32]}}
func.func @block_k(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf32>)
    attributes {tcc.schedule = #tcc.schedule<block = [64, 64, 24], warps = [2, 2], mma = mma_sync, transport = cp_async, stages = 2>} {
  linalg.matmul ins(%A, %B : memref<?x?xf16>, memref<?x?xf16>) outs(%C : memref<?x?xf32>)
  return
}

// -----

// expected-error @below {{8 x 8 warps are 2048 threads, but sm_86 allows 1024 a block; use 32 warps or fewer; nearest legal: block = [256, 64, 32], warps = [8, 2]}}
func.func @threads(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf32>)
    attributes {tcc.schedule = #tcc.schedule<block = [256, 256, 32], warps = [8, 8], mma = mma_sync, transport = cp_async, stages = 2>} {
  linalg.matmul ins(%A, %B : memref<?x?xf16>, memref<?x?xf16>) outs(%C : memref<?x?xf32>)
  return
}

// -----

// expected-error @below {{needs 147456 bytes of shared memory (3 stages of 49152 bytes, 0 for epilogue and barriers), but sm_86 allows 101376 a block; nearest legal: stages = 2}}
func.func @shared(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf32>)
    attributes {tcc.schedule = #tcc.schedule<block = [128, 256, 64], warps = [2, 4], mma = mma_sync, transport = cp_async, stages = 3>} {
  linalg.matmul ins(%A, %B : memref<?x?xf16>, memref<?x?xf16>) outs(%C : memref<?x?xf32>)
  return
}

// -----

// expected-error @below {{needs 262144 bytes of shared memory (2 stages of 131072 bytes, 0 for epilogue and barriers), but sm_86 allows 101376 a block; nearest legal: block = [256, 64, 64]}}
func.func @shared_block(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf32>)
    attributes {tcc.schedule = #tcc.schedule<block = [256, 256, 128], warps = [4, 4], mma = mma_sync, transport = cp_async, stages = 2>} {
  linalg.matmul ins(%A, %B : memref<?x?xf16>, memref<?x?xf16>) outs(%C : memref<?x?xf32>)
  return
}

// -----

// expected-error @below {{needs 132096 bytes of shared memory (4 stages of 24576 bytes, 33792 for epilogue and barriers), but sm_86 allows 101376 a block; nearest legal: stages = 2}}
func.func @shared_epilogue(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf32>)
    attributes {tcc.schedule = #tcc.schedule<block = [128, 256, 32], warps = [2, 4], mma = mma_sync, transport = cp_async, stages = 4, epilogue = shared>} {
  linalg.matmul ins(%A, %B : memref<?x?xf16>, memref<?x?xf16>) outs(%C : memref<?x?xf32>)
  return
}

// -----

// expected-error @below {{needs about 392 registers a thread (256 accumulators, 96 of operands, 0 in flight, 40 others), but sm_86 allows 255 with 128 threads; nearest legal: warps = [2, 4]}}
func.func @registers(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf32>)
    attributes {tcc.schedule = #tcc.schedule<block = [128, 256, 32], warps = [2, 2], mma = mma_sync, transport = cp_async, stages = 2>} {
  linalg.matmul ins(%A, %B : memref<?x?xf16>, memref<?x?xf16>) outs(%C : memref<?x?xf32>)
  return
}

// -----

// expected-error @below {{needs about 232 registers a thread (128 accumulators, 64 of operands, 0 in flight, 40 others), but sm_86 allows 128 with 512 threads; nearest legal: block = [256, 64, 32]}}
func.func @registers_share(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf32>)
    attributes {tcc.schedule = #tcc.schedule<block = [256, 256, 32], warps = [4, 4], mma = mma_sync, transport = cp_async, stages = 2>} {
  linalg.matmul ins(%A, %B : memref<?x?xf16>, memref<?x?xf16>) outs(%C : memref<?x?xf32>)
  return
}

// -----

// expected-error @below {{transport register holds one tile in registers while another is multiplied: stages is 2, not 3; nearest legal: stages = 2}}
func.func @register_stages(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf32>)
    attributes {tcc.schedule = #tcc.schedule<block = [64, 64, 32], warps = [2, 2], mma = mma_sync, transport = register, stages = 3>} {
  linalg.matmul ins(%A, %B : memref<?x?xf16>, memref<?x?xf16>) outs(%C : memref<?x?xf32>)
  return
}

// -----

// expected-error @below {{transport tma: sm_86 has no cp.async.bulk.tensor; sm_90, sm_90a, sm_100, sm_100a, sm_103, sm_103a, sm_120, sm_120a, sm_121 and sm_121a have it; nearest legal: transport = cp_async}}
func.func @tma(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf32>)
    attributes {tcc.schedule = #tcc.schedule<block = [64, 64, 32], warps = [2, 2], mma = mma_sync, transport = tma, stages = 2>} {
  linalg.matmul ins(%A, %B : memref<?x?xf16>, memref<?x?xf16>) outs(%C : memref<?x?xf32>)
  return
}

// -----

// expected-error @below {{wmma's fragments are opaque (PTX ISA), so that its results go through shared memory: use epilogue = shared; nearest legal: epilogue = shared}}
func.func @opaque(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf32>)
    attributes {tcc.schedule = #tcc.schedule<block = [64, 64, 32], warps = [2, 2], mma = wmma, transport = cp_async, stages = 2>} {
  linalg.matmul ins(%A, %B : memref<?x?xf16>, memref<?x?xf16>) outs(%C : memref<?x?xf32>)
  return
}

// -----

// expected-error @below {{epilogue = tma belongs to transport tma; with cp_async and register, use epilogue = direct or shared; nearest legal: epilogue = direct}}
func.func @tma_store(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf32>)
    attributes {tcc.schedule = #tcc.schedule<block = [64, 64, 32], warps = [2, 2], mma = mma_sync, transport = cp_async, stages = 2, epilogue = tma>} {
  linalg.matmul ins(%A, %B : memref<?x?xf16>, memref<?x?xf16>) outs(%C : memref<?x?xf32>)
  return
}

// -----

// expected-error @below {{warp roles belong to transport tma; with cp_async and register, roles is uniform; nearest legal: roles = uniform}}
func.func @roles(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf32>)
    attributes {tcc.schedule = #tcc.schedule<block = [64, 64, 32], warps = [2, 2], mma = mma_sync, transport = cp_async, stages = 2, roles = ping_pong>} {
  linalg.matmul ins(%A, %B : memref<?x?xf16>, memref<?x?xf16>) outs(%C : memref<?x?xf32>)
  return
}

// -----

// expected-error @below {{cluster belongs to transport tma; with cp_async, leave it out; nearest legal: cluster = [1, 1]}}
func.func @cluster(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf32>)
    attributes {tcc.schedule = #tcc.schedule<block = [64, 64, 32], warps = [2, 2], mma = mma_sync, transport = cp_async, stages = 2, cluster = [2, 1]>} {
  linalg.matmul ins(%A, %B : memref<?x?xf16>, memref<?x?xf16>) outs(%C : memref<?x?xf32>)
  return
}

// -----

// expected-error @below {{sm_86 has no wgmma for f16; it is there on sm_90a; nearest legal: mma = mma_sync, transport = cp_async}}
func.func @wgmma(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf32>)
    attributes {tcc.schedule = #tcc.schedule<block = [64, 64, 32], warps = [4, 1], mma = wgmma, transport = tma, stages = 2>} {
  linalg.matmul ins(%A, %B : memref<?x?xf16>, memref<?x?xf16>) outs(%C : memref<?x?xf32>)
  return
}

// -----

// expected-error @below {{with one stage nothing is copied while tiles are multiplied; stages is 2 or more; nearest legal: stages = 2}}
func.func @one_stage(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf32>)
    attributes {tcc.schedule = #tcc.schedule<block = [64, 64, 32], warps = [2, 2], mma = mma_sync, transport = cp_async, stages = 1>} {
  linalg.matmul ins(%A, %B : memref<?x?xf16>, memref<?x?xf16>) outs(%C : memref<?x?xf32>)
  return
}

// -----

// expected-error @below {{persistent belongs to transport tma; with cp_async, leave it out; nearest legal: persistent = false}}
func.func @persistent(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf32>)
    attributes {tcc.schedule = #tcc.schedule<block = [64, 64, 32], warps = [2, 2], mma = mma_sync, transport = cp_async, stages = 2, persistent = true>} {
  linalg.matmul ins(%A, %B : memref<?x?xf16>, memref<?x?xf16>) outs(%C : memref<?x?xf32>)
  return
}

// -----

// expected-error @below {{pending belongs to transport tma; with cp_async, leave it out}}
func.func @pending(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf32>)
    attributes {tcc.schedule = #tcc.schedule<block = [64, 64, 32], warps = [2, 2], mma = mma_sync, transport = cp_async, stages = 2, pending = 1>} {
  linalg.matmul ins(%A, %B : memref<?x?xf16>, memref<?x?xf16>) outs(%C : memref<?x?xf32>)
  return
}

// -----

// expected-error @below {{dependent_launch belongs to transport tma; with cp_async, leave it out; nearest legal: dependent_launch = false}}
func.func @dependent_launch(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf32>)
    attributes {tcc.schedule = #tcc.schedule<block = [64, 64, 32], warps = [2, 2], mma = mma_sync, transport = cp_async, stages = 2, dependent_launch = true>} {
  linalg.matmul ins(%A, %B : memref<?x?xf16>, memref<?x?xf16>) outs(%C : memref<?x?xf32>)
  return
}

// -----

// expected-error @below {{producer_warps belongs to transport tma; with cp_async, leave it out; nearest legal: producer_warps = 4}}
func.func @producer_of_copies(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf32>)
    attributes {tcc.schedule = #tcc.schedule<block = [64, 64, 32], warps = [2, 2], mma = mma_sync, transport = cp_async, stages = 2, producer_warps = 1>} {
  linalg.matmul ins(%A, %B : memref<?x?xf16>, memref<?x?xf16>) outs(%C : memref<?x?xf32>)
  return
}
