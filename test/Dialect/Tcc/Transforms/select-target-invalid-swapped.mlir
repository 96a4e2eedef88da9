// RUN: tcc-opt %s --split-input-file --verify-diagnostics --tcc-select-target=chip=sm_90a

// expected-error @below {{wgmma is performed by warpgroups of four warps along N where operands are swapped; 1 warps aren't a multiple of 4; nearest legal: }}
func.func @warpgroups(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf32>)
    attributes {tcc.schedule = #tcc.schedule<block = [64, 64, 64], warps = [4, 1], mma = wgmma, transport = tma, stages = 2, roles = cooperative, swapped = true>} {
  linalg.matmul ins(%A, %B : memref<?x?xf16>, memref<?x?xf16>) outs(%C : memref<?x?xf32>)
  return
}

// -----

// expected-error @below {{block N = 96 isn't a multiple of 64 (64 of wgmma m64n256k16 f16 x f16 -> f32, times 1 warpgroups along N); 64 and 128 are the nearest; nearest legal: block = [16, 128, 64]}}
func.func @columns(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf32>)
    attributes {tcc.schedule = #tcc.schedule<block = [16, 96, 64], warps = [1, 4], mma = wgmma, transport = tma, stages = 2, roles = cooperative, swapped = true>} {
  linalg.matmul ins(%A, %B : memref<?x?xf16>, memref<?x?xf16>) outs(%C : memref<?x?xf32>)
  return
}

// -----

// expected-error @below {{a warpgroup multiplies 264 rows, but one wgmma has at most 256; use block M = 256; nearest legal: block = [256, 64, 64]}}
func.func @rows(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf32>)
    attributes {tcc.schedule = #tcc.schedule<block = [264, 64, 64], warps = [1, 4], mma = wgmma, transport = tma, stages = 2, roles = cooperative, swapped = true>} {
  linalg.matmul ins(%A, %B : memref<?x?xf16>, memref<?x?xf16>) outs(%C : memref<?x?xf32>)
  return
}

// -----

// expected-error @below {{a warpgroup multiplies 32 rows, but those of A, which is contiguous along M, lie in blocks of 64; use warps = [1, 8]; nearest legal: }}
func.func @rows_of_columns(%A: memref<?x?xf16, strided<[1, ?]>>, %B: memref<?x?xf16>, %C: memref<?x?xf32>)
    attributes {tcc.schedule = #tcc.schedule<block = [64, 128, 64], warps = [2, 4], mma = wgmma, transport = tma, stages = 2, roles = cooperative, swapped = true>} {
  linalg.matmul ins(%A, %B : memref<?x?xf16, strided<[1, ?]>>, memref<?x?xf16>) outs(%C : memref<?x?xf32>)
  return
}

// -----

// expected-error @below {{swapped operands belong to wgmma; with mma_sync, leave it out; nearest legal: swapped = false}}
func.func @mma_sync(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf32>)
    attributes {tcc.schedule = #tcc.schedule<block = [64, 64, 64], warps = [2, 2], mma = mma_sync, transport = cp_async, stages = 2, swapped = true>} {
  linalg.matmul ins(%A, %B : memref<?x?xf16>, memref<?x?xf16>) outs(%C : memref<?x?xf32>)
  return
}

// -----

// expected-error @below {{epilogue = shared goes through rows of the tile, which swapped operands spread over a warp's registers; use epilogue = tma or direct; nearest legal: epilogue = direct}}
func.func @shared(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf32>)
    attributes {tcc.schedule = #tcc.schedule<block = [64, 64, 64], warps = [1, 4], mma = wgmma, transport = tma, stages = 2, roles = cooperative, epilogue = shared, swapped = true>} {
  linalg.matmul ins(%A, %B : memref<?x?xf16>, memref<?x?xf16>) outs(%C : memref<?x?xf32>)
  return
}

// -----

// expected-error @below {{with roles = ping_pong each of two warpgroups has a tile of its own: use warps = [1, 4], not [1, 8]; nearest legal: roles = cooperative}}
func.func @ping_pong(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf32>)
    attributes {tcc.schedule = #tcc.schedule<block = [64, 128, 64], warps = [1, 8], mma = wgmma, transport = tma, stages = 2, roles = ping_pong, persistent = true, swapped = true>} {
  linalg.matmul ins(%A, %B : memref<?x?xf16>, memref<?x?xf16>) outs(%C : memref<?x?xf32>)
  return
}

// -----

// expected-error @below {{with warps = [2, 4], which split the rows, epilogue = tma stores columns of all of them; leave chunk out, or use warps = [1, 8]; nearest legal: chunk = 0}}
func.func @split_rows(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf16>)
    attributes {tcc.schedule = #tcc.schedule<block = [176, 192, 64], warps = [2, 4], mma = wgmma, transport = tma, stages = 2, roles = cooperative, epilogue = tma, chunk = 16, swapped = true>} {
  linalg.matmul ins(%A, %B : memref<?x?xf16>, memref<?x?xf16>) outs(%C : memref<?x?xf16>)
  return
}

// -----

// expected-error @below {{epilogue = tma stores multiples of 8 rows, as wgmma has them, but a chunk has 4; use a chunk that is a multiple of 8 and divides block M = 72, or epilogue = direct; nearest legal: chunk = 0}}
func.func @rows_between_atoms(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf16>)
    attributes {tcc.schedule = #tcc.schedule<block = [72, 64, 64], warps = [1, 4], mma = wgmma, transport = tma, stages = 2, roles = cooperative, epilogue = tma, chunk = 4, swapped = true>} {
  linalg.matmul ins(%A, %B : memref<?x?xf16>, memref<?x?xf16>) outs(%C : memref<?x?xf16>)
  return
}
