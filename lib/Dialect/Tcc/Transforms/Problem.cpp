//===- Problem.cpp - What a kernel on memrefs computes --------------------===//

#include "Problem.h"
#include "Kernel.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
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

namespace mlir::tcc {

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
  LogicalResult visitElementwise(linalg::LinalgOp op);
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

FailureOr<Problem> Problem::analyze(func::FuncOp func) { return ProblemAnalysis(func).run(); }

/// The types that elementwise work and its inputs may have.
static bool isTileElement(Type type) { return type.isF32() || type.isF16() || type.isBF16(); }

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
  ProblemNode node = problem.nodes[id];
  bool changed = false;
  for (unsigned &axis : node.axes) {
    changed |= axis != axisMap[axis];
    axis = axisMap[axis];
  }
  for (unsigned &operand : node.operands) {
    unsigned replaced = substitute(operand, axisMap);
    changed |= replaced != operand;
    operand = replaced;
  }
  return changed ? add(std::move(node)) : id;
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
// The matmul
//===----------------------------------------------------------------------===//

/// The loops that index an operand, or nothing if its map isn't one loop for each dimension.
static std::optional<SmallVector<unsigned, 2>> loopsOf(AffineMap map) {
  SmallVector<unsigned, 2> loops;
  for (AffineExpr expr : map.getResults()) {
    auto dim = dyn_cast<AffineDimExpr>(expr);
    if (!dim)
      return std::nullopt;
    loops.push_back(dim.getPosition());
  }
  return loops;
}

FailureOr<Problem::Operand> ProblemAnalysis::matmulOperand(linalg::LinalgOp op, unsigned index,
                                                           unsigned outerLoop, unsigned kLoop,
                                                           StringRef accepted) {
  StringRef role = index == 0 ? "A" : "B";
  AffineMap map = op.getIndexingMapsArray()[index];
  std::optional<SmallVector<unsigned, 2>> loops = loopsOf(map);
  if (map.getNumResults() < 2)
    return op.emitError() << "operand " << role << " is broadcast by its indexing map "
                          << AffineMapAttr::get(map) << "; accepted are " << accepted;
  if (!loops || loops->size() != 2 || !llvm::is_contained(*loops, outerLoop) ||
      !llvm::is_contained(*loops, kLoop))
    return op.emitError() << "operand " << role << " has the indexing map "
                          << AffineMapAttr::get(map) << "; accepted are " << accepted;
  std::optional<unsigned> node = read(op.getDpsInputOperand(index)->get());
  if (!node || problem.nodes[*node].kind != Kind::Input)
    return op.emitError() << "operand " << role
                          << " is the result of other ops; accepted is an argument of the kernel, "
                             "transposed or not";
  const ProblemNode &input = problem.nodes[*node];
  bool kFirst = (*loops)[input.axes[0]] == kLoop;
  return Problem::Operand{input.argument, kFirst == (index == 0)};
}

LogicalResult ProblemAnalysis::visitMatmul(linalg::LinalgOp op) {
  if (!linalg::isaContractionOpInterface(op) || op.getNumLoops() != 3 ||
      op.getNumReductionLoops() != 1 || op.getNumDpsInputs() != 2 || op.getNumDpsInits() != 1)
    return op.emitOpError(
        "isn't supported in a kernel; the one reduction accepted is a matmul of two "
        "matrices (linalg.matmul)");
  if (hasMatmul) {
    InFlightDiagnostic diag = op.emitError("a kernel has one matmul, this is the second; put it in "
                                           "a function of its own");
    diag.attachNote(problem.matmulLoc) << "the first one";
    return diag;
  }
  hasMatmul = true;
  problem.matmulLoc = op.getLoc();

  AffineMap outMap = op.getIndexingMapsArray()[2];
  AffineMap lhsMap = op.getIndexingMapsArray()[0];
  std::optional<SmallVector<unsigned, 2>> out = loopsOf(outMap);
  if (!out || out->size() != 2)
    return op.emitError() << "C has the indexing map " << AffineMapAttr::get(outMap)
                          << "; accepted is one to (m, n)";
  unsigned mLoop = (*out)[0], nLoop = (*out)[1];
  unsigned kLoop = 3 - mLoop - nLoop;
  if (lhsMap.isFunctionOfDim(nLoop) && !lhsMap.isFunctionOfDim(mLoop))
    return op.emitError() << "C is permuted by its indexing map " << AffineMapAttr::get(outMap)
                          << "; accepted is C indexed by A's row, then B's column";
  FailureOr<Problem::Operand> lhs = matmulOperand(op, 0, mLoop, kLoop, "(m, k) and (k, m)");
  if (failed(lhs))
    return failure();
  FailureOr<Problem::Operand> rhs = matmulOperand(op, 1, nLoop, kLoop, "(k, n) and (n, k)");
  if (failed(rhs))
    return failure();
  problem.lhs = *lhs;
  problem.rhs = *rhs;

  Type aType = getElementTypeOrSelf(op.getDpsInputOperand(0)->get());
  Type bType = getElementTypeOrSelf(op.getDpsInputOperand(1)->get());
  Type cType = getElementTypeOrSelf(op.getDpsInitOperand(0)->get());
  if (aType != bType)
    return op.emitError() << "A has element type " << aType << " and B " << bType
                          << "; the tensor cores multiply two of the same type";
  if (!aType.isF16() && !aType.isBF16())
    return op.emitError() << "A and B have element type " << aType << "; accepted are f16 and bf16";
  if (!cType.isF32() && !cType.isF16() && !cType.isBF16())
    return op.emitError() << "C has element type " << cType << "; accepted are f32, f16 and bf16";
  if (lhs->argument == rhs->argument)
    return op.emitError("A and B are the same argument; pass the matrix as two arguments");

  std::optional<unsigned> init = read(op.getDpsInitOperand(0)->get());
  if (!init)
    return op.emitOpError("adds to a C that nothing was written to; fill it with zero first");
  Type f32 = Float32Type::get(func.getContext());
  unsigned result = add({Kind::Product, op.getLoc(), f32, {0, 1}});
  const ProblemNode &old = problem.nodes[*init];
  if (old.kind != Kind::Constant || !matchPattern(old.value, m_AnyZeroFloat())) {
    if (cType != f32)
      init = addCompute(op.getLoc(), arith::ExtFOp::getOperationName(), *init, f32);
    result = addCompute(op.getLoc(), arith::AddFOp::getOperationName(), {result, *init}, f32);
  }
  if (cType != f32) {
    problem.roundsToNarrow = true;
    result = addCompute(op.getLoc(), arith::TruncFOp::getOperationName(), result, cType);
  }
  write(op.hasPureTensorSemantics() ? op->getResult(0) : op.getDpsInitOperand(0)->get(), result);
  return success();
}

//===----------------------------------------------------------------------===//
// Elementwise ops
//===----------------------------------------------------------------------===//

FailureOr<unsigned> ProblemAnalysis::visitBodyOp(Operation &op,
                                                 const DenseMap<Value, unsigned> &values) {
  if (getReferenceOp(op.getName().getStringRef()).empty())
    return op.emitOpError("isn't supported in an elementwise body; supported are ")
           << listElementwiseOps();
  Type type = getElementTypeOrSelf(op.getResult(0).getType());
  if (!isTileElement(type) && !type.isInteger(1))
    return op.emitOpError("computes ") << type << "; accepted are f32, f16 and bf16";
  ProblemNode node{Kind::Compute, op.getLoc(), type};
  node.opName = op.getName().getIdentifier();
  node.opAttrs = op.getAttrDictionary();
  for (Value operand : op.getOperands()) {
    auto found = values.find(operand);
    std::optional<unsigned> id =
        found != values.end() ? std::optional<unsigned>(found->second) : constant(operand);
    if (!id)
      return op.emitOpError("uses a value that is neither an element of an operand nor a constant");
    node.operands.push_back(*id);
  }
  return add(std::move(node));
}

LogicalResult ProblemAnalysis::visitTensorOp(Operation &op) {
  DenseMap<Value, unsigned> values;
  for (Value operand : op.getOperands())
    if (std::optional<unsigned> node = read(operand))
      values[operand] = *node;
  FailureOr<unsigned> node = visitBodyOp(op, values);
  if (failed(node))
    return failure();
  contents[op.getResult(0)] = *node;
  return success();
}

LogicalResult ProblemAnalysis::visitElementwise(linalg::LinalgOp op) {
  // Everything is computed over the loops first, then renamed to the output's dimensions.
  DenseMap<Value, unsigned> values;
  for (OpOperand &operand : op->getOpOperands()) {
    BlockArgument element = op.getMatchingBlockArgument(&operand);
    if (element.use_empty())
      continue;
    std::optional<unsigned> node;
    if (!isa<ShapedType>(operand.get().getType())) {
      node = constant(operand.get());
      if (!node)
        return op.emitError("operand ")
               << operand.getOperandNumber()
               << " is a scalar that isn't a constant; pass it as a memref";
    } else {
      AffineMap map = op.getMatchingIndexingMap(&operand);
      std::optional<SmallVector<unsigned, 2>> loops = loopsOf(map);
      if (!loops)
        return op.emitError("operand ")
               << operand.getOperandNumber() << " has the indexing map " << AffineMapAttr::get(map)
               << "; accepted are maps that give each dimension one loop, like (d0, d1) -> (d1)";
      node = read(operand.get());
      if (!node)
        return op.emitError("operand ")
               << operand.getOperandNumber() << " is read before anything was written to it";
      node = substitute(*node, *loops);
    }
    values[element] = *node;
  }
  Operation *yield = op.getBlock()->getTerminator();
  for (Operation &inner : op.getBlock()->without_terminator()) {
    if (inner.hasTrait<OpTrait::ConstantLike>())
      continue;
    FailureOr<unsigned> node = visitBodyOp(inner, values);
    if (failed(node))
      return failure();
    values[inner.getResult(0)] = *node;
  }
  SmallVector<std::pair<Value, unsigned>> results;
  for (OpOperand &init : op.getDpsInitsMutable()) {
    AffineMap map = op.getMatchingIndexingMap(&init);
    std::optional<SmallVector<unsigned, 2>> loops = loopsOf(map);
    if (!loops || loops->size() != op.getNumLoops())
      return op.emitOpError("writes through the indexing map ")
             << AffineMapAttr::get(map) << "; accepted are permutations of the loops";
    SmallVector<unsigned, 2> outDims(loops->size());
    for (auto [dim, loop] : llvm::enumerate(*loops))
      outDims[loop] = dim;
    unsigned index = init.getOperandNumber() - op.getNumDpsInputs();
    Value yielded = yield->getOperand(index);
    auto found = values.find(yielded);
    std::optional<unsigned> node =
        found != values.end() ? std::optional<unsigned>(found->second) : constant(yielded);
    if (!node)
      return op.emitOpError(
          "yields a value that is neither computed from its operands nor constant");
    results.push_back({op.hasPureTensorSemantics() ? op->getResult(index) : init.get(),
                       substitute(*node, outDims)});
  }
  for (auto [value, node] : results)
    write(value, node);
  return success();
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
  SmallVector<unsigned> worklist = {root};
  while (!worklist.empty()) {
    const ProblemNode &node = problem.nodes[worklist.pop_back_val()];
    worklist.append(node.operands.begin(), node.operands.end());
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
