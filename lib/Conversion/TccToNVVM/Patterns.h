//===- Patterns.h - Patterns of convert-tcc-to-nvvm -----------------*- C++ -*-===//

#ifndef TCC_LIB_CONVERSION_TCCTONVVM_PATTERNS_H
#define TCC_LIB_CONVERSION_TCCTONVVM_PATTERNS_H

#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::tcc {

/// tcc.mma of mma.sync.
void populateMmaSyncPatterns(const LLVMTypeConverter &converter, RewritePatternSet &patterns);
/// tcc.mma of wmma, tcc.wmma_load, tcc.wmma_store.
void populateWmmaPatterns(const LLVMTypeConverter &converter, RewritePatternSet &patterns);

/// tcc.matrix_descriptor, tcc.wgmma, tcc.wgmma_wait.
void populateWgmmaPatterns(const LLVMTypeConverter &converter, RewritePatternSet &patterns);

/// Replaces functions of `math` that no instruction computes by arithmetic. An error at one that
/// has no expansion: it would become a call to a library that isn't there.
LogicalResult expandMath(func::FuncOp kernel);

/// The members of an LLVM struct, one by one.
SmallVector<Value> unpackStruct(OpBuilder &builder, Location loc, Value structure);

} // namespace mlir::tcc

#endif // TCC_LIB_CONVERSION_TCCTONVVM_PATTERNS_H
