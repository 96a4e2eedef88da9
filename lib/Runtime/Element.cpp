//===- Element.cpp - Stored elements and their rounding -------------------===//

#include "tcc/Runtime/Element.h"
#include "llvm/ADT/bit.h"
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

using namespace llvm;

namespace tcc::runtime {
namespace {

/// A binary float with an implicit leading bit.
struct FloatFormat {
  int exponentBits;
  int fractionBits;
  bool hasInfinity;
  double largest;

  int bias() const { return (1 << (exponentBits - 1)) - 1; }
  int minExponent() const { return 1 - bias(); }
};

const FloatFormat &formatOf(ElementType type) {
  static const FloatFormat f16 = {5, 10, true, 65504};
  static const FloatFormat bf16 = {8, 7, true, 0x1.FEp127};
  static const FloatFormat tf32 = {8, 10, true, 0x1.FFCp127};
  static const FloatFormat e4m3 = {4, 3, false, 448};
  static const FloatFormat e5m2 = {5, 2, true, 57344};
  static const FloatFormat f32 = {8, 23, true, 0x1.FFFFFEp127};
  static const FloatFormat f64 = {11, 52, true, std::numeric_limits<double>::max()};
  switch (type) {
  case ElementType::F16:
    return f16;
  case ElementType::BF16:
    return bf16;
  case ElementType::TF32:
    return tf32;
  case ElementType::F8E4M3FN:
    return e4m3;
  case ElementType::F8E5M2:
    return e5m2;
  case ElementType::F64:
    return f64;
  default:
    return f32;
  }
}

template <typename T> T load(const uint8_t *source) {
  T value;
  std::memcpy(&value, source, sizeof(T));
  return value;
}

/// The f32 of an f16's bits: exact, since every f16 is an f32.
float halfToFloat(uint16_t bits) {
  uint32_t sign = uint32_t(bits & 0x8000) << 16;
  uint32_t magnitude = bits & 0x7fff;
  if (magnitude >= 0x7c00) // infinity or NaN
    return bit_cast<float>(sign | 0x7f800000 | (magnitude & 0x3ff) << 13);
  // Shifted into place, the exponent is too small by the difference of the biases, 112; the product
  // also normalises subnormals.
  float scaled = bit_cast<float>(magnitude << 13) * 0x1p112f;
  return bit_cast<float>(bit_cast<uint32_t>(scaled) | sign);
}

/// For the types of 8 bits.
double decodeFloat8(const FloatFormat &format, uint8_t bits) {
  int exponent = (bits & 0x7f) >> format.fractionBits;
  int fraction = bits & ((1 << format.fractionBits) - 1);
  int maxExponent = (1 << format.exponentBits) - 1;
  double magnitude;
  if (format.hasInfinity && exponent == maxExponent)
    magnitude = fraction ? std::numeric_limits<double>::quiet_NaN()
                         : std::numeric_limits<double>::infinity();
  else if (!format.hasInfinity && (bits & 0x7f) == 0x7f)
    magnitude = std::numeric_limits<double>::quiet_NaN();
  else if (exponent == 0)
    magnitude = std::ldexp(fraction, format.minExponent() - format.fractionBits);
  else
    magnitude = std::ldexp(fraction + (1 << format.fractionBits),
                           exponent - format.bias() - format.fractionBits);
  return bits & 0x80 ? -magnitude : magnitude;
}

/// The bits of a value that the format holds exactly.
uint32_t encodeExact(const FloatFormat &format, double value) {
  uint32_t sign = std::signbit(value) ? 1u << (format.exponentBits + format.fractionBits) : 0;
  uint32_t exponentMask = ((1u << format.exponentBits) - 1) << format.fractionBits;
  if (std::isnan(value))
    return exponentMask | ((1u << format.fractionBits) - 1); // the hardware's NaN
  if (std::isinf(value))
    return sign | exponentMask;
  double magnitude = std::fabs(value);
  if (magnitude < std::ldexp(1.0, format.minExponent())) // subnormal: a count of the smallest
    return sign | uint32_t(std::ldexp(magnitude, format.fractionBits - format.minExponent()));
  int exponent = std::ilogb(magnitude);
  uint32_t significand = uint32_t(std::ldexp(magnitude, format.fractionBits - exponent));
  return sign + (uint32_t(exponent + format.bias() - 1) << format.fractionBits) + significand;
}

double clampToInteger(double value, double low, double high) {
  if (std::isnan(value))
    return 0;
  return std::clamp(std::trunc(value), low, high);
}

template <typename Decode>
void decodeStrided(const uint8_t *source, int64_t bytes, int64_t count, double *out,
                   Decode decodeOne) {
  for (int64_t i = 0; i < count; ++i, source += bytes)
    out[i] = decodeOne(source);
}

} // namespace

void decode(ElementType type, const uint8_t *source, int64_t stride, int64_t count, double *out) {
  int64_t bytes = stride * getByteSize(type);
  auto strided = [&](auto decodeOne) { decodeStrided(source, bytes, count, out, decodeOne); };
  switch (type) {
  case ElementType::F16:
    return strided([](const uint8_t *p) { return halfToFloat(load<uint16_t>(p)); });
  case ElementType::BF16:
    return strided(
        [](const uint8_t *p) { return bit_cast<float>(uint32_t(load<uint16_t>(p)) << 16); });
  case ElementType::F32:
  case ElementType::TF32:
    return strided([](const uint8_t *p) { return load<float>(p); });
  case ElementType::F64:
    return strided([](const uint8_t *p) { return load<double>(p); });
  case ElementType::F8E4M3FN:
  case ElementType::F8E5M2: {
    const FloatFormat &format = formatOf(type);
    return strided([&](const uint8_t *p) { return decodeFloat8(format, *p); });
  }
  case ElementType::I8:
    return strided([](const uint8_t *p) { return load<int8_t>(p); });
  case ElementType::I1:
  case ElementType::UI8:
    return strided([](const uint8_t *p) { return *p; });
  case ElementType::I32:
    return strided([](const uint8_t *p) { return load<int32_t>(p); });
  case ElementType::I64:
    return strided([](const uint8_t *p) { return double(load<int64_t>(p)); });
  }
}

double decode(ElementType type, const uint8_t *source) {
  double value;
  decode(type, source, 1, 1, &value);
  return value;
}

double roundTo(ElementType type, double value) {
  switch (type) {
  case ElementType::F64:
    return value;
  case ElementType::F32:
    return float(value);
  case ElementType::I1:
    return value != 0;
  case ElementType::I8:
    return clampToInteger(value, -128, 127);
  case ElementType::UI8:
    return clampToInteger(value, 0, 255);
  case ElementType::I32:
    return clampToInteger(value, -0x1p31, 0x1p31 - 1);
  case ElementType::I64:
    return clampToInteger(value, -0x1p63, 0x1p63 - 1024);
  default:
    break;
  }
  if (!std::isfinite(value) || value == 0)
    return value;
  const FloatFormat &format = formatOf(type);
  int unit = std::max(std::ilogb(value), format.minExponent()) - format.fractionBits;
  double scaled = std::ldexp(value, -unit);
  // std::round breaks ties away from zero, std::nearbyint to even.
  scaled = type == ElementType::TF32 ? std::round(scaled) : std::nearbyint(scaled);
  double rounded = std::ldexp(scaled, unit);
  if (std::fabs(rounded) <= format.largest)
    return rounded;
  return std::copysign(format.hasInfinity ? std::numeric_limits<double>::infinity()
                                          : std::numeric_limits<double>::quiet_NaN(),
                       value);
}

void encode(ElementType type, double value, uint8_t *out) {
  value = roundTo(type, value);
  auto store = [&](auto bits) { std::memcpy(out, &bits, sizeof(bits)); };
  switch (type) {
  case ElementType::F16:
  case ElementType::BF16:
    return store(uint16_t(encodeExact(formatOf(type), value)));
  case ElementType::F32:
  case ElementType::TF32:
    return store(float(value));
  case ElementType::F64:
    return store(value);
  case ElementType::F8E4M3FN:
  case ElementType::F8E5M2:
    return store(uint8_t(encodeExact(formatOf(type), value)));
  case ElementType::I1:
  case ElementType::UI8:
    return store(uint8_t(value));
  case ElementType::I8:
    return store(int8_t(value));
  case ElementType::I32:
    return store(int32_t(value));
  case ElementType::I64:
    return store(int64_t(value));
  }
}

double halfUlp(ElementType type, double magnitude) {
  if (!isFloat(type))
    return 0;
  const FloatFormat &format = formatOf(type);
  if (!std::isfinite(magnitude))
    return 0;
  int exponent = magnitude > 0 ? std::ilogb(magnitude) : format.minExponent();
  return std::ldexp(1.0, std::max(exponent, format.minExponent()) - format.fractionBits - 1);
}

double overflowThreshold(ElementType type) {
  if (!isFloat(type))
    return std::numeric_limits<double>::infinity();
  const FloatFormat &format = formatOf(type);
  return format.largest + halfUlp(type, format.largest);
}

uint8_t poisonByte(ElementType type) { return isFloat(type) ? 0xff : 0xa5; }

} // namespace tcc::runtime
