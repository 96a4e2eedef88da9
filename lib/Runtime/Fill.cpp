//===- Fill.cpp - Data for arguments --------------------------------------===//

#include "tcc/Runtime/Fill.h"
#include "tcc/Runtime/Element.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/Parallel.h"
#include "llvm/Support/xxhash.h"
#include <cmath>
#include <cstring>

using namespace llvm;

namespace tcc::runtime {

static constexpr StringLiteral fillNames[] = {"normal", "integer", "ones", "iota"};

StringRef getName(Fill fill) { return fillNames[static_cast<size_t>(fill)]; }

std::optional<Fill> parseFill(StringRef name) {
  const auto *found = find(fillNames, name);
  if (found == std::end(fillNames))
    return std::nullopt;
  return static_cast<Fill>(found - std::begin(fillNames));
}

namespace {

/// Random bits as a function of a counter (the finalizer of SplitMix64), so that threads need no
/// common state.
uint64_t hash(uint64_t key, uint64_t counter) {
  uint64_t x = key + (counter + 1) * 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

/// Box-Muller.
double normal(uint64_t bits) {
  double u = (double(bits >> 32) + 1) * 0x1p-32; // in (0, 1]
  double v = double(bits & 0xffffffff) * 0x1p-32;
  return std::sqrt(-2 * std::log(u)) * std::cos(2 * M_PI * v);
}

double valueOf(Fill fill, ElementType type, uint64_t key, uint64_t index) {
  bool isUnsigned = type == ElementType::UI8 || type == ElementType::I1;
  bool is8BitFloat = type == ElementType::F8E4M3FN || type == ElementType::F8E5M2;
  switch (fill) {
  case Fill::Normal:
    if (isFloat(type))
      return normal(hash(key, index));
    [[fallthrough]];
  case Fill::Integers:
    return isUnsigned ? double(hash(key, index) % 4) : double(hash(key, index) % 7) - 3;
  case Fill::Ones:
    return 1;
  case Fill::Iota:
    return index % (is8BitFloat ? 16 : 256);
  }
  return 0;
}

} // namespace

void fillElements(HostTensor &tensor, Fill fill, uint64_t seed, StringRef name) {
  const TensorLayout &layout = tensor.getLayout();
  int64_t elements = layout.getNumElements();
  if (elements == 0)
    return;
  uint64_t key = hash(seed, xxh3_64bits(name));
  size_t rank = layout.shape.size();
  int64_t columns = rank ? layout.shape.back() : 1;
  int64_t columnStride = rank ? layout.strides.back() : 0;
  parallelFor(0, elements / columns, [&](size_t row) {
    int64_t offset = 0, rest = row;
    for (size_t dim = rank; dim-- > 1; rest /= layout.shape[dim - 1])
      offset += rest % layout.shape[dim - 1] * layout.strides[dim - 1];
    for (int64_t column = 0; column < columns; ++column)
      encode(layout.type, valueOf(fill, layout.type, key, row * columns + column),
             tensor.getElement(offset + column * columnStride));
  });
}

void poison(HostTensor &tensor) {
  MutableArrayRef<uint8_t> bytes = tensor.getBytes();
  std::memset(bytes.data(), poisonByte(tensor.getLayout().type), bytes.size());
}

} // namespace tcc::runtime
