//===- EvaluateTest.cpp - The reference against values by hand ------------===//

#include "tcc/Runtime/Evaluate.h"
#include "tcc/Runtime/Element.h"
#include "gtest/gtest.h"
#include <cmath>

using namespace llvm;
using namespace tcc::metadata;
using namespace tcc::runtime;

namespace {

class Evaluate : public ::testing::Test {
protected:
  /// Adds an input with these values in row-major order, stored with the given strides.
  unsigned input(StringRef name, Dims dims, Shape shape, ArrayRef<double> values,
                 Shape strides = {}, ElementType type = ElementType::F32) {
    TensorLayout layout = makeDenseLayout(type, shape);
    if (!strides.empty())
      layout.strides = strides;
    HostTensor tensor = cantFail(HostTensor::create(layout, 0));
    TensorLayout dense = makeDenseLayout(type, shape);
    for (size_t i = 0; i < values.size(); ++i) {
      Shape index;
      for (auto [size, stride] : zip(shape, dense.strides))
        index.push_back(i / stride % size);
      encode(type, values[i], tensor.getElement(layout.getElementOffset(index)));
    }
    for (auto [dim, size] : zip(dims, shape))
      lengths[dim] = size;
    tensors[name.str()] = std::move(tensor);
    return reference.addInput(name, dims, type);
  }

  std::optional<Tile> tile(unsigned node, EvaluationMode mode, const IndexSets &sets = {}) {
    StringMap<const HostTensor *> inputs;
    for (auto &[name, tensor] : tensors)
      inputs[name] = &tensor;
    cantFail(reference.verify());
    return ReferenceEvaluator(reference, lengths, inputs, mode).evaluate(node, sets);
  }

  std::vector<double> values(unsigned node, const IndexSets &sets = {}) {
    reference.addOutput("out", node);
    return tile(node, EvaluationMode::Bounded, sets)->values;
  }

  double error(unsigned node) {
    reference.addOutput("out", node);
    return tile(node, EvaluationMode::Bounded)->errors[0];
  }

  Reference reference;
  StringMap<int64_t> lengths;
  std::map<std::string, HostTensor> tensors;
};

using Values = std::vector<double>;

} // namespace

TEST_F(Evaluate, Matmul) {
  unsigned a = input("A", {"M", "K"}, {2, 3}, {1, 2, 3, 4, 5, 6});
  unsigned b = input("B", {"K", "N"}, {3, 2}, {1, 0, 0, 1, 1, 1});
  EXPECT_EQ(values(reference.addMatmul(a, b, {"M", "N"}, ElementType::F32)),
            (Values{4, 5, 10, 11}));
}

TEST_F(Evaluate, TransposesByNameAndByStride) {
  // The same product with both operands transposed, A by its dims, B by its strides.
  unsigned a = input("A", {"K", "M"}, {3, 2}, {1, 4, 2, 5, 3, 6});
  unsigned b = input("B", {"K", "N"}, {3, 2}, {1, 0, 0, 1, 1, 1}, {1, 4});
  EXPECT_EQ(values(reference.addMatmul(a, b, {"M", "N"}, ElementType::F32)),
            (Values{4, 5, 10, 11}));
  EXPECT_EQ(values(reference.addMatmul(a, b, {"N", "M"}, ElementType::F32)),
            (Values{4, 10, 5, 11}));
}

TEST_F(Evaluate, BatchMatmulAndInit) {
  unsigned a = input("A", {"G", "M", "K"}, {2, 1, 2}, {1, 2, 3, 4});
  unsigned b = input("B", {"G", "K", "N"}, {2, 2, 1}, {1, 1, 10, 1});
  unsigned c = input("C", {"N"}, {1}, {100});
  EXPECT_EQ(values(reference.addMatmul(a, b, {"G", "M", "N"}, ElementType::F32, c)),
            (Values{103, 134}));
}

TEST_F(Evaluate, EmptySumIsZero) {
  unsigned a = input("A", {"M", "K"}, {2, 0}, {});
  unsigned b = input("B", {"K", "N"}, {0, 2}, {});
  EXPECT_EQ(values(reference.addMatmul(a, b, {"M", "N"}, ElementType::F32)), (Values{0, 0, 0, 0}));
}

