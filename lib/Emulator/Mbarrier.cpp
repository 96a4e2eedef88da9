//===- Mbarrier.cpp - mbarrier objects --------------------------*- C++ -*-===//
//
// PTX ISA 9.7.13.15. The 64-bit word in memory is opaque; the state lives beside it. Shadow memory
// marks the word, so ordinary accesses to it are reported.
//
//===----------------------------------------------------------------------===//

#include "AddressSpace.h"
#include "InstructionTable.h"
#include "Machine.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace tcc::emulator;
using llvm::Error;
using llvm::formatv;
using llvm::StringRef;

constexpr uint64_t kMaxCount = (1 << 20) - 1;
constexpr int64_t kMaxTransactions = (1 << 20) - 1;
constexpr uint64_t kMbarrierBytes = 8;

// A token is the phase in which an arrival was made, and the pending count before it.
static uint64_t makeToken(const Mbarrier &barrier) {
  return barrier.phase << 20 | (barrier.pending & kMaxCount);
}

/// The CTA and offset of an mbarrier's address; null after a fault.
static Cta *locate(Warp &warp, const Instruction &inst, unsigned lane, uint64_t address,
                   uint64_t &offset) {
  if (address & (kMbarrierBytes - 1)) {
    warp.fault(FindingKind::Misaligned, inst, lane,
               formatv("mbarrier at {0:x}: the address must be a multiple of 8", address).str());
    return nullptr;
  }
  if (!warp.findShared(inst, lane, address, kMbarrierBytes, offset))
    return nullptr;
  return warp.cta().cluster().ctas[address >> kSharedRankShift].get();
}

/// Whether the warp may use an mbarrier that was initialised elsewhere. After fence.mbarrier_init a
/// relaxed cluster barrier suffices (PTX ISA "membar/fence", its example).
static bool isInitVisible(Warp &warp, const Mbarrier &barrier) {
  SyncDomain &sync = warp.cta().cluster().sync;
  const Execution &exec = warp.execution();
  const AccessRecord &init = sync.at(barrier.initRecord);
  return sync.isOrdered(init, exec.agent) ||
         (barrier.isInitFenced && exec.executedByPeers[init.agent] >= init.clock);
}

Mbarrier *tcc::emulator::findMbarrier(Warp &warp, const Instruction &inst, unsigned lane,
                                      uint64_t address) {
  uint64_t offset;
  Cta *cta = locate(warp, inst, lane, address, offset);
  if (!cta)
    return nullptr;
  auto found = cta->mbarriers.find(offset);
  if (found == cta->mbarriers.end()) {
    warp.fault(FindingKind::BarrierMisuse, inst, lane,
               formatv("no mbarrier is initialised at shared address {0:x}", address).str());
    return nullptr;
  }
  Mbarrier &barrier = found->second;
  if (warp.machine().options().checkRaces && !isInitVisible(warp, barrier))
    warp.report(FindingKind::Race, inst, lane,
                formatv("the mbarrier at {0:x} is used, but not ordered after its initialisation "
                        "at line {1}",
                        address, barrier.initLine)
                    .str());
  return &barrier;
}

Mbarrier *tcc::emulator::findFencedMbarrier(Warp &warp, const Instruction &inst, unsigned lane,
                                            uint64_t address) {
  Mbarrier *barrier = findMbarrier(warp, inst, lane, address);
  if (barrier && !barrier->isFenced && warp.machine().options().checkRaces)
    warp.report(FindingKind::ProxyRace, inst, lane,
                formatv("no fence.mbarrier_init or fence.proxy.async between the initialisation of "
                        "the mbarrier at line {0} and its use by the async proxy or another CTA",
                        barrier->initLine)
                    .str());
  return barrier;
}

void tcc::emulator::fenceMbarriers(Warp &warp, bool isInitFence) {
  SyncDomain &sync = warp.cta().cluster().sync;
  for (auto &[offset, barrier] : warp.cta().mbarriers) {
    if (!sync.isOrdered(sync.at(barrier.initRecord), warp.execution().agent))
      continue;
    barrier.isFenced = true;
    barrier.isInitFenced |= isInitFence;
  }
}

