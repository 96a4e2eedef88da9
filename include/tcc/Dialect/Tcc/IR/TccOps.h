//===- TccOps.h - Ops of the tcc dialect ------------------------------------------------===//

#ifndef TCC_DIALECT_TCC_IR_TCCOPS_H
#define TCC_DIALECT_TCC_IR_TCCOPS_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "tcc/Dialect/Tcc/IR/TccDialect.h"
#include "tcc/Dialect/Tcc/IR/TccTypes.h"

#define GET_OP_CLASSES
#include "tcc/Dialect/Tcc/IR/TccOps.h.inc"

#endif // TCC_DIALECT_TCC_IR_TCCOPS_H
