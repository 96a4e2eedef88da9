//===- ElementTest.cpp - Stored elements and their rounding ---------------===//

#include "tcc/Runtime/Element.h"
#include "gtest/gtest.h"
#include <cmath>
#include <limits>

using namespace tcc::runtime;

static constexpr double infinity = std::numeric_limits<double>::infinity();

TEST(Element, EveryBitPatternOfF16RoundTrips) {
  for (unsigned bits = 0; bits < 0x10000; ++bits) {
    uint8_t bytes[2] = {uint8_t(bits), uint8_t(bits >> 8)}, back[2];
    double value = decode(ElementType::F16, bytes);
    encode(ElementType::F16, value, back);
    if (std::isnan(value))
      EXPECT_TRUE(std::isnan(decode(ElementType::F16, back)));
    else
      EXPECT_EQ(back[0] | back[1] << 8, int(bits)) << bits;
  }
}

TEST(Element, EveryBitPatternOfF8RoundTrips) {
  for (ElementType type : {ElementType::F8E4M3FN, ElementType::F8E5M2})
    for (unsigned bits = 0; bits < 0x100; ++bits) {
      uint8_t byte = bits, back;
      double value = decode(type, &byte);
      encode(type, value, &back);
      if (!std::isnan(value)) {
        EXPECT_EQ(back, bits) << bits;
      }
    }
}

TEST(Element, KnownValues) {
  auto bitsOf = [](ElementType type, double value) {
    uint8_t bytes[2] = {};
    encode(type, value, bytes);
    return bytes[0] | bytes[1] << 8;
  };
  EXPECT_EQ(bitsOf(ElementType::F16, 1.0), 0x3c00);
  EXPECT_EQ(bitsOf(ElementType::F16, -0x1p-24), 0x8001); // the smallest subnormal
  EXPECT_EQ(bitsOf(ElementType::F16, 65504), 0x7bff);
  EXPECT_EQ(bitsOf(ElementType::F16, 65520), 0x7c00);
  EXPECT_EQ(bitsOf(ElementType::BF16, 1.0), 0x3f80);
  EXPECT_EQ(bitsOf(ElementType::F8E4M3FN, 448), 0x7e);
  EXPECT_EQ(bitsOf(ElementType::F8E4M3FN, 480), 0x7f); // no infinity: NaN
  EXPECT_EQ(bitsOf(ElementType::F8E5M2, 1.0), 0x3c);
}

TEST(Element, RoundsToNearestEven) {
  EXPECT_EQ(roundTo(ElementType::F16, 2049), 2048);
  EXPECT_EQ(roundTo(ElementType::F16, 2051), 2052);
  EXPECT_EQ(roundTo(ElementType::F16, 2049.001), 2050);
  EXPECT_EQ(roundTo(ElementType::BF16, 257), 256);
  EXPECT_EQ(roundTo(ElementType::F32, 0x1000001), 0x1000000);
  EXPECT_EQ(roundTo(ElementType::F16, 65519.99), 65504);
  EXPECT_EQ(roundTo(ElementType::F16, -65520), -infinity);
  EXPECT_EQ(roundTo(ElementType::F16, 0x1p-25), 0); // half the smallest subnormal: to even
}

TEST(Element, RoundsTf32AwayFromZero) {
  EXPECT_EQ(roundTo(ElementType::TF32, 2049), 2050);
  EXPECT_EQ(roundTo(ElementType::TF32, -2049), -2050);
}

TEST(Element, IntegersClamp) {
  EXPECT_EQ(roundTo(ElementType::I8, 200), 127);
  EXPECT_EQ(roundTo(ElementType::UI8, -3), 0);
  EXPECT_EQ(roundTo(ElementType::I32, -2.7), -2);
}

TEST(Element, HalfUlp) {
  EXPECT_EQ(halfUlp(ElementType::F16, 1.0), 0x1p-11);
  EXPECT_EQ(halfUlp(ElementType::F16, 1.999), 0x1p-11);
  EXPECT_EQ(halfUlp(ElementType::F16, 0), 0x1p-25);
  EXPECT_EQ(halfUlp(ElementType::F32, 3.0), 0x1p-23);
  EXPECT_EQ(halfUlp(ElementType::I32, 3.0), 0);
  EXPECT_EQ(overflowThreshold(ElementType::F16), 65520);
}

TEST(Element, PoisonIsNaN) {
  for (ElementType type : {ElementType::F16, ElementType::BF16, ElementType::F32, ElementType::F64,
                           ElementType::F8E4M3FN, ElementType::F8E5M2}) {
    uint8_t bytes[8];
    std::fill(std::begin(bytes), std::end(bytes), poisonByte(type));
    EXPECT_TRUE(std::isnan(decode(type, bytes)));
  }
}

TEST(Element, DecodesWithStride) {
  const uint8_t bytes[] = {1, 9, 2, 9, 3};
  double values[3];
  decode(ElementType::UI8, bytes, 2, 3, values);
  EXPECT_EQ(values[0], 1);
  EXPECT_EQ(values[1], 2);
  EXPECT_EQ(values[2], 3);
}
