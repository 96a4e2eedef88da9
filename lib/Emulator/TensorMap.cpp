//===- TensorMap.cpp - Tensor maps and the boxes that TMA copies ----------===//

#include "TensorMap.h"

#include "llvm/Support/MathExtras.h"

#include <cstring>

using namespace tcc::emulator;
using ElementType = TensorMapDescriptor::ElementType;
using Swizzle = TensorMapDescriptor::Swizzle;

static constexpr unsigned ChunkBytes = 16;
static constexpr unsigned MaxRank = 5;

unsigned tcc::emulator::elementBytes(ElementType type) {
  switch (type) {
  case ElementType::U8:
    return 1;
  case ElementType::U16:
  case ElementType::F16:
  case ElementType::BF16:
    return 2;
  case ElementType::U64:
  case ElementType::S64:
  case ElementType::F64:
    return 8;
  default:
    return 4;
  }
}

unsigned tcc::emulator::swizzleSpan(Swizzle swizzle) {
  switch (swizzle) {
  case Swizzle::None:
    return 0;
  case Swizzle::B32:
    return 32;
  case Swizzle::B64:
    return 64;
  case Swizzle::B128:
    return 128;
  }
  return 0;
}

uint64_t tcc::emulator::swizzleAddress(uint64_t address, unsigned spanBytes, unsigned baseOffset) {
  uint64_t mask = spanBytes ? spanBytes / ChunkBytes - 1 : 0;
  return address ^ ((((address >> 7) - baseOffset) & mask) << 4);
}

//===----------------------------------------------------------------------===//
// The rules of cuTensorMapEncodeTiled
//===----------------------------------------------------------------------===//

static bool isFloatType(ElementType type) {
  switch (type) {
  case ElementType::F16:
  case ElementType::BF16:
  case ElementType::F32:
  case ElementType::F64:
  case ElementType::F32FTZ:
  case ElementType::TF32:
  case ElementType::TF32FTZ:
    return true;
  default:
    return false;
  }
}

static llvm::Error broken(const llvm::Twine &message) {
  return llvm::createStringError("tensor map: " + message);
}

static llvm::Error checkShape(const TensorMapDescriptor &map) {
  size_t rank = map.dims.size();
  if (rank < 1 || rank > MaxRank)
    return broken("the rank must be 1 to 5, found " + llvm::Twine(rank));
  if (map.strides.size() != rank - 1)
    return broken("a tensor of rank " + llvm::Twine(rank) + " takes " + llvm::Twine(rank - 1) +
                  " strides, found " + llvm::Twine(map.strides.size()));
  if (map.box.size() != rank || map.elementStrides.size() != rank)
    return broken("the box and the element strides take one number per dimension");
  if (map.base % 16 != 0)
    return broken("the address must be aligned to 16 bytes, found 0x" +
                  llvm::Twine::utohexstr(map.base));
  for (size_t i = 0; i < rank; ++i) {
    if (map.dims[i] == 0 || map.dims[i] > uint64_t(1) << 32)
      return broken("dimension " + llvm::Twine(i) + " must be 1 to 2^32, found " +
                    llvm::Twine(map.dims[i]));
    if (map.box[i] == 0 || map.box[i] > 256)
      return broken("box dimension " + llvm::Twine(i) + " must be 1 to 256, found " +
                    llvm::Twine(map.box[i]));
    if (map.elementStrides[i] == 0 || map.elementStrides[i] > 8)
      return broken("element stride " + llvm::Twine(i) + " must be 1 to 8, found " +
                    llvm::Twine(map.elementStrides[i]));
  }
  for (size_t i = 0; i + 1 < rank; ++i)
    if (map.strides[i] % 16 != 0 || map.strides[i] >= uint64_t(1) << 40)
      return broken("the stride of dimension " + llvm::Twine(i + 1) +
                    " must be a multiple of 16 bytes below 2^40, found " +
                    llvm::Twine(map.strides[i]));
  return llvm::Error::success();
}

