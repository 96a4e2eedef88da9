//===- WgmmaOperandTest.cpp -----------------------------------------------===//

#include "Emulator/WgmmaOperand.h"

#include "gtest/gtest.h"

using namespace tcc::emulator;

/// A descriptor from addresses and offsets in bytes; swizzle as its two bits.
static uint64_t descriptor(uint64_t start, uint64_t leading, uint64_t stride, uint64_t swizzle,
                           uint64_t base = 0) {
  return start >> 4 | leading >> 4 << 16 | stride >> 4 << 32 | base << 49 | swizzle << 62;
}

TEST(WgmmaOperand, CoreMatricesWithoutSwizzle) {
  WgmmaOperand operand(descriptor(0x1000, 0x80, 0x100, 0), false);
  EXPECT_EQ(operand.chunkOfRow(0, 0), 0x1000u);
  EXPECT_EQ(operand.chunkOfRow(1, 0), 0x1010u);
  EXPECT_EQ(operand.chunkOfRow(0, 1), 0x1080u);
  EXPECT_EQ(operand.chunkOfRow(9, 1), 0x1190u);
}

TEST(WgmmaOperand, Swizzle128XorsTheRow) {
  WgmmaOperand operand(descriptor(0x1000, 0, 0x400, 1), false);
  EXPECT_EQ(operand.chunkOfRow(0, 1), 0x1010u);
  EXPECT_EQ(operand.chunkOfRow(3, 0), 0x1000u + 3 * 128 + 3 * 16);
  EXPECT_EQ(operand.chunkOfRow(8, 0), 0x1400u);
  // A step along K inside the atom adds to the start; the XOR still comes from the address.
  WgmmaOperand step(descriptor(0x1020, 0, 0x400, 1), false);
  EXPECT_EQ(step.chunkOfRow(1, 0), 0x1000u + 128 + ((2 ^ 1) * 16));
  // The base offset is subtracted from the XOR's index.
  WgmmaOperand shifted(descriptor(0x1080, 0, 0x400, 1, 1), false);
  EXPECT_EQ(shifted.chunkOfRow(0, 0), 0x1080u);
}

TEST(WgmmaOperand, MNMajor) {
  WgmmaOperand plain(descriptor(0x1000, 0x200, 0x80, 0), true);
  EXPECT_EQ(plain.chunkOfGroup(1, 0), 0x1080u);
  EXPECT_EQ(plain.chunkOfGroup(0, 9), 0x1210u);
  // 64-byte swizzle: atoms of 32 rows, eight k high.
  WgmmaOperand swizzled(descriptor(0x1000, 0x800, 0x200, 2), true);
  EXPECT_EQ(swizzled.chunkOfGroup(0, 1), 0x1040u);
  EXPECT_EQ(swizzled.chunkOfGroup(0, 2), 0x1080u + 16);
  EXPECT_EQ(swizzled.chunkOfGroup(4, 0), 0x1800u);
  EXPECT_EQ(swizzled.chunkOfGroup(0, 8), 0x1200u);
}

TEST(WgmmaOperand, ReservedBits) {
  EXPECT_TRUE(WgmmaOperand(descriptor(0x1000, 0x80, 0x100, 3), false).isWellFormed());
  EXPECT_FALSE(WgmmaOperand(uint64_t(1) << 14, false).isWellFormed());
  EXPECT_FALSE(WgmmaOperand(uint64_t(1) << 52, false).isWellFormed());
}
