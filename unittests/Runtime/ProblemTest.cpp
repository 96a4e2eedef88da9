//===- ProblemTest.cpp - Binding a kernel's symbols -----------------------===//

#include "tcc/Runtime/Problem.h"
#include "GemmKernel.h"
#include "gtest/gtest.h"

using namespace llvm;
using namespace tcc::metadata;
using namespace tcc::runtime;

static ProblemOptions makeOptions(StringMap<int64_t> sizes, StringMap<int64_t> leading = {}) {
  ProblemOptions options;
  options.sizes = std::move(sizes);
  options.leadingDimensions = std::move(leading);
  return options;
}

static std::string bindError(const Kernel &kernel, const ProblemOptions &options) {
  Expected<Problem> problem = bindProblem(kernel, options);
  return problem ? "" : toString(problem.takeError());
}

static const StringMap<int64_t> sizes = {{"M", 10}, {"N", 20}, {"K", 30}};

TEST(Problem, DenseByDefault) {
  Problem problem = cantFail(bindProblem(makeGemm(), makeOptions(sizes)));
  EXPECT_EQ(problem.layouts[0].shape, (Shape{10, 30}));
  EXPECT_EQ(problem.layouts[0].strides, (Shape{30, 1}));
  EXPECT_EQ(problem.symbols.lookup("C.stride0"), 20);
  EXPECT_EQ(problem.symbols.lookup("A.size1"), 30);
  EXPECT_EQ(problem.dims.lookup("K"), 30);
  EXPECT_FALSE(problem.empty);
}

TEST(Problem, LeadingDimensionOfEitherOrder) {
  Kernel kernel = makeGemm();
  kernel.arguments[1].strides = {1, Expr::symbol("B.stride1")}; // column-major
  Problem problem = cantFail(bindProblem(kernel, makeOptions(sizes, {{"A", 32}, {"B", 31}})));
  EXPECT_EQ(problem.layouts[0].strides, (Shape{32, 1}));
  EXPECT_EQ(problem.layouts[1].strides, (Shape{1, 31}));
}

TEST(Problem, BatchDimensionFollowsTheLeadingOne) {
  Kernel kernel = makeGemm();
  kernel.reference.reset();
  kernel.arguments[0].shape = {4, Expr::symbol("M"), Expr::symbol("K")};
  kernel.arguments[0].strides = {Expr::symbol("A.stride0"), Expr::symbol("A.stride1"), 1};
  Problem problem = cantFail(bindProblem(kernel, makeOptions(sizes, {{"A", 32}})));
  EXPECT_EQ(problem.layouts[0].strides, (Shape{320, 32, 1}));
}

TEST(Problem, EmptyOutput) {
  EXPECT_TRUE(cantFail(bindProblem(makeGemm(), makeOptions({{"M", 0}, {"N", 2}, {"K", 3}}))).empty);
  EXPECT_FALSE(
      cantFail(bindProblem(makeGemm(), makeOptions({{"M", 1}, {"N", 2}, {"K", 0}}))).empty);
}

TEST(Problem, BadSizes) {
  EXPECT_EQ(bindError(makeGemm(), makeOptions({{"M", 1}})),
            "'gemm' needs the size of K, N: give --size K=…,N=…");
  EXPECT_EQ(bindError(makeGemm(), makeOptions({{"M", 1}, {"N", -2}, {"K", 1}})),
            "--size N=-2: expected a size from 0 up");
  EXPECT_EQ(bindError(makeGemm(), makeOptions({{"M", 1}, {"N", 1}, {"K", 1}, {"Q", 1}})),
            "--size Q: 'gemm' has no such size, its dynamic sizes are: M, K, N");
  int64_t huge = int64_t(1) << 40;
  EXPECT_EQ(bindError(makeGemm(), makeOptions({{"M", huge}, {"N", 1}, {"K", huge}})),
            "argument 'A': the size doesn't fit in 64 bits");
  EXPECT_EQ(bindError(makeGemm(), makeOptions({{"M", huge}, {"N", 1}, {"K", 1000}})),
            "argument 'A': more than 2^47 bytes");
}

