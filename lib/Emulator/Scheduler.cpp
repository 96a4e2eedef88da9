//===- Scheduler.cpp - Warps take turns -------------------------*- C++ -*-===//
//
// A round gives every group of every resident warp a turn of some instructions. A turn ends early
// at a barrier or at a failed poll of an mbarrier. When a whole round changed nothing that another
// warp could see, the machine does what was put off: it lands asynchronous work, starts further
// blocks, lets lanes that wait at a join go on alone; if there is nothing left and every group
// waits, that is a deadlock.
//
//===----------------------------------------------------------------------===//

#include "Machine.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

using namespace tcc::emulator;

constexpr unsigned kTurn = 256;
/// Rounds without progress after which polls count as waiting for good. A poll loop may count its
/// iterations.
constexpr uint64_t kQuietRounds = 4;
/// The same where some group ran its whole turn without a visible effect (a long computation, or a
/// poll of memory).
constexpr uint64_t kUncertainRounds = 64;
constexpr uint64_t kMaxResidentThreads = 132 * 2048;

void Machine::run() {
  admitCluster();
  while (!isStopped && (!clusters.empty() || admitCluster())) {
    uint64_t before = progress;
    roundIsCertain = true;
    bool ran = runRound();
    if (isStopped)
      break;
    retireClusters();
    if (progress != before || clusters.empty()) {
      quietRounds = 0;
      spins.reset();
      continue;
    }
    ++quietRounds;
    if (!ran || quietRounds >= (roundIsCertain ? kQuietRounds : kUncertainRounds))
      if (onQuiet())
        quietRounds = 0;
  }
  finish();
}

/// False when every group is blocked.
bool Machine::runRound() {
  bool ran = false;
  llvm::SmallVector<Warp *, 64> order;
  for (auto &cluster : clusters)
    for (auto &cta : cluster->ctas)
      for (auto &warp : cta->warps())
        if (warp->execution().live)
          order.push_back(warp.get());
  if (settings.seed)
    std::shuffle(order.begin(), order.end(), random);
  for (Warp *warp : order) {
    Execution &exec = warp->execution();
    if (exec.groups.size() > 1)
      mergeGroups(*warp);
    // Groups that are created during the round have their turn in the next one.
    llvm::SmallVector<Group *, 4> ready;
    for (Group &group : exec.groups)
      if (!group.isBlocked)
        ready.push_back(&group);
    for (Group *group : ready) {
      // An earlier turn may have removed it: joined, or gathered for a warp-wide instruction.
      bool exists = llvm::any_of(exec.groups, [&](Group &g) { return &g == group; });
      if (!exists || group->isBlocked)
        continue;
      ran = true;
      runTurn(*warp, *group);
      if (isStopped)
        return true;
    }
  }
  return ran;
}

void Machine::runTurn(Warp &warp, Group &group) {
  Execution &exec = warp.execution();
  exec.current = &group;
  unsigned turn = settings.seed ? 1 + random() % (2 * kTurn) : kTurn;
  uint64_t before = progress;
  for (; turn; --turn) {
    bool goesOn = step(warp, group);
    if (isStopped || !exec.current)
      return;
    if (!goesOn)
      return;
  }
  if (progress == before)
    roundIsCertain = false;
}

/// Executes one instruction of a group; false when its turn ends.
bool Machine::step(Warp &warp, Group &group) {
  Execution &exec = warp.execution();
  while (group.join && group.index == group.join->index && group.frame == group.join->frame)
    if (!reachJoin(warp, group)) {
      noteProgress();
      return false;
    }
  const Instruction &inst = code.code[group.index];
  if (++stepCount > settings.maxSteps) {
    stop(LaunchStatus::StepLimit);
    addFinding(FindingKind::StepLimit, inst, warp, *LaneRange(group.mask).begin(),
               "the launch was stopped after " + llvm::Twine(settings.maxSteps) +
                   " warp instructions");
    return false;
  }
  uint32_t mask = group.mask;
  if (inst.guard != kNoSlot) {
    uint32_t guard = warp.predicates[inst.guard];
    mask &= inst.guardNegated ? ~guard : guard;
  }
  InstructionReport &count = counts[inst.index];
  ++count.executions;
  count.lanes += llvm::popcount(mask);
  warp.activeMask = mask ? mask : group.mask;
  bool movesUndefined =
      settings.checkUninitialized && checkDefined(warp, inst, group.mask, mask);
  if (!mask) {
    ++group.index;
    return true;
  }
  if (inst.convergence != Convergence::None && !checkConvergence(warp, group, inst))
    return false;
  exec.next = group.index + 1;
  exec.endsTurn = false;
  if (inst.readsClock)
    for (auto [row, which] : code.specialRows)
      if (isVolatile(which) && which != SpecialRegister::ClockHi &&
          which != SpecialRegister::GlobaltimerHi)
        warp.registers[row].fill(bitWidth(which) == 64 ? stepCount : uint32_t(stepCount));
  if (exec.wgmma && !isWgmmaMultiply(inst))
    checkWgmmaRegisters(warp, inst);
  if (movesUndefined)
    executeOnUndefined(warp, inst);
  else
    inst.handler(warp, inst);
  if (settings.trace)
    trace(warp, inst);
  if (isStopped || !exec.current)
    return false;
  if (!movesUndefined && !inst.propagatesUndefined && !inst.managesDefinedness) {
    for (uint32_t row : inst.destinationRows)
      warp.definedRows[row] |= warp.activeMask;
    for (uint32_t predicate : inst.destinationPredicates)
      warp.definedPredicates[predicate] |= warp.activeMask;
  }
  group.index = exec.next;
  return !exec.endsTurn;
}

