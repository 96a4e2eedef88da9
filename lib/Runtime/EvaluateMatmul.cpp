//===- EvaluateMatmul.cpp - Matrix products of the reference --------------===//
//
// Any contraction becomes a batch of matrix products: dimensions that both operands and the result
// have are the batch, those of one operand and the result are rows (lhs) or columns (rhs), those
// that the result lacks are summed over.
//
//===----------------------------------------------------------------------===//

#include "EvaluateNodes.h"
#include "tcc/Runtime/Element.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>

using namespace llvm;
using namespace tcc::metadata;

namespace tcc::runtime {
namespace {

/// A group of dimensions walked as one, row-major.
struct DimGroup {
  SmallVector<std::string, 4> dims;
  Shape lengths;

  void add(const std::string &dim, int64_t length) {
    dims.push_back(dim);
    lengths.push_back(length);
  }
  int64_t size() const {
    int64_t product = 1;
    for (int64_t length : lengths)
      product *= length;
    return product;
  }
  /// Where each point of the group lies in something that moves by these steps.
  std::vector<int64_t> getOffsets(ArrayRef<int64_t> steps) const {
    std::vector<int64_t> offsets = {0};
    for (auto [length, step] : zip(lengths, steps)) {
      std::vector<int64_t> next;
      next.reserve(offsets.size() * length);
      for (int64_t offset : offsets)
        for (int64_t i = 0; i < length; ++i)
          next.push_back(offset + i * step);
      offsets = std::move(next);
    }
    return offsets;
  }
};

/// One operand in panels, and sums over k that bound what a product can lose.
struct Packed {
  std::vector<double> values;
  std::vector<double> squares; // per row or column: sum of x²
  std::vector<double> fourths; // and of x⁴
  bool integers = true;
};

/// `lines` are the offsets of rows (lhs) or columns (rhs), `depth` those along k.
template <typename Transform>
Packed pack(const double *source, ArrayRef<int64_t> lines, ArrayRef<int64_t> depth, int64_t panel,
            Transform transform) {
  Packed packed;
  int64_t padded = alignTo(lines.size(), panel), k = depth.size();
  packed.values.assign(padded * k, 0.0);
  packed.squares.assign(padded, 0.0);
  packed.fourths.assign(padded, 0.0);
  for (auto [line, offset] : enumerate(lines)) {
    double *out = packed.values.data() + line / panel * panel * k + line % panel;
    for (int64_t p = 0; p < k; ++p) {
      double value = transform(source[offset + depth[p]]);
      double square = value * value;
      out[p * panel] = value;
      packed.squares[line] += square;
      packed.fourths[line] += square * square;
      packed.integers &= value == std::rint(value);
    }
  }
  return packed;
}

Packed pack(ArrayRef<double> source, int64_t base, ArrayRef<int64_t> lines, ArrayRef<int64_t> depth,
            int64_t panel, bool absolute = false) {
  if (absolute)
    return pack(source.data() + base, lines, depth, panel, [](double x) { return std::fabs(x); });
  return pack(source.data() + base, lines, depth, panel, [](double x) { return x; });
}

/// What one multiply-add may lose, relative to the running sum (docs/Numerics.md).
double getUnit(ElementType accumulator) {
  switch (accumulator) {
  case ElementType::F64:
    return 0x1p-53;
  case ElementType::F16:
    return 0x1p-13; // half an ulp of f16 for every 4 products
  case ElementType::BF16:
    return 0x1p-10;
  default:
    return isFloat(accumulator) ? 9.0 / 16 * 0x1p-23 : 0;
  }
}

/// Integers up to here are exact in the accumulator, whatever the order of summation.
double getExactLimit(ElementType accumulator) {
  switch (accumulator) {
  case ElementType::F16:
    return 0x1p11;
  case ElementType::BF16:
    return 0x1p8;
  case ElementType::F64:
  case ElementType::I64:
    return 0x1p53;
  case ElementType::I32:
    return 0x1p31 - 1;
  default:
    return 0x1p24;
  }
}

class MatmulEvaluator {
public:
  MatmulEvaluator(const RefNode &node, ArrayRef<Operand> operands, ArrayRef<std::string> contracted,
                  ArrayRef<int64_t> lengths, Tile &out)
      : node(node), lhs(operands[0]), rhs(operands[1]), out(out) {
    for (auto [dim, length] : zip(contracted, lengths))
      summed.add(dim, length);
    for (auto [dim, length] : zip(node.dims, out.shape)) {
      bool inLhs = is_contained(lhs.dims, dim), inRhs = is_contained(rhs.dims, dim);
      (inLhs && inRhs ? batch : inLhs ? rows : columns).add(dim, length);
    }
    if (operands.size() == 3)
      init = operands[2];
  }

