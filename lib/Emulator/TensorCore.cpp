//===- TensorCore.cpp - Floating-point matrix arithmetic ------------------===//

#include "TensorCore.h"
#include "ScalarMath.h"

#include "llvm/Support/MathExtras.h"

using namespace tcc::emulator;

/// Fraction bits of a product of two decoded significands, and of a decoded addend.
static constexpr int ProductFraction = 20;
static constexpr int AddendFraction = 23;

/// The exponent of a zero: far below every other, and the sum of two still fits 16 bits.
static constexpr int16_t ZeroExponent = -16384;
static constexpr int LeastExponent = -1000;

unsigned tcc::emulator::bitWidth(MatrixType type) {
  switch (type) {
  case MatrixType::F16:
  case MatrixType::BF16:
    return 16;
  case MatrixType::TF32:
    return 32;
  case MatrixType::F64:
    return 64;
  case MatrixType::E4M3:
  case MatrixType::E5M2:
  case MatrixType::S8:
  case MatrixType::U8:
    return 8;
  case MatrixType::S4:
  case MatrixType::U4:
    return 4;
  case MatrixType::B1:
    return 1;
  }
  return 0;
}

bool tcc::emulator::isFloat8(MatrixType type) {
  return type == MatrixType::E4M3 || type == MatrixType::E5M2;
}

//===----------------------------------------------------------------------===//
// Decoding
//===----------------------------------------------------------------------===//

/// tf32 without the 13 bits that the tensor core drops.
static constexpr FloatFormat TF32Format = {8, 10, TopExponent::IEEE, 0x3ffff};

static const FloatFormat &formatOf(MatrixType type) {
  switch (type) {
  case MatrixType::BF16:
    return formats::BF16;
  case MatrixType::TF32:
    return TF32Format;
  case MatrixType::E4M3:
    return formats::E4M3;
  case MatrixType::E5M2:
    return formats::E5M2;
  default:
    return formats::F16;
  }
}

void DecodedMatrix::resize(unsigned rows, unsigned depth) {
  columns = depth;
  significand.resize_for_overwrite(rows * depth);
  exponent.resize_for_overwrite(rows * depth);
  classes.resize_for_overwrite(rows * depth);
  special.assign(rows, false);
}

inline void DecodedMatrix::set(const FloatFormat &format, unsigned row, unsigned k, uint32_t bits) {
  unsigned at = row * columns + k;
  bool negative = bits & format.signBit();
  uint32_t magnitude = bits & (format.signBit() - 1);
  if (format.isNaN(bits) || format.isInfinite(bits)) {
    significand[at] = 1 << 10;
    exponent[at] = 0;
    classes[at] = format.isNaN(bits) ? NaN : negative ? NegativeInfinite : Infinite;
    special[row] = true;
    return;
  }
  int field = int(magnitude >> format.mantissaBits);
  int value = int(magnitude & format.mantissaMask());
  if (field != 0)
    value |= 1 << format.mantissaBits;
  value <<= 10 - format.mantissaBits;
  significand[at] = int16_t(negative ? -value : value);
  exponent[at] = value == 0 ? ZeroExponent : int16_t(std::max(field, 1) - format.bias());
  classes[at] = Finite;
}

void DecodedMatrix::assign(MatrixType type, llvm::ArrayRef<uint32_t> bits, unsigned rows,
                           unsigned depth, bool negate) {
  const FloatFormat &format = formatOf(type);
  unsigned dropped = type == MatrixType::TF32 ? 13 : 0;
  uint32_t flip = negate ? format.signBit() : 0;
  resize(rows, depth);
  for (unsigned row = 0; row < rows; ++row)
    for (unsigned k = 0; k < depth; ++k)
      set(format, row, k, (bits[row * depth + k] >> dropped) ^ flip);
}

