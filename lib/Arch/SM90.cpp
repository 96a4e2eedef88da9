//===- SM90.cpp - Hopper --------------------------------------------------===//

#include "Generations.h"

using namespace tcc::arch;

llvm::ArrayRef<ChipDescription> tcc::arch::sm90Chips() {
  static const Limits limits = {232448, 233472, 255, 65536, 1024, 132};
  static const ChipDescription chips[] = {
      {"sm_90", 90, false, 78, limits},
      // Measured on an H200 at 1.7 GHz (docs/Performance.md).
      {"sm_90a", 90, true, 80, limits,
       {4096, 1.603, 3.35, 2443, {132, 66, 39, 30, 22, 17, 15, 15}, 8, 0.208}},
  };
  return chips;
}

llvm::ArrayRef<AtomRow> tcc::arch::sm90Atoms() {
  using T = ElementType;
  static const AtomRow atoms[] = {
      wgmmaRow(16, T::F16, T::F32),  wgmmaRow(16, T::F16, T::F16),  wgmmaRow(16, T::BF16, T::F32),
      wgmmaRow(8, T::TF32, T::F32),  wgmmaRow(32, T::E4M3, T::F32), wgmmaRow(32, T::E5M2, T::F32),
      wgmmaRow(32, T::E4M3, T::F16), wgmmaRow(32, T::E5M2, T::F16), wgmmaRow(32, T::S8, T::S32),
      wgmmaRow(32, T::U8, T::S32),
  };
  return atoms;
}
