//===- ProblemAnalysis.h - The walk that finds a problem ------------------===//

#ifndef TCC_LIB_DIALECT_TCC_TRANSFORMS_PROBLEMANALYSIS_H
#define TCC_LIB_DIALECT_TCC_TRANSFORMS_PROBLEMANALYSIS_H

#include "Problem.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace mlir::tcc {

/// The types that elementwise work and its inputs may have.
inline bool isTileElement(Type type) { return type.isF32() || type.isF16() || type.isBF16(); }

/// One walk through a function.
class ProblemAnalysis {
public:
  explicit ProblemAnalysis(func::FuncOp func) : func(func), problem(func.getLoc()) {}
  FailureOr<Problem> run();

private:
  using Kind = ProblemNode::Kind;

  // A memref value is a permutation of an argument or an allocation.
  struct View {
    Value root;
    SmallVector<unsigned, 2> rootDims; // root's dimension for each of the view's
  };

  LogicalResult checkSignature();
  LogicalResult visit(Operation &op);
  LogicalResult visitTranspose(memref::TransposeOp op);
  LogicalResult visitMatmul(linalg::LinalgOp op);
  /// Checks the op's indexing maps and types, and finds its operands.
  LogicalResult matchMatmul(linalg::LinalgOp op);
  LogicalResult visitElementwise(linalg::LinalgOp op);
  FailureOr<unsigned> readElement(linalg::LinalgOp op, OpOperand &operand);
  LogicalResult writeResults(linalg::LinalgOp op, const DenseMap<Value, unsigned> &values);
  LogicalResult visitTensorOp(Operation &op);
  FailureOr<unsigned> visitBodyOp(Operation &op, const DenseMap<Value, unsigned> &values);
  FailureOr<Problem::Operand> matmulOperand(linalg::LinalgOp op, unsigned index, unsigned outerLoop,
                                            unsigned kLoop, StringRef accepted);
  LogicalResult checkOutputs();
  LogicalResult checkOutput(BlockArgument argument, unsigned node);

  unsigned add(ProblemNode node) {
    problem.nodes.push_back(std::move(node));
    return problem.nodes.size() - 1;
  }
  unsigned addCompute(Location loc, StringRef name, ArrayRef<unsigned> operands, Type type);
  std::optional<unsigned> constant(Value value);

  /// The expression that a memref or tensor holds, over its own indices; none before any write.
  std::optional<unsigned> read(Value value);
  void write(Value value, unsigned node);
  /// `node` with axis i renamed to axisMap[i].
  unsigned substitute(unsigned node, ArrayRef<unsigned> axisMap);

  func::FuncOp func;
  Problem problem;
  bool hasMatmul = false;
  DenseMap<Value, View> views;
  DenseMap<Value, unsigned> contents;
};

} // namespace mlir::tcc

#endif // TCC_LIB_DIALECT_TCC_TRANSFORMS_PROBLEMANALYSIS_H
