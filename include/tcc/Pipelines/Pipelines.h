//===- Pipelines.h - tcc's passes in their order ----------------*- C++ -*-===//

#ifndef TCC_PIPELINES_PIPELINES_H
#define TCC_PIPELINES_PIPELINES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"

namespace mlir::tcc {

struct TccToNVVMPipelineOptions : PassPipelineOptions<TccToNVVMPipelineOptions> {
  PassOptions::Option<std::string> chip{
      *this, "chip", llvm::cl::desc("The chip to compile for, where the program has none: sm_80")};
  PassOptions::Option<std::string> backend{
      *this, "backend", llvm::cl::init("auto"),
      llvm::cl::desc("The instruction family: auto, wmma, mma_sync or wgmma")};
  PassOptions::Option<bool> verifyLevels{
      *this, "verify-levels", llvm::cl::init(true),
      llvm::cl::desc("Check the invariants of each level where it is reached")};
};

/// From the problem (L0, or a hand-written L1 without a target) to llvm and nvvm ops (L5).
void buildTccToNVVMPipeline(OpPassManager &manager, const TccToNVVMPipelineOptions &options);

/// What is left of that pipeline for `module`, by the level that its kernels claim; nothing at L5.
/// An error at a kernel on another level than the one before it.
LogicalResult buildRemainingPipeline(ModuleOp module, OpPassManager &manager,
                                     const TccToNVVMPipelineOptions &options);

/// Registers `tcc-to-nvvm-pipeline`.
void registerPipelines();

} // namespace mlir::tcc

#endif // TCC_PIPELINES_PIPELINES_H
