//===- LowerTmaPipeline.h - Pipelines on mbarriers, and roles -----------------*- C++ -*-===//

#ifndef TCC_LIB_DIALECT_TCC_TRANSFORMS_LOWERTMAPIPELINE_H
#define TCC_LIB_DIALECT_TCC_TRANSFORMS_LOWERTMAPIPELINE_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::tcc {

/// Of a kernel: its tensor maps, in the order of their parameters, as the header describes them
/// (tcc/Metadata/Kernel.h, TensorMap).
inline constexpr llvm::StringLiteral kTensorMapsAttr = "tcc.tensor_maps";

/// Of a loop: it runs at least once. tcc-lower-pipeline then tests at its end alone.
inline constexpr llvm::StringLiteral kNonEmptyAttr = "tcc.non_empty";

/// Lowers all pipelines of transport `tma` in the kernel, the loads that they count, and
/// tcc.warp_specialize. Tensor maps become parameters of the kernel, described by the attribute
/// `tcc.tensor_maps` in order.
LogicalResult lowerTmaPipelines(func::FuncOp kernel);

} // namespace mlir::tcc

#endif // TCC_LIB_DIALECT_TCC_TRANSFORMS_LOWERTMAPIPELINE_H