void tcc::emulator::noteExecuted(Warp &warp, Mbarrier &barrier) {
  SyncDomain &sync = warp.cta().cluster().sync;
  barrier.clocks.executed.join(sync.clocks(warp.execution().agent).executed);
}

/// Remembers that a parity wait saw the last phase complete.
static void observePhase(Warp &warp, const Instruction &inst, unsigned lane, Mbarrier &barrier) {
  Execution &exec = warp.execution();
  SyncDomain &sync = warp.cta().cluster().sync;
  if (!exec.waitAgent)
    exec.waitAgent = sync.addAgent();
  sync.clocks(exec.agent).executed.raise(exec.waitAgent, ++exec.parityWaits);
  llvm::erase_if(barrier.observations,
                 [&](const Mbarrier::Observation &seen) { return seen.agent == exec.waitAgent; });
  barrier.observations.push_back({exec.waitAgent, exec.parityWaits, &warp, lane, &inst});
}

/// A parity names the current phase or the one before (PTX ISA "mbarrier.test_wait"). So the next
/// phase may complete only when all who wait for the last one have seen it: a later waiter would
/// wait for, or be satisfied by, another phase of the same parity.
static void checkObservations(Mbarrier &barrier) {
  for (const Mbarrier::Observation &seen : barrier.observations)
    if (barrier.clocks.executed[seen.agent] < seen.number)
      seen.warp->report(
          FindingKind::BarrierMisuse, *seen.instruction, seen.lane,
          formatv("phase confusion: this wait for a parity saw phase {0} of the mbarrier "
                  "(initialised at line {1}) complete, but phase {2} completed without anything "
                  "that orders it after the wait; had the wait come later, it would have been for "
                  "phase {3}, of the same parity",
                  int64_t(barrier.phase) - 2, barrier.initLine, barrier.phase - 1, barrier.phase)
              .str());
  barrier.observations.clear();
}

static void completePhase(Warp &warp, Mbarrier &barrier) {
  if (barrier.pending || barrier.transactions)
    return;
  ++barrier.phase;
  checkObservations(barrier);
  barrier.pending = barrier.expected;
  barrier.clocks.happened.raise(barrier.agent, uint32_t(barrier.phase));
  barrier.completed.join(barrier.clocks);
  warp.machine().noteProgress();
}

bool tcc::emulator::arriveAt(Warp &warp, const Instruction &inst, unsigned lane, Mbarrier &barrier,
                             uint32_t count) {
  if (count > barrier.pending) {
    warp.fault(FindingKind::BarrierMisuse, inst, lane,
               formatv("{0} arrivals at an mbarrier (initialised at line {1}) that waits for {2} "
                       "in phase {3}",
                       count, barrier.initLine, barrier.pending, barrier.phase)
                   .str());
    return false;
  }
  noteExecuted(warp, barrier);
  barrier.pending -= count;
  warp.machine().noteProgress();
  completePhase(warp, barrier);
  return true;
}

bool tcc::emulator::addTransactions(Warp &warp, const Instruction &inst, unsigned lane,
                                    Mbarrier &barrier, int64_t bytes) {
  barrier.transactions += bytes;
  if (std::abs(barrier.transactions) > kMaxTransactions) {
    warp.fault(FindingKind::BarrierMisuse, inst, lane,
               formatv("the transaction count {0} of the mbarrier initialised at line {1} leaves "
                       "the range of +-(2^20 - 1)",
                       barrier.transactions, barrier.initLine)
                   .str());
    return false;
  }
  warp.machine().noteProgress();
  if (bytes < 0)
    completePhase(warp, barrier);
  return true;
}

std::string tcc::emulator::describeMbarrier(Warp &warp, const Wait &wait) {
  Cluster &cluster = warp.cta().cluster();
  uint64_t rank = wait.id >> kSharedRankShift;
  if (rank < cluster.ctas.size()) {
    auto &barriers = cluster.ctas[rank]->mbarriers;
    auto found = barriers.find(wait.id & kSharedOffsetMask);
    if (found != barriers.end())
      return formatv("waits at the mbarrier at shared address {0:x} (initialised at line {1}), {2} "
                     "{3}, which is in phase {4} with {5} of {6} arrivals and {7} bytes pending",
                     wait.id, found->second.initLine, wait.phase & 2 ? "token phase" : "parity",
                     wait.phase & 1, found->second.phase, found->second.pending,
                     found->second.expected, found->second.transactions)
          .str();
  }
  return formatv("waits at an mbarrier at {0:x} that no longer exists", wait.id).str();
}

