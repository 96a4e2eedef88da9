//===- SM70.cpp - Volta and Turing ----------------------------------------===//

#include "Generations.h"

using namespace tcc::arch;

llvm::ArrayRef<ChipDescription> tcc::arch::sm70Chips() {
  static const ChipDescription chips[] = {
      {"sm_70",
       70,
       false,
       60,
       {/*sharedBytesPerBlock=*/98304, /*sharedBytesPerMultiprocessor=*/98304, 255, 65536, 1024,
        /*typicalMultiprocessors=*/80}},
      {"sm_75", 75, false, 63, {65536, 65536, 255, 65536, 1024, 40}},
  };
  return chips;
}

llvm::ArrayRef<AtomRow> tcc::arch::sm70Atoms() {
  using T = ElementType;
  static const AtomRow atoms[] = {
      wmmaRow(70, 16, 16, 16, T::F16, T::F32, 60),  wmmaRow(70, 32, 8, 16, T::F16, T::F32, 61),
      wmmaRow(70, 8, 32, 16, T::F16, T::F32, 61),   wmmaRow(70, 16, 16, 16, T::F16, T::F16, 60),
      wmmaRow(70, 32, 8, 16, T::F16, T::F16, 61),   wmmaRow(70, 8, 32, 16, T::F16, T::F16, 61),
      wmmaRow(72, 16, 16, 16, T::S8, T::S32, 63),   wmmaRow(72, 32, 8, 16, T::S8, T::S32, 63),
      wmmaRow(72, 8, 32, 16, T::S8, T::S32, 63),    wmmaRow(72, 16, 16, 16, T::U8, T::S32, 63),
      wmmaRow(72, 32, 8, 16, T::U8, T::S32, 63),    wmmaRow(72, 8, 32, 16, T::U8, T::S32, 63),
      mmaSyncRow(75, 16, 8, 8, T::F16, T::F32, 65), mmaSyncRow(75, 16, 8, 8, T::F16, T::F16, 65),
      mmaSyncRow(75, 8, 8, 16, T::S8, T::S32, 65),  mmaSyncRow(75, 8, 8, 16, T::U8, T::S32, 65),
  };
  return atoms;
}
