//===- VerifyLevel.cpp - Does a kernel keep its level's promises? ---------===//

#include "VerifyLevel.h"

#include "tcc/Dialect/Tcc/Transforms/Passes.h"

namespace mlir::tcc {
#define GEN_PASS_DEF_VERIFYLEVELPASS
#include "tcc/Dialect/Tcc/Transforms/Passes.h.inc"
} // namespace mlir::tcc

using namespace mlir;
using namespace mlir::tcc;

static LogicalResult verifyKernel(func::FuncOp kernel) {
  FailureOr<Level> found = getLevel(kernel);
  if (failed(found))
    return failure();
  Level level = *found;
  auto isFrom = [&](Level first) { return level >= first; };
  auto isBetween = [&](Level first, Level last) { return level >= first && level <= last; };

  if (isFrom(Level::L0t) && failed(verifyTarget(kernel)))
    return failure();
  if (level == Level::L1 && failed(verifyTiles(kernel)))
    return failure();
  if (isBetween(Level::L2, Level::L4) && failed(verifyStaging(kernel, level)))
    return failure();
  if (isBetween(Level::L3, Level::L4) && failed(verifyDistribution(kernel)))
    return failure();
  if (isFrom(Level::L3g) && failed(verifyGrid(kernel)))
    return failure();
  if (isBetween(Level::L3g, Level::L4) && failed(verifyShares(kernel)))
    return failure();
  if (level == Level::L4 && failed(verifyPipelines(kernel)))
    return failure();
  if (level == Level::L4d && failed(verifyThreads(kernel)))
    return failure();
  return success();
}

namespace {

struct VerifyLevelPass : mlir::tcc::impl::VerifyLevelPassBase<VerifyLevelPass> {
  void runOnOperation() override {
    markAllAnalysesPreserved();
    WalkResult walk = getOperation()->walk([](func::FuncOp function) {
      return WalkResult(function.isDeclaration() ? success() : verifyKernel(function));
    });
    if (walk.wasInterrupted() || failed(verifyVariantOrder(getOperation())))
      signalPassFailure();
  }
};

} // namespace