bool Machine::checkConvergence(Warp &warp, Group &group, const Instruction &inst) {
  Execution &exec = warp.execution();
  if (inst.convergence == Convergence::MemberMask)
    return gatherMembers(warp, group, inst);
  uint32_t needed = inst.convergence == Convergence::FullWarp ? ~0u : exec.live;
  if (warp.activeMask == needed)
    return true;
  unsigned missing = *LaneRange(needed & ~warp.activeMask).begin();
  warp.fault(FindingKind::Divergence, inst, *warp.lanes().begin(),
             llvm::formatv("all lanes of the warp must execute this instruction together; active "
                           "are {0:x8}, lane {1} is not",
                           warp.activeMask, missing)
                 .str());
  return false;
}

/// The lanes of `lanes` whose member mask has none of `members`: those of another tile, which
/// execute the instruction by themselves. Masks that differ but overlap are reported.
static uint32_t findOtherTiles(Warp &warp, const Instruction &inst, uint32_t lanes,
                               uint32_t members) {
  const Row &masks = warp.read(inst.operands[inst.maskOperand]);
  uint32_t others = 0;
  for (unsigned lane : LaneRange(lanes)) {
    uint32_t own = uint32_t(masks[lane]);
    if (!(own & members) && own >> lane & 1) {
      others |= 1u << lane;
      continue;
    }
    if (own != members)
      warp.report(FindingKind::Divergence, inst, lane,
                  llvm::formatv("the member masks of the lanes differ: {0:x8} and {1:x8}", own,
                                members)
                      .str());
    if (!(members >> lane & 1))
      warp.report(
          FindingKind::Divergence, inst, lane,
          llvm::formatv("lane {0} is not in its own member mask {1:x8}", lane, members).str());
  }
  return others;
}

/// `.sync` with a member mask: the group executes the instruction when all live lanes of the mask
/// stand at it. Lanes of other groups that wait there with the same mask take part and go on with
/// it. Lanes with another mask leave the group for this instruction.
bool Machine::gatherMembers(Warp &warp, Group &group, const Instruction &inst) {
  Execution &exec = warp.execution();
  auto maskOf = [&](const Instruction &at, uint32_t lanes) {
    return uint32_t(warp.read(at.operands[at.maskOperand])[*LaneRange(lanes).begin()]);
  };
  uint32_t members = maskOf(inst, warp.activeMask);
  if (uint32_t others = findOtherTiles(warp, inst, warp.activeMask, members)) {
    warp.activeMask &= ~others;
    branch(warp, group.mask & ~warp.activeMask, group.index, group.index + 1);
  }
  // bar.warp.sync, which exchanges nothing, may be reached at different places.
  bool anyPlace = inst.operands.size() == 1;
  auto isWith = [&](const Group &other) {
    if (&other == &group || other.wait.kind != Wait::Kind::Members)
      return false;
    const Instruction &at = code.code[other.wait.instruction];
    return (&at == &inst || (anyPlace && at.operands.size() == 1)) &&
           maskOf(at, uint32_t(other.wait.phase)) == members;
  };
  uint32_t present = warp.activeMask;
  for (Group &other : exec.groups)
    if (isWith(other))
      present |= uint32_t(other.wait.phase);
  uint32_t missing = members & exec.live & ~present;
  if (missing) {
    group.wait = {Wait::Kind::Members, inst.index, missing, warp.activeMask};
    group.isBlocked = true;
    return false;
  }
  for (Group &other : exec.groups) {
    if (!isWith(other))
      continue;
    warp.activeMask |= uint32_t(other.wait.phase);
    other.wait = {};
    other.isBlocked = false;
    ++other.index;
    noteProgress();
  }
  return true;
}

