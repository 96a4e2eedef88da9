//===- SpecializedPipeline.cpp - A producer and its consumers -------------===//
//
// Both roles run the same loops: over K, and over tiles around it if the kernel is persistent. The
// producer's loops hold the copies and what their offsets are made of; the consumers get the
// original loops without the copies, and all that follows. Slot and phase are carried by all loops,
// so that copies for the next tile start while the last one is still multiplied or stored. The
// loops over K run at least once: TMA has no empty matrices.
//
// With ping-pong roles there are two groups of consumers. Group g takes the block's tiles number g,
// g + 2, …: it skips the slots of the other's tiles, and the groups read the pipeline in turns.
//
//===----------------------------------------------------------------------===//

#include "SpecializedPipeline.h"
#include "Barriers.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace mlir::tcc;

namespace {

class SpecializedPipeline {
public:
  /// `tileLoop` is the loop around the one over K, or null.
  SpecializedPipeline(CopyLoop program, scf::ForOp tileLoop)
      : program(std::move(program)), tileLoop(tileLoop), loc(this->program.program.loop.getLoc()),
        rewriter(loc.getContext()) {}

  void build();

private:
  WarpSpecializeOp createRoles(Operation *outermost);

  /// A new loop with the bounds of `original` that carries `state`, where the rewriter stands.
  scf::ForOp createLoop(scf::ForOp original, ValueRange state);
  void buildProducer(Block *role);
  SmallVector<Value> produceTile(ValueRange state);
  SmallVector<Value> produceSlab(scf::ForOp loop);
  void endProducer(ValueRange state);

  void buildConsumer(Block *role, Operation *outermost);
  void buildGroup();
  void giveStaging(Value group);
  void passTurn(Value group, Value turn);
  SmallVector<Value> consumeTile(ValueRange state);
  void finishLate();
  Value countSlabs();

  Value constant(int64_t value) {
    return arith::ConstantOp::create(rewriter, loc, rewriter.getI32IntegerAttr(value));
  }
  SmallVector<Value> initialState() { return SmallVector<Value>(2, constant(0)); }

  CopyLoop program;
  scf::ForOp tileLoop;
  Location loc;
  IRRewriter rewriter;
  Value pipeline;
  /// The producer's values for those in the original loops.
  IRMapping mapping;
};

} // namespace

WarpSpecializeOp SpecializedPipeline::createRoles(Operation *outermost) {
  rewriter.setInsertionPoint(outermost);
  auto roles = WarpSpecializeOp::create(rewriter, loc, program.schedule.getNumMmaWarps(),
                                        program.schedule.getNumGroups());
  for (Region *role : {&roles.getProducer(), &roles.getConsumer()})
    WarpSpecializeOp::ensureTerminator(*role, rewriter, loc);
  return roles;
}

//===----------------------------------------------------------------------===//
// Producer
//===----------------------------------------------------------------------===//

scf::ForOp SpecializedPipeline::createLoop(scf::ForOp original, ValueRange state) {
  auto loop = scf::ForOp::create(rewriter, loc, mapping.lookupOrDefault(original.getLowerBound()),
                                 mapping.lookupOrDefault(original.getUpperBound()),
                                 mapping.lookupOrDefault(original.getStep()), state);
  mapping.map(original.getInductionVar(), loop.getInductionVar());
  rewriter.setInsertionPointToStart(loop.getBody());
  return loop;
}

// acquire; copies of the slab; commit   →   the next state
SmallVector<Value> SpecializedPipeline::produceSlab(scf::ForOp loop) {
  Value slot = loop.getRegionIterArg(0), phase = loop.getRegionIterArg(1);
  ProducerAcquireOp::create(rewriter, loc, pipeline, slot, phase);
  program.issueCopies(rewriter, loop.getInductionVar(), slot, mapping);
  ProducerCommitOp::create(rewriter, loc, pipeline, slot, phase);
  auto next = AdvanceOp::create(rewriter, loc, pipeline, slot, phase);
  return {next.getNextSlot(), next.getNextPhase()};
}

