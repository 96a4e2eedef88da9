//===- MmaSync.cpp - mma.sync, from sm_80 on ----------------------------------===//

#include "Patterns.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Transforms/DialectConversion.h"
#include "tcc/Dialect/Tcc/IR/TccOps.h"

using namespace mlir;
using namespace mlir::tcc;

namespace {

/// tcc.mma mma_sync [16, 8, 16] …  →  nvvm.mma.sync
struct ConvertMmaSync : OpConversionPattern<MmaOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(MmaOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    if (op.getFamily() != MmaFamily::MmaSync)
      return rewriter.notifyMatchFailure(op, "not mma.sync");
    Location loc = op.getLoc();
    bool isBF16 = getElementTypeOrSelf(adaptor.getA().front().getType()).isBF16();
    // The intrinsics take f16 pairs as vectors and bf16 pairs as words.
    auto spellOperands = [&](ValueRange registers) {
      return llvm::map_to_vector(registers, [&](Value value) -> Value {
        if (!isBF16)
          return value;
        return LLVM::BitcastOp::create(rewriter, loc, rewriter.getI32Type(), value);
      });
    };
    auto type = isBF16 ? NVVM::MMATypes::bf16 : NVVM::MMATypes::f16;
    auto results = LLVM::LLVMStructType::getLiteral(
        getContext(), SmallVector<Type>(op->getNumResults(), rewriter.getF32Type()));
    // PTX ISA, mma: .row.col is the only form of m16n8k16.
    Value mma = NVVM::MmaOp::create(
        rewriter, loc, results, spellOperands(adaptor.getA()), spellOperands(adaptor.getB()),
        adaptor.getC(), op.getShape(), std::nullopt, std::nullopt,
        std::array<NVVM::MMATypes, 2>{type, type},
        std::array<NVVM::MMALayout, 2>{NVVM::MMALayout::row, NVVM::MMALayout::col});
    rewriter.replaceOp(op, unpackStruct(rewriter, loc, mma));
    return success();
  }
};

} // namespace

void mlir::tcc::populateMmaSyncPatterns(const LLVMTypeConverter &converter,
                                        RewritePatternSet &patterns) {
  patterns.add<ConvertMmaSync>(converter, patterns.getContext());
}
