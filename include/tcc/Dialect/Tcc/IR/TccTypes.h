//===- TccTypes.h - Types of the tcc dialect --------------------------------------------===//

#ifndef TCC_DIALECT_TCC_IR_TCCTYPES_H
#define TCC_DIALECT_TCC_IR_TCCTYPES_H

#include "mlir/IR/BuiltinTypes.h"
#include "tcc/Dialect/Tcc/IR/TccAttrs.h"

#define GET_TYPEDEF_CLASSES
#include "tcc/Dialect/Tcc/IR/TccTypes.h.inc"

namespace mlir::tcc {

/// True for `!llvm.ptr<space>`: 1 is global memory, 3 shared memory of the block.
bool isPointerInSpace(Type type, unsigned space);

} // namespace mlir::tcc

#endif // TCC_DIALECT_TCC_IR_TCCTYPES_H
