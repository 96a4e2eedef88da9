//===- TccToNVVM.h - From a thread's program to NVVM ------------*- C++ -*-===//

#ifndef TCC_CONVERSION_TCCTONVVM_TCCTONVVM_H
#define TCC_CONVERSION_TCCTONVVM_TCCTONVVM_H

#include "mlir/Pass/Pass.h"

namespace mlir::tcc {

#define GEN_PASS_DECL
#include "tcc/Conversion/TccToNVVM/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "tcc/Conversion/TccToNVVM/Passes.h.inc"

} // namespace mlir::tcc

#endif // TCC_CONVERSION_TCCTONVVM_TCCTONVVM_H
