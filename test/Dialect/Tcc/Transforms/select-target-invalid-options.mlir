// RUN: not tcc-opt %s --tcc-select-target 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not tcc-opt %s --tcc-select-target=chip=sm_99 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not tcc-opt %s --tcc-select-target="chip=sm_80 backend=mma" 2>&1 | FileCheck %s --check-prefix=BACKEND
// RUN: not tcc-opt %s --tcc-select-target="chip=sm_90 backend=wgmma" 2>&1 | FileCheck %s --check-prefix=WGMMA
// RUN: not tcc-opt %s --tcc-select-target="chip=sm_75 backend=mma_sync" 2>&1 | FileCheck %s --check-prefix=TURING
// RUN: not tcc-opt %s --tcc-select-target="chip=sm_70 backend=mma_sync" 2>&1 | FileCheck %s --check-prefix=VOLTA

// NONE: error: no chip is named; known are sm_70, sm_75, sm_80{{.*}}; say --chip=sm_80 to tcc-translate, chip=sm_80 to the pass
// NONE-NOT: builtin.module
// UNKNOWN: error: unknown chip 'sm_99'; known are sm_70, sm_75, sm_80
// BACKEND: error: unknown backend 'mma'; known are auto, wmma, mma_sync and wgmma
// WGMMA: [[# @LINE + 5]]:{{.*}}: error: sm_90 has no wgmma for f16; it is there on sm_90a
// TURING: error: sm_75 has no mma_sync m16n8k16 for f16, which the mma_sync backend is built on; use wmma
// VOLTA: error: sm_70 has no mma_sync for f16; it is there on sm_75, sm_80,

func.func @kernel(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf32>) {
  linalg.matmul ins(%A, %B : memref<?x?xf16>, memref<?x?xf16>) outs(%C : memref<?x?xf32>)
  return
}
