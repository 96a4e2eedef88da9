//===- Barriers.cpp - Conflicts in unguarded shared buffers ---------------===//
//
// For every buffer that no pipeline guards: what happened to it since the last barrier of the
// block. Loops are walked until what enters an iteration doesn't change any more.
//
//===----------------------------------------------------------------------===//

#include "Barriers.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

using namespace mlir;
using namespace mlir::tcc;

namespace {

/// Accesses to a buffer since the last barrier.
struct Pending {
  bool read = false;
  bool written = false;

  bool operator==(const Pending &other) const {
    return read == other.read && written == other.written;
  }
  bool operator!=(const Pending &other) const { return !(*this == other); }
};

class ConflictFinder {
public:
  explicit ConflictFinder(function_ref<FailureOr<bool>(Operation *)> onConflict)
      : onConflict(onConflict) {}

  LogicalResult visit(Block &block);

private:
  LogicalResult visit(Operation *op);
  LogicalResult visitLoop(scf::ForOp loop);
  LogicalResult visitRoles(WarpSpecializeOp roles);
  LogicalResult access(Operation *op, Value buffer, bool isWrite);

  function_ref<FailureOr<bool>(Operation *)> onConflict;
  /// Buffers with accesses; those without any are absent.
  DenseMap<Value, Pending> pending;
  bool isInRole = false;
};

} // namespace

bool mlir::tcc::isBlockBarrier(DrainOp drain) {
  return drain.getPipeline().getType().getTransport() != Transport::Tma &&
         drain->getParentOfType<LoopLikeOpInterface>();
}

/// With uniform roles the consumer's steps are barriers of the block, with tma of nobody.
static bool isBlockBarrier(Operation *op) {
  if (auto wait = dyn_cast<ConsumerWaitOp>(op))
    return wait.getPipeline().getType().getTransport() != Transport::Tma;
  if (auto drain = dyn_cast<DrainOp>(op))
    return mlir::tcc::isBlockBarrier(drain);
  return isa<gpu::BarrierOp>(op);
}

bool mlir::tcc::isGuarded(Value buffer) {
  return llvm::any_of(buffer.getUsers(), llvm::IsaPred<CreatePipelineOp>);
}

LogicalResult ConflictFinder::access(Operation *op, Value buffer, bool isWrite) {
  if (isGuarded(buffer))
    return success();
  if (isInRole)
    return op->emitOpError() << "is in a role, where no barrier of the block can order it: expects "
                                "epilogue = direct (L4.4)";
  Pending before = pending.lookup(buffer);
  if (before.written || (isWrite && before.read)) {
    FailureOr<bool> hasBarrier = onConflict(op);
    if (failed(hasBarrier))
      return failure();
    if (*hasBarrier)
      pending.clear();
  }
  Pending &now = pending[buffer];
  (isWrite ? now.written : now.read) = true;
  return success();
}

/// A loop's body runs after what came before it, and after itself.
LogicalResult ConflictFinder::visitLoop(scf::ForOp loop) {
  DenseMap<Value, Pending> entry = pending;
  while (true) {
    pending = entry;
    if (failed(visit(*loop.getBody())))
      return failure();
    DenseMap<Value, Pending> joined = entry;
    for (auto [buffer, accesses] : pending) {
      Pending &both = joined[buffer];
      both.read |= accesses.read;
      both.written |= accesses.written;
    }
    if (joined == entry)
      break;
    entry = std::move(joined);
  }
  // The loop may run no iteration at all: what enters covers both.
  pending = std::move(entry);
  return success();
}

/// Roles meet at pipelines alone.
LogicalResult ConflictFinder::visitRoles(WarpSpecializeOp roles) {
  isInRole = true;
  LogicalResult result = success(succeeded(visit(roles.getProducer().front())) &&
                                 succeeded(visit(roles.getConsumer().front())));
  isInRole = false;
  return result;
}

LogicalResult ConflictFinder::visit(Operation *op) {
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return visitLoop(loop);
  if (auto roles = dyn_cast<WarpSpecializeOp>(op))
    return visitRoles(roles);
  if (isBlockBarrier(op)) {
    pending.clear();
    return success();
  }
  if (auto store = dyn_cast<LocalStoreOp>(op))
    return access(op, store.getDest(), /*isWrite=*/true);
  if (auto load = dyn_cast<LocalLoadOp>(op))
    return access(op, load.getSource(), /*isWrite=*/false);
  auto copy = dyn_cast<CopyOp>(op);
  if (copy && !isGuarded(copy.getDest()))
    return copy.emitOpError()
           << "goes to a buffer that no pipeline guards (L4.1): run tcc-pipeline first";
  if (op->getNumRegions() == 0)
    return success();
  WalkResult walk = op->walk([&](Operation *inner) {
    return isa<LocalStoreOp, LocalLoadOp, CopyOp>(inner) ? WalkResult::interrupt()
                                                         : WalkResult::advance();
  });
  if (walk.wasInterrupted())
    return op->emitOpError() << "can't hold accesses to shared memory: only scf.for may (L4.4)";
  return success();
}

LogicalResult ConflictFinder::visit(Block &block) {
  for (Operation &op : block)
    if (failed(visit(&op)))
      return failure();
  return success();
}

LogicalResult
mlir::tcc::findBarrierConflicts(func::FuncOp kernel,
                                function_ref<FailureOr<bool>(Operation *)> onConflict) {
  return ConflictFinder(onConflict).visit(kernel.getBody().front());
}
