//===- Problem.cpp - What a kernel on memrefs computes --------------------===//

#include "Kernel.h"
#include "ProblemAnalysis.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::tcc;

bool Problem::isOutput(unsigned argument) const {
  return llvm::any_of(outputs, [&](const Output &output) { return output.argument == argument; });
}

SmallVector<bool> Problem::liveNodes() const {
  SmallVector<bool> live(nodes.size(), false);
  for (const Output &output : outputs)
    live[output.node] = true;
  for (size_t i = nodes.size(); i-- > 0;)
    if (live[i])
      for (unsigned operand : nodes[i].operands)
        live[operand] = true;
  return live;
}

//===----------------------------------------------------------------------===//
// The symbolic walk
//===----------------------------------------------------------------------===//

FailureOr<Problem> Problem::analyze(func::FuncOp func) { return ProblemAnalysis(func).run(); }

LogicalResult ProblemAnalysis::checkSignature() {
  if (!func.getBody().hasOneBlock())
    return emitError(func.getLoc(),
                     "a kernel's body is one block of linalg ops, without control flow");
  if (func.getNumResults())
    return emitError(func.getLoc(),
                     "a kernel returns nothing but tensors; it writes its memref arguments");
  for (BlockArgument argument : func.getArguments()) {
    auto type = dyn_cast<MemRefType>(argument.getType());
    if (!type || type.getRank() < 1 || type.getRank() > 2)
      return emitError(argument.getLoc())
             << "a kernel's arguments are memrefs or tensors of rank 1 or 2; argument "
             << argument.getArgNumber() << " is " << argument.getType();
    if (type.getMemorySpace())
      return emitError(argument.getLoc())
             << "argument " << argument.getArgNumber() << " has the memory space "
             << type.getMemorySpace()
             << "; a kernel's arguments are in global memory, leave the space out";
    if (!getUnitStrideDim(type))
      return emitError(argument.getLoc())
             << "argument " << argument.getArgNumber() << " has type " << type
             << ", in which no stride is known to be 1; accepted are row-major (strided<[?, 1]>) "
                "and column-major (strided<[1, ?]>) matrices";
    SmallVector<unsigned, 2> dims = llvm::to_vector<2>(llvm::seq<unsigned>(0, type.getRank()));
    views[argument] = {argument, dims};
    ProblemNode input{Kind::Input, argument.getLoc(), type.getElementType(), dims};
    input.argument = argument.getArgNumber();
    contents[argument] = add(input);
  }
  return success();
}

FailureOr<Problem> ProblemAnalysis::run() {
  if (failed(checkSignature()))
    return failure();
  for (Operation &op : func.getBody().front())
    if (failed(visit(op)))
      return failure();
  if (!hasMatmul)
    return emitError(func.getLoc(), "a kernel has one linalg.matmul, this function has none");
  if (failed(checkOutputs()) || failed(problem.nameArguments(func)) ||
      failed(problem.nameDimensions(func)) || failed(problem.collectSizes(func)))
    return failure();
  return std::move(problem);
}

/// arith.addf %a, %b : tensor<…>
static bool isElementwiseOnTensors(Operation *op) {
  return OpTrait::hasElementwiseMappableTraits(op) && op->getNumResults() == 1 &&
         isa<RankedTensorType>(op->getResult(0).getType());
}

