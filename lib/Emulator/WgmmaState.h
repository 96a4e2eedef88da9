//===- WgmmaState.h - Unfinished wgmma of a warp and a warpgroup -*- C++ -*-===//
//
// A wgmma.mma_async only notes what it will do: operands are read and results written when
// wgmma.wait_group demands it, so that whoever does not wait sees old values. Until then the
// registers involved are poisoned.
//
//===----------------------------------------------------------------------===//

#ifndef TCC_LIB_EMULATOR_WGMMASTATE_H
#define TCC_LIB_EMULATOR_WGMMASTATE_H

#include "Program.h"

#include <deque>
#include <map>
#include <vector>

namespace tcc::emulator {

class Cta;
class Warp;

/// One wgmma of one warp that has not been performed.
struct PendingWgmma {
  const Instruction *instruction = nullptr;
  uint64_t descriptorA = 0, descriptorB = 0;
  bool scaleD = true;
  /// The number of the wgmma-group that it belongs to.
  uint32_t group = 0;
};

/// Of one warp; made when it first executes a wgmma instruction.
class WgmmaState {
public:
  WgmmaState(uint32_t registerRows, uint32_t agent)
      : agent(agent), touched(registerRows, 1), poisonedBy(registerRows, nullptr) {}

  /// Stands for the asynchronous work in the happened-before order; its clock is group + 1.
  uint32_t agent;
  std::deque<PendingWgmma> pending;
  /// The group that the next wgmma joins.
  uint32_t currentGroup = 0;
  /// How many wgmma.mma_async the warp has executed.
  uint64_t executed = 0;

  /// Rows accessed by other instructions since the last wgmma.fence.
  std::vector<uint8_t> touched;
  /// The unfinished wgmma that uses a row, or null.
  std::vector<const Instruction *> poisonedBy;
};

/// What the four warps of a warpgroup must execute alike.
struct WarpgroupLog {
  struct Entry {
    const Instruction *instruction;
    uint64_t descriptorA, descriptorB;
    bool scaleD;
    unsigned warps = 0;
    Warp *first = nullptr;
  };
  /// Number of the first entry; earlier ones were executed by all four warps.
  uint64_t begin = 0;
  std::deque<Entry> entries;
};

/// By warpgroup number in the CTA.
using WarpgroupLogs = std::map<uint32_t, WarpgroupLog>;

/// Before an instruction other than wgmma.mma_async: finds accesses to poisoned registers, and
/// remembers what was touched. Only for warps that have a state.
void checkWgmmaRegisters(Warp &warp, const Instruction &inst);

/// When all warps of a CTA have exited: finds wgmma that not all four warps have executed.
void checkWarpgroupsWhole(Cta &cta);

} // namespace tcc::emulator

#endif // TCC_LIB_EMULATOR_WGMMASTATE_H
