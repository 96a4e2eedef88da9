// RUN: tcc-opt %s --split-input-file --verify-diagnostics --tcc-select-target=chip=sm_90a

// Blocks that divide K.

// expected-error @below {{split_k is the number of blocks of a cluster, which has at most 8, not 9; nearest legal: split_k = 8}}
func.func @too_many(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf32>)
    attributes {tcc.schedule = #tcc.schedule<block = [128, 128, 64], warps = [8, 1], mma = wgmma, transport = tma, stages = 3, roles = cooperative, split_k = 9>} {
  linalg.matmul ins(%A, %B : memref<?x?xf16>, memref<?x?xf16>) outs(%C : memref<?x?xf32>)
  return
}

// -----

// expected-error @below {{with split_k = 2 the blocks of a cluster share one tile; leave cluster = [2, 1] out; nearest legal: cluster = [1, 1]}}
func.func @multicast(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf32>)
    attributes {tcc.schedule = #tcc.schedule<block = [128, 128, 64], warps = [8, 1], mma = wgmma, transport = tma, stages = 3, roles = cooperative, cluster = [2, 1], split_k = 2>} {
  linalg.matmul ins(%A, %B : memref<?x?xf16>, memref<?x?xf16>) outs(%C : memref<?x?xf32>)
  return
}

// -----

// expected-error @below {{split_k = 4 is for tiles fewer than multiprocessors, of which each block has a part of one; leave persistent out; nearest legal: persistent = false}}
func.func @persistent(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf32>)
    attributes {tcc.schedule = #tcc.schedule<block = [128, 128, 64], warps = [8, 1], mma = wgmma, transport = tma, stages = 3, roles = cooperative, persistent = true, split_k = 4>} {
  linalg.matmul ins(%A, %B : memref<?x?xf16>, memref<?x?xf16>) outs(%C : memref<?x?xf32>)
  return
}

// -----

// expected-error @below {{split_k = 2 is for tiles fewer than multiprocessors, of which each block has a part of one; leave persistent out; nearest legal: split_k = 1}}
func.func @ping_pong(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf32>)
    attributes {tcc.schedule = #tcc.schedule<block = [128, 128, 64], warps = [4, 1], mma = wgmma, transport = tma, stages = 3, roles = ping_pong, persistent = true, split_k = 2>} {
  linalg.matmul ins(%A, %B : memref<?x?xf16>, memref<?x?xf16>) outs(%C : memref<?x?xf32>)
  return
}

// -----

// expected-error @below {{split_k = 2 brings a block 1 parts of 65536 bytes in the memory of its stages, but 2 stages have room for 0; use more stages or a smaller block; nearest legal: stages = 4}}
func.func @room(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf32>)
    attributes {tcc.schedule = #tcc.schedule<block = [128, 256, 32], warps = [8, 1], mma = wgmma, transport = tma, stages = 2, roles = cooperative, split_k = 2>} {
  linalg.matmul ins(%A, %B : memref<?x?xf16>, memref<?x?xf16>) outs(%C : memref<?x?xf32>)
  return
}

// -----

// expected-error @below {{split_k belongs to transport tma; with cp_async, leave it out; nearest legal: split_k = 1}}
func.func @cp_async(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf32>)
    attributes {tcc.schedule = #tcc.schedule<block = [64, 64, 32], warps = [2, 2], mma = mma_sync, transport = cp_async, stages = 2, split_k = 2>} {
  linalg.matmul ins(%A, %B : memref<?x?xf16>, memref<?x?xf16>) outs(%C : memref<?x?xf32>)
  return
}
