//===- TccOps.td - All ops of the tcc dialect --------------------*- tablegen -*-===//

#ifndef TCC_DIALECT_TCC_IR_TCCOPS_TD
#define TCC_DIALECT_TCC_IR_TCCOPS_TD

include "tcc/Dialect/Tcc/IR/TccTileOps.td"
include "tcc/Dialect/Tcc/IR/TccPipelineOps.td"
include "tcc/Dialect/Tcc/IR/TccThreadOps.td"

#endif // TCC_DIALECT_TCC_IR_TCCOPS_TD
