//===- LowerTmaPipeline.cpp - Pipelines on mbarriers --------------------------------------===//
//
// A slot has two barriers. `full` counts one arrival, the producer's, and the bytes that TMA
// brings; `empty` counts an arrival of every warp that consumes the slot, in all blocks of the
// cluster that write into this one's. Both sides wait for the phase that their state names: the
// producer for the other one, since all slots start empty (PTX ISA, "Parallel Synchronization and
// Communication Instructions: mbarrier"). Groups of consumers that take turns have one barrier
// each, which counts the warps of the other group; group 0's turn is there from the start.
//
//===--------------------------------------------------------------------------------------===//

#include "LowerTmaPipeline.h"
#include "ClusterPeers.h"
#include "Mbarriers.h"
#include "RoleLowering.h"
#include "SharedLayouts.h"
#include "TensorMapLowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "tcc/Dialect/Tcc/IR/TccTarget.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::tcc;

namespace {

/// The barriers of a pipeline: a buffer of `stages` full ones, then as many empty ones, then those
/// of turns.
class SlotBarriers {
public:
  SlotBarriers(TypedValue<SharedType> barriers, int64_t stages)
      : barriers(barriers), stages(stages) {}

  Value getFull(I32Builder &b, Value slot) const {
    return getPointer(b, b.mul(slot, mbarrierBytes));
  }
  Value getEmpty(I32Builder &b, Value slot) const {
    return getPointer(b, b.add(b.mul(slot, mbarrierBytes), stages * mbarrierBytes));
  }

  Value getTurn(I32Builder &b, Value group) const {
    return getPointer(b, b.add(b.mul(group, mbarrierBytes), 2 * stages * mbarrierBytes));
  }

private:
  Value getPointer(I32Builder &b, Value offset) const { return getMbarrier(b, barriers, offset); }

  TypedValue<SharedType> barriers;
  int64_t stages;
};

class TmaPipelineLowering {
public:
  explicit TmaPipelineLowering(func::FuncOp kernel)
      : kernel(kernel), rewriter(kernel.getContext()),
        schedule(kernel->getAttrOfType<ScheduleAttr>(TccDialect::kScheduleAttr)),
        peers(schedule), tensorMaps(kernel, rewriter) {}

  LogicalResult run();

private:
  LogicalResult findRoles();
  void createBarriers(CreatePipelineOp op);
  LogicalResult lower(Operation *step);
  void lower(ConsumerWaitOp op);
  void lower(ConsumerReleaseOp op);
  void lower(ProducerAcquireOp op);
  void lower(ProducerTailOp op);
  void lower(TurnWaitOp op);
  void lower(TurnPassOp op);
  LogicalResult lower(TmaLoadOp op);
  void testAtEnd(scf::ForOp loop);

  func::FuncOp kernel;
  IRRewriter rewriter;
  ScheduleAttr schedule; // may be null
  ClusterPeers peers;
  WarpSpecializeOp roles;
  std::optional<RoleLowering> roleLowering;
  TensorMapLowering tensorMaps;
  /// What one thread of the block does before all others start.
  Block *firstThread = nullptr;
  llvm::DenseMap<Value, SlotBarriers> barriers;
};

} // namespace

LogicalResult TmaPipelineLowering::findRoles() {
  kernel.walk([&](WarpSpecializeOp op) {
    roles = op;
    return WalkResult::interrupt();
  });
  if (!roles)
    return kernel.emitOpError() << "has a pipeline of transport 'tma' without a "
                                << "tcc.warp_specialize: TMA needs a producer";
  FailureOr<const ::tcc::arch::Chip *> chip = getChip(kernel);
  if (failed(chip))
    return failure();
  roleLowering.emplace(roles, schedule, **chip, rewriter);
  return success();
}

void TmaPipelineLowering::createBarriers(CreatePipelineOp op) {
  I32Builder b(rewriter, op.getLoc());
  int64_t stages = op.getType().getStages(), count = getNumBarriers(op);
  int64_t groupWarps = roles.getGroupThreads() / 32;
  SlotBarriers slots(allocMbarriers(rewriter, op.getLoc(), count), stages);
  barriers.insert({op, slots});

  scf::IfOp branch = createFirstThreadBranch(b);
  firstThread = branch.thenBlock();
  {
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPointToStart(firstThread);
    for (int64_t i = 0; i < stages; ++i) {
      initMbarrier(b, slots.getFull(b, b.constant(i)), 1);
      initMbarrier(b, slots.getEmpty(b, b.constant(i)), groupWarps * peers.size());
    }
    for (int64_t group = 0; group < count - 2 * stages; ++group)
      initMbarrier(b, slots.getTurn(b, b.constant(group)), groupWarps);
    // TMA, too, must see the barriers initialised (PTX ISA, fence.mbarrier_init).
    NVVM::FenceMbarrierInitOp::create(rewriter, op.getLoc());
  }
  peers.meetInitialised(rewriter, op.getLoc());
}

