//===- CopyLoop.cpp - The copies that a pipeline moves ahead --------------===//

#include "CopyLoop.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::tcc;

/// The ops in the loop's body that `copies` are made of, themselves included; an error if one can't
/// be done for another slab than the loop's current one.
static FailureOr<SmallVector<Operation *>> getSlice(scf::ForOp loop, ArrayRef<CopyOp> copies) {
  SetVector<Operation *> needed;
  for (CopyOp copy : copies)
    needed.insert(copy);
  for (unsigned i = 0; i < needed.size(); ++i) {
    for (Value operand : needed[i]->getOperands()) {
      if (llvm::is_contained(loop.getRegionIterArgs(), operand))
        return needed[i]->emitOpError()
               << "can't run ahead of the loop: it depends on a value that the loop carries";
      Operation *definer = operand.getDefiningOp();
      if (!definer || definer->getBlock() != loop.getBody())
        continue;
      if (!isPure(definer))
        return definer->emitOpError() << "can't run ahead of the loop, as the copy that uses it "
                                         "must: it has side effects or may be "
                                         "undefined";
      needed.insert(definer);
    }
  }
  SmallVector<Operation *> slice(needed.begin(), needed.end());
  llvm::sort(slice, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  return slice;
}

/// Only what is in the loop can be given a slot to read. What blocks exchange is none.
static LogicalResult checkReaders(scf::ForOp loop, ValueRange buffers) {
  for (Value buffer : buffers)
    for (Operation *user : buffer.getUsers())
      if (!isa<CopyOp, ClusterReduceOp>(user) &&
          !(isa<LocalLoadOp, MatmulOp>(user) && user->getBlock() == loop.getBody()))
        return user->emitOpError() << "can't read a slot of a pipeline: expects a tcc.local_load "
                                      "or tcc.matmul in the loop";
  return success();
}

FailureOr<CopyLoop> CopyLoop::find(func::FuncOp kernel, ScheduleAttr schedule) {
  FailureOr<MatmulLoop> program = findMatmulLoop(kernel);
  if (failed(program))
    return failure();
  CopyLoop result;
  result.kernel = kernel;
  result.schedule = schedule;
  result.program = *program;
  scf::ForOp loop = program->loop;
  if (getConstantIntValue(loop.getStep()) != schedule.getBlockK())
    return loop.emitOpError() << "expects the schedule's block K of " << schedule.getBlockK()
                              << " as its step (L1.5)";
  for (auto copy : loop.getBody()->getOps<CopyOp>()) {
    auto alloc = copy.getDest().getDefiningOp<AllocSharedOp>();
    if (!alloc || alloc->getParentOp() != kernel)
      return copy.emitOpError() << "expects a buffer that is allocated at the top of the kernel "
                                   "(L2.4)";
    SharedType buffer = alloc.getType();
    if (buffer.getStages() != 1)
      return copy.emitOpError() << "goes to a buffer with " << buffer.getStages()
                                << " stages: the kernel is pipelined already";
    if (!buffer.getLayout())
      return copy.emitOpError() << "expects a buffer with a layout (L3.1): run tcc-layout-shared";
    if (copy.getTransport() != schedule.getTransport())
      return copy.emitOpError() << "has the transport " << stringifyTransport(copy.getTransport())
                                << ", but the schedule has "
                                << stringifyTransport(schedule.getTransport());
    result.copies.push_back(copy);
    result.buffers.push_back(copy.getDest());
  }
  if (result.copies.empty())
    return loop.emitOpError() << "expects copies to shared memory (L2.1): run tcc-stage-shared, or "
                                 "the kernel is pipelined already";
  if (failed(checkReaders(loop, result.buffers)))
    return failure();
  FailureOr<SmallVector<Operation *>> slice = getSlice(loop, result.copies);
  if (failed(slice))
    return failure();
  result.slice = std::move(*slice);
  return result;
}

Value CopyLoop::createPipeline(OpBuilder &builder) {
  int64_t stages = schedule.getStages();
  Operation *lastBuffer = buffers.front().getDefiningOp();
  for (Value buffer : buffers) {
    buffer.setType(cast<SharedType>(buffer.getType()).withStages(stages));
    if (lastBuffer->isBeforeInBlock(buffer.getDefiningOp()))
      lastBuffer = buffer.getDefiningOp();
  }
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointAfter(lastBuffer);
  auto type = PipelineType::get(builder.getContext(), schedule.getTransport(), stages);
  return CreatePipelineOp::create(builder, program.loop.getLoc(), type, buffers);
}

void CopyLoop::rebuild(OpBuilder &builder, Value k, function_ref<void(CopyOp, ValueRange)> build,
                       IRMapping mapping) {
  mapping.map(program.loop.getInductionVar(), k);
  for (Operation *op : slice) {
    auto copy = dyn_cast<CopyOp>(op);
    if (!copy) {
      builder.clone(*op, mapping);
      continue;
    }
    SmallVector<Value> offsets;
    for (Value offset : copy.getOffsets())
      offsets.push_back(mapping.lookupOrDefault(offset));
    build(copy, offsets);
  }
}

void CopyLoop::issueCopies(OpBuilder &builder, Value k, Value slot, const IRMapping &mapping) {
  auto issue = [&](CopyOp copy, ValueRange offsets) {
    CopyOp::create(builder, copy.getLoc(), copy.getTransport(), copy.getSource(), offsets,
                   copy.getDest(), slot, copy.getBytes(), copy.getClampAttr(),
                   copy.getMulticastAttr());
  };
  rebuild(builder, k, issue, mapping);
}

void CopyLoop::readFrom(Value slot) {
  for (Operation &op : *program.loop.getBody()) {
    if (auto load = dyn_cast<LocalLoadOp>(op)) {
      if (llvm::is_contained(buffers, load.getSource()))
        load.getSlotMutable().assign(slot);
    } else if (auto matmul = dyn_cast<MatmulOp>(op)) {
      if (isa<SharedType>(matmul.getLhs().getType()) || isa<SharedType>(matmul.getRhs().getType()))
        matmul.getSlotMutable().assign(slot);
    }
  }
}

void CopyLoop::eraseOriginals() {
  for (CopyOp copy : copies)
    copy.erase();
  for (Operation *op : llvm::reverse(slice))
    if (!llvm::is_contained(copies, op) && op->use_empty())
      op->erase();
}
