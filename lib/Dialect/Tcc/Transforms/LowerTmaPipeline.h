//===- LowerTmaPipeline.h - Pipelines on mbarriers, and roles -----------------*- C++ -*-===//

#ifndef TCC_LIB_DIALECT_TCC_TRANSFORMS_LOWERTMAPIPELINE_H
#define TCC_LIB_DIALECT_TCC_TRANSFORMS_LOWERTMAPIPELINE_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::tcc {

/// Lowers all pipelines of transport `tma` in the kernel, the loads that they count, and
/// tcc.warp_specialize. Tensor maps become parameters of the kernel, described by the attribute
/// `tcc.tensor_maps` in order.
LogicalResult lowerTmaPipelines(func::FuncOp kernel);

} // namespace mlir::tcc

#endif // TCC_LIB_DIALECT_TCC_TRANSFORMS_LOWERTMAPIPELINE_H
