//===- VerifyLevelPipeline.cpp - Invariants of L3g, L4 and L4d ------------===//

#include "Barriers.h"
#include "SharedLayouts.h"
#include "Target.h"
#include "VerifyLevel.h"

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "tcc/Dialect/Tcc/IR/TccDialect.h"

using namespace mlir;
using namespace mlir::tcc;

//===----------------------------------------------------------------------===//
// L3g
//===----------------------------------------------------------------------===//

/// L3g.3: blocks that divide K add up what they have, once, and the loop's result is used by that
/// alone.
LogicalResult mlir::tcc::verifyShares(func::FuncOp kernel) {
  FailureOr<ScheduleAttr> schedule = getSchedule(kernel);
  if (failed(schedule))
    return failure();
  SmallVector<ClusterReduceOp> sums;
  kernel.walk([&](ClusterReduceOp sum) { sums.push_back(sum); });
  int64_t blocks = schedule->getSplitK();
  if (sums.size() != (blocks > 1 ? 1 : 0))
    return kernel.emitError() << "with split_k = " << blocks << " expects "
                              << (blocks > 1 ? "one tcc.cluster_reduce" : "no tcc.cluster_reduce")
                              << ", found " << sums.size() << " (L3g.3)";
  if (sums.empty())
    return success();
  ClusterReduceOp sum = sums.front();
  if (static_cast<int64_t>(sum.getShares().size()) != blocks)
    return sum.emitOpError() << "expects a region for each of split_k = " << blocks
                             << " blocks, found " << sum.getShares().size() << " (L3g.3)";
  FailureOr<MatmulLoop> program = findMatmulLoop(kernel);
  if (failed(program))
    return failure();
  Value acc = program->getResult();
  while (acc.hasOneUse() && isa<MatmulWaitOp>(*acc.user_begin()))
    acc = acc.user_begin()->getResult(0);
  for (Operation *user : acc.getUsers())
    if (user != sum)
      return user->emitOpError() << "uses one block's part of the sum: expects the argument of a "
                                    "region of tcc.cluster_reduce (L3g.3)";
  if (sum.getAcc() == acc)
    return success();
  return sum.emitOpError() << "expects the result of the loop over K (L3g.3)";
}

LogicalResult mlir::tcc::verifyGrid(func::FuncOp kernel) {
  for (StringRef name : {TccDialect::kGridAttr, TccDialect::kBlockAttr})
    if (!kernel->hasAttr(name))
      return kernel.emitError() << "expects the attribute '" << name << "' (L3g.1)";
  WalkResult walk = kernel.walk([](scf::ForallOp forall) -> WalkResult {
    return forall.emitOpError() << "has no place after tcc-map-grid (L3g.1)";
  });
  return failure(walk.wasInterrupted());
}

//===----------------------------------------------------------------------===//
// L4
//===----------------------------------------------------------------------===//

/// The pipeline that guards a buffer; null if none does.
static Value getPipeline(Value buffer) {
  for (Operation *user : buffer.getUsers())
    if (auto create = dyn_cast<CreatePipelineOp>(user))
      return create.getResult();
  return {};
}

/// True if a step of kind `StepT` on this slot stands in the access's block, before it or after it,
/// with no step of kind `EndT` on the slot in between.
template <typename StepT, typename EndT>
static bool hasStep(Operation *access, Value pipeline, Value slot, bool isBefore) {
  auto next = [&](Operation *op) { return isBefore ? op->getPrevNode() : op->getNextNode(); };
  for (Operation *op = next(access); op; op = next(op)) {
    if (auto step = dyn_cast<StepT>(op))
      if (step.getPipeline() == pipeline && step.getSlot() == slot)
        return true;
    if (auto end = dyn_cast<EndT>(op))
      if (end.getPipeline() == pipeline && end.getSlot() == slot)
        return false;
  }
  return false;
}

/// True if the loop around the access carries its slot to the next iteration, where it is released,
/// as it is after the loop: what a matmul with 'pending' needs.
static bool isReleasedLate(Operation *access, Value pipeline, Value slot) {
  auto loop = dyn_cast<scf::ForOp>(access->getParentOp());
  if (!loop)
    return false;
  auto isReleased = [&](Value carried) {
    return llvm::any_of(carried.getUsers(), [&](Operation *user) {
      auto release = dyn_cast<ConsumerReleaseOp>(user);
      return release && release.getPipeline() == pipeline && release.getSlot() == carried;
    });
  };
  for (auto [yielded, carried, result] :
       llvm::zip(loop.getYieldedValues(), loop.getRegionIterArgs(), loop.getResults()))
    if (yielded == slot && isReleased(carried) && isReleased(result))
      return true;
  return false;
}

