//===- ClusterInstructions.cpp - mapa, st.async, setmaxnreg -----*- C++ -*-===//

#include "AddressSpace.h"
#include "AtomicMath.h"
#include "BulkGroups.h"
#include "InstructionTable.h"
#include "MatrixProduct.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/Support/FormatVariadic.h"

#include <array>
#include <cstring>
#include <vector>

using namespace tcc::emulator;
using llvm::Error;
using llvm::formatv;
using llvm::StringRef;

namespace {

/// A rank that no cluster has.
constexpr uint64_t kNoRank = 255;

/// mapa d, a, b: the address in CTA b of the cluster that corresponds to a. It is arithmetic, which
/// compilers move above the branch that guards it: only an access through the address of a CTA that
/// doesn't exist is at fault.
void executeMap(Warp &warp, const Instruction &inst) {
  const Row &a = warp.read(inst.operands[1]);
  const Row &b = warp.read(inst.operands[2]);
  bool isGeneric = inst.space == Space::Generic;
  Row &d = warp.write(inst.operands[0]);
  for (unsigned lane : warp.lanes()) {
    uint64_t rank = std::min<uint64_t>(uint32_t(b[lane]), kNoRank);
    if (isGeneric && !isInWindow(a[lane], kSharedWindow))
      return warp.fault(FindingKind::OutOfBounds, inst, lane,
                        formatv("mapa of {0:x}, which is no shared address", a[lane]).str());
    d[lane] =
        (a[lane] & kSharedOffsetMask) | rank << kSharedRankShift | (isGeneric ? kSharedWindow : 0);
  }
}

void executeRank(Warp &warp, const Instruction &inst) {
  const Row &a = warp.read(inst.operands[1]);
  Row &d = warp.write(inst.operands[0]);
  for (unsigned lane : warp.lanes())
    d[lane] = uint32_t(a[lane]) >> kSharedRankShift;
}

Error decodeMap(const Modifiers &modifiers, Instruction &inst) {
  bool isMap = inst.opcode.starts_with("mapa");
  if (inst.operands.size() != (isMap ? 3 : 2))
    return modifiers.error("wrong number of operands");
  inst.handler = isMap ? executeMap : executeRank;
  return modifiers.checkKnown({"shared::cluster", "shared::cta", "shared"});
}

//===----------------------------------------------------------------------===//
// st.async, red.async
//===----------------------------------------------------------------------===//

/// What one lane stores.
struct AsyncElement {
  unsigned lane;
  SharedMemory *memory;
  uint64_t offset;
  std::array<uint8_t, 16> data;
  MbarrierWrite write;
};

// aux[0]: bytes of an element; aux[1]: AtomicOp + 1 of red.async, or 0.
void performAsyncStore(const Instruction &inst, unsigned bytes, const AsyncElement &element) {
  uint8_t *target = element.memory->data(element.offset);
  if (inst.aux[1]) {
    AtomicValue old, operand;
    std::memcpy(&old.low, target, bytes);
    std::memcpy(&operand.low, element.data.data(), bytes);
    uint64_t result = applyAtomic(AtomicOp(inst.aux[1] - 1), inst.type, old, operand, {},
                                  /*isGlobal=*/false)
                          .low;
    std::memcpy(target, &result, bytes);
  } else {
    std::memcpy(target, element.data.data(), bytes);
  }
  element.memory->settle(element.offset, bytes, element.write.access.record, element.write.landed);
}

/// The lanes' stores that complete on one mbarrier land together: a block may wait for thousands.
void pushAsyncStores(Warp &warp, const Instruction &inst, unsigned bytes, uint64_t barrier,
                     std::vector<AsyncElement> elements) {
  AsyncOperation operation;
  operation.warp = &warp;
  operation.lane = elements.front().lane;
  operation.instruction = inst.index;
  operation.mbarrier = barrier;
  operation.perform = [&warp, &inst, bytes, barrier, elements = std::move(elements)] {
    for (const AsyncElement &element : elements)
      performAsyncStore(inst, bytes, element);
    unsigned lane = elements.front().lane;
    if (Mbarrier *completed = findMbarrier(warp, inst, lane, barrier))
      addTransactions(warp, inst, lane, *completed, -int64_t(bytes * elements.size()));
  };
  warp.machine().async().push(std::move(operation));
}

void executeAsyncStore(Warp &warp, const Instruction &inst) {
  uint64_t address[kLanes], barrierAddress[kLanes];
  warp.addresses(inst.operands[0], address);
  warp.addresses(inst.operands[2], barrierAddress);
  llvm::ArrayRef<Operand> values = Warp::elements(inst.operands[1]);
  unsigned size = inst.aux[0], bytes = size * values.size();
  llvm::MapVector<uint64_t, std::vector<AsyncElement>> stores;
  for (unsigned lane : warp.lanes()) {
    if (address[lane] & (bytes - 1))
      return warp.fault(FindingKind::Misaligned, inst, lane,
                        formatv("{0:x} is no multiple of {1}", address[lane], bytes).str());
    uint64_t offset;
    SharedMemory *memory = warp.findShared(inst, lane, address[lane], bytes, offset);
    Mbarrier *barrier =
        memory ? findFencedMbarrier(warp, inst, lane, barrierAddress[lane]) : nullptr;
    if (!barrier)
      return;
    if (barrierAddress[lane] >> kSharedRankShift != address[lane] >> kSharedRankShift)
      return warp.fault(FindingKind::IllegalInstruction, inst, lane,
                        "the mbarrier must lie in the CTA of the destination");
    MbarrierWrite write = beginMbarrierWrite(warp, inst, *barrier, 0);
    if (auto conflict = memory->noteWrite(offset, bytes, write.access))
      warp.reportConflict(inst, lane, *conflict, /*isRead=*/false);
    AsyncElement &element =
        stores[barrierAddress[lane]].emplace_back(AsyncElement{lane, memory, offset, {}, write});
    for (size_t i = 0; i < values.size(); ++i)
      std::memcpy(element.data.data() + i * size, &warp.read(values[i])[lane], size);
  }
  for (auto &[barrier, elements] : stores)
    pushAsyncStores(warp, inst, bytes, barrier, std::move(elements));
}

Error decodeAsyncStore(const Modifiers &modifiers, Instruction &inst) {
  if (Error e = modifiers.checkKnown({"weak", "relaxed", "cluster", "shared::cluster", "v2", "v4",
                                      "mbarrier::complete_tx::bytes", "add", "min", "max", "inc",
                                      "dec", "and", "or", "xor"}))
    return e;
  if (inst.operands.size() != 3 || inst.types.size() != 1 ||
      inst.operands[0].kind != Operand::Kind::Address ||
      inst.operands[2].kind != Operand::Kind::Address)
    return modifiers.error("expected [address], value, [mbarrier] and one type");
  inst.aux[0] = bitWidth(inst.type) / 8;
  size_t bytes = inst.aux[0] * Warp::elements(inst.operands[1]).size();
  if (inst.aux[0] < 4 || bytes > 16)
    return modifiers.error("expected 4 to 16 bytes");
  bool isReduction = inst.opcode.starts_with("red");
  std::optional<AtomicOp> op =
      parseAtomicOp(modifiers.oneOf({"add", "min", "max", "inc", "dec", "and", "or", "xor"}));
  if (isReduction && (!op || !supportsAtomic(*op, inst.type)))
    return modifiers.error("this operation does not exist for this type");
  inst.aux[1] = isReduction ? uint32_t(*op) + 1 : 0;
  inst.destinations = 0;
  inst.handler = executeAsyncStore;
  return Error::success();
}

//===----------------------------------------------------------------------===//
// setmaxnreg, griddepcontrol
//===----------------------------------------------------------------------===//

/// Takes registers from the block's pool, or gives them back. An increase waits until there are
/// enough (PTX ISA "setmaxnreg").
void moveRegisters(Warp &warp, const Instruction &inst, uint64_t count) {
  Execution &exec = warp.execution();
  uint32_t launched = warp.machine().shape().registersPerThread;
  if (!launched)
    return;
  uint32_t current = exec.registers ? exec.registers : launched;
  if (inst.aux[0] ? count < current : count > current)
    warp.report(FindingKind::Unspecified, inst, *warp.lanes().begin(),
                formatv("setmaxnreg.{0} to {1} registers per thread, of which the warp has {2}",
                        inst.aux[0] ? "inc" : "dec", count, current)
                    .str());
  int64_t needed = (int64_t(count) - current) * kLanes;
  if (needed > warp.cta().freeRegisters) {
    exec.current->wait = {Wait::Kind::Registers, inst.index, uint64_t(needed), 0};
    exec.next = inst.index;
    exec.endsTurn = true;
    return;
  }
  exec.current->wait = {};
  warp.cta().freeRegisters -= needed;
  exec.registers = uint32_t(count);
  warp.machine().noteProgress();
}

void executeSetRegisters(Warp &warp, const Instruction &inst) {
  uint64_t count = uint64_t(inst.operands[0].immediate);
  if (!warp.machine().chip().archSpecific)
    return warp.fault(FindingKind::Unsupported, inst, *warp.lanes().begin(),
                      "setmaxnreg needs an architecture-specific target such as sm_90a");
  if (count < 24 || count > kMaxRegistersPerThread || count % kRegisterUnit)
    return warp.fault(
        FindingKind::IllegalInstruction, inst, *warp.lanes().begin(),
        formatv("{0} registers: expected a multiple of 8 from 24 to 256", count).str());
  moveRegisters(warp, inst, count);
}

Error decodeSetRegisters(const Modifiers &modifiers, Instruction &inst) {
  if (inst.operands.size() != 1 || !inst.operands[0].isImmediate())
    return modifiers.error("expected a constant");
  inst.destinations = 0;
  inst.convergence = Convergence::Aligned;
  inst.aux[0] = modifiers.has("inc");
  inst.handler = executeSetRegisters;
  return modifiers.checkKnown({"inc", "dec", "sync", "aligned"});
}

/// One kernel runs at a time: there is nothing to wait for, and nothing to start early.
void executeGridControl(Warp &warp, const Instruction &inst) {
  (void)requireChip(warp, inst, 90);
}

Error decodeGridControl(const Modifiers &modifiers, Instruction &inst) {
  if (!inst.operands.empty() || modifiers.has("wait") == modifiers.has("launch_dependents"))
    return modifiers.error("expected .wait or .launch_dependents, and no operand");
  inst.destinations = 0;
  inst.handler = executeGridControl;
  return modifiers.checkKnown({"launch_dependents", "wait"});
}

} // namespace

void tcc::emulator::registerClusterInstructions(InstructionTable &table) {
  table.add("mapa", decodeMap);
  table.add("getctarank", decodeMap);
  table.add("st.async", decodeAsyncStore);
  table.add("red.async", decodeAsyncStore);
  table.add("setmaxnreg", decodeSetRegisters);
  table.add("griddepcontrol", decodeGridControl);
}