  bool evaluate(EvaluationMode mode) {
    out.values.assign(size(out), 0.0);
    if (mode == EvaluationMode::Bounded)
      out.errors.assign(out.values.size(), 0.0);
    auto offsets = [](const DimGroup &group, const Operand &operand) {
      return group.getOffsets(getSteps(operand, group.dims));
    };
    Operand result = {&out, node.dims};
    std::vector<int64_t> lhsBatch = offsets(batch, lhs), rhsBatch = offsets(batch, rhs);
    std::vector<int64_t> outBatch = offsets(batch, result);
    lhsRows = offsets(rows, lhs);
    rhsColumns = offsets(columns, rhs);
    lhsDepth = offsets(summed, lhs);
    rhsDepth = offsets(summed, rhs);
    outRows = offsets(rows, result);
    outColumns = offsets(columns, result);
    if (init) {
      initRows = offsets(rows, *init);
      initColumns = offsets(columns, *init);
      initBatch = offsets(batch, *init);
    }
    for (size_t i = 0; i < outBatch.size(); ++i)
      if (!evaluateBatch(lhsBatch[i], rhsBatch[i], outBatch[i], init ? initBatch[i] : 0, mode))
        return false;
    return true;
  }

private:
  static int64_t size(const Tile &tile) {
    int64_t product = 1;
    for (int64_t length : tile.shape)
      product *= length;
    return product;
  }

  bool evaluateBatch(int64_t lhsBase, int64_t rhsBase, int64_t outBase, int64_t initBase,
                     EvaluationMode mode) {
    int64_t m = alignTo(lhsRows.size(), gemmRows), n = alignTo(rhsColumns.size(), gemmColumns);
    Packed a = pack(lhs.tile->values, lhsBase, lhsRows, lhsDepth, gemmRows);
    Packed b = pack(rhs.tile->values, rhsBase, rhsColumns, rhsDepth, gemmColumns);
    std::vector<double> sums(m * n, 0.0), initErrors;
    if (init)
      loadInit(initBase, n, sums, initErrors);
    std::vector<double> largest(m * n);
    for (int64_t i = 0; i < m * n; ++i)
      largest[i] = std::fabs(sums[i]);
    if (mode == EvaluationMode::Exact && !isExact(a, b, largest, n))
      return false;
    gemm(m, n, lhsDepth.size(), a.values.data(), b.values.data(), sums.data(), largest.data());
    std::vector<double> passedOn;
    if (mode == EvaluationMode::Bounded)
      passedOn = getPassedOnErrors(lhsBase, rhsBase, m, n);
    for (size_t i = 0; i < outRows.size(); ++i)
      for (size_t j = 0; j < outColumns.size(); ++j) {
        size_t at = i * n + j;
        size_t to = outBase + outRows[i] + outColumns[j];
        out.values[to] = mode == EvaluationMode::Exact ? roundTo(node.type, sums[at]) : sums[at];
        if (mode == EvaluationMode::Bounded)
          out.errors[to] = getOwnError(a.fourths[i], b.fourths[j], largest[at]) +
                           (passedOn.empty() ? 0 : passedOn[at]) +
                           (initErrors.empty() ? 0 : initErrors[at]);
      }
    return true;
  }

