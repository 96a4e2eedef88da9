//===- ScalarMathTest.cpp -------------------------------------------------===//

#include "Emulator/ScalarMath.h"
#include "Emulator/Approximate.h"

#include "gtest/gtest.h"

#include <limits>
#include <random>

using namespace tcc::emulator;

static uint32_t bits(float value) { return bitCast<uint32_t>(value); }
static uint64_t bits64(double value) { return bitCast<uint64_t>(value); }

static FloatModifiers withRounding(Rounding rounding) {
  FloatModifiers modifiers;
  modifiers.rounding = rounding;
  return modifiers;
}

TEST(ScalarMath, NearestSingleIsTheHosts) {
  std::mt19937 random(3);
  // .sat takes the path through double; on results in (0, 1) it must agree with the host.
  FloatModifiers saturating;
  saturating.sat = true;
  for (int i = 0; i < 100000; ++i) {
    float a = bitCast<float>(uint32_t(random() % 0x3f000000));
    float b = bitCast<float>(uint32_t(random() % 0x3f000000));
    float c = bitCast<float>(uint32_t(random() % 0x3f000000));
    ASSERT_EQ(evaluate(FloatOp::Fma, formats::F32, saturating, bits(a), bits(b), bits(c)),
              bits(std::min(std::fma(a, b, c), 1.0f)));
    ASSERT_EQ(evaluate(FloatOp::Add, formats::F32, saturating, bits(a), bits(b)),
              bits(std::min(a + b, 1.0f)));
  }
}

TEST(ScalarMath, ZeroSumsTakeTheSignOfTheMode) {
  FloatModifiers down = withRounding(Rounding::Down), zero = withRounding(Rounding::Zero);
  EXPECT_EQ(evaluate(FloatOp::Add, formats::F32, down, bits(1), bits(-1)), 0x80000000u);
  EXPECT_EQ(evaluate(FloatOp::Add, formats::F32, zero, bits(1), bits(-1)), 0u);
  EXPECT_EQ(evaluate(FloatOp::Add, formats::F32, down, bits(0), bits(0)), 0u);
  EXPECT_EQ(evaluate64(FloatOp::Add, down, bits64(1), bits64(-1)), uint64_t(1) << 63);
}

TEST(ScalarMath, NaNResultsAreCanonical) {
  FloatModifiers plain;
  EXPECT_EQ(evaluate(FloatOp::Add, formats::F32, plain, 0xffc12345, bits(1)), 0x7fffffffu);
  EXPECT_EQ(evaluate(FloatOp::Neg, formats::F32, plain, 0x7fc00001), 0x7fffffffu);
  EXPECT_EQ(evaluate(FloatOp::Mul, formats::F16, plain, 0x7c00, 0), 0x7fffu);
  EXPECT_EQ(evaluate64(FloatOp::Mul, plain, bits64(std::numeric_limits<double>::infinity()), 0),
            0xfff8000000000000u);
}

TEST(ScalarMath, DoubleNaNComesFromTheSecondThenThirdThenFirstOperand) {
  FloatModifiers plain;
  uint64_t a = 0x7ff0000000000001, b = 0x7ff0000000000002, c = 0x7ff0000000000003;
  uint64_t quiet = uint64_t(1) << 51, one = bits64(1);
  EXPECT_EQ(evaluate64(FloatOp::Fma, plain, a, b, c), b | quiet);
  EXPECT_EQ(evaluate64(FloatOp::Fma, plain, a, one, c), c | quiet);
  EXPECT_EQ(evaluate64(FloatOp::Fma, plain, a, one, one), a | quiet);
  EXPECT_EQ(evaluate64(FloatOp::Add, plain, a, b), b | quiet);
}

TEST(ScalarMath, MinMaxOrderZerosAndDropNaN) {
  FloatModifiers plain;
  EXPECT_EQ(evaluate(FloatOp::Min, formats::F32, plain, 0, 0x80000000), 0x80000000u);
  EXPECT_EQ(evaluate(FloatOp::Max, formats::F32, plain, 0x80000000, 0), 0u);
  EXPECT_EQ(evaluate(FloatOp::Max, formats::F32, plain, 0x7fc00000, bits(-3)), bits(-3));
  FloatModifiers propagate;
  propagate.propagateNaN = true;
  EXPECT_EQ(evaluate(FloatOp::Max, formats::F32, propagate, 0x7fc00000, bits(-3)), 0x7fffffffu);
  FloatModifiers xorSign;
  xorSign.xorSignAbs = true;
  EXPECT_EQ(evaluate(FloatOp::Min, formats::F32, xorSign, bits(-2), bits(3)), bits(-2));
  EXPECT_EQ(evaluate(FloatOp::Max, formats::F32, xorSign, bits(-2), bits(-3)), bits(3));
}

