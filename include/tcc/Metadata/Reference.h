//===- Reference.h - What a kernel should compute ---------------*- C++ -*-===//
//
// A small operator DAG over named dimensions, recorded from the source program before any lowering,
// by which a launcher can compute what the kernel should give. Nodes are numbered in order; a
// node's operands come before it. Broadcasts, transposes and batches need no op, since dimensions
// are matched by name:
//
//   0: input A      [M, K] f16
//   1: input B      [K, N] f16       (stored transposed: [N, K], the same matmul)
//   2: matmul 0, 1  [M, N] f32       contracts K, the dimension that its result lacks
//   3: input bias   [N]    f32
//   4: addf 2, 3    [M, N] f32       bias is broadcast along M
//   C <- 4
//
// A dimension is as long as the dimension of the input argument at which it stands.
//
//===----------------------------------------------------------------------===//

#ifndef TCC_METADATA_REFERENCE_H
#define TCC_METADATA_REFERENCE_H

#include "tcc/Metadata/ElementType.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"
#include <optional>
#include <string>
#include <vector>

namespace tcc::metadata {

/// Named after the arith and math ops that they come from.
enum class RefOp : uint8_t {
  Input,    // the value of `argument` before the launch; dims name its dimensions in order
  Constant, // `value` everywhere; no dims
  Matmul,   // sum over the dims of lhs and rhs that the result lacks, plus a third operand if any
  // One rounding each, to the node's type:
  AddF,
  SubF,
  MulF,
  DivF,
  Fma,
  MaximumF, // NaN wins; maxnumf: the number wins
  MinimumF,
  MaxNumF,
  MinNumF,
  NegF,
  AbsF,
  Sqrt,
  Floor,
  Ceil,
  // Rounded to the node's type with an error of some ulps:
  Rsqrt,
  Exp,
  Exp2,
  Log,
  Log2,
  Tanh,
  Erf,
  Sin,
  Cos,
  PowF,
  // Choice and conversion:
  CmpF,   // `predicate` as in arith.cmpf, type i1
  Select, // condition, true value, false value
  AndI,   // of i1, as the next two
  OrI,
  XOrI,
  TruncF, // to a narrower float type, nearest-even; to tf32: nearest, ties away (cvt.rna)
  ExtF,
  SIToFP,
  FPToSI,
};

/// "input", "constant", "matmul", "addf", …
llvm::StringRef getName(RefOp op);
std::optional<RefOp> parseRefOp(llvm::StringRef name);
/// The fewest and the most operands.
std::pair<unsigned, unsigned> getOperandCounts(RefOp op);
/// Whether `name` is a predicate of arith.cmpf: "oeq", "ogt", "une", …
bool isCmpFPredicate(llvm::StringRef name);

using Dims = llvm::SmallVector<std::string, 4>;

struct RefNode {
  RefOp op;
  ElementType type;
  Dims dims;
  llvm::SmallVector<unsigned, 3> operands;
  std::string argument;  // Input
  double value = 0;      // Constant
  std::string predicate; // CmpF
  /// The kernel may compute it by an approximate instruction (fastmath<afn>).
  bool approximate = false;
};

/// True where IEEE arithmetic fixes every bit of the result, given the operands.
bool isExactlyRounded(const RefNode &node);

struct RefOutput {
  std::string argument;
  unsigned node;
};

/// The DAG. The builder functions return the new node's number and check nothing; verify() does.
class Reference {
public:
  unsigned addInput(llvm::StringRef argument, Dims dims, ElementType type);
  unsigned addConstant(double value, ElementType type);
  /// `type` is the accumulator's. `init`, where given, is added inside the accumulation.
  unsigned addMatmul(unsigned lhs, unsigned rhs, Dims dims, ElementType type,
                     std::optional<unsigned> init = std::nullopt);
  unsigned addElementwise(RefOp op, llvm::ArrayRef<unsigned> operands, Dims dims, ElementType type);
  unsigned addCmpF(llvm::StringRef predicate, unsigned lhs, unsigned rhs, Dims dims);
  void addOutput(llvm::StringRef argument, unsigned node) {
    outputs.push_back({argument.str(), node});
  }

  /// Operand numbers and counts, attributes, dimensions: everything that needs no argument list.
  llvm::Error verify() const;

  std::vector<RefNode> nodes;
  llvm::SmallVector<RefOutput, 1> outputs;
};

} // namespace tcc::metadata

#endif // TCC_METADATA_REFERENCE_H
