// C = A * B, sizes known at launch.
func.func @gemm(%A: memref<?x?xf16> {tcc.name = "A"}, %B: memref<?x?xf16> {tcc.name = "B"},
                %C: memref<?x?xf32> {tcc.name = "C"}) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%C : memref<?x?xf32>)
  linalg.matmul ins(%A, %B : memref<?x?xf16>, memref<?x?xf16>) outs(%C : memref<?x?xf32>)
  return
}
