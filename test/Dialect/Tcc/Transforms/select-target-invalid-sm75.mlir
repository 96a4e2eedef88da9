// RUN: tcc-opt %s --split-input-file --verify-diagnostics --tcc-select-target=chip=sm_75

// expected-error @below {{transport cp_async: sm_75 has no cp.async; sm_80, sm_86}}
func.func @cp_async(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf32>)
    attributes {tcc.schedule = #tcc.schedule<block = [64, 64, 32], warps = [2, 2], mma = wmma, transport = cp_async, stages = 2, epilogue = shared>} {
  linalg.matmul ins(%A, %B : memref<?x?xf16>, memref<?x?xf16>) outs(%C : memref<?x?xf32>)
  return
}

// -----

// expected-error @below {{sm_75 has no mma_sync m16n8k16 for f16, which the mma_sync backend is built on; use wmma}}
func.func @mma_sync(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf32>)
    attributes {tcc.schedule = #tcc.schedule<block = [64, 64, 32], warps = [2, 2], mma = mma_sync, transport = register, stages = 2>} {
  linalg.matmul ins(%A, %B : memref<?x?xf16>, memref<?x?xf16>) outs(%C : memref<?x?xf32>)
  return
}

// -----

// expected-error @below {{but sm_75 allows 65536 a block; nearest legal: block = [128, 256, 16]}}
func.func @shared(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf32>)
    attributes {tcc.schedule = #tcc.schedule<block = [128, 256, 32], warps = [2, 4], mma = wmma, transport = register, stages = 2, epilogue = shared>} {
  linalg.matmul ins(%A, %B : memref<?x?xf16>, memref<?x?xf16>) outs(%C : memref<?x?xf32>)
  return
}

// -----

func.func @bf16(%A: memref<?x?xbf16>, %B: memref<?x?xbf16>, %C: memref<?x?xf32>) {
  // expected-error @below {{sm_75 has no wmma for bf16; it is there on sm_80, sm_86}}
  linalg.matmul ins(%A, %B : memref<?x?xbf16>, memref<?x?xbf16>) outs(%C : memref<?x?xf32>)
  return
}
