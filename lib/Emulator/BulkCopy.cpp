//===- BulkCopy.cpp - cp.async.bulk without tensors -------------*- C++ -*-===//
//
// PTX ISA 9.7.9.25.4. Copies to shared memory complete on an mbarrier, copies to global memory by
// bulk groups. All go through the async proxy.
//
//===----------------------------------------------------------------------===//

#include "AddressSpace.h"
#include "AtomicMath.h"
#include "BulkGroups.h"
#include "InstructionTable.h"

#include "llvm/Support/FormatVariadic.h"

#include <cstring>

using namespace tcc::emulator;
using llvm::Error;
using llvm::formatv;
using llvm::StringRef;

namespace {

constexpr unsigned kBulkAlignment = 16;

// aux[0]: 1 if the source is shared; aux[1]: 1 if the destination is; aux[2]: AtomicOp + 1 or 0;
// aux[3]: 1 multicast.
struct BulkRequest {
  Warp &warp;
  const Instruction &inst;
  unsigned lane;
  uint64_t destination;
  uint64_t source;
  uint64_t bytes;

  bool fromShared() const { return inst.aux[0]; }
  bool checkAlignment() const;
  /// The bytes of global memory, or null after a fault.
  Allocation *findGlobal(uint64_t address, bool isRead) const;
  bool startToShared(uint64_t target, uint64_t barrierAddress) const;
  bool startToGlobal() const;
};

/// Applies a reduction, or copies without one.
void combine(const Instruction &inst, uint8_t *target, const uint8_t *source, uint64_t bytes,
             bool isGlobal) {
  if (!inst.aux[2]) {
    std::memmove(target, source, bytes);
    return;
  }
  unsigned size = bitWidth(inst.type) / 8;
  for (uint64_t at = 0; at + size <= bytes; at += size) {
    AtomicValue old, operand;
    std::memcpy(&old.low, target + at, size);
    std::memcpy(&operand.low, source + at, size);
    // Bulk reductions keep subnormals, unlike red.global.add.f32.
    bool flushes = isGlobal && inst.type == Type::F64;
    uint64_t result =
        applyAtomic(AtomicOp(inst.aux[2] - 1), inst.type, old, operand, {}, flushes).low;
    std::memcpy(target + at, &result, size);
  }
}

} // namespace

bool BulkRequest::checkAlignment() const {
  if ((destination | source | bytes) % kBulkAlignment == 0)
    return true;
  warp.fault(FindingKind::Misaligned, inst, lane,
             formatv("bulk copy of {0} bytes from {1:x} to {2:x}: size and addresses must be "
                     "multiples of 16",
                     bytes, source, destination)
                 .str());
  return false;
}

Allocation *BulkRequest::findGlobal(uint64_t address, bool isRead) const {
  GlobalMemory &global = warp.machine().global();
  Allocation *allocation = global.find(address, bytes);
  if (!allocation) {
    warp.fault(FindingKind::OutOfBounds, inst, lane,
               formatv("bulk copy of {0} bytes at global address {1:x}: {2}", bytes, address,
                       global.describeMiss(address, bytes))
                   .str());
    return nullptr;
  }
  if (isRead && bytes && warp.machine().options().checkUninitialized &&
      std::memchr(allocation->defined.get() + (address - allocation->base), 0, bytes))
    warp.report(FindingKind::Uninitialized, inst, lane,
                formatv("bulk copy of {0} bytes at global address {1:x}: some were never written",
                        bytes, address)
                    .str());
  return allocation;
}

bool BulkRequest::startToShared(uint64_t target, uint64_t barrierAddress) const {
  uint64_t offset, sourceOffset = 0;
  SharedMemory *memory = warp.findShared(inst, lane, target, bytes, offset);
  Mbarrier *barrier = memory ? findFencedMbarrier(warp, inst, lane, barrierAddress) : nullptr;
  if (!barrier)
    return false;
  if (barrierAddress >> kSharedRankShift != target >> kSharedRankShift) {
    warp.fault(FindingKind::IllegalInstruction, inst, lane,
               "the mbarrier must lie in the CTA of the destination");
    return false;
  }
  MbarrierWrite write = beginMbarrierWrite(warp, inst, *barrier, AccessRecord::Async);
  SharedMemory *from = nullptr;
  if (fromShared()) {
    from = warp.findShared(inst, lane, source, bytes, sourceOffset);
    if (!from)
      return false;
    if (auto conflict = from->noteRead(sourceOffset, bytes, {write.access.agent, write.landed}))
      warp.reportConflict(inst, lane, *conflict, /*isRead=*/true);
  } else if (!findGlobal(source, /*isRead=*/true)) {
    return false;
  }
  if (auto conflict = memory->noteWrite(offset, bytes, write.access))
    warp.reportConflict(inst, lane, *conflict, /*isRead=*/false);
  AsyncOperation operation;
  operation.warp = &warp;
  operation.lane = lane;
  operation.instruction = inst.index;
  operation.mbarrier = barrierAddress;
  operation.perform = [request = *this, memory, from, offset, sourceOffset, write, barrierAddress] {
    const uint8_t *data = from ? from->data(sourceOffset) : nullptr;
    if (!from)
      if (Allocation *allocation =
              request.warp.machine().global().find(request.source, request.bytes))
        data = allocation->data.get() + (request.source - allocation->base);
    if (data)
      combine(request.inst, memory->data(offset), data, request.bytes, /*isGlobal=*/false);
    memory->settle(offset, request.bytes, write.access.record, write.landed);
    if (Mbarrier *completed =
            findMbarrier(request.warp, request.inst, request.lane, barrierAddress))
      addTransactions(request.warp, request.inst, request.lane, *completed,
                      -int64_t(request.bytes));
  };
  warp.machine().async().push(std::move(operation));
  return true;
}