// scf.for %k … { copies and matmul }   →   scf.for %k … iter_args(%slot, %phase) { copies }
SmallVector<Value> SpecializedPipeline::produceTile(ValueRange state) {
  OpBuilder::InsertionGuard guard(rewriter);
  scf::ForOp loop = createLoop(program.program.loop, state);
  loop->setAttr(TccDialect::kNonEmptyAttr, rewriter.getUnitAttr());
  SmallVector<Value> next = produceSlab(loop);
  scf::YieldOp::create(rewriter, loc, next);
  return loop.getResults();
}

void SpecializedPipeline::buildProducer(Block *role) {
  rewriter.setInsertionPointToStart(role);
  SmallVector<Value> state = initialState();
  if (!tileLoop) {
    endProducer(produceTile(state));
    return;
  }
  scf::ForOp loop = createLoop(tileLoop, state);
  // Where the tile is; whatever else is computed before the loop over K is the consumers'.
  SmallVector<Operation *> clones;
  for (Operation &op : *tileLoop.getBody()) {
    if (&op == program.program.loop)
      break;
    if (isMemoryEffectFree(&op) &&
        llvm::none_of(op.getResultTypes(), llvm::IsaPred<RankedTensorType>))
      clones.push_back(rewriter.clone(op, mapping));
  }
  SmallVector<Value> next = produceTile(loop.getRegionIterArgs());
  scf::YieldOp::create(rewriter, loc, next);
  for (Operation *clone : llvm::reverse(clones))
    if (clone->use_empty())
      rewriter.eraseOp(clone);
  rewriter.setInsertionPointAfter(loop);
  endProducer(loop.getResults());
}

void SpecializedPipeline::endProducer(ValueRange state) {
  if (program.schedule.getClusterM() * program.schedule.getClusterN() > 1)
    ProducerTailOp::create(rewriter, loc, pipeline, state[0], state[1]);
}

//===----------------------------------------------------------------------===//
// Consumers
//===----------------------------------------------------------------------===//

// scf.for %k … iter_args(%c) { copies and matmul }
//   →   scf.for %k … iter_args(%c, %slot, %phase) { wait; matmul; release }
SmallVector<Value> SpecializedPipeline::consumeTile(ValueRange state) {
  OpBuilder::InsertionGuard guard(rewriter);
  Value slot, phase;
  bool isPending = program.schedule.getPending() != 0;
  SmallVector<Value> carriedIn(state);
  if (isPending) // the slot before, which is released one slab late
    carriedIn.append(state.begin(), state.end());
  auto advance = [&](OpBuilder &builder, Location loc, ArrayRef<BlockArgument> carried) {
    slot = carried[0];
    phase = carried[1];
    if (!isPending)
      ConsumerReleaseOp::create(builder, loc, pipeline, slot, phase);
    auto next = AdvanceOp::create(builder, loc, pipeline, slot, phase);
    SmallVector<Value> yielded{next.getNextSlot(), next.getNextPhase()};
    if (isPending)
      yielded.append({slot, phase});
    return yielded;
  };
  scf::ForOp &loop = program.program.loop;
  rewriter.setInsertionPoint(loop);
  // scf.for never refuses.
  auto extended = loop.replaceWithAdditionalYields(rewriter, carriedIn,
                                                   /*replaceInitOperandUsesInLoop=*/false, advance);
  loop = cast<scf::ForOp>(extended->getOperation());
  loop->setAttr(TccDialect::kNonEmptyAttr, rewriter.getUnitAttr());
  rewriter.setInsertionPointToStart(loop.getBody());
  ConsumerWaitOp::create(rewriter, loc, pipeline, slot, phase, /*pending=*/0);
  program.readFrom(slot);
  if (!isPending)
    return SmallVector<Value>(loop.getResults().take_back(2));
  finishLate();
  return SmallVector<Value>(loop.getResults().take_back(4).take_front(2));
}