void TmaPipelineLowering::lower(ConsumerWaitOp op) {
  I32Builder b(rewriter, op.getLoc());
  const SlotBarriers &slots = barriers.find(op.getPipeline())->second;
  waitForPhase(b, slots.getFull(b, op.getSlot()), op.getPhase());
}

/// One arrival a warp at every block that writes into the slot: the warp's lanes have all finished
/// reading, the multiplications are waited for.
void TmaPipelineLowering::lower(ConsumerReleaseOp op) {
  Location loc = op.getLoc();
  I32Builder b(rewriter, loc);
  const SlotBarriers &slots = barriers.find(op.getPipeline())->second;
  Value peer = peers.size() > 1 ? peers.getRank(b) : Value();
  auto ifOp = scf::IfOp::create(rewriter, loc, b.less(b.lane(), b.constant(peers.size())));
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointToStart(ifOp.thenBlock());
  Value barrier = slots.getEmpty(b, op.getSlot());
  if (peers.size() == 1) {
    NVVM::MBarrierArriveOp::create(rewriter, loc, rewriter.getI64Type(), barrier,
                                   /*count=*/Value());
    return;
  }
  auto clusterPointer = LLVM::LLVMPointerType::get(rewriter.getContext(), 7);
  Value remote = NVVM::MapaOp::create(rewriter, loc, clusterPointer, barrier, peer);
  NVVM::MBarrierArriveOp::create(rewriter, loc, /*res=*/Type(), remote, /*count=*/Value());
}

/// Group 0's first turn needs nobody to pass it: its barrier's phases are one ahead.
void TmaPipelineLowering::lower(TurnWaitOp op) {
  I32Builder b(rewriter, op.getLoc());
  const SlotBarriers &slots = barriers.find(op.getPipeline())->second;
  Value isFirst = b.bitXor(op.getSlot(), 1);
  waitForPhase(b, slots.getTurn(b, op.getSlot()), b.bitXor(op.getPhase(), isFirst));
}

void TmaPipelineLowering::lower(TurnPassOp op) {
  Location loc = op.getLoc();
  I32Builder b(rewriter, loc);
  const SlotBarriers &slots = barriers.find(op.getPipeline())->second;
  auto ifOp = scf::IfOp::create(rewriter, loc, b.less(b.lane(), b.constant(1)));
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointToStart(ifOp.thenBlock());
  NVVM::MBarrierArriveOp::create(rewriter, loc, rewriter.getI64Type(),
                                 slots.getTurn(b, b.bitXor(op.getSlot(), 1)), /*count=*/Value());
}

void TmaPipelineLowering::lower(ProducerAcquireOp op) {
  I32Builder b(rewriter, op.getLoc());
  const SlotBarriers &slots = barriers.find(op.getPipeline())->second;
  waitForPhase(b, slots.getEmpty(b, op.getSlot()), b.bitXor(op.getPhase(), 1));
  int64_t bytes = 0;
  for (Value buffer : op.getPipeline().getDefiningOp<CreatePipelineOp>().getBuffers())
    bytes += cast<SharedType>(buffer.getType()).getStageBytes();
  NVVM::MBarrierArriveExpectTxOp::create(rewriter, op.getLoc(), rewriter.getI64Type(),
                                         slots.getFull(b, op.getSlot()), b.constant(bytes),
                                         NVVM::MemScopeKind::CTA, /*relaxed=*/false,
                                         /*predicate=*/Value());
}

/// Acquires each slot once more, the next one first.
void TmaPipelineLowering::lower(ProducerTailOp op) {
  Location loc = op.getLoc();
  I32Builder b(rewriter, loc);
  OpBuilder::InsertionGuard guard(rewriter);
  auto loop = scf::ForOp::create(rewriter, loc, b.constant(0),
                                 b.constant(op.getPipeline().getType().getStages()), b.constant(1),
                                 ValueRange{op.getSlot(), op.getPhase()});
  rewriter.setInsertionPointToStart(loop.getBody());
  I32Builder inLoop(rewriter, loc);
  Value slot = loop.getRegionIterArg(0), phase = loop.getRegionIterArg(1);
  const SlotBarriers &slots = barriers.find(op.getPipeline())->second;
  waitForPhase(inLoop, slots.getEmpty(inLoop, slot), inLoop.bitXor(phase, 1));
  auto next = AdvanceOp::create(rewriter, loc, op.getPipeline(), slot, phase);
  scf::YieldOp::create(rewriter, loc, next->getResults());
}

LogicalResult TmaPipelineLowering::lower(TmaLoadOp op) {
  I32Builder b(rewriter, op.getLoc());
  const SlotBarriers &slots = barriers.find(op.getPipeline())->second;
  return tensorMaps.lower(op, slots.getFull(b, op.getSlot()));
}

