//===- ScalarMath.cpp - Floating-point instructions on one value ----------===//

#include "ScalarMath.h"

#include "llvm/ADT/APFloat.h"

using namespace tcc::emulator;
using llvm::APFloat;

//===----------------------------------------------------------------------===//
// Formats of at most 32 bits
//===----------------------------------------------------------------------===//

uint32_t tcc::emulator::finish(const FloatFormat &format, double value,
                               const FloatModifiers &modifiers) {
  if (modifiers.sat) {
    // .sat clamps to [+0, 1] and maps NaN to +0.
    if (!(value > 0))
      return 0;
    value = std::min(value, 1.0);
  }
  uint32_t bits = encode(format, value, modifiers.rounding, modifiers.satFinite);
  if (modifiers.ftz)
    bits = flush(format, bits);
  if (modifiers.relu && (bits & format.signBit()))
    return 0;
  return bits;
}

/// An exact zero sum of operands that are not both negative zeros is -0 when rounding down.
static double signZeroSum(double sum, double a, double b, Rounding rounding) {
  if (sum == 0 && rounding == Rounding::Down && (std::signbit(a) || std::signbit(b)))
    return -0.0;
  return sum;
}

/// PTX ISA "min"/"max": -0 is less than +0; a NaN loses to a number unless .NaN is given.
static uint32_t minMax(bool isMin, const FloatFormat &format, const FloatModifiers &modifiers,
                       uint32_t a, uint32_t b) {
  uint32_t sign = (a ^ b) & format.signBit();
  if (modifiers.xorSignAbs) {
    a &= format.signBit() - 1;
    b &= format.signBit() - 1;
  }
  bool nanA = format.isNaN(a), nanB = format.isNaN(b);
  uint32_t result;
  if ((nanA && nanB) || (modifiers.propagateNaN && (nanA || nanB)))
    return format.canonicalNaN;
  if (nanA || nanB) {
    result = nanA ? b : a;
  } else {
    // Sign-magnitude order as two's complement order, which puts -0 before +0.
    auto order = [&](uint32_t bits) {
      int64_t magnitude = bits & (format.signBit() - 1);
      return bits & format.signBit() ? -magnitude - 1 : magnitude;
    };
    result = (order(a) < order(b)) == isMin ? a : b;
  }
  return modifiers.xorSignAbs ? result | sign : result;
}

static uint32_t absNeg(FloatOp op, const FloatFormat &format, uint32_t a) {
  if (format.isNaN(a))
    return format.canonicalNaN;
  return op == FloatOp::Abs ? a & ~format.signBit() : a ^ format.signBit();
}

/// The host does f32 in round-to-nearest; only the NaN differs.
static uint32_t plainF32(FloatOp op, float a, float b, float c) {
  float result;
  switch (op) {
  case FloatOp::Add:
    result = a + b;
    break;
  case FloatOp::Sub:
    result = a - b;
    break;
  case FloatOp::Mul:
    result = a * b;
    break;
  case FloatOp::Fma:
    result = std::fma(a, b, c);
    break;
  case FloatOp::Div:
    result = a / b;
    break;
  case FloatOp::Sqrt:
    result = std::sqrt(a);
    break;
  default:
    result = 1.0f / a;
    break;
  }
  return std::isnan(result) ? formats::F32.canonicalNaN : bitCast<uint32_t>(result);
}

/// PTX ISA "fma": with .oob the result is +0 where an operand is the NaN that TMA fills with.
static bool isOutOfBoundsNaN(uint32_t bits) { return bits == 0x7ff7; }

