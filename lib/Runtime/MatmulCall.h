//===- MatmulCall.h - A program that is one plain matmul --------*- C++ -*-===//

#ifndef TCC_LIB_RUNTIME_MATMULCALL_H
#define TCC_LIB_RUNTIME_MATMULCALL_H

#include "tcc/Runtime/Device.h"

namespace tcc::runtime {

/// What a library would be asked for to get the program's output. Fails where the reference is more
/// than one matmul of two matrices, a conversion, and what cublasLt has an epilogue for.
llvm::Expected<MatmulCall> describeMatmul(const Kernel &kernel, const Problem &problem,
                                          const SymbolTable &symbols);

} // namespace tcc::runtime

#endif // TCC_LIB_RUNTIME_MATMULCALL_H
