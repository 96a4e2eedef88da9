//===- KernelMetadata.h - A kernel's description for the launcher -------------*- C++ -*-===//

#ifndef TCC_LIB_DIALECT_TCC_TRANSFORMS_KERNELMETADATA_H
#define TCC_LIB_DIALECT_TCC_TRANSFORMS_KERNELMETADATA_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <string>

namespace mlir::tcc {

/// The JSON object that heads the kernel's PTX (tcc/Metadata/Kernel.h), from its `tcc.*`
/// attributes, the types of its memref arguments and its atoms. An error at the kernel if an
/// attribute is missing or doesn't read.
FailureOr<std::string> buildMetadata(func::FuncOp kernel);

} // namespace mlir::tcc

#endif // TCC_LIB_DIALECT_TCC_TRANSFORMS_KERNELMETADATA_H
