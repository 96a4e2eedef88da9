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
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Threading.h"
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

/// A function or variable that something else defines, as dynamic shared memory is.
static bool isDeclaration(Operation *op) {
  if (auto function = dyn_cast<LLVM::LLVMFuncOp>(op))
    return function.isExternal();
  auto global = dyn_cast<LLVM::GlobalOp>(op);
  return global && global.getLinkage() == LLVM::Linkage::External && !global.getValueOrNull() &&
         !global.getInitializerBlock();
}

/// Moves what `from` holds into `into`; equal declarations become one.
static LogicalResult mergeModules(gpu::GPUModuleOp from, gpu::GPUModuleOp into) {
  SymbolTable symbols(into);
  for (Operation &op : llvm::make_early_inc_range(*from.getBody())) {
    auto symbol = dyn_cast<SymbolOpInterface>(op);
    Operation *other = symbol ? symbols.lookup(symbol.getName()) : nullptr;
    if (!other) {
      op.moveBefore(into.getBody(), into.getBody()->end());
      continue;
    }
    if (!isDeclaration(&op) ||
        !OperationEquivalence::isEquivalentTo(&op, other, OperationEquivalence::IgnoreLocations)) {
      InFlightDiagnostic diag = op.emitError() << "'" << symbol.getName()
                                               << "' is in two of the modules that become one "
                                                  "PTX file; rename one of them";
      diag.attachNote(other->getLoc()) << "the other one";
      return diag;
    }
    op.erase();
  }
  from.erase();
  return success();
}

