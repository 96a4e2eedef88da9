//===- Pipeline.cpp - Copies run ahead of the matmuls (L3g) ---------------===//

#include "SharedLayouts.h"
#include "SpecializedPipeline.h"
#include "Target.h"
#include "UniformPipeline.h"
#include "tcc/Dialect/Tcc/IR/TccDialect.h"
#include "tcc/Dialect/Tcc/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace mlir::tcc {
#define GEN_PASS_DEF_PIPELINEPASS
#include "tcc/Dialect/Tcc/Transforms/Passes.h.inc"
} // namespace mlir::tcc

using namespace mlir;
using namespace mlir::tcc;

/// Writes `tcc.shared_bytes`; an error with both numbers if the chip has less (L4.2).
static LogicalResult setSharedBytes(func::FuncOp kernel, ScheduleAttr schedule) {
  FailureOr<const ::tcc::arch::Chip *> chip = getChip(kernel);
  if (failed(chip))
    return failure();
  SharedMemoryPlan plan = planSharedMemory(kernel);
  int64_t limit = (*chip)->limits().sharedBytesPerBlock;
  if (plan.totalBytes > limit) {
    InFlightDiagnostic error =
        kernel.emitError() << "needs " << plan.totalBytes << " bytes of shared memory with "
                           << schedule.getStages() << " stages, but " << (*chip)->name() << " has "
                           << limit << " for a block: use fewer stages or a smaller block";
    for (SharedMemoryPlan::Buffer &buffer : plan.buffers) {
      SharedType type = buffer.alloc.getType();
      error.attachNote(buffer.alloc->getLoc())
          << type << " takes " << type.getStageBytes() * type.getStages() << " bytes";
    }
    return error;
  }
  kernel->setAttr(TccDialect::kSharedBytesAttr,
                  IntegerAttr::get(IntegerType::get(kernel.getContext(), 64), plan.totalBytes));
  return success();
}

static LogicalResult pipelineKernel(func::FuncOp kernel) {
  FailureOr<ScheduleAttr> schedule = getSchedule(kernel);
  if (failed(schedule))
    return failure();
  FailureOr<CopyLoop> program = CopyLoop::find(kernel, *schedule);
  if (failed(program))
    return failure();
  bool isUniform = schedule->getRoles() == Roles::Uniform;
  auto build = isUniform ? buildUniformPipeline : buildSpecializedPipeline;
  if (failed(build(std::move(*program))))
    return failure();
  return setSharedBytes(kernel, *schedule);
}

namespace {

struct PipelinePass : mlir::tcc::impl::PipelinePassBase<PipelinePass> {
  void runOnOperation() override {
    if (failed(transformKernels(getOperation(), getArgument(), Level::L3g, pipelineKernel)))
      signalPassFailure();
  }
};

} // namespace
