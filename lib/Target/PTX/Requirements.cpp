//===- Requirements.cpp - Checks of an LLVM module before code generation -===//
//
// The checks run on LLVM IR, not on MLIR: there every way to an instruction (nvvm op,
// llvm.call_intrinsic, inline assembly) has come to one of two forms, a call to an intrinsic or an
// inline assembly text.
//
//===----------------------------------------------------------------------===//

#include "Requirements.h"
#include "Instructions.h"

#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace mlir::tcc;
using ::tcc::arch::Chip;
using ::tcc::arch::Feature;

// What LLVM's NVPTX back end can write (llvm/lib/Target/NVPTX/NVPTX.td).
static constexpr unsigned knownVersions[] = {60, 61, 62, 63, 64, 65, 70, 71, 72, 73, 74, 75, 76,
                                             77, 78, 80, 81, 82, 83, 84, 85, 86, 87, 88, 90};

namespace {
class RequirementChecker {
public:
  RequirementChecker(const Chip &chip, unsigned asked, Location loc)
      : chip(chip), asked(asked), loc(loc), lowest(chip.ptxVersion()), forcedBy(chip.name()),
        forcedAt(loc) {}

  void checkFunction(const llvm::Function &function);
  FailureOr<unsigned> getVersion() const;

private:
  Location locationOf(const llvm::Instruction &instruction) const;
  void checkCall(const llvm::CallInst &call);
  void checkInstruction(StringRef name, Location at);
  void requireFeature(Feature feature, StringRef what);
  void raise(unsigned version, StringRef what, Location at);

  const Chip &chip;
  unsigned asked;
  Location loc;
  unsigned lowest;
  std::string forcedBy;
  Location forcedAt;
  llvm::StringSet<> reported;
  bool failed = false;
};
} // namespace

Location RequirementChecker::locationOf(const llvm::Instruction &instruction) const {
  const llvm::DILocation *debug = instruction.getDebugLoc();
  if (!debug || debug->getLine() == 0)
    return loc;
  llvm::SmallString<128> path = debug->getDirectory();
  llvm::sys::path::append(path, debug->getFilename());
  return FileLineColLoc::get(loc.getContext(), path, debug->getLine(), debug->getColumn());
}

void RequirementChecker::raise(unsigned version, StringRef what, Location at) {
  if (version <= lowest)
    return;
  lowest = version;
  forcedBy = what;
  forcedAt = at;
}

void RequirementChecker::checkInstruction(StringRef name, Location at) {
  llvm::Expected<unsigned> version = requiredPTXVersion(name, chip);
  if (version)
    return raise(*version, name, at);
  std::string reason = llvm::toString(version.takeError());
  failed = true;
  // A kernel may hold hundreds of the same instruction; the first tells enough.
  if (reported.insert(name).second)
    emitError(at) << "'" << name << "': " << reason;
}

void RequirementChecker::requireFeature(Feature feature, StringRef what) {
  if (llvm::Error error = chip.require(feature)) {
    emitError(loc) << what << ": " << llvm::toString(std::move(error));
    failed = true;
    return;
  }
  raise(::tcc::arch::info(feature).ptxVersion, what, loc);
}

/// Intrinsics for which LLVM calls the C library on other targets and has nothing for NVPTX.
static bool isLibraryFunction(const llvm::Function &intrinsic) {
  switch (intrinsic.getIntrinsicID()) {
  case llvm::Intrinsic::acos:
  case llvm::Intrinsic::asin:
  case llvm::Intrinsic::atan:
  case llvm::Intrinsic::atan2:
  case llvm::Intrinsic::cosh:
  case llvm::Intrinsic::exp:
  case llvm::Intrinsic::exp10:
  case llvm::Intrinsic::log:
  case llvm::Intrinsic::log10:
  case llvm::Intrinsic::pow:
  case llvm::Intrinsic::powi:
  case llvm::Intrinsic::sinh:
  case llvm::Intrinsic::tan:
    return true;
  default:
    return false;
  }
}

void RequirementChecker::checkCall(const llvm::CallInst &call) {
  Location at = locationOf(call);
  if (const auto *assembly = dyn_cast<llvm::InlineAsm>(call.getCalledOperand())) {
    for (StringRef mnemonic : mnemonicsOf(assembly->getAsmString()))
      checkInstruction(mnemonic, at);
    return;
  }
  const llvm::Function *callee = call.getCalledFunction();
  if (!callee) {
    emitError(at) << "expected a direct call; a kernel's PTX must hold all that it calls";
    failed = true;
    return;
  }
  StringRef name = callee->getName();
  if (name.consume_front("llvm.nvvm."))
    return checkInstruction(name, at);
  // LLVM's own intrinsics become instructions that every chip has, or sequences of them; but this.
  if (callee->getIntrinsicID() == llvm::Intrinsic::tanh)
    return checkInstruction("tanh.approx.f32", at);
  if (!callee->isDeclaration() || (callee->isIntrinsic() && !isLibraryFunction(*callee)))
    return;
  emitError(at) << "'" << name << "' is called, and nothing defines it: PTX from tcc links with no "
                << "library, so lower the operation to instructions or define the function in the "
                << "module";
  failed = true;
}

void RequirementChecker::checkFunction(const llvm::Function &function) {
  if (function.hasFnAttribute("nvvm.cluster_dim") || function.hasFnAttribute("nvvm.maxclusterrank"))
    requireFeature(Feature::Cluster, "a kernel with thread block clusters");
  for (const llvm::Argument &argument : function.args())
    if (argument.hasAttribute("nvvm.grid_constant"))
      raise(77, "a __grid_constant__ parameter", loc); // PTX ISA, ".param": from 7.7
  for (const llvm::Instruction &instruction : llvm::instructions(function))
    if (const auto *call = dyn_cast<llvm::CallInst>(&instruction))
      checkCall(*call);
}

FailureOr<unsigned> RequirementChecker::getVersion() const {
  if (failed)
    return failure();
  if (!asked)
    return lowest;
  if (!llvm::is_contained(knownVersions, asked))
    return emitError(loc) << "expected a PTX version that LLVM can write, "
                          << ptxVersionString(*std::begin(knownVersions)) << " to "
                          << ptxVersionString(*std::prev(std::end(knownVersions))) << ", found "
                          << ptxVersionString(asked);
  if (asked < lowest)
    return emitError(forcedAt) << "'" << forcedBy << "' needs PTX " << ptxVersionString(lowest)
                               << ", and PTX " << ptxVersionString(asked)
                               << " was asked for; without --ptx-version the lowest that works is "
                               << "used";
  return asked;
}

FailureOr<unsigned> mlir::tcc::checkRequirements(const llvm::Module &module, const Chip &chip,
                                                 unsigned asked, Location loc) {
  RequirementChecker checker(chip, asked, loc);
  for (const llvm::Function &function : module)
    checker.checkFunction(function);
  return checker.getVersion();
}
