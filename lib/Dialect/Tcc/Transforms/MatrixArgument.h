//===- MatrixArgument.h - The argument behind a matrix ------------------------*- C++ -*-===//

#ifndef TCC_LIB_DIALECT_TCC_TRANSFORMS_MATRIXARGUMENT_H
#define TCC_LIB_DIALECT_TCC_TRANSFORMS_MATRIXARGUMENT_H

#include "mlir/IR/Value.h"
#include "mlir/Support/LLVM.h"

namespace mlir::tcc {

/// A kernel's argument, seen through transposes and casts.
struct MatrixArgument {
  BlockArgument argument;
  /// Dimension d of the matrix is dimension dims[d] of the argument.
  SmallVector<unsigned, 2> dims;
};

/// What `matrix` is a memref.transpose or memref.cast of; an error at `user` if it is anything else
/// than an argument.
FailureOr<MatrixArgument> findMatrixArgument(Operation *user, Value matrix);

} // namespace mlir::tcc

#endif // TCC_LIB_DIALECT_TCC_TRANSFORMS_MATRIXARGUMENT_H
