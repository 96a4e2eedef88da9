//===- TensorCopy.cpp - One bulk tensor copy of a lane --------------------===//

#include "TensorCopy.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/FormatVariadic.h"

#include <cstring>

using namespace tcc::emulator;
using llvm::formatv;

static constexpr uint64_t SharedAlignment = 128;

//===----------------------------------------------------------------------===//
// Tensor maps and coordinates
//===----------------------------------------------------------------------===//

/// The 128 bytes at a generic address, in parameter, constant or global memory.
bool TensorRequest::loadTensorMap(uint64_t address) {
  uint64_t addresses[kLanes];
  std::array<uint8_t, kTensorMapBytes> bytes;
  for (unsigned half = 0; half < 2; ++half) {
    addresses[lane] = address + half * 64;
    if (!warp.load(inst, Space::Generic, addresses, 1u << lane, 64,
                   bytes.data() + half * 64 - size_t(lane) * 64, 64))
      return false;
  }
  std::optional<TensorMapDescriptor> decoded = decodeTensorMap(bytes);
  if (!decoded) {
    fault(FindingKind::IllegalInstruction,
          formatv("there is no tensor map at {0:x}", address).str());
    return false;
  }
  map = std::move(*decoded);
  return true;
}

bool TensorRequest::readTensorOperand(const Operand &operand) {
  uint64_t addresses[kLanes];
  warp.addresses(operand, addresses);
  if (!loadTensorMap(addresses[lane]))
    return false;
  for (const Operand &coordinate : Warp::elements(operand.elements.front()))
    coordinates.push_back(int32_t(warp.read(coordinate)[lane]));
  if (coordinates.size() != map.dims.size()) {
    fault(FindingKind::IllegalInstruction,
          formatv("the instruction has {0} coordinates, the tensor map has rank {1}",
                  coordinates.size(), map.dims.size())
              .str());
    return false;
  }
  return true;
}

bool TensorRequest::checkCoordinates(bool isStore) const {
  int64_t inner = int64_t(coordinates[0]) * elementBytes(map.elementType);
  if (inner % kTensorChunkBytes != 0) {
    fault(FindingKind::IllegalInstruction,
          formatv("the inner coordinate {0} is at byte {1} of its row: it must be a "
                  "multiple of 16 bytes",
                  coordinates[0], inner)
              .str());
    return false;
  }
  for (size_t i = 0; isStore && i < coordinates.size(); ++i) {
    if (coordinates[i] < 0) {
      fault(FindingKind::IllegalInstruction,
            formatv("coordinate {0} of a store is {1}: it must not be negative", i, coordinates[i])
                .str());
      return false;
    }
  }
  return true;
}

bool TensorRequest::checkShared(Cta &cta, uint64_t offset, const TensorBox &box,
                                llvm::StringRef what) const {
  if (offset % SharedAlignment != 0) {
    fault(FindingKind::Misaligned,
          formatv("the {0} of a tensor copy must be aligned to 128 bytes, found shared "
                  "address {1:x}",
                  what, offset)
              .str());
    return false;
  }
  SharedMemory &shared = cta.shared();
  if (!shared.contains(offset, box.sharedBytes())) {
    fault(FindingKind::OutOfBounds,
          formatv("the {0} takes {1} bytes at shared address {2:x}: the block's shared "
                  "memory is [{3:x}, {4:x})",
                  what, box.sharedBytes(), offset, kSharedBase, shared.sizeEnd())
              .str());
    return false;
  }
  return true;
}

bool TensorRequest::checkTensorBytes(const TensorChunk &chunk, bool isRead) const {
  GlobalMemory &global = warp.machine().global();
  Allocation *allocation = global.find(chunk.global, chunk.validBytes);
  if (!allocation) {
    fault(FindingKind::OutOfBounds,
          formatv("the tensor map reaches {0} bytes at global address {1:x}: {2}", chunk.validBytes,
                  chunk.global, global.describeMiss(chunk.global, chunk.validBytes))
              .str());
    return false;
  }
  uint64_t offset = chunk.global - allocation->base;
  uint8_t *defined = allocation->defined.get() + offset;
  if (isRead && warp.machine().options().checkUninitialized &&
      std::memchr(defined, 0, chunk.validBytes)) {
    warp.report(FindingKind::Uninitialized, inst, lane,
                formatv("tensor copy reads {0} bytes at global address {1:x}: nothing was "
                        "written there before",
                        chunk.validBytes, chunk.global)
                    .str());
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Decoding
//===----------------------------------------------------------------------===//

/// Everything but the tile mode is refused by name.
llvm::Error tcc::emulator::checkTensorMode(const Modifiers &modifiers) {
  for (llvm::StringRef part : modifiers.all())
    if (part.starts_with("im2col") || part.starts_with("tile::") || part.starts_with("cta_group"))
      return modifiers.error("the emulator has .tile tensor copies; ." + part +
                             " is not supported");
  return llvm::Error::success();
}

llvm::Error tcc::emulator::checkTensorOperand(const Modifiers &modifiers, const Operand &operand) {
  unsigned rank = llvm::StringSwitch<unsigned>(modifiers.oneOf({"1d", "2d", "3d", "4d", "5d"}))
                      .Case("1d", 1)
                      .Case("2d", 2)
                      .Case("3d", 3)
                      .Case("4d", 4)
                      .Case("5d", 5)
                      .Default(0);
  if (rank == 0)
    return modifiers.error("expected .1d to .5d");
  size_t found = operand.elements.empty() ? 0 : Warp::elements(operand.elements.front()).size();
  if (operand.kind != Operand::Kind::Address || found != rank)
    return modifiers.error("expected [tensor map, {coordinates}] with " + llvm::Twine(rank) +
                           " coordinates, found " + llvm::Twine(found));
  return llvm::Error::success();
}
