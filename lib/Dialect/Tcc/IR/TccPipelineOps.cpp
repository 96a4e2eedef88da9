//===- TccPipelineOps.cpp - Verifiers of pipeline ops -----------------------------------===//

#include "tcc/Dialect/Tcc/IR/TccOps.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace mlir::tcc;

LogicalResult CreatePipelineOp::verify() {
  int64_t stages = getType().getStages();
  for (Value buffer : getBuffers()) {
    int64_t found = cast<SharedType>(buffer.getType()).getStages();
    if (found != stages)
      return emitOpError() << "expects buffers of the pipeline's " << stages << " stages, found one "
                           << "of " << found;
  }
  return success();
}

LogicalResult ConsumerWaitOp::verify() {
  int64_t pending = getPending(), stages = getPipeline().getType().getStages();
  if (pending < 0 || pending >= stages)
    return emitOpError() << "'pending' is from 0 to one less than the pipeline's " << stages
                         << " stages, found " << pending;
  return success();
}

LogicalResult WarpSpecializeOp::verify() {
  if (getConsumers() <= 0 || getConsumers() % 4 != 0)
    return emitOpError() << "'consumers' is a multiple of 4 warps (whole warpgroups), found "
                         << getConsumers();
  WalkResult result = walk([&](gpu::BarrierOp barrier) {
    InFlightDiagnostic error = emitOpError()
                               << "holds a barrier of the whole block, which the warps of the "
                               << "other role never reach";
    error.attachNote(barrier.getLoc()) << "the barrier is here";
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}
