//===- TranslateToPTX.h - From NVVM to PTX text -----------------*- C++ -*-===//
//
// The last step of the compiler: a module at level L5 (llvm and nvvm ops, docs/IR.md) becomes PTX
// text in this process, without ptxas and without files in between.
//
//===----------------------------------------------------------------------===//

#ifndef TCC_TARGET_PTX_TRANSLATETOPTX_H
#define TCC_TARGET_PTX_TRANSLATETOPTX_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Support/LLVM.h"
#include "mlir/Support/Timing.h"
#include <string>

namespace mlir::tcc {

/// Discardable attribute of a kernel: its metadata as JSON text (tcc/Metadata/Kernel.h), which the
/// PTX carries as its header.
inline constexpr llvm::StringLiteral kMetadataAttr = "tcc.metadata";

struct PTXOptions {
  /// "sm_80". Where the gpu.module has a target, it must agree; where it has none, it is the
  /// target.
  std::string chip;
  /// The `.version` of the PTX as major * 10 + minor. 0 is the lowest that has every instruction
  /// used, so that the oldest driver possible accepts it.
  unsigned ptxVersion = 0;
  /// The text is the LLVM IR that code generation starts from, not PTX.
  bool emitLLVM = false;
  /// Where the time of each step is added, if anywhere.
  TimingScope *timing = nullptr;
};

/// Translates the kernels of `module`: of its one gpu.module, or of the module itself where it has
/// none. Uses the module up: clone it first if it is still needed. Emits errors at the operations
/// that cause them: an unknown or contradicted chip, an op that isn't L5, an instruction that the
/// chip or the asked-for PTX version lacks, a call to a function that nothing defines, metadata
/// that doesn't read.
FailureOr<std::string> translateToPTX(ModuleOp module, const PTXOptions &options);

} // namespace mlir::tcc

#endif // TCC_TARGET_PTX_TRANSLATETOPTX_H
