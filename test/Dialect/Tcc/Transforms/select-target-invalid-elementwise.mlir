// RUN: tcc-opt %s --split-input-file --verify-diagnostics --tcc-select-target=chip=sm_80

// expected-error @below {{argument 2 is read at another place than it is written; accepted is its old value at (m, n)}}
func.func @c_read_transposed(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf32>) {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %d = memref.dim %A, %c0 : memref<?x?xf16>
  %t = memref.alloc(%d, %d) : memref<?x?xf32>
  linalg.fill ins(%zero : f32) outs(%t : memref<?x?xf32>)
  linalg.matmul ins(%A, %B : memref<?x?xf16>, memref<?x?xf16>) outs(%t : memref<?x?xf32>)
  %Ct = memref.transpose %C (i, j) -> (j, i) : memref<?x?xf32> to memref<?x?xf32, strided<[1, ?]>>
  linalg.add ins(%t, %Ct : memref<?x?xf32>, memref<?x?xf32, strided<[1, ?]>>) outs(%C : memref<?x?xf32>)
  return
}

// -----

func.func @unsupported_op(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf32>) {
  %c0 = arith.constant 0 : index
  linalg.matmul ins(%A, %B : memref<?x?xf16>, memref<?x?xf16>) outs(%C : memref<?x?xf32>)
  // expected-error @below {{'memref.load' op isn't supported in a kernel; supported are linalg.matmul, linalg.fill, elementwise and broadcasting linalg ops}}
  %v = memref.load %C[%c0, %c0] : memref<?x?xf32>
  return
}

// -----

func.func @unsupported_body(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf32>) {
  linalg.matmul ins(%A, %B : memref<?x?xf16>, memref<?x?xf16>) outs(%C : memref<?x?xf32>)
  linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]}
      outs(%C : memref<?x?xf32>) {
  ^bb0(%c: f32):
    // expected-error @below {{'math.atan' op isn't supported in an elementwise body; supported are arith.addf}}
    %r = math.atan %c : f32
    linalg.yield %r : f32
  }
  return
}

// -----

func.func @position_dependent(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf32>) {
  linalg.matmul ins(%A, %B : memref<?x?xf16>, memref<?x?xf16>) outs(%C : memref<?x?xf32>)
  linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]}
      outs(%C : memref<?x?xf32>) {
  ^bb0(%c: f32):
    // expected-error @below {{'linalg.index' op isn't supported in an elementwise body}}
    %i = linalg.index 0 : index
    linalg.yield %c : f32
  }
  return
}

// -----

func.func @constant_index(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %row: memref<1x?xf32>, %C: memref<?x?xf32>) {
  linalg.matmul ins(%A, %B : memref<?x?xf16>, memref<?x?xf16>) outs(%C : memref<?x?xf32>)
  // expected-error @below {{operand 0 has the indexing map affine_map<(d0, d1) -> (0, d1)>; accepted are maps that give each dimension one loop, like (d0, d1) -> (d1)}}
  linalg.generic {indexing_maps = [affine_map<(m, n) -> (0, n)>, affine_map<(m, n) -> (m, n)>],
                  iterator_types = ["parallel", "parallel"]}
      ins(%row : memref<1x?xf32>) outs(%C : memref<?x?xf32>) {
  ^bb0(%b: f32, %c: f32):
    %r = arith.addf %b, %c : f32
    linalg.yield %r : f32
  }
  return
}

// -----

func.func @scalar_operand(%A: memref<64x64xf16>, %B: memref<64x64xf16>, %C: memref<64x64xf32>) {
  %c0 = arith.constant 0 : index
  %i = arith.constant 3 : i32
  // expected-error @below {{'arith.sitofp' op isn't supported in a kernel}}
  %zero = arith.sitofp %i : i32 to f32
  linalg.fill ins(%zero : f32) outs(%C : memref<64x64xf32>)
  return
}

// -----

