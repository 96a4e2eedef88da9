//===- FloatFormatTest.cpp ------------------------------------------------===//

#include "Emulator/FloatFormat.h"

#include "gtest/gtest.h"

#include <random>

using namespace tcc::emulator;

static constexpr Rounding AllModes[] = {Rounding::NearestEven, Rounding::Zero, Rounding::Down,
                                        Rounding::Up, Rounding::NearestAway};

static void expectRoundTrip(const FloatFormat &format) {
  for (uint32_t bits = 0; bits < (1u << format.width()); ++bits)
    for (Rounding mode : AllModes) {
      uint32_t expected = format.isNaN(bits) ? format.canonicalNaN : bits;
      ASSERT_EQ(encode(format, decode(format, bits), mode), expected) << "bits " << bits;
    }
}

TEST(FloatFormat, EveryNarrowValueRoundTrips) {
  expectRoundTrip(formats::F16);
  expectRoundTrip(formats::BF16);
  expectRoundTrip(formats::E4M3);
  expectRoundTrip(formats::E5M2);
  expectRoundTrip(formats::E3M2);
  expectRoundTrip(formats::E2M3);
  expectRoundTrip(formats::E2M1);
}

TEST(FloatFormat, SingleRoundsAsTheHostDoes) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 200000; ++i) {
    // Exponents spread over the range of f32, subnormals and overflow included.
    double value = std::ldexp(double(int64_t(random())), int(random() % 300) - 223);
    ASSERT_EQ(encode(formats::F32, value, Rounding::NearestEven), bitCast<uint32_t>(float(value)));
  }
}

TEST(FloatFormat, DirectedModesBracketTheValue) {
  std::mt19937_64 random(2);
  for (const FloatFormat *format : {&formats::F16, &formats::BF16, &formats::E5M2}) {
    for (int i = 0; i < 20000; ++i) {
      double value = std::ldexp(double(int64_t(random())), int(random() % 40) - 85);
      double down = decode(*format, encode(*format, value, Rounding::Down));
      double up = decode(*format, encode(*format, value, Rounding::Up));
      double zero = decode(*format, encode(*format, value, Rounding::Zero));
      ASSERT_LE(down, value);
      ASSERT_GE(up, value);
      ASSERT_EQ(zero, value < 0 ? up : down);
      uint32_t below = encode(*format, down, Rounding::Zero);
      uint32_t above = encode(*format, up, Rounding::Zero);
      if (down != up && down > 0) {
        ASSERT_EQ(above, below + 1) << "no value of the format lies between the two";
      }
    }
  }
}

TEST(FloatFormat, OverflowFollowsTheMode) {
  EXPECT_EQ(encode(formats::F16, 65520, Rounding::NearestEven), 0x7c00u);
  EXPECT_EQ(encode(formats::F16, 65519, Rounding::NearestEven), 0x7bffu);
  EXPECT_EQ(encode(formats::F16, 1e6, Rounding::Zero), 0x7bffu);
  EXPECT_EQ(encode(formats::F16, -1e6, Rounding::Down), 0xfc00u);
  EXPECT_EQ(encode(formats::F16, -1e6, Rounding::Up), 0xfbffu);
  EXPECT_EQ(encode(formats::F16, 1e6, Rounding::NearestEven, true), 0x7bffu);
  EXPECT_EQ(encode(formats::E4M3, 1e6, Rounding::NearestEven, true), 0x7eu);
  EXPECT_EQ(encode(formats::E4M3, 1e6, Rounding::NearestEven), 0x7fu);
  EXPECT_EQ(encode(formats::E2M1, -1e6, Rounding::NearestEven), 0xfu);
}

TEST(FloatFormat, TiesGoToEvenOrAway) {
  double tie = 1 + 0x1p-11; // Halfway between two f16.
  EXPECT_EQ(encode(formats::F16, tie, Rounding::NearestEven), 0x3c00u);
  EXPECT_EQ(encode(formats::F16, tie, Rounding::NearestAway), 0x3c01u);
  EXPECT_EQ(encode(formats::F16, -tie, Rounding::NearestAway), 0xbc01u);
  EXPECT_EQ(encode(formats::F16, 0x1p-25, Rounding::NearestEven), 0u);
  EXPECT_EQ(encode(formats::F16, 0x1.8p-25, Rounding::NearestEven), 1u);
  EXPECT_EQ(encode(formats::F16, 0x1p-1000, Rounding::Up), 1u);
}

TEST(FloatFormat, RoundToOddKeepsTheSideOfATie) {
  // 1 + 2^-11 is a tie in f16; the tiny addend must break it although no double holds the sum.
  double above = addToOdd(1 + 0x1p-11, 0x1p-120);
  EXPECT_EQ(encode(formats::F16, above, Rounding::NearestEven), 0x3c01u);
  double below = addToOdd(1 + 0x1p-11, -0x1p-120);
  EXPECT_EQ(encode(formats::F16, below, Rounding::NearestAway), 0x3c00u);
  EXPECT_EQ(addToOdd(0.5, 0.25), 0.75);
  EXPECT_EQ(encode(formats::F32, divideToOdd(1, 3), Rounding::Up), 0x3eaaaaabu);
  EXPECT_EQ(encode(formats::F32, divideToOdd(1, 3), Rounding::Down), 0x3eaaaaaau);
  EXPECT_EQ(sqrtToOdd(4), 2.0);
  EXPECT_EQ(fromUnsigned64ToOdd(~uint64_t(0)), 0x1.fffffffffffffp63);
}
