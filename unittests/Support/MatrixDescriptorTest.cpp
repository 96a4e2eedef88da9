//===- MatrixDescriptorTest.cpp - Descriptors against the ISA's formulas --===//

#include "tcc/Support/MatrixDescriptor.h"
#include "gtest/gtest.h"

using namespace tcc::support;

namespace {

/// The address that the hardware reads element (r, k) of an instruction's operand from, by the
/// formulas at the top of MatrixDescriptor.h, from the descriptor's bits alone.
int64_t hardwareAddress(uint64_t bits, int64_t start, bool kMajor, int64_t r, int64_t k,
                        int64_t size) {
  int64_t leading = (bits >> 16 & 0x3fff) << 4;
  int64_t stride = (bits >> 32 & 0x3fff) << 4;
  int64_t mode = bits >> 62;
  int64_t span = mode == 0 ? 16 : mode == 1 ? 128 : mode == 2 ? 64 : 32;
  int64_t kByte = k * size;
  int64_t address = start;
  if (kMajor)
    address +=
        r / 8 * stride + r % 8 * span + (mode == 0 ? kByte / 16 * leading + kByte % 16 : kByte);
  else if (mode == 0)
    address += r / 8 * stride + k / 8 * leading + k % 8 * 16 + 2 * (r % 8);
  else
    address += r / (span / 2) * leading + k / 8 * stride + k % 8 * span + 2 * (r % (span / 2));
  int64_t mask = mode == 0 ? 0 : mode == 1 ? 7 : mode == 2 ? 3 : 1;
  return address ^ ((address >> 7 & mask) << 4);
}

// Every element that every instruction of a tile reads, for four swizzle modes and two majors.
TEST(MatrixDescriptor, hardwareReadsWhatTheLayoutStored) {
  const int64_t tileRows = 128, tileK = 64, size = 2;
  for (int64_t span : {16, 32, 64, 128}) {
    for (unsigned contiguous : {0u, 1u}) {
      SharedTile tile{{tileRows, tileK}, contiguous, size};
      SharedLayout layout = SharedLayout::inBlocks(span);
      uint64_t bits = llvm::cantFail(wgmmaDescriptor(tile, layout, /*kDim=*/1)).encode();
      EXPECT_EQ(bits & 0x3fff, 0u);
      for (int64_t row = 0; row < tileRows; row += 64) {
        for (int64_t k = 0; k < tileK; k += 16) {
          int64_t start = linearOffset(tile, layout, row, k);
          for (int64_t r = 0; r < 64; ++r)
            for (int64_t i = 0; i < 16; ++i)
              ASSERT_EQ(hardwareAddress(bits, start, contiguous == 1, r, i, size),
                        byteOffset(tile, layout, row + r, k + i))
                  << "span " << span << " contiguous " << contiguous << " at " << row << "," << k
                  << " element " << r << "," << i;
        }
      }
    }
  }
}

TEST(MatrixDescriptor, kMajorBytesOfAllSizes) {
  for (unsigned size : {1u, 2u, 4u}) {
    SharedTile tile{{64, 128 / size}, 1, size};
    SharedLayout layout = SharedLayout::swizzled(128);
    uint64_t bits = llvm::cantFail(wgmmaDescriptor(tile, layout, /*kDim=*/1)).encode();
    for (int64_t r = 0; r < 64; ++r)
      for (int64_t k = 0; k < 32 / size; ++k)
        ASSERT_EQ(hardwareAddress(bits, 0, true, r, k, size), byteOffset(tile, layout, r, k));
  }
}

TEST(MatrixDescriptor, knownBits) {
  // K-major 128 bytes: (1 << 62) | (64 << 32).
  EXPECT_EQ(
      llvm::cantFail(wgmmaDescriptor({{128, 64}, 1, 2}, SharedLayout::swizzled(128), 1)).encode(),
      uint64_t(1) << 62 | uint64_t(64) << 32);
  // MN-major B of 64 x 192: blocks of 64 columns are 8192 bytes apart.
  EXPECT_EQ(
      llvm::cantFail(wgmmaDescriptor({{64, 192}, 1, 2}, SharedLayout::swizzled(128), 0)).encode(),
      uint64_t(1) << 62 | uint64_t(64) << 32 | uint64_t(512) << 16);
}

TEST(MatrixDescriptor, refusals) {
  EXPECT_EQ(
      llvm::toString(wgmmaDescriptor({{128, 64}, 1, 2}, SharedLayout::padded(16), 1).takeError()),
      "wgmma reads swizzled tiles, not one that is padded by 16 bytes");
  EXPECT_EQ(
      llvm::toString(wgmmaDescriptor({{128, 88}, 1, 2}, SharedLayout::blocked(176), 1).takeError()),
      "wgmma reads swizzled tiles, not one that is in blocks of 176 bytes");
  EXPECT_EQ(llvm::toString(
                wgmmaDescriptor({{128, 64}, 0, 1}, SharedLayout::swizzled(128), 1).takeError()),
            "wgmma reads 1-byte elements only where K is "
            "contiguous in shared memory");
}

} // namespace