LogicalResult ProblemAnalysis::visit(Operation &op) {
  return TypeSwitch<Operation *, LogicalResult>(&op)
      .Case<linalg::LinalgOp>([&](auto linalgOp) {
        return linalgOp.getNumReductionLoops() ? visitMatmul(linalgOp) : visitElementwise(linalgOp);
      })
      .Case<memref::TransposeOp>([&](auto transpose) { return visitTranspose(transpose); })
      .Case<memref::CastOp>([&](auto cast) -> LogicalResult {
        auto source = views.find(cast.getSource());
        if (source == views.end())
          return cast.emitOpError("casts something that isn't an argument or an allocation");
        views[cast.getResult()] = View(source->second);
        return success();
      })
      .Case<memref::AllocOp, memref::AllocaOp>([&](auto alloc) {
        SmallVector<unsigned, 2> dims =
            llvm::to_vector<2>(llvm::seq<unsigned>(0, alloc.getType().getRank()));
        views[alloc.getResult()] = {alloc.getResult(), dims};
        return success();
      })
      .Case<memref::CopyOp>([&](auto copy) -> LogicalResult {
        std::optional<unsigned> node = read(copy.getSource());
        if (!node)
          return copy.emitOpError("copies a buffer that nothing was written to");
        write(copy.getTarget(), *node);
        return success();
      })
      .Case<bufferization::ToTensorOp>([&](auto toTensor) {
        if (std::optional<unsigned> node = read(toTensor.getBuffer()))
          contents[toTensor.getResult()] = *node;
        return success();
      })
      .Case<bufferization::MaterializeInDestinationOp>([&](auto materialize) -> LogicalResult {
        std::optional<unsigned> node = read(materialize.getSource());
        if (!node || !isa<MemRefType>(materialize.getDest().getType()))
          return materialize.emitOpError(
              "expected a tensor that was written and a memref to put it in");
        write(materialize.getDest(), *node);
        return success();
      })
      .Case<memref::DeallocOp, tensor::EmptyOp, func::ReturnOp>([](auto) { return success(); })
      .Default([&](Operation *other) -> LogicalResult {
        if (isElementwiseOnTensors(other))
          return visitTensorOp(*other);
        // Constants and sizes; whoever uses them looks at what they are.
        if (other->hasTrait<OpTrait::ConstantLike>() ||
            (isMemoryEffectFree(other) && !other->getNumRegions() &&
             llvm::all_of(other->getResultTypes(), [](Type type) { return type.isIndex(); })))
          return success();
        return other->emitOpError(
            "isn't supported in a kernel; supported are linalg.matmul, "
            "linalg.fill, elementwise and broadcasting linalg ops, "
            "memref.transpose, memref.cast, memref.alloc, memref.copy and tensor.empty");
      });
}

LogicalResult ProblemAnalysis::visitTranspose(memref::TransposeOp op) {
  auto source = views.find(op.getIn());
  if (source == views.end())
    return op.emitOpError("transposes something that isn't an argument or an allocation");
  View view{source->second.root, {}};
  for (AffineExpr expr : op.getPermutation().getResults())
    view.rootDims.push_back(source->second.rootDims[cast<AffineDimExpr>(expr).getPosition()]);
  views[op.getResult()] = std::move(view);
  return success();
}

//===----------------------------------------------------------------------===//
// Contents of buffers and tensors
//===----------------------------------------------------------------------===//

unsigned ProblemAnalysis::substitute(unsigned id, ArrayRef<unsigned> axisMap) {
  if (llvm::equal(axisMap, llvm::seq<unsigned>(0, axisMap.size())))
    return id;
  // Operands come before their users; each node is visited once, however many users it has.
  SmallVector<bool> reached(id + 1, false);
  reached[id] = true;
  for (unsigned i = id + 1; i-- > 0;)
    if (reached[i])
      for (unsigned operand : problem.nodes[i].operands)
        reached[operand] = true;
  SmallVector<unsigned> replaced(id + 1);
  for (unsigned i = 0; i <= id; ++i) {
    if (!reached[i])
      continue;
    ProblemNode node = problem.nodes[i];
    for (unsigned &axis : node.axes)
      axis = axisMap[axis];
    for (unsigned &operand : node.operands)
      operand = replaced[operand];
    bool changed =
        node.axes != problem.nodes[i].axes || node.operands != problem.nodes[i].operands;
    replaced[i] = changed ? add(std::move(node)) : i;
  }
  return replaced[id];
}

std::optional<unsigned> ProblemAnalysis::read(Value value) {
  DenseElementsAttr dense;
  if (matchPattern(value, m_Constant(&dense)) && dense.isSplat()) {
    ProblemNode node{Kind::Constant, value.getLoc(), dense.getElementType()};
    node.value = dense.getSplatValue<TypedAttr>();
    return add(std::move(node));
  }
  auto view = views.find(value);
  auto found = contents.find(view == views.end() ? value : view->second.root);
  if (found == contents.end())
    return std::nullopt;
  if (view == views.end())
    return found->second;
  SmallVector<unsigned, 2> axisMap(view->second.rootDims.size());
  for (auto [dim, rootDim] : llvm::enumerate(view->second.rootDims))
    axisMap[rootDim] = dim;
  return substitute(found->second, axisMap);
}

