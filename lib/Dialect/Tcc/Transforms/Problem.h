//===- Problem.h - What a kernel on memrefs computes ----------------------===//
//
// A kernel of level L0 is a sequence of linalg ops that write memrefs or make tensors.
// Problem::analyze runs through it symbolically: each buffer and tensor holds an expression for its
// element at (i0, i1, …), and each op replaces the expressions that it writes. What remains at the
// end, for each argument that was written, is one expression over the product of two arguments,
// other inputs and constants:
//
//   linalg.fill 0 -> %C; linalg.matmul %A, %B -> %C; linalg.generic (%C + %bias[n]) -> %C
//   C[m, n] = addf(product[m, n], bias[n])
//
// Temporaries, order of ops, named or generic forms, memref or tensor semantics leave no trace.
//
//===----------------------------------------------------------------------===//

#ifndef TCC_LIB_DIALECT_TCC_TRANSFORMS_PROBLEM_H
#define TCC_LIB_DIALECT_TCC_TRANSFORMS_PROBLEM_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include <array>
#include <optional>
#include <string>
#include <vector>

namespace mlir::tcc {

/// The three dimensions of the matmul.
enum class Axis : unsigned { M = 0, N = 1, K = 2 };

/// A value at (m, n) of the output.
struct ProblemNode {
  enum class Kind {
    Input,    // an argument's old value
    Constant, // `value`
    Product,  // the matmul, in f32
    Compute,  // an arith or math op on other nodes
  };
  Kind kind;
  Location loc;
  Type type;
  /// Input and Product: for each of the argument's (product's) dimensions the axis that indexes it:
  /// 0 for m, 1 for n.
  SmallVector<unsigned, 2> axes = {};
  unsigned argument = 0;
  TypedAttr value = {};
  StringAttr opName = {};
  DictionaryAttr opAttrs = {};
  SmallVector<unsigned, 3> operands = {};
};

class Problem {
public:
  /// Emits errors where `func` isn't a kernel that docs/IR.md, L0, describes.
  static FailureOr<Problem> analyze(func::FuncOp func);

  /// The same facts from a hand-written tile program (level L1), as far as it has them: roles,
  /// names and sizes of the arguments, but no expressions. `block` becomes the tile that its steps
  /// say.
  static FailureOr<Problem> analyzeTiles(func::FuncOp func, std::array<int64_t, 3> &block);

  struct Operand {
    unsigned argument;
    /// A is stored K x M, or B is stored N x K.
    bool transposed;
  };
  struct Output {
    unsigned argument;
    unsigned node;
  };

  Operand lhs, rhs;
  Location matmulLoc;
  /// In an order where operands come first; nodes that no output needs may be among them.
  std::vector<ProblemNode> nodes;
  SmallVector<Output, 1> outputs;
  /// C is narrower than f32, and is rounded once from an f32 accumulator.
  bool roundsToNarrow = false;

  /// Argument numbers → name, names of dimensions, "in" | "out" | "inout".
  SmallVector<std::string> argumentNames;
  SmallVector<SmallVector<std::string, 2>> dimNames;
  SmallVector<StringRef> directions;
  /// The sizes and names of M, N, K; ShapedType::kDynamic where no argument knows it statically.
  std::array<int64_t, 3> sizes;
  std::array<std::string, 3> axisNames;
  /// For each argument's dimension its axis, if it has one.
  SmallVector<SmallVector<std::optional<Axis>, 2>> dimAxes;

  bool isOutput(unsigned argument) const;
  /// Marks the nodes that the outputs need.
  SmallVector<bool> liveNodes() const;

  /// The operator DAG in the form of docs/IR.md, L0t.5.
  ArrayAttr buildReference(func::FuncOp func) const;

private:
  explicit Problem(Location loc) : matmulLoc(loc) {}
  LogicalResult nameArguments(func::FuncOp func);
  LogicalResult nameDimensions(func::FuncOp func);
  LogicalResult assignAxis(func::FuncOp func, unsigned argument, unsigned dim, Axis axis);
  LogicalResult collectSizes(func::FuncOp func);
  friend class ProblemAnalysis;
  friend class TileAnalysis;
};

/// The op of the reference that stands for an arith or math op, empty if there is none: "addf" for
/// "arith.addf". Ops without one can't be part of a kernel.
StringRef getReferenceOp(StringRef opName);

/// "arith.addf, …": what an elementwise body may consist of.
std::string listElementwiseOps();

} // namespace mlir::tcc

#endif // TCC_LIB_DIALECT_TCC_TRANSFORMS_PROBLEM_H
