//===- TensorCoreTest.cpp -------------------------------------------------===//
//
// Single dot products that tell the tensor core's rule from IEEE arithmetic.
//
//===----------------------------------------------------------------------===//

#include "Emulator/TensorCore.h"

#include "gtest/gtest.h"

#include <limits>
#include <vector>

using namespace tcc::emulator;

static uint32_t bits(float value) { return bitCast<uint32_t>(value); }
static uint32_t half(double value) { return encode(formats::F16, value, Rounding::NearestEven); }

/// One dot product of f16 operands with an f32 addend.
static uint32_t dot(std::vector<double> a, std::vector<double> b, float c,
                    BlockRule rule = BlockRule()) {
  std::vector<uint32_t> x, y;
  for (double value : a)
    x.push_back(half(value));
  for (double value : b)
    y.push_back(half(value));
  DecodedMatrix left, right;
  left.assign(MatrixType::F16, x, 1, unsigned(a.size()));
  right.assign(MatrixType::F16, y, 1, unsigned(b.size()));
  uint32_t addend = bits(c), result = 0;
  multiplyFloat(rule, left, right, formats::F32, addend, result, 1, 1);
  return result;
}

TEST(TensorCore, SmallProductsAreExact) {
  EXPECT_EQ(dot({1, 2, 3, 4}, {5, 6, 7, 8}, 0.5f), bits(70.5f));
  EXPECT_EQ(dot({1, -1, 0, 0}, {1, 1, 0, 0}, 0), 0u);
  EXPECT_EQ(dot({0, 0}, {0, -1}, -0.0f), 0u) << "a zero result is +0";
}

TEST(TensorCore, TermsAreCutBelowTheLargestExponent) {
  // 25 fraction bits below 2^0 are kept, whatever the order of the terms.
  EXPECT_EQ(dot({1, 0x1p-12, -1}, {1, 0x1p-13, 1}, 0), bits(0x1p-25f));
  EXPECT_EQ(dot({1, 0x1p-13, -1}, {1, 0x1p-13, 1}, 0), 0u);
  // Toward zero: a negative term does not become -2^-25.
  EXPECT_EQ(dot({1, -0x1p-13, -1}, {1, 0x1p-13, 1}, 0), 0u);
}

TEST(TensorCore, TheSumIsCutToSingle) {
  EXPECT_EQ(dot({1, 0x1p-12}, {1, 0x1.8p-12}, 0), bits(1.0f)) << "round to nearest gives 1 + 2^-23";
}

TEST(TensorCore, ProductsAreNotNormalised) {
  // 1.5 * 1.5 = 2.25 counts with exponent 0, so 2^-25 survives beside it.
  EXPECT_EQ(dot({1.5, 0x1p-12, -1.5}, {1.5, 0x1p-13, 1.5}, 0), bits(0x1p-25f));
}

TEST(TensorCore, SubnormalOperandsCount) {
  EXPECT_EQ(dot({0x1p-24}, {0x1p-24}, 0), bits(0x1p-48f));
}

TEST(TensorCore, Specials) {
  double infinity = 1e9; // Rounds to the infinity of f16.
  EXPECT_EQ(dot({infinity, 1}, {1, 1}, 0), 0x7f800000u);
  EXPECT_EQ(dot({infinity, 1}, {-1, 1}, 0), 0xff800000u);
  EXPECT_EQ(dot({infinity, infinity}, {1, -1}, 0), 0x7fffffffu);
  EXPECT_EQ(dot({infinity, 1}, {0, 1}, 0), 0x7fffffffu);
  EXPECT_EQ(dot({infinity}, {1}, -std::numeric_limits<float>::infinity()), 0x7fffffffu);
  EXPECT_EQ(dot({1}, {1}, std::numeric_limits<float>::quiet_NaN()), 0x7fffffffu);
}

TEST(TensorCore, OverflowIsInfinite) {
  EXPECT_EQ(dot({60000}, {60000}, std::numeric_limits<float>::max()), 0x7f7fffffu);
  BlockRule halfRule;
  halfRule.result = BlockResult::F16;
  EXPECT_EQ(dot({60000}, {2}, 0, halfRule), 0x7c00u);
}

TEST(TensorCore, WgmmaFloat8KeepsThirteenBits) {
  BlockRule rule;
  rule.fractionBits = 13;
  rule.result = BlockResult::E8M13;
  EXPECT_EQ(dot({1, 0x1p-7}, {1, 0x1p-6}, 0, rule), bits(1 + 0x1p-13f));
  EXPECT_EQ(dot({1, 0x1p-7}, {1, 0x1p-7}, 0, rule), bits(1));
  EXPECT_EQ(dot({0}, {0}, 1 + 0x1p-20f, rule), bits(1));
}

TEST(TensorCore, BlocksRoundBetween) {
  BlockRule rule;
  rule.blocks = 2;
  // As one block 1 - 1 + 2^-26 cannot hold the last term; the second block starts from zero.
  EXPECT_EQ(dot({1, -1, 0x1p-13, 0}, {1, 1, 0x1p-13, 0}, 0, rule), bits(0x1p-26f));
  EXPECT_EQ(dot({1, -1, 0x1p-13, 0}, {1, 1, 0x1p-13, 0}, 0), 0u);
}

TEST(TensorCore, IntegersWrapOrClamp) {
  std::vector<uint32_t> a(32, 0x80), b(32, 0x7f), c = {0x80000000}, d(1);
  multiplyInteger(MatrixType::S8, MatrixType::S8, false, a, b, c, d, 1, 1, 32);
  EXPECT_EQ(d[0], 0x80000000u - 32 * 128 * 127);
  multiplyInteger(MatrixType::S8, MatrixType::S8, true, a, b, c, d, 1, 1, 32);
  EXPECT_EQ(d[0], 0x80000000u);
  std::vector<uint32_t> nibble = {0xf}, one = {1}, zero = {0};
  multiplyInteger(MatrixType::S4, MatrixType::U4, false, nibble, one, zero, d, 1, 1, 1);
  EXPECT_EQ(d[0], uint32_t(-1));
}

TEST(TensorCore, BitsArePopulationCounts) {
  std::vector<uint32_t> a = {0xff00ff00}, b = {0x0f0f0f0f}, c = {1}, d(1);
  multiplyBits(false, a, b, c, d, 1, 1, 1);
  EXPECT_EQ(d[0], 9u);
  multiplyBits(true, a, b, c, d, 1, 1, 1);
  EXPECT_EQ(d[0], 17u);
}