TEST(Problem, SizeOfStaticDimension) {
  Kernel kernel = makeGemm();
  for (Argument &argument : kernel.arguments)
    for (Expr &size : argument.shape)
      size = 64;
  EXPECT_EQ(bindError(kernel, makeOptions({{"M", 64}})), "");
  EXPECT_EQ(bindError(kernel, makeOptions({{"M", 65}})),
            "--size M: M is static in 'gemm', its size is 64; compile the program with dynamic "
            "sizes to choose it here");
}

TEST(Problem, BadLeadingDimensions) {
  EXPECT_EQ(bindError(makeGemm(), makeOptions(sizes, {{"A", 29}})),
            "argument 'A': stride 29 of dimension 0 makes elements overlap, expected at least 30");
  EXPECT_EQ(bindError(makeGemm(), makeOptions(sizes, {{"D", 29}})),
            "'gemm' has no argument 'D', it has A, B, C");
  Kernel fixed = makeGemm();
  fixed.arguments[0].strides[0] = Expr::symbol("K");
  EXPECT_EQ(bindError(fixed, makeOptions(sizes, {{"A", 32}})),
            "argument 'A': --ld A: its strides are fixed by the kernel; a memref of layout "
            "strided<[?, 1]> would leave them open");
}

TEST(Problem, InfersSizesFromShapes) {
  StringMap<int64_t> inferred;
  EXPECT_FALSE(bool(inferSizes(makeGemm(), "A", {10, 30}, inferred)));
  EXPECT_EQ(inferred.lookup("K"), 30);
  EXPECT_EQ(toString(inferSizes(makeGemm(), "B", {31, 20}, inferred)),
            "'B' has K = 31, but K is 30");
  EXPECT_EQ(toString(inferSizes(makeGemm(), "B", {30}, inferred)), "'B' has 2 dimensions, found 1");
}

TEST(Problem, BindsToMatricesThatAreThere) {
  TensorLayout a = {ElementType::F32, {10, 30}, {32, 1}}, b = {ElementType::F32, {30, 20}, {20, 1}},
               c = {ElementType::F32, {10, 20}, {24, 1}};
  Problem problem = cantFail(bindLayouts(makeGemm(), {a, b, c}));
  EXPECT_EQ(problem.layouts[0].type, ElementType::F16);
  EXPECT_EQ(problem.symbols.lookup("M"), 10);
  EXPECT_EQ(problem.symbols.lookup("C.stride0"), 24);
  auto error = [](ArrayRef<TensorLayout> layouts) {
    return toString(bindLayouts(makeGemm(), layouts).takeError());
  };
  EXPECT_EQ(error({a, b}), "'gemm' takes 3 matrices (A, B, C), found 2");
  b.shape[0] = 31;
  EXPECT_EQ(error({a, b, c}), "'B' has K = 31, but K is 30");
  b = {ElementType::F32, {30, 20}, {1, 30}};
  EXPECT_EQ(error({a, b, c}), "stride of 'B' in dimension 1 is 30, the kernel expects 1");
}

TEST(Problem, SelectsPrograms) {
  std::vector<Kernel> kernels = {makeGemm(), makeGemm(), makeGemm()};
  kernels[2].name = "other";
  EXPECT_EQ(cantFail(selectProgram(kernels, "gemm")).variants.size(), 2u);
  EXPECT_EQ(toString(selectProgram(kernels, "").takeError()),
            "several kernels, choose one by --kernel: gemm, other");
  EXPECT_EQ(toString(selectProgram(kernels, "sum").takeError()),
            "no kernel 'sum', there is gemm, other");
  kernels[1].entry = "gemm_1";
  kernels[1].arguments[0].type = ElementType::BF16;
  EXPECT_EQ(toString(selectProgram(kernels, "gemm").takeError()),
            "the variants 'gemm_0' and 'gemm_1' of 'gemm' differ in their arguments");
}
