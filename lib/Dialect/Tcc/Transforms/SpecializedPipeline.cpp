//===- SpecializedPipeline.cpp - A producer and its consumers -------------===//
//
// Both roles run the same loops: over K, and over tiles around it if the kernel is persistent. The
// producer's loops hold the copies and what their offsets are made of; the consumers get the
// original loops without the copies, and all that follows. Slot and phase are carried by all loops,
// so that copies for the next tile start while the last one is still multiplied or stored.
//
//===----------------------------------------------------------------------===//

#include "SpecializedPipeline.h"

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

  void buildConsumer(Block *role, Operation *outermost);
  SmallVector<Value> consumeTile(ValueRange state);

  SmallVector<Value> initialState() {
    Value zero = arith::ConstantOp::create(rewriter, loc, rewriter.getI32IntegerAttr(0));
    return {zero, zero};
  }

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
  auto roles = WarpSpecializeOp::create(rewriter, loc, program.schedule.getNumMmaWarps());
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
  SmallVector<Value> next = produceSlab(loop);
  scf::YieldOp::create(rewriter, loc, next);
  return loop.getResults();
}

void SpecializedPipeline::buildProducer(Block *role) {
  rewriter.setInsertionPointToStart(role);
  SmallVector<Value> state = initialState();
  if (!tileLoop) {
    produceTile(state);
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
}

//===----------------------------------------------------------------------===//
// Consumers
//===----------------------------------------------------------------------===//

// scf.for %k … iter_args(%c) { copies and matmul }
//   →   scf.for %k … iter_args(%c, %slot, %phase) { wait; matmul; release }
SmallVector<Value> SpecializedPipeline::consumeTile(ValueRange state) {
  OpBuilder::InsertionGuard guard(rewriter);
  Value slot, phase;
  auto advance = [&](OpBuilder &builder, Location loc, ArrayRef<BlockArgument> carried) {
    slot = carried[0];
    phase = carried[1];
    ConsumerReleaseOp::create(builder, loc, pipeline, slot, phase);
    auto next = AdvanceOp::create(builder, loc, pipeline, slot, phase);
    return SmallVector<Value>{next.getNextSlot(), next.getNextPhase()};
  };
  scf::ForOp &loop = program.program.loop;
  rewriter.setInsertionPoint(loop);
  // scf.for never refuses.
  auto extended = loop.replaceWithAdditionalYields(rewriter, state,
                                                   /*replaceInitOperandUsesInLoop=*/false, advance);
  loop = cast<scf::ForOp>(extended->getOperation());
  rewriter.setInsertionPointToStart(loop.getBody());
  ConsumerWaitOp::create(rewriter, loc, pipeline, slot, phase, /*pending=*/0);
  program.readFrom(slot);
  return SmallVector<Value>(loop.getResults().take_back(2));
}

void SpecializedPipeline::buildConsumer(Block *role, Operation *outermost) {
  Block *body = outermost->getBlock();
  role->getOperations().splice(role->getTerminator()->getIterator(), body->getOperations(),
                               outermost->getIterator(), body->getTerminator()->getIterator());
  rewriter.setInsertionPointToStart(role);
  SmallVector<Value> state = initialState();
  if (!tileLoop) {
    consumeTile(state);
    return;
  }
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
  if (schedule.getRoles() != Roles::Cooperative)
    return loop.emitOpError() << "can't be pipelined with roles = "
                              << stringifyRoles(schedule.getRoles())
                              << "; there are uniform and cooperative";
  if (schedule.getTransport() != Transport::Tma)
    return loop.emitOpError() << "can't be pipelined with roles = cooperative and transport = "
                              << stringifyTransport(schedule.getTransport())
                              << ": one thread copies for all, which takes transport = tma";
  if (schedule.getEpilogue() != Epilogue::Direct)
    return loop.emitOpError() << "can't be pipelined with roles = cooperative and epilogue = "
                              << stringifyEpilogue(schedule.getEpilogue())
                              << ": expects epilogue = direct";
  auto tileLoop = dyn_cast<scf::ForOp>(loop->getParentOp());
  Operation *outermost = tileLoop ? tileLoop : loop;
  if (outermost->getParentOp() != program.kernel || (tileLoop && tileLoop.getNumResults() != 0))
    return loop.emitOpError() << "expects to stand in the kernel's body or in one loop over tiles";
  SpecializedPipeline(std::move(program), tileLoop).build();
  return success();
}
