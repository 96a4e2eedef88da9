//===- Wmma.cpp - wmma, from sm_70 on -----------------------------------------===//
//
// NVVM's wmma ops have no bf16 form; the intrinsics do, and are called by name. A bf16 fragment is
// four words of two elements.
//
//===----------------------------------------------------------------------===//

#include "Patterns.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Transforms/DialectConversion.h"
#include "tcc/Dialect/Tcc/IR/TccOps.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mlir::tcc;

static StringRef spellMajor(bool isRowMajor) { return isRowMajor ? "row" : "col"; }

static NVVM::MMALayout getLayout(bool isRowMajor) {
  return isRowMajor ? NVVM::MMALayout::row : NVVM::MMALayout::col;
}

static Value createConstant(OpBuilder &builder, Location loc, int64_t value) {
  return LLVM::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(value));
}

static LLVM::LLVMStructType getStruct(Type member, int64_t count) {
  return LLVM::LLVMStructType::getLiteral(member.getContext(), SmallVector<Type>(count, member));
}

static SmallVector<Value> bitcastAll(OpBuilder &builder, Location loc, ValueRange values,
                                     Type type) {
  return llvm::map_to_vector(values, [&](Value value) -> Value {
    return LLVM::BitcastOp::create(builder, loc, type, value);
  });
}

/// "m16n16k16"
static std::string spellShape(ArrayRef<int64_t> shape) {
  return llvm::formatv("m{0}n{1}k{2}", shape[0], shape[1], shape[2]);
}

namespace {

/// tcc.wmma_load  →  nvvm.wmma.load, or the intrinsic for bf16
struct ConvertWmmaLoad : OpConversionPattern<WmmaLoadOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(WmmaLoadOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Type pair = op.getResult(0).getType();
    Value stride = createConstant(rewriter, loc, op.getStride());
    if (getElementTypeOrSelf(pair).isBF16()) {
      std::string name =
          llvm::formatv("llvm.nvvm.wmma.{0}.load.{1}.{2}.stride.bf16.p3", spellShape(op.getShape()),
                        stringifyOperand(op.getOperand()), spellMajor(op.getRowMajor()));
      Type words = getStruct(rewriter.getI32Type(), op.getNumResults());
      auto load = LLVM::CallIntrinsicOp::create(rewriter, loc, words, rewriter.getStringAttr(name),
                                                ValueRange{adaptor.getSource(), stride});
      rewriter.replaceOp(
          op, bitcastAll(rewriter, loc, unpackStruct(rewriter, loc, load.getResult(0)), pair));
      return success();
    }
    auto fragment = op.getOperand() == Operand::A ? NVVM::MMAFrag::a : NVVM::MMAFrag::b;
    ArrayRef<int64_t> shape = op.getShape();
    Value load = NVVM::WMMALoadOp::create(
        rewriter, loc, getStruct(pair, op.getNumResults()), adaptor.getSource(), stride, shape[0],
        shape[1], shape[2], getLayout(op.getRowMajor()), NVVM::MMATypes::f16, fragment);
    rewriter.replaceOp(op, unpackStruct(rewriter, loc, load));
    return success();
  }
};

/// tcc.mma wmma …  →  nvvm.wmma.mma, or the intrinsic for bf16
struct ConvertWmma : OpConversionPattern<MmaOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(MmaOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    if (op.getFamily() != MmaFamily::Wmma)
      return rewriter.notifyMatchFailure(op, "not wmma");
    Location loc = op.getLoc();
    Type accumulators = getStruct(rewriter.getF32Type(), op->getNumResults());
    ArrayRef<int64_t> shape = op.getShape();
    if (getElementTypeOrSelf(op.getA().front().getType()).isBF16()) {
      std::string name =
          llvm::formatv("llvm.nvvm.wmma.{0}.mma.{1}.{2}.bf16", spellShape(shape),
                        spellMajor(op.getRowMajorA()), spellMajor(op.getRowMajorB()));
      Type word = rewriter.getI32Type();
      SmallVector<Value> operands = bitcastAll(rewriter, loc, adaptor.getA(), word);
      llvm::append_range(operands, bitcastAll(rewriter, loc, adaptor.getB(), word));
      llvm::append_range(operands, adaptor.getC());
      auto mma = LLVM::CallIntrinsicOp::create(rewriter, loc, accumulators,
                                               rewriter.getStringAttr(name), operands);
      rewriter.replaceOp(op, unpackStruct(rewriter, loc, mma.getResult(0)));
      return success();
    }
    SmallVector<Value> operands(adaptor.getA());
    llvm::append_range(operands, adaptor.getB());
    llvm::append_range(operands, adaptor.getC());
    // The op's second element type is the accumulator's.
    Value mma = NVVM::WMMAMmaOp::create(rewriter, loc, accumulators, shape[0], shape[1], shape[2],
                                        getLayout(op.getRowMajorA()), getLayout(op.getRowMajorB()),
                                        NVVM::MMATypes::f16, NVVM::MMATypes::f32, operands);
    rewriter.replaceOp(op, unpackStruct(rewriter, loc, mma));
    return success();
  }
};

/// tcc.wmma_store  →  nvvm.wmma.store
struct ConvertWmmaStore : OpConversionPattern<WmmaStoreOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(WmmaStoreOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    ArrayRef<int64_t> shape = op.getShape();
    Value stride = createConstant(rewriter, op.getLoc(), op.getStride());
    NVVM::WMMAStoreOp::create(rewriter, op.getLoc(), adaptor.getDest(), shape[0], shape[1],
                              shape[2], NVVM::MMALayout::row, NVVM::MMATypes::f32,
                              adaptor.getValues(), stride);
    rewriter.eraseOp(op);
    return success();
  }
};

} // namespace

void mlir::tcc::populateWmmaPatterns(const LLVMTypeConverter &converter,
                                     RewritePatternSet &patterns) {
  patterns.add<ConvertWmma, ConvertWmmaLoad, ConvertWmmaStore>(converter, patterns.getContext());
}
