//===- UniformPipeline.h - Every warp copies and multiplies -----*- C++ -*-===//

#ifndef TCC_LIB_DIALECT_TCC_TRANSFORMS_UNIFORMPIPELINE_H
#define TCC_LIB_DIALECT_TCC_TRANSFORMS_UNIFORMPIPELINE_H

#include "CopyLoop.h"

namespace mlir::tcc {

/// Lets the copies of `program` run ahead of its loop, all roles in one (`cp_async`, `register`).
LogicalResult buildUniformPipeline(CopyLoop program);

} // namespace mlir::tcc

#endif // TCC_LIB_DIALECT_TCC_TRANSFORMS_UNIFORMPIPELINE_H
