//===- TensorStoreInstructions.cpp - Bulk tensor stores and reductions ----===//
//
// PTX ISA "Data Movement and Conversion Instructions: Tensor copy": cp.async.bulk.tensor and
// cp.reduce.async.bulk.tensor from shared to global memory; tiled mode. They complete by bulk
// groups.
//
//===----------------------------------------------------------------------===//

#include "AtomicMath.h"
#include "BulkGroups.h"
#include "FloatDecode.h"
#include "MatrixProduct.h"
#include "TensorCopy.h"

#include <cstring>
#include <utility>

using namespace tcc::emulator;
using ElementType = TensorMapDescriptor::ElementType;

namespace {

/// The type in which a reduction works on a tensor's elements.
Type reductionType(ElementType type, bool isBitwise) {
  switch (type) {
  case ElementType::U8:
  case ElementType::U16:
    return Type::None;
  case ElementType::U32:
    return isBitwise ? Type::B32 : Type::U32;
  case ElementType::S32:
    return isBitwise ? Type::B32 : Type::S32;
  case ElementType::U64:
    return isBitwise ? Type::B64 : Type::U64;
  case ElementType::S64:
    return isBitwise ? Type::B64 : Type::S64;
  case ElementType::F16:
    return Type::F16;
  case ElementType::BF16:
    return Type::BF16;
  case ElementType::F64:
    return Type::F64;
  default:
    return Type::F32;
  }
}

void reduceChunk(AtomicOp op, Type type, uint8_t *memory, const uint8_t *source) {
  unsigned size = bitWidth(type) / 8;
  for (unsigned at = 0; at < kTensorChunkBytes; at += size) {
    AtomicValue old, operand;
    std::memcpy(&old.low, memory + at, size);
    std::memcpy(&operand.low, source + at, size);
    AtomicValue result = applyAtomic(op, type, old, operand, {}, /*flush=*/false);
    std::memcpy(memory + at, &result.low, size);
  }
}

/// A store, or a reduction if there is an `op`. Its source is read before its group's .read wait
/// returns, its result is visible when its group has been waited for.
struct StoreWork {
  TensorMapDescriptor map;
  llvm::SmallVector<int32_t, 5> coordinates;
  SharedMemory *shared = nullptr;
  GlobalMemory *global = nullptr;
  uint64_t offset = 0;
  std::optional<AtomicOp> op;
  Type type = Type::None;
  /// The chunks with valid bytes, one after the other.
  std::vector<uint8_t> source;

  void readSource() {
    TensorBox(map, coordinates).forEachChunk(offset, /*isStore=*/true, [&](const TensorChunk &c) {
      if (!c.validBytes)
        return;
      const uint8_t *bytes = shared->data(c.shared);
      source.insert(source.end(), bytes, bytes + kTensorChunkBytes);
    });
  }

  void write() const {
    const uint8_t *next = source.data();
    TensorBox(map, coordinates).forEachChunk(offset, /*isStore=*/true, [&](const TensorChunk &c) {
      if (!c.validBytes)
        return;
      const uint8_t *bytes = std::exchange(next, next + kTensorChunkBytes);
      Allocation *allocation = global->find(c.global, kTensorChunkBytes);
      if (!allocation)
        return;
      uint64_t at = c.global - allocation->base;
      uint8_t *memory = allocation->data.get() + at;
      if (op)
        reduceChunk(*op, type, memory, bytes);
      else
        std::memcpy(memory, bytes, kTensorChunkBytes);
      std::memset(allocation->defined.get() + at, 1, kTensorChunkBytes);
    });
  }
};

/// [map, {coordinates}], [src] {, cache policy}. aux: AtomicOp + 1, or 0 for a store.
void store(Warp &warp, const Instruction &inst) {
  if (!requireChip(warp, inst, 90))
    return;
  uint64_t sources[kLanes];
  warp.addresses(inst.operands[1], sources);
  for (unsigned lane : warp.lanes()) {
    TensorRequest request(warp, inst, lane);
    if (!request.readTensorOperand(inst.operands[0]) || !request.checkCoordinates(true))
      return;
    auto work = std::make_shared<StoreWork>();
    if (inst.aux[0]) {
      work->op = AtomicOp(inst.aux[0] - 1);
      bool bitwise =
          *work->op == AtomicOp::And || *work->op == AtomicOp::Or || *work->op == AtomicOp::Xor;
      work->type = reductionType(request.map.elementType, bitwise);
      if (work->type == Type::None || !supportsAtomic(*work->op, work->type))
        return request.fault(FindingKind::IllegalInstruction,
                             "the tensor's element type has no such reduction");
    }
    work->offset = sources[lane] & kSharedOffsetMask;
    work->shared = &warp.cta().shared();
    work->global = &warp.machine().global();
    TensorBox box(request.map, request.coordinates);
    if (!request.checkShared(warp.cta(), work->offset, box, "source"))
      return;

    SharedAccess access = beginGroupRead(warp, inst, lane);
    bool ok = true;
    std::optional<SharedConflict> conflict;
    box.forEachChunk(work->offset, /*isStore=*/true, [&](const TensorChunk &chunk) {
      if (!ok || !chunk.validBytes)
        return;
      ok = request.checkTensorBytes(chunk, /*isRead=*/work->op.has_value());
      std::optional<SharedConflict> found =
          work->shared->noteRead(chunk.shared, kTensorChunkBytes, access);
      if (found && !conflict)
        conflict = found;
    });
    if (!ok)
      return;
    if (conflict)
      warp.reportConflict(inst, lane, *conflict, /*isRead=*/true);
    work->map = std::move(request.map);
    work->coordinates = std::move(request.coordinates);
    warp.machine().countBytes(inst, Space::Shared, true, box.transactionBytes());
    warp.machine().countBytes(inst, Space::Global, false, box.transactionBytes());
    pushGroupOperation(
        warp, inst, lane, [work] { work->readSource(); }, [work] { work->write(); });
  }
}

} // namespace

llvm::Error tcc::emulator::decodeTensorStore(const Modifiers &modifiers, Instruction &inst) {
  inst.destinations = 0;
  if (llvm::Error error = checkTensorMode(modifiers))
    return error;
  if (llvm::Error error = checkOperandCount(modifiers, inst, 2, 3))
    return error;
  bool isReduction = inst.opcode.starts_with("cp.reduce");
  std::optional<AtomicOp> op =
      parseAtomicOp(modifiers.oneOf({"add", "min", "max", "inc", "dec", "and", "or", "xor"}));
  if (isReduction != op.has_value() || !modifiers.has("bulk_group"))
    return modifiers.error("expected .bulk_group, and of cp.reduce one of add, min, max, inc, dec, "
                           "and, or, xor");
  inst.aux[0] = op ? uint32_t(*op) + 1 : 0;
  inst.handler = store;
  return checkTensorOperand(modifiers, inst.operands[0]);
}
