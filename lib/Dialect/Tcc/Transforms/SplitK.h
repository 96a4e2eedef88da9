//===- SplitK.h - Blocks of a cluster divide a tile's K -----------*- C++ -*-===//

#ifndef TCC_LIB_DIALECT_TCC_TRANSFORMS_SPLITK_H
#define TCC_LIB_DIALECT_TCC_TRANSFORMS_SPLITK_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::tcc {

/// Divides the slabs of the kernel's loop over K between the `blocks` blocks of a cluster, by rank,
/// and the slices of the accumulator after it: a tcc.cluster_reduce adds up their parts. The tile's
/// ops stand in the kernel's body.
LogicalResult splitK(func::FuncOp kernel, int64_t blocks);

} // namespace mlir::tcc

#endif // TCC_LIB_DIALECT_TCC_TRANSFORMS_SPLITK_H
