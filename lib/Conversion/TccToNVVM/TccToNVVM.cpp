//===- TccToNVVM.cpp - From a thread's program to NVVM (L4d -> L5) ------------===//

#include "tcc/Conversion/TccToNVVM/TccToNVVM.h"
#include "Patterns.h"

#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/UBToLLVM/UBToLLVM.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVM.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Transforms/DialectConversion.h"
#include "tcc/Dialect/Tcc/IR/TccOps.h"

namespace mlir::tcc {
#define GEN_PASS_DEF_CONVERTTCCTONVVMPASS
#include "tcc/Conversion/TccToNVVM/Passes.h.inc"
} // namespace mlir::tcc

using namespace mlir;
using namespace mlir::tcc;

SmallVector<Value> mlir::tcc::unpackStruct(OpBuilder &builder, Location loc, Value structure) {
  SmallVector<Value> members;
  size_t count = cast<LLVM::LLVMStructType>(structure.getType()).getBody().size();
  for (size_t i = 0; i < count; ++i)
    members.push_back(LLVM::ExtractValueOp::create(builder, loc, structure, i));
  return members;
}

namespace {

/// func.func {tcc.block = 256}  →  llvm.func {nvvm.kernel, nvvm.reqntid = array<i32: 256>}
struct ConvertKernel : OpConversionPattern<func::FuncOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(func::FuncOp op, OpAdaptor,
                                ConversionPatternRewriter &rewriter) const override {
    auto threads = op->getAttrOfType<IntegerAttr>(TccDialect::kBlockAttr);
    if (!threads)
      return rewriter.notifyMatchFailure(op, "no number of threads");
    auto type =
        LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(getContext()), op.getArgumentTypes());
    auto function = LLVM::LLVMFuncOp::create(rewriter, op.getLoc(), op.getName(), type);
    auto setAttr = [&](StringRef name, Attribute value) { function->setAttr(name, value); };
    setAttr(NVVM::NVVMDialect::getKernelFuncAttrName(), rewriter.getUnitAttr());
    setAttr(NVVM::NVVMDialect::getReqntidAttrName(),
            rewriter.getDenseI32ArrayAttr({static_cast<int32_t>(threads.getInt())}));
    // Without it ptxas may limit registers for more blocks than shared memory lets in.
    setAttr(NVVM::NVVMDialect::getMinctasmAttrName(), rewriter.getI32IntegerAttr(1));
    setAttr(TccDialect::kLevelAttr, rewriter.getStringAttr("L5"));
    if (Attribute metadata = op->getAttr(TccDialect::kMetadataAttr))
      setAttr(TccDialect::kMetadataAttr, metadata);
    if (ArrayAttr attributes = op.getArgAttrsAttr())
      function.setArgAttrsAttr(attributes);
    if (auto schedule = op->getAttrOfType<ScheduleAttr>(TccDialect::kScheduleAttr)) {
      // Blocks of a cluster lie along x.
      int32_t blocks = schedule.getClusterBlocks();
      if (blocks > 1)
        function->setAttr(NVVM::NVVMDialect::getClusterDimAttrName(),
                          rewriter.getDenseI32ArrayAttr({blocks, 1, 1}));
    }
    // Tensor maps are read where they are, in the parameters; no thread gets a copy.
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      if (function.getArgAttr(i, LLVM::LLVMDialect::getByValAttrName()))
        function.setArgAttr(i, NVVM::NVVMDialect::getGridConstantAttrName(),
                            rewriter.getUnitAttr());
    rewriter.inlineRegionBefore(op.getBody(), function.getBody(), function.end());
    if (failed(rewriter.convertRegionTypes(&function.getBody(), *getTypeConverter())))
      return rewriter.notifyMatchFailure(op, "a block has an argument that LLVM can't have");
    rewriter.eraseOp(op);
    return success();
  }
};

struct ConvertReturn : OpConversionPattern<func::ReturnOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(func::ReturnOp op, OpAdaptor,
                                ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<LLVM::ReturnOp>(op, ValueRange());
    return success();
  }
};

struct ConvertBarrier : OpConversionPattern<gpu::BarrierOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(gpu::BarrierOp op, OpAdaptor,
                                ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<NVVM::BarrierOp>(op);
    return success();
  }
};

/// gpu.thread_id x  →  nvvm.read.ptx.sreg.tid.x, as a 64-bit index
template <typename OpT, typename XOp, typename YOp, typename ZOp>
struct ConvertId : OpConversionPattern<OpT> {
  using OpConversionPattern<OpT>::OpConversionPattern;

  LogicalResult matchAndRewrite(OpT op, typename OpT::Adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Type i32 = rewriter.getI32Type();
    Value id;
    switch (op.getDimension()) {
    case gpu::Dimension::x:
      id = XOp::create(rewriter, op.getLoc(), i32);
      break;
    case gpu::Dimension::y:
      id = YOp::create(rewriter, op.getLoc(), i32);
      break;
    case gpu::Dimension::z:
      id = ZOp::create(rewriter, op.getLoc(), i32);
      break;
    }
    // PTX ISA, "Special Registers": all of these are below 2^31.
    Type index = this->getTypeConverter()->convertType(op.getType());
    rewriter.replaceOpWithNewOp<LLVM::ZExtOp>(op, index, id);
    return success();
  }
};

} // namespace

