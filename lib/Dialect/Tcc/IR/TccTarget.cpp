//===- TccTarget.cpp - The chip that a kernel is for ----------------------===//

#include "tcc/Dialect/Tcc/IR/TccTarget.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace mlir::tcc;
namespace arch = ::tcc::arch;

/// The one target of a module, if it is an #nvvm.target; null otherwise.
static NVVM::NVVMTargetAttr getTarget(gpu::GPUModuleOp module) {
  ArrayAttr targets = module.getTargetsAttr();
  return targets && targets.size() == 1 ? dyn_cast<NVVM::NVVMTargetAttr>(targets[0])
                                        : NVVM::NVVMTargetAttr();
}

FailureOr<const arch::Chip *> mlir::tcc::getChip(Operation *kernel) {
  auto module = kernel->getParentOfType<gpu::GPUModuleOp>();
  if (!module)
    return kernel->emitError() << "expects to be in a gpu.module with one #nvvm.target (L0t.1): "
                                  "run tcc-select-target first";
  NVVM::NVVMTargetAttr target = getTarget(module);
  if (!target)
    return module.emitError() << "expects exactly one target, an #nvvm.target (L0t.1)";
  llvm::Expected<const arch::Chip *> chip = arch::lookupChip(target.getChip());
  if (!chip)
    return module.emitError() << llvm::toString(chip.takeError());
  return *chip;
}

const arch::Chip *mlir::tcc::findChip(Operation *kernel) {
  auto module = kernel->getParentOfType<gpu::GPUModuleOp>();
  NVVM::NVVMTargetAttr target = module ? getTarget(module) : NVVM::NVVMTargetAttr();
  if (!target)
    return nullptr;
  llvm::Expected<const arch::Chip *> chip = arch::lookupChip(target.getChip());
  if (chip)
    return *chip;
  consumeError(chip.takeError());
  return nullptr;
}
