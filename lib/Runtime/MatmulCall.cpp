//===- MatmulCall.cpp - A program that is one plain matmul ----------------===//

#include "MatmulCall.h"
#include "Epilogue.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace tcc::metadata;

namespace tcc::runtime {
namespace {

/// A matrix as (row, column) of a product.
struct Matrix {
  uint64_t address;
  ElementType type;
  int64_t rows, columns;
  int64_t rowStride, columnStride;

  bool isRowMajor() const { return columnStride == 1; }
  int64_t getLeading() const {
    return isRowMajor() ? std::max(rowStride, columns) : std::max(columnStride, rows);
  }
};

Error notPlain() {
  return createStringError("--vs=cublaslt compares programs that are one matmul of two matrices, "
                           "with a row-major result, and a bias of one element per column, ReLU or "
                           "GELU after it");
}

class Describer {
public:
  Describer(const Kernel &kernel, const Problem &problem, const SymbolTable &symbols)
      : kernel(kernel), problem(problem), symbols(symbols) {}

  Expected<MatmulCall> describe() {
    if (!kernel.reference || kernel.reference->outputs.size() != 1)
      return notPlain();
    const RefOutput &output = kernel.reference->outputs.front();
    const RefNode *product = findProduct();
    if (!product || product->dims.size() != 2)
      return notPlain();
    std::optional<MatchedEpilogue> epilogue =
        matchEpilogue(*kernel.reference, product - kernel.reference->nodes.data(), output.node);
    if (!epilogue || (epilogue->bias && epilogue->bias->dims != ArrayRef(product->dims[1])))
      return notPlain();
    const RefNode *left = &node(product->operands[0]), *right = &node(product->operands[1]);
    if (!is_contained(left->dims, product->dims[0]))
      std::swap(left, right);
    std::optional<std::string> depth = findDepth(*left, product->dims[0]);
    std::optional<Matrix> a, b;
    if (depth) {
      a = getMatrix(*left, product->dims[0], *depth);
      b = getMatrix(*right, *depth, product->dims[1]);
    }
    Matrix c = getStorage(output.argument, 0, 1);
    bool startsFromC = product->operands.size() == 3;
    if (!a || !b || a->type != b->type || !c.isRowMajor() ||
        (startsFromC && node(product->operands[2]).argument != output.argument))
      return notPlain();
    MatmulCall call{
        a->type,        c.type,          c.rows,          c.columns,       a->columns,
        a->address,     b->address,      c.address,       a->getLeading(), b->getLeading(),
        c.getLeading(), a->isRowMajor(), b->isRowMajor(), startsFromC,     epilogue->function};
    if (!epilogue->bias)
      return call;
    auto [layout, address] = getPlace(epilogue->bias->argument);
    if (layout.strides[0] != 1 && layout.shape[0] > 1)
      return notPlain();
    call.bias = address;
    call.biasType = layout.type;
    return call;
  }

private:
  const RefNode &node(unsigned id) const { return kernel.reference->nodes[id]; }

  /// The one matmul; null if there are more.
  const RefNode *findProduct() const {
    auto isMatmul = [](const RefNode &node) { return node.op == RefOp::Matmul; };
    const auto &nodes = kernel.reference->nodes;
    return count_if(nodes, isMatmul) == 1 ? &*find_if(nodes, isMatmul) : nullptr;
  }

  static std::optional<std::string> findDepth(const RefNode &left, const std::string &rows) {
    if (left.dims.size() != 2)
      return std::nullopt;
    return left.dims[left.dims[0] == rows];
  }

  /// An argument's layout and address.
  std::pair<const TensorLayout &, uint64_t> getPlace(StringRef argument) const {
    size_t position = kernel.findArgument(argument) - kernel.arguments.begin();
    return {problem.layouts[position], uint64_t(symbols.lookup((argument + ".ptr").str()))};
  }

  Matrix getStorage(StringRef argument, unsigned rowDim, unsigned columnDim) const {
    auto [layout, address] = getPlace(argument);
    return {address,
            layout.type,
            layout.shape[rowDim],
            layout.shape[columnDim],
            layout.strides[rowDim],
            layout.strides[columnDim]};
  }

  /// The operand, if it is an input with these dimensions, one of which has stride 1.
  std::optional<Matrix> getMatrix(const RefNode &operand, const std::string &rows,
                                  const std::string &columns) const {
    if (operand.op != RefOp::Input || operand.dims.size() != 2 ||
        !is_contained(operand.dims, rows) || !is_contained(operand.dims, columns))
      return std::nullopt;
    bool inOrder = operand.dims[0] == rows;
    Matrix matrix = getStorage(operand.argument, !inOrder, inOrder);
    if (matrix.rowStride != 1 && matrix.columnStride != 1)
      return std::nullopt;
    return matrix;
  }

  const Kernel &kernel;
  const Problem &problem;
  const SymbolTable &symbols;
};

} // namespace

Expected<MatmulCall> describeMatmul(const Kernel &kernel, const Problem &problem,
                                    const SymbolTable &symbols) {
  return Describer(kernel, problem, symbols).describe();
}

} // namespace tcc::runtime
