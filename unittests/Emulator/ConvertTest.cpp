//===- ConvertTest.cpp ----------------------------------------------------===//

#include "Emulator/Convert.h"

#include "gtest/gtest.h"

using namespace tcc::emulator;

static const ConvertType S8 = {ConvertType::Signed, 8}, U8 = {ConvertType::Unsigned, 8};
static const ConvertType S32 = {ConvertType::Signed, 32}, U32 = {ConvertType::Unsigned, 32};
static const ConvertType S64 = {ConvertType::Signed, 64}, U64 = {ConvertType::Unsigned, 64};
static const ConvertType F32 = {ConvertType::Float, 32, &formats::F32};
static const ConvertType F16 = {ConvertType::Float, 16, &formats::F16};
static const ConvertType BF16 = {ConvertType::Float, 16, &formats::BF16};
static const ConvertType F64 = {ConvertType::Float, 64};
static const ConvertType TF32 = {ConvertType::TF32, 32};

static uint64_t run(ConvertType to, ConvertType from, uint64_t bits,
                    Rounding rounding = Rounding::NearestEven, bool sat = false,
                    bool satFinite = false) {
  Conversion conversion = {to, from, {}, false};
  conversion.modifiers.rounding = rounding;
  conversion.modifiers.sat = sat;
  conversion.modifiers.satFinite = satFinite;
  return convert(conversion, bits);
}

static uint64_t single(float value) { return bitCast<uint32_t>(value); }

TEST(Convert, Integers) {
  EXPECT_EQ(run(S32, S8, 0xff), ~uint64_t(0));
  EXPECT_EQ(run(U8, S32, 0x1ff), 0xffu);
  EXPECT_EQ(run(U8, S32, uint32_t(-5), Rounding::NearestEven, true), 0u);
  EXPECT_EQ(run(S8, U32, 0xffffffff, Rounding::NearestEven, true), 127u);
  EXPECT_EQ(run(S64, U64, ~uint64_t(0), Rounding::NearestEven, true), ~uint64_t(0) >> 1);
  EXPECT_EQ(run(S8, S32, uint32_t(-1000), Rounding::NearestEven, true), uint64_t(-128));
}

TEST(Convert, FloatToIntegerClampsAndHasAnIndefiniteValue) {
  EXPECT_EQ(run(S32, F32, single(3e9f), Rounding::Zero), 0x7fffffffu);
  EXPECT_EQ(run(U32, F32, single(-1), Rounding::Zero), 0u);
  EXPECT_EQ(run(S32, F32, single(-2.5f), Rounding::NearestEven), uint64_t(-2));
  EXPECT_EQ(run(S32, F32, 0x7fc00000, Rounding::Zero), 0u);
  EXPECT_EQ(run(U32, F64, 0x7ff8000000000000, Rounding::Zero), 0x80000000u);
  EXPECT_EQ(run(U64, F32, 0x7fc00000, Rounding::Zero), uint64_t(1) << 63);
  EXPECT_EQ(run(U64, F32, single(0x1p63f), Rounding::Zero), uint64_t(1) << 63);
}

TEST(Convert, IntegerToFloatRoundsOnce) {
  // 2^24 + 1 is a tie; one more bit far below breaks it.
  EXPECT_EQ(run(F32, U64, 0x1000001), single(0x1000000));
  EXPECT_EQ(run(F32, U64, 0x8000008000000001), single(0x1.000002p63f));
  EXPECT_EQ(run(F64, U64, ~uint64_t(0), Rounding::Zero), bitCast<uint64_t>(0x1.fffffffffffffp63));
  EXPECT_EQ(run(F64, S64, uint64_t(1) - 0x20000000000001 - 1, Rounding::Down),
            bitCast<uint64_t>(-0x1.0000000000001p53));
}

TEST(Convert, TF32) {
  EXPECT_EQ(run(TF32, F32, 0x3f801000, Rounding::NearestAway), 0x3f802000u);
  EXPECT_EQ(run(TF32, F32, 0x3f801000, Rounding::NearestEven), 0x3f800000u);
  EXPECT_EQ(run(TF32, F32, 0x7f800001, Rounding::NearestAway), 0x7f800000u);
  EXPECT_EQ(run(TF32, F32, 0x7fc00000, Rounding::NearestAway, false, true), 0x7fbfe000u);
  EXPECT_EQ(run(TF32, F32, 0x7fc00000, Rounding::NearestEven), 0x7fffe000u);
}

TEST(Convert, NaNPayloads) {
  EXPECT_EQ(run(F32, BF16, 0x7f81), 0x7f810000u);
  EXPECT_EQ(run(F64, F32, 0xff800001), 0xfff8000020000000u);
  EXPECT_EQ(run(F32, F64, 0x7ff0000020000000), 0x7fc00001u);
  EXPECT_EQ(run(F32, F16, 0x7c01), 0x7fffffffu);
  EXPECT_EQ(run(F16, F32, 0xffc00000, Rounding::NearestEven, false, true), 0x7fffu);
}
