//===- Check.cpp - Comparing a kernel's outputs ---------------------------===//

#include "tcc/Runtime/Check.h"
#include "tcc/Runtime/Element.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Parallel.h"
#include <atomic>
#include <cmath>
#include <cstring>
#include <limits>
#include <mutex>
#include <numeric>
#include <random>

using namespace llvm;
using namespace tcc::metadata;

namespace tcc::runtime {
namespace {

/// Gathers comparisons; one per thread, then merged.
class Comparison {
public:
  Comparison(const HostTensor &actual, bool exact)
      : type(actual.getLayout().type), actual(actual), exact(exact) {}

  void compare(ArrayRef<int64_t> index, double expected, double bound) {
    const uint8_t *bytes = actual.getElement(actual.getLayout().getElementOffset(index));
    double found = decode(type, bytes);
    ++result.compared;
    double error = std::fabs(found - expected);
    if (isRight(found, expected, error, bound)) {
      if (std::isfinite(error))
        addError(error, expected, bound);
      return;
    }
    addError(error, expected, bound);
    bool unwritten = isPoison(bytes);
    ++result.failures;
    result.unwritten += unwritten;
    result.first.push_back({Shape(index), found, expected, bound, unwritten});
    if (result.first.size() > 2 * maxMismatches)
      trim(result.first);
  }

  void mergeInto(CheckResult &total) {
    total.compared += result.compared;
    total.failures += result.failures;
    total.unwritten += result.unwritten;
    total.unbounded += result.unbounded;
    total.maxAbsError = std::max(total.maxAbsError, result.maxAbsError);
    total.maxRelError = std::max(total.maxRelError, result.maxRelError);
    total.worstOfBound = std::max(total.worstOfBound, result.worstOfBound);
    // Sums until finish() divides them.
    total.meanAbsError += result.meanAbsError;
    total.meanRelError += result.meanRelError;
    append_range(total.first, result.first);
    trim(total.first);
  }

  static void finish(CheckResult &total) {
    if (total.compared == 0)
      return;
    total.meanAbsError /= total.compared;
    total.meanRelError /= total.compared;
  }

private:
  static constexpr size_t maxMismatches = 8;

  static void trim(std::vector<Mismatch> &list) {
    sort(list, [](const Mismatch &a, const Mismatch &b) { return a.index < b.index; });
    if (list.size() > maxMismatches)
      list.resize(maxMismatches);
  }

  bool isRight(double found, double expected, double error, double bound) {
    if (std::isnan(expected))
      return std::isnan(found);
    if (found == expected)
      return true;
    if (exact)
      return false;
    if (std::isnan(bound) || std::isinf(bound)) {
      ++result.unbounded;
      return true;
    }
    // A value near the largest of the type may have been rounded to infinity.
    if (std::isinf(found))
      return std::signbit(found) == std::signbit(expected) &&
             std::fabs(expected) + bound >= overflowThreshold(type);
    return error <= bound;
  }

  void addError(double error, double expected, double bound) {
    if (std::isnan(error))
      error = std::numeric_limits<double>::infinity();
    result.maxAbsError = std::max(result.maxAbsError, error);
    result.meanAbsError += error;
    if (expected != 0) {
      result.maxRelError = std::max(result.maxRelError, error / std::fabs(expected));
      result.meanRelError += error / std::fabs(expected);
    }
    if (bound > 0)
      result.worstOfBound = std::max(result.worstOfBound, error / bound);
  }

  bool isPoison(const uint8_t *bytes) const {
    return all_of(ArrayRef(bytes, getByteSize(type)),
                  [&](uint8_t byte) { return byte == poisonByte(type); });
  }

