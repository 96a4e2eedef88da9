// RUN: tcc-opt %s --tcc-select-target=chip=sm_80 | FileCheck %s

// The user's schedule is taken as it is, but for what a variant's alignment forbids.

// CHECK-LABEL: func.func @kernel(
// CHECK-SAME:    #tcc.schedule<block = [64, 64, 32], warps = [2, 2], mma = mma_sync, transport = cp_async, stages = 4, epilogue = shared, alignment = [16, 16, 16]>
// CHECK-LABEL: func.func @kernel_align4(
// CHECK-SAME:    transport = cp_async, stages = 4, epilogue = shared, alignment = [4, 4, 4]>
// CHECK-LABEL: func.func @kernel_align2(
// CHECK-SAME:    #tcc.schedule<block = [64, 64, 32], warps = [2, 2], mma = mma_sync, transport = register, stages = 2, epilogue = shared, alignment = [2, 2, 4]>
func.func @kernel(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf32>)
    attributes {tcc.schedule = #tcc.schedule<block = [64, 64, 32], warps = [2, 2], mma = mma_sync,
                                             transport = cp_async, stages = 4, epilogue = shared>} {
  linalg.matmul ins(%A, %B : memref<?x?xf16>, memref<?x?xf16>) outs(%C : memref<?x?xf32>)
  return
}

// An alignment in the schedule caps the variants.

// CHECK-LABEL: func.func @capped(
// CHECK-SAME:    tcc.preconditions = ["A.ptr % 8 == 0", "A.stride0 * 2 % 8 == 0", "B.ptr % 16 == 0", "B.stride0 * 2 % 16 == 0"]
// CHECK-SAME:    alignment = [8, 16, 4]
func.func @capped(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf32>)
    attributes {tcc.schedule = #tcc.schedule<block = [64, 64, 32], warps = [2, 2], mma = mma_sync,
                                             transport = cp_async, stages = 4, alignment = [8, 16, 4]>} {
  linalg.matmul ins(%A, %B : memref<?x?xf16>, memref<?x?xf16>) outs(%C : memref<?x?xf32>)
  return
}
