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
      return emitOpError() << "expects buffers of the pipeline's " << stages << " stages, found "
                           << "one of " << found;
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
  int64_t groups = getGroups(), consumers = getConsumers();
  if (groups != 1 && groups != 2)
    return emitOpError() << "'groups' is 1 or 2, found " << groups;
  if (consumers <= 0 || consumers % (4 * groups) != 0) {
    InFlightDiagnostic error = emitOpError();
    error << "'consumers' is a multiple of " << 4 * groups << " warps (whole warpgroups";
    if (groups > 1)
      error << ", in each of " << groups << " groups";
    return error << "), found " << consumers;
  }
  WalkResult result = walk([&](gpu::BarrierOp barrier) {
    InFlightDiagnostic error = emitOpError()
                               << "holds a barrier of the whole block, which the warps of the "
                               << "other role never reach";
    error.attachNote(barrier.getLoc()) << "the barrier is here";
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

/// What only consumers may do.
static LogicalResult verifyIsConsumer(Operation *op) {
  auto roles = op->getParentOfType<WarpSpecializeOp>();
  if (roles && roles.getConsumer().isAncestor(op->getParentRegion()))
    return success();
  return op->emitOpError() << "expects to stand in the region 'consumer' of a tcc.warp_specialize";
}

LogicalResult ConsumerGroupOp::verify() { return verifyIsConsumer(*this); }

LogicalResult GroupBarrierOp::verify() { return verifyIsConsumer(*this); }

template <typename StepOpT>
static LogicalResult verifyIsTma(StepOpT op) {
  Transport transport = op.getPipeline().getType().getTransport();
  if (transport == Transport::Tma)
    return success();
  return op.emitOpError() << "expects a pipeline of transport 'tma', found '"
                          << stringifyTransport(transport) << "'";
}

/// Turns are of two groups, by barriers beside those of the slots.
template <typename TurnOpT>
static LogicalResult verifyTurn(TurnOpT op) {
  if (failed(verifyIsConsumer(op)))
    return failure();
  auto roles = op->template getParentOfType<WarpSpecializeOp>();
  if (roles.getGroups() != 2) {
    InFlightDiagnostic error = op.emitOpError()
                               << "expects a tcc.warp_specialize with groups = 2, found "
                               << roles.getGroups();
    error.attachNote(roles.getLoc()) << "the roles are here";
    return error;
  }
  return verifyIsTma(op);
}

LogicalResult ProducerTailOp::verify() { return verifyIsTma(*this); }

LogicalResult TurnWaitOp::verify() { return verifyTurn(*this); }

LogicalResult TurnPassOp::verify() { return verifyTurn(*this); }
