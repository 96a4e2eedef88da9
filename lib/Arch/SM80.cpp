//===- SM80.cpp - Ampere and Ada ------------------------------------------===//

#include "Generations.h"

using namespace tcc::arch;

llvm::ArrayRef<ChipDescription> tcc::arch::sm80Chips() {
  static const ChipDescription chips[] = {
      {"sm_80", 80, false, 70, {166912, 167936, 255, 65536, 1024, 108}},
      {"sm_86", 86, false, 71, {101376, 102400, 255, 65536, 1024, 84}},
      {"sm_87", 87, false, 74, {166912, 167936, 255, 65536, 1024, 16}},
      {"sm_89", 89, false, 78, {101376, 102400, 255, 65536, 1024, 128}},
  };
  return chips;
}

llvm::ArrayRef<AtomRow> tcc::arch::sm80Atoms() {
  using T = ElementType;
  static const AtomRow atoms[] = {
      mmaSyncRow(80, 16, 8, 16, T::F16, T::F32, 70),
      mmaSyncRow(80, 16, 8, 16, T::F16, T::F16, 70),
      mmaSyncRow(80, 16, 8, 16, T::BF16, T::F32, 70),
      mmaSyncRow(80, 16, 8, 8, T::BF16, T::F32, 70),
      mmaSyncRow(80, 16, 8, 8, T::TF32, T::F32, 70),
      mmaSyncRow(80, 16, 8, 4, T::TF32, T::F32, 70),
      mmaSyncRow(80, 16, 8, 32, T::S8, T::S32, 70),
      mmaSyncRow(80, 16, 8, 16, T::S8, T::S32, 70),
      mmaSyncRow(80, 16, 8, 32, T::U8, T::S32, 70),
      mmaSyncRow(80, 16, 8, 16, T::U8, T::S32, 70),
      mmaSyncRow(80, 8, 8, 4, T::F64, T::F64, 70),
      mmaSyncRow(89, 16, 8, 32, T::E4M3, T::F32, 84),
      mmaSyncRow(89, 16, 8, 32, T::E5M2, T::F32, 84),
      wmmaRow(80, 16, 16, 16, T::BF16, T::F32, 70),
      wmmaRow(80, 32, 8, 16, T::BF16, T::F32, 70),
      wmmaRow(80, 8, 32, 16, T::BF16, T::F32, 70),
      wmmaRow(80, 16, 16, 8, T::TF32, T::F32, 70),
      wmmaRow(80, 8, 8, 4, T::F64, T::F64, 70),
  };
  return atoms;
}
