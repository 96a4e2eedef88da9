//===- TccAttrs.h - Attributes of the tcc dialect ---------------------------------------===//
//
// The schedule, layouts of shared buffers, and distributions of tiles over threads. Shapes are
// in elements, rows first.
//
//===------------------------------------------------------------------------------------===//

#ifndef TCC_DIALECT_TCC_IR_TCCATTRS_H
#define TCC_DIALECT_TCC_IR_TCCATTRS_H

#include "mlir/IR/Attributes.h"
#include "mlir/IR/TensorEncoding.h"
#include "tcc/Dialect/Tcc/IR/TccEnums.h"
#include "tcc/Dialect/Tcc/IR/TccScheduleFields.h"

#define GET_ATTRDEF_CLASSES
#include "tcc/Dialect/Tcc/IR/TccAttrs.h.inc"

namespace mlir::tcc {

/// True if `encoding` says how a tile is spread over threads: fragment, blocked or slice.
bool isDistribution(Attribute encoding);

} // namespace mlir::tcc

#endif // TCC_DIALECT_TCC_IR_TCCATTRS_H
