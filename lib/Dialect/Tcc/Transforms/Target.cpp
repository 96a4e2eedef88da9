//===- Target.cpp - Matrix instructions of a kernel's chip ----------------===//

#include "Target.h"

using namespace mlir;
using namespace mlir::tcc;
namespace arch = ::tcc::arch;

arch::MmaFamily mlir::tcc::toArch(MmaFamily family) {
  switch (family) {
  case MmaFamily::Wmma:
    return arch::MmaFamily::Wmma;
  case MmaFamily::MmaSync:
    return arch::MmaFamily::MmaSync;
  case MmaFamily::Wgmma:
    break;
  }
  return arch::MmaFamily::Wgmma;
}

int64_t mlir::tcc::getAtomN(const arch::MmaAtom &atom, ScheduleAttr schedule) {
  unsigned nDim = schedule.getAtomNDim();
  if (schedule.getMma() != MmaFamily::Wgmma)
    return atom.n;
  return std::min<int64_t>(atom.n, schedule.getBlock()[nDim] / schedule.getWarps()[nDim]);
}

FailureOr<FragmentAttr> mlir::tcc::getFragment(func::FuncOp kernel, ScheduleAttr schedule,
                                               Operand operand, Type elementType) {
  FailureOr<const arch::Chip *> chip = getChip(kernel);
  if (failed(chip))
    return failure();
  arch::ElementType element =
      elementType.isBF16() ? arch::ElementType::BF16 : arch::ElementType::F16;
  arch::MmaFamily family = toArch(schedule.getMma());
  const arch::MmaAtom *atom = (*chip)->findAtom(family, element, arch::ElementType::F32);
  if (!atom)
    return kernel.emitError() << (*chip)->name() << " has no " << arch::name(family) << " for "
                              << arch::name(element) << "; it is there on "
                              << arch::chipsWithAtom(family, element);
  unsigned nDim = schedule.getAtomNDim();
  SmallVector<int64_t> shape = {atom->m, getAtomN(*atom, schedule), atom->k};
  SmallVector<int64_t> warps = {schedule.getWarps()[1 - nDim], schedule.getWarps()[nDim]};
  return FragmentAttr::getChecked([&] { return kernel.emitError(); }, kernel.getContext(),
                                  schedule.getMma(), operand, ArrayRef<int64_t>(shape),
                                  ArrayRef<int64_t>(warps),
                                  schedule.getSwapped() && operand == Operand::C);
}
