//===- TccTarget.h - The chip that a kernel is for --------------*- C++ -*-===//

#ifndef TCC_DIALECT_TCC_IR_TCCTARGET_H
#define TCC_DIALECT_TCC_IR_TCCTARGET_H

#include "mlir/IR/Operation.h"
#include "tcc/Arch/Chip.h"

namespace mlir::tcc {

/// The chip of the gpu.module around `kernel`; an error at the kernel if it is not in one, or at
/// the module if that hasn't exactly one #nvvm.target whose chip is known (L0t.1).
FailureOr<const ::tcc::arch::Chip *> getChip(Operation *kernel);

/// The same; null where there is no such chip.
const ::tcc::arch::Chip *findChip(Operation *kernel);

} // namespace mlir::tcc

#endif // TCC_DIALECT_TCC_IR_TCCTARGET_H
