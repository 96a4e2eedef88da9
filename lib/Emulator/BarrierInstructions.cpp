//===- BarrierInstructions.cpp - bar, barrier.cluster, fences ---*- C++ -*-===//

#include "InstructionTable.h"
#include "Machine.h"

using namespace tcc::emulator;
using llvm::Error;
using llvm::StringRef;
using llvm::Twine;

void tcc::emulator::resume(Warp &warp, Group &group, uint32_t next) {
  Execution &exec = warp.execution();
  group.isBlocked = false;
  group.wait = {};
  group.index = next;
  // A group that completes its own barrier is being stepped right now.
  if (exec.current == &group)
    exec.next = next;
  warp.machine().noteProgress();
}

//===----------------------------------------------------------------------===//
// Named barriers
//===----------------------------------------------------------------------===//

namespace {

enum class BarrierMode : uint32_t { Sync, Arrive, Popc, And, Or };

} // namespace

/// bar.red: the result in the lanes of a waiter.
static void writeReduction(const Barrier &barrier, const Barrier::Waiter &waiter) {
  const Instruction &inst = *waiter.instruction;
  BarrierMode mode = BarrierMode(inst.aux[0]);
  if (mode == BarrierMode::Popc) {
    if (inst.operands[0].isRegister())
      for (unsigned lane : LaneRange(waiter.mask))
        waiter.warp->writeRow(inst.operands[0].slot)[lane] = barrier.population;
    return;
  }
  bool all = barrier.population == barrier.votes, any = barrier.population != 0;
  if (mode == BarrierMode::And || mode == BarrierMode::Or)
    waiter.warp->writePredicate(inst.operands[0], (mode == BarrierMode::And ? all : any) ? ~0u : 0,
                                waiter.mask);
}

void tcc::emulator::completeBarrier(Cta &cta, unsigned number) {
  Barrier &barrier = cta.barriers[number];
  uint32_t needed = barrier.expected ? barrier.expected : cta.liveWarps() * kLanes;
  if (!barrier.isActive || barrier.arrived < needed)
    return;
  Barrier done = std::move(barrier);
  barrier = Barrier();
  SyncDomain &sync = cta.cluster().sync;
  for (const Barrier::Waiter &waiter : done.waiters) {
    sync.acquire(waiter.warp->execution().agent, done.clocks);
    writeReduction(done, waiter);
    resume(*waiter.warp, *waiter.group, waiter.instruction->index + 1);
  }
  cta.machine().noteProgress();
}

// aux[0]: BarrierMode; aux[1]: operand of the barrier's number; aux[2]: operand of the thread count
// or 0; aux[3]: operand of the predicate or 0.
static void executeBarrier(Warp &warp, const Instruction &inst) {
  unsigned lane = *warp.lanes().begin();
  Execution &exec = warp.execution();
  Cta &cta = warp.cta();
  uint64_t number = uint32_t(warp.read(inst.operands[inst.aux[1]])[lane]);
  uint64_t count = inst.aux[2] ? uint32_t(warp.read(inst.operands[inst.aux[2]])[lane]) : 0;
  if (number >= cta.barriers.size())
    return warp.fault(FindingKind::BarrierMisuse, inst, lane,
                      "barrier " + Twine(number) + ": a block has barriers 0 to 15");
  if (inst.aux[2] && (count == 0 || count % kLanes || count > kMaxThreadsPerBlock))
    return warp.fault(FindingKind::BarrierMisuse, inst, lane,
                      "a thread count of " + Twine(count) +
                          ": expected a multiple of 32 from 32 to 1024");
  Barrier &barrier = cta.barriers[number];
  if (barrier.isActive && barrier.expected != count)
    warp.report(FindingKind::BarrierMisuse, inst, lane,
                "barrier " + Twine(number) + " is in use for " + Twine(barrier.expected) +
                    " threads (0: all), this warp expects " + Twine(count));
  if (llvm::is_contained(barrier.arrivedWarps, &warp) && warp.active() == exec.live)
    warp.report(FindingKind::BarrierMisuse, inst, lane,
                "the warp arrives at barrier " + Twine(number) +
                    " again before the others have arrived");
  if (count > uint64_t(cta.warps().size()) * kLanes)
    return warp.fault(FindingKind::BarrierMisuse, inst, lane,
                      "barrier " + Twine(number) + " expects " + Twine(count) +
                          " threads, the block has only " + Twine(cta.warps().size() * kLanes));
  barrier.isActive = true;
  barrier.expected = count;
  barrier.arrivedWarps.push_back(&warp);
  // A warp counts as a whole, also where it is the block's last and has fewer threads.
  barrier.arrived += warp.active() == exec.live ? kLanes : llvm::popcount(warp.active());
  if (inst.aux[3]) {
    uint32_t votes = warp.readPredicate(inst.operands[inst.aux[3]]) & warp.active();
    barrier.population += llvm::popcount(votes);
    barrier.votes += llvm::popcount(warp.active());
  }
  cta.cluster().sync.release(exec.agent, barrier.clocks);
  BarrierMode mode = BarrierMode(inst.aux[0]);
  if (mode != BarrierMode::Arrive) {
    Group &group = *exec.current;
    group.isBlocked = true;
    group.wait = {Wait::Kind::Barrier, inst.index, number, 0};
    barrier.waiters.push_back({&warp, &group, &inst, warp.active()});
    // Lanes that the guard left out do not wait: they go on as a group of their own.
    exec.next = inst.index;
    exec.endsTurn = true;
    if (group.mask != warp.active()) {
      Group rest = group;
      rest.isBlocked = false;
      rest.wait = {};
      rest.mask &= ~warp.active();
      rest.index = inst.index + 1;
      group.mask = warp.active();
      exec.groups.push_back(std::move(rest));
    }
  }
  completeBarrier(cta, number);
  if (mode != BarrierMode::Arrive && exec.next == inst.index)
    ++warp.machine().counters(inst).waits;
}