TEST_F(Evaluate, Broadcast) {
  unsigned a = input("A", {"M", "N"}, {2, 2}, {1, 2, 3, 4});
  unsigned row = input("row", {"N"}, {2}, {10, 20});
  unsigned column = input("column", {"M"}, {2}, {100, 200});
  unsigned sum = reference.addElementwise(RefOp::AddF, {a, row}, {"M", "N"}, ElementType::F32);
  sum = reference.addElementwise(RefOp::AddF, {sum, column}, {"M", "N"}, ElementType::F32);
  EXPECT_EQ(values(sum), (Values{111, 122, 213, 224}));
}

TEST_F(Evaluate, PartOfTheIndexSpace) {
  unsigned a = input("A", {"M", "K"}, {3, 2}, {1, 2, 3, 4, 5, 6});
  unsigned b = input("B", {"K", "N"}, {2, 3}, {1, 10, 100, 1, 10, 100});
  unsigned product = reference.addMatmul(a, b, {"M", "N"}, ElementType::F32);
  IndexSets sets;
  sets["M"] = {0, 2};
  sets["N"] = {2};
  EXPECT_EQ(values(product, sets), (Values{300, 1100}));
}

TEST_F(Evaluate, Operators) {
  unsigned x = input("x", {}, {}, {2.5});
  unsigned y = input("y", {}, {}, {-1.5});
  auto apply = [&](RefOp op, ArrayRef<unsigned> operands) {
    return values(reference.addElementwise(op, operands, {}, ElementType::F64))[0];
  };
  EXPECT_EQ(apply(RefOp::SubF, {x, y}), 4);
  EXPECT_EQ(apply(RefOp::MulF, {x, y}), -3.75);
  EXPECT_EQ(apply(RefOp::DivF, {x, y}), 2.5 / -1.5);
  EXPECT_EQ(apply(RefOp::Fma, {x, y, x}), -1.25);
  EXPECT_EQ(apply(RefOp::MaximumF, {x, y}), 2.5);
  EXPECT_EQ(apply(RefOp::MinNumF, {x, y}), -1.5);
  EXPECT_EQ(apply(RefOp::NegF, {x}), -2.5);
  EXPECT_EQ(apply(RefOp::AbsF, {y}), 1.5);
  EXPECT_EQ(apply(RefOp::Floor, {y}), -2);
  EXPECT_EQ(apply(RefOp::Ceil, {y}), -1);
  EXPECT_EQ(apply(RefOp::Erf, {x}), std::erf(2.5));
  EXPECT_EQ(apply(RefOp::Tanh, {x}), std::tanh(2.5));
  EXPECT_EQ(apply(RefOp::Rsqrt, {x}), 1 / std::sqrt(2.5));
  EXPECT_EQ(apply(RefOp::FPToSI, {y}), -1);
  unsigned greater = reference.addCmpF("ogt", x, y, {});
  EXPECT_EQ(apply(RefOp::Select, {greater, y, x}), -1.5);
  unsigned less = reference.addCmpF("olt", x, y, {});
  EXPECT_EQ(apply(RefOp::AndI, {greater, less}), 0);
  EXPECT_EQ(apply(RefOp::OrI, {greater, less}), 1);
  EXPECT_EQ(apply(RefOp::XOrI, {greater, greater}), 0);
}

TEST_F(Evaluate, ComparisonsWithNaN) {
  unsigned x = input("x", {}, {}, {1});
  unsigned nan = reference.addConstant(std::nan(""), ElementType::F32);
  auto compare = [&](StringRef predicate, unsigned lhs, unsigned rhs) {
    return values(reference.addCmpF(predicate, lhs, rhs, {}))[0];
  };
  EXPECT_EQ(compare("une", x, nan), 1);
  EXPECT_EQ(compare("one", x, nan), 0);
  EXPECT_EQ(compare("uno", x, nan), 1);
  EXPECT_EQ(compare("ord", x, x), 1);
  EXPECT_EQ(compare("ole", x, x), 1);
  EXPECT_EQ(compare("true", x, nan), 1);
}

TEST_F(Evaluate, RoundingErrorIsHalfAnUlp) {
  unsigned x = input("x", {}, {}, {1 + 0x1p-20});
  unsigned tiny = input("y", {}, {}, {0x1p-30});
  EXPECT_EQ(error(reference.addElementwise(RefOp::TruncF, {x}, {}, ElementType::F16)), 0x1p-11);
  EXPECT_EQ(error(reference.addElementwise(RefOp::AddF, {x, tiny}, {}, ElementType::F32)), 0x1p-24);
  EXPECT_EQ(error(reference.addElementwise(RefOp::NegF, {x}, {}, ElementType::F32)), 0);
}