uint32_t tcc::emulator::evaluate(FloatOp op, const FloatFormat &format,
                                 const FloatModifiers &modifiers, uint32_t a, uint32_t b,
                                 uint32_t c) {
  if (modifiers.outOfBounds && (isOutOfBoundsNaN(a) || isOutOfBoundsNaN(b)))
    return 0;
  if (modifiers.ftz) {
    a = flush(format, a);
    b = flush(format, b);
    c = flush(format, c);
  }
  switch (op) {
  case FloatOp::Min:
  case FloatOp::Max:
    return minMax(op == FloatOp::Min, format, modifiers, a, b);
  case FloatOp::Abs:
  case FloatOp::Neg:
    return absNeg(op, format, a);
  default:
    break;
  }
  if (format.mantissaBits == 23 && modifiers.plain())
    return plainF32(op, bitCast<float>(a), bitCast<float>(b), bitCast<float>(c));

  double x = decode(format, a), y = decode(format, b), z = decode(format, c);
  double result;
  switch (op) {
  case FloatOp::Add:
    result = signZeroSum(addToOdd(x, y), x, y, modifiers.rounding);
    break;
  case FloatOp::Sub:
    result = signZeroSum(addToOdd(x, -y), x, -y, modifiers.rounding);
    break;
  case FloatOp::Mul:
    result = x * y;
    break;
  case FloatOp::Fma:
    result = signZeroSum(fmaToOdd(x, y, z), x * y, z, modifiers.rounding);
    break;
  case FloatOp::Div:
    result = divideToOdd(x, y);
    break;
  case FloatOp::Sqrt:
    result = sqrtToOdd(x);
    break;
  default:
    result = divideToOdd(1.0, x);
    break;
  }
  return finish(format, result, modifiers);
}

//===----------------------------------------------------------------------===//
// f64
//===----------------------------------------------------------------------===//

static constexpr uint64_t QuietBit = uint64_t(1) << 51;
static constexpr uint64_t InvalidNaN = 0xfff8000000000000;
static constexpr uint64_t SignBit64 = uint64_t(1) << 63;

static bool isNaN64(uint64_t bits) { return (bits & ~SignBit64) > 0x7ff0000000000000; }

static llvm::RoundingMode toLLVM(Rounding rounding) {
  switch (rounding) {
  case Rounding::Zero:
    return llvm::RoundingMode::TowardZero;
  case Rounding::Down:
    return llvm::RoundingMode::TowardNegative;
  case Rounding::Up:
    return llvm::RoundingMode::TowardPositive;
  case Rounding::NearestAway:
    return llvm::RoundingMode::NearestTiesToAway;
  case Rounding::NearestEven:
    break;
  }
  return llvm::RoundingMode::NearestTiesToEven;
}

static double sqrtDirected(double a, Rounding rounding) {
  // Scaled so that neither the square nor the rest of it underflows; the root is then exact to
  // scale back.
  bool tiny = a < 0x1p-900;
  double scaled = tiny ? a * 0x1p+200 : a;
  double root = std::sqrt(scaled);
  double rest = std::fma(-root, root, scaled);
  if (rest != 0 && std::isfinite(root)) {
    uint64_t bits = bitCast<uint64_t>(root);
    if (rounding == Rounding::Up && rest > 0)
      root = bitCast<double>(bits + 1);
    else if (rounding != Rounding::Up && rest < 0)
      root = bitCast<double>(bits - 1);
  }
  return tiny ? root * 0x1p-100 : root;
}

static double directed64(FloatOp op, Rounding rounding, double a, double b, double c) {
  if (op == FloatOp::Sqrt)
    return sqrtDirected(a, rounding);
  llvm::RoundingMode mode = toLLVM(rounding);
  APFloat x(op == FloatOp::Rcp ? 1.0 : a), y(op == FloatOp::Rcp ? a : b);
  switch (op) {
  case FloatOp::Add:
    x.add(y, mode);
    break;
  case FloatOp::Sub:
    x.subtract(y, mode);
    break;
  case FloatOp::Mul:
    x.multiply(y, mode);
    break;
  case FloatOp::Fma:
    x.fusedMultiplyAdd(y, APFloat(c), mode);
    break;
  default:
    x.divide(y, mode);
    break;
  }
  return x.convertToDouble();
}

static double nearest64(FloatOp op, double a, double b, double c) {
  switch (op) {
  case FloatOp::Add:
    return a + b;
  case FloatOp::Sub:
    return a - b;
  case FloatOp::Mul:
    return a * b;
  case FloatOp::Fma:
    return std::fma(a, b, c);
  case FloatOp::Div:
    return a / b;
  case FloatOp::Sqrt:
    return std::sqrt(a);
  default:
    return 1.0 / a;
  }
}

