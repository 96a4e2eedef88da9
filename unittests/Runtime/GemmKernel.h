//===- GemmKernel.h - The kernel description that tests bind ----*- C++ -*-===//

#ifndef TCC_UNITTESTS_RUNTIME_GEMMKERNEL_H
#define TCC_UNITTESTS_RUNTIME_GEMMKERNEL_H

#include "tcc/Metadata/Kernel.h"

namespace tcc::runtime {

/// C = A·B with dynamic sizes and leading dimensions, f16 to f32, in 128×128 tiles; `accumulate`
/// makes it C += A·B.
inline metadata::Kernel makeGemm(bool accumulate = false) {
  using namespace metadata;
  Kernel kernel;
  kernel.name = "gemm";
  kernel.entry = "gemm_0";
  Expr m = Expr::symbol("M"), n = Expr::symbol("N"), k = Expr::symbol("K");
  auto matrix = [](llvm::StringRef name, ElementType type, Expr rows, Expr columns,
                   Direction direction) {
    Expr stride = Expr::symbol(getStrideSymbol(name, 0));
    return Argument{name.str(), type, {rows, columns}, {stride, 1}, direction};
  };
  kernel.arguments.push_back(matrix("A", ElementType::F16, m, k, Direction::In));
  kernel.arguments.push_back(matrix("B", ElementType::F16, k, n, Direction::In));
  kernel.arguments.push_back(
      matrix("C", ElementType::F32, m, n, accumulate ? Direction::InOut : Direction::Out));
  kernel.grid = {Expr::ceilDiv(m, 128), Expr::ceilDiv(n, 128), 1};
  kernel.block = {128, 1, 1};
  Reference &reference = kernel.reference.emplace();
  unsigned a = reference.addInput("A", {"M", "K"}, ElementType::F16);
  unsigned b = reference.addInput("B", {"K", "N"}, ElementType::F16);
  std::optional<unsigned> init;
  if (accumulate)
    init = reference.addInput("C", {"M", "N"}, ElementType::F32);
  reference.addOutput("C", reference.addMatmul(a, b, {"M", "N"}, ElementType::F32, init));
  return kernel;
}

} // namespace tcc::runtime

#endif // TCC_UNITTESTS_RUNTIME_GEMMKERNEL_H