/// L4.1: a slot is written between acquire and commit, read between wait and release.
static LogicalResult verifyAccess(Operation *access, Value buffer, Value slot, bool isWrite) {
  Value pipeline = getPipeline(buffer);
  if (!pipeline)
    return success();
  if (isWrite) {
    if (!hasStep<ProducerAcquireOp, ProducerCommitOp>(access, pipeline, slot, /*isBefore=*/true))
      return access->emitOpError() << "expects a tcc.producer_acquire of its slot before it (L4.1)";
    if (!hasStep<ProducerCommitOp, ProducerAcquireOp>(access, pipeline, slot, /*isBefore=*/false))
      return access->emitOpError() << "expects a tcc.producer_commit of its slot after it (L4.1)";
    return success();
  }
  if (!hasStep<ConsumerWaitOp, ConsumerReleaseOp>(access, pipeline, slot, /*isBefore=*/true))
    return access->emitOpError() << "expects a tcc.consumer_wait for its slot before it (L4.1)";
  if (auto matmul = dyn_cast<MatmulOp>(access); matmul && matmul.getPending()) {
    if (isReleasedLate(access, pipeline, slot))
      return success();
    return access->emitOpError() << "is pending: expects the loop to carry its slot to a "
                                    "tcc.consumer_release in the next iteration and to one after "
                                    "the loop (L4.1)";
  }
  if (!hasStep<ConsumerReleaseOp, ConsumerWaitOp>(access, pipeline, slot, /*isBefore=*/false))
    return access->emitOpError() << "expects a tcc.consumer_release of its slot after it (L4.1)";
  return success();
}

/// L4.1: what blocks exchange lies in slots that nobody reads any more, and no copy goes to.
static LogicalResult verifyExchange(ClusterReduceOp sum) {
  for (Value buffer : sum.getBuffers())
    if (Value pipeline = getPipeline(buffer))
      for (Operation *user : pipeline.getUsers()) {
        if (!isa<ConsumerWaitOp>(user))
          continue;
        Operation *reader = sum->getBlock()->findAncestorOpInBlock(*user);
        if (!reader || !reader->isBeforeInBlock(sum))
          return sum.emitOpError() << "expects to stand after the loop that reads the slots of its "
                                      "buffers, in the consumers' block (L4.1)";
      }
  return success();
}

static LogicalResult verifySlots(func::FuncOp kernel) {
  WalkResult walk = kernel.walk([](Operation *op) -> WalkResult {
    if (auto sum = dyn_cast<ClusterReduceOp>(op))
      return verifyExchange(sum);
    if (auto copy = dyn_cast<CopyOp>(op))
      return verifyAccess(op, copy.getDest(), copy.getSlot(), /*isWrite=*/true);
    if (auto store = dyn_cast<LocalStoreOp>(op))
      return verifyAccess(op, store.getDest(), store.getSlot(), /*isWrite=*/true);
    if (auto load = dyn_cast<LocalLoadOp>(op))
      return verifyAccess(op, load.getSource(), load.getSlot(), /*isWrite=*/false);
    if (auto matmul = dyn_cast<MatmulOp>(op))
      for (Value operand : {matmul.getLhs(), matmul.getRhs()})
        if (isa<SharedType>(operand.getType()) &&
            failed(verifyAccess(op, operand, matmul.getSlot(), /*isWrite=*/false)))
          return WalkResult::interrupt();
    return WalkResult::advance();
  });
  return failure(walk.wasInterrupted());
}

/// L4.2: the attribute is right, and the chip has as much.
static LogicalResult verifySharedBytes(func::FuncOp kernel) {
  FailureOr<const ::tcc::arch::Chip *> chip = getChip(kernel);
  if (failed(chip))
    return failure();
  auto attribute = kernel->getAttrOfType<IntegerAttr>(TccDialect::kSharedBytesAttr);
  int64_t bytes = planSharedMemory(kernel).totalBytes;
  if (!attribute || attribute.getInt() != bytes)
    return kernel.emitError() << "expects " << TccDialect::kSharedBytesAttr << " = " << bytes
                              << ", the size of its buffers (L4.2)";
  int64_t limit = (*chip)->limits().sharedBytesPerBlock;
  if (bytes > limit)
    return kernel.emitError() << "needs " << bytes << " bytes of shared memory, but "
                              << (*chip)->name() << " has " << limit << " for a block (L4.2)";
  return success();
}