func.func @read_before_write(%A: memref<64x64xf16>, %B: memref<64x64xf16>, %C: memref<64x64xf32>) {
  %t = memref.alloc() : memref<64x64xf32>
  linalg.matmul ins(%A, %B : memref<64x64xf16>, memref<64x64xf16>) outs(%C : memref<64x64xf32>)
  // expected-error @below {{operand 1 is read before anything was written to it}}
  linalg.add ins(%C, %t : memref<64x64xf32>, memref<64x64xf32>) outs(%C : memref<64x64xf32>)
  return
}

// -----

// expected-error @below {{argument 3 is written with something that doesn't depend on the matmul; put that in a function of its own}}
func.func @independent_output(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf32>, %D: memref<?x?xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.matmul ins(%A, %B : memref<?x?xf16>, memref<?x?xf16>) outs(%C : memref<?x?xf32>)
  linalg.fill ins(%zero : f32) outs(%D : memref<?x?xf32>)
  return
}

// -----

// expected-error @below {{a kernel writes at least one of its arguments, this function none}}
func.func @no_output(%A: memref<64x64xf16>, %B: memref<64x64xf16>) {
  %zero = arith.constant 0.0 : f32
  %t = memref.alloc() : memref<64x64xf32>
  linalg.fill ins(%zero : f32) outs(%t : memref<64x64xf32>)
  linalg.matmul ins(%A, %B : memref<64x64xf16>, memref<64x64xf16>) outs(%t : memref<64x64xf32>)
  return
}

// -----

// expected-error @below {{a kernel's body is one block of linalg ops, without control flow}}
func.func @control_flow(%A: memref<?x?xf16>) {
  cf.br ^end
^end:
  return
}

// -----

// expected-error @below {{argument 2 has element type 'f64'; accepted are f32, f16 and bf16}}
func.func @f64_input(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %r: memref<?x?xf64>, %C: memref<?x?xf32>) {
  linalg.matmul ins(%A, %B : memref<?x?xf16>, memref<?x?xf16>) outs(%C : memref<?x?xf32>)
  linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>],
                  iterator_types = ["parallel", "parallel"]}
      ins(%r : memref<?x?xf64>) outs(%C : memref<?x?xf32>) {
  ^bb0(%x: f64, %c: f32):
    %t = arith.truncf %x : f64 to f32
    %s = arith.addf %t, %c : f32
    linalg.yield %s : f32
  }
  return
}

// -----

func.func @f64_arithmetic(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf32>) {
  linalg.matmul ins(%A, %B : memref<?x?xf16>, memref<?x?xf16>) outs(%C : memref<?x?xf32>)
  linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]}
      outs(%C : memref<?x?xf32>) {
  ^bb0(%c: f32):
    // expected-error @below {{computes 'f64'; accepted are f32, f16 and bf16}}
    %w = arith.extf %c : f32 to f64
    %r = arith.truncf %w : f64 to f32
    linalg.yield %r : f32
  }
  return
}

// -----

// expected-error @below {{argument 0 has the memory space 3 : i64; a kernel's arguments are in global memory, leave the space out}}
func.func @memory_space(%A: memref<?x?xf16, 3>, %B: memref<?x?xf16>, %C: memref<?x?xf32>) {
  linalg.matmul ins(%A, %B : memref<?x?xf16, 3>, memref<?x?xf16>) outs(%C : memref<?x?xf32>)
  return
}

// -----

func.func @rounds_otherwise(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf32>) {
  linalg.matmul ins(%A, %B : memref<?x?xf16>, memref<?x?xf16>) outs(%C : memref<?x?xf32>)
  linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]}
      outs(%C : memref<?x?xf32>) {
  ^bb0(%c: f32):
    // expected-error @below {{rounds toward_zero; accepted is to_nearest_even, the default}}
    %n = arith.truncf %c toward_zero : f32 to f16
    %r = arith.extf %n : f16 to f32
    linalg.yield %r : f32
  }
  return
}

// -----

// A named op has a body that isn't written down; the place is the op's.
func.func @named_op(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf32>) {
  linalg.matmul ins(%A, %B : memref<?x?xf16>, memref<?x?xf16>) outs(%C : memref<?x?xf32>)
  // expected-error @below {{'math.round' op isn't supported in an elementwise body}}
  linalg.round ins(%C : memref<?x?xf32>) outs(%C : memref<?x?xf32>)
  return
}
