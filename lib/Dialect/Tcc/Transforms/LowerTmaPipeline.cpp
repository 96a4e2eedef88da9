//===- LowerTmaPipeline.cpp - Pipelines on mbarriers, and roles -------------------------===//
//
// A slot has two barriers. `full` counts one arrival, the producer's, and the bytes that TMA
// brings; `empty` counts an arrival of every warp that consumes the slot, in all blocks of the
// cluster that write into this one's. Both sides wait for the phase that their state names: the
// producer for the other one, since all slots start empty (PTX ISA, "Parallel Synchronization and
// Communication Instructions: mbarrier"). Groups of consumers that take turns have one barrier each,
// which counts the warps of the other group; group 0's turn is there from the start.
//
//===------------------------------------------------------------------------------------===//

#include "LowerTmaPipeline.h"
#include "Kernel.h"
#include "MatrixArgument.h"
#include "ScheduleLegality.h"
#include "SharedLayouts.h"
#include "TileDistribution.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/PatternMatch.h"
#include "tcc/Dialect/Tcc/IR/TccOps.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::tcc;

static constexpr int64_t barrierBytes = 8;
static constexpr int64_t threadsPerWarpgroup = 128;

namespace {

/// The barriers of a pipeline: a buffer of `stages` full ones, then as many empty ones, then those
/// of turns.
class SlotBarriers {
public:
  SlotBarriers(TypedValue<SharedType> barriers, int64_t stages)
      : barriers(barriers), stages(stages) {}

  Value getFull(I32Builder &b, Value slot) const {
    return getPointer(b, b.mul(slot, barrierBytes));
  }
  Value getEmpty(I32Builder &b, Value slot) const {
    return getPointer(b, b.add(b.mul(slot, barrierBytes), stages * barrierBytes));
  }

  Value getTurn(I32Builder &b, Value group) const {
    return getPointer(b, b.add(b.mul(group, barrierBytes), 2 * stages * barrierBytes));
  }

private:
  Value getPointer(I32Builder &b, Value offset) const {
    auto type = LLVM::LLVMPointerType::get(b.builder.getContext(), 3);
    return SharedAddressOp::create(b.builder, b.loc, type, barriers, /*slot=*/Value(), offset);
  }

  TypedValue<SharedType> barriers;
  int64_t stages;
};

class TmaPipelineLowering {
public:
  explicit TmaPipelineLowering(func::FuncOp kernel)
      : kernel(kernel), rewriter(kernel.getContext()) {}

  LogicalResult run();

private:
  LogicalResult findRoles();
  void createBarriers(CreatePipelineOp op);
  LogicalResult lower(Operation *step);
  void lower(ConsumerWaitOp op);
  void lower(ConsumerReleaseOp op);
  void lower(ProducerAcquireOp op);
  void lower(TurnWaitOp op);
  void lower(TurnPassOp op);
  void lower(ConsumerGroupOp op);
  void lower(GroupBarrierOp op);
  LogicalResult lower(TmaLoadOp op);
  LogicalResult lower(TmaStoreOp op);
  void lower(WarpSpecializeOp op);

  /// The kernel's parameter for a tensor map of `box` elements of `matrix`, which `user` accesses.
  FailureOr<Value> getTensorMap(Operation *user, TypedValue<MemRefType> matrix,
                                ArrayRef<int64_t> box, int64_t span, unsigned unitDim);
  /// A box's place as a tensor map has it: the inner dimension first.
  SmallVector<Value> getCoordinates(Location loc, ValueRange offsets, unsigned unitDim);
  void waitForPhase(I32Builder &b, Value barrier, Value phase);
  void testAtEnd(scf::ForOp loop);
  void synchroniseCluster(Location loc, bool isConverged);
  Value getPeer(I32Builder &b);
  Value getGroup(I32Builder &b);
  void moveRole(Region &role);
  void waitForGridAhead(Operation *roles);
  void followReduction(Operation *producer);

