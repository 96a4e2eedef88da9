//===- TensorMapTest.cpp --------------------------------------------------===//

#include "Emulator/TensorMap.h"

#include "llvm/Support/MathExtras.h"

#include "gtest/gtest.h"

#include <cstring>

using namespace tcc::emulator;
using Map = TensorMapDescriptor;

static Map halves(std::vector<uint64_t> dims, std::vector<uint32_t> box) {
  Map map;
  map.elementType = Map::ElementType::F16;
  map.base = 0x1000;
  uint64_t stride = llvm::alignTo(dims[0] * 2, 16);
  for (size_t i = 1; i < dims.size(); ++i) {
    map.strides.push_back(stride);
    stride *= dims[i];
  }
  map.elementStrides.assign(dims.size(), 1);
  map.dims = std::move(dims);
  map.box = std::move(box);
  return map;
}

static std::string errorOf(const Map &map) {
  auto encoded = encodeTensorMap(map);
  return encoded ? "" : llvm::toString(encoded.takeError());
}

TEST(TensorMap, RoundTrips) {
  Map map = halves({80, 20, 3}, {32, 8, 2});
  map.swizzle = Map::Swizzle::B64;
  map.fill = Map::Fill::NaN;
  map.elementStrides = {1, 2, 3};
  auto encoded = encodeTensorMap(map);
  ASSERT_TRUE(bool(encoded)) << llvm::toString(encoded.takeError());
  std::optional<Map> decoded = decodeTensorMap(*encoded);
  ASSERT_TRUE(decoded);
  EXPECT_EQ(decoded->dims, map.dims);
  EXPECT_EQ(decoded->strides, map.strides);
  EXPECT_EQ(decoded->box, map.box);
  EXPECT_EQ(decoded->elementStrides, map.elementStrides);
  EXPECT_EQ(decoded->swizzle, map.swizzle);
  EXPECT_EQ(decoded->fill, map.fill);
  (*encoded)[0] ^= 1;
  EXPECT_FALSE(decodeTensorMap(*encoded)) << "not a tensor map";
}

TEST(TensorMap, BrokenRulesAreNamed) {
  Map map = halves({80, 20}, {32, 8});
  EXPECT_EQ(errorOf(map), "");
  map.base = 8;
  EXPECT_EQ(errorOf(map), "tensor map: the address must be aligned to 16 bytes, found 0x8");
  map = halves({80, 20}, {32, 8});
  map.strides[0] = 168;
  EXPECT_EQ(errorOf(map), "tensor map: the stride of dimension 1 must be a multiple of 16 bytes "
                          "below 2^40, found 168");
  EXPECT_EQ(errorOf(halves({80, 20}, {32, 257})),
            "tensor map: box dimension 1 must be 1 to 256, found 257");
  EXPECT_EQ(errorOf(halves({80, 20}, {4, 8})),
            "tensor map: the inner dimension of the box must be a multiple of 16 bytes, found 8");
  EXPECT_EQ(errorOf(halves({80, 0}, {32, 8})),
            "tensor map: dimension 1 must be 1 to 2^32, found 0");
  EXPECT_EQ(errorOf(halves({8, 8, 8, 8, 8, 8}, {8, 1, 1, 1, 1, 1})),
            "tensor map: the rank must be 1 to 5, found 6");
  map = halves({80, 20}, {32, 8});
  map.swizzle = Map::Swizzle::B32;
  EXPECT_EQ(errorOf(map), "tensor map: the inner dimension of the box must fit the swizzle's 32 "
                          "bytes, found 64");
  map = halves({80, 20}, {32, 8});
  map.elementStrides[1] = 9;
  EXPECT_EQ(errorOf(map), "tensor map: element stride 1 must be 1 to 8, found 9");
  map = halves({80, 20}, {32, 8});
  map.elementType = Map::ElementType::U16;
  map.fill = Map::Fill::NaN;
  EXPECT_EQ(errorOf(map), "tensor map: NaN fill needs a floating-point element type");
  map = halves({80, 20}, {32, 8});
  map.strides.clear();
  EXPECT_EQ(errorOf(map), "tensor map: a tensor of rank 2 takes 1 strides, found 0");
  map = halves({80, 20}, {32, 8});
  map.interleave = Map::Interleave::B32;
  EXPECT_EQ(errorOf(map), "tensor map: interleaved layouts are not emulated; use no interleave");
}

