//===- TccEnums.h - Enumerations of the tcc dialect -------------------------------------===//

#ifndef TCC_DIALECT_TCC_IR_TCCENUMS_H
#define TCC_DIALECT_TCC_IR_TCCENUMS_H

#include "mlir/IR/OpImplementation.h"

#include "tcc/Dialect/Tcc/IR/TccEnums.h.inc"

#endif // TCC_DIALECT_TCC_IR_TCCENUMS_H
