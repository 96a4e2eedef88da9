//===- TensorLoadInstructions.cpp - Bulk tensor copies (TMA) --------------===//
//
// PTX ISA "Data Movement and Conversion Instructions: Tensor copy": cp.async.bulk.tensor to shared
// memory, cp.async.bulk.prefetch.tensor, prefetch.tensormap; tiled mode.
//
// What is wrong with a copy is found when it is issued; its bytes move when its completion is
// waited for.
//
//===----------------------------------------------------------------------===//

#include "BulkGroups.h"
#include "FloatDecode.h"
#include "MatrixProduct.h"
#include "TensorCopy.h"

#include "llvm/Support/FormatVariadic.h"

#include <cstring>

using namespace tcc::emulator;
using llvm::formatv;

namespace {

//===----------------------------------------------------------------------===//
// Loads
//===----------------------------------------------------------------------===//

/// The bytes of one chunk as they arrive in shared memory.
std::array<uint8_t, kTensorChunkBytes>
fetchChunk(GlobalMemory &global, const TensorMapDescriptor &map, const TensorChunk &chunk) {
  std::array<uint8_t, kTensorChunkBytes> bytes;
  fillOutside(map, bytes);
  Allocation *allocation = chunk.validBytes ? global.find(chunk.global, chunk.validBytes) : nullptr;
  if (allocation) {
    std::memcpy(bytes.data(), allocation->data.get() + (chunk.global - allocation->base),
                chunk.validBytes);
    convertLoadedElements(map.elementType,
                          llvm::MutableArrayRef(bytes).take_front(chunk.validBytes));
  }
  return bytes;
}

/// Starts the copy into one CTA's shared memory. `offset` and `barrier` are offsets in it.
bool startLoad(const TensorRequest &request, Cta &cta, uint64_t offset, uint64_t barrier) {
  TensorBox box(request.map, request.coordinates);
  if (!request.checkShared(cta, offset, box, "destination"))
    return false;
  uint64_t barrierAddress = cta.sharedBase() | barrier;
  Mbarrier *object = findFencedMbarrier(request.warp, request.inst, request.lane, barrierAddress);
  if (!object)
    return false;
  MbarrierWrite write =
      beginMbarrierWrite(request.warp, request.inst, *object, AccessRecord::Async);
  SharedMemory &shared = cta.shared();
  bool ok = true;
  std::optional<SharedConflict> conflict;
  box.forEachChunk(offset, /*isStore=*/false, [&](const TensorChunk &chunk) {
    if (!ok || (chunk.validBytes && !request.checkTensorBytes(chunk, /*isRead=*/true))) {
      ok = false;
      return;
    }
    std::optional<SharedConflict> found =
        shared.noteWrite(chunk.shared, kTensorChunkBytes, write.access);
    if (found && !conflict)
      conflict = found;
  });
  if (!ok)
    return false;
  if (conflict)
    request.warp.reportConflict(request.inst, request.lane, *conflict, /*isRead=*/false);

  AsyncOperation operation;
  operation.warp = &request.warp;
  operation.lane = request.lane;
  operation.instruction = request.inst.index;
  operation.instruction = request.inst.index;
  operation.mbarrier = barrierAddress;
  operation.perform = [map = request.map, coordinates = request.coordinates, &cta, offset, barrier,
                       &warp = request.warp, &inst = request.inst, lane = request.lane, write] {
    TensorBox box(map, coordinates);
    box.forEachChunk(offset, /*isStore=*/false, [&](const TensorChunk &chunk) {
      std::array<uint8_t, kTensorChunkBytes> bytes =
          fetchChunk(warp.machine().global(), map, chunk);
      std::memcpy(cta.shared().data(chunk.shared), bytes.data(), kTensorChunkBytes);
      cta.shared().settle(chunk.shared, kTensorChunkBytes, write.access.record, write.landed);
    });
    auto object = cta.mbarriers.find(barrier);
    if (object != cta.mbarriers.end())
      addTransactions(warp, inst, lane, object->second, -int64_t(box.transactionBytes()));
  };
  request.warp.machine().async().push(std::move(operation));
  request.warp.machine().countBytes(request.inst, Space::Global, true, box.transactionBytes());
  request.warp.machine().countBytes(request.inst, Space::Shared, false, box.transactionBytes());
  return true;
}

/// [dst], [map, {coordinates}], [mbarrier] {, mask} {, cache policy}. aux: whether multicast.
void load(Warp &warp, const Instruction &inst) {
  if (!requireChip(warp, inst, 90))
    return;
  uint64_t destinations[kLanes], barriers[kLanes];
  warp.addresses(inst.operands[0], destinations);
  warp.addresses(inst.operands[2], barriers);
  for (unsigned lane : warp.lanes()) {
    TensorRequest request(warp, inst, lane);
    if (!request.readTensorOperand(inst.operands[1]) || !request.checkCoordinates(false))
      return;
    uint64_t offset = destinations[lane] & kSharedOffsetMask;
    uint64_t barrier = barriers[lane] & kSharedOffsetMask;
    // Without multicast the copy goes to the CTA that the destination's address names.
    llvm::SmallVector<uint64_t, 16> targets;
    uint64_t rank = uint32_t(destinations[lane]) >> kSharedRankShift;
    if (inst.aux[0]) {
      for (unsigned mask = uint16_t(warp.read(inst.operands[3])[lane]); mask; mask &= mask - 1)
        targets.push_back(llvm::countr_zero(mask));
    } else if (uint32_t(barriers[lane]) >> kSharedRankShift == rank) {
      targets.push_back(rank);
    } else {
      return request.fault(FindingKind::IllegalInstruction,
                           "the mbarrier must lie in the CTA of the destination");
    }
    auto &ctas = warp.cta().cluster().ctas;
    for (uint64_t target : targets) {
      if (target >= ctas.size())
        return request.fault(
            FindingKind::OutOfBounds,
            formatv("CTA {0} of the cluster is a target: the cluster has {1}", target, ctas.size())
                .str());
      if (!startLoad(request, *ctas[target], offset, barrier))
        return;
    }
  }
}

/// A prefetch has no effect but the faults of its operand.
void prefetchTensor(Warp &warp, const Instruction &inst) {
  for (unsigned lane : warp.lanes()) {
    TensorRequest request(warp, inst, lane);
    if (!request.readTensorOperand(inst.operands[0]) || !request.checkCoordinates(false))
      return;
  }
}

void prefetchMap(Warp &, const Instruction &) {}

//===----------------------------------------------------------------------===//
// Decoding
//===----------------------------------------------------------------------===//

llvm::Error decodeCopy(const Modifiers &modifiers, Instruction &inst) {
  inst.destinations = 0;
  if (llvm::Error error = checkTensorMode(modifiers))
    return error;
  if (modifiers.has("bulk_group"))
    return decodeTensorStore(modifiers, inst);
  if (!modifiers.has("mbarrier::complete_tx::bytes"))
    return modifiers.error("expected .mbarrier::complete_tx::bytes or .bulk_group");
  inst.aux[0] = modifiers.has("multicast::cluster");
  size_t least = 3 + inst.aux[0];
  if (llvm::Error error = checkOperandCount(modifiers, inst, least, least + 1))
    return error;
  inst.handler = load;
  return checkTensorOperand(modifiers, inst.operands[1]);
}

llvm::Error decodePrefetch(const Modifiers &modifiers, Instruction &inst) {
  inst.destinations = 0;
  if (llvm::Error error = checkTensorMode(modifiers))
    return error;
  if (llvm::Error error = checkOperandCount(modifiers, inst, 1, 2))
    return error;
  inst.handler = prefetchTensor;
  return checkTensorOperand(modifiers, inst.operands[0]);
}

llvm::Error decodePrefetchMap(const Modifiers &modifiers, Instruction &inst) {
  inst.destinations = 0;
  inst.handler = prefetchMap;
  return checkOperandCount(modifiers, inst, 1, 1);
}

} // namespace

void tcc::emulator::registerTensorCopyInstructions(InstructionTable &table) {
  table.add("cp.async.bulk.tensor", decodeCopy);
  table.add("cp.reduce.async.bulk.tensor", decodeTensorStore);
  table.add("cp.async.bulk.prefetch.tensor", decodePrefetch);
  table.add("prefetch.tensormap", decodePrefetchMap);
  table.add("prefetch.const.tensormap", decodePrefetchMap);
  table.add("prefetch.param.tensormap", decodePrefetchMap);
}
