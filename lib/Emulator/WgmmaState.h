//===- WgmmaState.h - Unfinished wgmma of a warp and a warpgroup -*- C++ -*-===//
//
// A wgmma.mma_async only notes what it will do: operands are read and results written when
// wgmma.wait_group demands it, so that whoever does not wait sees old values. Until its own wait a
// warp may not touch the registers involved.
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

/// Warps of a warpgroup, which starts at a multiple of them.
constexpr unsigned kWarpgroupWarps = 4;

/// One wgmma of one warp that has not been performed.
struct PendingWgmma {
  const Instruction *instruction = nullptr;
  uint64_t descriptorA = 0, descriptorB = 0;
  bool scaleD = true;
};

/// Of one warp; made when it first executes a wgmma instruction. A warp's wgmma.mma_async are
/// numbered from 0.
class WgmmaState {
public:
  WgmmaState(uint32_t registerRows, uint32_t agent)
      : agent(agent), touched(registerRows, 1), lastUse(registerRows) {}

  /// Stands for the asynchronous reads in the happened-before order: the clock of a wgmma is its
  /// number + 1.
  uint32_t agent;
  /// Those from number `performed` to `executed` - 1.
  std::deque<PendingWgmma> pending;
  uint64_t performed = 0, executed = 0;
  /// What is over when a wgmma is: the warp's parity waits before it, and, where A comes from
  /// registers, the loads until this clock of the warp.
  struct Before {
    uint32_t parityWaits = 0;
    uint32_t loads = 0;
  };
  std::vector<Before> before;
  /// The number after the last wgmma of each committed group.
  std::vector<uint64_t> groupEnds;
  /// The warp has waited for all before this number.
  uint64_t waitedFor = 0;

  /// Marks the registers of operand `operand` as used by the wgmma that is being issued. Reports
  /// accumulators that hold nothing but are read, registers touched after the last wgmma.fence,
  /// and accumulators of an unfinished wgmma of another shape.
  void claimRegisters(Warp &warp, const Instruction &inst, unsigned operand, bool isRead);
  /// The unfinished wgmma that uses a row, or null.
  const Instruction *userOf(uint32_t row) const {
    const Use &use = lastUse[row];
    return use.instruction && use.number >= waitedFor ? use.instruction : nullptr;
  }
  /// Rows accessed by other instructions since the last wgmma.fence.
  std::vector<uint8_t> touched;

private:
  struct Use {
    const Instruction *instruction = nullptr;
    uint64_t number = 0;
  };
  std::vector<Use> lastUse;
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

/// Compares what a warp executes as its wgmma of this number with what the other warps of its
/// warpgroup have executed.
void logInWarpgroup(Warp &warp, const PendingWgmma &wgmma, uint64_t number);

bool isWgmmaMultiply(const Instruction &inst);

/// Before an instruction other than wgmma.mma_async: finds accesses to registers of unfinished
/// wgmma, and remembers what was touched. Only for warps that have a state.
void checkWgmmaRegisters(Warp &warp, const Instruction &inst);

/// When all warps of a CTA have exited: finds wgmma that not all four warps have executed.
void checkWarpgroupsWhole(Cta &cta);

} // namespace tcc::emulator

#endif // TCC_LIB_EMULATOR_WGMMASTATE_H