void DecodedMatrix::assignFloat8AsHalf(MatrixType type, llvm::ArrayRef<uint32_t> bits,
                                       unsigned rows, unsigned depth) {
  const FloatFormat &format = formatOf(type);
  resize(rows, depth);
  for (unsigned row = 0; row < rows; ++row) {
    for (unsigned k = 0; k < depth; ++k) {
      double value = decode(format, bits[row * depth + k]);
      unsigned half = (k % 4) / 2;
      unsigned to = half * (depth / 2) + k / 4 * 2 + k % 2;
      set(formats::F16, row, to, encode(formats::F16, value, Rounding::NearestEven));
    }
  }
}

//===----------------------------------------------------------------------===//
// One block
//===----------------------------------------------------------------------===//

namespace {

/// The operands of one block of one output element.
struct Block {
  const DecodedMatrix &a, &b;
  unsigned row, column, begin, length;

  bool hasSpecial() const { return a.hasSpecial(row) || b.hasSpecial(column); }
};

/// An addend: value = significand * 2^(exponent - 23).
struct Addend {
  int32_t significand = 0;
  int exponent = ZeroExponent;
  DecodedMatrix::Class kind = DecodedMatrix::Finite;

  Addend() = default;
  Addend(const FloatFormat &format, uint32_t bits) {
    bool negative = bits & format.signBit();
    if (format.isNaN(bits))
      kind = DecodedMatrix::NaN;
    else if (format.isInfinite(bits))
      kind = negative ? DecodedMatrix::NegativeInfinite : DecodedMatrix::Infinite;
    if (kind != DecodedMatrix::Finite)
      return;
    uint32_t magnitude = bits & (format.signBit() - 1);
    int field = int(magnitude >> format.mantissaBits);
    int32_t value = int32_t(magnitude & format.mantissaMask());
    if (field != 0)
      value |= 1 << format.mantissaBits;
    if (value == 0)
      return;
    value <<= AddendFraction - format.mantissaBits;
    significand = negative ? -value : value;
    exponent = std::max(field, 1) - format.bias();
  }
};

/// Rounds sum * 2^unit. A zero, exact or by rounding, is +0.
uint32_t roundSum(int64_t sum, int unit, BlockResult result) {
  if (result == BlockResult::F16) {
    double scale = bitCast<double>(uint64_t(unit + 1023) << 52);
    uint32_t bits = encode(formats::F16, double(sum) * scale, Rounding::NearestEven);
    return bits == formats::F16.signBit() ? 0 : bits;
  }
  if (sum == 0)
    return 0;
  uint64_t magnitude = sum < 0 ? uint64_t(-sum) : uint64_t(sum);
  int top = 63 - int(llvm::countl_zero(magnitude));
  int exponent = top + unit;
  uint32_t sign = sum < 0 ? formats::F32.signBit() : 0;
  if (exponent > 127)
    return sign | formats::F32.infinity();
  // Below the least normal number the unit in the last place stays 2^-149.
  int shift = std::max(top - 23, -149 - unit);
  uint64_t kept = shift > 63 ? 0 : shift >= 0 ? magnitude >> shift : magnitude << -shift;
  uint32_t field = exponent >= -126 ? uint32_t(exponent + 126) << 23 : 0;
  uint32_t bits = uint32_t(kept) + field;
  if (result == BlockResult::E8M13)
    bits &= ~uint32_t(0x3ff);
  return bits == 0 ? 0 : sign | bits;
}

/// Cuts a signed term to whole units: |term| << left >> right.
inline int32_t align(int32_t term, int left, int right) {
  int32_t sign = term >> 31;
  uint32_t magnitude = uint32_t((term ^ sign) - sign) << left;
  return (int32_t(magnitude >> std::min(right, 31)) ^ sign) - sign;
}

uint32_t finiteBlock(const Block &block, const Addend &addend, const BlockRule &rule) {
  const int16_t *significandA = block.a.significands(block.row) + block.begin;
  const int16_t *significandB = block.b.significands(block.column) + block.begin;
  const int16_t *exponentA = block.a.exponents(block.row) + block.begin;
  const int16_t *exponentB = block.b.exponents(block.column) + block.begin;

  int16_t largest = int16_t(addend.exponent);
  for (unsigned k = 0; k < block.length; ++k)
    largest = std::max<int16_t>(largest, int16_t(exponentA[k] + exponentB[k]));
  if (largest < LeastExponent)
    return 0;

  int left = std::max(rule.fractionBits - ProductFraction, 0);
  int right = std::max(ProductFraction - rule.fractionBits, 0) + largest;
  int64_t sum = 0;
  for (unsigned k = 0; k < block.length; ++k) {
    int32_t product = int32_t(significandA[k]) * significandB[k];
    sum += align(product, left, right - (exponentA[k] + exponentB[k]));
  }
  sum += align(addend.significand, std::max(rule.fractionBits - AddendFraction, 0),
               std::max(AddendFraction - rule.fractionBits, 0) + largest - addend.exponent);
  return roundSum(sum, largest - rule.fractionBits, rule.result);
}

uint32_t specialBlock(const Block &block, const Addend &addend, const BlockRule &rule) {
  using Class = DecodedMatrix::Class;
  bool nan = addend.kind == Class::NaN;
  bool positive = addend.kind == Class::Infinite;
  bool negative = addend.kind == Class::NegativeInfinite;
  for (unsigned k = block.begin; k < block.begin + block.length; ++k) {
    Class x = block.a.classOf(block.row, k), y = block.b.classOf(block.column, k);
    if (x == Class::Finite && y == Class::Finite)
      continue;
    int signX = block.a.significands(block.row)[k], signY = block.b.significands(block.column)[k];
    if (x == Class::NaN || y == Class::NaN || signX == 0 || signY == 0) {
      nan = true; // A NaN, or zero times infinity.
      continue;
    }
    bool minus = (x == Class::Finite ? signX < 0 : x == Class::NegativeInfinite) !=
                 (y == Class::Finite ? signY < 0 : y == Class::NegativeInfinite);
    (minus ? negative : positive) = true;
  }
  const FloatFormat &format = rule.result == BlockResult::F16 ? formats::F16 : formats::F32;
  if (nan || (positive && negative))
    return format.canonicalNaN;
  if (!positive && !negative)
    return finiteBlock(block, addend, rule); // The special element lies in another block.
  return format.infinity() | (negative ? format.signBit() : 0);
}

} // namespace

