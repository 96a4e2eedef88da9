//===- TccOps.cpp - Generated definitions of tcc ops ------------------------------------===//

#include "tcc/Dialect/Tcc/IR/TccOps.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/OpImplementation.h"

using namespace mlir;
using namespace mlir::tcc;

#define GET_OP_CLASSES
#include "tcc/Dialect/Tcc/IR/TccOps.cpp.inc"
