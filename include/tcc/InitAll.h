//===- InitAll.h - Registration for tcc's tools -----------------*- C++ -*-===//
//
// What every tool of tcc can parse and run. Only what tcc uses is registered: the whole of upstream
// would make the static tools several times larger.
//
//===----------------------------------------------------------------------===//

#ifndef TCC_INITALL_H
#define TCC_INITALL_H

#include "mlir/Conversion/NVVMToLLVM/NVVMToLLVM.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/DLTI/DLTI.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Transforms/Passes.h"
#include "tcc/Conversion/TccToNVVM/TccToNVVM.h"
#include "tcc/Dialect/Tcc/IR/TccDialect.h"
#include "tcc/Dialect/Tcc/Transforms/Passes.h"
#include "tcc/Pipelines/Pipelines.h"

namespace mlir::tcc {

/// Registers every dialect that a level of tcc's IR may use (docs/IR.md).
inline void registerAllDialects(DialectRegistry &registry) {
  registry.insert<affine::AffineDialect, arith::ArithDialect, bufferization::BufferizationDialect,
                  cf::ControlFlowDialect, DLTIDialect, func::FuncDialect, gpu::GPUDialect,
                  LLVM::LLVMDialect, linalg::LinalgDialect, math::MathDialect,
                  memref::MemRefDialect, NVVM::NVVMDialect, scf::SCFDialect, TccDialect,
                  tensor::TensorDialect, ub::UBDialect, vector::VectorDialect>();
}

/// Registers tcc's passes and pipelines, and the upstream passes that they are used with.
inline void registerAllPasses() {
  ::mlir::registerTransformsPasses();
  registerTccTransformsPasses();
  registerTccToNVVMPasses();
  registerPipelines();
  registerLinalgGeneralizeNamedOpsPass();
  registerPass([] { return createConvertNVVMToLLVMPass(); });
  registerPass([] { return createReconcileUnrealizedCastsPass(); });
}

} // namespace mlir::tcc

#endif // TCC_INITALL_H
