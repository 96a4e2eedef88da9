//===- TranslateToPTX.cpp - From NVVM to PTX text -------------------------===//

#include "tcc/Target/PTX/TranslateToPTX.h"
#include "Codegen.h"
#include "Instructions.h"
#include "Requirements.h"
#include "tcc/Metadata/Header.h"

#include "mlir/Conversion/NVVMToLLVM/NVVMToLLVM.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/LLVMIR/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/GPU/GPUToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"

using namespace mlir;
using namespace mlir::tcc;
using ::tcc::arch::Chip;

/// The op whose body is translated: the one gpu.module, or the module itself without any.
static FailureOr<Operation *> findKernelModule(ModuleOp module) {
  auto gpuModules = llvm::to_vector(module.getOps<gpu::GPUModuleOp>());
  if (gpuModules.empty())
    return module.getOperation();
  if (gpuModules.size() == 1)
    return gpuModules.front().getOperation();
  InFlightDiagnostic diag = module.emitError()
                            << "expected one gpu.module, since a PTX file has one target; found "
                            << gpuModules.size();
  for (gpu::GPUModuleOp gpuModule : gpuModules)
    diag.attachNote(gpuModule.getLoc()) << "here";
  return diag;
}

/// The chip that the option, the target attribute, or both, name.
static FailureOr<const Chip *> findChip(Operation *kernelModule, StringRef asked) {
  std::string name = asked.str();
  if (auto gpuModule = dyn_cast<gpu::GPUModuleOp>(kernelModule)) {
    ArrayAttr targets = gpuModule.getTargetsAttr();
    if (targets && targets.size() > 1)
      return gpuModule.emitError() << "expected one target, found " << targets.size();
    if (targets && targets.size() == 1) {
      auto target = dyn_cast<NVVM::NVVMTargetAttr>(targets[0]);
      if (!target)
        return gpuModule.emitError() << "expected an #nvvm.target, found " << targets[0];
      if (!name.empty() && name != target.getChip())
        return gpuModule.emitError()
               << "is lowered for " << target.getChip() << ", and --chip=" << name
               << " was asked for; leave the option out, or lower the program anew for " << name;
      name = target.getChip().str();
    }
  }
  if (name.empty())
    return kernelModule->emitError() << "expected a chip: give --chip, or a gpu.module with an "
                                        "#nvvm.target";
  llvm::Expected<const Chip *> chip = ::tcc::arch::lookupChip(name);
  if (!chip)
    return kernelModule->emitError() << llvm::toString(chip.takeError());
  return *chip;
}

/// Only L5's dialects may be left, and at least one kernel must be there.
static LogicalResult verifyLevel(Operation *kernelModule) {
  bool hasKernel = false;
  WalkResult result =
      kernelModule->walk([&](Operation *op) -> WalkResult {
        if (op == kernelModule)
          return WalkResult::advance();
        if (!isa_and_nonnull<LLVM::LLVMDialect, NVVM::NVVMDialect>(op->getDialect()))
          return op->emitError() << "expected only llvm and nvvm ops in a module that becomes PTX";
        auto function = dyn_cast<LLVM::LLVMFuncOp>(op);
        if (!function || !function->hasAttr(NVVM::NVVMDialect::getKernelFuncAttrName()))
          return WalkResult::advance();
        hasKernel = true;
        if (function.isExternal())
          return function.emitError() << "expected a kernel with a body";
        if (!isa<LLVM::LLVMVoidType>(function.getFunctionType().getReturnType()))
          return function.emitError()
                 << "expected a kernel that returns nothing, found one that returns "
                 << function.getFunctionType().getReturnType();
        return WalkResult::advance();
      });
  if (result.wasInterrupted())
    return failure();
  if (!hasKernel)
    return kernelModule->emitError() << "expected a kernel: an llvm.func with the attribute "
                                     << NVVM::NVVMDialect::getKernelFuncAttrName();
  return success();
}

/// Ops that have no LLVM IR of their own become inline assembly, and functions get debug scopes, by
/// which LLVM's instructions keep MLIR's locations.
static LogicalResult legalize(ModuleOp module, TimingScope &timing) {
  PassManager passes(module.getContext());
  passes.enableTiming(timing);
  passes.enableVerifier(false); // LLVM's verifies the result
  passes.addPass(createConvertNVVMToLLVMPass());
  passes.addPass(createReconcileUnrealizedCastsPass());
  passes.addPass(LLVM::createDIScopeForLLVMFuncOpPass());
  return passes.run(module);
}

