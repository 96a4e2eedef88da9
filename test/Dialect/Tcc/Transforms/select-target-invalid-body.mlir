// RUN: tcc-opt %s --split-input-file --verify-diagnostics --tcc-select-target=chip=sm_80

// Contractions in linalg's sense that are more than a matmul.

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
func.func @negated(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf32>) {
  // expected-error @below {{isn't a plain matmul; accepted is a body that adds the product of A's and B's elements}}
  linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%A, %B : memref<?x?xf16>, memref<?x?xf16>) outs(%C : memref<?x?xf32>) {
  ^bb0(%a: f16, %b: f16, %c: f32):
    %minus = arith.negf %a : f16
    %wide_a = arith.extf %minus : f16 to f32
    %wide_b = arith.extf %b : f16 to f32
    %product = arith.mulf %wide_a, %wide_b : f32
    %sum = arith.addf %c, %product : f32
    linalg.yield %sum : f32
  }
  return
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
func.func @other_bits(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf32>) {
  // expected-error @below {{isn't a plain matmul; accepted is a body that adds the product of A's and B's elements}}
  linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%A, %B : memref<?x?xf16>, memref<?x?xf16>) outs(%C : memref<?x?xf32>) {
  ^bb0(%a: f16, %b: f16, %c: f32):
    %bits = arith.bitcast %a : f16 to bf16
    %wide_a = arith.extf %bits : bf16 to f32
    %wide_b = arith.extf %b : f16 to f32
    %product = arith.mulf %wide_a, %wide_b : f32
    %sum = arith.addf %c, %product : f32
    linalg.yield %sum : f32
  }
  return
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
func.func @rounded_operand(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf32>) {
  // expected-error @below {{isn't a plain matmul; accepted is a body that adds the product of A's and B's elements}}
  linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%A, %B : memref<?x?xf16>, memref<?x?xf16>) outs(%C : memref<?x?xf32>) {
  ^bb0(%a: f16, %b: f16, %c: f32):
    %narrow = arith.truncf %a : f16 to f8E5M2
    %wide_a = arith.extf %narrow : f8E5M2 to f32
    %wide_b = arith.extf %b : f16 to f32
    %product = arith.mulf %wide_a, %wide_b : f32
    %sum = arith.addf %c, %product : f32
    linalg.yield %sum : f32
  }
  return
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
func.func @rounded_product(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf32>) {
  // expected-error @below {{isn't a plain matmul; accepted is a body that adds the product of A's and B's elements}}
  linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%A, %B : memref<?x?xf16>, memref<?x?xf16>) outs(%C : memref<?x?xf32>) {
  ^bb0(%a: f16, %b: f16, %c: f32):
    %narrow = arith.mulf %a, %b : f16
    %product = arith.extf %narrow : f16 to f32
    %sum = arith.addf %c, %product : f32
    linalg.yield %sum : f32
  }
  return
}
