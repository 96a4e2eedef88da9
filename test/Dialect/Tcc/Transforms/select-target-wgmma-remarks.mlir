// RUN: tcc-opt %s --tcc-select-target=chip=sm_90a --remarks-filter=tcc-select-target -o /dev/null 2>&1 | FileCheck %s

// Remarks name the wgmma that the kernel has: its n is what a warpgroup has of the tile, up to 256.

// CHECK: [Passed] Schedule {{.*}}block 64x96x64, 4x1 warps of wgmma m64n96k16 f16 x f16 -> f32
// CHECK: [Missed] Variant {{.*}}variant align8 {{.*}}block 128x256x64, 8x1 warps of wgmma m64n256k16
// CHECK: [Missed] Variant {{.*}}variant align2 {{.*}}block 128x128x32, 8x1 warps of wgmma m64n128k16
func.func @narrow(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf32>)
    attributes {tcc.schedule = #tcc.schedule<block = [64, 96, 64], warps = [4, 1], mma = wgmma, transport = tma, stages = 2, roles = cooperative>} {
  linalg.matmul ins(%A, %B : memref<?x?xf16>, memref<?x?xf16>) outs(%C : memref<?x?xf32>)
  return
}

// CHECK: [Passed] Schedule {{.*}}block 64x256x64, 4x2 warps of wgmma m64n128k16 bf16 x bf16 -> f32
func.func @split(%A: memref<?x?xbf16>, %B: memref<?x?xbf16>, %C: memref<?x?xf32>)
    attributes {tcc.schedule = #tcc.schedule<block = [64, 256, 64], warps = [4, 2], mma = wgmma, transport = tma, stages = 2, roles = cooperative>} {
  linalg.matmul ins(%A, %B : memref<?x?xbf16>, memref<?x?xbf16>) outs(%C : memref<?x?xf32>)
  return
}

// The n of swapped operands is along M.
// CHECK: [Passed] Schedule {{.*}}block 16x128x64, 1x8 warps of wgmma m64n16k16
func.func @swapped(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf32>)
    attributes {tcc.schedule = #tcc.schedule<block = [16, 128, 64], warps = [1, 8], mma = wgmma, transport = tma, stages = 2, roles = cooperative, swapped = true>} {
  linalg.matmul ins(%A, %B : memref<?x?xf16>, memref<?x?xf16>) outs(%C : memref<?x?xf32>)
  return
}