static Error decodeBarrier(const Modifiers &modifiers, Instruction &inst) {
  if (Error e =
          modifiers.checkKnown({"cta", "sync", "arrive", "red", "popc", "and", "or", "aligned"}))
    return e;
  bool isReduction = modifiers.has("red");
  size_t count = inst.operands.size();
  BarrierMode mode = modifiers.has("arrive") ? BarrierMode::Arrive : BarrierMode::Sync;
  if (isReduction)
    mode = modifiers.has("popc")  ? BarrierMode::Popc
           : modifiers.has("and") ? BarrierMode::And
                                  : BarrierMode::Or;
  size_t first = isReduction ? 1 : 0;
  size_t last = isReduction ? count - 1 : count; // one past the thread count
  if (count < first + 1 || (isReduction && count < 3) || last > first + 2 ||
      (mode == BarrierMode::Arrive && last != first + 2))
    return modifiers.error("wrong number of operands");
  inst.aux[0] = uint32_t(mode);
  inst.aux[1] = first;
  inst.aux[2] = last == first + 2 ? first + 1 : 0;
  inst.aux[3] = isReduction ? count - 1 : 0;
  inst.destinations = first;
  // bar{.cta}... is barrier{.cta}....aligned (PTX ISA 9.7.13.1).
  bool aligned = inst.opcode.starts_with("bar.") || modifiers.has("aligned");
  inst.convergence = aligned ? Convergence::Aligned : Convergence::None;
  inst.handler = executeBarrier;
  return Error::success();
}

//===----------------------------------------------------------------------===//
// Fences
//===----------------------------------------------------------------------===//

static void executeFence(Warp &warp, const Instruction &) {
  warp.cta().cluster().sync.fence(warp.execution().agent);
}

static void executeProxyFence(Warp &warp, const Instruction &) {
  fenceMbarriers(warp, /*isInitFence=*/false);
  warp.cta().cluster().sync.proxyFence(warp.execution().agent);
}

static void executeInitFence(Warp &warp, const Instruction &) {
  fenceMbarriers(warp, /*isInitFence=*/true);
}

static void executeNothing(Warp &, const Instruction &) {}

static Error decodeFence(const Modifiers &modifiers, Instruction &inst) {
  if (Error e = modifiers.checkKnown({"cta",
                                      "gl",
                                      "sys",
                                      "sc",
                                      "acq_rel",
                                      "acquire",
                                      "release",
                                      "cluster",
                                      "gpu",
                                      "proxy",
                                      "alias",
                                      "async",
                                      "async::generic",
                                      "async.global",
                                      "global",
                                      "shared::cta",
                                      "shared::cluster",
                                      "sync_restrict::shared::cta",
                                      "sync_restrict::shared::cluster",
                                      "mbarrier_init",
                                      "tensormap::generic",
                                      "generic"}))
    return e;
  inst.destinations = 0;
  inst.handler = modifiers.has("mbarrier_init") ? executeInitFence : executeFence;
  if (modifiers.has("proxy")) {
    // Only the fence between generic and async proxy concerns shared memory.
    bool isAsync = modifiers.has("async") && !modifiers.has("global");
    inst.handler = isAsync ? executeProxyFence : executeNothing;
  }
  return Error::success();
}

