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

  /// Gives the buffers the schedule's stages and creates the pipeline that guards them, after them.
  Value createPipeline(OpBuilder &builder);

  /// Rebuilds the copies for the slab that begins at `k`: clones what their offsets are made of,
  /// and calls `build` with each copy and its offsets. `mapping` has values that stand for those
  /// outside the loop.
  void rebuild(OpBuilder &builder, Value k, function_ref<void(CopyOp, ValueRange offsets)> build,
               IRMapping mapping = {});

  /// Issues the copies of the slab at `k` into `slot`.
  void issueCopies(OpBuilder &builder, Value k, Value slot, const IRMapping &mapping = {});

  /// Lets everything in the loop that reads the buffers read `slot`.
  void readFrom(Value slot);

  /// Erases the original copies and what only they used.
  void eraseOriginals();

private:
  /// The copies and the ops in the loop that their offsets are made of, in program order.
  SmallVector<Operation *> slice;
};

} // namespace mlir::tcc

#endif // TCC_LIB_DIALECT_TCC_TRANSFORMS_COPYLOOP_H
