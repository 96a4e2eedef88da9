//===- TccDialect.h - The tile-matmul dialect -------------------------------------------===//

#ifndef TCC_DIALECT_TCC_IR_TCCDIALECT_H
#define TCC_DIALECT_TCC_IR_TCCDIALECT_H

#include "mlir/IR/Dialect.h"

#include "tcc/Dialect/Tcc/IR/TccDialect.h.inc"

#endif // TCC_DIALECT_TCC_IR_TCCDIALECT_H
