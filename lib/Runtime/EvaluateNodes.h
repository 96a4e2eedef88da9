//===- EvaluateNodes.h - Evaluation of single reference nodes ---*- C++ -*-===//

#ifndef TCC_LIB_RUNTIME_EVALUATENODES_H
#define TCC_LIB_RUNTIME_EVALUATENODES_H

#include "tcc/Runtime/Evaluate.h"
#include "llvm/ADT/ArrayRef.h"

namespace tcc::runtime {

/// An operand: its values, and the names of its dimensions.
struct Operand {
  const Tile *tile;
  llvm::ArrayRef<std::string> dims;
};

/// The steps, in elements, by which each of `dims` moves within the operand; 0 where the operand
/// lacks the dimension.
Shape getSteps(const Operand &operand, llvm::ArrayRef<std::string> dims);

/// Elementwise operators and constants. `out` has its shape set.
void evaluateElementwise(const metadata::RefNode &node, llvm::ArrayRef<Operand> operands,
                         EvaluationMode mode, Tile &out);

/// `contracted` are the dimensions summed over, with their lengths. Returns false where, in mode
/// Exact, the sums may not be exact in the accumulator's type.
bool evaluateMatmul(const metadata::RefNode &node, llvm::ArrayRef<Operand> operands,
                    llvm::ArrayRef<std::string> contracted, llvm::ArrayRef<int64_t> lengths,
                    EvaluationMode mode, Tile &out);

/// c += a·b, in float64. `a` is m×k in panels of gemmRows rows, `b` k×n in panels of gemmColumns
/// columns, each panel k-major; `c` is row-major with leading dimension n. m and n are multiples of
/// the panels' sizes. Also raises each `largest[i]` to the largest |c[i]| seen on the way.
inline constexpr int64_t gemmRows = 6;
inline constexpr int64_t gemmColumns = 8;
void gemm(int64_t m, int64_t n, int64_t k, const double *a, const double *b, double *c,
          double *largest);

} // namespace tcc::runtime

#endif // TCC_LIB_RUNTIME_EVALUATENODES_H