  func::FuncOp kernel;
  IRRewriter rewriter;
  WarpSpecializeOp roles;
  /// What one thread of the block does before all others start.
  Block *firstThread = nullptr;
  int64_t clusterM = 1, clusterN = 1;
  bool isDependentLaunch = false;
  /// The consumers meet those of the cluster's other blocks in a tcc.cluster_reduce.
  bool isSplitK = false;
  /// Blocks of the cluster that write into a block's slots, itself included.
  int64_t peers = 1;
  llvm::DenseMap<Value, SlotBarriers> barriers;
  SmallVector<std::pair<Attribute, Value>> tensorMaps;
};

} // namespace

LogicalResult TmaPipelineLowering::findRoles() {
  kernel.walk([&](WarpSpecializeOp op) {
    roles = op;
    return WalkResult::interrupt();
  });
  if (auto schedule = kernel->getAttrOfType<ScheduleAttr>(TccDialect::kScheduleAttr)) {
    clusterM = schedule.getClusterM();
    clusterN = schedule.getClusterN();
    peers = clusterM + clusterN - 1;
    isDependentLaunch = schedule.getDependentLaunch();
    isSplitK = schedule.getSplitK() > 1;
  }
  WalkResult turns = kernel.walk([](Operation *op) -> WalkResult {
    if (!isa<TurnWaitOp, TurnPassOp>(op) || op->getParentOfType<WarpSpecializeOp>())
      return WalkResult::advance();
    return op->emitOpError() << "is a consumer group's: expects to stand in a tcc.warp_specialize";
  });
  if (turns.wasInterrupted())
    return failure();
  if (roles)
    return success();
  return kernel.emitOpError() << "has a pipeline of transport 'tma' without a tcc.warp_specialize: "
                              << "TMA needs a producer";
}

void TmaPipelineLowering::createBarriers(CreatePipelineOp op) {
  MLIRContext *context = kernel.getContext();
  I32Builder b(rewriter, op.getLoc());
  int64_t stages = op.getType().getStages();
  auto layout = SharedLayoutAttr::get(context, /*contiguous=*/1, /*span=*/0, /*pad=*/0);
  int64_t count = getNumBarriers(op);
  auto type = SharedType::get(context, {1, count}, rewriter.getI64Type(), 1, layout);
  int64_t groupWarps = roles.getGroupThreads() / 32;
  SlotBarriers slots(AllocSharedOp::create(rewriter, op.getLoc(), type), stages);
  barriers.insert({op, slots});

  Value isFirst = arith::CmpIOp::create(rewriter, op.getLoc(), arith::CmpIPredicate::eq,
                                        b.threadId(), b.constant(0));
  auto ifOp = scf::IfOp::create(rewriter, op.getLoc(), isFirst);
  {
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPointToStart(ifOp.thenBlock());
    firstThread = ifOp.thenBlock();
    auto init = [&](Value barrier, int64_t arrivals) {
      NVVM::MBarrierInitOp::create(rewriter, op.getLoc(), barrier, b.constant(arrivals),
                                   /*predicate=*/Value());
    };
    for (int64_t i = 0; i < stages; ++i) {
      init(slots.getFull(b, b.constant(i)), 1);
      init(slots.getEmpty(b, b.constant(i)), groupWarps * peers);
    }
    for (int64_t group = 0; group < count - 2 * stages; ++group)
      init(slots.getTurn(b, b.constant(group)), groupWarps);
    // TMA, too, must see the barriers initialised (PTX ISA, fence.mbarrier_init).
    NVVM::FenceMbarrierInitOp::create(rewriter, op.getLoc());
  }
  synchroniseCluster(op.getLoc(), /*isConverged=*/true);
}

/// A barrier of the cluster, or of the block if it is alone.
void TmaPipelineLowering::synchroniseCluster(Location loc, bool isConverged) {
  if (peers == 1) {
    gpu::BarrierOp::create(rewriter, loc);
    return;
  }
  UnitAttr aligned = isConverged ? rewriter.getUnitAttr() : UnitAttr();
  NVVM::ClusterArriveOp::create(rewriter, loc, aligned);
  NVVM::ClusterWaitOp::create(rewriter, loc, aligned);
}

