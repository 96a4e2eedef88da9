//===- WgmmaState.cpp - Unfinished wgmma of a warp and a warpgroup --------===//

#include "WgmmaState.h"
#include "Machine.h"

#include "llvm/Support/FormatVariadic.h"

using namespace tcc::emulator;
using llvm::formatv;

//===----------------------------------------------------------------------===//
// Registers
//===----------------------------------------------------------------------===//

void WgmmaState::claimRegisters(Warp &warp, const Instruction &inst, unsigned operand,
                                bool isRead) {
  bool isAccumulator = operand == 0;
  const char *role = isAccumulator ? "accumulator" : "operand A";
  bool reportedFence = false, reportedUndefined = false;
  for (const Operand &element : Warp::elements(inst.operands[operand])) {
    if (!element.isRegister())
      continue;
    uint32_t row = element.slot;
    const Instruction *user = userOf(row);
    // What an unfinished wgmma will write counts as written.
    bool isUndefined = isRead && !user && warp.definedLanes(row) != ~0u;
    if (isUndefined && !reportedUndefined && warp.machine().options().checkUninitialized) {
      reportedUndefined = true;
      warp.report(FindingKind::Uninitialized, inst, llvm::countr_one(warp.definedLanes(row)),
                  llvm::Twine("a register of the ") + role + " was never written");
    }
    if (touched[row] && !reportedFence) {
      reportedFence = true;
      warp.report(FindingKind::AsyncInFlight, inst, 0,
                  llvm::Twine("a register of the ") + role +
                      " was accessed after the last wgmma.fence; wgmma.fence orders register "
                      "accesses before wgmma.mma_async");
    }
    // PTX ISA "wgmma.fence": accumulator chains need no wait when their shape is the same.
    if (user && isAccumulator && user->aux[0] != inst.aux[0])
      warp.report(FindingKind::AsyncInFlight, inst, 0,
                  formatv("the accumulator is used by the wgmma of another shape at line {0}, "
                          "which has not been waited for",
                          user->line)
                      .str());
    lastUse[row] = {&inst, executed};
  }
}

void tcc::emulator::checkWgmmaRegisters(Warp &warp, const Instruction &inst) {
  WgmmaState &state = *warp.execution().wgmma;
  auto check = [&](uint32_t row, bool isRead) {
    state.touched[row] = 1;
    if (const Instruction *wgmma = state.userOf(row))
      warp.report(FindingKind::AsyncInFlight, inst, *warp.lanes().begin(),
                  formatv("{0} a register of the wgmma at line {1}, which has not been waited for "
                          "(wgmma.wait_group)",
                          isRead ? "reads" : "writes", wgmma->line)
                      .str());
  };
  for (uint32_t row : inst.sourceRows)
    check(row, true);
  for (uint32_t row : inst.destinationRows)
    check(row, false);
}

//===----------------------------------------------------------------------===//
// Warpgroups
//===----------------------------------------------------------------------===//

void tcc::emulator::logInWarpgroup(Warp &warp, const PendingWgmma &wgmma, uint64_t number) {
  WarpgroupLog &log = warp.cta().warpgroups[warp.index() / kWarpgroupWarps];
  uint64_t at = number - log.begin;
  if (at == log.entries.size())
    log.entries.push_back(
        {wgmma.instruction, wgmma.descriptorA, wgmma.descriptorB, wgmma.scaleD, 0, &warp});
  WarpgroupLog::Entry &entry = log.entries[at];
  if (entry.instruction != wgmma.instruction)
    warp.report(FindingKind::Divergence, *wgmma.instruction, 0,
                formatv("warp {0} executes this as its wgmma number {1}, warp {2} of the same "
                        "warpgroup executed the one at line {3}",
                        warp.index(), number, entry.first->index(), entry.instruction->line)
                    .str());
  else if (entry.descriptorA != wgmma.descriptorA || entry.descriptorB != wgmma.descriptorB ||
           entry.scaleD != wgmma.scaleD)
    warp.report(FindingKind::Divergence, *wgmma.instruction, 0,
                formatv("descriptors and scale-d must be the same in the four warps of a "
                        "warpgroup; warps {0} and {1} differ",
                        entry.first->index(), warp.index())
                    .str());
  ++entry.warps;
  while (!log.entries.empty() && log.entries.front().warps == kWarpgroupWarps) {
    log.entries.pop_front();
    ++log.begin;
  }
}

void tcc::emulator::checkWarpgroupsWhole(Cta &cta) {
  for (auto &[number, log] : cta.warpgroups) {
    if (log.entries.empty())
      continue;
    const WarpgroupLog::Entry &entry = log.entries.front();
    entry.first->report(
        FindingKind::Divergence, *entry.instruction, 0,
        formatv("only {0} of the 4 warps of warpgroup {1} executed this", entry.warps, number)
            .str());
  }
  cta.warpgroups.clear();
}
