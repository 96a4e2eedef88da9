//===- Epilogue.cpp - What follows a matmul, as libraries name it ---------===//

#include "Epilogue.h"
#include "EvaluateNodes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include <cmath>

using namespace llvm;
using namespace tcc::metadata;

namespace tcc::runtime {
namespace {

struct Candidate {
  Epilogue function;
  double (*apply)(double);
};

constexpr Candidate candidates[] = {
    {Epilogue::None, [](double x) { return x; }},
    {Epilogue::Relu, [](double x) { return std::fmax(x, 0.0); }},
    {Epilogue::Gelu, [](double x) { return x / 2 * (1 + std::erf(x * M_SQRT1_2)); }},
};

/// GELU's tanh form is 5e-4 away from its erf form at most.
bool isClose(double a, double b) { return std::fabs(a - b) <= 1e-3 * (1 + std::fabs(b)); }

/// Products and biases to try: every pair of a grid on both sides of 0.
struct Samples {
  Tile product, bias;

  Samples() {
    constexpr int64_t steps = 25;
    for (int64_t i = 0; i < steps; ++i)
      for (int64_t j = 0; j < steps; ++j) {
        product.values.push_back(double(i - steps / 2) * 0.53);
        bias.values.push_back(double(j - steps / 2) * 0.37);
      }
    product.shape = bias.shape = {steps * steps};
  }
};

/// Evaluates the nodes above a product at all samples, as vectors along one dimension.
class SampleEvaluator {
public:
  SampleEvaluator(const Reference &reference, unsigned product)
      : reference(reference), product(product) {}

  /// Null where a node isn't elementwise or a second input takes part.
  const Tile *evaluate(unsigned id) {
    if (id == product)
      return &samples.product;
    const RefNode &node = reference.nodes[id];
    if (node.op == RefOp::Matmul || (node.op == RefOp::Input && bias && bias != &node))
      return nullptr;
    if (node.op == RefOp::Input) {
      bias = &node;
      return &samples.bias;
    }
    auto [known, isNew] = tiles.try_emplace(id);
    if (!isNew)
      return known->second.get();
    SmallVector<Operand, 3> operands;
    for (unsigned operand : node.operands) {
      const Tile *tile = evaluate(operand);
      if (!tile)
        return nullptr;
      operands.push_back({tile, dims});
    }
    RefNode sampled = node;
    sampled.dims = dims;
    auto tile = std::make_unique<Tile>();
    tile->shape = samples.product.shape;
    evaluateElementwise(sampled, operands, EvaluationMode::Bounded, *tile);
    return (tiles[id] = std::move(tile)).get();
  }

  Samples samples;
  const RefNode *bias = nullptr;

private:
  const Reference &reference;
  unsigned product;
  Dims dims = {"sample"};
  std::map<unsigned, std::unique_ptr<Tile>> tiles;
};

} // namespace

std::optional<MatchedEpilogue> matchEpilogue(const Reference &reference, unsigned product,
                                             unsigned root) {
  SampleEvaluator evaluator(reference, product);
  const Tile *values = evaluator.evaluate(root);
  if (!values)
    return std::nullopt;
  const Samples &samples = evaluator.samples;
  for (const Candidate &candidate : candidates) {
    bool matches = all_of(seq<size_t>(0, values->values.size()), [&](size_t i) {
      double x = samples.product.values[i] + (evaluator.bias ? samples.bias.values[i] : 0);
      return isClose(values->values[i], candidate.apply(x));
    });
    if (matches)
      return MatchedEpilogue{candidate.function, evaluator.bias};
  }
  return std::nullopt;
}

} // namespace tcc::runtime
