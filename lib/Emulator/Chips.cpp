//===- Chips.cpp - Limits of the emulated chips -----------------*- C++ -*-===//

#include "Chips.h"
#include "tcc/Emulator/Emulator.h"

#include "llvm/ADT/STLExtras.h"

using namespace tcc::emulator;

// Shared memory per block: CUDA C++ Programming Guide, table "Technical Specifications per Compute
// Capability".
static constexpr ChipLimits kChips[] = {
    {"sm_70", 70, 96 * 1024, 1, false},     {"sm_72", 72, 96 * 1024, 1, false},
    {"sm_75", 75, 64 * 1024, 1, false},     {"sm_80", 80, 163 * 1024, 1, false},
    {"sm_86", 86, 99 * 1024, 1, false},     {"sm_87", 87, 163 * 1024, 1, false},
    {"sm_89", 89, 99 * 1024, 1, false},     {"sm_90", 90, 227 * 1024, 16, false},
    {"sm_90a", 90, 227 * 1024, 16, true},   {"sm_100", 100, 227 * 1024, 16, false},
    {"sm_100a", 100, 227 * 1024, 16, true}, {"sm_103", 103, 227 * 1024, 16, false},
    {"sm_103a", 103, 227 * 1024, 16, true}, {"sm_120", 120, 99 * 1024, 8, false},
    {"sm_120a", 120, 99 * 1024, 8, true},   {"sm_121", 121, 99 * 1024, 8, false},
    {"sm_121a", 121, 99 * 1024, 8, true},
};

const ChipLimits *tcc::emulator::findChip(llvm::StringRef name) {
  const auto *chip =
      llvm::find_if(kChips, [&](const ChipLimits &limits) { return limits.name == name; });
  return chip == std::end(kChips) ? nullptr : chip;
}

llvm::ArrayRef<llvm::StringRef> tcc::emulator::supportedChips() {
  static const std::vector<llvm::StringRef> names = [] {
    std::vector<llvm::StringRef> list;
    for (const ChipLimits &chip : kChips)
      list.push_back(chip.name);
    return list;
  }();
  return names;
}