/// while (!try_wait(barrier, phase)) {}
void TmaPipelineLowering::waitForPhase(I32Builder &b, Value barrier, Value phase) {
  OpBuilder::InsertionGuard guard(rewriter);
  auto loop = scf::WhileOp::create(rewriter, b.loc, TypeRange(), ValueRange());
  rewriter.createBlock(&loop.getBefore());
  Value done = NVVM::MBarrierTryWaitOp::create(rewriter, b.loc, rewriter.getI1Type(), barrier,
                                               phase, /*ticks=*/Value());
  Value again = arith::XOrIOp::create(rewriter, b.loc, done,
                                      arith::ConstantIntOp::create(rewriter, b.loc, 1, 1));
  scf::ConditionOp::create(rewriter, b.loc, again, ValueRange());
  rewriter.createBlock(&loop.getAfter());
  scf::YieldOp::create(rewriter, b.loc);
}

void TmaPipelineLowering::lower(ConsumerWaitOp op) {
  I32Builder b(rewriter, op.getLoc());
  const SlotBarriers &slots = barriers.find(op.getPipeline())->second;
  waitForPhase(b, slots.getFull(b, op.getSlot()), op.getPhase());
}

/// The rank of the block that lane i < peers gives a slot back to: those with the same rows of A
/// (i < clusterN), then those with the same columns of B but this block.
Value TmaPipelineLowering::getPeer(I32Builder &b) {
  // The register, and not the thread's number, from which LLVM would know in the branch that takes
  // the first lanes that the bound is idle, drop it, and then let all lanes compute: a block that
  // isn't there must not be named.
  Value lane = NVVM::LaneIdOp::create(rewriter, b.loc, rewriter.getI32Type());
  lane = b.min(lane, b.constant(peers - 1));
  if (clusterM == 1 || clusterN == 1)
    return lane;
  Value rank = NVVM::BlockInClusterIdXOp::create(rewriter, b.loc, rewriter.getI32Type());
  Value rankM = b.rem(rank, clusterM), rankN = b.div(rank, clusterM);
  Value inRow = b.add(b.mul(lane, clusterM), rankM);
  Value other = b.sub(lane, b.constant(clusterN));
  Value isBehind = arith::CmpIOp::create(rewriter, b.loc, arith::CmpIPredicate::sge, other, rankM);
  Value skip = arith::ExtUIOp::create(rewriter, b.loc, rewriter.getI32Type(), isBehind);
  Value inColumn = b.add(b.add(other, skip), b.mul(rankN, clusterM));
  return arith::SelectOp::create(rewriter, b.loc, b.less(lane, b.constant(clusterN)), inRow,
                                 inColumn);
}

/// One arrival a warp at every block that writes into the slot: the warp's lanes have all finished
/// reading, the multiplications are waited for.
void TmaPipelineLowering::lower(ConsumerReleaseOp op) {
  Location loc = op.getLoc();
  I32Builder b(rewriter, loc);
  const SlotBarriers &slots = barriers.find(op.getPipeline())->second;
  Value peer = peers > 1 ? getPeer(b) : Value();
  auto ifOp = scf::IfOp::create(rewriter, loc, b.less(b.lane(), b.constant(peers)));
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointToStart(ifOp.thenBlock());
  Value barrier = slots.getEmpty(b, op.getSlot());
  if (peers == 1) {
    NVVM::MBarrierArriveOp::create(rewriter, loc, rewriter.getI64Type(), barrier,
                                   /*count=*/Value());
    return;
  }
  auto clusterPointer = LLVM::LLVMPointerType::get(rewriter.getContext(), 7);
  Value remote = NVVM::MapaOp::create(rewriter, loc, clusterPointer, barrier, peer);
  NVVM::MBarrierArriveOp::create(rewriter, loc, /*res=*/Type(), remote, /*count=*/Value());
}

/// The consumer group that runs.
Value TmaPipelineLowering::getGroup(I32Builder &b) {
  Value index = gpu::ThreadIdOp::create(rewriter, b.loc, gpu::Dimension::x);
  Value thread = arith::IndexCastOp::create(rewriter, b.loc, rewriter.getI32Type(), index);
  if (roles.getGroups() == 1)
    return b.constant(0);
  return b.div(thread, roles.getGroupThreads());
}

