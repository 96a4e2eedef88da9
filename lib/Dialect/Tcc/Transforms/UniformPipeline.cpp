//===- UniformPipeline.cpp - Every warp copies and multiplies -------------===//
//
// All slots but one are filled ahead of the loop. An iteration waits for its slab, starts the copy
// of the slab that is stages - 1 ahead into the slot that the iteration before has read, and
// multiplies; with wgmma it copies beside the multiplication. Slabs past K bring zeros, so that
// neither a short K nor the last iterations are special.
//
//===----------------------------------------------------------------------===//

#include "UniformPipeline.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace mlir::tcc;

namespace {

/// A slot and its phase.
struct PipelineState {
  Value slot, phase;
};

class UniformPipeline {
public:
  explicit UniformPipeline(CopyLoop program)
      : program(std::move(program)), loc(this->program.program.loop.getLoc()),
        rewriter(loc.getContext()), schedule(this->program.schedule) {}

  void build();

private:
  void fillAhead();
  void extendLoop();
  void produceInLoop();

  Value constant(int64_t value) {
    return arith::ConstantOp::create(rewriter, loc, rewriter.getI32IntegerAttr(value));
  }
  /// `k` plus a number of slabs.
  Value advanceK(Value k, int64_t slabs);

  /// register: the two halves of a copy.
  SmallVector<Value> loadSlab(Value k);
  void storeSlab(ArrayRef<Value> tiles, Value slot);

  CopyLoop program;
  Location loc;
  IRRewriter rewriter;
  ScheduleAttr schedule;
  Value pipeline;
  /// In the loop: what is read and what is written, and where the states advance.
  PipelineState read, write;
  Operation *firstAdvance = nullptr;
};

} // namespace

Value UniformPipeline::advanceK(Value k, int64_t slabs) {
  if (slabs == 0)
    return k;
  Value distance = arith::ConstantIndexOp::create(rewriter, loc, slabs * schedule.getBlockK());
  return arith::AddIOp::create(rewriter, loc, k, distance);
}

SmallVector<Value> UniformPipeline::loadSlab(Value k) {
  SmallVector<Value> tiles;
  program.rebuild(rewriter, k, [&](CopyOp copy, ValueRange offsets) {
    SharedType buffer = copy.getDest().getType();
    int64_t vector = copy.getBytes() / getElementBytes(buffer.getElementType());
    auto encoding = BlockedAttr::get(rewriter.getContext(), vector,
                                     buffer.getLayout().getContiguous(), schedule.getNumThreads());
    auto tile = RankedTensorType::get(buffer.getShape(), buffer.getElementType(), encoding);
    tiles.push_back(LoadOp::create(rewriter, copy.getLoc(), tile, copy.getSource(), offsets,
                                   copy.getBytesAttr(), copy.getClampAttr()));
  });
  return tiles;
}

void UniformPipeline::storeSlab(ArrayRef<Value> tiles, Value slot) {
  for (auto [tile, buffer] : llvm::zip_equal(tiles, program.buffers))
    LocalStoreOp::create(rewriter, loc, tile, buffer, slot);
}

void UniformPipeline::fillAhead() {
  rewriter.setInsertionPoint(program.program.loop);
  Value phase = constant(0);
  for (int64_t stage = 0; stage < schedule.getStages() - 1; ++stage) {
    Value slot = constant(stage);
    Value k = advanceK(program.program.loop.getLowerBound(), stage);
    ProducerAcquireOp::create(rewriter, loc, pipeline, slot, phase);
    if (schedule.getTransport() == Transport::Register)
      storeSlab(loadSlab(k), slot);
    else
      program.issueCopies(rewriter, k, slot);
    ProducerCommitOp::create(rewriter, loc, pipeline, slot, phase);
  }
}

// The loop carries both states: scf.for … iter_args(%c) → iter_args(%c, %rd, %rp, %wr, %wp)
void UniformPipeline::extendLoop() {
  Value zero = constant(0);
  Value last = constant(schedule.getStages() - 1);
  auto advance = [&](OpBuilder &builder, Location loc, ArrayRef<BlockArgument> carried) {
    read = {carried[0], carried[1]};
    write = {carried[2], carried[3]};
    auto nextRead = AdvanceOp::create(builder, loc, pipeline, read.slot, read.phase);
    auto nextWrite = AdvanceOp::create(builder, loc, pipeline, write.slot, write.phase);
    firstAdvance = nextRead;
    return SmallVector<Value>{nextRead.getNextSlot(), nextRead.getNextPhase(),
                              nextWrite.getNextSlot(), nextWrite.getNextPhase()};
  };
  scf::ForOp &loop = program.program.loop;
  // scf.for never refuses.
  auto extended = loop.replaceWithAdditionalYields(rewriter, {zero, zero, last, zero},
                                                   /*replaceInitOperandUsesInLoop=*/false, advance);
  loop = cast<scf::ForOp>(extended->getOperation());
}

void UniformPipeline::produceInLoop() {
  scf::ForOp loop = program.program.loop;
  int64_t ahead = schedule.getStages() - 1;
  rewriter.setInsertionPointToStart(loop.getBody());
  // Of the slabs that were committed, only those ahead of this one may be on their way.
  ConsumerWaitOp::create(rewriter, loc, pipeline, read.slot, read.phase,
                         /*pending=*/schedule.getTransport() == Transport::Register ? 0
                                                                                    : ahead - 1);
  Value k = advanceK(loop.getInductionVar(), ahead);
  bool isRegister = schedule.getTransport() == Transport::Register;
  // Loads fly while the slab is multiplied; what they brought is stored after it.
  SmallVector<Value> tiles;
  if (isRegister)
    tiles = loadSlab(k);
  // wgmma is asynchronous: it multiplies beside copies that are issued after it, up to the release.
  if (isRegister || schedule.getMma() == MmaFamily::Wgmma)
    rewriter.setInsertionPoint(firstAdvance);
  ProducerAcquireOp::create(rewriter, loc, pipeline, write.slot, write.phase);
  if (isRegister)
    storeSlab(tiles, write.slot);
  else
    program.issueCopies(rewriter, k, write.slot);
  ProducerCommitOp::create(rewriter, loc, pipeline, write.slot, write.phase);
  rewriter.setInsertionPoint(firstAdvance);
  ConsumerReleaseOp::create(rewriter, loc, pipeline, read.slot, read.phase);
}

void UniformPipeline::build() {
  pipeline = program.createPipeline(rewriter);
  fillAhead();
  extendLoop();
  produceInLoop();
  program.readFrom(read.slot);
  program.eraseOriginals();
  rewriter.setInsertionPointAfter(program.program.loop);
  DrainOp::create(rewriter, loc, pipeline);
}

LogicalResult mlir::tcc::buildUniformPipeline(CopyLoop program) {
  scf::ForOp loop = program.program.loop;
  Transport transport = program.schedule.getTransport();
  int64_t stages = program.schedule.getStages();
  if (transport == Transport::Tma)
    return loop.emitOpError() << "can't be pipelined with transport = tma and roles = uniform: tma "
                                 "is issued by one thread, use roles = cooperative";
  if (transport == Transport::Register && stages != 2)
    return loop.emitOpError() << "expects stages = 2 with transport = register, where one slab is "
                                 "in shared memory and the next in registers, found "
                              << stages;
  if (stages < 2)
    return loop.emitOpError() << "expects at least 2 stages to pipeline, found " << stages;
  UniformPipeline(std::move(program)).build();
  return success();
}
