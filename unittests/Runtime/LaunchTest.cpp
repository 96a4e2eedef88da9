//===- LaunchTest.cpp - Variants and launch parameters --------------------===//

#include "tcc/Runtime/Launch.h"
#include "GemmKernel.h"
#include "gtest/gtest.h"

using namespace llvm;
using namespace tcc::metadata;
using namespace tcc::runtime;

namespace {

class Launch : public ::testing::Test {
protected:
  Launch() {
    kernels[0].variant = "tma";
    kernels[0].preconditions.push_back(cantFail(Expr::parse("A.stride0 * 2 % 16 == 0")));
    kernels[0].tensorMaps.push_back({"B", ElementType::F16, {1, 0}, {64, 32}, {1, 1}, 128, 256});
    kernels[1].variant = "plain";
    kernels[1].entry = "gemm_1";
  }

  void bind(int64_t m, int64_t n, int64_t k, int64_t address = 0x1000) {
    ProblemOptions options;
    options.sizes = {{"M", m}, {"N", n}, {"K", k}};
    problem = cantFail(bindProblem(kernels[0], options));
    symbols = problem.symbols;
    symbols["sm_count"] = 132;
    for (const char *name : {"A.ptr", "B.ptr", "C.ptr"})
      symbols[name] = address += 0x1000;
  }

  Expected<Selection> select(StringRef label = "") {
    return selectVariant({"gemm", {&kernels[0], &kernels[1]}}, problem, symbols, label);
  }

  Kernel kernels[2] = {makeGemm(), makeGemm()};
  Problem problem;
  SymbolTable symbols;
};

} // namespace

TEST_F(Launch, TakesTheFirstVariantThatFits) {
  bind(128, 128, 64);
  Selection selection = cantFail(select());
  EXPECT_EQ(selection.kernel, &kernels[0]);
  EXPECT_TRUE(selection.rejected.empty());
}

TEST_F(Launch, SaysWhichPreconditionFails) {
  bind(128, 128, 65);
  Selection selection = cantFail(select());
  EXPECT_EQ(selection.kernel, &kernels[1]);
  ASSERT_EQ(selection.rejected.size(), 1u);
  EXPECT_EQ(selection.rejected[0].variant, "tma");
  EXPECT_EQ(selection.rejected[0].reason, "needs A.stride0 * 2 % 16 == 0 (A.stride0 = 65)");
}

TEST_F(Launch, TensorMapsHavePreconditionsOfTheirOwn) {
  bind(128, 129, 64);
  EXPECT_EQ(cantFail(select()).rejected[0].reason,
            "tensor map of B: the row stride of 258 bytes isn't a multiple of 16 below 2^40");
  bind(128, 128, 64, 0x1008);
  EXPECT_EQ(cantFail(select()).rejected[0].reason,
            "tensor map of B: the base address 0x3008 isn't a multiple of 16");
  kernels[0].preconditions.clear();
  bind(128, 128, 0);
  EXPECT_EQ(cantFail(select()).rejected[0].reason,
            "tensor map of B: dimension 1 has the size 0, expected 1 to 2^32");
}

TEST_F(Launch, ChosenVariant) {
  bind(128, 128, 65);
  EXPECT_EQ(cantFail(select("plain")).kernel, &kernels[1]);
  EXPECT_EQ(toString(select("tma").takeError()),
            "no variant of 'gemm' can be launched here\n"
            "  tma: needs A.stride0 * 2 % 16 == 0 (A.stride0 = 65)");
  EXPECT_EQ(toString(select("wgmma").takeError()),
            "'gemm' has no variant 'wgmma', it has tma, plain");
}

TEST_F(Launch, Parameters) {
  bind(130, 256, 64);
  kernels[0].workspaceBytes = 64;
  kernels[0].dependentLaunch = true;
  LaunchPlan plan = cantFail(planLaunch(kernels[0], problem, symbols, 0x9000));
  EXPECT_TRUE(plan.dependentLaunch);
  EXPECT_EQ(plan.grid, (std::array<uint32_t, 3>{2, 2, 1}));
  std::vector<uint64_t> values;
  for (const LaunchParameter &parameter : plan.parameters)
    values.push_back(parameter.value);
  // Per argument: pointer, sizes, the stride that isn't 1; then workspace and tensor map.
  EXPECT_EQ(values, (std::vector<uint64_t>{0x2000, 130, 64, 64, 0x3000, 64, 256, 256, 0x4000, 130,
                                           256, 256, 0x9000, 0}));
  const TensorMapDescriptor &map = *plan.parameters.back().tensorMap;
  EXPECT_EQ(map.base, 0x3000u);
  EXPECT_EQ(ArrayRef<uint64_t>(map.dims), ArrayRef<uint64_t>({256, 64}));
  EXPECT_EQ(ArrayRef<uint64_t>(map.strideBytes), ArrayRef<uint64_t>({512}));
}

TEST_F(Launch, BadGrids) {
  bind(130, 256, 64);
  auto error = [&] { return toString(planLaunch(kernels[0], problem, symbols, 0).takeError()); };
  kernels[0].cluster[0] = 4;
  EXPECT_EQ(error(), "'gemm_0' needs a grid of 2 blocks along x, which its cluster of 4 doesn't "
                     "divide");
  kernels[0].grid[1] = Expr::symbol("M") * 1000;
  kernels[0].cluster[0] = 1;
  EXPECT_EQ(error(), "'gemm_0' needs a grid of 130000 blocks along y, the limit is 65535");
  kernels[0].grid[1] = Expr(1) / 0;
  EXPECT_EQ(error(), "grid of 'gemm_0': in '1 / 0': division by zero");
}
