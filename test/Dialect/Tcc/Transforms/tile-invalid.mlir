// RUN: tcc-opt %s --split-input-file --verify-diagnostics --tcc-tile

// expected-error @below {{tcc-tile expects a kernel on level L0t, found L0: run tcc-select-target first}}
func.func @untargeted(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf32>) {
  linalg.matmul ins(%A, %B : memref<?x?xf16>, memref<?x?xf16>) outs(%C : memref<?x?xf32>)
  return
}

// -----

// expected-error @below {{expects the attribute 'tcc.schedule': write one, or run tcc-select-target first}}
func.func @no_schedule(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf32>)
    attributes {tcc.level = "L0t"} {
  linalg.matmul ins(%A, %B : memref<?x?xf16>, memref<?x?xf16>) outs(%C : memref<?x?xf32>)
  return
}

// -----

// expected-error @below {{tcc-tile expects a kernel on level L0t, found L2, which is past it}}
func.func @past(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf32>)
    attributes {tcc.level = "L2"} {
  return
}
