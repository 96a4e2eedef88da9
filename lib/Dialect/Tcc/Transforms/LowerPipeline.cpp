//===- LowerPipeline.cpp - Pipelines become groups and barriers -------------------------===//

#include "Barriers.h"
#include "Kernel.h"
#include "LowerTmaPipeline.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/PatternMatch.h"
#include "tcc/Dialect/Tcc/Transforms/Passes.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mlir::tcc {
#define GEN_PASS_DEF_LOWERPIPELINEPASS
#include "tcc/Dialect/Tcc/Transforms/Passes.h.inc"
} // namespace mlir::tcc

using namespace mlir;
using namespace mlir::tcc;

/// True if wgmma reads the buffer that an address is in, or a buffer itself: it goes into a matrix
/// descriptor.
static bool isReadByWgmma(Value address) {
  return llvm::any_of(address.getUsers(), [](Operation *user) {
    return isa<MatrixDescriptorOp>(user) ||
           (isa<SharedAddressOp, LLVM::GEPOp>(user) && isReadByWgmma(user->getResult(0)));
  });
}

namespace {

/// Lowers the ops of pipelines whose roles are uniform: every thread of the block is producer and
/// consumer. A consumer's wait is then a barrier of the block, after which all earlier slots have
/// been released: neither acquire nor release needs an instruction.
class UniformPipelineLowering {
public:
  explicit UniformPipelineLowering(IRRewriter &rewriter) : rewriter(rewriter) {}

  /// consumer_wait {pending = n}
  ///   →  cp.async.wait_group n (cp_async); fence.proxy.async (wgmma); barrier
  void lower(ConsumerWaitOp op) {
    wait(op, op.getPipeline(), op.getPending());
    if (isReadByAsyncProxy(op.getPipeline()))
      NVVM::FenceProxyOp::create(
          rewriter, op.getLoc(), NVVM::ProxyKind::async_shared,
          NVVM::SharedSpaceAttr::get(op.getContext(), NVVM::SharedSpace::shared_cta));
    gpu::BarrierOp::create(rewriter, op.getLoc());
    rewriter.eraseOp(op);
  }

  /// drain  →  cp.async.wait_group 0 (cp_async); barrier (in a loop)
  void lower(DrainOp op) {
    wait(op, op.getPipeline(), /*pending=*/0);
    if (isBlockBarrier(op))
      gpu::BarrierOp::create(rewriter, op.getLoc());
    rewriter.eraseOp(op);
  }

  /// producer_commit  →  cp.async.commit_group (cp_async)
  void lower(ProducerCommitOp op) {
    if (op.getPipeline().getType().getTransport() == Transport::CpAsync)
      NVVM::CpAsyncCommitGroupOp::create(rewriter, op.getLoc());
    rewriter.eraseOp(op);
  }

  void lower(ProducerAcquireOp op) { rewriter.eraseOp(op); }
  void lower(ConsumerReleaseOp op) { rewriter.eraseOp(op); }

  /// advance by n  →  slot + n modulo the stages, and the other phase if it wraps an odd number of
  /// times
  void lowerBy(AdvanceOp op) {
    Location loc = op.getLoc();
    Value stages =
        arith::ConstantIntOp::create(rewriter, loc, op.getPipeline().getType().getStages(), 32);
    // The number of slots to skip is the same in all iterations, the slot isn't: keep the
    // divisions to what can move out of a loop.
    Value laps = arith::DivUIOp::create(rewriter, loc, op.getBy(), stages);
    Value rest = arith::RemUIOp::create(rewriter, loc, op.getBy(), stages);
    Value sum = arith::AddIOp::create(rewriter, loc, op.getSlot(), rest);
    Value wraps = arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::uge, sum, stages);
    Value wrapped = arith::SubIOp::create(rewriter, loc, sum, stages);
    Value slot = arith::SelectOp::create(rewriter, loc, wraps, wrapped, sum);
    Value flip = arith::ExtUIOp::create(rewriter, loc, rewriter.getI32Type(), wraps);
    Value one = arith::ConstantIntOp::create(rewriter, loc, 1, 32);
    Value odd = arith::AndIOp::create(rewriter, loc, laps, one);
    flip = arith::XOrIOp::create(rewriter, loc, flip, odd);
    Value phase = arith::XOrIOp::create(rewriter, loc, op.getPhase(), flip);
    rewriter.replaceOp(op, {slot, phase});
  }

