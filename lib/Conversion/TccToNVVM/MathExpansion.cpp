//===- MathExpansion.cpp - Functions without a library ------------------------===//

#include "Patterns.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Transforms/DialectConversion.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "tcc/Dialect/Tcc/IR/TccTarget.h"

using namespace mlir;
using namespace mlir::tcc;
namespace arch = ::tcc::arch;

/// True for what NVPTX computes by an instruction or a short exact sequence.
static bool isInstruction(Operation *op) {
  return isa<math::AbsFOp, math::AbsIOp, math::CeilOp, math::CopySignOp, math::CountLeadingZerosOp,
             math::CtPopOp, math::FloorOp, math::FmaOp, math::RoundEvenOp, math::RsqrtOp,
             math::SqrtOp, math::TruncOp, math::Exp2Op, math::ClampFOp>(op);
}

namespace {

/// math.exp %x fastmath<afn>  →  math.exp2 (%x * log2(e)): one multiplication and ex2.approx
struct ApproximateExp : OpRewritePattern<math::ExpOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(math::ExpOp op, PatternRewriter &rewriter) const override {
    if (!bitEnumContainsAll(op.getFastmath(), arith::FastMathFlags::afn))
      return rewriter.notifyMatchFailure(op, "approximation is not allowed");
    if (!getElementTypeOrSelf(op.getType()).isF32())
      return rewriter.notifyMatchFailure(op, "not f32");
    TypedAttr log2e = rewriter.getF32FloatAttr(1.44269504f);
    if (auto vector = dyn_cast<VectorType>(op.getType()))
      log2e = DenseElementsAttr::get(vector, Attribute(log2e));
    Value factor = arith::ConstantOp::create(rewriter, op.getLoc(), log2e);
    Value scaled = arith::MulFOp::create(rewriter, op.getLoc(), op.getOperand(), factor);
    rewriter.replaceOpWithNewOp<math::Exp2Op>(op, scaled);
    return success();
  }
};

/// math.tanh %x fastmath<afn>  →  llvm.intr.tanh %x afn, which NVPTX spells tanh.approx.f32
struct ApproximateTanh : OpRewritePattern<math::TanhOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(math::TanhOp op, PatternRewriter &rewriter) const override {
    if (!bitEnumContainsAll(op.getFastmath(), arith::FastMathFlags::afn))
      return rewriter.notifyMatchFailure(op, "approximation is not allowed");
    if (!getElementTypeOrSelf(op.getType()).isF32())
      return rewriter.notifyMatchFailure(op, "not f32");
    rewriter.replaceOpWithNewOp<LLVM::TanhOp>(op, op.getType(), op.getOperand(),
                                              LLVM::FastmathFlags::afn);
    return success();
  }
};

} // namespace

LogicalResult mlir::tcc::expandMath(func::FuncOp kernel) {
  auto hasFunctions = [&] {
    return kernel
        .walk([](Operation *op) {
          bool isFunction = isa<math::MathDialect>(op->getDialect()) && !isInstruction(op);
          return isFunction ? WalkResult::interrupt() : WalkResult::advance();
        })
        .wasInterrupted();
  };
  if (!hasFunctions())
    return success();
  // Everything is computed in f32, f16 and bf16 too. Some functions become others first.
  RewritePatternSet patterns(kernel.getContext());
  patterns.add<ApproximateExp>(kernel.getContext(), /*benefit=*/2);
  // A kernel may be converted before its chip is known.
  if (const arch::Chip *chip = findChip(kernel); chip && chip->has(arch::Feature::TanhApprox))
    patterns.add<ApproximateTanh>(kernel.getContext(), /*benefit=*/2);
  math::populateExpansionPatterns(patterns, {"powf", "fpowi", "tan", "sinh", "cosh"});
  populateMathF32ExpansionPatterns(patterns, [](StringRef) { return true; });
  populateMathPolynomialApproximationPatterns(patterns, [](StringRef) { return true; });
  if (failed(applyPatternsGreedily(kernel, std::move(patterns))))
    return failure();
  auto walk = kernel.walk([](Operation *op) -> WalkResult {
    if (!isa<math::MathDialect>(op->getDialect()) || isInstruction(op))
      return WalkResult::advance();
    return op->emitOpError() << "has no expansion for " << op->getResult(0).getType()
                             << ", and a kernel can't call a library";
  });
  return failure(walk.wasInterrupted());
}
