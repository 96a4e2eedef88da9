//===- ProblemOps.cpp - The matmul and the elementwise ops of a problem ---===//

#include "Kernel.h"
#include "ProblemAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::tcc;

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

/// A contraction of two operands to one, over one of three loops.
static bool isMatmul(linalg::LinalgOp op) {
  return linalg::isaContractionOpInterface(op) && op.getNumLoops() == 3 &&
         op.getNumReductionLoops() == 1 && op.getNumDpsInputs() == 2 && op.getNumDpsInits() == 1;
}

/// The value that `value` is a wider form of, or itself.
static Value skipExtF(Value value) {
  auto extf = value.getDefiningOp<arith::ExtFOp>();
  return extf ? extf.getIn() : value;
}

/// Whether the body yields c + a * b, in C's type or wider ones. A contraction in linalg's sense
/// may do more: negate an operand or reinterpret its bits, or round it or the product.
static bool multipliesAndAdds(linalg::LinalgOp op) {
  Block *body = op.getBlock();
  Value a = body->getArgument(0), b = body->getArgument(1), c = body->getArgument(2);
  Value yielded = body->getTerminator()->getOperand(0);
  if (auto truncf = yielded.getDefiningOp<arith::TruncFOp>(); truncf && !truncf.getRoundingmode())
    yielded = truncf.getIn();
  auto sum = yielded.getDefiningOp<arith::AddFOp>();
  if (!sum)
    return false;
  Value product = skipExtF(sum.getLhs()) == c ? sum.getRhs() : sum.getLhs();
  Value old = product == sum.getRhs() ? sum.getLhs() : sum.getRhs();
  auto mul = product.getDefiningOp<arith::MulFOp>();
  if (!mul || skipExtF(old) != c)
    return false;
  Value lhs = skipExtF(mul.getLhs()), rhs = skipExtF(mul.getRhs());
  return (lhs == a && rhs == b) || (lhs == b && rhs == a);
}

LogicalResult ProblemAnalysis::matchMatmul(linalg::LinalgOp op) {
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
  if (!multipliesAndAdds(op))
    return op.emitOpError("isn't a plain matmul; accepted is a body that adds the product of A's "
                          "and B's elements, as they are or widened by arith.extf, to C's");
  if (lhs->argument == rhs->argument)
    return op.emitError("A and B are the same argument; pass the matrix as two arguments");
  return success();
}

LogicalResult ProblemAnalysis::visitMatmul(linalg::LinalgOp op) {
  if (!isMatmul(op))
    return op.emitOpError(
        "isn't supported in a kernel; the one reduction accepted is a matmul of two "
        "matrices (linalg.matmul)");
  if (hasMatmul) {
    InFlightDiagnostic diag = op.emitError("a kernel has one matmul, this is the second; put it in "
                                           "a function of its own");
    diag.attachNote(problem.matmulLoc) << "the first one";
    return diag;
  }

  if (failed(matchMatmul(op)))
    return failure();
  hasMatmul = true;
  problem.matmulLoc = op.getLoc();
  Type cType = getElementTypeOrSelf(op.getDpsInitOperand(0)->get());
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
  if (failed(checkRounding(&op)))
    return failure();
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

/// What an operand contributes to the element at the loops' position.
FailureOr<unsigned> ProblemAnalysis::readElement(linalg::LinalgOp op, OpOperand &operand) {
  unsigned number = operand.getOperandNumber();
  if (!isa<ShapedType>(operand.get().getType())) {
    std::optional<unsigned> node = constant(operand.get());
    if (!node)
      return op.emitError("operand ")
             << number << " is a scalar that isn't a constant; pass it as a memref";
    return *node;
  }
  AffineMap map = op.getMatchingIndexingMap(&operand);
  std::optional<SmallVector<unsigned, 2>> loops = loopsOf(map);
  if (!loops)
    return op.emitError("operand ")
           << number << " has the indexing map " << AffineMapAttr::get(map)
           << "; accepted are maps that give each dimension one loop, like (d0, d1) -> (d1)";
  std::optional<unsigned> node = read(operand.get());
  if (!node)
    return op.emitError("operand ") << number << " is read before anything was written to it";
  return substitute(*node, *loops);
}

/// Renames what the body yields from loops to each output's dimensions. All is read before
/// anything is written.
LogicalResult ProblemAnalysis::writeResults(linalg::LinalgOp op,
                                            const DenseMap<Value, unsigned> &values) {
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
    Value yielded = op.getBlock()->getTerminator()->getOperand(index);
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

LogicalResult ProblemAnalysis::visitElementwise(linalg::LinalgOp op) {
  DenseMap<Value, unsigned> values;
  for (OpOperand &operand : op->getOpOperands()) {
    BlockArgument element = op.getMatchingBlockArgument(&operand);
    if (element.use_empty())
      continue;
    FailureOr<unsigned> node = readElement(op, operand);
    if (failed(node))
      return failure();
    values[element] = *node;
  }
  for (Operation &inner : op.getBlock()->without_terminator()) {
    if (isa<UnknownLoc>(inner.getLoc())) // in the body that a named op implies
      inner.setLoc(op.getLoc());
    if (inner.hasTrait<OpTrait::ConstantLike>())
      continue;
    FailureOr<unsigned> node = visitBodyOp(inner, values);
    if (failed(node))
      return failure();
    values[inner.getResult(0)] = *node;
  }
  return writeResults(op, values);
}
