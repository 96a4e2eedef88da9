//===- Evaluate.cpp - Walking the reference -------------------------------===//

#include "tcc/Runtime/Evaluate.h"
#include "EvaluateNodes.h"
#include "tcc/Runtime/Element.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace tcc::metadata;

namespace tcc::runtime {

/// The nodes that `root` needs, itself included.
static std::vector<bool> findNeeded(const Reference &reference, unsigned root) {
  std::vector<bool> needed(root + 1, false);
  needed[root] = true;
  for (unsigned id = root + 1; id-- > 0;)
    if (needed[id])
      for (unsigned operand : reference.nodes[id].operands)
        needed[operand] = true;
  return needed;
}

/// The dimensions that a matmul sums over, in order of appearance.
static SmallVector<std::string, 4> getContractedDims(const Reference &reference,
                                                     const RefNode &node) {
  SmallVector<std::string, 4> contracted;
  for (unsigned operand : ArrayRef(node.operands).take_front(2))
    for (const std::string &dim : reference.nodes[operand].dims)
      if (!is_contained(node.dims, dim) && !is_contained(contracted, dim))
        contracted.push_back(dim);
  return contracted;
}

bool isExactlyDefined(const Reference &reference, unsigned root) {
  std::vector<bool> needed = findNeeded(reference, root);
  for (unsigned id = 0; id <= root; ++id)
    if (needed[id] && reference.nodes[id].op != RefOp::Matmul &&
        !isExactlyRounded(reference.nodes[id]))
      return false;
  return true;
}

double countMultiplyAdds(const Reference &reference, const StringMap<int64_t> &dims) {
  double total = 0;
  for (const RefNode &node : reference.nodes) {
    if (node.op != RefOp::Matmul)
      continue;
    double count = 1;
    for (const std::string &dim : node.dims)
      count *= dims.lookup(dim);
    for (const std::string &dim : getContractedDims(reference, node))
      count *= dims.lookup(dim);
    total += count;
  }
  return total;
}

int64_t ReferenceEvaluator::getExtent(const std::string &dim, const IndexSets &sets) const {
  auto found = sets.find(dim);
  return found == sets.end() ? dims.lookup(dim) : int64_t(found->second.size());
}

Tile ReferenceEvaluator::evaluateInput(const RefNode &node, const IndexSets &sets) const {
  const HostTensor &tensor = *inputs.lookup(node.argument);
  const TensorLayout &layout = tensor.getLayout();
  Tile tile;
  int64_t count = 1;
  for (const std::string &dim : node.dims) {
    tile.shape.push_back(getExtent(dim, sets));
    count *= tile.shape.back();
  }
  tile.values.resize(count);
  if (count == 0)
    return tile;
  size_t rank = node.dims.size();
  auto indexAt = [&](size_t dim, int64_t position) {
    auto found = sets.find(node.dims[dim]);
    return found == sets.end() ? position : found->second[position];
  };
  if (rank == 0) {
    tile.values[0] = decode(layout.type, tensor.getElement(0));
    return tile;
  }
  // Row by row of the innermost dimension, in one piece where its indices follow each other.
  size_t inner = rank - 1;
  int64_t columns = tile.shape[inner];
  bool contiguous = indexAt(inner, columns - 1) - indexAt(inner, 0) == columns - 1;
  for (int64_t row = 0; row < count / columns; ++row) {
    int64_t offset = 0, rest = row;
    for (size_t dim = inner; dim-- > 0; rest /= tile.shape[dim])
      if (dim < inner)
        offset += indexAt(dim, rest % tile.shape[dim]) * layout.strides[dim];
    double *out = tile.values.data() + row * columns;
    int64_t step = layout.strides[inner];
    if (contiguous) {
      decode(layout.type, tensor.getElement(offset + indexAt(inner, 0) * step), step, columns, out);
      continue;
    }
    for (int64_t column = 0; column < columns; ++column)
      out[column] = decode(layout.type, tensor.getElement(offset + indexAt(inner, column) * step));
  }
  return tile;
}

std::optional<Tile> ReferenceEvaluator::evaluate(unsigned root, const IndexSets &sets) const {
  std::vector<bool> needed = findNeeded(reference, root);
  std::vector<Tile> tiles(root + 1);
  for (unsigned id = 0; id <= root; ++id) {
    if (!needed[id])
      continue;
    const RefNode &node = reference.nodes[id];
    if (node.op == RefOp::Input) {
      tiles[id] = evaluateInput(node, sets);
      continue;
    }
    for (const std::string &dim : node.dims)
      tiles[id].shape.push_back(getExtent(dim, sets));
    SmallVector<Operand, 3> operands;
    for (unsigned operand : node.operands)
      operands.push_back({&tiles[operand], reference.nodes[operand].dims});
    if (node.op != RefOp::Matmul) {
      evaluateElementwise(node, operands, mode, tiles[id]);
      continue;
    }
    SmallVector<std::string, 4> contracted = getContractedDims(reference, node);
    Shape lengths;
    for (const std::string &dim : contracted)
      lengths.push_back(getExtent(dim, sets));
    if (!evaluateMatmul(node, operands, contracted, lengths, mode, tiles[id]))
      return std::nullopt;
  }
  return std::move(tiles[root]);
}

} // namespace tcc::runtime
