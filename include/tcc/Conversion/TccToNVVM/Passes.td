//===- Passes.td - From a thread's program to NVVM -------------*- tablegen -*-===//

#ifndef TCC_CONVERSION_TCCTONVVM_PASSES_TD
#define TCC_CONVERSION_TCCTONVVM_PASSES_TD

include "mlir/Pass/PassBase.td"

def ConvertTccToNVVMPass : Pass<"convert-tcc-to-nvvm"> {
  let summary = "Spell a thread's program in llvm and nvvm ops (L4d -> L5)";
  let description = [{
    Every op of a finalized kernel becomes the llvm or nvvm ops that say the
    same; decisions were made before. Functions of `math` become arithmetic on
    the spot, never a call: sqrt, rsqrt, floor, ceil, fma and exp2 are
    instructions; exp, log, tanh, erf, sin, cos, powf and others are the
    polynomials of upstream's math transforms, in f32 also for f16 and bf16. exp2
    is ex2.approx (2 ulp), and so is exp with `fastmath<afn>`, after a
    multiplication; tanh of f32 with `fastmath<afn>` is tanh.approx (relative
    error 2^-11) on chips that have it.

    ```mlir
    func.func @gemm(%A: !llvm.ptr<1>, …) attributes {tcc.level = "L4d", tcc.block = 256, …} {
      %d:4 = tcc.mma mma_sync [16, 8, 16] a(%a0, …) b(…) c(…) -> …
    ```
    becomes
    ```mlir
    llvm.func @gemm(%A: !llvm.ptr<1>, …) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 256>,
                                                     nvvm.minctasm = 1 : i32, …} {
      %d = nvvm.mma.sync A[%a0, …] B[…] C[…] {…} : …
    ```
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::NVVM::NVVMDialect",
                           "::mlir::cf::ControlFlowDialect", "::mlir::arith::ArithDialect",
                           "::mlir::math::MathDialect", "::mlir::vector::VectorDialect"];
}

#endif // TCC_CONVERSION_TCCTONVVM_PASSES_TD
