//===- Passes.td - Passes from level to level of a kernel ------*- tablegen -*-===//
//
// In the order in which the pipelines run them. Every pass walks all kernels (func.func) under the
// op that it runs on, and refuses a kernel that is not on the level it expects (docs/IR.md).
//
//===----------------------------------------------------------------------===//

#ifndef TCC_DIALECT_TCC_TRANSFORMS_PASSES_TD
#define TCC_DIALECT_TCC_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def StageSharedPass : Pass<"tcc-stage-shared"> {
  let summary = "Bring operands through shared memory and choose the epilogue's path (L1 -> L2)";
  let description = [{
    Every operand tile of the matmul gets a shared buffer, a copy into it by the
    schedule's transport, and a load from it. A copy moves as many bytes at once
    as the schedule's alignment of that operand promises, 16 at most, and clamps
    along the dimension that is not contracted: what lies outside the matrix
    there reaches no element that is stored.

    ```mlir
    %a = tcc.load %A[%m, %k] : memref<?x?xf16> -> tensor<128x64xf16>
    %d = tcc.matmul %a, %b, %c : …
    ```
    becomes
    ```mlir
    %sa = tcc.alloc_shared : !tcc.shared<128x64xf16>         // at the top of the tile
    tcc.copy cp_async %A[%m, %k], %sa {bytes = 16, clamp = 0} : …
    %a = tcc.local_load %sa : !tcc.shared<128x64xf16> -> tensor<128x64xf16>
    %d = tcc.matmul %a, %b, %c : …
    ```

    An atom that reads shared memory (wgmma) takes the buffers themselves.

    With `epilogue = shared` everything after the loop is done on slices of as
    many rows as one row of atoms has, each brought from the accumulator's
    distribution into rows through a staging buffer:

    ```mlir
    %bias = tcc.load %v[%n] : memref<?xf32> -> tensor<256xf32>
    %bb = linalg.broadcast ins(%bias) outs(%e) dimensions = [0]
    %r = arith.addf %acc, %bb : tensor<128x256xf32>
    tcc.store %r, %C[%m, %n] : tensor<128x256xf32>, memref<?x?xf32>
    ```
    becomes
    ```mlir
    %bias = tcc.load %v[%n] : memref<?xf32> -> tensor<256xf32>    // once: it has no rows
    %s0 = tensor.extract_slice %acc[0, 0] [32, 256] [1, 1] : …
    tcc.local_store %s0, %sc : tensor<32x256xf32>, !tcc.shared<32x256xf32>
    %t0 = tcc.local_load %sc : !tcc.shared<32x256xf32> -> tensor<32x256xf32>
    %b0 = linalg.broadcast ins(%bias) outs(%e0) dimensions = [0]
    %r0 = arith.addf %t0, %b0 : tensor<32x256xf32>
    tcc.store %r0, %C[%m, %n] {bytes = 16} : tensor<32x256xf32>, memref<?x?xf32>
    …                                                             // rows 32, 64, 96
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect", "::mlir::tcc::TccDialect"];
}

#endif // TCC_DIALECT_TCC_TRANSFORMS_PASSES_TD
