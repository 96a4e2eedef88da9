//===- ProblemReference.cpp - The operator DAG of a problem ---------------===//
//
// The nodes' form is that of the PTX header (docs/Metadata.md), as attributes, since the dialect
// doesn't depend on the metadata library.
//
//===----------------------------------------------------------------------===//

#include "Problem.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::tcc;

static constexpr StringLiteral elementwiseOps[] = {
    "arith.addf",     "arith.subf",     "arith.mulf",     "arith.divf",     "arith.maximumf",
    "arith.minimumf", "arith.maxnumf",  "arith.minnumf",  "arith.negf",     "arith.cmpf",
    "arith.select",   "arith.andi",     "arith.ori",      "arith.xori",     "arith.truncf",
    "arith.extf",     "math.fma",       "math.absf",      "math.sqrt",      "math.rsqrt",
    "math.floor",     "math.ceil",      "math.exp",       "math.exp2",      "math.log",
    "math.log2",      "math.tanh",      "math.erf",       "math.sin",       "math.cos",
    "math.powf"};

StringRef mlir::tcc::getReferenceOp(StringRef opName) {
  return llvm::is_contained(elementwiseOps, opName) ? opName.split('.').second : StringRef();
}

std::string mlir::tcc::listElementwiseOps() {
  return llvm::join(ArrayRef<StringLiteral>(elementwiseOps), ", ");
}

/// Whether an instruction that approximates may take the place of the op.
static bool mayBeApproximate(const ProblemNode &node) {
  auto fastmath = node.opAttrs.getAs<arith::FastMathFlagsAttr>("fastmath");
  bool isFunction = node.opName.getValue().starts_with("math.") || node.opName == "arith.divf";
  return isFunction && fastmath &&
         arith::bitEnumContainsAll(fastmath.getValue(), arith::FastMathFlags::afn);
}

namespace {
/// Collects the live nodes, numbered in order, each with the axes that its value depends on.
class ReferenceBuilder {
public:
  ReferenceBuilder(const Problem &problem, func::FuncOp func)
      : problem(problem), func(func), builder(func.getContext()) {}

  ArrayAttr build() {
    SmallVector<bool> live = problem.liveNodes();
    numbers.resize(live.size());
    axes.resize(live.size());
    for (unsigned id = 0; id < live.size(); ++id)
      if (live[id])
        addNode(id);
    for (const Problem::Output &output : problem.outputs)
      nodes.push_back(builder.getDictionaryAttr(
          {named("op", builder.getStringAttr("output")),
           named("argument", builder.getStringAttr(problem.argumentNames[output.argument])),
           named("node", builder.getI64IntegerAttr(numbers[output.node]))}));
    return builder.getArrayAttr(nodes);
  }

private:
  NamedAttribute named(StringRef name, Attribute value) {
    return builder.getNamedAttr(name, value);
  }

  Attribute strings(ArrayRef<std::string> values) {
    return builder.getStrArrayAttr(
        llvm::map_to_vector(values, [](auto &v) { return StringRef(v); }));
  }

  unsigned append(StringRef op, Type type, Attribute dims, ArrayRef<unsigned> operands,
                  ArrayRef<NamedAttribute> extra = {}) {
    SmallVector<NamedAttribute> fields = {named("id", builder.getI64IntegerAttr(nodes.size())),
                                          named("op", builder.getStringAttr(op)),
                                          named("type", TypeAttr::get(type)), named("dims", dims)};
    if (!operands.empty())
      fields.push_back(named("operands", builder.getI64ArrayAttr(llvm::map_to_vector(
                                             operands, [](unsigned v) { return int64_t(v); }))));
    fields.append(extra.begin(), extra.end());
    nodes.push_back(builder.getDictionaryAttr(fields));
    return nodes.size() - 1;
  }

  unsigned appendInput(unsigned argument) {
    auto type = cast<MemRefType>(func.getArgument(argument).getType());
    return append("input", type.getElementType(), strings(problem.dimNames[argument]), {},
                  named("argument", builder.getStringAttr(problem.argumentNames[argument])));
  }

  Attribute axesDims(ArrayRef<unsigned> nodeAxes) {
    SmallVector<std::string> names;
    for (unsigned axis : nodeAxes)
      names.push_back(problem.axisNames[axis]);
    return strings(names);
  }

  void addNode(unsigned id) {
    const ProblemNode &node = problem.nodes[id];
    axes[id] = node.axes;
    llvm::sort(axes[id]);
    switch (node.kind) {
    case ProblemNode::Kind::Input:
      numbers[id] = appendInput(node.argument);
      return;
    case ProblemNode::Kind::Constant: {
      Attribute value = node.value;
      if (auto truth = dyn_cast<IntegerAttr>(value)) // the header's values are numbers
        value = builder.getF64FloatAttr(truth.getValue().isZero() ? 0 : 1);
      numbers[id] = append("constant", node.type, strings({}), {}, named("value", value));
      return;
    }
    case ProblemNode::Kind::Product: {
      unsigned lhs = appendInput(problem.lhs.argument);
      unsigned rhs = appendInput(problem.rhs.argument);
      numbers[id] = append("matmul", node.type, axesDims({0, 1}), {lhs, rhs});
      return;
    }
    case ProblemNode::Kind::Compute:
      break;
    }
    SmallVector<unsigned> operands;
    for (unsigned operand : node.operands) {
      operands.push_back(numbers[operand]);
      for (unsigned axis : axes[operand])
        if (!llvm::is_contained(axes[id], axis))
          axes[id].push_back(axis);
    }
    llvm::sort(axes[id]);
    SmallVector<NamedAttribute> extra;
    if (auto predicate = node.opAttrs.getAs<arith::CmpFPredicateAttr>("predicate"))
      extra.push_back(named(
          "predicate", builder.getStringAttr(arith::stringifyCmpFPredicate(predicate.getValue()))));
    if (mayBeApproximate(node))
      extra.push_back(named("approximate", builder.getBoolAttr(true)));
    numbers[id] =
        append(getReferenceOp(node.opName), node.type, axesDims(axes[id]), operands, extra);
  }

  const Problem &problem;
  func::FuncOp func;
  Builder builder;
  SmallVector<Attribute> nodes;
  std::vector<unsigned> numbers;
  std::vector<SmallVector<unsigned, 2>> axes;
};
} // namespace

ArrayAttr Problem::buildReference(func::FuncOp func) const {
  return ReferenceBuilder(*this, func).build();
}
