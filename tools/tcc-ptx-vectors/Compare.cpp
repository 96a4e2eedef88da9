//===- Compare.cpp - Results against a vector's expectation ---------------===//

#include "Compare.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/Support/FormatVariadic.h"

#include <cmath>
#include <cstring>

using namespace tcc::vectors;

namespace {

/// How far an approximate function may be from the recorded result.
struct Tolerance {
  llvm::StringLiteral name;
  /// In units of the last place, or absolute; either suffices.
  int64_t ulps;
  double absolute;
};

// The errors measured on an H200 over 65,536 arguments each, plus half a unit for our rounding.
constexpr Tolerance singles[] = {
    {"ex2", 2, 0},      {"rcp", 1, 0},       {"sqrt", 1, 0},
    {"rsqrt", 2, 0},    {"tanh", 0, 7.5e-6}, {"lg2", 1, 1.6e-5},
    {"sin", 0, 4.4e-7}, {"cos", 0, 4.4e-7},  {"div", 2, 0},
};
/// Half-precision functions, and f64 ones in units of their 20 significant mantissa bits.
constexpr int64_t HalfUlps = 2;

struct Format {
  const llvm::fltSemantics &semantics;
  unsigned bytes;
};

Format formatOf(llvm::StringRef compare) {
  if (compare.contains("bf16"))
    return {llvm::APFloat::BFloat(), 2};
  if (compare.contains("f16"))
    return {llvm::APFloat::IEEEhalf(), 2};
  if (compare.contains("f64"))
    return {llvm::APFloat::IEEEdouble(), 8};
  return {llvm::APFloat::IEEEsingle(), 4};
}

uint64_t wordAt(llvm::ArrayRef<uint8_t> bytes, size_t at, unsigned size) {
  uint64_t word = 0;
  std::memcpy(&word, bytes.data() + at, size);
  return word;
}

Tolerance toleranceOf(const Vector &vector, size_t operation, const Format &format) {
  if (format.bytes == 2)
    return {"half", HalfUlps, 0};
  llvm::StringRef name;
  if (operation < vector.operations.size())
    name = llvm::StringRef(vector.operations[operation]).split('.').first;
  for (const Tolerance &tolerance : singles)
    if (tolerance.name == name)
      return tolerance;
  return {"other", 2, 0};
}

bool isClose(const Format &format, const Tolerance &tolerance, uint64_t expected, uint64_t found) {
  if (expected == found)
    return true;
  unsigned bits = 8 * format.bytes;
  llvm::APFloat x(format.semantics, llvm::APInt(bits, expected));
  llvm::APFloat y(format.semantics, llvm::APInt(bits, found));
  // A NaN or an infinity has one encoding.
  if (!x.isFinite() || !y.isFinite())
    return false;
  bool unused;
  x.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &unused);
  y.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &unused);
  if (std::abs(x.convertToDouble() - y.convertToDouble()) <= tolerance.absolute)
    return true;
  // Sign and magnitude as one ordered number.
  auto order = [&](uint64_t word) {
    int64_t magnitude = int64_t(word & ((uint64_t(1) << (bits - 1)) - 1));
    return word >> (bits - 1) ? -magnitude : magnitude;
  };
  int64_t scale = format.bytes == 8 ? int64_t(1) << 32 : 1;
  return std::abs(order(expected) - order(found)) <= tolerance.ulps * scale;
}

} // namespace

std::string tcc::vectors::compareBuffer(const Vector &vector, llvm::ArrayRef<uint8_t> expected,
                                        llvm::ArrayRef<uint8_t> found) {
  if (vector.compare == "exact") {
    for (size_t i = 0; i < expected.size(); ++i)
      if (expected[i] != found[i]) {
        size_t at = i / 4 * 4;
        unsigned size = unsigned(std::min<size_t>(4, expected.size() - at));
        std::string text = llvm::formatv("byte {0}: expected {1:x8}, found {2:x8}", at,
                                         wordAt(expected, at, size), wordAt(found, at, size))
                               .str();
        size_t length = expected.size() / std::max<size_t>(1, vector.operations.size());
        if (vector.operations.size() > 1)
          text +=
              " (" + vector.operations[std::min(i / length, vector.operations.size() - 1)] + ")";
        return text;
      }
    return "";
  }
  Format format = formatOf(vector.compare);
  size_t operations = std::max<size_t>(1, vector.operations.size());
  size_t length = expected.size() / operations;
  for (size_t at = 0; at + format.bytes <= expected.size(); at += format.bytes) {
    Tolerance tolerance = toleranceOf(vector, at / std::max<size_t>(1, length), format);
    uint64_t x = wordAt(expected, at, format.bytes), y = wordAt(found, at, format.bytes);
    if (!isClose(format, tolerance, x, y))
      return llvm::formatv("byte {0} ({1}): expected {2:x}, found {3:x}, more than {4} ulp or {5} "
                           "apart",
                           at, tolerance.name, x, y, tolerance.ulps, tolerance.absolute)
          .str();
  }
  return "";
}
