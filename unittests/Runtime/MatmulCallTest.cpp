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

TEST(MatmulCall, MoreThanAMatmul) {
  Kernel kernel = makeGemm();
  kernel.reference->outputs[0].node =
      kernel.reference->addElementwise(RefOp::AbsF, {2}, {"M", "N"}, ElementType::F32);
  EXPECT_EQ(toString(describe(kernel).takeError()),
            "--vs=cublaslt compares programs that are one matmul of two matrices, with a row-major "
            "result");
}
