//===- Approximate.cpp - The approximate functions of PTX -----------------===//

#include "Approximate.h"

#include <limits>

using namespace tcc::emulator;

/// sin or cos as the hardware takes them: the argument becomes a number of turns by one f32
/// multiplication, so large arguments lose their fraction and give the value at zero.
static double sineOfTurns(double a, bool isCosine) {
  constexpr double PerTurn = 0x1.45f306p-3; // 1 / (2 pi) as an f32.
  if (!std::isfinite(a))
    return std::numeric_limits<double>::quiet_NaN();
  FloatModifiers towardZero;
  towardZero.rounding = Rounding::Zero;
  double turns = decode(formats::F32, finish(formats::F32, a * PerTurn, towardZero));
  double fraction = turns - std::trunc(turns);
  double quarter = std::rint(fraction * 4);
  double rest = fraction - quarter / 4;
  if (rest == 0)
    rest = std::copysign(rest, turns);
  constexpr double Turn = 6.283185307179586;
  switch ((int(quarter) + isCosine) & 3) {
  case 0:
    return std::sin(rest * Turn);
  case 1:
    return std::cos(rest * Turn);
  case 2:
    return -std::sin(rest * Turn);
  default:
    return -std::cos(rest * Turn);
  }
}

static double evaluateExactly(ApproximateOp op, double a, double b) {
  switch (op) {
  case ApproximateOp::Rcp:
    return 1.0 / a;
  case ApproximateOp::Sqrt:
    return std::sqrt(a);
  case ApproximateOp::Rsqrt:
    return a == 0 ? 1.0 / a : 1.0 / std::sqrt(a);
  case ApproximateOp::Sin:
    return sineOfTurns(a, false);
  case ApproximateOp::Cos:
    return sineOfTurns(a, true);
  case ApproximateOp::Lg2:
    return std::log2(a);
  case ApproximateOp::Ex2:
    return std::exp2(a);
  case ApproximateOp::Tanh:
    return std::tanh(a);
  case ApproximateOp::Div:
    // PTX ISA "div.approx": a divisor in (2^126, 2^128) gives zero, or NaN for an infinite
    // dividend.
    if (std::abs(b) > 0x1p126 && std::isfinite(b))
      return a * (b < 0 ? -0.0 : 0.0);
    return a / b;
  case ApproximateOp::DivFull:
    return a / b;
  }
  return std::numeric_limits<double>::quiet_NaN();
}

uint32_t tcc::emulator::approximate(ApproximateOp op, const FloatFormat &format, bool ftz,
                                    uint32_t a, uint32_t b) {
  FloatModifiers modifiers;
  modifiers.ftz = ftz;
  if (ftz) {
    a = flush(format, a);
    b = flush(format, b);
  }
  return finish(format, evaluateExactly(op, decode(format, a), decode(format, b)), modifiers);
}

uint64_t tcc::emulator::approximate64(ApproximateOp op, uint64_t a) {
  constexpr uint64_t High = ~uint64_t(0) << 32;
  constexpr uint64_t Sign = uint64_t(1) << 63;
  constexpr uint64_t LeastNormal = uint64_t(1) << 52;
  constexpr uint64_t NaN = 0x7fffffff00000000;
  a &= High;
  if ((a & ~Sign) < LeastNormal)
    a &= Sign;
  uint64_t result = bitCast<uint64_t>(evaluateExactly(op, bitCast<double>(a), 0));
  if (std::isnan(bitCast<double>(result)))
    return NaN;
  if ((result & ~Sign) < LeastNormal)
    return result & Sign;
  return result & High;
}
