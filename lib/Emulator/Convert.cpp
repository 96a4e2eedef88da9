//===- Convert.cpp - The cvt instruction on one value ---------------------===//

#include "Convert.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace tcc::emulator;

namespace {

constexpr FloatFormat TF32Format = {8, 10, TopExponent::IEEE, 0x3ffff};
constexpr unsigned TF32DroppedBits = 13;

uint64_t lowBits(uint64_t bits, unsigned width) {
  return width == 64 ? bits : bits & ((uint64_t(1) << width) - 1);
}

uint64_t extend(uint64_t bits, unsigned width, bool isSigned) {
  return isSigned ? uint64_t(llvm::SignExtend64(bits, width)) : lowBits(bits, width);
}

//===----------------------------------------------------------------------===//
// From integers
//===----------------------------------------------------------------------===//

uint64_t integerToInteger(const Conversion &conversion, uint64_t bits) {
  const ConvertType &to = conversion.to, &from = conversion.from;
  bool fromSigned = from.kind == ConvertType::Signed, toSigned = to.kind == ConvertType::Signed;
  uint64_t value = extend(bits, from.width, fromSigned);
  if (conversion.modifiers.sat) {
    bool huge = !fromSigned && (value >> 63); // Above every signed 64-bit value.
    uint64_t top = llvm::maxUIntN(to.width) >> (toSigned ? 1 : 0);
    if (huge)
      return std::min(value, top);
    if (to.width == 64 && !toSigned)
      return int64_t(value) < 0 ? 0 : value;
    return uint64_t(saturate(int64_t(value), to.width, toSigned));
  }
  return extend(value, to.width, toSigned);
}

/// A 64-bit magnitude rounded to f64 in a directed mode.
double magnitudeToDouble(uint64_t magnitude, bool negative, Rounding rounding) {
  double nearest = double(magnitude);
  if (rounding == Rounding::NearestEven)
    return nearest;
  // 2^64 is the only value that `nearest` can take outside the range of the comparison below.
  bool above = nearest >= 0x1p64 || uint64_t(nearest) > magnitude;
  bool below = !above && uint64_t(nearest) < magnitude;
  bool wantsUp = rounding == (negative ? Rounding::Down : Rounding::Up);
  uint64_t bits = bitCast<uint64_t>(nearest);
  if (above && !wantsUp)
    return bitCast<double>(bits - 1);
  if (below && wantsUp)
    return bitCast<double>(bits + 1);
  return nearest;
}

uint64_t integerToFloat(const Conversion &conversion, uint64_t bits) {
  const ConvertType &to = conversion.to, &from = conversion.from;
  bool isSigned = from.kind == ConvertType::Signed;
  uint64_t value = extend(bits, from.width, isSigned);
  bool negative = isSigned && int64_t(value) < 0;
  uint64_t magnitude = negative ? 0 - value : value;
  if (to.isF64()) {
    double result = magnitudeToDouble(magnitude, negative, conversion.modifiers.rounding);
    return bitCast<uint64_t>(negative ? -result : result);
  }
  double exact = fromUnsigned64ToOdd(magnitude);
  return finish(*to.format, negative ? -exact : exact, conversion.modifiers);
}

//===----------------------------------------------------------------------===//
// From floats
//===----------------------------------------------------------------------===//

double roundToIntegral(double value, Rounding rounding) {
  switch (rounding) {
  case Rounding::Zero:
    return std::trunc(value);
  case Rounding::Down:
    return std::floor(value);
  case Rounding::Up:
    return std::ceil(value);
  case Rounding::NearestAway:
    return std::round(value);
  case Rounding::NearestEven:
    break;
  }
  return std::nearbyint(value); // The host is in round-to-nearest-even throughout.
}

uint64_t floatToInteger(const Conversion &conversion, double value) {
  const ConvertType &to = conversion.to;
  bool isSigned = to.kind == ConvertType::Signed;
  if (std::isnan(value)) {
    // The "integer indefinite" of the conversion unit that source and result pick.
    if (!conversion.from.isF64() && to.width < 64)
      return 0;
    return extend(uint64_t(1) << (to.width - 1), to.width, isSigned);
  }
  value = roundToIntegral(value, conversion.modifiers.rounding);
  double top = std::ldexp(1.0, to.width - (isSigned ? 1 : 0));
  double bottom = isSigned ? -top : 0;
  if (value < bottom)
    return isSigned ? extend(uint64_t(1) << (to.width - 1), to.width, true) : 0;
  if (value >= top)
    return llvm::maxUIntN(to.width) >> (isSigned ? 1 : 0);
  return value < 0 ? uint64_t(int64_t(value)) : uint64_t(value);
}

/// The payload of a NaN survives where the hardware's conversion is a shift: between f64 and the
/// formats of f16 and f32, and from bf16 to f32 and f64. It is made quiet.
uint64_t nanToF64(const Conversion &conversion, uint64_t bits) {
  const ConvertType &from = conversion.from;
  constexpr uint64_t Quiet = uint64_t(0x7ff8) << 48;
  if (from.isF64())
    return bits | Quiet;
  if (conversion.modifiers.ftz)
    return Quiet | uint64_t(0x3fffff) << 29;
  uint64_t sign = bits >> (from.width - 1) << 63;
  return sign | Quiet | (bits & from.format->mantissaMask()) << (52 - from.format->mantissaBits);
}

uint32_t nanToNarrow(const Conversion &conversion, uint64_t bits) {
  const ConvertType &from = conversion.from, &to = conversion.to;
  if (from.isF64() && to.format != &formats::BF16) {
    unsigned mantissaBits = to.format->mantissaBits;
    uint32_t quiet = to.format->infinity() | 1u << (mantissaBits - 1);
    uint32_t payload = uint32_t(bits >> (52 - mantissaBits)) & to.format->mantissaMask();
    return (bits >> 63 ? to.format->signBit() : 0) | quiet | payload;
  }
  if (from.format == &formats::BF16 && to.isF32() && !conversion.modifiers.ftz)
    return uint32_t(bits << 16);
  return to.format->canonicalNaN;
}

uint32_t toTF32(const FloatModifiers &modifiers, uint32_t bits) {
  if (modifiers.rounding != Rounding::NearestAway)
    return finish(TF32Format, decode(formats::F32, bits), modifiers) << TF32DroppedBits;
  // .rna is an integer addition that leaves the top exponent alone.
  uint32_t mask = ~uint32_t(0) << TF32DroppedBits;
  bool top = (bits & formats::F32.exponentMask()) == formats::F32.exponentMask();
  uint32_t rounded = (top ? bits : bits + (1u << (TF32DroppedBits - 1))) & mask;
  bool overflowed = (rounded & formats::F32.exponentMask()) == formats::F32.exponentMask();
  if (modifiers.satFinite && overflowed)
    rounded -= 1u << TF32DroppedBits;
  return rounded;
}

uint64_t floatToF64(const Conversion &conversion, double value, uint64_t bits) {
  if (conversion.modifiers.sat)
    return bitCast<uint64_t>(value > 0 ? std::min(value, 1.0) : 0.0);
  if (std::isnan(value))
    return nanToF64(conversion, bits);
  return bitCast<uint64_t>(value);
}

} // namespace

