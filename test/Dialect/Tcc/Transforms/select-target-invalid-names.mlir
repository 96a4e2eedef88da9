// RUN: tcc-opt %s --split-input-file --verify-diagnostics --tcc-select-target=chip=sm_80

func.func @dims_differ(%A: memref<?x?xf16> {tcc.dims = ["M", "K"]},
                       // expected-error @below {{dimension 0 of argument 'B' is called 'depth', but it must be as long as 'K' of another argument; give both one name in tcc.dims}}
                       %B: memref<?x?xf16> {tcc.dims = ["depth", "N"]}, %C: memref<?x?xf32>) {
  linalg.matmul ins(%A, %B : memref<?x?xf16>, memref<?x?xf16>) outs(%C : memref<?x?xf32>)
  return
}

// -----

// expected-error @below {{the dimensions of the matmul are called 'M', 'M' and 'K'; expected three different names of letters, digits and _}}
func.func @dims_equal(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf32> {tcc.dims = ["M", "M"]}) {
  linalg.matmul ins(%A, %B : memref<?x?xf16>, memref<?x?xf16>) outs(%C : memref<?x?xf32>)
  return
}

// -----

func.func @names_equal(%A: memref<?x?xf16>,
                       // expected-error @below {{two arguments are called 'A'; give each its own tcc.name}}
                       %B: memref<?x?xf16> {tcc.name = "A"}, %C: memref<?x?xf32>) {
  linalg.matmul ins(%A, %B : memref<?x?xf16>, memref<?x?xf16>) outs(%C : memref<?x?xf32>)
  return
}

// -----

// expected-error @below {{'2nd' can't be a name; accepted are letters, digits and _, not beginning with a digit}}
func.func @bad_name(%A: memref<?x?xf16> {tcc.name = "2nd"}, %B: memref<?x?xf16>, %C: memref<?x?xf32>) {
  linalg.matmul ins(%A, %B : memref<?x?xf16>, memref<?x?xf16>) outs(%C : memref<?x?xf32>)
  return
}

// -----

func.func @two_axes(%A: memref<?x?xf16>, %B: memref<?x?xf16>,
                    // expected-error @below {{dimension 0 of argument 'arg2' is indexed by M in one place and by N in another; pass the data as two arguments}}
                    %v: memref<?xf32>, %C: memref<?x?xf32>) {
  linalg.matmul ins(%A, %B : memref<?x?xf16>, memref<?x?xf16>) outs(%C : memref<?x?xf32>)
  linalg.generic {indexing_maps = [affine_map<(m, n) -> (m)>, affine_map<(m, n) -> (n)>, affine_map<(m, n) -> (m, n)>],
                  iterator_types = ["parallel", "parallel"]}
      ins(%v, %v : memref<?xf32>, memref<?xf32>) outs(%C : memref<?x?xf32>) {
  ^bb0(%b: f32, %d: f32, %c: f32):
    %r = arith.addf %b, %c : f32
    %s = arith.mulf %r, %d : f32
    linalg.yield %s : f32
  }
  return
}

// -----

func.func @sizes_differ(%A: memref<64x64xf16>, %B: memref<64x64xf16>,
                        // expected-error @below {{dimension 0 of argument 'arg2' is 32 long, but N is 64 in another argument}}
                        %v: memref<32xf32>, %C: memref<?x?xf32>) {
  linalg.matmul ins(%A, %B : memref<64x64xf16>, memref<64x64xf16>) outs(%C : memref<?x?xf32>)
  %t = memref.alloc() : memref<64x64xf32>
  linalg.generic {indexing_maps = [affine_map<(m, n) -> (n)>, affine_map<(m, n) -> (m, n)>],
                  iterator_types = ["parallel", "parallel"]}
      ins(%v : memref<32xf32>) outs(%C : memref<?x?xf32>) {
  ^bb0(%b: f32, %c: f32):
    %r = arith.addf %b, %c : f32
    linalg.yield %r : f32
  }
  return
}

// -----

// expected-error @below {{a dimension can't be called 'sm_count', which is the number of the device's multiprocessors}}
func.func @reserved(%A: memref<?x?xf16> {tcc.dims = ["sm_count", "K"]}, %B: memref<?x?xf16>, %C: memref<?x?xf32>) {
  linalg.matmul ins(%A, %B : memref<?x?xf16>, memref<?x?xf16>) outs(%C : memref<?x?xf32>)
  return
}

// -----

module {
  // expected-error @below {{a module in the module; put its kernels beside the others}}
  module {
    func.func @nested(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf32>) {
      linalg.matmul ins(%A, %B : memref<?x?xf16>, memref<?x?xf16>) outs(%C : memref<?x?xf32>)
      return
    }
  }
}

// -----

// expected-error @below {{argument 'C' has tcc.direction = "out", but by what the function does with it, it is "inout"}}
func.func @direction(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf32> {tcc.direction = "out"}) {
  linalg.matmul ins(%A, %B : memref<?x?xf16>, memref<?x?xf16>) outs(%C : memref<?x?xf32>)
  return
}

// -----

// expected-error @below {{unknown level 'L9'; known: L0t, L1,}}
func.func @level(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf32>) attributes {tcc.level = "L9"} {
  linalg.matmul ins(%A, %B : memref<?x?xf16>, memref<?x?xf16>) outs(%C : memref<?x?xf32>)
  return
}

// -----

// expected-error @below {{is on level L4d by its tcc.level, but kernels without a chip are linalg on matrices, which has no level, or a tile program, L1}}
func.func @other_level(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf32>) attributes {tcc.level = "L4d"} {
  linalg.matmul ins(%A, %B : memref<?x?xf16>, memref<?x?xf16>) outs(%C : memref<?x?xf32>)
  return
}