/// The op whose body is translated: the gpu.modules' contents in the first of them, or the module
/// itself without any.
static FailureOr<Operation *> findKernelModule(ModuleOp module) {
  auto gpuModules = llvm::to_vector(module.getOps<gpu::GPUModuleOp>());
  if (gpuModules.empty())
    return module.getOperation();
  gpu::GPUModuleOp first = gpuModules.front();
  for (gpu::GPUModuleOp other : llvm::drop_begin(gpuModules)) {
    if (other.getTargetsAttr() != first.getTargetsAttr()) {
      InFlightDiagnostic diag = other.emitError()
                                << "expected the target of the first gpu.module, since a PTX file "
                                   "has one; put the other into a file of its own";
      diag.attachNote(first.getLoc()) << "the first one";
      return diag;
    }
    if (failed(mergeModules(other, first)))
      return failure();
  }
  return first.getOperation();
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

/// PTX ISA, "Identifiers"; LLVM checks less. WARP_SZ is a constant of the language.
static bool isIdentifier(StringRef name) {
  auto follows = [](char c) { return llvm::isAlnum(c) || c == '_' || c == '$'; };
  bool begins = llvm::isAlpha(name.front()) ||
                (StringRef("_$").contains(name.front()) && name.size() > 1);
  return begins && llvm::all_of(name, follows) && name != "WARP_SZ";
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
        if (!isIdentifier(function.getName()))
          return function.emitError() << "'" << function.getName()
                                      << "' can't be a kernel's name in PTX: expected letters, "
                                         "digits, _ and $, not beginning with a digit";
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

static bool isKernel(Operation &op) {
  return op.hasAttr(NVVM::NVVMDialect::getKernelFuncAttrName());
}

/// Modules of one kernel each, with what kernels share, so that they can be compiled side by side;
/// in `module`, whose attributes hold for them. One module, as it is, where kernels share
/// functions or variables of the module: each part would define them.
static SmallVector<Operation *> splitByKernel(ModuleOp module, Operation *kernelModule) {
  Block &body = kernelModule->getRegion(0).front();
  SmallVector<Operation *> kernels, common;
  for (Operation &op : body)
    (isKernel(op) ? kernels : common).push_back(&op);
  if (kernels.size() == 1 || !llvm::all_of(common, isDeclaration))
    return {kernelModule};
  SmallVector<Operation *> parts;
  for (Operation *kernel : kernels) {
    Operation *part = kernelModule->cloneWithoutRegions();
    module.getBody()->push_back(part);
    OpBuilder builder = OpBuilder::atBlockBegin(&part->getRegion(0).emplaceBlock());
    for (Operation *op : common)
      builder.clone(*op);
    kernel->moveBefore(builder.getBlock(), builder.getBlock()->end());
    parts.push_back(part);
  }
  return parts;
}

namespace {

/// The way of one module from MLIR to PTX, which needs no other's.
class Part {
public:
  Part(Operation *op, const Chip &chip, const PTXOptions &options, TimingScope &timing)
      : op(op), chip(chip), options(options), timing(timing) {}

  /// To checked LLVM IR, of which `version` is what it needs.
  LogicalResult translate();
  /// On to PTX, or to the text of the LLVM IR that it starts from.
  LogicalResult compile(unsigned ptxVersion);

  unsigned version = 0;
  std::string text;

private:
  Operation *op;
  const Chip &chip;
  const PTXOptions &options;
  TimingScope &timing;
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module;
};

} // namespace

LogicalResult Part::translate() {
  TimingScope step = timing.nest("Translate to LLVM IR");
  module = translateModuleToLLVMIR(op, context, "tcc");
  if (!module)
    return failure();
  FailureOr<unsigned> needed = checkRequirements(*module, chip, options.ptxVersion, op->getLoc());
  if (failed(needed))
    return failure();
  version = *needed;
  llvm::StripDebugInfo(*module);
  markCollectives(*module);
  return success();
}

LogicalResult Part::compile(unsigned ptxVersion) {
  Location loc = op->getLoc();
  auto machine = createTargetMachine(chip.name(), ptxVersion);
  if (!machine)
    return emitError(loc) << llvm::toString(machine.takeError());
  module->setTargetTriple((*machine)->getTargetTriple());
  module->setDataLayout((*machine)->createDataLayout());
  {
    TimingScope step = timing.nest("Optimize LLVM IR");
    optimize(*module, **machine);
  }
  if (options.emitLLVM) {
    llvm::raw_string_ostream(text) << *module;
    return success();
  }
  TimingScope step = timing.nest("Generate PTX");
  llvm::Expected<std::string> ptx = generatePTX(*module, **machine);
  if (!ptx)
    return emitError(loc) << llvm::toString(ptx.takeError());
  text = std::move(*ptx);
  return success();
}

/// One text of all parts: they begin with the same directives and declarations, of which one is
/// left. LLVM's own title gives way to the metadata.
static std::string joinParts(ArrayRef<std::unique_ptr<Part>> parts) {
  std::string text;
  for (const std::unique_ptr<Part> &part : parts) {
    StringRef whole = part->text;
    // An entry's line may begin with its linkage.
    size_t start = whole.find(text.empty() ? ".version " : ".entry ");
    start = whole.rfind('\n', start) + 1;
    text += whole.drop_front(start);
  }
  return text;
}

/// Calls `step` on every part, at the same time; diagnostics keep the parts' order.
static LogicalResult forEachPart(MLIRContext *context, ArrayRef<std::unique_ptr<Part>> parts,
                                 function_ref<LogicalResult(Part &)> step) {
  ParallelDiagnosticHandler diagnostics(context);
  return failableParallelForEachN(context, 0, parts.size(), [&](size_t i) {
    diagnostics.setOrderIDForThread(i);
    LogicalResult result = step(*parts[i]);
    diagnostics.eraseOrderIDForThread();
    return result;
  });
}

FailureOr<std::string> mlir::tcc::translateToPTX(ModuleOp module, const PTXOptions &options) {
  TimingScope timing;
  if (options.timing)
    timing = options.timing->nest("Translate to PTX");
  MLIRContext *context = module.getContext();
  registerTranslations(*context);
  FailureOr<Operation *> kernelModule = findKernelModule(module);
  if (failed(kernelModule))
    return failure();
  FailureOr<const Chip *> chip = findChip(*kernelModule, options.chip);
  if (failed(chip) || failed(verifyLevel(*kernelModule)))
    return failure();
  FailureOr<std::string> header = printHeader(*kernelModule, **chip);
  if (failed(header) || failed(legalize(module, timing)))
    return failure();

  std::vector<std::unique_ptr<Part>> parts;
  SmallVector<Operation *> split = {*kernelModule};
  if (!options.emitLLVM) // whose reader wants one module
    split = splitByKernel(module, *kernelModule);
  for (Operation *op : split)
    parts.push_back(std::make_unique<Part>(op, **chip, options, timing));
  if (failed(forEachPart(context, parts, [](Part &part) { return part.translate(); })))
    return failure();
  unsigned version = 0;
  for (const std::unique_ptr<Part> &part : parts)
    version = std::max(version, part->version);
  FatalErrorsAsErrors guard;
  if (failed(forEachPart(context, parts, [&](Part &part) { return part.compile(version); })))
    return failure();
  if (options.emitLLVM)
    return parts.front()->text;
  return *header + joinParts(parts);
}