static uint64_t minMax64(bool isMin, uint64_t a, uint64_t b) {
  if (isNaN64(a) || isNaN64(b)) {
    if (isNaN64(a) && isNaN64(b))
      return b | QuietBit;
    return isNaN64(a) ? b : a;
  }
  double x = bitCast<double>(a), y = bitCast<double>(b);
  bool less = x < y || (x == y && std::signbit(x) && !std::signbit(y));
  return less == isMin ? a : b;
}

uint64_t tcc::emulator::evaluate64(FloatOp op, const FloatModifiers &modifiers, uint64_t a,
                                   uint64_t b, uint64_t c) {
  switch (op) {
  case FloatOp::Min:
  case FloatOp::Max:
    return minMax64(op == FloatOp::Min, a, b);
  case FloatOp::Abs:
    return a & ~SignBit64;
  case FloatOp::Neg:
    return a ^ SignBit64;
  default:
    break;
  }
  // Which operand's payload a NaN result carries: the second's, then fma's third, then the first's;
  // division, which is a program of its own on the hardware, looks at the dividend first.
  if (op == FloatOp::Div && isNaN64(a))
    return a | QuietBit;
  bool binary = op != FloatOp::Sqrt && op != FloatOp::Rcp;
  if (binary && isNaN64(b))
    return b | QuietBit;
  if (op == FloatOp::Fma && isNaN64(c))
    return c | QuietBit;
  if (isNaN64(a))
    return a | QuietBit;
  double x = bitCast<double>(a), y = bitCast<double>(b), z = bitCast<double>(c);
  double result = modifiers.rounding == Rounding::NearestEven
                      ? nearest64(op, x, y, z)
                      : directed64(op, modifiers.rounding, x, y, z);
  return std::isnan(result) ? InvalidNaN : bitCast<uint64_t>(result);
}

//===----------------------------------------------------------------------===//
// Comparison and classification
//===----------------------------------------------------------------------===//

bool tcc::emulator::compare(FloatCompare predicate, double a, double b) {
  bool unordered = std::isnan(a) || std::isnan(b);
  switch (predicate) {
  case FloatCompare::Eq:
    return a == b;
  case FloatCompare::Ne:
    return !unordered && a != b;
  case FloatCompare::Lt:
    return a < b;
  case FloatCompare::Le:
    return a <= b;
  case FloatCompare::Gt:
    return a > b;
  case FloatCompare::Ge:
    return a >= b;
  case FloatCompare::Equ:
    return unordered || a == b;
  case FloatCompare::Neu:
    return a != b;
  case FloatCompare::Ltu:
    return !(a >= b);
  case FloatCompare::Leu:
    return !(a > b);
  case FloatCompare::Gtu:
    return !(a <= b);
  case FloatCompare::Geu:
    return !(a < b);
  case FloatCompare::Num:
    return !unordered;
  case FloatCompare::Nan:
    return unordered;
  }
  return false;
}

bool tcc::emulator::testClass(FloatClass kind, bool isF64, uint64_t bits) {
  unsigned mantissaBits = isF64 ? 52 : 23;
  uint64_t exponentMask = isF64 ? 0x7ff : 0xff;
  uint64_t exponent = (bits >> mantissaBits) & exponentMask;
  bool hasMantissa = bits & ((uint64_t(1) << mantissaBits) - 1);
  bool top = exponent == exponentMask;
  switch (kind) {
  case FloatClass::Finite:
    return !top;
  case FloatClass::Infinite:
    return top && !hasMantissa;
  case FloatClass::Number:
    return !(top && hasMantissa);
  case FloatClass::NotANumber:
    return top && hasMantissa;
  case FloatClass::Normal:
    return !top && (exponent != 0 || !hasMantissa); // Zeros count as normal (PTX ISA "testp").
  case FloatClass::Subnormal:
    return exponent == 0 && hasMantissa;
  }
  return false;
}