//===----------------------------------------------------------------------===//
// Whole products
//===----------------------------------------------------------------------===//

/// C, whose format may not be the result's, joins an IEEE sum in the result's type.
static uint32_t addAddend(uint32_t result, const FloatFormat &format, const FloatFormat &addend,
                          uint32_t c) {
  double sum = addToOdd(decode(format, result), decode(addend, c));
  return encode(format, sum, Rounding::NearestEven);
}

void tcc::emulator::multiplyFloat(const BlockRule &rule, const DecodedMatrix &a,
                                  const DecodedMatrix &b, const FloatFormat &addendFormat,
                                  llvm::ArrayRef<uint32_t> c, llvm::MutableArrayRef<uint32_t> d,
                                  unsigned rows, unsigned columns) {
  const FloatFormat &format = rule.result == BlockResult::F16 ? formats::F16 : formats::F32;
  unsigned length = a.depth() / rule.blocks;
  for (unsigned row = 0; row < rows; ++row) {
    for (unsigned column = 0; column < columns; ++column) {
      unsigned at = row * columns + column;
      Addend addend;
      if (!c.empty() && !rule.addendLast)
        addend = Addend(addendFormat, c[at]);
      uint32_t result = 0;
      for (unsigned begin = 0; begin < a.depth(); begin += length) {
        if (begin != 0)
          addend = Addend(format, result);
        Block block = {a, b, row, column, begin, length};
        bool special = block.hasSpecial() || addend.kind != DecodedMatrix::Finite;
        result = special ? specialBlock(block, addend, rule) : finiteBlock(block, addend, rule);
      }
      if (!c.empty() && rule.addendLast)
        result = addAddend(result, format, addendFormat, c[at]);
      d[at] = result;
    }
  }
}
