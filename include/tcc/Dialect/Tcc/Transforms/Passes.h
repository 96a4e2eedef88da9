//===- Passes.h - Passes from level to level of a kernel --------*- C++ -*-===//
//
// Each pass is described in Passes.td, with IR before and after; docs/IR.md has the levels.
//
//===----------------------------------------------------------------------===//

#ifndef TCC_DIALECT_TCC_TRANSFORMS_PASSES_H
#define TCC_DIALECT_TCC_TRANSFORMS_PASSES_H

#include "mlir/Pass/Pass.h"

namespace mlir::tcc {

#define GEN_PASS_DECL
#include "tcc/Dialect/Tcc/Transforms/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "tcc/Dialect/Tcc/Transforms/Passes.h.inc"

} // namespace mlir::tcc

#endif // TCC_DIALECT_TCC_TRANSFORMS_PASSES_H