/// L4.3: an atom on registers takes its own k at once.
static LogicalResult verifyMatmulSteps(func::FuncOp kernel) {
  WalkResult walk = kernel.walk([](MatmulOp matmul) -> WalkResult {
    auto lhs = dyn_cast<RankedTensorType>(matmul.getLhs().getType());
    auto fragment = dyn_cast_or_null<FragmentAttr>(matmul.getAcc().getType().getEncoding());
    if (!lhs || !fragment || lhs.getDimSize(1) == fragment.getShape()[2])
      return WalkResult::advance();
    return matmul.emitOpError() << "expects the atom's k of " << fragment.getShape()[2]
                                << ", found a K of " << lhs.getDimSize(1)
                                << ": run tcc-split-slabs (L4.3)";
  });
  return failure(walk.wasInterrupted());
}

/// L4.5: peers arrive at a block's barriers as long as they have slots to give back.
static LogicalResult verifyTail(func::FuncOp kernel) {
  FailureOr<ScheduleAttr> schedule = getSchedule(kernel);
  if (failed(schedule))
    return failure();
  if (schedule->getClusterM() * schedule->getClusterN() == 1)
    return success();
  WalkResult walk = kernel.walk([](WarpSpecializeOp roles) -> WalkResult {
    Block &producer = roles.getProducer().front();
    if (isa_and_nonnull<ProducerTailOp>(producer.getTerminator()->getPrevNode()))
      return WalkResult::advance();
    return roles.emitOpError() << "expects tcc.producer_tail as the last op of its producer, whose "
                                  "block is in a cluster (L4.5)";
  });
  return failure(walk.wasInterrupted());
}

LogicalResult mlir::tcc::verifyPipelines(func::FuncOp kernel) {
  if (failed(verifySlots(kernel)) || failed(verifySharedBytes(kernel)) ||
      failed(verifyMatmulSteps(kernel)) || failed(verifyTail(kernel)))
    return failure();
  return findBarrierConflicts(kernel, [](BarrierConflict conflict) -> FailureOr<bool> {
    InFlightDiagnostic error = conflict.access->emitOpError() << "expects ";
    if (conflict.withBulkStore)
      error << "a tcc.bulk_wait and ";
    if (conflict.isBulkStore)
      error << "an nvvm.fence.proxy of kind 'async.shared' and ";
    error << "a ";
    return error << (conflict.isInRole ? "tcc.group_barrier" : "gpu.barrier")
                 << " between this access and one before it to the same buffer (L4.4)";
  });
}

//===----------------------------------------------------------------------===//
// L4d
//===----------------------------------------------------------------------===//

/// True if the value differs between the threads of a warp: it is made from a thread number.
static bool isThreadDependent(Value value) {
  auto isThreadNumber = [](Operation *op) {
    return isa_and_nonnull<gpu::ThreadIdOp, gpu::LaneIdOp, NVVM::ThreadIdXOp, NVVM::LaneIdOp>(op);
  };
  SetVector<Operation *> slice;
  BackwardSliceOptions options;
  options.inclusive = true;
  options.omitBlockArguments = true;
  if (value.getDefiningOp() && failed(getBackwardSlice(value, &slice, options)))
    return true;
  return llvm::any_of(slice, isThreadNumber);
}

LogicalResult mlir::tcc::verifyThreads(func::FuncOp kernel) {
  WalkResult walk = kernel.walk([](Operation *op) -> WalkResult {
    for (Type type : op->getResultTypes())
      if (isa<RankedTensorType>(type))
        return op->emitOpError() << "makes a tile, which tcc-distribute should have turned into "
                                    "registers (L4d.1)";
    if (!isa<MmaOp, WmmaLoadOp, WmmaStoreOp, NVVM::LdMatrixOp>(op))
      return WalkResult::advance();
    for (auto branch = op->getParentOfType<scf::IfOp>(); branch;
         branch = branch->getParentOfType<scf::IfOp>())
      if (isThreadDependent(branch.getCondition())) {
        InFlightDiagnostic error = op->emitOpError()
                                   << "is done by the whole warp and can't stand where threads of "
                                      "a warp part ways (L4d.2)";
        error.attachNote(branch.getLoc()) << "this condition depends on the thread";
        return error;
      }
    return WalkResult::advance();
  });
  return failure(walk.wasInterrupted());
}
