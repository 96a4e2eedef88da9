//===- PlantedFaultsTest.cpp - The bound lets no real fault pass ----------===//
//
// A simulated tensor core, which truncates as the hardware does, must stay within the bound at
// every K; the same result with a fault planted must not.
//
//===----------------------------------------------------------------------===//

#include "GemmKernel.h"
#include "tcc/Runtime/Check.h"
#include "tcc/Runtime/Element.h"
#include "tcc/Runtime/Fill.h"
#include "tcc/Runtime/Problem.h"
#include "gtest/gtest.h"
#include <cmath>

using namespace llvm;
using namespace tcc::metadata;
using namespace tcc::runtime;

/// One m16n8k16 step for one element: products and the old sum are cut to multiples of 2^(E-25), E
/// the largest exponent, added exactly, and the sum is cut to 24 bits.
static double addBlock(double sum, ArrayRef<double> a, ArrayRef<double> b) {
  int largest = sum != 0 ? std::ilogb(sum) : -1000;
  for (auto [x, y] : zip(a, b))
    if (x * y != 0)
      largest = std::max(largest, std::ilogb(x) + std::ilogb(y));
  auto cut = [](double value, int unit) {
    return std::ldexp(std::trunc(std::ldexp(value, -unit)), unit);
  };
  double total = cut(sum, largest - 25);
  for (auto [x, y] : zip(a, b))
    total += cut(x * y, largest - 25);
  return total == 0 ? 0 : cut(total, std::ilogb(total) - 23);
}

namespace {

constexpr int64_t rows = 16, columns = 24, slab = 16;

enum class Fault { None, LostSlab, SwappedFragments, DoubledLastSlab, OldCNotAdded };

/// C += A·B as the tensor core does it, with a fault.
class SimulatedGemm {
public:
  SimulatedGemm(int64_t k, Fill fill) : k(k), kernel(makeGemm(/*accumulate=*/true)) {
    ProblemOptions options;
    options.sizes = {{"M", rows}, {"N", columns}, {"K", k}};
    problem = cantFail(bindProblem(kernel, options));
    for (auto [argument, layout] : zip(kernel.arguments, problem.layouts)) {
      tensors.push_back(cantFail(HostTensor::create(layout, 0)));
      fillElements(tensors.back(), fill, 1, argument.name);
    }
  }

  CheckResult check(Fault fault, EvaluationMode mode) {
    HostTensor out = cantFail(HostTensor::create(problem.layouts[2], 0));
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < columns; ++j)
        encode(ElementType::F32, compute(i, j, fault), out.getElement(i * columns + j));
    StringMap<const HostTensor *> inputs;
    for (auto [argument, tensor] : zip(kernel.arguments, tensors))
      inputs[argument.name] = &tensor;
    const Reference &reference = *kernel.reference;
    return *checkAgainstReference(reference, reference.outputs[0], problem.dims, inputs, out, mode,
                                  1);
  }

private:
  double compute(int64_t i, int64_t j, Fault fault) {
    // The fragments of columns 0 … 7 and 8 … 15 change places.
    if (fault == Fault::SwappedFragments && j < 16)
      j ^= 8;
    std::vector<double> a(k), b(k);
    decode(ElementType::F16, tensors[0].getElement(i * k), 1, k, a.data());
    decode(ElementType::F16, tensors[1].getElement(j), columns, k, b.data());
    double sum = fault == Fault::OldCNotAdded
                     ? 0
                     : decode(ElementType::F32, tensors[2].getElement(i * columns + j));
    for (int64_t start = 0; start < k; start += slab) {
      ArrayRef<double> left = ArrayRef(a).slice(start, slab),
                       right = ArrayRef(b).slice(start, slab);
      if (fault == Fault::LostSlab && start == k / 2)
        continue;
      sum = addBlock(sum, left, right);
      if (fault == Fault::DoubledLastSlab && start + slab == k)
        sum = addBlock(sum, left, right);
    }
    return sum;
  }

  int64_t k;
  Kernel kernel;
  Problem problem;
  std::vector<HostTensor> tensors;
};

class PlantedFaults : public ::testing::TestWithParam<int64_t> {};

constexpr Fault faults[] = {Fault::LostSlab, Fault::SwappedFragments, Fault::DoubledLastSlab,
                            Fault::OldCNotAdded};

} // namespace

TEST_P(PlantedFaults, ExceedTheBoundOnNormalData) {
  SimulatedGemm gemm(GetParam(), Fill::Normal);
  CheckResult right = gemm.check(Fault::None, EvaluationMode::Bounded);
  EXPECT_TRUE(right.passed()) << right.worstOfBound;
  EXPECT_GT(right.worstOfBound, 0.001) << "the bound is too loose to mean much";
  for (Fault fault : faults)
    EXPECT_GT(gemm.check(fault, EvaluationMode::Bounded).failures, rows * columns / 20)
        << int(fault);
}

TEST_P(PlantedFaults, BreakEqualityOnIntegers) {
  SimulatedGemm gemm(GetParam(), Fill::Integers);
  EXPECT_TRUE(gemm.check(Fault::None, EvaluationMode::Exact).passed());
  for (Fault fault : faults)
    EXPECT_FALSE(gemm.check(fault, EvaluationMode::Exact).passed()) << int(fault);
}

INSTANTIATE_TEST_SUITE_P(K, PlantedFaults, ::testing::Values(64, 4096, 16384));
