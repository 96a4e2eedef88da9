//===- Target.h - Matrix instructions of a kernel's chip --------*- C++ -*-===//

#ifndef TCC_LIB_DIALECT_TCC_TRANSFORMS_TARGET_H
#define TCC_LIB_DIALECT_TCC_TRANSFORMS_TARGET_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "tcc/Dialect/Tcc/IR/TccAttrs.h"
#include "tcc/Dialect/Tcc/IR/TccTarget.h"

namespace mlir::tcc {

/// The family in lib/Arch's terms.
::tcc::arch::MmaFamily toArch(MmaFamily family);

/// The columns of one instruction under `schedule`: wgmma's n is any multiple of its step, and one
/// atom spans what a warpgroup has along it, up to the widest.
int64_t getAtomN(const ::tcc::arch::MmaAtom &atom, ScheduleAttr schedule);

/// The fragment of a matmul's operand under `schedule` on the kernel's chip, for operands of
/// `elementType` and an f32 accumulator. An error at the kernel if the chip has no such atom.
FailureOr<FragmentAttr> getFragment(func::FuncOp kernel, ScheduleAttr schedule, Operand operand,
                                    Type elementType);

} // namespace mlir::tcc

#endif // TCC_LIB_DIALECT_TCC_TRANSFORMS_TARGET_H
