//===- Codegen.cpp - From LLVM IR to PTX text -----------------------------===//

#include "Codegen.h"
#include "Instructions.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/PassInfo.h"
#include "llvm/PassRegistry.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/CrashRecoveryContext.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetOptions.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar.h"
#include "llvm/Transforms/Utils.h"
#include <mutex>

using namespace llvm;

extern "C" {
void LLVMInitializeNVPTXTargetInfo();
void LLVMInitializeNVPTXTarget();
void LLVMInitializeNVPTXTargetMC();
void LLVMInitializeNVPTXAsmPrinter();
}

void mlir::tcc::markCollectives(Module &module) {
  for (Function &function : module) {
    for (Instruction &instruction : instructions(function)) {
      auto *call = dyn_cast<CallInst>(&instruction);
      if (!call)
        continue;
      bool collective = false;
      if (const auto *assembly = dyn_cast<InlineAsm>(call->getCalledOperand())) {
        collective = any_of(mnemonicsOf(assembly->getAsmString()), isCollective);
      } else if (const Function *callee = call->getCalledFunction()) {
        StringRef name = callee->getName();
        // A function of the module may hold collective instructions itself.
        collective = name.consume_front("llvm.nvvm.") ? isCollective(name) : !callee->isIntrinsic();
      }
      if (collective)
        call->setConvergent();
    }
    if (!function.isDeclaration())
      function.setConvergent();
  }
}

Expected<std::unique_ptr<TargetMachine>> mlir::tcc::createTargetMachine(StringRef chip,
                                                                        unsigned ptxVersion) {
  static std::once_flag initialized;
  std::call_once(initialized, [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
    // The back end has these as options alone. Without the first, all shared address arithmetic is
    // in 64 bits. Sinking takes arithmetic on the accumulators down to where all of them are
    // stored, and everything that it reads lives until there.
    auto &options = cl::getRegisteredOptions();
    for (StringRef name : {"nvptx-short-ptr", "disable-machine-sink"})
      if (auto found = options.find(name); found != options.end())
        if (found->second->getNumOccurrences() == 0) // what a program set itself stays
          found->second->addOccurrence(/*pos=*/0, name, "true");
  });

  Triple triple("nvptx64-nvidia-cuda");
  std::string error;
  const Target *target = TargetRegistry::lookupTarget(triple, error);
  if (!target)
    return createStringError(error);
  std::unique_ptr<TargetMachine> machine(target->createTargetMachine(
      triple, chip, "+ptx" + std::to_string(ptxVersion), TargetOptions(), /*RM=*/std::nullopt,
      /*CM=*/std::nullopt, CodeGenOptLevel::Aggressive));
  if (!machine)
    return createStringError("LLVM has no code generator for " + chip);
  return machine;
}

void mlir::tcc::optimize(Module &module, TargetMachine &machine) {
  // Kernels come unrolled, pipelined and free of common subexpressions from MLIR. What is left is
  // cleaning up after the translation (aggregates, address arithmetic); passes that reorder, unroll
  // or vectorise would undo decisions that schedules have made.
  legacy::PassManager passes;
  passes.add(createTargetTransformInfoWrapperPass(machine.getTargetIRAnalysis()));
  passes.add(createSROAPass(/*PreserveCFG=*/false));
  passes.add(createEarlyCSEPass(/*UseMemorySSA=*/true));
  passes.add(createInstructionCombiningPass());
  passes.add(createCFGSimplificationPass());
  passes.add(createEarlyCSEPass(/*UseMemorySSA=*/true));
  passes.add(createDeadCodeEliminationPass());
  passes.run(module);
}

namespace {
/// The code generator's own pipeline without the passes that look for common parts of addresses and
/// for accesses to join: distribution shares the ones and makes the others as wide as they can be.
/// Straight-line strength reduction alone took a third of the time from LLVM IR to PTX.
class CodegenPasses : public legacy::PassManagerBase {
public:
  explicit CodegenPasses(legacy::PassManagerBase &passes) : passes(passes) {}

  void add(Pass *pass) override {
    const PassInfo *info = PassRegistry::getPassRegistry()->getPassInfo(pass->getPassID());
    if (info && is_contained(skipped, info->getPassArgument()))
      delete pass;
    else
      passes.add(pass);
  }

private:
  static constexpr StringLiteral skipped[] = {"slsr", "gvn", "nary-reassociate", "consthoist",
                                              "load-store-vectorizer"};

  legacy::PassManagerBase &passes;
};
} // namespace

/// Where the running thread's code generation wants the text of a fatal error.
static thread_local std::string *fatalErrorText = nullptr;

/// LLVM reports fatal errors to a handler that must not return. Inside a crash recovery context,
/// which is a thread's own, it leaves by the context, and the process lives on.
static void leaveByCrashRecovery(void *, const char *message, bool) {
  if (fatalErrorText)
    *fatalErrorText = message;
  if (CrashRecoveryContext *context = CrashRecoveryContext::GetCurrent())
    context->HandleExit(1);
}

mlir::tcc::FatalErrorsAsErrors::FatalErrorsAsErrors() : handler(leaveByCrashRecovery) {
  CrashRecoveryContext::Enable();
}

mlir::tcc::FatalErrorsAsErrors::~FatalErrorsAsErrors() { CrashRecoveryContext::Disable(); }

namespace {
/// Collects LLVM's errors; the default handler would end the process.
struct ErrorCollector : DiagnosticHandler {
  explicit ErrorCollector(std::string &errors) : errors(errors) {}

  bool handleDiagnostics(const DiagnosticInfo &info) override {
    if (info.getSeverity() != DS_Error)
      return true;
    raw_string_ostream os(errors);
    DiagnosticPrinterRawOStream printer(os);
    os << (errors.empty() ? "" : "; ");
    info.print(printer);
    return true;
  }

  std::string &errors;
};
} // namespace

Expected<std::string> mlir::tcc::generatePTX(Module &module, TargetMachine &machine) {
  std::string errors;
  module.getContext().setDiagnosticHandler(std::make_unique<ErrorCollector>(errors));

  SmallString<0> text;
  bool unsupported = false;
  fatalErrorText = &errors;
  bool finished = CrashRecoveryContext().RunSafely([&] {
    raw_svector_ostream os(text);
    legacy::PassManager passes;
    CodegenPasses codegen(passes);
    unsupported =
        machine.addPassesToEmitFile(codegen, os, /*DwoOut=*/nullptr, CodeGenFileType::AssemblyFile);
    if (!unsupported)
      passes.run(module);
  });
  fatalErrorText = nullptr;
  if (finished && !unsupported && errors.empty())
    return std::string(text);
  StringRef reason = StringRef(errors).take_until([](char c) { return c == '\n'; });
  return createStringError("LLVM can't generate code for " + machine.getTargetCPU() + " and " +
                           machine.getTargetFeatureString().drop_front() + ": " +
                           (reason.empty() ? "internal error" : reason));
}
