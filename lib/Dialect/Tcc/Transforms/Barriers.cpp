//===- Barriers.cpp - Conflicts in unguarded shared buffers ---------------===//
//
// For every buffer that no pipeline guards: what happened to it since the last barrier of those
// who share it, the block or, in a role, a consumer group. Loops are walked until what enters an
// iteration doesn't change any more.
//
//===----------------------------------------------------------------------===//

#include "Barriers.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace mlir::tcc;

namespace {

/// Accesses to a buffer since the last barrier; by bulk stores, which other threads don't see end,
/// since the last wait for them and a barrier after it; what TMA doesn't see yet, since the last
/// fence of the writers and a barrier after it.
struct Pending {
  bool read = false;
  bool written = false;
  bool bulkRead = false;
  bool unfenced = false;
  bool unseen = false;

  bool operator==(const Pending &other) const { return bits() == other.bits(); }
  bool operator!=(const Pending &other) const { return !(*this == other); }
  void join(const Pending &other) {
    read |= other.read;
    written |= other.written;
    bulkRead |= other.bulkRead;
    unfenced |= other.unfenced;
    unseen |= other.unseen;
  }

private:
  std::tuple<bool, bool, bool, bool, bool> bits() const {
    return {read, written, bulkRead, unfenced, unseen};
  }
};

class ConflictFinder {
public:
  explicit ConflictFinder(function_ref<FailureOr<bool>(BarrierConflict)> onConflict)
      : onConflict(onConflict) {}

  LogicalResult visit(Block &block);

private:
  LogicalResult visit(Operation *op);
  LogicalResult visitLoop(scf::ForOp loop);
  LogicalResult visitRoles(WarpSpecializeOp roles);
  LogicalResult visitShares(ClusterReduceOp reduce);
  LogicalResult visitOther(Operation *op);
  /// Lets what is in `other` be pending, too.
  static void join(DenseMap<Value, Pending> &into, const DenseMap<Value, Pending> &other);
  LogicalResult access(Operation *op, Value buffer, bool isWrite);
  LogicalResult bulkStore(BulkStoreOp store);
  LogicalResult report(BarrierConflict conflict);
  void passFence();
  void passBarrier();

