//===- Wgmma.cpp - wgmma, on sm_90a -------------------------------------------===//

#include "Patterns.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Transforms/DialectConversion.h"
#include "tcc/Dialect/Tcc/IR/TccOps.h"
#include "tcc/Support/MatrixDescriptor.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::tcc;

/// The registers as one struct.
static Value packStruct(OpBuilder &builder, Location loc, ValueRange members) {
  auto type =
      LLVM::LLVMStructType::getLiteral(builder.getContext(), SmallVector<Type>(members.getTypes()));
  Value structure = LLVM::UndefOp::create(builder, loc, type);
  for (auto [i, member] : llvm::enumerate(members))
    structure = LLVM::InsertValueOp::create(builder, loc, structure, member, i);
  return structure;
}

namespace {

/// tcc.matrix_descriptor %p  →  constant fields | (address & 0x3ffff) >> 4
struct ConvertMatrixDescriptor : OpConversionPattern<MatrixDescriptorOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(MatrixDescriptorOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    int64_t span = op.getSpan() == 0 ? 16 : op.getSpan();
    ::tcc::support::MatrixDescriptor fields{static_cast<int64_t>(op.getLeading()),
                                            static_cast<int64_t>(op.getStride()), span};
    Type i32 = rewriter.getI32Type(), i64 = rewriter.getI64Type();
    auto constant = [&](Type type, int64_t value) -> Value {
      return LLVM::ConstantOp::create(rewriter, loc, type, rewriter.getIntegerAttr(type, value));
    };
    Value address = LLVM::PtrToIntOp::create(rewriter, loc, i32, adaptor.getSource());
    address = LLVM::AndOp::create(rewriter, loc, address, constant(i32, 0x3ffff));
    address = LLVM::LShrOp::create(rewriter, loc, address, constant(i32, 4));
    Value start = LLVM::ZExtOp::create(rewriter, loc, i64, address);
    rewriter.replaceOpWithNewOp<LLVM::OrOp>(op, start,
                                            constant(i64, static_cast<int64_t>(fields.encode())));
    return success();
  }
};

/// tcc.wgmma  →  nvvm.wgmma.mma_async
struct ConvertWgmma : OpConversionPattern<WgmmaOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(WgmmaOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value acc = packStruct(rewriter, loc, adaptor.getAcc());
    auto type = op.getElementType().isBF16() ? NVVM::WGMMATypes::bf16 : NVVM::WGMMATypes::f16;
    auto getLayout = [](bool isRowMajor) {
      return isRowMajor ? NVVM::MMALayout::row : NVVM::MMALayout::col;
    };
    ArrayRef<int64_t> shape = op.getShape();
    Value result = NVVM::WgmmaMmaAsyncOp::create(
        rewriter, loc, acc.getType(), acc, adaptor.getA(), adaptor.getB(),
        NVVM::MMAShapeAttr::get(getContext(), shape[0], shape[1], shape[2]), type, type,
        NVVM::WGMMATypes::f32, NVVM::WGMMAScaleOut::one, NVVM::WGMMAScaleIn::one,
        NVVM::WGMMAScaleIn::one, getLayout(op.getRowMajorA()), getLayout(op.getRowMajorB()),
        /*satfinite=*/nullptr);
    rewriter.replaceOp(op, unpackStruct(rewriter, loc, result));
    return success();
  }
};

/// `instruction`, to which the accumulators are tied: nvvm's ops have no operands, and so nothing
/// that would keep their uses on the right side of it.
SmallVector<Value> tieAccumulators(ConversionPatternRewriter &rewriter, Location loc,
                                   ValueRange acc, const std::string &instruction) {
  SmallVector<std::string> constraints(acc.size(), "=f");
  for (size_t i = 0; i < acc.size(); ++i)
    constraints.push_back(std::to_string(i));
  constraints.push_back("~{memory}");
  auto results = LLVM::LLVMStructType::getLiteral(
      rewriter.getContext(), SmallVector<Type>(acc.size(), rewriter.getF32Type()));
  auto tied = LLVM::InlineAsmOp::create(
      rewriter, loc, results, acc, instruction, llvm::join(constraints, ","),
      /*has_side_effects=*/true, /*is_align_stack=*/false, LLVM::TailCallKind::None,
      LLVM::AsmDialectAttr(), /*operand_attrs=*/ArrayAttr());
  return unpackStruct(rewriter, loc, tied.getResult(0));
}

/// tcc.wgmma_fence (%c…)  →  wgmma.fence
struct ConvertWgmmaFence : OpConversionPattern<WgmmaFenceOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(WgmmaFenceOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOp(op, tieAccumulators(rewriter, op.getLoc(), adaptor.getAcc(),
                                           "wgmma.fence.sync.aligned;"));
    return success();
  }
};

/// tcc.wgmma_wait n (%c…)  →  wgmma.wait_group n
struct ConvertWgmmaWait : OpConversionPattern<WgmmaWaitOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(WgmmaWaitOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOp(op, tieAccumulators(rewriter, op.getLoc(), adaptor.getAcc(),
                                           "wgmma.wait_group.sync.aligned " +
                                               std::to_string(op.getPending()) + ";"));
    return success();
  }
};

} // namespace

void mlir::tcc::populateWgmmaPatterns(const LLVMTypeConverter &converter,
                                      RewritePatternSet &patterns) {
  patterns.add<ConvertMatrixDescriptor, ConvertWgmma, ConvertWgmmaFence, ConvertWgmmaWait>(
      converter, patterns.getContext());
}
