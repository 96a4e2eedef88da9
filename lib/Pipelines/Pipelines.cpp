//===- Pipelines.cpp - tcc's passes in their order ------------------------===//

#include "tcc/Pipelines/Pipelines.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Transforms/Passes.h"
#include "tcc/Conversion/TccToNVVM/TccToNVVM.h"
#include "tcc/Dialect/Tcc/IR/TccDialect.h"
#include "tcc/Dialect/Tcc/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::tcc;

namespace {

/// The passes that take kernels from a level to the next one.
struct Stage {
  StringLiteral level;
  void (*addPasses)(OpPassManager &, const TccToNVVMPipelineOptions &);
};

} // namespace

/// Folds, removes repetition, and moves what a loop leaves alone out of it. LLVM gets what is left:
/// it is not asked to reorder anything (docs/Rationale.md).
static void addCleanup(OpPassManager &module) {
  // Kernel by kernel, so that they are cleaned up side by side.
  OpPassManager &manager = module.nest<gpu::GPUModuleOp>().nest<func::FuncOp>();
  // Distribution repeats some address arithmetic for each op; folding it once costs a quarter.
  manager.addPass(createCSEPass());
  // This pattern compares all pairs of values that a loop carries, of which a K loop has hundreds
  // (its accumulators), no two the same.
  std::string quadratic = "(anonymous namespace)::RemoveDuplicateSuccessorInputUses";
  manager.addPass(createCanonicalizerPass(GreedyRewriteConfig(), quadratic));
  manager.addPass(createLoopInvariantCodeMotionPass());
}

static void addTargetPasses(OpPassManager &manager, const TccToNVVMPipelineOptions &options) {
  SelectTargetPassOptions target;
  target.chip = options.chip;
  target.backend = options.backend;
  manager.addPass(createSelectTargetPass(target));
}

static void addTilePasses(OpPassManager &manager, const TccToNVVMPipelineOptions &) {
  manager.addPass(createTilePass());
}

static void addStagePasses(OpPassManager &manager, const TccToNVVMPipelineOptions &) {
  manager.addPass(createStageSharedPass());
}

static void addLayoutPasses(OpPassManager &manager, const TccToNVVMPipelineOptions &) {
  manager.addPass(createLayoutSharedPass());
  manager.addPass(createAssignFragmentsPass());
}

static void addGridPasses(OpPassManager &manager, const TccToNVVMPipelineOptions &) {
  manager.addPass(createMapGridPass());
}

static void addPipelinePasses(OpPassManager &manager, const TccToNVVMPipelineOptions &) {
  manager.addPass(createPipelinePass());
  manager.addPass(createSplitSlabsPass());
  manager.addPass(createInsertBarriersPass());
}

static void addThreadPasses(OpPassManager &manager, const TccToNVVMPipelineOptions &) {
  manager.addPass(createDistributePass());
}

static void addNVVMPasses(OpPassManager &manager, const TccToNVVMPipelineOptions &) {
  manager.addPass(createLowerPipelinePass());
  manager.addPass(createFinalizeKernelPass());
  addCleanup(manager);
  manager.addPass(createConvertTccToNVVMPass());
}

static constexpr Stage stages[] = {
    {"L0", addTargetPasses}, {"L0t", addTilePasses}, {"L1", addStagePasses},
    {"L2", addLayoutPasses}, {"L3", addGridPasses},  {"L3g", addPipelinePasses},
    {"L4", addThreadPasses}, {"L4d", addNVVMPasses},
};

static void addStages(OpPassManager &manager, ArrayRef<Stage> remaining,
                      const TccToNVVMPipelineOptions &options) {
  for (const Stage &stage : remaining) {
    stage.addPasses(manager, options);
    if (options.verifyLevels)
      manager.addPass(createVerifyLevelPass());
  }
}

void mlir::tcc::buildTccToNVVMPipeline(OpPassManager &manager,
                                       const TccToNVVMPipelineOptions &options) {
  addStages(manager, stages, options);
}

/// A hand-written L1 has no target yet: the first pass gives it one.
static StringRef getEntryLevel(func::FuncOp kernel) {
  auto level = kernel->getAttrOfType<StringAttr>(TccDialect::kLevelAttr);
  if (!level || !kernel->getParentOfType<gpu::GPUModuleOp>())
    return stages[0].level;
  return level.getValue();
}

/// Nothing that could be a kernel of any level.
static bool isEmpty(ModuleOp module) {
  auto walk = module.walk([](Operation *op) {
    auto function = dyn_cast<FunctionOpInterface>(op);
    bool mayBeKernel = isa<gpu::GPUModuleOp>(op) || (function && !function.isExternal());
    return mayBeKernel ? WalkResult::interrupt() : WalkResult::advance();
  });
  return !walk.wasInterrupted();
}

LogicalResult mlir::tcc::buildRemainingPipeline(ModuleOp module, OpPassManager &manager,
                                                const TccToNVVMPipelineOptions &options) {
  func::FuncOp first;
  auto walk = module.walk([&](func::FuncOp kernel) -> WalkResult {
    if (kernel.isDeclaration())
      return WalkResult::advance();
    if (!first)
      first = kernel;
    if (getEntryLevel(kernel) == getEntryLevel(first))
      return WalkResult::advance();
    InFlightDiagnostic error = kernel.emitError()
                               << "is on level " << getEntryLevel(kernel)
                               << ", but another kernel of the module is on level "
                               << getEntryLevel(first) << "; run the passes between them first";
    error.attachNote(first.getLoc()) << "here";
    return WalkResult::interrupt();
  });
  if (walk.wasInterrupted())
    return failure();
  if (!first && isEmpty(module))
    return emitError(module.getLoc(), "the program has no kernel; expected a func.func with a "
                                      "linalg.matmul, or kernels of another level (docs/IR.md)");
  if (!first) // all kernels are on L5
    return success();
  ArrayRef<Stage> remaining = stages;
  StringRef level = getEntryLevel(first);
  remaining = remaining.drop_until([&](const Stage &stage) { return stage.level == level; });
  if (remaining.empty())
    return first.emitError() << "is on the unknown level '" << level << "'";
  addStages(manager, remaining, options);
  return success();
}

void mlir::tcc::registerPipelines() {
  PassPipelineRegistration<TccToNVVMPipelineOptions>(
      "tcc-to-nvvm-pipeline", "From linalg on matrices (L0) to llvm and nvvm ops (L5)",
      buildTccToNVVMPipeline);
}
