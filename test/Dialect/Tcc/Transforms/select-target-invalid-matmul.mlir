// RUN: tcc-opt %s --split-input-file --verify-diagnostics --tcc-select-target=chip=sm_80

// expected-error @below {{a kernel has one linalg.matmul, this function has none}}
func.func @no_matmul(%C: memref<?x?xf32>) {
  return
}

// -----

func.func @two_matmuls(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf32>, %D: memref<?x?xf32>) {
  // expected-note @below {{the first one}}
  linalg.matmul ins(%A, %B : memref<?x?xf16>, memref<?x?xf16>) outs(%C : memref<?x?xf32>)
  // expected-error @below {{a kernel has one matmul, this is the second; put it in a function of its own}}
  linalg.matmul ins(%A, %B : memref<?x?xf16>, memref<?x?xf16>) outs(%D : memref<?x?xf32>)
  return
}

// -----

func.func @broadcast_operand(%A: memref<?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf32>) {
  // expected-error @below {{operand A is broadcast by its indexing map affine_map<(d0, d1, d2) -> (d2)>; accepted are (m, k) and (k, m)}}
  linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (k)>, affine_map<(m, n, k) -> (k, n)>,
                                 affine_map<(m, n, k) -> (m, n)>]
    ins(%A, %B : memref<?xf16>, memref<?x?xf16>) outs(%C : memref<?x?xf32>)
  return
}

// -----

func.func @permuted_c(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf32>) {
  // expected-error @below {{C is permuted by its indexing map affine_map<(d0, d1, d2) -> (d1, d0)>; accepted is C indexed by A's row, then B's column}}
  linalg.contract indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>,
                                   affine_map<(m, n, k) -> (n, m)>]
    ins(%A, %B : memref<?x?xf16>, memref<?x?xf16>) outs(%C : memref<?x?xf32>)
  return
}

// -----

func.func @transposed_c(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf32>) {
  %Ct = memref.transpose %C (i, j) -> (j, i) : memref<?x?xf32> to memref<?x?xf32, strided<[1, ?]>>
  // expected-error @below {{C is permuted: the product is stored transposed; accepted is a row-major C}}
  linalg.matmul ins(%A, %B : memref<?x?xf16>, memref<?x?xf16>) outs(%Ct : memref<?x?xf32, strided<[1, ?]>>)
  return
}

// -----

// expected-error @below {{argument 2 is written, but 'memref<?x?xf32, strided<[1, ?]>>' is column-major; accepted are row-major outputs}}
func.func @column_major_c(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf32, strided<[1, ?]>>) {
  linalg.matmul ins(%A, %B : memref<?x?xf16>, memref<?x?xf16>) outs(%C : memref<?x?xf32, strided<[1, ?]>>)
  return
}

// -----

// expected-error @below {{argument 0 has type 'memref<?x?xf16, strided<[?, ?]>>', in which no stride is known to be 1; accepted are row-major (strided<[?, 1]>) and column-major (strided<[1, ?]>) matrices}}
func.func @no_unit_stride(%A: memref<?x?xf16, strided<[?, ?]>>, %B: memref<?x?xf16>, %C: memref<?x?xf32>) {
  linalg.matmul ins(%A, %B : memref<?x?xf16, strided<[?, ?]>>, memref<?x?xf16>) outs(%C : memref<?x?xf32>)
  return
}

// -----

// expected-error @below {{a kernel's arguments are memrefs or tensors of rank 1 or 2; argument 3 is 'f32'}}
func.func @scalar_argument(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf32>, %alpha: f32) {
  linalg.matmul ins(%A, %B : memref<?x?xf16>, memref<?x?xf16>) outs(%C : memref<?x?xf32>)
  return
}

// -----

// expected-error @below {{a kernel's arguments are memrefs or tensors of rank 1 or 2; argument 0 is 'memref<?x?x?xf16>'}}
func.func @batch(%A: memref<?x?x?xf16>, %B: memref<?x?x?xf16>, %C: memref<?x?x?xf32>) {
  linalg.batch_matmul ins(%A, %B : memref<?x?x?xf16>, memref<?x?x?xf16>) outs(%C : memref<?x?x?xf32>)
  return
}

// -----

func.func @matvec(%A: memref<?x?xf16>, %x: memref<?xf16>, %y: memref<?xf32>) {
  // expected-error @below {{isn't supported in a kernel; the one reduction accepted is a matmul of two matrices (linalg.matmul)}}
  linalg.matvec ins(%A, %x : memref<?x?xf16>, memref<?xf16>) outs(%y : memref<?xf32>)
  return
}

