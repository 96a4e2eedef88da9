//===- SM100.cpp - Blackwell, by the instructions that it kept ------------===//
//
// tcgen05 is not described yet: these chips run the mma.sync and wmma kernels.
//
//===----------------------------------------------------------------------===//

#include "Generations.h"

using namespace tcc::arch;

llvm::ArrayRef<ChipDescription> tcc::arch::sm100Chips() {
  static const Limits server = {232448, 233472, 255, 65536, 1024, 148};
  static const Limits client = {101376, 102400, 255, 65536, 1024, 170};
  static const ChipDescription chips[] = {
      {"sm_100", 100, false, 86, server}, {"sm_100a", 100, true, 86, server},
      {"sm_103", 103, false, 88, server}, {"sm_103a", 103, true, 88, server},
      {"sm_120", 120, false, 87, client}, {"sm_120a", 120, true, 87, client},
      {"sm_121", 121, false, 88, client}, {"sm_121a", 121, true, 88, client},
  };
  return chips;
}
