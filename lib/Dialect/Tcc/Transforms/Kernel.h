//===- Kernel.h - What every pass on kernels needs --------------*- C++ -*-===//
//
// The level that a kernel claims to be on, its schedule and chip, and the loop that multiplies.
//
//===----------------------------------------------------------------------===//

#ifndef TCC_LIB_DIALECT_TCC_TRANSFORMS_KERNEL_H
#define TCC_LIB_DIALECT_TCC_TRANSFORMS_KERNEL_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "tcc/Dialect/Tcc/IR/TccOps.h"

namespace mlir::tcc {

/// The levels of docs/IR.md, in order. L0 is the absence of `tcc.level`.
enum class Level { L0, L0t, L1, L2, L3, L3g, L4, L4d, L5 };

/// "L3g".
StringRef stringifyLevel(Level level);

/// The level that `kernel` claims; an error at the kernel if there is no such level.
FailureOr<Level> getLevel(func::FuncOp kernel);
void setLevel(func::FuncOp kernel, Level level);

/// The kernel's schedule; an error at the kernel if it has none.
FailureOr<ScheduleAttr> getSchedule(func::FuncOp kernel);

/// Calls `transform` on every kernel under `root` (declarations aside), after checking that all of
/// them are on level `expected`. `pass` names the caller in the error.
LogicalResult transformKernels(Operation *root, StringRef pass, Level expected,
                               function_ref<LogicalResult(func::FuncOp)> transform);

/// The loop over K and the matmuls in it: one, or after tcc-split-slabs one for each step.
struct MatmulLoop {
  scf::ForOp loop;
  SmallVector<MatmulOp> matmuls;
  /// Which iteration argument and result is the accumulator.
  unsigned accIndex;

  OpResult getResult() { return loop->getResult(accIndex); }
};

/// The kernel's one loop with matmuls; an error if there is none, or not one (L1.3).
FailureOr<MatmulLoop> findMatmulLoop(func::FuncOp kernel);

/// The strides of a matrix that has some, kDynamic for those that aren't known. MLIR knows none of
/// a row-major matrix without columns, whose rows are 0 elements apart.
SmallVector<int64_t> getStrides(MemRefType matrix);

/// The dimension along which neighbours are adjacent in memory, the last one if several are;
/// none if no stride is statically 1.
std::optional<unsigned> getUnitStrideDim(MemRefType matrix);

/// The same for a matrix that `user` accesses; an error at `user` if there is none (L0.2).
FailureOr<unsigned> requireUnitStrideDim(Operation *user, MemRefType matrix);

/// An error at an op of arith that rounds otherwise than to nearest even: no pass looks at it.
LogicalResult checkRounding(Operation *op);

/// Bytes of an element of an integer or floating-point type.
int64_t getElementBytes(Type elementType);

} // namespace mlir::tcc

#endif // TCC_LIB_DIALECT_TCC_TRANSFORMS_KERNEL_H