bool BulkRequest::startToGlobal() const {
  uint64_t offset;
  SharedMemory *from = warp.findShared(inst, lane, source, bytes, offset);
  if (!from || !findGlobal(destination, /*isRead=*/inst.aux[2] != 0))
    return false;
  SharedAccess access = beginGroupRead(warp, inst, lane);
  if (auto conflict = from->noteRead(offset, bytes, access))
    warp.reportConflict(inst, lane, *conflict, /*isRead=*/true);
  auto data = std::make_shared<std::vector<uint8_t>>();
  auto readSource = [data, from, offset, bytes = bytes] {
    data->assign(from->data(offset), from->data(offset) + bytes);
  };
  pushGroupOperation(warp, inst, lane, readSource, [request = *this, data] {
    Allocation *allocation =
        request.warp.machine().global().find(request.destination, request.bytes);
    if (!allocation)
      return;
    uint64_t at = request.destination - allocation->base;
    combine(request.inst, allocation->data.get() + at, data->data(), request.bytes,
            /*isGlobal=*/true);
    std::memset(allocation->defined.get() + at, 1, request.bytes);
  });
  return true;
}

namespace {

void executeBulkCopy(Warp &warp, const Instruction &inst) {
  uint64_t destination[kLanes], source[kLanes], barrier[kLanes];
  warp.addresses(inst.operands[0], destination);
  warp.addresses(inst.operands[1], source);
  const Row size = warp.read(inst.operands[2]);
  if (inst.aux[1])
    warp.addresses(inst.operands[3], barrier);
  size_t ctas = warp.cta().cluster().ctas.size();
  Machine &machine = warp.machine();
  for (unsigned lane : warp.lanes()) {
    BulkRequest request{warp, inst, lane, destination[lane], source[lane], uint32_t(size[lane])};
    if (!request.checkAlignment())
      return;
    machine.countBytes(inst, inst.aux[0] ? Space::Shared : Space::Global, true, request.bytes);
    machine.countBytes(inst, inst.aux[1] ? Space::Shared : Space::Global, false, request.bytes);
    if (!inst.aux[1]) {
      if (!request.startToGlobal())
        return;
      continue;
    }
    if (!inst.aux[3]) {
      if (!request.startToShared(destination[lane], barrier[lane]))
        return;
      continue;
    }
    // Multicast: the same offsets in every CTA of the mask.
    uint32_t mask = uint16_t(warp.read(inst.operands[4])[lane]);
    for (unsigned rank : LaneRange(mask)) {
      if (rank >= ctas)
        return warp.fault(FindingKind::OutOfBounds, inst, lane,
                          formatv("multicast to CTA {0} of a cluster of {1}", rank, ctas).str());
      uint64_t base = uint64_t(rank) << kSharedRankShift;
      if (!request.startToShared(base | (destination[lane] & kSharedOffsetMask),
                                 base | (barrier[lane] & kSharedOffsetMask)))
        return;
    }
  }
}

Error decodeBulkCopy(const Modifiers &modifiers, Instruction &inst) {
  if (Error e = modifiers.checkKnown({"global", "shared::cta", "shared::cluster",
                                      "mbarrier::complete_tx::bytes", "bulk_group",
                                      "multicast::cluster", "L2::cache_hint", "noftz", "add", "min",
                                      "max", "inc", "dec", "and", "or", "xor"}))
    return e;
  bool isReduction = inst.opcode.starts_with("cp.reduce");
  std::optional<AtomicOp> op =
      parseAtomicOp(modifiers.oneOf({"add", "min", "max", "inc", "dec", "and", "or", "xor"}));
  if (isReduction && (!op || inst.types.size() != 1 || !supportsAtomic(*op, inst.type)))
    return modifiers.error("this reduction does not exist for this type");
  // The first space is the destination's.
  llvm::SmallVector<StringRef, 2> spaces;
  for (StringRef part : modifiers.all())
    if (part == "global" || part.starts_with("shared::"))
      spaces.push_back(part);
  if (spaces.size() != 2 || (spaces[0] == "global" && spaces[1] == "global"))
    return modifiers.error("expected two state spaces, one of them shared");
  inst.aux[0] = spaces[1] != "global";
  inst.aux[1] = spaces[0] != "global";
  inst.aux[2] = isReduction ? uint32_t(*op) + 1 : 0;
  inst.aux[3] = modifiers.has("multicast::cluster");
  if (modifiers.has(inst.aux[1] ? "bulk_group" : "mbarrier::complete_tx::bytes"))
    return modifiers.error("copies to shared memory complete on an mbarrier, copies to global "
                           "memory by .bulk_group");
  size_t least = 3 + inst.aux[1] + inst.aux[3];
  if (inst.operands.size() != least + modifiers.has("L2::cache_hint"))
    return modifiers.error("wrong number of operands");
  inst.destinations = 0;
  inst.handler = executeBulkCopy;
  return Error::success();
}

void executeNothing(Warp &, const Instruction &) {}

Error decodePrefetch(const Modifiers &, Instruction &inst) {
  inst.destinations = 0;
  inst.handler = executeNothing;
  return Error::success();
}

} // namespace

void tcc::emulator::registerBulkCopyInstructions(InstructionTable &table) {
  table.add("cp.async.bulk", decodeBulkCopy);
  table.add("cp.reduce.async.bulk", decodeBulkCopy);
  table.add("cp.async.bulk.prefetch", decodePrefetch);
}
