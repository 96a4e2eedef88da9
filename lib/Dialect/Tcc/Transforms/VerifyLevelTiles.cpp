//===- VerifyLevelTiles.cpp - Invariants of L0t and L1 --------------------===//

#include "Target.h"
#include "VerifyLevel.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "tcc/Dialect/Tcc/IR/TccDialect.h"

using namespace mlir;
using namespace mlir::tcc;

//===----------------------------------------------------------------------===//
// L0t
//===----------------------------------------------------------------------===//

LogicalResult mlir::tcc::verifyTarget(func::FuncOp kernel) {
  if (failed(getChip(kernel))) // L0t.1
    return failure();
  for (StringRef name : {TccDialect::kScheduleAttr, TccDialect::kKernelAttr,
                         TccDialect::kVariantAttr, TccDialect::kPreconditionsAttr})
    if (!kernel->hasAttr(name))
      return kernel.emitError() << "expects the attribute '" << name << "' (L0t.2)";
  for (unsigned i = 0; i < kernel.getNumArguments(); ++i)
    for (StringRef name :
         {TccDialect::kNameAttr, TccDialect::kDimsAttr, TccDialect::kDirectionAttr})
      if (!kernel.getArgAttr(i, name))
        return kernel.emitError() << "expects '" << name << "' on argument " << i << " (L0t.4)";
  return success();
}

LogicalResult mlir::tcc::verifyVariantOrder(Operation *root) {
  // By module and kernel: the variants so far.
  DenseMap<std::pair<Operation *, StringAttr>, SmallVector<func::FuncOp>> variants;
  root->walk([&](func::FuncOp function) {
    auto name = function->getAttrOfType<StringAttr>(TccDialect::kKernelAttr);
    if (name && function->hasAttr(TccDialect::kPreconditionsAttr))
      variants[{function->getParentOp(), name}].push_back(function);
  });
  for (auto &[key, functions] : variants)
    for (func::FuncOp function : functions) {
      bool isLast = function == functions.back();
      bool isUnconditional =
          function->getAttrOfType<ArrayAttr>(TccDialect::kPreconditionsAttr).empty();
      if (isLast && !isUnconditional)
        return function.emitError() << "is the last variant of '" << key.second.getValue()
                                    << "' and must have no preconditions (L0t.3)";
      if (!isLast && isUnconditional)
        return function.emitError() << "has no preconditions, so that later variants of '"
                                    << key.second.getValue() << "' are never tried (L0t.3)";
    }
  return success();
}

//===----------------------------------------------------------------------===//
// L1
//===----------------------------------------------------------------------===//

/// L1.1: one forall; beside it only sizes and transposes.
static FailureOr<scf::ForallOp> verifyTileLoop(func::FuncOp kernel) {
  scf::ForallOp forall;
  for (Operation &op : kernel.getBody().front().without_terminator()) {
    if (auto loop = dyn_cast<scf::ForallOp>(op)) {
      if (forall)
        return loop.emitOpError() << "is a second loop over tiles; expects one (L1.1)";
      forall = loop;
    } else if (!isMemoryEffectFree(&op)) {
      return op.emitOpError() << "can't stand beside the loop over tiles: expects constants, sizes "
                                 "and transposes (L1.1)";
    }
  }
  if (!forall)
    return kernel.emitError() << "expects an scf.forall over output tiles (L1.1)";
  if (forall.getRank() != 2 || forall.getNumResults() != 0)
    return forall.emitOpError() << "expects two dimensions, M and N, and no results (L1.1)";
  for (unsigned dim = 0; dim < 2; ++dim)
    if (getConstantIntValue(forall.getMixedLowerBound()[dim]) != 0 ||
        !getConstantIntValue(forall.getMixedStep()[dim]))
      return forall.emitOpError() << "expects lower bounds of 0 and constant steps (L1.1)";
  return forall;
}

/// L1.2: no encoding, no shared memory, no thread.
static LogicalResult verifyPlainTiles(func::FuncOp kernel) {
  WalkResult walk = kernel.walk([](Operation *op) -> WalkResult {
    for (Type type : op->getResultTypes()) {
      auto tile = dyn_cast<RankedTensorType>(type);
      if (tile && (tile.getEncoding() || !tile.hasStaticShape()))
        return op->emitOpError() << "expects tiles of static shape without encoding, found " << tile
                                 << " (L1.2)";
      if (isa<SharedType, PipelineType>(type))
        return op->emitOpError() << "has no place before tcc-stage-shared (L1.2)";
    }
    if (isa<gpu::GPUDialect>(op->getDialect()))
      return op->emitOpError() << "has no place before tcc-map-grid (L1.2)";
    return WalkResult::advance();
  });
  return failure(walk.wasInterrupted());
}

