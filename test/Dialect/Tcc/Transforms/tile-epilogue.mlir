// RUN: tcc-opt %s --split-input-file --tcc-select-target=chip=sm_80 --tcc-tile | FileCheck %s

// The old C is added in f32 after the loop, and a narrow C is rounded once.

// CHECK-LABEL: func.func @accumulate_narrow(
// CHECK-SAME:    tcc.direction = "inout", tcc.name = "C"
// CHECK:         %[[ACC:.*]] = scf.for
// CHECK:         %[[OLD:.*]] = tcc.load %{{.*}} : memref<?x?xf16> -> tensor<128x256xf16>
// CHECK:         %[[WIDE:.*]] = arith.extf %[[OLD]] : tensor<128x256xf16> to tensor<128x256xf32>
// CHECK:         %[[SUM:.*]] = arith.addf %[[ACC]], %[[WIDE]] : tensor<128x256xf32>
// CHECK:         %[[NARROW:.*]] = arith.truncf %[[SUM]] : tensor<128x256xf32> to tensor<128x256xf16>
// CHECK:         tcc.store %[[NARROW]]
func.func @accumulate_narrow(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf16>) {
  linalg.matmul ins(%A, %B : memref<?x?xf16>, memref<?x?xf16>) outs(%C : memref<?x?xf16>)
  return
}

// -----

// A fill with something else than zero is added as a constant.

// CHECK-LABEL: func.func @fill_one(
// CHECK-SAME:    tcc.reference = [{dims = [], id = 0 : i64, op = "constant", type = f32, value = 1.000000e+00 : f32}{{.*}}op = "matmul"{{.*}}op = "addf", operands = [3, 0]
// CHECK:         %[[ONE:.*]] = arith.constant dense<1.000000e+00> : tensor<128x256xf32>
// CHECK:         arith.addf %{{.*}}, %[[ONE]]
func.func @fill_one(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf32>) {
  %one = arith.constant 1.0 : f32
  linalg.fill ins(%one : f32) outs(%C : memref<?x?xf32>)
  linalg.matmul ins(%A, %B : memref<?x?xf16>, memref<?x?xf16>) outs(%C : memref<?x?xf32>)
  return
}

// -----

// A bias for each column and one for each row, by named ops and a temporary.

// CHECK-LABEL: func.func @biases(
// CHECK-SAME:    %[[COL:[a-z0-9]+]]: memref<?xf32> {tcc.dims = ["N"], tcc.direction = "in", tcc.name = "arg2"}
// CHECK-SAME:    %[[ROW:[a-z0-9]+]]: memref<?xf32> {tcc.dims = ["M"], tcc.direction = "in", tcc.name = "arg3"}
// CHECK:         scf.forall (%[[M:.*]], %[[N:.*]]) =
// CHECK:         %[[ACC:.*]] = scf.for
// CHECK:         %[[V:.*]] = tcc.load %[[COL]][%[[N]]] : memref<?xf32> -> tensor<256xf32>
// CHECK:         %[[COLS:.*]] = linalg.broadcast ins(%[[V]] : tensor<256xf32>) outs(%{{.*}} : tensor<128x256xf32>) dimensions = [0]
// CHECK:         %[[S:.*]] = arith.addf %[[COLS]], %[[ACC]]
// CHECK:         %[[U:.*]] = tcc.load %[[ROW]][%[[M]]] : memref<?xf32> -> tensor<128xf32>
// CHECK:         %[[ROWS:.*]] = linalg.broadcast ins(%[[U]] : tensor<128xf32>) outs(%{{.*}} : tensor<128x256xf32>) dimensions = [1]
// CHECK:         arith.addf %[[S]], %[[ROWS]]
// CHECK-NOT:     memref.alloc
func.func @biases(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %col: memref<?xf32>, %row: memref<?xf32>,
                  %C: memref<?x?xf32>) {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %M = memref.dim %A, %c0 : memref<?x?xf16>
  %N = memref.dim %B, %c1 : memref<?x?xf16>
  %t = memref.alloc(%M, %N) : memref<?x?xf32>
  linalg.fill ins(%zero : f32) outs(%C : memref<?x?xf32>)
  linalg.matmul ins(%A, %B : memref<?x?xf16>, memref<?x?xf16>) outs(%C : memref<?x?xf32>)
  linalg.broadcast ins(%col : memref<?xf32>) outs(%t : memref<?x?xf32>) dimensions = [0]
  linalg.add ins(%t, %C : memref<?x?xf32>, memref<?x?xf32>) outs(%C : memref<?x?xf32>)
  linalg.broadcast ins(%row : memref<?xf32>) outs(%t : memref<?x?xf32>) dimensions = [1]
  linalg.add ins(%C, %t : memref<?x?xf32>, memref<?x?xf32>) outs(%C : memref<?x?xf32>)
  return
}

// -----

// Relu and scale in tensor form, with a residual; the f32 product is rounded by the program itself.

