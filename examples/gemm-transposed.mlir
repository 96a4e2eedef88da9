// C = A * B with B stored N x K (the "TN" form of BLAS), by indexing maps; rows of all matrices may be
// farther apart than they are long, as in a sub-matrix of a larger one.
#rows = strided<[?, 1], offset: ?>
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (n, k)>
#c = affine_map<(m, n, k) -> (m, n)>
func.func @gemm_transposed(%A: memref<?x?xbf16, #rows>, %B: memref<?x?xbf16, #rows>,
                           %C: memref<?x?xf32, #rows>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%C : memref<?x?xf32, #rows>)
  linalg.matmul indexing_maps = [#a, #b, #c]
                ins(%A, %B : memref<?x?xbf16, #rows>, memref<?x?xbf16, #rows>)
                outs(%C : memref<?x?xf32, #rows>)
  return
}
