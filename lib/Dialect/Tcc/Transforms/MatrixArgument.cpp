//===- MatrixArgument.cpp - The argument behind a matrix --------------------------------===//

#include "MatrixArgument.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::tcc;

FailureOr<MatrixArgument> mlir::tcc::findMatrixArgument(Operation *user, Value matrix) {
  if (auto cast = matrix.getDefiningOp<memref::CastOp>())
    return findMatrixArgument(user, cast.getSource());
  if (auto transpose = matrix.getDefiningOp<memref::TransposeOp>()) {
    FailureOr<MatrixArgument> source = findMatrixArgument(user, transpose.getIn());
    if (failed(source))
      return failure();
    MatrixArgument result{source->argument, {}};
    for (AffineExpr expr : transpose.getPermutation().getResults())
      result.dims.push_back(source->dims[cast<AffineDimExpr>(expr).getPosition()]);
    return result;
  }
  auto argument = dyn_cast<BlockArgument>(matrix);
  if (!argument || !isa<FunctionOpInterface>(argument.getOwner()->getParentOp()))
    return user->emitOpError() << "accesses a matrix that is neither an argument of the kernel nor "
                               << "a memref.transpose or memref.cast of one",
           failure();
  MatrixArgument result{argument, {}};
  for (unsigned dim = 0; dim < cast<MemRefType>(argument.getType()).getRank(); ++dim)
    result.dims.push_back(dim);
  return result;
}