TEST_F(Evaluate, FunctionsMayBeSomeUlpsOff) {
  unsigned x = input("x", {}, {}, {2});
  unsigned zero = reference.addConstant(0, ElementType::F32);
  double half = halfUlp(ElementType::F32, std::exp(2));
  EXPECT_EQ(error(reference.addElementwise(RefOp::Exp, {x}, {}, ElementType::F32)), 20 * half);
  EXPECT_EQ(error(reference.addElementwise(RefOp::Log, {x}, {}, ElementType::F32)),
            16 * halfUlp(ElementType::F32, std::log(2)));
  EXPECT_EQ(error(reference.addElementwise(RefOp::Erf, {zero}, {}, ElementType::F32)), 0x1p-20);
}

TEST_F(Evaluate, ErrorsArePassedOn) {
  unsigned x = input("x", {}, {}, {1 + 0x1p-20});
  unsigned rounded = reference.addElementwise(RefOp::TruncF, {x}, {}, ElementType::F16);
  unsigned three = reference.addConstant(3, ElementType::F32);
  double product =
      error(reference.addElementwise(RefOp::MulF, {rounded, three}, {}, ElementType::F32));
  EXPECT_NEAR(product, 3 * 0x1p-11, 0x1p-22);
  // 1 ± 2^-11 compared with 1: the choice between 10 and 20 is uncertain.
  unsigned one = reference.addConstant(1, ElementType::F32);
  unsigned ten = reference.addConstant(10, ElementType::F32);
  unsigned twenty = reference.addConstant(20, ElementType::F32);
  unsigned greater = reference.addCmpF("ogt", rounded, one, {});
  EXPECT_EQ(
      error(reference.addElementwise(RefOp::Select, {greater, ten, twenty}, {}, ElementType::F32)),
      10);
  // So is whether it equals a number beside it, and what depends on that.
  unsigned beside = reference.addConstant(1 + 0x1p-12, ElementType::F32);
  unsigned equal = reference.addCmpF("oeq", rounded, beside, {});
  EXPECT_EQ(error(equal), 1);
  unsigned never = reference.addCmpF("ogt", one, ten, {});
  auto combine = [&](RefOp op) {
    return error(reference.addElementwise(op, {equal, never}, {}, ElementType::I1));
  };
  EXPECT_EQ(combine(RefOp::OrI), 1);
  EXPECT_EQ(combine(RefOp::AndI), 0);
}

TEST_F(Evaluate, UncertainDivisorHasNoBound) {
  unsigned x = input("x", {}, {}, {1 + 0x1p-20});
  unsigned rounded = reference.addElementwise(RefOp::TruncF, {x}, {}, ElementType::F16);
  unsigned one = reference.addConstant(1, ElementType::F32);
  unsigned zero = reference.addElementwise(RefOp::SubF, {rounded, one}, {}, ElementType::F32);
  EXPECT_TRUE(
      std::isinf(error(reference.addElementwise(RefOp::DivF, {one, zero}, {}, ElementType::F32))));
}

TEST_F(Evaluate, NumbersOfTheTypeAreNotRounded) {
  // Else nothing would be known about the root of a zero that may be negative.
  unsigned zero = input("x", {}, {}, {0});
  unsigned narrow = reference.addElementwise(RefOp::TruncF, {zero}, {}, ElementType::F16);
  EXPECT_EQ(error(narrow), 0);
  EXPECT_EQ(error(reference.addElementwise(RefOp::Sqrt, {narrow}, {}, ElementType::F16)), 0);
  unsigned third = input("y", {}, {}, {1.0 / 3});
  EXPECT_GT(error(reference.addElementwise(RefOp::TruncF, {third}, {}, ElementType::F16)), 0);
}

TEST_F(Evaluate, MatmulPassesOperandErrorsOn) {
  unsigned a = input("A", {"M", "K"}, {1, 2}, {1 + 0x1p-20, 1 + 0x1p-20});
  unsigned b = input("B", {"K", "N"}, {2, 1}, {3, 4});
  unsigned rounded = reference.addElementwise(RefOp::TruncF, {a}, {"M", "K"}, ElementType::F16);
  double bound = error(reference.addMatmul(rounded, b, {"M", "N"}, ElementType::F32));
  EXPECT_NEAR(bound, 7 * 0x1p-11, 1e-5);
}

