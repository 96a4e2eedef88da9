//===- AsyncCopy.cpp - cp.async and its groups ------------------*- C++ -*-===//
//
// The bytes of a cp.async land when a wait of the same thread asks for them, or when an mbarrier
// that the thread has tied to them is waited for and nothing else can go on. Until then the
// destination holds its old bytes, and whoever reads or writes there is reported.
//
//===----------------------------------------------------------------------===//

#include "InstructionTable.h"
#include "Machine.h"
#include "MemoryCounters.h"

#include "llvm/Support/FormatVariadic.h"

#include <cstring>

using namespace tcc::emulator;
using llvm::Error;
using llvm::formatv;

namespace {

// aux[0]: copy size; aux[1]: operand of src-size or 0; aux[2]: operand of ignore-src or 0.
void executeCopy(Warp &warp, const Instruction &inst) {
  Execution &exec = warp.execution();
  Machine &machine = warp.machine();
  SyncDomain &sync = warp.cta().cluster().sync;
  unsigned bytes = inst.aux[0];
  PendingCopy copy;
  copy.instruction = &inst;
  copy.mask = warp.active();
  copy.bytes = bytes;
  uint64_t destination[kLanes], source[kLanes];
  warp.addresses(inst.operands[0], destination);
  warp.addresses(inst.operands[1], source);
  uint32_t ignored = inst.aux[2] ? warp.readPredicate(inst.operands[inst.aux[2]]) : 0;
  copy.record = sync.record({exec.agent, sync.clocks(exec.agent).happened[exec.agent], inst.index,
                             AccessRecord::InFlight});
  uint32_t reads = 0;
  for (unsigned lane : warp.lanes()) {
    uint64_t size = inst.aux[1] ? uint32_t(warp.read(inst.operands[inst.aux[1]])[lane]) : bytes;
    if (size > bytes)
      warp.report(FindingKind::Unspecified, inst, lane,
                  formatv("src-size {0} is greater than cp-size {1}", size, bytes).str());
    size = std::min<uint64_t>(size, bytes);
    if (ignored >> lane & 1)
      size = 0;
    if ((destination[lane] | source[lane]) & (bytes - 1))
      return warp.fault(FindingKind::Misaligned, inst, lane,
                        formatv("copy of {0} bytes from {1:x} to {2:x}: both addresses must be "
                                "multiples of {0}",
                                bytes, source[lane], destination[lane])
                            .str());
    uint64_t offset;
    SharedMemory *memory = warp.findShared(inst, lane, destination[lane], bytes, offset);
    if (!memory)
      return;
    if (auto conflict = memory->noteWrite(offset, bytes, {exec.agent, copy.record}))
      warp.reportConflict(inst, lane, *conflict, /*isRead=*/false);
    if (size) {
      Allocation *allocation = machine.global().find(source[lane], size);
      if (!allocation)
        return warp.fault(FindingKind::OutOfBounds, inst, lane,
                          formatv("copy of {0} bytes from global address {1:x}: {2}", size,
                                  source[lane], machine.global().describeMiss(source[lane], size))
                              .str());
      if (machine.options().checkUninitialized &&
          std::memchr(allocation->defined.get() + (source[lane] - allocation->base), 0, size))
        warp.report(FindingKind::Uninitialized, inst, lane,
                    formatv("copy of {0} bytes from global address {1:x}: nothing was written "
                            "there before",
                            size, source[lane])
                        .str());
      reads |= 1u << lane;
    }
    copy.destination[lane] = destination[lane];
    copy.source[lane] = source[lane];
    copy.sourceBytes[lane] = size;
    copy.group[lane] = exec.committedGroups[lane];
  }
  exec.copies.push_back(copy);
  if (!machine.options().collectReport)
    return;
  countGlobalAccess(machine.counters(inst), source, reads, bytes);
  countSharedAccess(machine.counters(inst), destination, warp.active(), bytes);
  machine.countBytes(inst, Space::Global, true, uint64_t(llvm::popcount(reads)) * bytes);
  machine.countBytes(inst, Space::Shared, false, uint64_t(llvm::popcount(copy.mask)) * bytes);
}

/// Moves one lane's bytes and marks them as written by `record`.
void land(Warp &warp, const PendingCopy &copy, unsigned lane, uint32_t record) {
  uint64_t offset;
  SharedMemory *memory =
      warp.findShared(*copy.instruction, lane, copy.destination[lane], copy.bytes, offset);
  if (!memory)
    return;
  std::memset(memory->data(offset), 0, copy.bytes);
  if (unsigned size = copy.sourceBytes[lane])
    if (Allocation *allocation = warp.machine().global().find(copy.source[lane], size))
      std::memcpy(memory->data(offset),
                  allocation->data.get() + (copy.source[lane] - allocation->base), size);
  memory->settle(offset, copy.bytes, copy.record, record);
}

void landWhere(Warp &warp, uint32_t mask,
               llvm::function_ref<bool(const PendingCopy &, unsigned)> is,
               llvm::function_ref<uint32_t(const PendingCopy &)> recordOf) {
  std::vector<PendingCopy> &copies = warp.execution().copies;
  for (PendingCopy &copy : copies) {
    uint32_t record = 0;
    for (unsigned lane : LaneRange(copy.mask & mask)) {
      if (!is(copy, lane))
        continue;
      if (!record)
        record = recordOf(copy);
      land(warp, copy, lane, record);
      copy.mask &= ~(1u << lane);
    }
  }
  llvm::erase_if(copies, [](const PendingCopy &copy) { return copy.mask == 0; });
}

Error decodeCopy(const Modifiers &modifiers, Instruction &inst) {
  if (Error e = modifiers.checkKnown({"ca", "cg", "shared", "shared::cta", "global",
                                      "L2::cache_hint", "L2::64B", "L2::128B", "L2::256B"}))
    return e;
  size_t count = inst.operands.size() - (modifiers.has("L2::cache_hint") ? 1 : 0);
  if (inst.operands.empty() || count < 3 || count > 5 || !inst.operands[2].isImmediate())
    return modifiers.error("expected [destination], [source], size");
  inst.aux[0] = uint32_t(inst.operands[2].immediate);
  bool allowed =
      inst.aux[0] == 16 || (modifiers.has("ca") && (inst.aux[0] == 4 || inst.aux[0] == 8));
  if (!allowed)
    return modifiers.error("expected a size of 16, or with .ca of 4 or 8");
  if (count > 3) {
    bool isPredicate = inst.operands[3].isPredicate();
    inst.aux[isPredicate ? 2 : 1] = 3;
    if (count == 5)
      inst.aux[2] = 4;
  }
  inst.destinations = 0;
  inst.handler = executeCopy;
  return Error::success();
}

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

void executeCommit(Warp &warp, const Instruction &) {
  for (unsigned lane : warp.lanes())
    ++warp.execution().committedGroups[lane];
}

void executeWaitGroup(Warp &warp, const Instruction &inst) {
  landCopies(warp, warp.active(), uint32_t(inst.operands[0].immediate), /*all=*/false);
}

void executeWaitAll(Warp &warp, const Instruction &) {
  landCopies(warp, warp.active(), 0, /*all=*/true);
}

template <Handler handler, unsigned operands>
Error decodeGroup(const Modifiers &modifiers, Instruction &inst) {
  inst.destinations = 0;
  inst.handler = handler;
  if (inst.operands.size() != operands || (operands && !inst.operands[0].isImmediate()))
    return modifiers.error("expected " + llvm::Twine(operands) + " constant operands");
  return Error::success();
}

//===----------------------------------------------------------------------===//
// Completion by mbarrier
//===----------------------------------------------------------------------===//

// cp.async.mbarrier.arrive (PTX ISA 9.7.13.15.16). aux[0]: 1 for .noinc.
void executeMbarrierArrive(Warp &warp, const Instruction &inst) {
  uint64_t address[kLanes];
  warp.addresses(inst.operands[0], address);
  Execution &exec = warp.execution();
  for (unsigned lane : warp.lanes()) {
    Mbarrier *barrier = findMbarrier(warp, inst, lane, address[lane]);
    if (!barrier)
      return;
    if (!inst.aux[0])
      ++barrier->pending;
    // All of the thread's copies so far, and no later ones.
    uint32_t last = 0;
    for (const PendingCopy &copy : exec.copies)
      if (copy.mask >> lane & 1)
        last = std::max(last, copy.record);
    AsyncOperation operation;
    operation.warp = &warp;
    operation.lane = lane;
    operation.mbarrier = address[lane];
    operation.perform = [&warp, &inst, lane, last, at = address[lane]] {
      Mbarrier *target = findMbarrier(warp, inst, lane, at);
      if (!target)
        return;
      SyncDomain &sync = warp.cta().cluster().sync;
      landWhere(
          warp, 1u << lane, [&](const PendingCopy &copy, unsigned) { return copy.record <= last; },
          [&](const PendingCopy &copy) {
            return sync.record(
                {target->agent, uint32_t(target->phase + 1), copy.instruction->index, 0});
          });
      arriveAt(warp, inst, lane, *target, 1);
      warp.machine().noteProgress();
    };
    warp.machine().async().push(std::move(operation));
  }
}

Error decodeMbarrierArrive(const Modifiers &modifiers, Instruction &inst) {
  if (Error e = modifiers.checkKnown({"noinc", "shared", "shared::cta"}))
    return e;
  if (inst.operands.size() != 1)
    return modifiers.error("expected an address");
  inst.aux[0] = modifiers.has("noinc");
  inst.destinations = 0;
  inst.handler = executeMbarrierArrive;
  return Error::success();
}

} // namespace

void tcc::emulator::landCopies(Warp &warp, uint32_t mask, uint32_t newest, bool all) {
  Execution &exec = warp.execution();
  if (exec.copies.empty())
    return;
  SyncDomain &sync = warp.cta().cluster().sync;
  landWhere(
      warp, mask,
      [&](const PendingCopy &copy, unsigned lane) {
        return all || copy.group[lane] + uint64_t(newest) < exec.committedGroups[lane];
      },
      [&](const PendingCopy &copy) { return sync.record(exec.agent, copy.instruction->index, 0); });
}

void tcc::emulator::registerAsyncCopyInstructions(InstructionTable &table) {
  table.add("cp.async", decodeCopy);
  table.add("cp.async.commit_group", decodeGroup<executeCommit, 0>);
  table.add("cp.async.wait_group", decodeGroup<executeWaitGroup, 1>);
  table.add("cp.async.wait_all", decodeGroup<executeWaitAll, 0>);
  table.add("cp.async.mbarrier.arrive", decodeMbarrierArrive);
}
