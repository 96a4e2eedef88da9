// RUN: tcc-opt %s --tcc-select-target=chip=sm_70 --remarks-filter=".*" -o /dev/null 2>&1 | FileCheck %s --check-prefix=SM70
// RUN: tcc-opt %s --tcc-select-target=chip=sm_75 --remarks-filter=".*" -o /dev/null 2>&1 | FileCheck %s --check-prefix=SM75
// RUN: tcc-opt %s --tcc-select-target=chip=sm_80 --remarks-filter=".*" -o /dev/null 2>&1 | FileCheck %s --check-prefix=SM80
// RUN: tcc-opt %s --tcc-select-target=chip=sm_86 --remarks-filter=".*" -o /dev/null 2>&1 | FileCheck %s --check-prefix=SM86
// RUN: tcc-opt %s --tcc-select-target=chip=sm_90 --remarks-filter=".*" -o /dev/null 2>&1 | FileCheck %s --check-prefix=SM90
// RUN: tcc-opt %s --tcc-select-target="chip=sm_80 backend=wmma" --remarks-filter=".*" -o /dev/null 2>&1 | FileCheck %s --check-prefix=WMMA

// The heuristic says what it chose, and from what.

// SM70: remark: [Passed] Schedule | Category:tcc-select-target | Remark="block 128x256x32, 2x4 warps of wmma m16n16k16 f16 x f16 -> f32, 2 stages by register: {{[0-9]+}} of 98304 bytes of shared memory, about {{[0-9]+}} of 255 registers; sizes not known are taken as 4096"
// SM75: block 128x128x32, 2x4 warps of wmma {{.*}}, 2 stages by register: {{[0-9]+}} of 65536 bytes
// SM80: block 128x256x64, 2x4 warps of mma_sync m16n8k16 {{.*}}, 3 stages by cp_async: 147456 of 166912 bytes
// SM80: remark: [Missed] Variant | {{.*}}variant align2 for rows that cp_async can't copy: block 128x128x32, {{.*}} 2 stages by register
// SM86: block 128x256x32, 2x4 warps of mma_sync m16n8k16 {{.*}}, 4 stages by cp_async: 98304 of 101376 bytes
// WMMA: block 128x256x32, 2x4 warps of wmma m16n16k16 {{.*}}, 4 stages by cp_async
func.func @large(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf32>) {
  linalg.matmul ins(%A, %B : memref<?x?xf16>, memref<?x?xf16>) outs(%C : memref<?x?xf32>)
  return
}

// Small sizes get small tiles, so that more multiprocessors have one, and more stages.

// SM80: block 128x128x64, {{.*}} 5 stages by cp_async
// SM90: block 64x128x64, {{.*}} 8 stages by cp_async
func.func @medium(%A: memref<1024x1024xf16>, %B: memref<1024x1024xf16>, %C: memref<1024x1024xf32>) {
  linalg.matmul ins(%A, %B : memref<1024x1024xf16>, memref<1024x1024xf16>) outs(%C : memref<1024x1024xf32>)
  return
}

// SM80: block 32x32x64, 2x2 warps of mma_sync {{.*}}, 8 stages by cp_async
func.func @small(%A: memref<32x64xf16>, %B: memref<64x32xf16>, %C: memref<32x32xf32>) {
  linalg.matmul ins(%A, %B : memref<32x64xf16>, memref<64x32xf16>) outs(%C : memref<32x32xf32>)
  return
}

// A narrow output is accumulated in f32.

// SM80: remark: [Analysis] NumericContract | Category:tcc-select-target | Remark="accumulates in f32 and rounds once to C's type"
func.func @narrow(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf16>) {
  linalg.matmul ins(%A, %B : memref<?x?xf16>, memref<?x?xf16>) outs(%C : memref<?x?xf16>)
  return
}
