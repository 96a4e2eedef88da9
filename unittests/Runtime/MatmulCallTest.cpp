//===- MatmulCallTest.cpp - Programs that a library could run -------------===//

#include "../../lib/Runtime/MatmulCall.h"
#include "GemmKernel.h"
#include "gtest/gtest.h"

using namespace llvm;
using namespace tcc::metadata;
using namespace tcc::runtime;

static Expected<MatmulCall> describe(const Kernel &kernel) {
  ProblemOptions options;
  options.sizes = {{"M", 10}, {"N", 20}, {"K", 30}};
  options.leadingDimensions = {{"A", 32}};
  Problem problem = cantFail(bindProblem(kernel, options));
  SymbolTable symbols = problem.symbols;
  symbols["A.ptr"] = 100;
  symbols["B.ptr"] = 200;
  symbols["C.ptr"] = 300;
  symbols["bias.ptr"] = 400;
  return describeMatmul(kernel, problem, symbols);
}

static void expectShapes(const MatmulCall &call) {
  EXPECT_EQ(call.rows, 10);
  EXPECT_EQ(call.columns, 20);
  EXPECT_EQ(call.depth, 30);
  EXPECT_EQ(call.ldc, 20);
  EXPECT_EQ(call.a, 100u);
  EXPECT_EQ(call.b, 200u);
  EXPECT_EQ(call.c, 300u);
}

TEST(MatmulCall, RowMajor) {
  MatmulCall call = cantFail(describe(makeGemm()));
  expectShapes(call);
  EXPECT_TRUE(call.aIsRowMajor);
  EXPECT_TRUE(call.bIsRowMajor);
  EXPECT_EQ(call.lda, 32);
  EXPECT_EQ(call.ldb, 20);
  EXPECT_FALSE(call.accumulate);
  EXPECT_EQ(call.input, ElementType::F16);
  EXPECT_EQ(call.output, ElementType::F32);
}

TEST(MatmulCall, TransposedByDimsAndByStrides) {
  Kernel kernel = makeGemm();
  // B stored N×K, A column-major.
  std::swap(kernel.arguments[1].shape[0], kernel.arguments[1].shape[1]);
  kernel.reference->nodes[1].dims = {"N", "K"};
  kernel.arguments[0].strides = {1, Expr::symbol("A.stride1")};
  MatmulCall call = cantFail(describe(kernel));
  expectShapes(call);
  EXPECT_FALSE(call.aIsRowMajor);
  EXPECT_FALSE(call.bIsRowMajor);
  EXPECT_EQ(call.lda, 32);
  EXPECT_EQ(call.ldb, 30);
}

TEST(MatmulCall, AccumulatesAndRounds) {
  Kernel kernel = makeGemm(/*accumulate=*/true);
  EXPECT_TRUE(cantFail(describe(kernel)).accumulate);
  kernel = makeGemm();
  kernel.arguments[2].type = ElementType::F16;
  kernel.reference->outputs[0].node =
      kernel.reference->addElementwise(RefOp::TruncF, {2}, {"M", "N"}, ElementType::F16);
  EXPECT_EQ(cantFail(describe(kernel)).output, ElementType::F16);
}

/// C = f(A·B + bias), with the bias along `biasDim`, and f = `function` of the node it is given.
static Kernel makeFused(StringRef biasDim, function_ref<unsigned(Reference &, unsigned)> function) {
  Kernel kernel = makeGemm();
  Argument bias = kernel.arguments[0];
  bias.name = "bias";
  bias.type = ElementType::F16;
  bias.shape = {Expr::symbol(biasDim.str())};
  bias.strides = {1};
  kernel.arguments.push_back(bias);
  Reference &reference = *kernel.reference;
  unsigned input = reference.addInput("bias", {biasDim.str()}, ElementType::F16);
  unsigned wide = reference.addElementwise(RefOp::ExtF, {input}, {biasDim.str()}, ElementType::F32);
  unsigned sum = reference.addElementwise(RefOp::AddF, {2, wide}, {"M", "N"}, ElementType::F32);
  reference.outputs[0].node = function(reference, sum);
  return kernel;
}

static unsigned apply(Reference &reference, RefOp op, ArrayRef<unsigned> operands) {
  return reference.addElementwise(op, operands, {"M", "N"}, ElementType::F32);
}

static unsigned geluByErf(Reference &reference, unsigned x) {
  unsigned half = reference.addConstant(0.5, ElementType::F32);
  unsigned one = reference.addConstant(1, ElementType::F32);
  unsigned scale = reference.addConstant(0.70710678, ElementType::F32);
  unsigned erf = apply(reference, RefOp::Erf, {apply(reference, RefOp::MulF, {x, scale})});
  unsigned sum = apply(reference, RefOp::AddF, {one, erf});
  return apply(reference, RefOp::MulF, {apply(reference, RefOp::MulF, {x, half}), sum});
}

static unsigned geluByTanh(Reference &reference, unsigned x) {
  unsigned half = reference.addConstant(0.5, ElementType::F32);
  unsigned scale = reference.addConstant(0.79788456, ElementType::F32);
  unsigned cubic = reference.addConstant(0.044715 * 0.79788456, ElementType::F32);
  unsigned square = apply(reference, RefOp::MulF, {x, x});
  unsigned inner =
      apply(reference, RefOp::MulF, {apply(reference, RefOp::Fma, {square, cubic, scale}), x});
  unsigned tanh = apply(reference, RefOp::Tanh, {inner});
  unsigned halved = apply(reference, RefOp::MulF, {x, half});
  return apply(reference, RefOp::Fma, {halved, tanh, halved});
}

TEST(MatmulCall, BiasAndGeluHoweverWritten) {
  for (auto *gelu : {geluByErf, geluByTanh}) {
    MatmulCall call = cantFail(describe(makeFused("N", gelu)));
    expectShapes(call);
    EXPECT_EQ(call.epilogue, Epilogue::Gelu);
    EXPECT_EQ(call.bias, 400u);
    EXPECT_EQ(call.biasType, ElementType::F16);
  }
}

TEST(MatmulCall, BiasAloneAndWithRelu) {
  MatmulCall call = cantFail(describe(makeFused("N", [](Reference &, unsigned x) { return x; })));
  EXPECT_EQ(call.epilogue, Epilogue::None);
  EXPECT_EQ(call.bias, 400u);
  call = cantFail(describe(makeFused("N", [](Reference &reference, unsigned x) {
    return apply(reference, RefOp::MaximumF, {x, reference.addConstant(0, ElementType::F32)});
  })));
  EXPECT_EQ(call.epilogue, Epilogue::Relu);
}

TEST(MatmulCall, NoLibraryHasIt) {
  auto isRefused = [](const Kernel &kernel) {
    return !toString(describe(kernel).takeError()).empty();
  };
  EXPECT_TRUE(isRefused(makeFused("M", geluByErf))); // one element per row
  EXPECT_TRUE(isRefused(makeFused(
      "N", [](Reference &reference, unsigned x) { return apply(reference, RefOp::Tanh, {x}); })));
}

TEST(MatmulCall, MoreThanAMatmul) {
  Kernel kernel = makeGemm();
  kernel.reference->outputs[0].node =
      kernel.reference->addElementwise(RefOp::AbsF, {2}, {"M", "N"}, ElementType::F32);
  EXPECT_EQ(toString(describe(kernel).takeError()),
            "--vs=cublaslt compares programs that are one matmul of two matrices, with a row-major "
            "result, and a bias of one element per column, ReLU or GELU after it");
}
