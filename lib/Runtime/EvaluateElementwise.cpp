//===- EvaluateElementwise.cpp - Elementwise operators of the reference ---===//
//
// The error that operands pass on is found by evaluating the operator at the corners of the box
// that they may lie in: each operator here is monotone in each operand, so its extremes over the
// box are at corners. (sin and cos are not; they move by at most what their operand does.)
//
//===----------------------------------------------------------------------===//

#include "EvaluateNodes.h"
#include "tcc/Runtime/Element.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include <cmath>
#include <limits>

using namespace llvm;
using namespace tcc::metadata;

namespace tcc::runtime {
namespace {

/// A point of the operands' values.
using Point = std::array<double, 3>;

double maximum(double a, double b) {
  return std::isnan(a) || std::isnan(b) ? std::numeric_limits<double>::quiet_NaN()
                                        : std::fmax(a, b);
}

double minimum(double a, double b) {
  return std::isnan(a) || std::isnan(b) ? std::numeric_limits<double>::quiet_NaN()
                                        : std::fmin(a, b);
}

/// arith.cmpf: the first letter says what unordered operands give.
bool compare(StringRef predicate, double a, double b) {
  if (predicate == "true" || predicate == "false")
    return predicate == "true";
  bool unordered = std::isnan(a) || std::isnan(b);
  if (predicate == "ord" || predicate == "uno")
    return unordered == (predicate == "uno");
  if (unordered)
    return predicate.front() == 'u';
  return StringSwitch<bool>(predicate.drop_front())
      .Case("eq", a == b)
      .Case("ne", a != b)
      .Case("lt", a < b)
      .Case("le", a <= b)
      .Case("gt", a > b)
      .Default(a >= b);
}

double applyOp(const RefNode &node, const Point &x) {
  switch (node.op) {
  case RefOp::Constant:
    return node.value;
  case RefOp::AddF:
    return x[0] + x[1];
  case RefOp::SubF:
    return x[0] - x[1];
  case RefOp::MulF:
    return x[0] * x[1];
  case RefOp::DivF:
    return x[0] / x[1];
  case RefOp::Fma:
    return std::fma(x[0], x[1], x[2]);
  case RefOp::MaximumF:
    return maximum(x[0], x[1]);
  case RefOp::MinimumF:
    return minimum(x[0], x[1]);
  case RefOp::MaxNumF:
    return std::fmax(x[0], x[1]);
  case RefOp::MinNumF:
    return std::fmin(x[0], x[1]);
  case RefOp::NegF:
    return -x[0];
  case RefOp::AbsF:
    return std::fabs(x[0]);
  case RefOp::Sqrt:
    return std::sqrt(x[0]);
  case RefOp::Floor:
    return std::floor(x[0]);
  case RefOp::Ceil:
    return std::ceil(x[0]);
  case RefOp::Rsqrt:
    return 1 / std::sqrt(x[0]);
  case RefOp::Exp:
    return std::exp(x[0]);
  case RefOp::Exp2:
    return std::exp2(x[0]);
  case RefOp::Log:
    return std::log(x[0]);
  case RefOp::Log2:
    return std::log2(x[0]);
  case RefOp::Tanh:
    return std::tanh(x[0]);
  case RefOp::Erf:
    return std::erf(x[0]);
  case RefOp::Sin:
    return std::sin(x[0]);
  case RefOp::Cos:
    return std::cos(x[0]);
  case RefOp::PowF:
    return std::pow(x[0], x[1]);
  case RefOp::CmpF:
    return compare(node.predicate, x[0], x[1]);
  case RefOp::Select:
    return x[0] != 0 ? x[1] : x[2];
  case RefOp::AndI:
    return x[0] != 0 && x[1] != 0;
  case RefOp::OrI:
    return x[0] != 0 || x[1] != 0;
  case RefOp::XOrI:
    return (x[0] != 0) != (x[1] != 0);
  case RefOp::FPToSI:
    return std::trunc(x[0]);
  case RefOp::Input:
  case RefOp::Matmul:
  case RefOp::TruncF:
  case RefOp::ExtF:
  case RefOp::SIToFP:
    break;
  }
  return x[0];
}

/// How many of the first operands are of type i1.
unsigned countConditions(RefOp op) {
  if (op == RefOp::Select)
    return 1;
  return is_contained({RefOp::AndI, RefOp::OrI, RefOp::XOrI}, op) ? 2 : 0;
}

/// The largest |f(corner) - f(x)|.
double getPassedOnError(const RefNode &node, const Point &x, const Point &errors, double value) {
  if (errors == Point{0, 0, 0})
    return 0;
  if (node.op == RefOp::Sin || node.op == RefOp::Cos)
    return std::min(errors[0], 2.0);
  // A divisor that may be 0 can give anything.
  if (node.op == RefOp::DivF && errors[1] >= std::fabs(x[1]))
    return std::numeric_limits<double>::infinity();
  // Whether two numbers are equal is uncertain wherever they may be.
  if (node.op == RefOp::CmpF && node.predicate.size() == 3 &&
      is_contained({"eq", "ne"}, StringRef(node.predicate).drop_front()) &&
      std::fabs(x[0] - x[1]) <= errors[0] + errors[1])
    return 1;
  double worst = 0;
  for (unsigned corner = 0; corner < 8; ++corner) {
    Point at = x;
    bool moved = true;
    for (unsigned i = 0; i < 3; ++i) {
      bool up = corner >> i & 1;
      moved &= !up || errors[i] != 0; // a coordinate without error has one corner
      at[i] += up ? errors[i] : -errors[i];
    }
    if (!moved)
      continue;
    // An uncertain condition takes both values.
    for (unsigned i = 0; i < countConditions(node.op); ++i)
      at[i] = errors[i] != 0 ? (corner >> i & 1) : x[i];
    double off = std::fabs(applyOp(node, at) - value);
    // NaN where the box leaves the domain (a root of something that may be negative).
    worst = std::isnan(off) ? std::numeric_limits<double>::infinity() : std::max(worst, off);
  }
  return worst;
}

/// What the operator itself may lose when it rounds a value of this magnitude; `operand` is its
/// first operand's.
double getOwnError(const RefNode &node, double magnitude, double operand) {
  switch (node.op) {
  case RefOp::Constant:
  case RefOp::MaximumF:
  case RefOp::MinimumF:
  case RefOp::MaxNumF:
  case RefOp::MinNumF:
  case RefOp::NegF:
  case RefOp::AbsF:
  case RefOp::Floor:
  case RefOp::Ceil:
  case RefOp::CmpF:
  case RefOp::Select:
  case RefOp::AndI:
  case RefOp::OrI:
  case RefOp::XOrI:
  case RefOp::ExtF:
  case RefOp::FPToSI:
    return 0;
  default:
    break;
  }
  // PTX ISA, "tanh": the relative error of tanh.approx.f32 is 2^-11 at most.
  double approximation = node.op == RefOp::Tanh && node.approximate ? 0x1p-11 * magnitude : 0;
  // Functions with values around 0 are bounded by their error at 1: expansions often are.
  if (is_contained({RefOp::Tanh, RefOp::Erf, RefOp::Sin, RefOp::Cos}, node.op))
    magnitude = std::max(magnitude, 1.0);
  double half = halfUlp(node.type, magnitude);
  if (isExactlyRounded(node))
    return half;
  // 8 ulps cover the expansions of functions (docs/Numerics.md). An approximate exp rounds its
  // operand's product with log2(e), an error that the exponential makes relative.
  return (node.op == RefOp::Exp ? 16 + 2 * std::fabs(operand) : 16) * half + approximation;
}

} // namespace

Shape getSteps(const Operand &operand, ArrayRef<std::string> dims) {
  Shape steps;
  for (const std::string &dim : dims) {
    int64_t step = 0;
    const auto *found = find(operand.dims, dim);
    if (found != operand.dims.end()) {
      step = 1;
      for (size_t i = found - operand.dims.begin() + 1; i < operand.dims.size(); ++i)
        step *= operand.tile->shape[i];
    }
    steps.push_back(step);
  }
  return steps;
}

void evaluateElementwise(const RefNode &node, ArrayRef<Operand> operands, EvaluationMode mode,
                         Tile &out) {
  SmallVector<Shape, 3> steps;
  for (const Operand &operand : operands)
    steps.push_back(getSteps(operand, node.dims));
  int64_t count = 1;
  for (int64_t length : out.shape)
    count *= length;
  bool bounded = mode == EvaluationMode::Bounded;
  out.values.resize(count);
  if (bounded)
    out.errors.resize(count);
  Shape index(out.shape.size(), 0);
  for (int64_t i = 0; i < count; ++i) {
    Point x = {}, errors = {};
    for (size_t k = 0; k < operands.size(); ++k) {
      int64_t at = 0;
      for (size_t d = 0; d < index.size(); ++d)
        at += index[d] * steps[k][d];
      x[k] = operands[k].tile->values[at];
      errors[k] = operands[k].tile->getError(at);
    }
    double value = applyOp(node, x);
    out.values[i] = bounded ? value : roundTo(node.type, value);
    if (bounded) {
      double passedOn = getPassedOnError(node, x, errors, value);
      bool isExact =
          passedOn == 0 && isExactlyRounded(node) && roundTo(node.type, value) == value;
      double own = isExact ? 0 : getOwnError(node, std::fabs(value) + passedOn, x[0]);
      out.errors[i] = passedOn + own;
    }
    for (size_t d = index.size(); d-- > 0 && ++index[d] == out.shape[d];)
      index[d] = 0;
  }
}

} // namespace tcc::runtime