/// Ops that earlier passes should have lowered; naming the pass beats "failed to legalize".
static LogicalResult verifyFinalized(func::FuncOp kernel) {
  auto level = kernel->getAttrOfType<StringAttr>(TccDialect::kLevelAttr);
  if (!level || level.getValue() != "L4d")
    return kernel.emitError() << "convert-tcc-to-nvvm expects a kernel on level L4d, found "
                              << (level ? level.getValue() : "L0");
  if (!kernel->hasAttr(TccDialect::kBlockAttr))
    return kernel.emitError() << "expects the number of threads, '" << TccDialect::kBlockAttr
                              << "'; tcc-map-grid sets it";
  for (Type type : kernel.getArgumentTypes())
    if (!LLVM::isCompatibleType(type))
      return kernel.emitError() << "has an argument of type " << type
                                << ", which is no parameter; run tcc-finalize-kernel first";
  auto walk = kernel.walk([](Operation *op) -> WalkResult {
    if (!isa<TccDialect>(op->getDialect()) ||
        isa<MmaOp, WmmaLoadOp, WmmaStoreOp, MatrixDescriptorOp, WgmmaOp, WgmmaFenceOp,
            WgmmaWaitOp>(op))
      return WalkResult::advance();
    return op->emitOpError() << "is not a thread's op; run tcc-distribute, tcc-lower-pipeline and "
                             << "tcc-finalize-kernel first";
  });
  return failure(walk.wasInterrupted());
}

/// The ops are folded before; and a conversion that fails ends the compilation, so that nothing is
/// kept to undo it with.
static ConversionConfig getConversionConfig() {
  ConversionConfig config;
  config.allowPatternRollback = false;
  config.foldingMode = DialectConversionFoldingMode::Never;
  return config;
}

/// scf to blocks, and the divisions of arith that LLVM lacks to those it has.
static LogicalResult lowerStructure(func::FuncOp kernel) {
  RewritePatternSet patterns(kernel.getContext());
  populateSCFToControlFlowConversionPatterns(patterns);
  arith::populateCeilFloorDivExpandOpsPatterns(patterns);
  ConversionTarget target(*kernel.getContext());
  target.addIllegalDialect<scf::SCFDialect>();
  target.addIllegalOp<arith::CeilDivSIOp, arith::CeilDivUIOp, arith::FloorDivSIOp>();
  target.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
  return applyPartialConversion(kernel, target, std::move(patterns), getConversionConfig());
}

static LogicalResult convertToNVVM(func::FuncOp kernel) {
  MLIRContext *context = kernel.getContext();
  LowerToLLVMOptions options(context);
  options.overrideIndexBitwidth(64);
  LLVMTypeConverter converter(context, options);

  RewritePatternSet patterns(context);
  arith::populateArithToLLVMConversionPatterns(converter, patterns);
  cf::populateControlFlowToLLVMConversionPatterns(converter, patterns);
  populateMathToLLVMConversionPatterns(converter, patterns);
  populateVectorToLLVMConversionPatterns(converter, patterns);
  ub::populateUBToLLVMConversionPatterns(converter, patterns);
  patterns.add<ConvertKernel, ConvertReturn, ConvertBarrier,
               ConvertId<gpu::ThreadIdOp, NVVM::ThreadIdXOp, NVVM::ThreadIdYOp, NVVM::ThreadIdZOp>,
               ConvertId<gpu::BlockIdOp, NVVM::BlockIdXOp, NVVM::BlockIdYOp, NVVM::BlockIdZOp>,
               ConvertId<gpu::ClusterBlockIdOp, NVVM::BlockInClusterIdXOp,
                         NVVM::BlockInClusterIdYOp, NVVM::BlockInClusterIdZOp>,
               ConvertId<gpu::GridDimOp, NVVM::GridDimXOp, NVVM::GridDimYOp, NVVM::GridDimZOp>>(
      converter, context);
  populateMmaSyncPatterns(converter, patterns);
  populateWmmaPatterns(converter, patterns);
  populateWgmmaPatterns(converter, patterns);

  ConversionTarget target(*context);
  target.addLegalDialect<LLVM::LLVMDialect, NVVM::NVVMDialect>();
  return applyFullConversion(kernel, target, std::move(patterns), getConversionConfig());
}

namespace {

struct ConvertTccToNVVMPass : mlir::tcc::impl::ConvertTccToNVVMPassBase<ConvertTccToNVVMPass> {
  using ConvertTccToNVVMPassBase::ConvertTccToNVVMPassBase;

  void runOnOperation() override {
    SmallVector<func::FuncOp> kernels;
    getOperation()->walk([&](func::FuncOp function) {
      if (!function.isDeclaration())
        kernels.push_back(function);
    });
    for (func::FuncOp kernel : kernels)
      if (failed(verifyFinalized(kernel)) || failed(expandMath(kernel)) ||
          failed(lowerStructure(kernel)) || failed(convertToNVVM(kernel)))
        return signalPassFailure();
  }
};

} // namespace
