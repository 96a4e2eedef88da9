//===- TensorCoreModelTest.cpp --------------------------------------------===//
//
// Dot products whose bits tell one generation of tensor cores from the next, worked out by hand.
//
//===----------------------------------------------------------------------===//

#include "Emulator/TensorCoreModel.h"

#include "gtest/gtest.h"

#include <vector>

using namespace tcc::emulator;

namespace {

constexpr unsigned V100 = 70, T4 = 75, A100 = 80, Ada = 89, H200 = 90, B200 = 100, RTX = 120;

uint32_t bits(float value) { return bitCast<uint32_t>(value); }

const FloatFormat &formatOf(MatrixType type) {
  switch (type) {
  case MatrixType::BF16:
    return formats::BF16;
  case MatrixType::E4M3:
    return formats::E4M3;
  case MatrixType::TF32:
    return formats::F32;
  default:
    return formats::F16;
  }
}

/// One element of a product with `depth` terms: those given as k -> (a, b), the others 0.
struct Terms {
  unsigned depth;
  std::vector<std::array<double, 3>> list;
};

uint32_t dot(unsigned chip, MatrixType type, const Terms &terms, float c = 0,
             MatrixInstruction instruction = MatrixInstruction::Mma) {
  std::vector<uint32_t> a(terms.depth), b(terms.depth);
  for (const auto &[k, x, y] : terms.list) {
    a[unsigned(k)] = encode(formatOf(type), x, Rounding::NearestEven);
    b[unsigned(k)] = encode(formatOf(type), y, Rounding::NearestEven);
  }
  const TensorCoreModel &model = tensorCoreModel(chip);
  DecodedMatrix left, right;
  if (isFloat8(type) && model.runsFloat8AsHalf()) {
    left.assignFloat8AsHalf(type, a, 1, terms.depth);
    right.assignFloat8AsHalf(type, b, 1, terms.depth);
  } else {
    left.assign(type, a, 1, terms.depth);
    right.assign(type, b, 1, terms.depth);
  }
  uint32_t addend = bits(c), result = 0;
  multiplyFloat(blockRule(model, instruction, type, terms.depth, false), left, right, formats::F32,
                addend, result, 1, 1);
  return result;
}

/// 1 + 2^exponent - 1 in one block: what is left of the small term.
Terms besideOne(int exponent) {
  return {4, {{0, 1, 1}, {1, std::ldexp(1, exponent + 12), 0x1p-12}, {2, -1, 1}}};
}

/// 1 - 1 at the front, 2^-26 at place k: lost if k is in the block of the ones.
Terms smallAt(unsigned k, unsigned depth) {
  return {depth, {{0, 1, 1}, {1, -1, 1}, {double(k), 0x1p-13, 0x1p-13}}};
}

TEST(TensorCoreModel, BitsBelowTheLargestExponent) {
  EXPECT_EQ(dot(V100, MatrixType::F16, besideOne(-23)), bits(0x1p-23f));
  EXPECT_EQ(dot(V100, MatrixType::F16, besideOne(-24)), 0u);
  for (unsigned chip : {T4, A100, Ada}) {
    EXPECT_EQ(dot(chip, MatrixType::F16, besideOne(-24)), bits(0x1p-24f)) << chip;
    EXPECT_EQ(dot(chip, MatrixType::F16, besideOne(-25)), 0u) << chip;
  }
  for (unsigned chip : {H200, B200, RTX}) {
    EXPECT_EQ(dot(chip, MatrixType::F16, besideOne(-25)), bits(0x1p-25f)) << chip;
    EXPECT_EQ(dot(chip, MatrixType::F16, besideOne(-26)), 0u) << chip;
  }
}

TEST(TensorCoreModel, HalfProductsInOneBlock) {
  EXPECT_EQ(dot(V100, MatrixType::F16, smallAt(3, 16)), 0u);
  EXPECT_EQ(dot(V100, MatrixType::F16, smallAt(4, 16)), bits(0x1p-26f));
  EXPECT_EQ(dot(T4, MatrixType::F16, smallAt(7, 8)), 0u);
  EXPECT_EQ(dot(T4, MatrixType::F16, smallAt(8, 16)), bits(0x1p-26f));
  for (MatrixType type : {MatrixType::F16, MatrixType::BF16}) {
    for (unsigned chip : {A100, Ada}) {
      EXPECT_EQ(dot(chip, type, smallAt(7, 16)), 0u) << chip;
      EXPECT_EQ(dot(chip, type, smallAt(8, 16)), bits(0x1p-26f)) << chip;
    }
    for (unsigned chip : {H200, B200, RTX})
      EXPECT_EQ(dot(chip, type, smallAt(15, 16)), 0u) << chip;
  }
}

TEST(TensorCoreModel, TF32ProductsInOneBlock) {
  auto wmma = MatrixInstruction::Wmma;
  EXPECT_EQ(dot(A100, MatrixType::TF32, smallAt(3, 8)), 0u);
  EXPECT_EQ(dot(A100, MatrixType::TF32, smallAt(4, 8)), bits(0x1p-26f));
  EXPECT_EQ(dot(H200, MatrixType::TF32, smallAt(7, 8)), 0u);
  EXPECT_EQ(dot(H200, MatrixType::TF32, smallAt(4, 8), 0, wmma), bits(0x1p-26f));
  EXPECT_EQ(dot(B200, MatrixType::TF32, smallAt(7, 8), 0, wmma), 0u);
}

TEST(TensorCoreModel, Float8) {
  // 1 + 2^-14: Ada keeps 13 bits, the others all.
  Terms small = {32, {{0, 1, 1}, {1, 0x1p-7, 0x1p-7}}};
  EXPECT_EQ(dot(Ada, MatrixType::E4M3, small), bits(1));
  EXPECT_EQ(dot(H200, MatrixType::E4M3, small), bits(1 + 0x1p-14f));
  EXPECT_EQ(dot(RTX, MatrixType::E4M3, small), bits(1 + 0x1p-14f));

  // 2^8 - 2^8 + 2^-14: Ada's block is half of k32.
  auto cancelling = [](double k) -> Terms {
    return {32, {{0, 16, 16}, {1, -16, 16}, {k, 0x1p-7, 0x1p-7}}};
  };
  EXPECT_EQ(dot(Ada, MatrixType::E4M3, cancelling(15)), 0u);
  EXPECT_EQ(dot(Ada, MatrixType::E4M3, cancelling(16)), bits(0x1p-14f));

  // C + 1 with C = 1.5 * 2^-24: added last and rounded to nearest, or part of the block and cut.
  Terms one = {32, {{0, 1, 1}}};
  EXPECT_EQ(dot(H200, MatrixType::E4M3, one, 0x1.8p-24f), bits(1 + 0x1p-23f));
  EXPECT_EQ(dot(RTX, MatrixType::E4M3, one, 0x1.8p-24f), bits(1));
}

TEST(TensorCoreModel, ChipsBetweenGenerations) {
  EXPECT_EQ(tensorCoreModel(72).chip, V100);
  EXPECT_EQ(tensorCoreModel(86).chip, A100);
  EXPECT_EQ(tensorCoreModel(103).chip, B200);
  EXPECT_EQ(tensorCoreModel(121).chip, RTX);
}

} // namespace
