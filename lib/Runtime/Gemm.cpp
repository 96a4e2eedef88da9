//===- Gemm.cpp - Float64 matrix product on the host ----------------------===//

#include "EvaluateNodes.h"
#include "llvm/Support/Compiler.h"
#include <cmath>
#include <cstring>

// One binary that uses the machine's vector width: GCC and clang pick the clone at load time.
#if defined(__x86_64__) && defined(__gnu_linux__)
#define TCC_VECTOR_CLONES                                                                          \
  __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define TCC_VECTOR_CLONES
#endif

namespace tcc::runtime {
namespace {

using Vector = double __attribute__((vector_size(gemmColumns * sizeof(double))));

/// One panel of a times one panel of b.
TCC_VECTOR_CLONES
void multiplyPanels(int64_t k, const double *a, const double *b, double *c, int64_t ldc) {
  Vector sum[gemmRows] = {};
  for (int64_t p = 0; p < k; ++p, a += gemmRows, b += gemmColumns) {
    Vector row;
    std::memcpy(&row, b, sizeof(row));
#pragma GCC unroll 6
    for (int64_t i = 0; i < gemmRows; ++i)
      sum[i] += a[i] * row;
  }
  for (int64_t i = 0; i < gemmRows; ++i)
    for (int64_t j = 0; j < gemmColumns; ++j)
      c[i * ldc + j] += sum[i][j];
}

} // namespace

void gemm(int64_t m, int64_t n, int64_t k, const double *a, const double *b, double *c,
          double *largest) {
  // A chunk of a b-panel, 16 KiB, stays in the first-level cache.
  constexpr int64_t chunk = 256;
  for (int64_t start = 0; start < k; start += chunk) {
    int64_t depth = std::min(chunk, k - start);
    for (int64_t j = 0; j < n; j += gemmColumns)
      for (int64_t i = 0; i < m; i += gemmRows)
        multiplyPanels(depth, a + i * k + start * gemmRows, b + j * k + start * gemmColumns,
                       c + i * n + j, n);
    for (int64_t i = 0; i < m * n; ++i)
      largest[i] = std::max(largest[i], std::fabs(c[i]));
  }
}

} // namespace tcc::runtime