  /// advance  →  slot + 1, or 0 and the other phase after the last slot
  void lower(AdvanceOp op) {
    if (op.getBy())
      return lowerBy(op);
    Location loc = op.getLoc();
    auto constant = [&](int64_t value) {
      return arith::ConstantIntOp::create(rewriter, loc, value, 32).getResult();
    };
    Value next = arith::AddIOp::create(rewriter, loc, op.getSlot(), constant(1));
    Value wraps = arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::eq, next,
                                        constant(op.getPipeline().getType().getStages()));
    Value slot = arith::SelectOp::create(rewriter, loc, wraps, constant(0), next);
    Value flip = arith::ExtUIOp::create(rewriter, loc, rewriter.getI32Type(), wraps);
    Value phase = arith::XOrIOp::create(rewriter, loc, op.getPhase(), flip);
    rewriter.replaceOp(op, {slot, phase});
  }

private:
  void wait(Operation *op, TypedValue<PipelineType> pipeline, int64_t pending) {
    if (pipeline.getType().getTransport() == Transport::CpAsync)
      NVVM::CpAsyncWaitGroupOp::create(rewriter, op->getLoc(), pending);
  }

  /// Threads write in the generic proxy, cp.async too, and wgmma reads in the async proxy: every
  /// writer has to order its writes before the barrier (PTX ISA, "Async proxy").
  bool isReadByAsyncProxy(Value pipeline) {
    auto [known, isNew] = readByAsyncProxy.try_emplace(pipeline, false);
    if (auto create = pipeline.getDefiningOp<CreatePipelineOp>(); isNew && create)
      known->second = llvm::any_of(create.getBuffers(), isReadByWgmma);
    return known->second;
  }

  IRRewriter &rewriter;
  llvm::DenseMap<Value, bool> readByAsyncProxy;
};

} // namespace

static LogicalResult lowerPipelines(func::FuncOp kernel) {
  if (failed(lowerTmaPipelines(kernel)))
    return failure();
  SmallVector<CreatePipelineOp> pipelines;
  SmallVector<Operation *> steps;
  kernel.walk([&](Operation *op) {
    if (auto pipeline = dyn_cast<CreatePipelineOp>(op))
      pipelines.push_back(pipeline);
    else if (isa<ConsumerWaitOp, ConsumerReleaseOp, ProducerAcquireOp, ProducerCommitOp, AdvanceOp,
                 DrainOp>(op))
      steps.push_back(op);
  });
  IRRewriter rewriter(kernel.getContext());
  UniformPipelineLowering lowering(rewriter);
  for (Operation *op : steps) {
    rewriter.setInsertionPoint(op);
    llvm::TypeSwitch<Operation *>(op)
        .Case<ConsumerWaitOp, ConsumerReleaseOp, ProducerAcquireOp, ProducerCommitOp, AdvanceOp,
              DrainOp>([&](auto step) { lowering.lower(step); });
  }
  for (CreatePipelineOp pipeline : pipelines) {
    if (!pipeline->use_empty())
      return pipeline.emitOpError() << "is used by more than the pipeline's steps";
    rewriter.eraseOp(pipeline);
  }
  return success();
}

namespace {

struct LowerPipelinePass : mlir::tcc::impl::LowerPipelinePassBase<LowerPipelinePass> {
  using LowerPipelinePassBase::LowerPipelinePassBase;

  void runOnOperation() override {
    if (failed(transformKernels(getOperation(), getArgument(), Level::L4d, lowerPipelines)))
      signalPassFailure();
  }
};

} // namespace