int64_t tcc::emulator::saturate(int64_t value, unsigned width, bool isSigned) {
  if (!isSigned)
    return width >= 63 ? std::max<int64_t>(value, 0)
                       : std::clamp<int64_t>(value, 0, llvm::maxUIntN(width));
  return std::clamp<int64_t>(value, llvm::minIntN(width), llvm::maxIntN(width));
}

uint64_t tcc::emulator::convert(const Conversion &conversion, uint64_t bits) {
  const ConvertType &to = conversion.to, &from = conversion.from;
  bits = lowBits(bits, from.width);
  if (from.isInteger())
    return to.isInteger() ? integerToInteger(conversion, bits) : integerToFloat(conversion, bits);

  if (conversion.modifiers.ftz && from.isF32())
    bits = flush(formats::F32, uint32_t(bits));
  if (to.kind == ConvertType::TF32)
    return toTF32(conversion.modifiers, uint32_t(bits));
  double value = from.isF64() ? bitCast<double>(bits) : decode(*from.format, uint32_t(bits));
  if (to.isInteger())
    return floatToInteger(conversion, value);
  if (conversion.toIntegral)
    value = roundToIntegral(value, conversion.modifiers.rounding);
  if (to.isF64())
    return floatToF64(conversion, value, bits);
  if (std::isnan(value) && !conversion.modifiers.sat)
    return nanToNarrow(conversion, bits);
  FloatModifiers modifiers = conversion.modifiers;
  modifiers.ftz &= to.isF32(); // .ftz concerns f32 alone.
  return finish(*to.format, value, modifiers);
}