// %d = matmul …   →   %d = matmul … {pending = 1}; if (not the first slab) release the slot before
// and, after the loop, wait for the last one and release its slot.
void SpecializedPipeline::finishLate() {
  scf::ForOp loop = program.program.loop;
  for (auto matmul : loop.getBody()->getOps<MatmulOp>())
    matmul.setPending(program.schedule.getPending());
  rewriter.setInsertionPoint(loop.getBody()->getTerminator());
  Value hasSlotBefore = arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::ne,
                                              loop.getInductionVar(), loop.getLowerBound());
  auto ifOp = scf::IfOp::create(rewriter, loc, hasSlotBefore);
  rewriter.setInsertionPointToStart(ifOp.thenBlock());
  ValueRange before = loop.getRegionIterArgs().take_back(2);
  ConsumerReleaseOp::create(rewriter, loc, pipeline, before[0], before[1]);

  rewriter.setInsertionPointAfter(loop);
  OpResult acc = program.program.getResult();
  auto wait = MatmulWaitOp::create(rewriter, loc, acc.getType(), acc);
  acc.replaceAllUsesExcept(wait, wait);
  ValueRange last = loop.getResults().take_back(2);
  ConsumerReleaseOp::create(rewriter, loc, pipeline, last[0], last[1]);
}

/// Slabs of a tile, before the loop over tiles.
Value SpecializedPipeline::countSlabs() {
  scf::ForOp loop = program.program.loop;
  Value extent =
      arith::SubIOp::create(rewriter, loc, loop.getUpperBound(), loop.getLowerBound());
  Value slabs = arith::CeilDivSIOp::create(rewriter, loc, extent, loop.getStep());
  return arith::IndexCastOp::create(rewriter, loc, rewriter.getI32Type(), slabs);
}

/// A staging buffer of its own for each group.
void SpecializedPipeline::giveStaging(Value group) {
  auto give = [&](Value buffer, MutableOperandRange slot) {
    if (isGuarded(buffer))
      return;
    auto type = cast<SharedType>(buffer.getType());
    buffer.setType(type.withStages(program.schedule.getNumGroups()));
    slot.assign(group);
  };
  tileLoop.walk([&](Operation *op) {
    if (auto store = dyn_cast<LocalStoreOp>(op))
      give(store.getDest(), store.getSlotMutable());
    else if (auto load = dyn_cast<LocalLoadOp>(op))
      give(load.getSource(), load.getSlotMutable());
    else if (auto store = dyn_cast<BulkStoreOp>(op))
      give(store.getSource(), store.getSlotMutable());
  });
}

/// The other group may start as soon as this one has issued its multiplications. Where accumulators
/// are read right after the wait for them, though, ptxas serialises all multiplications if anything
/// stands between loop and wait (advisory C7514).
void SpecializedPipeline::passTurn(Value group, Value turn) {
  Operation *last = program.program.loop;
  if (program.schedule.getEpilogue() == Epilogue::Direct)
    if (auto wait = dyn_cast<MatmulWaitOp>(last->getNextNode()))
      last = wait;
  rewriter.setInsertionPointAfter(last);
  TurnPassOp::create(rewriter, loc, pipeline, group, turn);
}