void ProblemAnalysis::write(Value value, unsigned node) {
  auto view = views.find(value);
  if (view == views.end())
    contents[value] = node;
  else
    contents[view->second.root] = substitute(node, view->second.rootDims);
}

std::optional<unsigned> ProblemAnalysis::constant(Value value) {
  TypedAttr attr;
  if (!matchPattern(value, m_Constant(&attr)) || isa<ShapedType>(attr.getType()))
    return std::nullopt;
  ProblemNode node{Kind::Constant, value.getLoc(), attr.getType()};
  node.value = attr;
  return add(std::move(node));
}

unsigned ProblemAnalysis::addCompute(Location loc, StringRef name, ArrayRef<unsigned> operands,
                                     Type type) {
  ProblemNode node{Kind::Compute, loc, type};
  node.opName = StringAttr::get(func.getContext(), name);
  node.opAttrs = DictionaryAttr::get(func.getContext());
  node.operands.assign(operands.begin(), operands.end());
  return add(std::move(node));
}

//===----------------------------------------------------------------------===//
// Outputs
//===----------------------------------------------------------------------===//

LogicalResult ProblemAnalysis::checkOutput(BlockArgument argument, unsigned root) {
  auto type = cast<MemRefType>(argument.getType());
  if (type.getRank() != 2)
    return emitError(argument.getLoc())
           << "argument " << argument.getArgNumber() << " is written, but has type " << type
           << "; a kernel writes matrices of M x N";
  if (*getUnitStrideDim(type) != 1)
    return emitError(argument.getLoc())
           << "argument " << argument.getArgNumber() << " is written, but " << type
           << " is column-major; accepted are row-major outputs";
  bool usesProduct = false;
  SetVector<unsigned> used;
  used.insert(root);
  for (unsigned i = 0; i < used.size(); ++i) {
    const ProblemNode &node = problem.nodes[used[i]];
    used.insert_range(node.operands);
    bool inPlace = node.axes == SmallVector<unsigned, 2>{0, 1};
    if (node.kind == Kind::Product && !inPlace)
      return emitError(node.loc) << "C is permuted: the product is stored transposed; accepted is "
                                    "a row-major C";
    usesProduct |= node.kind == Kind::Product;
    if (node.kind == Kind::Input && !isTileElement(node.type))
      return emitError(node.loc) << "argument " << node.argument << " has element type "
                                 << node.type << "; accepted are f32, f16 and bf16";
    if (node.kind == Kind::Input && node.axes.size() == 2 && node.axes[0] == node.axes[1])
      return emitError(node.loc) << "argument " << node.argument
                                 << " is read along its diagonal; accepted are [m, n] and [n, m]";
    if (node.kind == Kind::Input && !inPlace && problem.isOutput(node.argument))
      return emitError(argument.getLoc())
             << "argument " << node.argument
             << " is read at another place than it is written; accepted is its old value at (m, n)";
  }
  if (!usesProduct)
    return emitError(argument.getLoc()) << "argument " << argument.getArgNumber()
                                        << " is written with something that doesn't depend on the "
                                           "matmul; put that in a function of its own";
  return success();
}

LogicalResult ProblemAnalysis::checkOutputs() {
  for (BlockArgument argument : func.getArguments()) {
    unsigned node = contents[argument];
    const ProblemNode &content = problem.nodes[node];
    bool unchanged = content.kind == Kind::Input && content.argument == argument.getArgNumber() &&
                     llvm::is_sorted(content.axes);
    if (!unchanged)
      problem.outputs.push_back({argument.getArgNumber(), node});
  }
  if (problem.outputs.empty())
    return emitError(func.getLoc(),
                     "a kernel writes at least one of its arguments, this function none");
  for (const Problem::Output &output : problem.outputs)
    if (failed(checkOutput(func.getArgument(output.argument), output.node)))
      return failure();
  for (unsigned operand : {problem.lhs.argument, problem.rhs.argument})
    if (problem.isOutput(operand))
      return emitError(func.getArgument(operand).getLoc())
             << "argument " << operand << " is an operand of the matmul and is written, too; "
             << "write to another argument";
  return success();
}
