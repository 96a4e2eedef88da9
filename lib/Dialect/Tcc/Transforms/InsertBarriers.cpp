//===- InsertBarriers.cpp - Barriers around unguarded buffers (to L4) -----===//

#include "Barriers.h"
#include "tcc/Dialect/Tcc/Transforms/Passes.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

namespace mlir::tcc {
#define GEN_PASS_DEF_INSERTBARRIERSPASS
#include "tcc/Dialect/Tcc/Transforms/Passes.h.inc"
} // namespace mlir::tcc

using namespace mlir;
using namespace mlir::tcc;

/// wait for bulk stores that read what is written, or show them what was written; barrier
static void insertBarrier(BarrierConflict conflict) {
  OpBuilder builder(conflict.access);
  Location loc = conflict.access->getLoc();
  if (conflict.withBulkStore)
    BulkWaitOp::create(builder, loc, /*read=*/true);
  if (conflict.isBulkStore) // each thread for its own writes (PTX ISA, fence.proxy.async)
    NVVM::FenceProxyOp::create(builder, loc, NVVM::ProxyKind::async_shared,
                               NVVM::SharedSpaceAttr::get(builder.getContext(),
                                                          NVVM::SharedSpace::shared_cta));
  if (conflict.isInRole)
    GroupBarrierOp::create(builder, loc);
  else
    gpu::BarrierOp::create(builder, loc);
}

/// Shared memory lives until the last bulk store has read it. What it writes is there when the grid
/// has ended, as all of a kernel's writes (CUDA C++ Programming Guide, "Using TMA to transfer
/// one-dimensional arrays": its kernel ends with a wait for the reads).
static void insertLastWait(func::FuncOp kernel) {
  SetVector<Block *> ends;
  kernel.walk([&](BulkStoreOp store) {
    auto roles = store->getParentOfType<WarpSpecializeOp>();
    ends.insert(roles ? &roles.getConsumer().front() : &kernel.getBody().front());
  });
  for (Block *end : ends) {
    OpBuilder builder(end->getTerminator());
    BulkWaitOp::create(builder, kernel.getLoc(), /*read=*/true);
  }
}

static LogicalResult insertBarriers(func::FuncOp kernel) {
  auto insert = [](BarrierConflict conflict) -> FailureOr<bool> {
    insertBarrier(conflict);
    return true;
  };
  if (failed(findBarrierConflicts(kernel, insert)))
    return failure();
  insertLastWait(kernel);
  setLevel(kernel, Level::L4);
  return success();
}

namespace {

struct InsertBarriersPass : mlir::tcc::impl::InsertBarriersPassBase<InsertBarriersPass> {
  void runOnOperation() override {
    if (failed(transformKernels(getOperation(), getArgument(), Level::L3g, insertBarriers)))
      signalPassFailure();
  }
};

} // namespace