// scf.for %tile = %first to %tiles step %step { … }
//   →   scf.for %tile = %first + %group * %step to %tiles step 2 * %step
//           iter_args(%slot, %phase, %turn) {
//         wait for the turn; loop over K; pass the turn; epilogue; skip the other group's slabs }
void SpecializedPipeline::buildGroup() {
  rewriter.setInsertionPoint(tileLoop);
  Value group = ConsumerGroupOp::create(rewriter, loc, rewriter.getI32Type());
  Value slabs = countSlabs();
  SmallVector<Value> state = initialState();
  Value ahead = arith::MulIOp::create(rewriter, loc, group, slabs);
  auto first = AdvanceOp::create(rewriter, loc, pipeline, state[0], state[1], ahead);
  Value groupIndex = arith::IndexCastOp::create(rewriter, loc, rewriter.getIndexType(), group);
  Value step = tileLoop.getStep();
  Value later = arith::MulIOp::create(rewriter, loc, groupIndex, step);
  Value lower = arith::AddIOp::create(rewriter, loc, tileLoop.getLowerBound(), later);
  Value groups = arith::ConstantIndexOp::create(rewriter, loc, program.schedule.getNumGroups());
  tileLoop.setLowerBound(lower);
  tileLoop.setStep(arith::MulIOp::create(rewriter, loc, step, groups));

  giveStaging(group);
  auto consume = [&](OpBuilder &, Location, ArrayRef<BlockArgument> carried) {
    Value turn = carried[2];
    rewriter.setInsertionPoint(program.program.loop);
    TurnWaitOp::create(rewriter, loc, pipeline, group, turn);
    SmallVector<Value> next = consumeTile({carried[0], carried[1]});
    passTurn(group, turn);
    rewriter.setInsertionPoint(tileLoop.getBody()->getTerminator());
    auto skipped = AdvanceOp::create(rewriter, loc, pipeline, next[0], next[1], slabs);
    Value nextTurn = arith::XOrIOp::create(rewriter, loc, turn, constant(1));
    return SmallVector<Value>{skipped.getNextSlot(), skipped.getNextPhase(), nextTurn};
  };
  rewriter.setInsertionPoint(tileLoop);
  (void)tileLoop.replaceWithAdditionalYields(
      rewriter, {first.getNextSlot(), first.getNextPhase(), constant(0)},
      /*replaceInitOperandUsesInLoop=*/false, consume);
}

void SpecializedPipeline::buildConsumer(Block *role, Operation *outermost) {
  Block *body = outermost->getBlock();
  // Tiles are spread over the consumers alone: other threads have no place in them, and would load
  // beyond their ends.
  for (Operation &op :
       llvm::make_early_inc_range(llvm::make_range(body->begin(), outermost->getIterator())))
    if (!op.hasTrait<OpTrait::ConstantLike>() &&
        llvm::any_of(op.getResultTypes(), llvm::IsaPred<RankedTensorType>))
      op.moveBefore(role->getTerminator());
  role->getOperations().splice(role->getTerminator()->getIterator(), body->getOperations(),
                               outermost->getIterator(), body->getTerminator()->getIterator());
  rewriter.setInsertionPointToStart(role);
  SmallVector<Value> state = initialState();
  if (!tileLoop) {
    consumeTile(state);
    return;
  }
  if (program.schedule.getNumGroups() > 1)
    return buildGroup();
  auto consume = [&](OpBuilder &, Location, ArrayRef<BlockArgument> carried) {
    return consumeTile(SmallVector<Value>(carried.begin(), carried.end()));
  };
  rewriter.setInsertionPoint(tileLoop);
  (void)tileLoop.replaceWithAdditionalYields(rewriter, state,
                                             /*replaceInitOperandUsesInLoop=*/false, consume);
}

void SpecializedPipeline::build() {
  pipeline = program.createPipeline(rewriter);
  Operation *outermost = tileLoop ? tileLoop : program.program.loop;
  WarpSpecializeOp roles = createRoles(outermost);
  buildProducer(&roles.getProducer().front());
  buildConsumer(&roles.getConsumer().front(), outermost);
  program.eraseOriginals();
}

LogicalResult mlir::tcc::buildSpecializedPipeline(CopyLoop program) {
  scf::ForOp loop = program.program.loop;
  ScheduleAttr schedule = program.schedule;
  if (schedule.getTransport() != Transport::Tma)
    return loop.emitOpError() << "can't be pipelined with roles = "
                              << stringifyRoles(schedule.getRoles()) << " and transport = "
                              << stringifyTransport(schedule.getTransport())
                              << ": one thread copies for all, which takes transport = tma";
  auto tileLoop = dyn_cast<scf::ForOp>(loop->getParentOp());
  Operation *outermost = tileLoop ? tileLoop : loop;
  if (outermost->getParentOp() != program.kernel || (tileLoop && tileLoop.getNumResults() != 0))
    return loop.emitOpError() << "expects to stand in the kernel's body or in one loop over tiles";
  if (schedule.getNumGroups() > 1 && !tileLoop)
    return loop.emitOpError() << "can't be pipelined with roles = ping_pong without a loop over "
                              << "tiles: expects persistent = true";
  SpecializedPipeline(std::move(program), tileLoop).build();
  return success();
}
