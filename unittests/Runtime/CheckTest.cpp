//===- CheckTest.cpp - Comparing outputs ----------------------------------===//

#include "tcc/Runtime/Check.h"
#include "tcc/Runtime/Element.h"
#include "tcc/Runtime/Fill.h"
#include "gtest/gtest.h"
#include <limits>

using namespace llvm;
using namespace tcc::metadata;
using namespace tcc::runtime;

namespace {

/// y = round(x) with x in f32 and y in f16.
class Check : public ::testing::Test {
protected:
  Check() {
    unsigned input = reference.addInput("x", {"N"}, ElementType::F32);
    unsigned rounded = reference.addElementwise(RefOp::TruncF, {input}, {"N"}, ElementType::F16);
    reference.addOutput("y", rounded);
    dims["N"] = size;
    fillElements(x, Fill::Normal, 1, "x");
    poison(y);
    for (int64_t i = 0; i < size; ++i)
      encode(ElementType::F16, decode(ElementType::F32, x.getElement(i)), y.getElement(i));
  }

  CheckResult check(EvaluationMode mode = EvaluationMode::Bounded) {
    StringMap<const HostTensor *> inputs;
    inputs["x"] = &x;
    return *checkAgainstReference(reference, reference.outputs[0], dims, inputs, y, mode, 1);
  }

  static constexpr int64_t size = 5000;
  Reference reference;
  StringMap<int64_t> dims;
  HostTensor x = cantFail(HostTensor::create(makeDenseLayout(ElementType::F32, {size}), 0));
  HostTensor y = cantFail(HostTensor::create(makeDenseLayout(ElementType::F16, {size}), 64));
};

} // namespace

TEST_F(Check, RightResultPasses) {
  CheckResult bounded = check();
  EXPECT_TRUE(bounded.passed());
  EXPECT_EQ(bounded.compared, size);
  EXPECT_GT(bounded.maxAbsError, 0);
  EXPECT_GT(bounded.worstOfBound, 0.5);
  EXPECT_LE(bounded.worstOfBound, 1);
  CheckResult exact = check(EvaluationMode::Exact);
  EXPECT_TRUE(exact.passed());
  EXPECT_EQ(exact.maxAbsError, 0);
}

TEST_F(Check, OneUlpOffFails) {
  *y.getElement(4321) ^= 1;
  EXPECT_EQ(check(EvaluationMode::Exact).failures, 1);
  CheckResult bounded = check();
  EXPECT_EQ(bounded.failures, 1);
  ASSERT_EQ(bounded.first.size(), 1u);
  EXPECT_EQ(bounded.first[0].index, Shape{4321});
  EXPECT_FALSE(bounded.first[0].unwritten);
}

TEST_F(Check, UnwrittenElementsAreNamed) {
  for (int64_t i = 100; i < 120; ++i)
    y.getElement(i)[0] = y.getElement(i)[1] = poisonByte(ElementType::F16);
  CheckResult result = check();
  EXPECT_FALSE(result.passed());
  EXPECT_EQ(result.unwritten, 20);
  EXPECT_EQ(result.first.size(), 8u);
  EXPECT_EQ(result.first[0].index, Shape{100});
}

TEST_F(Check, InfinityOnlyNearOverflow) {
  encode(ElementType::F32, 65519.9, x.getElement(0));
  encode(ElementType::F16, std::numeric_limits<double>::infinity(), y.getElement(0));
  EXPECT_TRUE(check().passed());
  encode(ElementType::F32, 60000, x.getElement(0));
  EXPECT_FALSE(check().passed());
  encode(ElementType::F32, -70000, x.getElement(0));
  EXPECT_FALSE(check().passed());
}

TEST_F(Check, ExpectedValues) {
  HostTensor expected = cantFail(HostTensor::create(y.getLayout(), 0));
  for (int64_t i = 0; i < size; ++i)
    encode(ElementType::F16, decode(ElementType::F16, y.getElement(i)), expected.getElement(i));
  EXPECT_TRUE(checkAgainstExpected("y", expected, y, 0).passed());
  encode(ElementType::F16, 1, expected.getElement(7));
  encode(ElementType::F16, 1.25, y.getElement(7));
  EXPECT_FALSE(checkAgainstExpected("y", expected, y, 0).passed());
  EXPECT_TRUE(checkAgainstExpected("y", expected, y, 0.25).passed());
}

TEST(StrayWrites, GuardsAndPaddingAreCompared) {
  TensorLayout layout = {ElementType::F32, {3, 5}, {8, 1}, 1};
  HostTensor before = cantFail(HostTensor::create(layout, 256));
  poison(before);
  auto strayAfter = [&](int64_t byteFromBase) {
    HostTensor after = cantFail(HostTensor::create(layout, 256));
    poison(after);
    fillElements(after, Fill::Ones, 1, "C");
    *(after.getElement(0) + byteFromBase) ^= 0xff;
    CheckResult result;
    checkStrayWrites(before, after, result);
    return result;
  };
  EXPECT_TRUE(strayAfter(4 * 4).passed());    // the last element of row 0
  EXPECT_EQ(strayAfter(5 * 4).strayBytes, 1); // its padding
  EXPECT_EQ(strayAfter(5 * 4).firstStrayByte, 20);
  EXPECT_EQ(strayAfter(-1).strayBytes, 1);         // before the matrix
  EXPECT_EQ(strayAfter(21 * 4).strayBytes, 1);     // after its last element
  EXPECT_FALSE(strayAfter(21 * 4 + 255).passed()); // the last guard byte
}

TEST(SampleIndices, HoldsEdgesAndEveryStretch) {
  std::vector<int64_t> indices = sampleIndices(10000, 40, 1);
  EXPECT_TRUE(std::is_sorted(indices.begin(), indices.end()));
  for (int64_t index : {0, 4991, 4992, 9983, 9984, 9999})
    EXPECT_TRUE(std::binary_search(indices.begin(), indices.end(), index)) << index;
  for (size_t i = 1; i < indices.size(); ++i)
    EXPECT_LE(indices[i] - indices[i - 1], 2 * 10000 / 28);
  EXPECT_EQ(sampleIndices(5, 16, 1), (std::vector<int64_t>{0, 1, 2, 3, 4}));
}

TEST(SampledCheck, SaysSoAndFindsAWrongRow) {
  int64_t n = 300, k = 64;
  Reference reference;
  unsigned a = reference.addInput("A", {"M", "K"}, ElementType::F16);
  unsigned b = reference.addInput("B", {"K", "N"}, ElementType::F16);
  reference.addOutput("C", reference.addMatmul(a, b, {"M", "N"}, ElementType::F16));
  HostTensor left = cantFail(HostTensor::create(makeDenseLayout(ElementType::F16, {n, k}), 0));
  HostTensor right = cantFail(HostTensor::create(makeDenseLayout(ElementType::F16, {k, n}), 0));
  HostTensor out = cantFail(HostTensor::create(makeDenseLayout(ElementType::F16, {n, n}), 0));
  StringMap<int64_t> dims = {{"M", n}, {"N", n}, {"K", k}};
  *out.getElement((n - 1) * n + 123) = 1; // a subnormal in the last row
  StringMap<const HostTensor *> inputs = {{"A", &left}, {"B", &right}};
  std::optional<CheckResult> result =
      checkAgainstReference(reference, reference.outputs[0], dims, inputs, out,
                            EvaluationMode::Exact, 1, /*maxWork=*/0x1p20);
  ASSERT_TRUE(result);
  EXPECT_TRUE(result->sampled);
  EXPECT_LT(result->compared, n * n);
  EXPECT_FALSE(result->passed());
}
