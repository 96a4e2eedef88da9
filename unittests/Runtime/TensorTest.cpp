//===- TensorTest.cpp - Layouts and host memory ---------------------------===//

#include "tcc/Runtime/Tensor.h"
#include "gtest/gtest.h"

using namespace llvm;
using namespace tcc::runtime;

using Runs = std::vector<std::pair<int64_t, int64_t>>;

static Runs runsOf(const TensorLayout &layout) {
  Runs runs;
  forEachRun(layout, [&](int64_t offset, int64_t count) { runs.push_back({offset, count}); });
  return runs;
}

TEST(Tensor, RunsOfRowMajor) {
  EXPECT_EQ(runsOf({ElementType::F32, {2, 3}, {8, 1}}), (Runs{{0, 3}, {8, 3}}));
}

TEST(Tensor, RunsOfColumnMajor) {
  EXPECT_EQ(runsOf({ElementType::F32, {3, 2}, {1, 5}}), (Runs{{0, 3}, {5, 3}}));
}

TEST(Tensor, DenseIsOneRun) {
  EXPECT_EQ(runsOf(makeDenseLayout(ElementType::F32, {4, 3, 2})), (Runs{{0, 24}}));
}

TEST(Tensor, StridedElements) {
  EXPECT_EQ(runsOf({ElementType::F32, {3}, {4}}), (Runs{{0, 1}, {4, 1}, {8, 1}}));
}

TEST(Tensor, EmptyHasNoRun) {
  EXPECT_EQ(runsOf({ElementType::F32, {2, 0}, {8, 1}}), Runs{});
  EXPECT_EQ(TensorLayout({ElementType::F32, {2, 0}, {8, 1}}).getSpan(), 0);
}

TEST(Tensor, RankZeroIsOneElement) {
  EXPECT_EQ(runsOf(makeDenseLayout(ElementType::F32, {})), (Runs{{0, 1}}));
}

TEST(Tensor, Span) { EXPECT_EQ(TensorLayout({ElementType::F16, {2, 3}, {8, 1}}).getSpan(), 11); }

TEST(Tensor, VerifyLayout) {
  auto errorOf = [](TensorLayout layout) {
    Error error = verifyLayout(layout);
    return error ? toString(std::move(error)) : "";
  };
  EXPECT_EQ(errorOf({ElementType::F16, {2, 3}, {8, 1}}), "");
  EXPECT_EQ(errorOf({ElementType::F16, {2, 3}, {2, 1}}),
            "stride 2 of dimension 0 makes elements overlap, expected at least 3");
  EXPECT_EQ(errorOf({ElementType::F16, {-2, 3}, {8, 1}}),
            "sizes and strides must not be negative, found size -2 and stride 8");
  EXPECT_EQ(errorOf(makeDenseLayout(ElementType::F16, {int64_t(1) << 40, 1 << 20})),
            "more than 2^47 bytes");
  EXPECT_EQ(errorOf({ElementType::F16, {int64_t(1) << 62, 3}, {int64_t(1) << 62, 1}}),
            "the size doesn't fit in 64 bits");
  EXPECT_EQ(errorOf({ElementType::F16, {2}, {1}, -1}), "the offset -1 is out of range");
  EXPECT_EQ(errorOf(makeDenseLayout(ElementType::F16, {24, 0})), "");
}

TEST(Tensor, TooLargeForTheMachine) {
  Expected<HostTensor> tensor =
      HostTensor::create(makeDenseLayout(ElementType::F16, {int64_t(1) << 45}), 0);
  ASSERT_FALSE(bool(tensor));
  EXPECT_NE(toString(tensor.takeError()).find("of host memory, this machine has"),
            std::string::npos);
}

TEST(Tensor, FingerprintIgnoresStrides) {
  HostTensor dense = cantFail(HostTensor::create(makeDenseLayout(ElementType::I8, {2, 3}), 0));
  HostTensor padded = cantFail(HostTensor::create({ElementType::I8, {2, 3}, {1, 7}, 2}, 64));
  for (int64_t i = 0; i < 6; ++i)
    *dense.getElement(i) = *padded.getElement(i / 3 + i % 3 * 7) = i;
  EXPECT_EQ(fingerprint(dense), fingerprint(padded));
  std::swap(*dense.getElement(1), *dense.getElement(2));
  EXPECT_NE(fingerprint(dense), fingerprint(padded));
}

TEST(Tensor, GuardsAndOffset) {
  HostTensor tensor = cantFail(HostTensor::create({ElementType::F16, {2, 3}, {8, 1}, 5}, 256));
  EXPECT_EQ(tensor.getBytes().size(), size_t(2 * 256 + 2 * (5 + 11)));
  EXPECT_EQ(tensor.getBaseOffset(), 256 + 10);
  EXPECT_EQ(tensor.getElement(8) - tensor.getBytes().data(), 256 + 10 + 16);
}
