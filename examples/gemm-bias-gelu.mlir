// D = gelu(A * B + bias), bias added to every row, in f16: one kernel, rounded once at the end.
func.func @gemm_bias_gelu(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %bias: memref<?xf32> {tcc.name = "bias"},
                          %D: memref<?x?xf16> {tcc.name = "D"}) {
  %zero = arith.constant 0.0 : f32
  %half = arith.constant 0.5 : f32
  %one = arith.constant 1.0 : f32
  %rsqrt2 = arith.constant 0.707106781 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %M = memref.dim %A, %c0 : memref<?x?xf16>
  %N = memref.dim %B, %c1 : memref<?x?xf16>
  %acc = memref.alloc(%M, %N) : memref<?x?xf32>
  linalg.fill ins(%zero : f32) outs(%acc : memref<?x?xf32>)
  linalg.matmul ins(%A, %B : memref<?x?xf16>, memref<?x?xf16>) outs(%acc : memref<?x?xf32>)
  linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (n)>,
                                   affine_map<(m, n) -> (m, n)>],
                  iterator_types = ["parallel", "parallel"]}
      ins(%acc, %bias : memref<?x?xf32>, memref<?xf32>) outs(%D : memref<?x?xf16>) {
  ^bb0(%product: f32, %b: f32, %out: f16):
    %x = arith.addf %product, %b : f32
    %scaled = arith.mulf %x, %rsqrt2 : f32
    %erf = math.erf %scaled : f32
    %shifted = arith.addf %erf, %one : f32
    %halved = arith.mulf %x, %half : f32
    %gelu = arith.mulf %halved, %shifted : f32
    %narrow = arith.truncf %gelu : f32 to f16
    linalg.yield %narrow : f16
  }
  return
}