LogicalResult TmaPipelineLowering::lower(Operation *step) {
  rewriter.setInsertionPoint(step);
  LogicalResult result =
      llvm::TypeSwitch<Operation *, LogicalResult>(step)
          .Case<ConsumerWaitOp, ConsumerReleaseOp, ProducerAcquireOp, ProducerTailOp, TurnWaitOp,
                TurnPassOp>([&](auto op) { return lower(op), success(); })
          .Case<ConsumerGroupOp, GroupBarrierOp, WarpSpecializeOp>(
              [&](auto op) { return roleLowering->lower(op), success(); })
          .Case([&](TmaLoadOp op) { return lower(op); })
          .Case([&](TmaStoreOp op) { return tensorMaps.lower(op); })
          .Default(success()); // producer_commit, drain: the barriers say it
  if (succeeded(result))
    rewriter.eraseOp(step);
  return result;
}

/// scf.for %k = %lower to %upper step %s { … }   →   do { …; %k += %s } while (%k < %upper)
///
/// Where the first test stood, an accumulator would be zero or what unfinished multiplications
/// make: ptxas moves what reads it to the end of either path, and has to serialise them then.
void TmaPipelineLowering::testAtEnd(scf::ForOp loop) {
  Location loc = loop.getLoc();
  rewriter.setInsertionPoint(loop);
  SmallVector<Value> inits = {loop.getLowerBound()};
  llvm::append_range(inits, loop.getInitArgs());
  SmallVector<Type> types(ValueRange(inits).getTypes());
  SmallVector<Location> locations(types.size(), loc);
  auto whileOp = scf::WhileOp::create(rewriter, loc, types, inits);
  Block *before = rewriter.createBlock(&whileOp.getBefore(), {}, types, locations);
  Block *after = rewriter.createBlock(&whileOp.getAfter(), {}, types, locations);
  scf::YieldOp::create(rewriter, loc, after->getArguments());

  auto yield = cast<scf::YieldOp>(loop.getBody()->getTerminator());
  rewriter.mergeBlocks(loop.getBody(), before, before->getArguments());
  rewriter.setInsertionPoint(yield);
  Value k = arith::AddIOp::create(rewriter, loc, before->getArgument(0), loop.getStep());
  Value again = arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::slt, k,
                                      loop.getUpperBound());
  SmallVector<Value> next = {k};
  llvm::append_range(next, yield.getOperands());
  rewriter.replaceOpWithNewOp<scf::ConditionOp>(yield, again, next);
  rewriter.replaceOp(loop, whileOp.getResults().drop_front());
}

/// Barriers are found by the op that makes their pipeline.
static LogicalResult verifyPipelinesAreKnown(func::FuncOp kernel) {
  WalkResult walk = kernel.walk([](Operation *op) -> WalkResult {
    for (Value operand : op->getOperands()) {
      auto type = dyn_cast<PipelineType>(operand.getType());
      if (type && type.getTransport() == Transport::Tma &&
          !operand.getDefiningOp<CreatePipelineOp>())
        return op->emitOpError() << "expects the result of a tcc.create_pipeline for its pipeline "
                                 << "of transport 'tma', found an argument";
    }
    return WalkResult::advance();
  });
  return failure(walk.wasInterrupted());
}

LogicalResult TmaPipelineLowering::run() {
  if (failed(verifyPipelinesAreKnown(kernel)))
    return failure();
  SmallVector<CreatePipelineOp> pipelines;
  SmallVector<Operation *> steps, roleOps, tails;
  SmallVector<scf::ForOp> loops;
  kernel.walk([&](Operation *op) {
    if (auto loop = dyn_cast<scf::ForOp>(op); loop && loop->hasAttr(TccDialect::kNonEmptyAttr))
      loops.push_back(loop);
    if (auto pipeline = dyn_cast<CreatePipelineOp>(op)) {
      if (pipeline.getType().getTransport() == Transport::Tma)
        pipelines.push_back(pipeline);
    } else if (isa<WarpSpecializeOp>(op)) {
      roleOps.push_back(op);
    } else if (isa<ProducerTailOp>(op)) {
      tails.push_back(op);
    } else if (isa<TmaStoreOp, ConsumerGroupOp, GroupBarrierOp>(op)) {
      steps.push_back(op);
    } else if (isa<ConsumerWaitOp, ConsumerReleaseOp, ProducerAcquireOp, ProducerCommitOp, DrainOp,
                   TurnWaitOp, TurnPassOp, TmaLoadOp>(op)) {
      for (Value operand : op->getOperands())
        if (auto type = dyn_cast<PipelineType>(operand.getType());
            type && type.getTransport() == Transport::Tma)
          steps.push_back(op);
    }
  });
  if (pipelines.empty() && roleOps.empty())
    return success();
  if (failed(findRoles()))
    return failure();
  for (CreatePipelineOp pipeline : pipelines) {
    rewriter.setInsertionPointAfter(pipeline);
    createBarriers(pipeline);
  }
  llvm::append_range(steps, roleOps);
  llvm::append_range(steps, tails); // the roles' lowering looks for them
  for (Operation *step : steps)
    if (failed(lower(step)))
      return failure();
  for (scf::ForOp loop : loops)
    testAtEnd(loop);
  tensorMaps.finish(firstThread);
  return success();
}

LogicalResult mlir::tcc::lowerTmaPipelines(func::FuncOp kernel) {
  return TmaPipelineLowering(kernel).run();
}