// -----

func.func @mixed_types(%A: memref<?x?xf16>, %B: memref<?x?xbf16>, %C: memref<?x?xf32>) {
  // expected-error @below {{A has element type 'f16' and B 'bf16'; the tensor cores multiply two of the same type}}
  linalg.matmul ins(%A, %B : memref<?x?xf16>, memref<?x?xbf16>) outs(%C : memref<?x?xf32>)
  return
}

// -----

func.func @f32_operands(%A: memref<?x?xf32>, %B: memref<?x?xf32>, %C: memref<?x?xf32>) {
  // expected-error @below {{A and B have element type 'f32'; accepted are f16 and bf16}}
  linalg.matmul ins(%A, %B : memref<?x?xf32>, memref<?x?xf32>) outs(%C : memref<?x?xf32>)
  return
}

// -----

func.func @f64_result(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf64>) {
  // expected-error @below {{C has element type 'f64'; accepted are f32, f16 and bf16}}
  linalg.matmul ins(%A, %B : memref<?x?xf16>, memref<?x?xf16>) outs(%C : memref<?x?xf64>)
  return
}

// -----

func.func @same_operand(%A: memref<?x?xf16>, %C: memref<?x?xf32>) {
  // expected-error @below {{A and B are the same argument; pass the matrix as two arguments}}
  linalg.matmul ins(%A, %A : memref<?x?xf16>, memref<?x?xf16>) outs(%C : memref<?x?xf32>)
  return
}

// -----

func.func @computed_operand(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %T: memref<?x?xf16>, %C: memref<?x?xf32>) {
  linalg.exp ins(%A : memref<?x?xf16>) outs(%T : memref<?x?xf16>)
  // expected-error @below {{operand A is the result of other ops; accepted is an argument of the kernel, transposed or not}}
  linalg.matmul ins(%T, %B : memref<?x?xf16>, memref<?x?xf16>) outs(%C : memref<?x?xf32>)
  return
}

// -----

func.func @uninitialised_c(%A: memref<64x64xf16>, %B: memref<64x64xf16>, %C: memref<64x64xf32>) {
  %t = memref.alloc() : memref<64x64xf32>
  // expected-error @below {{adds to a C that nothing was written to; fill it with zero first}}
  linalg.matmul ins(%A, %B : memref<64x64xf16>, memref<64x64xf16>) outs(%t : memref<64x64xf32>)
  memref.copy %t, %C : memref<64x64xf32> to memref<64x64xf32>
  return
}

// -----

// Other reductions are no matmuls, wherever they stand.

func.func @row_sums(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf32>, %sums: memref<?xf32>) {
  linalg.matmul ins(%A, %B : memref<?x?xf16>, memref<?x?xf16>) outs(%C : memref<?x?xf32>)
  // expected-error @below {{'linalg.reduce' op isn't supported in a kernel; the one reduction accepted is a matmul of two matrices (linalg.matmul)}}
  linalg.reduce ins(%C : memref<?x?xf32>) outs(%sums : memref<?xf32>) dimensions = [1]
    (%in: f32, %sum: f32) {
      %0 = arith.addf %in, %sum : f32
      linalg.yield %0 : f32
    }
  return
}

// -----

func.func @softmax_sum(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf32>, %sums: memref<?xf32>) {
  linalg.matmul ins(%A, %B : memref<?x?xf16>, memref<?x?xf16>) outs(%C : memref<?x?xf32>)
  // expected-error @below {{'linalg.generic' op isn't supported in a kernel; the one reduction accepted}}
  linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m)>],
                  iterator_types = ["parallel", "reduction"]}
      ins(%C : memref<?x?xf32>) outs(%sums : memref<?xf32>) {
  ^bb0(%in: f32, %sum: f32):
    %e = math.exp %in : f32
    %0 = arith.addf %e, %sum : f32
    linalg.yield %0 : f32
  }
  return
}

// -----

func.func @matvec_after(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf32>, %x: memref<?xf16>, %y: memref<?xf32>) {
  linalg.matmul ins(%A, %B : memref<?x?xf16>, memref<?x?xf16>) outs(%C : memref<?x?xf32>)
  // expected-error @below {{'linalg.matvec' op isn't supported in a kernel; the one reduction accepted}}
  linalg.matvec ins(%A, %x : memref<?x?xf16>, memref<?xf16>) outs(%y : memref<?xf32>)
  return
}
