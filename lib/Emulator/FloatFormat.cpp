//===- FloatFormat.cpp - The floating-point formats of PTX ----------------===//

#include "FloatFormat.h"

#include "llvm/Support/MathExtras.h"

#include <limits>

using namespace tcc::emulator;

double tcc::emulator::decode(const FloatFormat &format, uint32_t bits) {
  bool negative = bits & format.signBit();
  uint32_t magnitude = bits & (format.signBit() - 1);
  if (format.isNaN(bits))
    return std::numeric_limits<double>::quiet_NaN();
  uint64_t sign = uint64_t(negative) << 63;
  if (format.isInfinite(bits))
    return bitCast<double>(sign | 0x7ff0000000000000);
  uint32_t exponent = magnitude >> format.mantissaBits;
  if (exponent == 0) {
    // Scaling by a power of two is exact: the least subnormal of f32 is a normal double.
    double unit =
        bitCast<double>(uint64_t(format.minExponent() - int(format.mantissaBits) + 1023) << 52);
    double value = double(magnitude) * unit;
    return negative ? -value : value;
  }
  uint64_t wide = (uint64_t(int(exponent) - format.bias() + 1023) << 52) |
                  (uint64_t(magnitude & format.mantissaMask()) << (52 - format.mantissaBits));
  return bitCast<double>(sign | wide);
}

namespace {

/// Whether a magnitude cut to `kept`, with `rest` in units of 2^-`shift` left over, is rounded up.
bool roundsUp(Rounding rounding, bool negative, uint64_t kept, uint64_t rest, unsigned shift) {
  if (rest == 0)
    return false;
  uint64_t half = uint64_t(1) << (shift - 1);
  switch (rounding) {
  case Rounding::NearestEven:
    return rest > half || (rest == half && (kept & 1));
  case Rounding::NearestAway:
    return rest >= half;
  case Rounding::Zero:
    return false;
  case Rounding::Down:
    return negative;
  case Rounding::Up:
    return !negative;
  }
  return false;
}

uint32_t overflowed(const FloatFormat &format, Rounding rounding, bool negative,
                    bool saturateFinite) {
  bool toInfinity = rounding == Rounding::NearestEven || rounding == Rounding::NearestAway ||
                    rounding == (negative ? Rounding::Down : Rounding::Up);
  if (saturateFinite || format.top == TopExponent::Finite)
    return format.maxFinite();
  if (format.top == TopExponent::NaNOnly)
    return format.canonicalNaN;
  return toInfinity ? format.infinity() : format.maxFinite();
}

} // namespace

uint32_t tcc::emulator::encode(const FloatFormat &format, double value, Rounding rounding,
                               bool saturateFinite) {
  uint64_t bits = bitCast<uint64_t>(value);
  bool negative = bits >> 63;
  uint64_t magnitude = bits & ~(uint64_t(1) << 63);
  if (magnitude > 0x7ff0000000000000)
    return format.canonicalNaN;
  uint32_t sign = negative ? format.signBit() : 0;
  if (magnitude == 0)
    return sign;
  if (magnitude == 0x7ff0000000000000) {
    // An infinite operand saturates like an overflow in the mode that reaches infinity.
    return sign | overflowed(format, Rounding::NearestEven, negative, saturateFinite);
  }
  int exponent = int(magnitude >> 52) - 1023;
  uint64_t significand = magnitude & ((uint64_t(1) << 52) - 1);
  if (exponent == -1023)
    ++exponent; // A subnormal double: far below every format, only its being non-zero matters.
  else
    significand |= uint64_t(1) << 52;

  // The unit in the last place of the result is 2^(scale - mantissaBits).
  int scale = std::max(exponent, format.minExponent());
  unsigned shift = 52 - format.mantissaBits + unsigned(scale - exponent);
  if (shift > 62) { // Below a quarter of the least subnormal.
    significand = 1;
    shift = 62;
  }
  uint64_t kept = significand >> shift;
  kept += roundsUp(rounding, negative, kept, significand & ((uint64_t(1) << shift) - 1), shift);
  // `kept` has its hidden bit where there is one, so the sum is the encoding, and a carry out of
  // the mantissa becomes the next binade.
  uint64_t result = kept + (uint64_t(scale - format.minExponent()) << format.mantissaBits);
  if (result > format.maxFinite())
    return sign | overflowed(format, rounding, negative, saturateFinite);
  return sign | uint32_t(result);
}

/// `rounded` is the nearest double to the exact result and `error` has the sign of the rest.
static double toOdd(double rounded, double error) {
  if (error == 0 || !std::isfinite(rounded))
    return rounded;
  uint64_t bits = bitCast<uint64_t>(rounded);
  if (bits & 1)
    return rounded;
  // The exact value lies strictly between `rounded` (even) and its neighbour towards the error.
  bool away = (error > 0) == (rounded > 0);
  return bitCast<double>(away ? bits + 1 : bits - 1);
}

double tcc::emulator::addToOdd(double a, double b) {
  double sum = a + b;
  // Knuth's TwoSum: exact, whatever the order of the magnitudes.
  double fromB = sum - a;
  double error = (a - (sum - fromB)) + (b - fromB);
  return std::isfinite(sum) ? toOdd(sum, error) : sum;
}

double tcc::emulator::fmaToOdd(double a, double b, double c) {
  return addToOdd(a * b, c); // The product of two 24-bit significands is exact.
}

double tcc::emulator::divideToOdd(double a, double b) {
  double quotient = a / b;
  if (!std::isfinite(quotient) || b == 0 || !std::isfinite(b))
    return quotient;
  double rest = std::fma(-quotient, b, a);
  return toOdd(quotient, b > 0 ? rest : -rest);
}

double tcc::emulator::sqrtToOdd(double a) {
  double root = std::sqrt(a);
  return std::isfinite(root) ? toOdd(root, std::fma(-root, root, a)) : root;
}

double tcc::emulator::fromUnsigned64ToOdd(uint64_t magnitude) {
  unsigned extra = magnitude >> 53 ? 11 - llvm::countl_zero(magnitude) : 0;
  uint64_t lost = magnitude & ((uint64_t(1) << extra) - 1);
  uint64_t kept = (magnitude >> extra) | (lost != 0);
  return double(kept) * double(uint64_t(1) << extra);
}
