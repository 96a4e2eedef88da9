//===- BulkGroups.cpp - Bulk copies that complete by groups -----*- C++ -*-===//

#include "BulkGroups.h"
#include "InstructionTable.h"

using namespace tcc::emulator;
using llvm::Error;

SharedAccess tcc::emulator::beginGroupRead(Warp &warp, const Instruction &inst, unsigned lane) {
  Execution &exec = warp.execution();
  SyncDomain &sync = warp.cta().cluster().sync;
  if (!exec.bulkAgents[lane])
    exec.bulkAgents[lane] = sync.addAgent();
  return {exec.agent, sync.record({exec.bulkAgents[lane], exec.bulkCommitted[lane] + 1, inst.index,
                                   AccessRecord::Async})};
}

void tcc::emulator::pushGroupOperation(Warp &warp, const Instruction &inst, unsigned lane,
                                       std::function<void()> readSource,
                                       std::function<void()> perform) {
  AsyncOperation operation;
  operation.warp = &warp;
  operation.lane = lane;
  operation.instruction = inst.index;
  operation.usesBulkGroup = true;
  operation.bulkGroup = warp.execution().bulkCommitted[lane];
  operation.readSource = std::move(readSource);
  operation.perform = std::move(perform);
  warp.machine().async().push(std::move(operation));
}

MbarrierWrite tcc::emulator::beginMbarrierWrite(Warp &warp, const Instruction &inst,
                                                Mbarrier &barrier, uint8_t flags) {
  noteExecuted(warp, barrier);
  SyncDomain &sync = warp.cta().cluster().sync;
  // The write acts for the phase that it will complete: whoever waits for that is ordered after it.
  AccessRecord landed{barrier.agent, uint32_t(barrier.phase + 1), inst.index, flags};
  AccessRecord flying = landed;
  flying.flags |= AccessRecord::InFlight;
  return {{warp.execution().agent, sync.record(flying)}, sync.record(landed)};
}

/// Copies that have not landed when the block has gone.
static void reportUnfinishedCopies(Cta &cta) {
  const Program &program = cta.machine().program();
  for (const AsyncOperation &operation : cta.machine().async().pending()) {
    bool reads = operation.readSource && &operation.warp->cta() == &cta;
    bool writes = operation.instruction && operation.mbarrier &&
                  &operation.warp->cta().cluster() == &cta.cluster() &&
                  operation.mbarrier >> kSharedRankShift == cta.rank();
    if (reads)
      operation.warp->report(FindingKind::AsyncInFlight, program.code[operation.instruction],
                             operation.lane,
                             "the block exits before this bulk copy has read its shared memory: "
                             "cp.async.bulk.wait_group.read is missing");
    else if (writes)
      operation.warp->report(FindingKind::AsyncInFlight, program.code[operation.instruction],
                             operation.lane,
                             "the block exits before this copy has landed in its shared memory: "
                             "nothing waits for its mbarrier");
  }
  for (const std::unique_ptr<Warp> &warp : cta.warps())
    for (const PendingCopy &copy : warp->execution().copies)
      warp->report(FindingKind::AsyncInFlight, *copy.instruction, llvm::countr_zero(copy.mask),
                   "the block exits before this copy has landed in its shared memory: "
                   "cp.async.wait_group is missing");
}

/// A block may exit only when no peer can still access its shared memory.
static void reportUnorderedPeers(Cta &cta) {
  SyncDomain &sync = cta.cluster().sync;
  VectorClock seen;
  for (auto &warp : cta.warps()) {
    seen.join(sync.clocks(warp->execution().agent).happened);
    seen.join(warp->execution().executedByPeers);
  }
  uint32_t warps = cta.machine().shape().warpsPerCta;
  for (auto [agent, record] : cta.remoteAccesses) {
    const AccessRecord &access = sync.at(record);
    // Asynchronous writes are waited for by their mbarrier, which reportUnfinishedCopies looks at.
    llvm::StringRef opcode = cta.machine().program().code[access.instruction].opcode;
    bool isAsync = opcode.starts_with("cp.") || opcode.starts_with("st.async") ||
                   opcode.starts_with("red.async");
    if (isAsync || seen[agent] >= access.clock)
      continue;
    Warp &peer = *cta.cluster().ctas[agent / warps]->warps()[agent % warps];
    peer.report(FindingKind::PeerExited, cta.machine().program().code[access.instruction], 0,
                "CTA " + llvm::Twine(cta.rank()) +
                    " of the cluster exits without being ordered after this access to its shared "
                    "memory: a barrier before the exit is missing");
  }
}

void tcc::emulator::checkExit(Cta &cta) {
  reportUnfinishedCopies(cta);
  if (cta.machine().options().checkRaces)
    reportUnorderedPeers(cta);
}

namespace {

void executeCommit(Warp &warp, const Instruction &) {
  for (unsigned lane : warp.lanes())
    ++warp.execution().bulkCommitted[lane];
}

// aux[0]: 1 for .read, which waits for the source only: what the copies write stays invisible.
void executeWait(Warp &warp, const Instruction &inst) {
  Execution &exec = warp.execution();
  uint64_t newest = uint64_t(inst.operands[0].immediate);
  SyncDomain &sync = warp.cta().cluster().sync;
  for (unsigned lane : warp.lanes()) {
    uint64_t committed = exec.bulkCommitted[lane];
    uint64_t done = committed > newest ? committed - newest : 0;
    auto isDone = [&](const AsyncOperation &operation) {
      return operation.usesBulkGroup && operation.warp == &warp && operation.lane == lane &&
             operation.bulkGroup < done;
    };
    AsyncQueue &queue = warp.machine().async();
    if (inst.aux[0])
      queue.readSources(isDone);
    while (!inst.aux[0] && queue.performFirst(isDone))
      ;
    if (exec.bulkAgents[lane])
      sync.clocks(exec.agent).happened.raise(exec.bulkAgents[lane], uint32_t(done));
  }
}

Error decodeCommit(const Modifiers &modifiers, Instruction &inst) {
  inst.destinations = 0;
  inst.handler = executeCommit;
  return modifiers.checkKnown({});
}

Error decodeWait(const Modifiers &modifiers, Instruction &inst) {
  if (inst.operands.size() != 1 || !inst.operands[0].isImmediate())
    return modifiers.error("expected a constant number of groups");
  inst.destinations = 0;
  inst.aux[0] = modifiers.has("read");
  inst.handler = executeWait;
  return modifiers.checkKnown({"read"});
}

} // namespace

void tcc::emulator::registerBulkGroupInstructions(InstructionTable &table) {
  table.add("cp.async.bulk.commit_group", decodeCommit);
  table.add("cp.async.bulk.wait_group", decodeWait);
}