// CHECK-LABEL: func.func @tensor_form(
// CHECK:         %[[ACC:.*]] = scf.for
// CHECK:         %[[RES:.*]] = tcc.load %{{.*}} : memref<?x?xf32> -> tensor<128x256xf32>
// CHECK:         %[[SUM:.*]] = arith.addf %[[ACC]], %[[RES]]
// CHECK:         %[[ZERO:.*]] = arith.constant dense<0.000000e+00>
// CHECK:         %[[RELU:.*]] = arith.maximumf %[[SUM]], %[[ZERO]]
// CHECK:         %[[OUT:.*]] = arith.truncf %[[RELU]] : tensor<128x256xf32> to tensor<128x256xbf16>
// CHECK:         tcc.store %[[OUT]]
func.func @tensor_form(%A: tensor<?x?xbf16>, %B: tensor<?x?xbf16>, %R: tensor<?x?xf32>) -> tensor<?x?xbf16> {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %M = tensor.dim %A, %c0 : tensor<?x?xbf16>
  %N = tensor.dim %B, %c1 : tensor<?x?xbf16>
  %e = tensor.empty(%M, %N) : tensor<?x?xf32>
  %init = linalg.fill ins(%zero : f32) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
  %p = linalg.matmul ins(%A, %B : tensor<?x?xbf16>, tensor<?x?xbf16>) outs(%init : tensor<?x?xf32>) -> tensor<?x?xf32>
  %s = linalg.add ins(%p, %R : tensor<?x?xf32>, tensor<?x?xf32>) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
  %o = tensor.empty(%M, %N) : tensor<?x?xbf16>
  %r = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%s : tensor<?x?xf32>) outs(%o : tensor<?x?xbf16>) {
  ^bb0(%x: f32, %out: bf16):
    %relu = arith.maximumf %x, %zero : f32
    %narrow = arith.truncf %relu : f32 to bf16
    linalg.yield %narrow : bf16
  } -> tensor<?x?xbf16>
  return %r : tensor<?x?xbf16>
}

// -----

// Two outputs: the product, and what is computed from it.

// CHECK-LABEL: func.func @two_outputs(
// CHECK:         %[[ACC:.*]] = scf.for
// CHECK:         %[[T:.*]] = math.tanh %[[ACC]] : tensor<128x256xf32>
// CHECK:         tcc.store %[[ACC]], %{{.*}}
// CHECK:         tcc.store %[[T]], %{{.*}}
func.func @two_outputs(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf32>, %D: memref<?x?xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%C : memref<?x?xf32>)
  linalg.matmul ins(%A, %B : memref<?x?xf16>, memref<?x?xf16>) outs(%C : memref<?x?xf32>)
  linalg.tanh ins(%C : memref<?x?xf32>) outs(%D : memref<?x?xf32>)
  return
}

// -----

// A residual that is stored transposed is loaded through a transposed view.

// CHECK-LABEL: func.func @transposed_residual(
// CHECK-SAME:    %[[R:[a-z0-9]+]]: memref<?x?xf32> {tcc.dims = ["N", "M"]
// CHECK:         %[[RT:.*]] = memref.transpose %[[R]] (d0, d1) -> (d1, d0)
// CHECK:         tcc.load %[[RT]][%{{.*}}, %{{.*}}] : memref<?x?xf32, strided<[1, ?]>> -> tensor<128x256xf32>
func.func @transposed_residual(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %R: memref<?x?xf32>, %C: memref<?x?xf32>) {
  linalg.transpose ins(%R : memref<?x?xf32>) outs(%C : memref<?x?xf32>) permutation = [1, 0]
  linalg.matmul ins(%A, %B : memref<?x?xf16>, memref<?x?xf16>) outs(%C : memref<?x?xf32>)
  return
}

// -----

// arith and math on whole tensors, with splat constants.

// CHECK-LABEL: func.func @tensor_arith(
// CHECK:         %[[ACC:.*]] = scf.for
// CHECK:         %[[TWO:.*]] = arith.constant dense<2.000000e+00> : tensor<{{.*}}xf32>
// CHECK:         %[[R:.*]] = arith.mulf %[[ACC]], %[[TWO]]
// CHECK:         tcc.store %[[R]]
func.func @tensor_arith(%A: tensor<64x64xf16>, %B: tensor<64x64xf16>) -> tensor<64x64xf32> {
  %init = arith.constant dense<0.0> : tensor<64x64xf32>
  %two = arith.constant dense<2.0> : tensor<64x64xf32>
  %p = linalg.matmul ins(%A, %B : tensor<64x64xf16>, tensor<64x64xf16>) outs(%init : tensor<64x64xf32>) -> tensor<64x64xf32>
  %r = arith.mulf %p, %two : tensor<64x64xf32>
  return %r : tensor<64x64xf32>
}

// -----

// Named elementwise ops by linalg.elementwise and linalg.map.

// CHECK-LABEL: func.func @elementwise_ops(
// CHECK:         %[[ACC:.*]] = scf.for
// CHECK:         %[[E:.*]] = math.exp %[[ACC]]
// CHECK:         %[[CMP:.*]] = arith.cmpf ogt, %[[E]], %[[ACC]]
// CHECK:         %[[SEL:.*]] = arith.select %[[CMP]], %[[E]], %[[ACC]] : tensor<{{.*}}xi1>, tensor<{{.*}}xf32>
// CHECK:         tcc.store %[[SEL]]
func.func @elementwise_ops(%A: memref<64x64xf16>, %B: memref<64x64xf16>, %C: memref<64x64xf32>) {
  %zero = arith.constant 0.0 : f32
  %t = memref.alloc() : memref<64x64xf32>
  linalg.fill ins(%zero : f32) outs(%C : memref<64x64xf32>)
  linalg.matmul ins(%A, %B : memref<64x64xf16>, memref<64x64xf16>) outs(%C : memref<64x64xf32>)
  linalg.elementwise kind=#linalg.elementwise_kind<exp> ins(%C : memref<64x64xf32>) outs(%t : memref<64x64xf32>)
  linalg.map ins(%t, %C : memref<64x64xf32>, memref<64x64xf32>) outs(%C : memref<64x64xf32>)
    (%e: f32, %c: f32, %out: f32) {
      %gt = arith.cmpf ogt, %e, %c : f32
      %s = arith.select %gt, %e, %c : f32
      linalg.yield %s : f32
    }
  return
}