TEST_F(Evaluate, ExactModeRoundsToTheType) {
  unsigned a = input("A", {"M", "K"}, {1, 2}, {2048, 1});
  unsigned b = input("B", {"K", "N"}, {2, 1}, {1, 1});
  unsigned product = reference.addMatmul(a, b, {"M", "N"}, ElementType::F32);
  unsigned rounded =
      reference.addElementwise(RefOp::TruncF, {product}, {"M", "N"}, ElementType::F16);
  reference.addOutput("out", rounded);
  std::optional<Tile> result = tile(rounded, EvaluationMode::Exact);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->values[0], 2048); // 2049 to even
  EXPECT_TRUE(result->errors.empty());
}

TEST_F(Evaluate, ExactModeRefusesInexactSums) {
  unsigned a = input("A", {"M", "K"}, {1, 1}, {0.5});
  unsigned b = input("B", {"K", "N"}, {1, 1}, {3});
  unsigned large = input("L", {"M", "K"}, {1, 1}, {0x1p23});
  unsigned fraction = reference.addMatmul(a, b, {"M", "N"}, ElementType::F32);
  unsigned overflow = reference.addMatmul(large, b, {"M", "N"}, ElementType::F32);
  reference.addOutput("out", fraction);
  EXPECT_FALSE(tile(fraction, EvaluationMode::Exact));
  EXPECT_FALSE(tile(overflow, EvaluationMode::Exact));
}

TEST_F(Evaluate, ExactlyDefined) {
  unsigned x = input("x", {}, {}, {1});
  unsigned root = reference.addElementwise(RefOp::Sqrt, {x}, {}, ElementType::F32);
  unsigned tanh = reference.addElementwise(RefOp::Tanh, {root}, {}, ElementType::F32);
  unsigned sum = reference.addElementwise(RefOp::AddF, {tanh, x}, {}, ElementType::F32);
  EXPECT_TRUE(isExactlyDefined(reference, root));
  EXPECT_FALSE(isExactlyDefined(reference, sum));
}

TEST_F(Evaluate, ApproximateFunctionsMayBeOff) {
  unsigned x = input("x", {}, {}, {0.5});
  auto apply = [&](RefOp op, SmallVector<unsigned> operands, bool approximate) {
    unsigned node = reference.addElementwise(op, operands, {}, ElementType::F32);
    reference.nodes[node].approximate = approximate;
    return node;
  };
  double tanh = error(apply(RefOp::Tanh, {x}, true));
  EXPECT_GE(tanh, std::tanh(0.5) * 0x1p-11);
  EXPECT_LT(tanh, std::tanh(0.5) * 0x1.02p-11);
  EXPECT_LT(error(apply(RefOp::Tanh, {x}, false)), 1e-6);
  unsigned quotient = apply(RefOp::DivF, {x, x}, true);
  EXPECT_EQ(error(quotient), 0x1p-20); // 8 units of 1
  EXPECT_FALSE(isExactlyDefined(reference, quotient));
  EXPECT_TRUE(isExactlyDefined(reference, apply(RefOp::DivF, {x, x}, false)));
}

TEST_F(Evaluate, LargeMatmulAgreesWithTheTextbook) {
  // More rows, columns and terms than one panel or chunk of the blocked product.
  int64_t m = 13, n = 19, k = 300;
  Values a(m * k), b(k * n), expected(m * n, 0.0);
  for (int64_t i = 0; i < m * k; ++i)
    a[i] = double(i * 7 % 11) - 5;
  for (int64_t i = 0; i < k * n; ++i)
    b[i] = double(i * 5 % 13) - 6;
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j)
      for (int64_t p = 0; p < k; ++p)
        expected[i * n + j] += a[i * k + p] * b[p * n + j];
  unsigned product =
      reference.addMatmul(input("A", {"M", "K"}, {m, k}, a), input("B", {"K", "N"}, {k, n}, b),
                          {"M", "N"}, ElementType::F32);
  EXPECT_EQ(values(product), expected);
  EXPECT_EQ(countMultiplyAdds(reference, lengths), double(m * n * k));
}
