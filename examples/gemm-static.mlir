// C = A * B, sizes known to the compiler.
func.func @gemm_static(%A: memref<4096x4096xf16>, %B: memref<4096x4096xf16>,
                       %C: memref<4096x4096xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%C : memref<4096x4096xf32>)
  linalg.matmul ins(%A, %B : memref<4096x4096xf16>, memref<4096x4096xf16>)
                outs(%C : memref<4096x4096xf32>)
  return
}
