//===- tcc-translate.cpp - From MLIR to PTX -------------------------------===//

#include "../RemarksFilter.h"
#include "tcc/InitAll.h"
#include "tcc/Target/PTX/TranslateToPTX.h"

#include "mlir/IR/Remarks.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Support/Timing.h"
#include "mlir/Tools/mlir-translate/MlirTranslateMain.h"
#include "mlir/Tools/mlir-translate/Translation.h"
#include "llvm/Support/CommandLine.h"

namespace cl = llvm::cl;
using namespace mlir;

static cl::OptionCategory category("tcc options");
static cl::opt<std::string> chip("chip", cl::cat(category), cl::value_desc("sm_XX"),
                                 cl::desc("The chip to compile for, where the program has none"));
static cl::opt<std::string> backend("backend", cl::cat(category), cl::init("auto"),
                                    cl::value_desc("auto|wmma|mma_sync|wgmma"),
                                    cl::desc("The instruction family, where the program leaves it "
                                             "open"));
static cl::opt<unsigned> ptxVersion(
    "ptx-version", cl::cat(category), cl::value_desc("80 for 8.0"), cl::init(0),
    cl::desc("The .version of the PTX; by default the lowest that has all instructions used"));
static cl::opt<std::string> remarksFilter(
    "remarks-filter", cl::cat(category), cl::value_desc("regex"),
    cl::desc("Print the remarks of passes whose whole names match, which explain their decisions"));
static cl::alias remarks("remarks", cl::cat(category), cl::aliasopt(remarksFilter),
                         cl::desc("The same as --remarks-filter"));
static cl::opt<bool> emitLLVM("emit-llvm", cl::cat(category),
                              cl::desc("Stop at the LLVM IR that code generation starts from"));
static cl::opt<bool> showTiming("timing", cl::cat(category),
                                cl::desc("Print where the time went, to standard error"));
static cl::opt<bool> verifyEach("verify-each", cl::cat(category),
                                cl::desc("Verify the program after each pass"));

static LogicalResult enableRemarks(MLIRContext &context) {
  if (remarksFilter.empty())
    return success();
  if (failed(tcc::checkRemarksFilter(remarksFilter.ArgStr, remarksFilter)))
    return failure();
  remark::RemarkCategories categories;
  categories.passed = categories.missed = categories.analysis = categories.failed = remarksFilter;
  return remark::enableOptimizationRemarks(context, /*streamer=*/nullptr,
                                           std::make_unique<remark::RemarkEmittingPolicyAll>(),
                                           categories, /*printAsEmitRemarks=*/true);
}

/// Runs the passes between the level that the module is on and L5.
static LogicalResult lower(ModuleOp module, TimingScope &timing) {
  tcc::TccToNVVMPipelineOptions options;
  options.chip = chip;
  options.backend = backend;
  PassManager manager = PassManager::on<ModuleOp>(module.getContext());
  if (failed(applyPassManagerCLOptions(manager)))
    return failure();
  manager.enableTiming(timing);
  // The program was verified when it was read, and the passes check each level's invariants. To
  // verify each op after each pass, too, takes a quarter of the passes' time.
  manager.enableVerifier(verifyEach);
  if (failed(tcc::buildRemainingPipeline(module, manager, options)))
    return failure();
  return success(succeeded(manager.run(module)) && succeeded(verify(module)));
}

static LogicalResult compile(ModuleOp module, raw_ostream &output) {
  DefaultTimingManager manager;
  applyDefaultTimingManagerCLOptions(manager);
  if (showTiming)
    manager.setEnabled(true);
  TimingScope timing = manager.getRootScope();
  if (failed(enableRemarks(*module.getContext())) || failed(lower(module, timing)))
    return failure();
  tcc::PTXOptions options;
  options.chip = chip;
  options.ptxVersion = ptxVersion;
  options.emitLLVM = emitLLVM;
  options.timing = &timing;
  FailureOr<std::string> text = tcc::translateToPTX(module, options);
  if (failed(text))
    return failure();
  output << *text;
  return success();
}

int main(int argc, char **argv) {
  registerPassManagerCLOptions();
  TranslateFromMLIRRegistration toPTX("tcc-to-ptx", "Compile kernels to self-describing PTX",
                                      compile, tcc::registerAllDialects);
  return failed(mlirTranslateMain(argc, argv, "tcc: tile programs to PTX"));
}
