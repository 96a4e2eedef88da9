// RUN: tcc-opt %s --split-input-file --tcc-select-target=chip=sm_80 --tcc-tile | FileCheck %s

// CHECK-LABEL: func.func @dynamic(
// CHECK-SAME:    %[[A:[a-z0-9]+]]: memref<?x?xf16>
// CHECK-SAME:    %[[B:[a-z0-9]+]]: memref<?x?xf16>
// CHECK-SAME:    %[[C:[a-z0-9]+]]: memref<?x?xf32>
// CHECK-SAME:    tcc.level = "L1"
// CHECK-DAG:     %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG:     %[[C1:.*]] = arith.constant 1 : index
// CHECK-DAG:     %[[C64:.*]] = arith.constant 64 : index
// CHECK-DAG:     %[[M:.*]] = memref.dim %[[A]], %[[C0]]
// CHECK-DAG:     %[[K:.*]] = memref.dim %[[A]], %[[C1]]
// CHECK-DAG:     %[[N:.*]] = memref.dim %[[B]], %[[C1]]
// CHECK:         scf.forall (%[[IM:.*]], %[[IN:.*]]) = (0, 0) to (%[[M]], %[[N]]) step (128, 256) {
// CHECK:           %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : tensor<128x256xf32>
// CHECK:           %[[ACC:.*]] = scf.for %[[IK:.*]] = %[[C0]] to %[[K]] step %[[C64]] iter_args(%[[IT:.*]] = %[[ZERO]])
// CHECK:             %[[TA:.*]] = tcc.load %[[A]][%[[IM]], %[[IK]]] : memref<?x?xf16> -> tensor<128x64xf16>
// CHECK:             %[[TB:.*]] = tcc.load %[[B]][%[[IK]], %[[IN]]] : memref<?x?xf16> -> tensor<64x256xf16>
// CHECK:             %[[D:.*]] = tcc.matmul %[[TA]], %[[TB]], %[[IT]]
// CHECK:             scf.yield %[[D]]
// CHECK:           tcc.store %[[ACC]], %[[C]][%[[IM]], %[[IN]]]
// CHECK-NOT:     linalg
func.func @dynamic(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%C : memref<?x?xf32>)
  linalg.matmul ins(%A, %B : memref<?x?xf16>, memref<?x?xf16>) outs(%C : memref<?x?xf32>)
  return
}

// -----

// CHECK-LABEL: func.func @static(
// CHECK:         %[[K:.*]] = arith.constant 72 : index
// CHECK:         scf.forall {{.*}} = (0, 0) to (200, 130) step
// CHECK:           scf.for %{{.*}} to %[[K]] step
func.func @static(%A: memref<200x72xbf16>, %B: memref<72x130xbf16>, %C: memref<200x130xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%C : memref<200x130xf32>)
  linalg.matmul ins(%A, %B : memref<200x72xbf16>, memref<72x130xbf16>) outs(%C : memref<200x130xf32>)
  return
}

// -----

// Both operands stored transposed, A by indexing map, B by memref.transpose.

// CHECK-LABEL: func.func @transposed(
// CHECK-SAME:    %[[A:[a-z0-9]+]]: memref<?x?xf16> {tcc.dims = ["K", "M"]
// CHECK-SAME:    %[[B:[a-z0-9]+]]: memref<?x?xf16> {tcc.dims = ["N", "K"]
// CHECK:         %[[AT:.*]] = memref.transpose %[[A]] (d0, d1) -> (d1, d0)
// CHECK:         %[[BT:.*]] = memref.transpose %[[B]] (d0, d1) -> (d1, d0)
// CHECK:         tcc.load %[[AT]]
// CHECK-SAME:      memref<?x?xf16, strided<[1, ?]>> -> tensor<128x64xf16>
// CHECK:         tcc.load %[[BT]]
// CHECK-SAME:      memref<?x?xf16, strided<[1, ?]>> -> tensor<64x256xf16>
func.func @transposed(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf32>) {
  %Bt = memref.transpose %B (i, j) -> (j, i) : memref<?x?xf16> to memref<?x?xf16, strided<[1, ?]>>
  linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>,
                                 affine_map<(m, n, k) -> (m, n)>]
    ins(%A, %Bt : memref<?x?xf16>, memref<?x?xf16, strided<[1, ?]>>) outs(%C : memref<?x?xf32>)
  return
}

// -----

// Column-major by its strides: loaded as it is.

// CHECK-LABEL: func.func @strided(
// CHECK-NOT:     memref.transpose
// CHECK:         tcc.load %{{.*}} : memref<?x?xf16, strided<[1, ?]>> -> tensor<64x256xf16>
func.func @strided(%A: memref<?x?xf16>, %B: memref<?x?xf16, strided<[1, ?]>>, %C: memref<?x?xf32>) {
  linalg.matmul ins(%A, %B : memref<?x?xf16>, memref<?x?xf16, strided<[1, ?]>>) outs(%C : memref<?x?xf32>)
  return
}

// -----

// linalg.contract and a generic op say the same thing.

// CHECK-LABEL: func.func @contract(
// CHECK:         tcc.matmul
func.func @contract(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf32>) {
  linalg.contract indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>,
                                   affine_map<(m, n, k) -> (m, n)>]
    ins(%A, %B : memref<?x?xf16>, memref<?x?xf16>) outs(%C : memref<?x?xf32>)
  return
}

// CHECK-LABEL: func.func @generic(
// CHECK:         tcc.matmul
func.func @generic(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf32>) {
  linalg.generic {indexing_maps = [affine_map<(m, k, n) -> (m, k)>, affine_map<(m, k, n) -> (n, k)>,
                                   affine_map<(m, k, n) -> (m, n)>],
                  iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%A, %B : memref<?x?xf16>, memref<?x?xf16>) outs(%C : memref<?x?xf32>) {
  ^bb0(%a: f16, %b: f16, %c: f32):
    %wa = arith.extf %a : f16 to f32
    %wb = arith.extf %b : f16 to f32
    %p = arith.mulf %wa, %wb : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  }
  return
}

// -----

// A kernel on L1 is left alone.

// CHECK-LABEL: func.func @tiles(
// CHECK:         scf.forall
// CHECK:           %[[ACC:.*]] = scf.for
// CHECK:           tcc.store %[[ACC]]
func.func @tiles(%A: memref<64x32xf16>, %B: memref<32x64xf16>, %C: memref<64x64xf32>) {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  scf.forall (%m, %n) = (0, 0) to (64, 64) step (64, 64) {
    %zero = arith.constant dense<0.0> : tensor<64x64xf32>
    %acc = scf.for %k = %c0 to %c32 step %c32 iter_args(%c = %zero) -> (tensor<64x64xf32>) {
      %a = tcc.load %A[%m, %k] : memref<64x32xf16> -> tensor<64x32xf16>
      %b = tcc.load %B[%k, %n] : memref<32x64xf16> -> tensor<32x64xf16>
      %d = tcc.matmul %a, %b, %c : tensor<64x32xf16>, tensor<32x64xf16>, tensor<64x64xf32>
      scf.yield %d : tensor<64x64xf32>
    }
    tcc.store %acc, %C[%m, %n] : tensor<64x64xf32>, memref<64x64xf32>
  }
  return
}