  ElementType type;
  const HostTensor &actual;
  bool exact;
  CheckResult result;
};

/// The whole of [0, extent), as a list.
std::vector<int64_t> allIndices(int64_t extent) {
  std::vector<int64_t> indices(extent);
  std::iota(indices.begin(), indices.end(), 0);
  return indices;
}

/// Compares over the product of one list of indices per dimension, in tiles on all cores.
class TiledCheck {
public:
  TiledCheck(const Reference &reference, const RefOutput &output, const StringMap<int64_t> &dims,
             const StringMap<const HostTensor *> &inputs, const HostTensor &actual,
             EvaluationMode mode)
      : evaluator(reference, dims, inputs, mode), node(output.node),
        dimNames(reference.nodes[output.node].dims), actual(actual),
        exact(mode == EvaluationMode::Exact) {
    // Panels of this many rows and columns times K stay within some 64 MiB.
    double deepest = 1;
    for (const RefNode &each : reference.nodes)
      if (each.op == RefOp::Matmul)
        deepest = std::max(deepest, getDepth(reference, each, dims));
    tileRows = std::clamp<int64_t>(0x1p22 / deepest, 6, 240);
    tileColumns = std::clamp<int64_t>(0x1p22 / deepest, 8, 256);
  }

  /// False where mode Exact doesn't apply.
  bool run(ArrayRef<std::vector<int64_t>> indices, CheckResult &result) {
    std::vector<std::vector<std::vector<int64_t>>> tiles = {{}};
    for (auto [dim, list] : enumerate(indices)) {
      std::vector<std::vector<std::vector<int64_t>>> next;
      size_t length = getTileLength(dim, indices.size());
      for (const auto &tile : tiles)
        for (size_t start = 0; start < list.size(); start += length) {
          next.push_back(tile);
          next.back().emplace_back(list.begin() + start,
                                   list.begin() + std::min(list.size(), start + length));
        }
      tiles = std::move(next);
    }
    std::mutex mutex;
    std::atomic<bool> applies = true;
    parallelFor(0, tiles.size(), [&](size_t i) {
      if (!applies)
        return;
      Comparison comparison(actual, exact);
      if (!compareTile(tiles[i], comparison))
        applies = false;
      std::lock_guard<std::mutex> lock(mutex);
      comparison.mergeInto(result);
    });
    return applies;
  }

private:
  static double getDepth(const Reference &reference, const RefNode &matmul,
                         const StringMap<int64_t> &dims) {
    double depth = 1;
    for (const std::string &dim : reference.nodes[matmul.operands[0]].dims)
      if (!is_contained(matmul.dims, dim))
        depth *= dims.lookup(dim);
    return depth;
  }

  size_t getTileLength(size_t dim, size_t rank) const {
    if (rank == 1)
      return 4096;
    return dim + 1 == rank ? tileColumns : dim + 2 == rank ? tileRows : 1;
  }

  bool compareTile(ArrayRef<std::vector<int64_t>> lists, Comparison &comparison) const {
    IndexSets sets;
    for (auto [name, list] : zip(dimNames, lists))
      sets[name] = list;
    std::optional<Tile> tile = evaluator.evaluate(node, sets);
    if (!tile)
      return false;
    Shape position(lists.size(), 0), index(lists.size(), 0);
    for (size_t i = 0; i < tile->values.size(); ++i) {
      for (size_t dim = 0; dim < lists.size(); ++dim)
        index[dim] = lists[dim][position[dim]];
      comparison.compare(index, tile->values[i], tile->getError(i));
      for (size_t dim = lists.size(); dim-- > 0 && ++position[dim] == int64_t(lists[dim].size());)
        position[dim] = 0;
    }
    return true;
  }