  function_ref<FailureOr<bool>(BarrierConflict)> onConflict;
  /// Buffers with accesses; those without any are absent.
  DenseMap<Value, Pending> pending;
  /// A tcc.bulk_wait stands between here and the last bulk store.
  bool isBulkWaited = false;
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
  return isa<gpu::BarrierOp, GroupBarrierOp>(op);
}

bool mlir::tcc::isGuarded(Value buffer) {
  return llvm::any_of(buffer.getUsers(), llvm::IsaPred<CreatePipelineOp>);
}

/// Orders a thread's own writes before reads in the async proxy (PTX ISA, "Async proxy").
static bool isFence(Operation *op) {
  auto fence = dyn_cast<NVVM::FenceProxyOp>(op);
  return fence && (fence.getKind() == NVVM::ProxyKind::async ||
                   fence.getKind() == NVVM::ProxyKind::async_shared);
}

void ConflictFinder::passFence() {
  for (auto &[buffer, accesses] : pending)
    accesses.unfenced = false;
}

/// Reads by bulk stores end with a wait before the barrier alone, and what isn't fenced before it
/// stays unseen.
void ConflictFinder::passBarrier() {
  DenseMap<Value, Pending> after;
  for (auto [buffer, accesses] : pending) {
    Pending left;
    left.bulkRead = accesses.bulkRead && !isBulkWaited;
    left.unfenced = left.unseen = accesses.unfenced;
    if (left != Pending())
      after[buffer] = left;
  }
  pending = std::move(after);
}

LogicalResult ConflictFinder::report(BarrierConflict conflict) {
  conflict.isInRole = isInRole;
  FailureOr<bool> hasBarrier = onConflict(conflict);
  if (failed(hasBarrier))
    return failure();
  if (!*hasBarrier)
    return success();
  isBulkWaited |= conflict.withBulkStore;
  if (conflict.isBulkStore)
    passFence();
  passBarrier();
  return success();
}

LogicalResult ConflictFinder::access(Operation *op, Value buffer, bool isWrite) {
  if (isGuarded(buffer))
    return success();
  Pending before = pending.lookup(buffer);
  bool withBulkStore = isWrite && before.bulkRead;
  if (withBulkStore || before.written || (isWrite && before.read))
    if (failed(report({op, withBulkStore, /*isBulkStore=*/false})))
      return failure();
  Pending &now = pending[buffer];
  if (isWrite)
    now.written = now.unfenced = now.unseen = true;
  else
    now.read = true;
  return success();
}

/// One thread starts it for all that wrote the buffer, and TMA reads.
LogicalResult ConflictFinder::bulkStore(BulkStoreOp store) {
  if (pending.lookup(store.getSource()).unseen)
    if (failed(report({store, /*withBulkStore=*/false, /*isBulkStore=*/true})))
      return failure();
  pending[store.getSource()].bulkRead = true;
  isBulkWaited = false;
  return success();
}

void ConflictFinder::join(DenseMap<Value, Pending> &into,
                          const DenseMap<Value, Pending> &other) {
  for (auto [buffer, accesses] : other)
    into[buffer].join(accesses);
}

/// A loop's body runs after what came before it, and after itself.
LogicalResult ConflictFinder::visitLoop(scf::ForOp loop) {
  DenseMap<Value, Pending> entry = pending;
  while (true) {
    pending = entry;
    if (failed(visit(*loop.getBody())))
      return failure();
    DenseMap<Value, Pending> joined = entry;
    join(joined, pending);
    if (joined == entry)
      break;
    entry = std::move(joined);
    isBulkWaited = false;
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

/// The whole block meets before the parts are exchanged, and runs one of the regions.
LogicalResult ConflictFinder::visitShares(ClusterReduceOp reduce) {
  passBarrier();
  DenseMap<Value, Pending> entry = pending, joined;
  bool wasBulkWaited = isBulkWaited;
  for (Region &share : reduce.getShares()) {
    pending = entry;
    isBulkWaited = wasBulkWaited;
    if (failed(visit(share.front())))
      return failure();
    join(joined, pending);
  }
  pending = std::move(joined);
  isBulkWaited = false;
  return success();
}

/// It reads on after it has been issued: no barrier says when it has ended.
static LogicalResult verifyOperands(MatmulOp matmul) {
  for (Value operand : {matmul.getLhs(), matmul.getRhs()})
    if (isa<SharedType>(operand.getType()) && !isGuarded(operand))
      return matmul.emitOpError()
             << "reads a buffer that no pipeline guards (L4.1): run tcc-pipeline first";
  return success();
}

/// An op whose regions are not followed, as those of scf.if.
LogicalResult ConflictFinder::visitOther(Operation *op) {
  auto visitInner = [&](Operation *inner) -> WalkResult {
    if (auto matmul = dyn_cast<MatmulOp>(inner))
      return verifyOperands(matmul);
    if (isa<LocalStoreOp, LocalLoadOp, CopyOp, BulkStoreOp>(inner))
      return op->emitOpError() << "can't hold accesses to shared memory: only scf.for, "
                                  "tcc.warp_specialize and tcc.cluster_reduce may (L4.4)";
    return WalkResult::advance();
  };
  for (Region &region : op->getRegions())
    if (region.walk(visitInner).wasInterrupted())
      return failure();
  return success();
}

LogicalResult ConflictFinder::visit(Operation *op) {
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return visitLoop(loop);
  if (auto roles = dyn_cast<WarpSpecializeOp>(op))
    return visitRoles(roles);
  if (auto reduce = dyn_cast<ClusterReduceOp>(op))
    return visitShares(reduce);
  if (isBlockBarrier(op)) {
    passBarrier();
    return success();
  }
  if (isa<BulkWaitOp>(op)) {
    isBulkWaited = true;
    return success();
  }
  if (isFence(op)) {
    passFence();
    return success();
  }
  if (auto store = dyn_cast<BulkStoreOp>(op))
    return bulkStore(store);
  if (auto store = dyn_cast<LocalStoreOp>(op))
    return access(op, store.getDest(), /*isWrite=*/true);
  if (auto load = dyn_cast<LocalLoadOp>(op))
    return access(op, load.getSource(), /*isWrite=*/false);
  auto copy = dyn_cast<CopyOp>(op);
  if (copy && !isGuarded(copy.getDest()))
    return copy.emitOpError()
           << "goes to a buffer that no pipeline guards (L4.1): run tcc-pipeline first";
  if (auto matmul = dyn_cast<MatmulOp>(op))
    return verifyOperands(matmul);
  return visitOther(op);
}

LogicalResult ConflictFinder::visit(Block &block) {
  for (Operation &op : block)
    if (failed(visit(&op)))
      return failure();
  return success();
}

LogicalResult
mlir::tcc::findBarrierConflicts(func::FuncOp kernel,
                                function_ref<FailureOr<bool>(BarrierConflict)> onConflict) {
  return ConflictFinder(onConflict).visit(kernel.getBody().front());
}
