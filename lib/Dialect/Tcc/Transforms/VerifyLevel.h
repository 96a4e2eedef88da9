//===- VerifyLevel.h - The numbered invariants of docs/IR.md ----*- C++ -*-===//
//
// One function for each group of invariants. Each emits an error that ends with the invariant's
// number at the op that breaks it.
//
//===----------------------------------------------------------------------===//

#ifndef TCC_LIB_DIALECT_TCC_TRANSFORMS_VERIFYLEVEL_H
#define TCC_LIB_DIALECT_TCC_TRANSFORMS_VERIFYLEVEL_H

#include "Kernel.h"

namespace mlir::tcc {

/// L0t.1, L0t.2, L0t.4: module, schedule, attributes. They hold from L0t to the last level with
/// `func.func`.
LogicalResult verifyTarget(func::FuncOp kernel);
/// L0t.3: the order of a kernel's variants, for all kernels under `root`.
LogicalResult verifyVariantOrder(Operation *root);
/// L1.1 to L1.6.
LogicalResult verifyTiles(func::FuncOp kernel);
/// L2.1 to L2.4; L2.4's place for buffers is the forall's body up to L3, the kernel's after.
LogicalResult verifyStaging(func::FuncOp kernel, Level level);
/// L3.1, L3.3, L3.4. L3.2 is a remark of tcc-layout-shared.
LogicalResult verifyDistribution(func::FuncOp kernel);
/// L3g.1. L3g.2 is tested by running kernels: no syntax shows it.
LogicalResult verifyGrid(func::FuncOp kernel);
/// L3g.3, up to L4.
LogicalResult verifyShares(func::FuncOp kernel);
/// L4.1 to L4.4.
LogicalResult verifyPipelines(func::FuncOp kernel);
/// L4d.1, L4d.2.
LogicalResult verifyThreads(func::FuncOp kernel);

} // namespace mlir::tcc

#endif // TCC_LIB_DIALECT_TCC_TRANSFORMS_VERIFYLEVEL_H