  ReferenceEvaluator evaluator;
  unsigned node;
  const Dims &dimNames;
  const HostTensor &actual;
  bool exact;
  int64_t tileRows, tileColumns;
};

/// The output's dimensions that no matmul sums over: only those can be evaluated in part.
std::vector<bool> findSampleable(const Reference &reference, const Dims &dims) {
  StringSet<> contracted;
  for (const RefNode &node : reference.nodes)
    if (node.op == RefOp::Matmul)
      for (unsigned operand : ArrayRef(node.operands).take_front(2))
        for (const std::string &dim : reference.nodes[operand].dims)
          if (!is_contained(node.dims, dim))
            contracted.insert(dim);
  std::vector<bool> sampleable;
  for (const std::string &dim : dims)
    sampleable.push_back(!contracted.contains(dim));
  return sampleable;
}

} // namespace

std::vector<int64_t> sampleIndices(int64_t extent, int64_t count, uint64_t seed) {
  if (count >= extent)
    return allIndices(extent);
  std::vector<int64_t> indices = {0, extent - 1};
  // Both sides of the last edge between tiles, and of one in the middle, for tiles of 64 and 128.
  for (int64_t tile : {64, 128})
    for (int64_t edge : {(extent - 1) / tile * tile, extent / 2 / tile * tile})
      for (int64_t index : {edge - 1, edge})
        if (index >= 0)
          indices.push_back(index);
  std::mt19937_64 random(seed);
  int64_t strata = std::max<int64_t>(count - int64_t(indices.size()), 1);
  for (int64_t i = 0; i < strata; ++i) {
    int64_t begin = extent * i / strata, end = extent * (i + 1) / strata;
    indices.push_back(begin + int64_t(random() % uint64_t(std::max<int64_t>(end - begin, 1))));
  }
  sort(indices);
  indices.erase(llvm::unique(indices), indices.end());
  return indices;
}

std::optional<CheckResult> checkAgainstReference(const Reference &reference,
                                                 const RefOutput &output,
                                                 const StringMap<int64_t> &dims,
                                                 const StringMap<const HostTensor *> &inputs,
                                                 const HostTensor &actual, EvaluationMode mode,
                                                 uint64_t seed, double maxWork) {
  CheckResult result;
  result.argument = output.argument;
  result.exact = mode == EvaluationMode::Exact;
  TiledCheck check(reference, output, dims, inputs, actual, mode);
  const Shape &shape = actual.getLayout().shape;
  std::vector<std::vector<int64_t>> all;
  for (int64_t extent : shape)
    all.push_back(allIndices(extent));
  std::vector<bool> sampleable = findSampleable(reference, reference.nodes[output.node].dims);
  double work = countMultiplyAdds(reference, dims);
  result.sampled = work > maxWork && is_contained(sampleable, true);
  if (!result.sampled && !check.run(all, result))
    return std::nullopt;
  // Some rows in full, then some columns in full, each for half of the work.
  for (size_t dim = 0; result.sampled && dim < shape.size(); ++dim) {
    if (!sampleable[dim])
      continue;
    std::vector<std::vector<int64_t>> indices = all;
    double perIndex = work / shape[dim];
    int64_t count = std::max<int64_t>(16, maxWork / 2 / perIndex);
    indices[dim] = sampleIndices(shape[dim], count, seed + dim);
    if (!check.run(indices, result))
      return std::nullopt;
  }
  Comparison::finish(result);
  return result;
}

CheckResult checkAgainstExpected(StringRef argument, const HostTensor &expected,
                                 const HostTensor &actual, double tolerance) {
  CheckResult result;
  result.argument = argument.str();
  result.exact = tolerance == 0;
  Comparison comparison(actual, result.exact);
  const TensorLayout &layout = actual.getLayout(), &given = expected.getLayout();
  Shape index(layout.shape.size(), 0);
  for (int64_t i = 0, count = layout.getNumElements(); i < count; ++i) {
    comparison.compare(
        index, decode(given.type, expected.getElement(given.getElementOffset(index))), tolerance);
    for (size_t dim = index.size(); dim-- > 0 && ++index[dim] == layout.shape[dim];)
      index[dim] = 0;
  }
  comparison.mergeInto(result);
  Comparison::finish(result);
  return result;
}

void checkStrayWrites(const HostTensor &before, const HostTensor &after, CheckResult &result) {
  ArrayRef<uint8_t> old = before.getBytes(), now = after.getBytes();
  int64_t base = after.getBaseOffset(), size = getByteSize(after.getLayout().type);
  auto compareGap = [&](int64_t begin, int64_t end) {
    if (std::memcmp(old.data() + begin, now.data() + begin, end - begin) == 0)
      return;
    for (int64_t i = begin; i < end; ++i)
      if (old[i] != now[i] && result.strayBytes++ == 0)
        result.firstStrayByte = i - base;
  };
  int64_t next = 0;
  forEachRun(after.getLayout(), [&](int64_t offset, int64_t count) {
    compareGap(next, base + offset * size);
    next = base + (offset + count) * size;
  });
  compareGap(next, now.size());
}

} // namespace tcc::runtime