  void loadInit(int64_t base, int64_t n, std::vector<double> &sums,
                std::vector<double> &errors) const {
    if (!init->tile->errors.empty())
      errors.assign(sums.size(), 0.0);
    for (size_t i = 0; i < initRows.size(); ++i)
      for (size_t j = 0; j < initColumns.size(); ++j) {
        int64_t from = base + initRows[i] + initColumns[j];
        sums[i * n + j] = init->tile->values[from];
        if (!errors.empty())
          errors[i * n + j] = init->tile->errors[from];
      }
  }

  /// Sums of integers are exact if the sum of magnitudes is; by Cauchy-Schwarz that is at most the
  /// product of the norms.
  bool isExact(const Packed &a, const Packed &b, ArrayRef<double> start, int64_t n) const {
    if (!a.integers || !b.integers)
      return false;
    double limit = getExactLimit(node.type);
    for (size_t i = 0; i < outRows.size(); ++i)
      for (size_t j = 0; j < outColumns.size(); ++j) {
        double before = start[i * n + j];
        if (before != std::rint(before) || std::sqrt(a.squares[i] * b.squares[j]) + before > limit)
          return false;
      }
    return true;
  }

  /// K multiply-adds, each losing up to a unit of the running sum. How large that gets depends on
  /// the order of summation: `largest` is what ascending order gives, and another order strays from
  /// it by some sqrt(Σ a²b²), which sqrt(sqrt(Σ a⁴ Σ b⁴)) bounds.
  double getOwnError(double lhsFourths, double rhsFourths, double largest) const {
    double stray = std::sqrt(std::sqrt(lhsFourths * rhsFourths));
    double k = lhsDepth.size();
    return k * getUnit(node.type) * (largest + 2.5 * stray) + k * 0x1p-149;
  }

  /// Σ |a|·eb + ea·(|b| + eb); empty where both operands are exact.
  std::vector<double> getPassedOnErrors(int64_t lhsBase, int64_t rhsBase, int64_t m,
                                        int64_t n) const {
    std::vector<double> sums, unused;
    auto add = [&](const Packed &a, const Packed &b) {
      sums.resize(m * n, 0.0);
      unused.resize(m * n, 0.0);
      gemm(m, n, lhsDepth.size(), a.values.data(), b.values.data(), sums.data(), unused.data());
    };
    ArrayRef<double> lhsErrors = lhs.tile->errors, rhsErrors = rhs.tile->errors;
    Packed absB;
    if (!lhsErrors.empty())
      absB = pack(rhs.tile->values, rhsBase, rhsColumns, rhsDepth, gemmColumns, true);
    if (!rhsErrors.empty()) {
      Packed errorsB = pack(rhsErrors, rhsBase, rhsColumns, rhsDepth, gemmColumns);
      add(pack(lhs.tile->values, lhsBase, lhsRows, lhsDepth, gemmRows, true), errorsB);
      for (size_t i = 0; i < absB.values.size(); ++i)
        absB.values[i] += errorsB.values[i];
    }
    if (!lhsErrors.empty())
      add(pack(lhsErrors, lhsBase, lhsRows, lhsDepth, gemmRows), absB);
    return sums;
  }

  const RefNode &node;
  Operand lhs, rhs;
  std::optional<Operand> init;
  Tile &out;
  DimGroup batch, rows, columns, summed;
  std::vector<int64_t> lhsRows, rhsColumns, lhsDepth, rhsDepth, outRows, outColumns;
  std::vector<int64_t> initRows, initColumns, initBatch;
};

} // namespace

bool evaluateMatmul(const RefNode &node, ArrayRef<Operand> operands,
                    ArrayRef<std::string> contracted, ArrayRef<int64_t> lengths,
                    EvaluationMode mode, Tile &out) {
  return MatmulEvaluator(node, operands, contracted, lengths, out).evaluate(mode);
}

} // namespace tcc::runtime
