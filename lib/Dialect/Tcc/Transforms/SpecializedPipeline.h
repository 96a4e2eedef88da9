//===- SpecializedPipeline.h - A producer and its consumers -----*- C++ -*-===//

#ifndef TCC_LIB_DIALECT_TCC_TRANSFORMS_SPECIALIZEDPIPELINE_H
#define TCC_LIB_DIALECT_TCC_TRANSFORMS_SPECIALIZEDPIPELINE_H

#include "CopyLoop.h"

namespace mlir::tcc {

/// Splits the kernel into a producer that copies and consumers that multiply and store
/// (`roles = cooperative`, transport `tma`).
LogicalResult buildSpecializedPipeline(CopyLoop program);

} // namespace mlir::tcc

#endif // TCC_LIB_DIALECT_TCC_TRANSFORMS_SPECIALIZEDPIPELINE_H