static llvm::Error checkModes(const TensorMapDescriptor &map) {
  if (map.interleave != TensorMapDescriptor::Interleave::None)
    return broken("interleaved layouts are not emulated; use no interleave");
  uint64_t inner = uint64_t(map.box[0]) * elementBytes(map.elementType);
  if (inner % ChunkBytes != 0)
    return broken("the inner dimension of the box must be a multiple of 16 bytes, found " +
                  llvm::Twine(inner));
  unsigned span = swizzleSpan(map.swizzle);
  if (span != 0 && inner > span)
    return broken("the inner dimension of the box must fit the swizzle's " + llvm::Twine(span) +
                  " bytes, found " + llvm::Twine(inner));
  if (map.fill == TensorMapDescriptor::Fill::NaN && !isFloatType(map.elementType))
    return broken("NaN fill needs a floating-point element type");
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// Encoding
//===----------------------------------------------------------------------===//

namespace {

constexpr char Magic[8] = {'t', 'c', 'c', '-', 't', 'm', 'a', 'p'};

/// The 128 bytes.
struct EncodedMap {
  char magic[8];
  uint8_t elementType, rank, swizzle, fill;
  uint8_t elementStrides[MaxRank];
  uint8_t padding;
  uint16_t box[MaxRank];
  uint8_t padding2[4];
  uint64_t base;
  uint64_t dims[MaxRank];
  uint64_t strides[MaxRank - 1];
  uint8_t padding3[16];
};
static_assert(sizeof(EncodedMap) == kTensorMapBytes, "a tensor map has 128 bytes");

} // namespace

llvm::Expected<std::array<uint8_t, kTensorMapBytes>>
tcc::emulator::encodeTensorMap(const TensorMapDescriptor &map) {
  if (llvm::Error error = checkShape(map))
    return error;
  if (llvm::Error error = checkModes(map))
    return error;
  EncodedMap encoded = {};
  std::memcpy(encoded.magic, Magic, sizeof(Magic));
  encoded.elementType = uint8_t(map.elementType);
  encoded.rank = uint8_t(map.dims.size());
  encoded.swizzle = uint8_t(map.swizzle);
  encoded.fill = uint8_t(map.fill);
  encoded.base = map.base;
  for (size_t i = 0; i < map.dims.size(); ++i) {
    encoded.dims[i] = map.dims[i];
    encoded.box[i] = uint16_t(map.box[i]);
    encoded.elementStrides[i] = uint8_t(map.elementStrides[i]);
    if (i != 0)
      encoded.strides[i - 1] = map.strides[i - 1];
  }
  std::array<uint8_t, kTensorMapBytes> bytes;
  std::memcpy(bytes.data(), &encoded, sizeof(encoded));
  return bytes;
}

std::optional<TensorMapDescriptor> tcc::emulator::decodeTensorMap(llvm::ArrayRef<uint8_t> bytes) {
  EncodedMap encoded;
  if (bytes.size() != sizeof(encoded))
    return std::nullopt;
  std::memcpy(&encoded, bytes.data(), sizeof(encoded));
  if (std::memcmp(encoded.magic, Magic, sizeof(Magic)) != 0 || encoded.rank < 1 ||
      encoded.rank > MaxRank || encoded.elementType > uint8_t(ElementType::TF32FTZ) ||
      encoded.swizzle > uint8_t(Swizzle::B128) || encoded.fill > 1)
    return std::nullopt;
  TensorMapDescriptor map;
  map.elementType = ElementType(encoded.elementType);
  map.swizzle = Swizzle(encoded.swizzle);
  map.fill = TensorMapDescriptor::Fill(encoded.fill);
  map.base = encoded.base;
  map.dims.assign(encoded.dims, encoded.dims + encoded.rank);
  map.strides.assign(encoded.strides, encoded.strides + encoded.rank - 1);
  map.box.assign(encoded.box, encoded.box + encoded.rank);
  map.elementStrides.assign(encoded.elementStrides, encoded.elementStrides + encoded.rank);
  // A kernel may have changed the bytes: the walk below relies on the rules.
  if (llvm::Error error = checkShape(map)) {
    llvm::consumeError(std::move(error));
    return std::nullopt;
  }
  if (llvm::Error error = checkModes(map)) {
    llvm::consumeError(std::move(error));
    return std::nullopt;
  }
  return map;
}

//===----------------------------------------------------------------------===//
// Boxes
//===----------------------------------------------------------------------===//

TensorBox::TensorBox(const TensorMapDescriptor &map, llvm::ArrayRef<int32_t> coordinates)
    : map(map), start(coordinates.begin(), coordinates.end()) {
  rowBytes = uint64_t(map.box[0]) * elementBytes(map.elementType);
  unsigned span = swizzleSpan(map.swizzle);
  pitch = span ? span : rowBytes;
  // The element stride of dimension 0 has no effect without interleave.
  counts.push_back(map.box[0]);
  for (size_t i = 1; i < map.dims.size(); ++i) {
    counts.push_back(llvm::divideCeil(map.box[i], map.elementStrides[i]));
    rows *= counts.back();
  }
}

void TensorBox::forEachChunk(uint64_t sharedBase, bool isStore,
                             llvm::function_ref<void(const TensorChunk &)> visit) const {
  unsigned span = swizzleSpan(map.swizzle);
  int64_t innerStart = start[0] * int64_t(elementBytes(map.elementType));
  int64_t innerEnd = int64_t(map.dims[0] * elementBytes(map.elementType));
  if (isStore)
    innerEnd = int64_t(llvm::alignTo(uint64_t(innerEnd), ChunkBytes));
  for (uint64_t row = 0; row < rows; ++row) {
    uint64_t rest = row, offset = 0;
    bool inside = true;
    for (size_t i = 1; i < map.dims.size(); ++i) {
      int64_t index = start[i] + int64_t(rest % counts[i] * map.elementStrides[i]);
      rest /= counts[i];
      inside &= index >= 0 && uint64_t(index) < map.dims[i];
      offset += uint64_t(index) * map.strides[i - 1];
    }
    for (uint64_t byte = 0; byte < rowBytes; byte += ChunkBytes) {
      int64_t inner = innerStart + int64_t(byte);
      unsigned valid = 0;
      if (inside && inner >= 0 && inner < innerEnd)
        valid = unsigned(std::min<int64_t>(innerEnd - inner, ChunkBytes));
      visit({swizzleAddress(sharedBase + row * pitch + byte, span),
             map.base + offset + uint64_t(inner), valid});
    }
  }
}

void tcc::emulator::convertLoadedElements(ElementType type, llvm::MutableArrayRef<uint8_t> bytes) {
  if (type != ElementType::TF32 && type != ElementType::TF32FTZ)
    return;
  // Rounds to nearest, ties away, and makes every NaN the canonical one.
  for (size_t at = 0; at + 4 <= bytes.size(); at += 4) {
    uint32_t value;
    std::memcpy(&value, &bytes[at], 4);
    if ((value & 0x7fffffff) > 0x7f800000)
      value = 0x7fffe000;
    else
      value = (value + 0x1000) & ~uint32_t(0x1fff);
    std::memcpy(&bytes[at], &value, 4);
  }
}

void tcc::emulator::fillOutside(const TensorMapDescriptor &map,
                                llvm::MutableArrayRef<uint8_t> bytes) {
  bool isNaN = map.fill == TensorMapDescriptor::Fill::NaN;
  for (size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = !isNaN ? 0 : i % 2 == 0 ? 0xf7 : 0x7f;
}
