// RUN: tcc-opt %s --split-input-file --verify-diagnostics --tcc-select-target=chip=sm_90a

// expected-error @below {{wgmma is performed by warpgroups of four warps along M; 2 warps aren't a multiple of 4}}
func.func @warpgroups(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf32>)
    attributes {tcc.schedule = #tcc.schedule<block = [128, 128, 64], warps = [2, 1], mma = wgmma, transport = tma, stages = 2, roles = cooperative>} {
  linalg.matmul ins(%A, %B : memref<?x?xf16>, memref<?x?xf16>) outs(%C : memref<?x?xf32>)
  return
}

// -----

// expected-error @below {{block M = 64 isn't a multiple of 128 (64 of wgmma m64n256k16 f16 x f16 -> f32, times 2 warpgroups along M); 128 is the nearest}}
func.func @rows(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf32>)
    attributes {tcc.schedule = #tcc.schedule<block = [64, 128, 64], warps = [8, 1], mma = wgmma, transport = tma, stages = 2, roles = cooperative>} {
  linalg.matmul ins(%A, %B : memref<?x?xf16>, memref<?x?xf16>) outs(%C : memref<?x?xf32>)
  return
}

// -----

// expected-error @below {{a warpgroup multiplies 264 columns, but one wgmma has at most 256; use block N = 256}}
func.func @columns(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf32>)
    attributes {tcc.schedule = #tcc.schedule<block = [64, 264, 64], warps = [4, 1], mma = wgmma, transport = tma, stages = 2, roles = cooperative>} {
  linalg.matmul ins(%A, %B : memref<?x?xf16>, memref<?x?xf16>) outs(%C : memref<?x?xf32>)
  return
}

// -----

// expected-error @below {{block N = 100 isn't a multiple of 8}}
func.func @columns_step(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf32>)
    attributes {tcc.schedule = #tcc.schedule<block = [64, 100, 64], warps = [4, 1], mma = wgmma, transport = tma, stages = 2, roles = cooperative>} {
  linalg.matmul ins(%A, %B : memref<?x?xf16>, memref<?x?xf16>) outs(%C : memref<?x?xf32>)
  return
}

// -----

// expected-error @below {{needs 245840 bytes of shared memory (5 stages of 49152 bytes, 80 for epilogue and barriers), but sm_90a allows 232448 a block; stages = 4 fits}}
func.func @shared(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf32>)
    attributes {tcc.schedule = #tcc.schedule<block = [128, 256, 64], warps = [8, 1], mma = wgmma, transport = tma, stages = 5, roles = cooperative>} {
  linalg.matmul ins(%A, %B : memref<?x?xf16>, memref<?x?xf16>) outs(%C : memref<?x?xf32>)
  return
}

// -----

// expected-error @below {{needs about 296 registers a thread (256 accumulators, 0 of operands, 0 in flight, 40 others), but sm_90a allows 232 with 384 threads; }}
func.func @registers(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf32>)
    attributes {tcc.schedule = #tcc.schedule<block = [256, 256, 64], warps = [8, 1], mma = wgmma, transport = tma, stages = 2, roles = cooperative>} {
  linalg.matmul ins(%A, %B : memref<?x?xf16>, memref<?x?xf16>) outs(%C : memref<?x?xf32>)
  return
}

// -----

// expected-error @below {{one thread issues what transport tma copies: use roles = cooperative}}
func.func @uniform(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf32>)
    attributes {tcc.schedule = #tcc.schedule<block = [128, 128, 64], warps = [8, 1], mma = wgmma, transport = tma, stages = 2>} {
  linalg.matmul ins(%A, %B : memref<?x?xf16>, memref<?x?xf16>) outs(%C : memref<?x?xf32>)
  return
}

// -----

// expected-error @below {{one thread issues what transport tma copies: use roles = cooperative}}
func.func @ping_pong(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf32>)
    attributes {tcc.schedule = #tcc.schedule<block = [128, 128, 64], warps = [8, 1], mma = wgmma, transport = tma, stages = 2, roles = ping_pong>} {
  linalg.matmul ins(%A, %B : memref<?x?xf16>, memref<?x?xf16>) outs(%C : memref<?x?xf32>)
  return
}

// -----

// expected-error @below {{with roles = cooperative, use epilogue = direct}}
func.func @staged(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf32>)
    attributes {tcc.schedule = #tcc.schedule<block = [128, 128, 64], warps = [8, 1], mma = wgmma, transport = tma, stages = 2, roles = cooperative, epilogue = shared>} {
  linalg.matmul ins(%A, %B : memref<?x?xf16>, memref<?x?xf16>) outs(%C : memref<?x?xf32>)
  return
}

// -----

// expected-error @below {{warp roles belong to transport tma; with cp_async and register, roles is uniform}}
func.func @cp_async_roles(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf32>)
    attributes {tcc.schedule = #tcc.schedule<block = [128, 128, 64], warps = [8, 1], mma = wgmma, transport = cp_async, stages = 2, roles = cooperative>} {
  linalg.matmul ins(%A, %B : memref<?x?xf16>, memref<?x?xf16>) outs(%C : memref<?x?xf32>)
  return
}

// -----

// expected-error @below {{transport tma feeds wgmma; with mma_sync and wmma, use cp_async}}
func.func @mma_sync(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf32>)
    attributes {tcc.schedule = #tcc.schedule<block = [128, 128, 64], warps = [2, 4], mma = mma_sync, transport = tma, stages = 2>} {
  linalg.matmul ins(%A, %B : memref<?x?xf16>, memref<?x?xf16>) outs(%C : memref<?x?xf32>)
  return
}
