// The second way in: a tile program with explicit tile sizes, here with a bias and relu. The compiler
// chooses the rest of the schedule, or takes it from tcc.schedule.
func.func @tile_gemm(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %bias: memref<?xf32> {tcc.name = "bias"},
                     %C: memref<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %M = memref.dim %A, %c0 : memref<?x?xf16>
  %K = memref.dim %A, %c1 : memref<?x?xf16>
  %N = memref.dim %B, %c1 : memref<?x?xf16>
  scf.forall (%m, %n) = (0, 0) to (%M, %N) step (64, 128) {
    %zero = arith.constant dense<0.0> : tensor<64x128xf32>
    %acc = scf.for %k = %c0 to %K step %c32 iter_args(%c = %zero) -> (tensor<64x128xf32>) {
      %a = tcc.load %A[%m, %k] : memref<?x?xf16> -> tensor<64x32xf16>
      %b = tcc.load %B[%k, %n] : memref<?x?xf16> -> tensor<32x128xf16>
      %d = tcc.matmul %a, %b, %c : tensor<64x32xf16>, tensor<32x128xf16>, tensor<64x128xf32>
      scf.yield %d : tensor<64x128xf32>
    }
    %row = tcc.load %bias[%n] : memref<?xf32> -> tensor<128xf32>
    %empty = tensor.empty() : tensor<64x128xf32>
    %rows = linalg.broadcast ins(%row : tensor<128xf32>) outs(%empty : tensor<64x128xf32>)
                             dimensions = [0]
    %sum = arith.addf %acc, %rows : tensor<64x128xf32>
    %relu = arith.maximumf %sum, %zero : tensor<64x128xf32>
    tcc.store %relu, %C[%m, %n] : tensor<64x128xf32>, memref<?x?xf32>
  }
  return
}
