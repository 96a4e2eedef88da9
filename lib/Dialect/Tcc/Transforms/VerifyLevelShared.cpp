//===- VerifyLevelShared.cpp - Invariants of L2 and L3 --------------------===//

#include "SharedLayouts.h"
#include "Target.h"
#include "VerifyLevel.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::tcc;

//===----------------------------------------------------------------------===//
// L2
//===----------------------------------------------------------------------===//

/// L2.1: where a matmul's operands come from.
static LogicalResult verifyOperands(MatmulOp matmul) {
  for (Value operand : {matmul.getLhs(), matmul.getRhs()})
    if (!isa<SharedType>(operand.getType()) && !operand.getDefiningOp<LocalLoadOp>())
      return matmul.emitOpError() << "expects operands that are shared buffers or come from "
                                     "tcc.local_load (L2.1)";
  return success();
}

/// L2.2: accesses to global memory are no wider than the rows of the matrix are aligned.
static LogicalResult verifyBytes(func::FuncOp kernel, ScheduleAttr schedule) {
  int64_t operands =
      std::max(schedule.getAlignmentOf(Operand::A), schedule.getAlignmentOf(Operand::B));
  WalkResult walk = kernel.walk([&](Operation *op) -> WalkResult {
    std::optional<int64_t> bytes;
    int64_t limit = operands;
    Type element;
    if (auto copy = dyn_cast<CopyOp>(op)) {
      bytes = copy.getBytes();
      element = copy.getSource().getType().getElementType();
    } else if (auto store = dyn_cast<StoreOp>(op)) {
      if (!store.getBytes())
        return store.emitOpError() << "expects 'bytes' (L2.2)";
      bytes = *store.getBytes();
      limit = schedule.getAlignmentOf(Operand::C);
      element = store.getDest().getType().getElementType();
    } else {
      return WalkResult::advance();
    }
    // An element is aligned to its size in any matrix.
    limit = std::max(limit, getElementBytes(element));
    if (*bytes > limit)
      return op->emitOpError() << "moves " << *bytes
                               << " bytes at once, but the schedule aligns rows to " << limit
                               << " (L2.2)";
    return WalkResult::advance();
  });
  return failure(walk.wasInterrupted());
}

/// L2.3: wmma's accumulator goes to shared memory and nowhere else.
static LogicalResult verifyOpaqueAccumulator(MatmulLoop &program) {
  for (Operation *user : program.getResult().getUsers()) {
    bool isSlice = isa<tensor::ExtractSliceOp>(user) &&
                   llvm::all_of(user->getUsers(), llvm::IsaPred<LocalStoreOp>);
    if (!isSlice)
      return user->emitOpError() << "uses a wmma accumulator, whose layout is unspecified: expects "
                                    "slices that go to shared memory (L2.3)";
  }
  return success();
}

LogicalResult mlir::tcc::verifyStaging(func::FuncOp kernel, Level level) {
  FailureOr<ScheduleAttr> schedule = getSchedule(kernel);
  if (failed(schedule))
    return failure();
  FailureOr<MatmulLoop> program = findMatmulLoop(kernel);
  if (failed(program))
    return failure();
  for (MatmulOp matmul : program->matmuls)
    if (failed(verifyOperands(matmul)))
      return failure();
  if (failed(verifyBytes(kernel, *schedule)))
    return failure();
  if (schedule->getMma() == MmaFamily::Wmma && failed(verifyOpaqueAccumulator(*program)))
    return failure();
  WalkResult walk = kernel.walk([&](AllocSharedOp alloc) -> WalkResult {
    bool isTop = level >= Level::L3g ? alloc->getParentOp() == kernel
                                     : isa<scf::ForallOp>(alloc->getParentOp());
    if (isTop)
      return WalkResult::advance();
    return alloc.emitOpError() << "expects to stand at the top of "
                               << (level >= Level::L3g ? "the kernel" : "the loop over tiles")
                               << " (L2.4)";
  });
  return failure(walk.wasInterrupted());
}

//===----------------------------------------------------------------------===//
// L3
//===----------------------------------------------------------------------===//

/// L3.1: a layout that the buffer's reader and its copies can work with.
static LogicalResult verifyLayout(AllocSharedOp alloc, MmaFamily family) {
  SharedLayoutAttr layout = alloc.getType().getLayout();
  if (!layout)
    return alloc.emitOpError() << "expects a layout (L3.1)";
  for (Operation *user : alloc->getUsers()) {
    auto copy = dyn_cast<CopyOp>(user);
    if (!copy)
      continue;
    FailureOr<unsigned> contiguous = requireUnitStrideDim(copy, copy.getSource().getType());
    if (failed(contiguous))
      return failure();
    if (layout.getContiguous() != *contiguous)
      return copy.emitOpError() << "expects dimension " << *contiguous
                                << " of the buffer to be contiguous, as in the matrix, found "
                                << layout << " (L3.1)";
  }
  return checkSharedLayout(alloc, getSharedTile(alloc.getType(), layout.getContiguous()),
                           toSupport(layout), getConsumer(alloc, family));
}

/// L3.3: every tile is distributed, elementwise ops over one distribution.
static LogicalResult verifyEncodings(func::FuncOp kernel) {
  auto getTileEncoding = [](Type type) -> std::optional<Attribute> {
    auto tile = dyn_cast<RankedTensorType>(type);
    return tile ? std::optional<Attribute>(tile.getEncoding()) : std::nullopt;
  };
  WalkResult walk = kernel.walk([&](Operation *op) -> WalkResult {
    for (Type type : op->getResultTypes()) {
      std::optional<Attribute> encoding = getTileEncoding(type);
      if (encoding && !isDistribution(*encoding))
        return op->emitOpError() << "expects a distribution over threads as the encoding of "
                                 << type << " (L3.3)";
    }
    if (!op->hasTrait<OpTrait::Elementwise>() || op->getNumResults() != 1)
      return WalkResult::advance();
    std::optional<Attribute> result = getTileEncoding(op->getResult(0).getType());
    for (Type type : op->getOperandTypes()) {
      std::optional<Attribute> encoding = getTileEncoding(type);
      if (encoding && encoding != result)
        return op->emitOpError() << "expects one distribution on operands and result; convert with "
                                    "tcc.convert_layout (L3.3)";
    }
    return WalkResult::advance();
  });
  return failure(walk.wasInterrupted());
}

LogicalResult mlir::tcc::verifyDistribution(func::FuncOp kernel) {
  FailureOr<ScheduleAttr> schedule = getSchedule(kernel);
  if (failed(schedule))
    return failure();
  WalkResult walk = kernel.walk(
      [&](AllocSharedOp alloc) { return WalkResult(verifyLayout(alloc, schedule->getMma())); });
  if (walk.wasInterrupted() || failed(verifyEncodings(kernel)))
    return failure();

  FailureOr<MatmulLoop> program = findMatmulLoop(kernel);
  if (failed(program))
    return failure();
  // That the operands' fragments agree with the accumulator's is the matmul's own verifier.
  for (MatmulOp matmul : program->matmuls) {
    Type lhs = matmul.getLhs().getType();
    Type element = isa<SharedType>(lhs) ? cast<SharedType>(lhs).getElementType()
                                        : cast<RankedTensorType>(lhs).getElementType();
    FailureOr<FragmentAttr> expected = getFragment(kernel, *schedule, Operand::C, element);
    if (failed(expected))
      return failure();
    if (matmul.getAcc().getType().getEncoding() != *expected)
      return matmul.emitOpError() << "expects an accumulator distributed as " << *expected
                                  << " (L3.4)";
  }
  return success();
}