/// Nothing moves. False after it has stopped the launch.
bool Machine::onQuiet() {
  if (doWhatWasPutOff()) {
    spins.reset();
    return true;
  }
  if (!roundIsCertain && !spinsForEver())
    return true;
  reportDeadlock();
  return false;
}

/// Whether no group will ever do anything that another warp could see.
bool Machine::spinsForEver() {
  bool all = true;
  for (auto &cluster : clusters)
    for (auto &cta : cluster->ctas)
      for (auto &warp : cta->warps()) {
        auto isBlocked = [](const Group &group) { return group.isBlocked; };
        if (!llvm::all_of(warp->execution().groups, isBlocked))
          all &= spins.repeats(*warp);
      }
  return all;
}

/// Does one thing; false if there is nothing.
bool Machine::doWhatWasPutOff() {
  // First what a warp polls for, then any operation: work that nobody waits for comes last.
  llvm::SmallVector<uint64_t, 16> polled;
  for (auto &cluster : clusters)
    for (auto &cta : cluster->ctas)
      for (auto &warp : cta->warps())
        for (Group &group : warp->execution().groups)
          if (group.wait.kind == Wait::Kind::Mbarrier)
            polled.push_back(group.wait.id);
  auto isPolled = [&](const AsyncOperation &operation) {
    return llvm::is_contained(polled, operation.mbarrier);
  };
  if (queue.performFirst(isPolled) ||
      queue.performFirst([](const AsyncOperation &) { return true; }))
    return true;
  uint64_t resident = clusters.size() * launch.cluster.count() * launch.block.count();
  if (resident < kMaxResidentThreads && admitCluster())
    return true;
  for (auto &cluster : clusters)
    for (auto &cta : cluster->ctas)
      for (auto &warp : cta->warps())
        if (releaseParked(*warp))
          return true;
  return false;
}

void Machine::reportDeadlock() {
  for (auto &cluster : clusters)
    for (auto &cta : cluster->ctas)
      for (auto &warp : cta->warps())
        for (const Group &group : warp->execution().groups)
          describeWait(*warp, group);
  stop(LaunchStatus::Deadlocked);
}

void Machine::describeWait(Warp &warp, const Group &group) {
  const Instruction &inst =
      code.code[group.wait.kind == Wait::Kind::None ? group.index : group.wait.instruction];
  std::string what;
  llvm::raw_string_ostream os(what);
  os << "deadlock: warp " << warp.index() << " of block (" << warp.cta().id().x << ','
     << warp.cta().id().y << ',' << warp.cta().id().z << "), lanes "
     << llvm::format_hex(group.mask, 10) << ", ";
  switch (group.wait.kind) {
  case Wait::Kind::Barrier: {
    const Barrier &barrier = warp.cta().barriers[group.wait.id];
    os << "waits at barrier " << group.wait.id << " where " << barrier.arrived << " of "
       << (barrier.expected ? barrier.expected : warp.cta().liveWarps() * kLanes)
       << " threads have arrived";
    break;
  }
  case Wait::Kind::ClusterBarrier:
    os << "waits at the cluster barrier, phase " << group.wait.phase << ", where "
       << warp.cta().cluster().barrier.arrived << " threads have arrived";
    break;
  case Wait::Kind::Members:
    os << "waits for lanes " << llvm::format_hex(group.wait.id, 10)
       << " of its member mask, which do not come to this instruction";
    break;
  case Wait::Kind::Mbarrier:
    os << describeMbarrier(warp, group.wait);
    break;
  case Wait::Kind::Registers:
    os << "waits in setmaxnreg for " << group.wait.id << " registers; the block's pool has "
       << warp.cta().freeRegisters;
    break;
  case Wait::Kind::Dependency:
    os << "waits for a wgmma that not all four warps of its warpgroup have issued";
    break;
  default:
    os << "runs in a loop for ever: nothing changes what it looks at any more";
    break;
  }
  addFinding(FindingKind::Deadlock, inst, warp, *LaneRange(group.mask).begin(), what);
}

void Machine::trace(Warp &warp, const Instruction &inst) {
  Dim3 id = warp.cta().id();
  uint64_t block = (uint64_t(id.z) * launch.grid.y + id.y) * launch.grid.x + id.x;
  if (block != settings.trace->block || warp.index() != settings.trace->warp)
    return;
  llvm::raw_string_ostream os(result.trace);
  os << llvm::format("%6u %08x  ", inst.line, warp.activeMask) << inst.text;
  unsigned lane = *LaneRange(warp.activeMask).begin();
  if (!inst.destinationRows.empty())
    os << "  // lane " << lane << ':';
  for (uint32_t row : inst.destinationRows)
    os << ' ' << llvm::format_hex(warp.registers[row][lane], 10);
  os << '\n';
}