TEST(ScalarMath, FlushSaturateRelu) {
  FloatModifiers ftz;
  ftz.ftz = true;
  EXPECT_EQ(evaluate(FloatOp::Add, formats::F32, ftz, 0x80000001, 0x80000000), 0x80000000u);
  FloatModifiers sat;
  sat.sat = true;
  EXPECT_EQ(evaluate(FloatOp::Add, formats::F32, sat, 0x7fc00000, 0), 0u);
  EXPECT_EQ(evaluate(FloatOp::Add, formats::F32, sat, bits(-1), bits(-1)), 0u);
  EXPECT_EQ(evaluate(FloatOp::Add, formats::F32, sat, bits(1), bits(1)), bits(1));
  FloatModifiers relu;
  relu.relu = true;
  EXPECT_EQ(evaluate(FloatOp::Fma, formats::F16, relu, 0xbc00, 0x3c00, 0), 0u);
}

TEST(ScalarMath, DirectedDoubleBracketsTheExactResult) {
  std::mt19937_64 random(4);
  for (int i = 0; i < 5000; ++i) {
    uint64_t a = random() & ~(uint64_t(1) << 63), b = random();
    if ((a >> 52) == 0x7ff || ((b >> 52) & 0x7ff) == 0x7ff)
      continue;
    for (FloatOp op : {FloatOp::Sqrt, FloatOp::Mul, FloatOp::Add}) {
      double down = bitCast<double>(evaluate64(op, withRounding(Rounding::Down), a, b));
      double up = bitCast<double>(evaluate64(op, withRounding(Rounding::Up), a, b));
      double nearest = bitCast<double>(evaluate64(op, FloatModifiers(), a, b));
      ASSERT_LE(down, nearest);
      ASSERT_GE(up, nearest);
      ASSERT_TRUE(down == up || std::nextafter(down, up) == up);
    }
  }
}

TEST(ScalarMath, ComparisonsWithNaN) {
  double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(compare(FloatCompare::Ne, nan, 1));
  EXPECT_TRUE(compare(FloatCompare::Neu, nan, 1));
  EXPECT_TRUE(compare(FloatCompare::Geu, nan, 1));
  EXPECT_TRUE(compare(FloatCompare::Nan, 1, nan));
  EXPECT_FALSE(compare(FloatCompare::Num, 1, nan));
  EXPECT_TRUE(compare(FloatCompare::Eq, 0.0, -0.0));
}

TEST(ScalarMath, Classes) {
  EXPECT_TRUE(testClass(FloatClass::Subnormal, false, 1));
  EXPECT_TRUE(testClass(FloatClass::Normal, false, 0));
  EXPECT_FALSE(testClass(FloatClass::Subnormal, false, 0x80000000));
  EXPECT_TRUE(testClass(FloatClass::Infinite, true, 0xfff0000000000000));
  EXPECT_FALSE(testClass(FloatClass::Number, true, 0xfff0000000000001));
}

TEST(ScalarMath, ApproximateSpecialValues) {
  const FloatFormat &f32 = formats::F32;
  EXPECT_EQ(approximate(ApproximateOp::Rcp, f32, false, 0x80000000), 0xff800000u);
  EXPECT_EQ(approximate(ApproximateOp::Rsqrt, f32, false, bits(-1)), 0x7fffffffu);
  EXPECT_EQ(approximate(ApproximateOp::Lg2, f32, true, 1), 0xff800000u);
  EXPECT_EQ(approximate(ApproximateOp::Sin, f32, false, 0x7f800000), 0x7fffffffu);
  EXPECT_EQ(approximate(ApproximateOp::Div, f32, false, bits(1), bits(0x1.8p127f)), 0u);
  EXPECT_EQ(approximate(ApproximateOp::Ex2, f32, true, bits(-127)), 0u);
}