static std::vector<TensorChunk> chunksOf(const Map &map, std::vector<int32_t> coordinates,
                                         uint64_t shared, bool isStore = false) {
  std::vector<TensorChunk> chunks;
  TensorBox(map, coordinates).forEachChunk(shared, isStore, [&](const TensorChunk &chunk) {
    chunks.push_back(chunk);
  });
  return chunks;
}

TEST(TensorMap, LoadsClipAtTheElementAndStoresAtTheChunk) {
  // Rows of 20 halves, 40 bytes: the third chunk of a row holds 4 of its 8 elements.
  Map map = halves({20, 4}, {24, 2});
  std::vector<TensorChunk> chunks = chunksOf(map, {0, 3}, 0);
  ASSERT_EQ(chunks.size(), 6u);
  EXPECT_EQ(chunks[0].global, 0x1000u + 3 * 48);
  EXPECT_EQ(chunks[1].validBytes, 16u);
  EXPECT_EQ(chunks[2].validBytes, 8u);
  EXPECT_EQ(chunks[3].validBytes, 0u) << "row 4 is outside";
  EXPECT_EQ(chunksOf(map, {0, 3}, 0, true)[2].validBytes, 16u);
  EXPECT_EQ(chunksOf(map, {-8, 0}, 0)[0].validBytes, 0u);
  EXPECT_EQ(TensorBox(map, {0, 3}).transactionBytes(), 96u);
}

TEST(TensorMap, SwizzleTakesTheAddressBits) {
  Map map = halves({64, 16}, {64, 4});
  map.swizzle = Map::Swizzle::B128;
  std::vector<TensorChunk> chunks = chunksOf(map, {0, 0}, 0x400 + 128);
  EXPECT_EQ(chunks[0].shared, 0x480u + 16) << "address bits 7-9 are 1";
  EXPECT_EQ(chunks[8].shared, 0x500u + 32);
  // A short inner box keeps the pitch of the span.
  Map narrow = halves({64, 16}, {32, 4});
  narrow.swizzle = Map::Swizzle::B128;
  EXPECT_EQ(chunksOf(narrow, {0, 0}, 0x400)[4].shared, 0x480u + 16);
  EXPECT_EQ(TensorBox(narrow, {0, 0}).sharedBytes(), 4 * 128u);
}

TEST(TensorMap, ElementStridesSkipRows) {
  Map map = halves({16, 12}, {16, 7});
  map.elementStrides[1] = 3;
  std::vector<TensorChunk> chunks = chunksOf(map, {0, 1}, 0);
  ASSERT_EQ(chunks.size(), 3u * 2);
  EXPECT_EQ(chunks[2].global, 0x1000u + 4 * 32);
  EXPECT_EQ(chunks[4].global, 0x1000u + 7 * 32);
}

TEST(TensorMap, ElementsAreConvertedAndFilled) {
  uint32_t value = 0x3f801000;
  std::array<uint8_t, 4> bytes;
  std::memcpy(bytes.data(), &value, 4);
  convertLoadedElements(Map::ElementType::TF32, bytes);
  std::memcpy(&value, bytes.data(), 4);
  EXPECT_EQ(value, 0x3f802000u);
  Map map = halves({16}, {16});
  map.fill = Map::Fill::NaN;
  fillOutside(map, bytes);
  EXPECT_EQ(bytes, (std::array<uint8_t, 4>{0xf7, 0x7f, 0xf7, 0x7f}));
}
