//===- MemoryCounters.cpp - Bank conflicts and sectors ----------*- C++ -*-===//

#include "MemoryCounters.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"

using namespace tcc::emulator;

constexpr unsigned kBanks = 32;
constexpr unsigned kSectorBytes = 32;

/// Cycles that one group of lanes needs: the most distinct words that fall on one bank.
static unsigned wavefronts(const uint64_t (&address)[kLanes], uint32_t mask, unsigned words) {
  llvm::SmallVector<uint64_t, 64> touched;
  for (; mask; mask &= mask - 1) {
    uint64_t word = address[llvm::countr_zero(mask)] / 4;
    for (unsigned i = 0; i < words; ++i)
      touched.push_back(word + i);
  }
  llvm::sort(touched);
  touched.erase(llvm::unique(touched), touched.end());
  unsigned perBank[kBanks] = {};
  unsigned worst = 0;
  for (uint64_t word : touched)
    worst = std::max(worst, ++perBank[word % kBanks]);
  return worst;
}

void tcc::emulator::countSharedAccess(InstructionReport &report, const uint64_t (&address)[kLanes],
                                      uint32_t mask, unsigned bytes) {
  // Accesses of 8 bytes go by half-warps, of 16 by quarters: 128 bytes in one cycle.
  unsigned words = std::max(1u, bytes / 4);
  unsigned lanesPerPart = std::max(1u, kBanks / words);
  uint64_t cycles = 0, minimum = 0;
  for (unsigned first = 0; first < kLanes; first += lanesPerPart) {
    uint32_t part = lanesPerPart == kLanes ? ~0u : ((1u << lanesPerPart) - 1) << first;
    if (!(mask & part))
      continue;
    cycles += wavefronts(address, mask & part, words);
    ++minimum;
  }
  report.sharedWavefronts += cycles;
  report.minimumWavefronts += minimum;
  report.worstConflict = std::max(report.worstConflict, double(cycles) / double(minimum));
}

void tcc::emulator::countGlobalAccess(InstructionReport &report, const uint64_t (&address)[kLanes],
                                      uint32_t mask, unsigned bytes) {
  llvm::SmallVector<uint64_t, 64> sectors;
  uint64_t requested = uint64_t(llvm::popcount(mask)) * bytes;
  for (; mask; mask &= mask - 1) {
    uint64_t first = address[llvm::countr_zero(mask)];
    for (uint64_t s = first / kSectorBytes; s <= (first + bytes - 1) / kSectorBytes; ++s)
      sectors.push_back(s);
  }
  llvm::sort(sectors);
  sectors.erase(llvm::unique(sectors), sectors.end());
  report.globalSectors += sectors.size();
  // Lanes that share bytes may need fewer sectors than they request.
  report.minimumSectors +=
      std::min<uint64_t>(sectors.size(), (requested + kSectorBytes - 1) / kSectorBytes);
}
