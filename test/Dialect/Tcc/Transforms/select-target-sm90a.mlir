// RUN: tcc-opt %s --tcc-select-target="chip=sm_90a backend=wgmma" --tcc-tile | FileCheck %s

// wgmma always: fed by TMA where rows are aligned and nothing is empty, by all threads' copies where
// they aren't.

// CHECK-LABEL: gpu.module @dynamic [#nvvm.target<chip = "sm_90a">]
// CHECK-LABEL: func.func @dynamic(
// CHECK-SAME:    tcc.preconditions = ["A.ptr % 16 == 0", "A.stride0 * 2 % 16 == 0", "B.ptr % 16 == 0", "B.stride0 * 2 % 16 == 0", "C.ptr % 16 == 0", "C.stride0 * 4 % 16 == 0", "M > 0", "N > 0", "K > 0"]
// CHECK-SAME:    #tcc.schedule<block = [128, 128, 64], warps = [4, 1], mma = wgmma, transport = tma, stages = 7, roles = ping_pong, alignment = [16, 16, 16], raster = 8, persistent = true, pending = 1>
// CHECK:         tcc.matmul
// CHECK-LABEL: func.func @dynamic_align16_narrow_store(
// CHECK-SAME:    mma = wgmma
// CHECK-LABEL: func.func @dynamic_align8(
// CHECK-SAME:    #tcc.schedule<block = [128, 256, 64], warps = [8, 1], mma = wgmma, transport = cp_async, stages = 4, alignment = [8, 8, 4], raster = 8>
// CHECK-LABEL: func.func @dynamic_align4(
// CHECK-SAME:    mma = wgmma, transport = cp_async, stages = 4, alignment = [4, 4, 4]
// CHECK-LABEL: func.func @dynamic_align2(
// CHECK-SAME:    mma = wgmma, transport = register, stages = 2, alignment = [2, 2, 4]
func.func @dynamic(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf32>) {
  linalg.matmul ins(%A, %B : memref<?x?xf16>, memref<?x?xf16>) outs(%C : memref<?x?xf32>)
  return
}

// CHECK-LABEL: func.func @static(
// CHECK-SAME:    tcc.preconditions = ["A.ptr % 16 == 0", "B.ptr % 16 == 0", "C.ptr % 16 == 0"]
// CHECK-SAME:    mma = wgmma
// CHECK-LABEL: func.func @static_align2(
// CHECK-SAME:    mma = wgmma, transport = register
func.func @static(%A: memref<256x128xbf16>, %B: memref<128x512xbf16>, %C: memref<256x512xf32>) {
  linalg.matmul ins(%A, %B : memref<256x128xbf16>, memref<128x512xbf16>) outs(%C : memref<256x512xf32>)
  return
}

// Where static strides align one operand's rows better than the other's, its copies are wider.
// CHECK-LABEL: func.func @mixed(
// CHECK-SAME:    tcc.preconditions = ["A.ptr % 8 == 0"]
// CHECK-SAME:    mma = wgmma, transport = register, stages = 2, alignment = [8, 2, 4]
// CHECK-SAME:    tcc.variant = "align8x2"
// CHECK-LABEL: func.func @mixed_align2(
// CHECK-SAME:    tcc.preconditions = []
// CHECK-SAME:    alignment = [2, 2, 4]
func.func @mixed(%A: memref<256x84xf16>, %B: memref<84x65xf16>, %C: memref<256x65xf32>) {
  linalg.matmul ins(%A, %B : memref<256x84xf16>, memref<84x65xf16>) outs(%C : memref<256x65xf32>)
  return
}

// CHECK-LABEL: func.func @mixed_cp_async(
// CHECK-SAME:    transport = cp_async, stages = {{[0-9]}}, alignment = [16, 8, 4]
// CHECK-SAME:    tcc.variant = "align16x8"
// CHECK-LABEL: func.func @mixed_cp_async_align2(
func.func @mixed_cp_async(%A: memref<256x88xf16>, %B: memref<88x68xf16>, %C: memref<256x68xf32>) {
  linalg.matmul ins(%A, %B : memref<256x88xf16>, memref<88x68xf16>) outs(%C : memref<256x68xf32>)
  return
}