void TmaPipelineLowering::lower(ConsumerGroupOp op) {
  I32Builder b(rewriter, op.getLoc());
  op.replaceAllUsesWith(getGroup(b));
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

/// Barrier 0 is the block's.
void TmaPipelineLowering::lower(GroupBarrierOp op) {
  I32Builder b(rewriter, op.getLoc());
  NVVM::BarrierOp::create(rewriter, op.getLoc(), TypeRange(), b.add(getGroup(b), 1),
                          b.constant(roles.getGroupThreads()), NVVM::BarrierReductionAttr(),
                          /*reductionPredicate=*/Value());
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

FailureOr<Value> TmaPipelineLowering::getTensorMap(Operation *user,
                                                   TypedValue<MemRefType> source,
                                                   ArrayRef<int64_t> box, int64_t span,
                                                   unsigned unitDim) {
  FailureOr<MatrixArgument> matrix = findMatrixArgument(user, source);
  if (failed(matrix))
    return failure();
  auto name =
      kernel.getArgAttrOfType<StringAttr>(matrix->argument.getArgNumber(), TccDialect::kNameAttr);
  if (!name)
    return kernel.emitOpError() << "has argument " << matrix->argument.getArgNumber()
                                << " without '" << TccDialect::kNameAttr
                                << "'; tcc-select-target sets it",
           failure();
  // A tensor map's dimension 0 is the inner one.
  unsigned inner = unitDim, outer = 1 - unitDim;
  auto named = [&](StringRef key, Attribute value) { return NamedAttribute(key, value); };
  Type element = source.getType().getElementType();
  Attribute map = rewriter.getDictionaryAttr(
      {named("argument", name), named("type", TypeAttr::get(element)),
       named("dims", rewriter.getI64ArrayAttr({matrix->dims[inner], matrix->dims[outer]})),
       named("box", rewriter.getI64ArrayAttr({box[inner], box[outer]})),
       named("swizzle", rewriter.getI64IntegerAttr(span)),
       named("l2Promotion", rewriter.getI64IntegerAttr(128))});
  for (auto [known, parameter] : tensorMaps)
    if (known == map)
      return parameter;

  unsigned index = kernel.getNumArguments();
  auto bytes = LLVM::LLVMArrayType::get(rewriter.getI8Type(), 128);
  // PTX ISA, "Tensor-map": 128 bytes, aligned to 64, in .param, .const or .global memory.
  auto attributes = rewriter.getDictionaryAttr(
      {named(LLVM::LLVMDialect::getByValAttrName(), TypeAttr::get(bytes)),
       named(LLVM::LLVMDialect::getAlignAttrName(), rewriter.getI64IntegerAttr(64))});
  if (failed(kernel.insertArgument(index, LLVM::LLVMPointerType::get(rewriter.getContext()),
                                   attributes, user->getLoc())))
    return failure();
  tensorMaps.push_back({map, kernel.getArgument(index)});
  return kernel.getArgument(index);
}

SmallVector<Value> TmaPipelineLowering::getCoordinates(Location loc, ValueRange offsets,
                                                       unsigned unitDim) {
  SmallVector<Value> coordinates;
  for (unsigned dim : {unitDim, 1 - unitDim})
    coordinates.push_back(
        arith::IndexCastOp::create(rewriter, loc, rewriter.getI32Type(), offsets[dim]));
  return coordinates;
}

LogicalResult TmaPipelineLowering::lower(TmaStoreOp op) {
  FailureOr<unsigned> unitDim = requireUnitStrideDim(op, op.getDest().getType());
  if (failed(unitDim))
    return failure();
  FailureOr<Value> map = getTensorMap(op, op.getDest(), op.getBox(), op.getSpan(), *unitDim);
  if (failed(map))
    return failure();
  NVVM::CpAsyncBulkTensorSharedCTAToGlobalOp::create(
      rewriter, op.getLoc(), *map, op.getSource(),
      getCoordinates(op.getLoc(), op.getOffsets(), *unitDim), /*l2CacheHint=*/Value(),
      NVVM::TMAStoreMode::TILE, /*predicate=*/Value());
  return success();
}

LogicalResult TmaPipelineLowering::lower(TmaLoadOp op) {
  FailureOr<unsigned> unitDim = requireUnitStrideDim(op, op.getSource().getType());
  if (failed(unitDim))
    return failure();
  FailureOr<Value> map = getTensorMap(op, op.getSource(), op.getBox(), op.getSpan(), *unitDim);
  if (failed(map))
    return failure();
  Location loc = op.getLoc();
  I32Builder b(rewriter, loc);
  SmallVector<Value> coordinates = getCoordinates(loc, op.getOffsets(), *unitDim);
  auto clusterPointer = LLVM::LLVMPointerType::get(rewriter.getContext(), 7);
  Value dest = LLVM::AddrSpaceCastOp::create(rewriter, loc, clusterPointer, op.getDest());
  const SlotBarriers &slots = barriers.find(op.getPipeline())->second;
  NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp::create(
      rewriter, loc, dest, *map, coordinates, slots.getFull(b, op.getSlot()),
      /*im2colOffsets=*/ValueRange(), op.getMulticast(), /*l2CacheHint=*/Value(),
      NVVM::TMALoadMode::TILE, /*isCTAOnly=*/false, /*group=*/nullptr, /*predicate=*/Value());
  return success();
}

/// Moves a role's ops to where the rewriter stands.
void TmaPipelineLowering::moveRole(Region &role) {
  Block &body = role.front();
  rewriter.eraseOp(body.getTerminator());
  rewriter.inlineBlockBefore(&body, rewriter.getInsertionBlock(), rewriter.getInsertionPoint());
}

/// Before `roles`, or whatever else touches what the grid ahead may still write or read.
void TmaPipelineLowering::waitForGridAhead(Operation *roles) {
  OpBuilder::InsertionGuard guard(rewriter);
  auto isFirst = [&](Operation &op) {
    auto access = op.walk([](GlobalAddressOp) { return WalkResult::interrupt(); });
    return &op == roles || access.wasInterrupted();
  };
  rewriter.setInsertionPoint(&*llvm::find_if(*roles->getBlock(), isFirst));
  NVVM::GriddepcontrolOp::create(rewriter, roles->getLoc(), NVVM::GridDepActionKind::wait);
}

/// Barriers of the cluster count all of its threads (PTX ISA, barrier.cluster): the producer's
/// warpgroup passes those of tcc.cluster_reduce as the consumers do, after `producer`. The last
/// wait is for parts of the sum that other blocks still read.
void TmaPipelineLowering::followReduction(Operation *producer) {
  Location loc = producer->getLoc();
  rewriter.setInsertionPointAfter(producer);
  UnitAttr aligned; // 31 lanes have no part in the producer's work
  NVVM::ClusterArriveOp::create(rewriter, loc, aligned);
  NVVM::ClusterWaitOp::create(rewriter, loc, aligned);
  NVVM::ClusterArriveOp::create(rewriter, loc, aligned);
}

/// tcc.warp_specialize  →  if (warp < consumers) { consumer } else if (first thread) { producer }
void TmaPipelineLowering::lower(WarpSpecializeOp op) {
  Location loc = op.getLoc();
  I32Builder b(rewriter, loc);
  Value thread = b.threadId();
  int64_t consumerThreads = op.getConsumers() * 32;
  Value isConsumer = b.less(thread, b.constant(consumerThreads));
  auto branch = scf::IfOp::create(rewriter, loc, isConsumer, /*withElseRegion=*/true);

  // The producer's registers go to the consumers. With one warpgroup of them a thread has enough
  // from the start.
  constexpr int64_t registersPerBlock = 65536;
  int64_t warpgroups = consumerThreads / threadsPerWarpgroup;
  int64_t consumerRegisters =
      std::min<int64_t>(240, getConsumerRegisters(warpgroups, registersPerBlock));
  auto setRegisters = [&](int64_t count, NVVM::SetMaxRegisterAction action) {
    if (warpgroups > 1)
      NVVM::SetMaxRegisterOp::create(rewriter, loc, count, action);
  };

  if (isDependentLaunch)
    waitForGridAhead(branch);
  rewriter.setInsertionPointToStart(branch.thenBlock());
  setRegisters(consumerRegisters, NVVM::SetMaxRegisterAction::increase);
  moveRole(op.getConsumer());
  rewriter.setInsertionPointToStart(branch.elseBlock());
  setRegisters(producerRegisters, NVVM::SetMaxRegisterAction::decrease);
  Value isProducer = arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::eq, thread,
                                           b.constant(consumerThreads));
  auto producer = scf::IfOp::create(rewriter, loc, isProducer);
  rewriter.setInsertionPointToStart(producer.thenBlock());
  moveRole(op.getProducer());
  // The next grid gets what multiprocessors have left. One thread says it for the block (PTX ISA,
  // griddepcontrol: repeated invocations have no effect past the first).
  if (isDependentLaunch)
    NVVM::GriddepcontrolOp::create(rewriter, loc, NVVM::GridDepActionKind::launch_dependents);
  if (isSplitK)
    followReduction(producer);
  // A block's shared memory lives until its peers have arrived at its barriers for the last time.
  rewriter.setInsertionPointAfter(branch);
  if (isSplitK)
    NVVM::ClusterWaitOp::create(rewriter, loc, /*aligned=*/UnitAttr());
  if (peers > 1)
    synchroniseCluster(loc, /*isConverged=*/false);
}

LogicalResult TmaPipelineLowering::lower(Operation *step) {
  rewriter.setInsertionPoint(step);
  LogicalResult result =
      llvm::TypeSwitch<Operation *, LogicalResult>(step)
          .Case<ConsumerWaitOp, ConsumerReleaseOp, ProducerAcquireOp, TurnWaitOp, TurnPassOp,
                ConsumerGroupOp, GroupBarrierOp, WarpSpecializeOp>(
              [&](auto op) { return lower(op), success(); })
          .Case<TmaLoadOp, TmaStoreOp>([&](auto op) { return lower(op); })
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

LogicalResult TmaPipelineLowering::run() {
  SmallVector<CreatePipelineOp> pipelines;
  SmallVector<Operation *> steps, specialized;
  SmallVector<scf::ForOp> loops;
  kernel.walk([&](Operation *op) {
    if (op->hasAttr(TccDialect::kNonEmptyAttr))
      loops.push_back(cast<scf::ForOp>(op));
    if (auto pipeline = dyn_cast<CreatePipelineOp>(op)) {
      if (pipeline.getType().getTransport() == Transport::Tma)
        pipelines.push_back(pipeline);
    } else if (isa<WarpSpecializeOp>(op)) {
      specialized.push_back(op);
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
  if (pipelines.empty() && specialized.empty())
    return success();
  if (failed(findRoles()))
    return failure();
  for (CreatePipelineOp pipeline : pipelines) {
    rewriter.setInsertionPointAfter(pipeline);
    createBarriers(pipeline);
  }
  llvm::append_range(steps, specialized);
  for (Operation *step : steps)
    if (failed(lower(step)))
      return failure();
  for (scf::ForOp loop : loops)
    testAtEnd(loop);
  SmallVector<Attribute> maps;
  for (auto [map, parameter] : tensorMaps) {
    maps.push_back(map);
    // The first copy would wait for its map to come from memory.
    if (!firstThread) // stores without a pipeline
      continue;
    rewriter.setInsertionPointToStart(firstThread);
    NVVM::PrefetchOp::create(rewriter, kernel.getLoc(), /*cacheLevel=*/nullptr,
                             /*evictPriority=*/nullptr, parameter, /*predicate=*/Value(),
                             /*tensormap=*/rewriter.getUnitAttr(), /*uniform=*/nullptr,
                             /*in_param_space=*/nullptr);
  }
  if (!maps.empty())
    kernel->setAttr(TccDialect::kTensorMapsAttr, rewriter.getArrayAttr(maps));
  return success();
}

LogicalResult mlir::tcc::lowerTmaPipelines(func::FuncOp kernel) {
  return TmaPipelineLowering(kernel).run();
}