/// The comment block of all kernels that carry metadata, in order.
static FailureOr<std::string> printHeader(Operation *kernelModule, const Chip &chip) {
  std::vector<::tcc::metadata::Kernel> kernels;
  for (auto function : kernelModule->getRegion(0).getOps<LLVM::LLVMFuncOp>()) {
    auto json = function->getAttrOfType<StringAttr>(kMetadataAttr);
    if (!json)
      continue;
    llvm::Expected<::tcc::metadata::Kernel> kernel = ::tcc::metadata::readKernel(json);
    if (!kernel)
      return function.emitError() << kMetadataAttr << ": " << llvm::toString(kernel.takeError());
    if (kernel->entry != function.getName())
      return function.emitError() << kMetadataAttr << ": expected the entry '" << function.getName()
                                  << "', found '" << kernel->entry << "'";
    if (kernel->target != chip.name())
      return function.emitError() << kMetadataAttr << ": expected the target '" << chip.name()
                                  << "', found '" << kernel->target << "'";
    kernels.push_back(std::move(*kernel));
  }
  std::string header;
  if (kernels.empty())
    return header;
  llvm::raw_string_ostream os(header);
  if (llvm::Error error = ::tcc::metadata::writeHeader(os, kernels))
    return kernelModule->emitError() << kMetadataAttr << ": " << llvm::toString(std::move(error));
  return header;
}

static void registerTranslations(MLIRContext &context) {
  DialectRegistry registry;
  registerBuiltinDialectTranslation(registry);
  registerGPUDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  registerNVVMDialectTranslation(registry);
  context.appendDialectRegistry(registry);
}

/// Everything after the translation to LLVM IR.
static FailureOr<std::string> compile(llvm::Module &module, const Chip &chip,
                                      const PTXOptions &options, Location loc,
                                      TimingScope &timing) {
  FailureOr<unsigned> version = checkRequirements(module, chip, options.ptxVersion, loc);
  if (failed(version))
    return failure();
  llvm::StripDebugInfo(module);
  markCollectives(module);

  auto machine = createTargetMachine(chip.name(), *version);
  if (!machine)
    return emitError(loc) << llvm::toString(machine.takeError());
  module.setTargetTriple((*machine)->getTargetTriple());
  module.setDataLayout((*machine)->createDataLayout());
  {
    TimingScope step = timing.nest("Optimize LLVM IR");
    optimize(module, **machine);
  }
  std::string text;
  if (options.emitLLVM) {
    llvm::raw_string_ostream(text) << module;
    return text;
  }
  TimingScope step = timing.nest("Generate PTX");
  llvm::Expected<std::string> ptx = generatePTX(module, **machine);
  if (!ptx)
    return emitError(loc) << llvm::toString(ptx.takeError());
  // LLVM's own title gives way to the metadata.
  text = StringRef(*ptx).drop_until([](char c) { return c == '.'; }).str();
  return text;
}

FailureOr<std::string> mlir::tcc::translateToPTX(ModuleOp original, const PTXOptions &options) {
  TimingScope timing;
  if (options.timing)
    timing = options.timing->nest("Translate to PTX");
  registerTranslations(*original.getContext());
  OwningOpRef<ModuleOp> module = original.clone();
  FailureOr<Operation *> kernelModule = findKernelModule(*module);
  if (failed(kernelModule))
    return failure();
  FailureOr<const Chip *> chip = findChip(*kernelModule, options.chip);
  if (failed(chip) || failed(verifyLevel(*kernelModule)))
    return failure();
  FailureOr<std::string> header = printHeader(*kernelModule, **chip);
  if (failed(header) || failed(legalize(*module, timing)))
    return failure();

  llvm::LLVMContext context;
  TimingScope step = timing.nest("Translate to LLVM IR");
  std::unique_ptr<llvm::Module> llvmModule = translateModuleToLLVMIR(*kernelModule, context, "tcc");
  step.stop();
  if (!llvmModule)
    return failure();
  FailureOr<std::string> text =
      compile(*llvmModule, **chip, options, (*kernelModule)->getLoc(), timing);
  if (failed(text) || options.emitLLVM)
    return text;
  return *header + *text;
}
