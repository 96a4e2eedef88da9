//===- Evaluate.h - The reference in float64, with error bounds -*- C++ -*-===//
//
// Evaluates the header's reference over a part of the index space. Every value comes with a bound
// on how far a correct kernel may be from it (docs/Numerics.md): each node adds what its own
// rounding may lose, and passes on what its operands may be off.
//
//===----------------------------------------------------------------------===//

#ifndef TCC_RUNTIME_EVALUATE_H
#define TCC_RUNTIME_EVALUATE_H

#include "tcc/Metadata/Reference.h"
#include "tcc/Runtime/Tensor.h"
#include "llvm/ADT/StringMap.h"
#include <vector>

namespace tcc::runtime {

/// The indices at which each dimension is evaluated, ascending; dimensions not named: all.
using IndexSets = llvm::StringMap<std::vector<int64_t>>;

/// A node's values over index sets, row-major in the node's dims.
struct Tile {
  Shape shape;
  std::vector<double> values;
  std::vector<double> errors; // absolute bounds; empty: the values are exact

  double getError(size_t i) const { return errors.empty() ? 0 : errors[i]; }
};

enum class EvaluationMode : uint8_t {
  Bounded, // exact arithmetic, with bounds on the kernel's error
  Exact,   // each node rounded to its type: what a kernel gives bit for bit, where it can be said
};

class ReferenceEvaluator {
public:
  /// `dims` gives the lengths, `inputs` the arguments' values before the launch; all must outlive
  /// the evaluator. The reference has been verified.
  ReferenceEvaluator(const metadata::Reference &reference, const llvm::StringMap<int64_t> &dims,
                     const llvm::StringMap<const HostTensor *> &inputs, EvaluationMode mode)
      : reference(reference), dims(dims), inputs(inputs), mode(mode) {}

  /// May be called from several threads at once. In mode Exact, returns nothing where the result of
  /// some matmul depends on the order of summation.
  std::optional<Tile> evaluate(unsigned node, const IndexSets &sets) const;

private:
  int64_t getExtent(const std::string &dim, const IndexSets &sets) const;
  Tile evaluateInput(const metadata::RefNode &node, const IndexSets &sets) const;

  const metadata::Reference &reference;
  const llvm::StringMap<int64_t> &dims;
  const llvm::StringMap<const HostTensor *> &inputs;
  EvaluationMode mode;
};

/// Whether every operator below `node` is one whose result is fixed to the bit, given exact sums.
bool isExactlyDefined(const metadata::Reference &reference, unsigned node);

/// Multiply-adds of all matmuls.
double countMultiplyAdds(const metadata::Reference &reference,
                         const llvm::StringMap<int64_t> &dims);

} // namespace tcc::runtime

#endif // TCC_RUNTIME_EVALUATE_H
