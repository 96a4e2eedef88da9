//===- InsertBarriers.cpp - Barriers around unguarded buffers (to L4) -----===//

#include "Barriers.h"
#include "tcc/Dialect/Tcc/Transforms/Passes.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace mlir::tcc {
#define GEN_PASS_DEF_INSERTBARRIERSPASS
#include "tcc/Dialect/Tcc/Transforms/Passes.h.inc"
} // namespace mlir::tcc

using namespace mlir;
using namespace mlir::tcc;

static LogicalResult insertBarriers(func::FuncOp kernel) {
  auto insert = [](Operation *access) -> FailureOr<bool> {
    OpBuilder builder(access);
    gpu::BarrierOp::create(builder, access->getLoc());
    return true;
  };
  if (failed(findBarrierConflicts(kernel, insert)))
    return failure();
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