/// L1.3: the loop over K.
static LogicalResult verifyMatmulLoop(MatmulLoop &program) {
  if (program.matmuls.size() != 1)
    return program.matmuls[1].emitOpError() << "is a second matmul; expects one (L1.3)";
  MatmulOp matmul = program.matmuls.front();
  for (Value operand : {matmul.getLhs(), matmul.getRhs()}) {
    auto load = operand.getDefiningOp<LoadOp>();
    if (!load || load->getBlock() != program.loop.getBody())
      return matmul.emitOpError() << "expects operands from tcc.load in the same loop (L1.3)";
  }
  Value init = program.loop.getInitArgs()[program.accIndex];
  if (!matchPattern(init, m_AnyZeroFloat()))
    return program.loop.emitOpError()
           << "expects an accumulator that starts as a zero constant (L1.3)";
  return success();
}

/// L1.4: what may stand between the loop and the stores.
static LogicalResult verifyEpilogueOp(Operation *op, RankedTensorType acc) {
  if (isa<LoadOp, StoreOp, linalg::BroadcastOp, tensor::EmptyOp>(op))
    return success();
  auto isTile = [](Type type) { return isa<RankedTensorType>(type); };
  bool isScalar = llvm::none_of(op->getResultTypes(), isTile);
  if (isMemoryEffectFree(op) && (isScalar || matchPattern(op, m_Constant())))
    return success();
  if (!op->hasTrait<OpTrait::Elementwise>() || op->getNumResults() != 1)
    return op->emitOpError() << "has no place after the loop: expects elementwise ops, splat "
                                "constants, tcc.load and linalg.broadcast (L1.4)";
  if (failed(checkRounding(op)))
    return failure();
  auto tile = cast<RankedTensorType>(op->getResult(0).getType());
  if (tile.getRank() == 2 && tile.getShape() != acc.getShape())
    return op->emitOpError() << "expects tiles of the accumulator's shape, found " << tile
                             << " (L1.4)";
  return success();
}

/// L1.5: the loops step by the schedule's block.
static LogicalResult verifySteps(scf::ForallOp forall, scf::ForOp loop, ScheduleAttr schedule) {
  std::optional<int64_t> m = getConstantIntValue(forall.getMixedStep()[0]);
  std::optional<int64_t> n = getConstantIntValue(forall.getMixedStep()[1]);
  if (m != schedule.getBlockM() || n != schedule.getBlockN())
    return forall.emitOpError() << "steps by " << *m << " and " << *n
                                << ", but the schedule's block is " << schedule.getBlockM()
                                << " by " << schedule.getBlockN() << " (L1.5)";
  if (getConstantIntValue(loop.getStep()) != schedule.getBlockK())
    return loop.emitOpError() << "expects the schedule's block K of " << schedule.getBlockK()
                              << " as its step (L1.5)";
  return success();
}

/// L1.6: every output once, at the tile's own place.
static LogicalResult verifyStores(scf::ForallOp forall) {
  DenseMap<Value, StoreOp> stored;
  for (auto store : forall.getBody()->getOps<StoreOp>()) {
    auto [entry, isNew] = stored.try_emplace(store.getDest(), store);
    if (!isNew) {
      InFlightDiagnostic error = store.emitOpError()
                                 << "stores a matrix for the second time (L1.6)";
      error.attachNote(entry->second.getLoc()) << "it is stored here, too";
      return error;
    }
    if (!llvm::equal(store.getOffsets(), forall.getInductionVars()))
      return store.emitOpError() << "expects the tile's own offsets, those of the loop over tiles "
                                    "(L1.6)";
  }
  if (stored.empty())
    return forall.emitOpError() << "expects a tcc.store of the result (L1.6)";
  return success();
}

LogicalResult mlir::tcc::verifyTiles(func::FuncOp kernel) {
  FailureOr<ScheduleAttr> schedule = getSchedule(kernel);
  if (failed(schedule))
    return failure();
  FailureOr<scf::ForallOp> forall = verifyTileLoop(kernel);
  if (failed(forall) || failed(verifyPlainTiles(kernel)))
    return failure();
  FailureOr<MatmulLoop> program = findMatmulLoop(kernel);
  if (failed(program) || failed(verifyMatmulLoop(*program)))
    return failure();
  if (program->loop->getParentOp() != *forall)
    return program->loop.emitOpError() << "expects to stand in the loop over tiles (L1.3)";
  auto acc = cast<RankedTensorType>(program->getResult().getType());
  for (Operation &op : forall->getBody()->without_terminator())
    if (&op != program->loop && failed(verifyEpilogueOp(&op, acc)))
      return failure();
  if (failed(verifySteps(*forall, program->loop, *schedule)))
    return failure();
  return verifyStores(*forall);
}