//===----------------------------------------------------------------------===//
// Cluster barrier
//===----------------------------------------------------------------------===//

void tcc::emulator::completeClusterBarrier(Cluster &cluster) {
  bool anyArrived = false;
  for (auto &cta : cluster.ctas)
    for (auto &warp : cta->warps()) {
      Execution &exec = warp->execution();
      if (exec.live & ~exec.clusterArrived)
        return;
      anyArrived |= exec.clusterArrived != 0;
    }
  if (!anyArrived)
    return;
  ClusterBarrier &barrier = cluster.barrier;
  ++barrier.phase;
  barrier.arrived = 0;
  barrier.completed.join(barrier.clocks);
  for (auto &cta : cluster.ctas)
    for (auto &warp : cta->warps())
      warp->execution().clusterArrived = 0;
  std::vector<ClusterBarrier::Waiter> waiters = std::move(barrier.waiters);
  barrier.waiters.clear();
  for (const ClusterBarrier::Waiter &waiter : waiters) {
    cluster.sync.acquire(waiter.warp->execution().agent, barrier.completed);
    waiter.warp->execution().executedByPeers.join(barrier.executed);
    resume(*waiter.warp, *waiter.group, waiter.index + 1);
  }
}

// aux[0]: 1 unless .relaxed.
static void executeClusterArrive(Warp &warp, const Instruction &inst) {
  Execution &exec = warp.execution();
  Cluster &cluster = warp.cta().cluster();
  for (unsigned lane : warp.lanes()) {
    if (exec.clusterArrivals[lane] != exec.clusterWaits[lane]) {
      warp.report(FindingKind::BarrierMisuse, inst, lane,
                  "the thread arrives at the cluster barrier again without barrier.cluster.wait "
                  "in between");
      return;
    }
    ++exec.clusterArrivals[lane];
  }
  exec.clusterArrived |= warp.active();
  cluster.barrier.arrived += llvm::popcount(warp.active());
  VectorClock &own = cluster.sync.clocks(exec.agent).happened;
  cluster.barrier.executed.join(own);
  if (inst.aux[0])
    cluster.sync.release(exec.agent, cluster.barrier.clocks);
  else
    cluster.sync.releaseFenced(exec.agent, cluster.barrier.clocks);
  completeClusterBarrier(cluster);
  warp.machine().noteProgress();
}

static void executeClusterWait(Warp &warp, const Instruction &inst) {
  Execution &exec = warp.execution();
  Cluster &cluster = warp.cta().cluster();
  bool ready = true;
  for (unsigned lane : warp.lanes()) {
    if (exec.clusterArrivals[lane] == exec.clusterWaits[lane])
      return warp.fault(FindingKind::BarrierMisuse, inst, lane,
                        "barrier.cluster.wait without barrier.cluster.arrive before it");
    ready &= cluster.barrier.phase >= exec.clusterArrivals[lane];
    exec.clusterWaits[lane] = exec.clusterArrivals[lane];
  }
  if (ready) {
    cluster.sync.acquire(exec.agent, cluster.barrier.completed);
    exec.executedByPeers.join(cluster.barrier.executed);
    return;
  }
  Group &group = *exec.current;
  group.isBlocked = true;
  group.wait = {Wait::Kind::ClusterBarrier, inst.index, 0, cluster.barrier.phase};
  cluster.barrier.waiters.push_back({&warp, &group, inst.index});
  exec.next = inst.index;
  exec.endsTurn = true;
  ++warp.machine().counters(inst).waits;
}

static Error decodeClusterBarrier(const Modifiers &modifiers, Instruction &inst) {
  if (Error e =
          modifiers.checkKnown({"arrive", "wait", "release", "relaxed", "acquire", "aligned"}))
    return e;
  inst.destinations = 0;
  inst.aux[0] = !modifiers.has("relaxed");
  inst.convergence = modifiers.has("aligned") ? Convergence::Aligned : Convergence::None;
  inst.handler = modifiers.has("wait") ? executeClusterWait : executeClusterArrive;
  return Error::success();
}

void tcc::emulator::registerBarrierInstructions(InstructionTable &table) {
  table.add("bar", decodeBarrier);
  table.add("barrier", decodeBarrier);
  table.add("barrier.cluster", decodeClusterBarrier);
  table.add("membar", decodeFence);
  table.add("fence", decodeFence);
}
