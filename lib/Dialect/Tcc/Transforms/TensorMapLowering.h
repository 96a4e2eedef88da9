//===- TensorMapLowering.h - Tensor maps as parameters --------------*- C++ -*-===//

#ifndef TCC_LIB_DIALECT_TCC_TRANSFORMS_TENSORMAPLOWERING_H
#define TCC_LIB_DIALECT_TCC_TRANSFORMS_TENSORMAPLOWERING_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/PatternMatch.h"
#include "tcc/Dialect/Tcc/IR/TccOps.h"

namespace mlir::tcc {

/// Lowers the loads and stores of TMA in a kernel, whose tensor maps become its parameters.
class TensorMapLowering {
public:
  TensorMapLowering(func::FuncOp kernel, RewriterBase &rewriter)
      : kernel(kernel), rewriter(rewriter) {}

  /// `full` is the barrier that counts the bytes.
  LogicalResult lower(TmaLoadOp op, Value full);
  LogicalResult lower(TmaStoreOp op);

  /// Describes all maps in the kernel's attribute, in the order of the parameters. `firstThread`,
  /// which one thread runs before the others start, fetches them if it is given.
  void finish(Block *firstThread);

private:
  /// The kernel's parameter for a tensor map of `box` elements of `matrix`, which `user` accesses.
  FailureOr<Value> getTensorMap(Operation *user, TypedValue<MemRefType> matrix,
                                ArrayRef<int64_t> box, int64_t span, unsigned unitDim);
  /// A box's place as a tensor map has it: the inner dimension first.
  SmallVector<Value> getCoordinates(Location loc, ValueRange offsets, unsigned unitDim);

  func::FuncOp kernel;
  RewriterBase &rewriter;
  SmallVector<std::pair<Attribute, Value>> tensorMaps;
};

} // namespace mlir::tcc

#endif // TCC_LIB_DIALECT_TCC_TRANSFORMS_TENSORMAPLOWERING_H