//===----------------------------------------------------------------------===//
// Instructions
//===----------------------------------------------------------------------===//

namespace {

/// Shared-space addresses of an operand; generic ones without a state space in the opcode.
void mbarrierAddresses(Warp &warp, const Instruction &inst, const Operand &operand,
                       uint64_t (&address)[kLanes]) {
  warp.addresses(operand, address);
  if (inst.space == Space::Generic)
    for (unsigned lane : warp.lanes())
      address[lane] -= kSharedWindow;
}

void executeInit(Warp &warp, const Instruction &inst) {
  uint64_t address[kLanes];
  mbarrierAddresses(warp, inst, inst.operands[0], address);
  const Row &count = warp.read(inst.operands[1]);
  Execution &exec = warp.execution();
  SyncDomain &sync = warp.cta().cluster().sync;
  for (unsigned lane : warp.lanes()) {
    uint64_t offset;
    Cta *cta = locate(warp, inst, lane, address[lane], offset);
    if (!cta)
      return;
    uint32_t expected = uint32_t(count[lane]);
    if (expected == 0 || expected > kMaxCount)
      return warp.fault(
          FindingKind::BarrierMisuse, inst, lane,
          formatv("an mbarrier for {0} arrivals: expected 1 to 2^20 - 1", expected).str());
    SharedAccess access{exec.agent, sync.record(exec.agent, inst.index, 0)};
    if (auto conflict = cta->shared().noteWrite(offset, kMbarrierBytes, access))
      warp.reportConflict(inst, lane, *conflict, /*isRead=*/false);
    uint32_t clock = sync.clocks(exec.agent).happened[exec.agent];
    Mbarrier barrier;
    barrier.expected = barrier.pending = expected;
    barrier.agent = sync.addAgent();
    barrier.initRecord = sync.record({exec.agent, clock, inst.index, AccessRecord::Barrier});
    barrier.initLine = inst.line;
    cta->shared().settle(offset, kMbarrierBytes, access.record, barrier.initRecord);
    cta->mbarriers[offset] = std::move(barrier);
  }
  warp.machine().noteProgress();
}

void executeInvalidate(Warp &warp, const Instruction &inst) {
  uint64_t address[kLanes];
  mbarrierAddresses(warp, inst, inst.operands[0], address);
  Execution &exec = warp.execution();
  SyncDomain &sync = warp.cta().cluster().sync;
  for (unsigned lane : warp.lanes()) {
    Mbarrier *barrier = findMbarrier(warp, inst, lane, address[lane]);
    uint64_t offset;
    Cta *cta = barrier ? locate(warp, inst, lane, address[lane], offset) : nullptr;
    if (!cta)
      return;
    cta->shared().settle(offset, kMbarrierBytes, barrier->initRecord,
                         sync.record(exec.agent, inst.index, 0));
    cta->mbarriers.erase(offset);
  }
}

// aux[0]: 1 adds, 0 completes.
void executeTransactions(Warp &warp, const Instruction &inst) {
  uint64_t address[kLanes];
  mbarrierAddresses(warp, inst, inst.operands[0], address);
  const Row &bytes = warp.read(inst.operands[1]);
  for (unsigned lane : warp.lanes()) {
    Mbarrier *barrier = findMbarrier(warp, inst, lane, address[lane]);
    int64_t count = uint32_t(bytes[lane]);
    if (!barrier)
      return;
    noteExecuted(warp, *barrier);
    if (!addTransactions(warp, inst, lane, *barrier, inst.aux[0] ? count : -count))
      return;
  }
}

// aux[0]: flags; aux[1]: operand of the address; aux[2]: operand of the count, 0 if none; aux[3]:
// operand of the bytes.
enum ArriveFlag : uint32_t { Drop = 1, NoComplete = 2, Relaxed = 4, HasState = 8 };

void executeArrive(Warp &warp, const Instruction &inst) {
  uint64_t address[kLanes];
  mbarrierAddresses(warp, inst, inst.operands[inst.aux[1]], address);
  Execution &exec = warp.execution();
  SyncDomain &sync = warp.cta().cluster().sync;
  bool hasState = inst.aux[0] & HasState;
  Row state = {};
  for (unsigned lane : warp.lanes()) {
    bool isRemote = address[lane] >> kSharedRankShift != warp.cta().rank();
    Mbarrier *barrier = isRemote ? findFencedMbarrier(warp, inst, lane, address[lane])
                                 : findMbarrier(warp, inst, lane, address[lane]);
    if (!barrier)
      return;
    uint32_t count = inst.aux[2] ? uint32_t(warp.read(inst.operands[inst.aux[2]])[lane]) : 1;
    if (count == 0 || count > kMaxCount)
      return warp.fault(FindingKind::BarrierMisuse, inst, lane,
                        formatv("{0} arrivals: expected 1 to 2^20 - 1", count).str());
    if (inst.aux[3] && !addTransactions(warp, inst, lane, *barrier,
                                        uint32_t(warp.read(inst.operands[inst.aux[3]])[lane])))
      return;
    state[lane] = makeToken(*barrier);
    if ((inst.aux[0] & NoComplete) && count == barrier->pending && !barrier->transactions)
      warp.report(FindingKind::BarrierMisuse, inst, lane,
                  "an arrival with .noComplete completes the phase");
    if (inst.aux[0] & Drop) {
      if (count > barrier->expected)
        return warp.fault(
            FindingKind::BarrierMisuse, inst, lane,
            formatv("drops {0} of {1} expected arrivals", count, barrier->expected).str());
      barrier->expected -= count;
    }
    if (!(inst.aux[0] & Relaxed))
      sync.release(exec.agent, barrier->clocks);
    if (!arriveAt(warp, inst, lane, *barrier, count))
      return;
  }
  if (!hasState)
    return;
  Row &d = warp.write(inst.operands[0]);
  for (unsigned lane : warp.lanes())
    d[lane] = state[lane];
}

// aux[0]: 1 for .parity; aux[1]: 1 for .relaxed.
void executeTest(Warp &warp, const Instruction &inst) {
  uint64_t address[kLanes];
  mbarrierAddresses(warp, inst, inst.operands[1], address);
  const Row &state = warp.read(inst.operands[2]);
  Execution &exec = warp.execution();
  uint32_t done = 0;
  for (unsigned lane : warp.lanes()) {
    Mbarrier *barrier = findMbarrier(warp, inst, lane, address[lane]);
    if (!barrier)
      return;
    bool complete = false;
    if (inst.aux[0]) {
      complete = (barrier->phase & 1) != (state[lane] & 1);
      if (complete && warp.machine().options().checkRaces)
        observePhase(warp, inst, lane, *barrier);
    } else {
      uint64_t phase = state[lane] >> 20;
      complete = phase != barrier->phase;
      if (phase > barrier->phase || barrier->phase - phase > 1)
        warp.report(FindingKind::BarrierMisuse, inst, lane,
                    formatv("a token of phase {0} is tested in phase {1}: a token is valid in its "
                            "own phase and the next",
                            phase, barrier->phase)
                        .str());
    }
    SyncDomain &sync = warp.cta().cluster().sync;
    if (complete && inst.aux[1])
      sync.clocks(exec.agent).executed.join(barrier->completed.executed);
    else if (complete)
      sync.acquire(exec.agent, barrier->completed);
    done |= uint32_t(complete) << lane;
  }
  warp.writePredicate(inst.operands[0], done);
  Group &group = *exec.current;
  if (done == warp.active()) {
    group.wait = {};
    return;
  }
  unsigned lane = *LaneRange(warp.active() & ~done).begin();
  uint64_t phase = inst.aux[0] ? state[lane] & 1 : (state[lane] >> 20 & 1) | 2;
  group.wait = {Wait::Kind::Mbarrier, inst.index, address[lane], phase};
  exec.endsTurn = true;
  ++warp.machine().counters(inst).waits;
}

void executePendingCount(Warp &warp, const Instruction &inst) {
  const Row &state = warp.read(inst.operands[1]);
  Row &d = warp.write(inst.operands[0]);
  for (unsigned lane : warp.lanes())
    d[lane] = state[lane] & kMaxCount;
}

constexpr StringRef kKnown[] = {
    "shared", "shared::cta", "shared::cluster", "release",    "relaxed",   "acquire",
    "cta",    "cluster",     "parity",          "noComplete", "expect_tx", "b64"};

Error prepare(const Modifiers &modifiers, Instruction &inst, size_t least, size_t most) {
  inst.destinations = 0;
  if (inst.operands.size() < least || inst.operands.size() > most)
    return modifiers.error("wrong number of operands");
  return modifiers.checkKnown(kKnown);
}

Error decodeInit(const Modifiers &modifiers, Instruction &inst) {
  inst.handler = executeInit;
  return prepare(modifiers, inst, 2, 2);
}
Error decodeInvalidate(const Modifiers &modifiers, Instruction &inst) {
  inst.handler = executeInvalidate;
  return prepare(modifiers, inst, 1, 1);
}
Error decodeTransactions(const Modifiers &modifiers, Instruction &inst) {
  inst.handler = executeTransactions;
  inst.aux[0] = inst.opcode.starts_with("mbarrier.expect_tx");
  return prepare(modifiers, inst, 2, 2);
}

Error decodeArrive(const Modifiers &modifiers, Instruction &inst) {
  if (Error e = prepare(modifiers, inst, 1, 3))
    return e;
  bool hasState = inst.operands[0].kind != Operand::Kind::Address;
  inst.aux[1] = hasState;
  if (inst.operands.size() <= inst.aux[1] ||
      inst.operands[inst.aux[1]].kind != Operand::Kind::Address)
    return modifiers.error("expected an address in brackets");
  size_t rest = inst.operands.size() - inst.aux[1] - 1;
  bool expects = modifiers.has("expect_tx");
  if (rest > 1 || (expects && rest != 1) || (modifiers.has("noComplete") && rest != 1))
    return modifiers.error("wrong number of operands");
  if (rest)
    inst.aux[expects ? 3 : 2] = inst.aux[1] + 1;
  if (hasState)
    inst.aux[0] |= HasState;
  if (inst.opcode.starts_with("mbarrier.arrive_drop"))
    inst.aux[0] |= Drop;
  if (modifiers.has("noComplete"))
    inst.aux[0] |= NoComplete;
  if (modifiers.has("relaxed"))
    inst.aux[0] |= Relaxed;
  inst.destinations = hasState;
  inst.handler = executeArrive;
  return Error::success();
}

Error decodeTest(const Modifiers &modifiers, Instruction &inst) {
  if (Error e = prepare(modifiers, inst, 3, 4))
    return e;
  if (inst.operands[1].kind != Operand::Kind::Address)
    return modifiers.error("expected an address in brackets");
  inst.destinations = 1;
  inst.aux[0] = modifiers.has("parity");
  inst.aux[1] = modifiers.has("relaxed");
  inst.handler = executeTest;
  return Error::success();
}

Error decodePendingCount(const Modifiers &modifiers, Instruction &inst) {
  if (Error e = prepare(modifiers, inst, 2, 2))
    return e;
  inst.destinations = 1;
  inst.handler = executePendingCount;
  return Error::success();
}

} // namespace

void tcc::emulator::registerMbarrierInstructions(InstructionTable &table) {
  table.add("mbarrier.init", decodeInit);
  table.add("mbarrier.inval", decodeInvalidate);
  table.add("mbarrier.expect_tx", decodeTransactions);
  table.add("mbarrier.complete_tx", decodeTransactions);
  table.add("mbarrier.arrive", decodeArrive);
  table.add("mbarrier.arrive_drop", decodeArrive);
  table.add("mbarrier.test_wait", decodeTest);
  table.add("mbarrier.try_wait", decodeTest);
  table.add("mbarrier.pending_count", decodePendingCount);
}
