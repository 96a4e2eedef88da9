//===- Approximate.cpp - The approximate functions of PTX -----------------===//

#include "Approximate.h"

#include <limits>

using namespace tcc::emulator;

static double evaluateExactly(ApproximateOp op, double a, double b) {
  switch (op) {
  case ApproximateOp::Rcp:
    return 1.0 / a;
  case ApproximateOp::Sqrt:
    return std::sqrt(a);
  case ApproximateOp::Rsqrt:
    return a == 0 ? 1.0 / a : 1.0 / std::sqrt(a);
  case ApproximateOp::Sin:
    return std::sin(a);
  case ApproximateOp::Cos:
    return std::cos(a);
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
