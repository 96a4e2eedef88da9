//===- MemoryCounters.h - Bank conflicts and sectors ------------*- C++ -*-===//

#ifndef TCC_LIB_EMULATOR_MEMORYCOUNTERS_H
#define TCC_LIB_EMULATOR_MEMORYCOUNTERS_H

#include "Program.h"
#include "tcc/Emulator/Report.h"

namespace tcc::emulator {

/// Adds one warp-wide shared access of `bytes` per lane to the instruction's wavefronts.
void countSharedAccess(InstructionReport &report, const uint64_t (&address)[kLanes], uint32_t mask,
                       unsigned bytes);
/// Adds one warp-wide global access to the instruction's sectors.
void countGlobalAccess(InstructionReport &report, const uint64_t (&address)[kLanes], uint32_t mask,
                       unsigned bytes);

} // namespace tcc::emulator

#endif // TCC_LIB_EMULATOR_MEMORYCOUNTERS_H
