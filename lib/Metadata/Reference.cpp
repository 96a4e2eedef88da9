//===- Reference.cpp - What a kernel should compute -----------------------===//

#include "tcc/Metadata/Reference.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"

using namespace llvm;

namespace tcc::metadata {
namespace {

struct OpFacts {
  StringLiteral name;
  unsigned minOperands, maxOperands;
  bool exactlyRounded;
};

/// Indexed by RefOp.
constexpr OpFacts facts[] = {
    {"input", 0, 0, true},    {"constant", 0, 0, true}, {"matmul", 2, 3, false},
    {"addf", 2, 2, true},     {"subf", 2, 2, true},     {"mulf", 2, 2, true},
    {"divf", 2, 2, true},     {"fma", 3, 3, true},      {"maximumf", 2, 2, true},
    {"minimumf", 2, 2, true}, {"maxnumf", 2, 2, true},  {"minnumf", 2, 2, true},
    {"negf", 1, 1, true},     {"absf", 1, 1, true},     {"sqrt", 1, 1, true},
    {"floor", 1, 1, true},    {"ceil", 1, 1, true},     {"rsqrt", 1, 1, false},
    {"exp", 1, 1, false},     {"exp2", 1, 1, false},    {"log", 1, 1, false},
    {"log2", 1, 1, false},    {"tanh", 1, 1, false},    {"erf", 1, 1, false},
    {"sin", 1, 1, false},     {"cos", 1, 1, false},     {"powf", 2, 2, false},
    {"cmpf", 2, 2, true},     {"select", 3, 3, true},   {"andi", 2, 2, true},
    {"ori", 2, 2, true},      {"xori", 2, 2, true},     {"truncf", 1, 1, true},
    {"extf", 1, 1, true},     {"sitofp", 1, 1, true},   {"fptosi", 1, 1, true},
};
static_assert(std::size(facts) == static_cast<size_t>(RefOp::FPToSI) + 1);

const OpFacts &factsOf(RefOp op) { return facts[static_cast<size_t>(op)]; }

} // namespace

StringRef getName(RefOp op) { return factsOf(op).name; }

std::optional<RefOp> parseRefOp(StringRef name) {
  for (size_t i = 0; i < std::size(facts); ++i)
    if (facts[i].name == name)
      return static_cast<RefOp>(i);
  return std::nullopt;
}

std::pair<unsigned, unsigned> getOperandCounts(RefOp op) {
  return {factsOf(op).minOperands, factsOf(op).maxOperands};
}

bool isExactlyRounded(const RefNode &node) {
  return factsOf(node.op).exactlyRounded && !node.approximate;
}

bool isCmpFPredicate(StringRef name) {
  static constexpr StringLiteral predicates[] = {"false", "oeq", "ogt", "oge", "olt", "ole",
                                                 "one",   "ord", "ueq", "ugt", "uge", "ult",
                                                 "ule",   "une", "uno", "true"};
  return is_contained(predicates, name);
}

//===----------------------------------------------------------------------===//
// Building
//===----------------------------------------------------------------------===//

static unsigned append(Reference &reference, RefNode node) {
  reference.nodes.push_back(std::move(node));
  return reference.nodes.size() - 1;
}

unsigned Reference::addInput(StringRef argument, Dims dims, ElementType type) {
  RefNode node{RefOp::Input, type, std::move(dims), {}};
  node.argument = argument.str();
  return append(*this, std::move(node));
}

unsigned Reference::addConstant(double value, ElementType type) {
  RefNode node{RefOp::Constant, type, {}, {}};
  node.value = value;
  return append(*this, std::move(node));
}

unsigned Reference::addMatmul(unsigned lhs, unsigned rhs, Dims dims, ElementType type,
                              std::optional<unsigned> init) {
  RefNode node{RefOp::Matmul, type, std::move(dims), {lhs, rhs}};
  if (init)
    node.operands.push_back(*init);
  return append(*this, std::move(node));
}

unsigned Reference::addElementwise(RefOp op, ArrayRef<unsigned> operands, Dims dims,
                                   ElementType type) {
  return append(*this, {op, type, std::move(dims), {operands.begin(), operands.end()}});
}

unsigned Reference::addCmpF(StringRef predicate, unsigned lhs, unsigned rhs, Dims dims) {
  RefNode node{RefOp::CmpF, ElementType::I1, std::move(dims), {lhs, rhs}};
  node.predicate = predicate.str();
  return append(*this, std::move(node));
}

//===----------------------------------------------------------------------===//
// Verification
//===----------------------------------------------------------------------===//

/// Elementwise operands are broadcast: each of their dims must be one of the node's. A matmul's
/// dims must each come from lhs or rhs, else the result would not be defined by them.
static Error verifyDims(const Reference &reference, const RefNode &node) {
  auto dimsOf = [&](unsigned operand) -> const Dims & {
    return reference.nodes[node.operands[operand]].dims;
  };
  for (size_t i = 0; i < node.dims.size(); ++i)
    if (is_contained(ArrayRef<std::string>(node.dims).take_front(i), node.dims[i]))
      return createStringError("dimension '" + node.dims[i] + "' stands twice");
  bool isMatmul = node.op == RefOp::Matmul;
  for (unsigned i = isMatmul ? 2 : 0; i < node.operands.size(); ++i)
    for (const std::string &dim : dimsOf(i))
      if (!is_contained(node.dims, dim))
        return createStringError("operand " + Twine(i) + " has the dimension '" + dim +
                                 "', which the result lacks");
  if (isMatmul)
    for (const std::string &dim : node.dims)
      if (!is_contained(dimsOf(0), dim) && !is_contained(dimsOf(1), dim))
        return createStringError("no operand has the result's dimension '" + dim + "'");
  return Error::success();
}

static Error verifyNode(const Reference &reference, unsigned id) {
  const RefNode &node = reference.nodes[id];
  auto [minOperands, maxOperands] = getOperandCounts(node.op);
  if (node.operands.size() < minOperands || node.operands.size() > maxOperands)
    return createStringError("expected " + Twine(minOperands) + " to " + Twine(maxOperands) +
                             " operands, found " + Twine(node.operands.size()));
  for (unsigned operand : node.operands)
    if (operand >= id)
      return createStringError("operand " + Twine(operand) + " doesn't come before the node");
  if (node.op == RefOp::CmpF && !isCmpFPredicate(node.predicate))
    return createStringError("unknown predicate '" + node.predicate +
                             "', expected one of arith.cmpf: oeq, ogt, une, …");
  if (node.op == RefOp::Constant && !node.dims.empty())
    return createStringError("a constant has no dimensions, it is broadcast");
  return verifyDims(reference, node);
}

Error Reference::verify() const {
  for (unsigned id = 0; id < nodes.size(); ++id)
    if (Error error = verifyNode(*this, id))
      return createStringError("reference node " + Twine(id) + " (" + getName(nodes[id].op) +
                               "): " + toString(std::move(error)));
  if (outputs.empty())
    return createStringError("reference: expected at least one output");
  for (const RefOutput &output : outputs)
    if (output.node >= nodes.size())
      return createStringError("reference output '" + output.argument + "': no node " +
                               Twine(output.node));
  return Error::success();
}

} // namespace tcc::metadata
