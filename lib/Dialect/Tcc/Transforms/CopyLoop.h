//===- CopyLoop.h - The copies that a pipeline moves ahead ------*- C++ -*-===//

#ifndef TCC_LIB_DIALECT_TCC_TRANSFORMS_COPYLOOP_H
#define TCC_LIB_DIALECT_TCC_TRANSFORMS_COPYLOOP_H

#include "Kernel.h"
#include "mlir/IR/IRMapping.h"

namespace mlir::tcc {

/// The loop over K with the copies of a slab, which depend on nothing in it but the slab's k.
class CopyLoop {
public:
  /// Finds loop and copies; an error where something can't run ahead of the loop.
  static FailureOr<CopyLoop> find(func::FuncOp kernel, ScheduleAttr schedule);

  func::FuncOp kernel;
  ScheduleAttr schedule;
  MatmulLoop program;
  SmallVector<CopyOp> copies;
  /// What the copies fill, in their order.
  SmallVector<Value> buffers;

  /// Rebuilds the copies for the slab that begins at `k`: clones what their offsets are made of,
  /// and calls `build` with each copy and the values that stand for the original ones.
  void rebuild(OpBuilder &builder, Value k,
               function_ref<void(CopyOp copy, const IRMapping &mapping)> build);

  /// Erases the original copies and what only they used.
  void eraseOriginals();

private:
  /// The copies and the ops in the loop that their offsets are made of, in program order.
  SmallVector<Operation *> slice;
};

} // namespace mlir::tcc

#endif // TCC_LIB_DIALECT_TCC_TRANSFORMS_COPYLOOP_H
