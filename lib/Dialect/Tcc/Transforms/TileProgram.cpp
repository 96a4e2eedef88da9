//===- TileProgram.cpp - The facts of a hand-written tile program ---------===//

#include "Kernel.h"
#include "Problem.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "tcc/Dialect/Tcc/IR/TccOps.h"

using namespace mlir;
using namespace mlir::tcc;

namespace mlir::tcc {

class TileAnalysis {
public:
  explicit TileAnalysis(func::FuncOp func) : func(func), problem(func.getLoc()) {}
  FailureOr<Problem> run(std::array<int64_t, 3> &block);

private:
  LogicalResult checkArguments();
  LogicalResult findLoops(std::array<int64_t, 3> &block);
  FailureOr<Problem::Operand> visitOperand(Value operand, StringRef role, Axis outer);
  LogicalResult visitEpilogue();
  LogicalResult checkBounds();
  LogicalResult checkBound(Operation *loop, Axis axis, OpFoldResult bound);

  /// An argument, or a transpose or cast of one, and the argument's dimension for each of the
  /// value's.
  struct Source {
    unsigned argument;
    SmallVector<unsigned, 2> dims;
  };
  FailureOr<Source> trace(Operation *user, Value matrix);
  /// The axis along which an offset moves.
  std::optional<Axis> axisOf(Value offset);

  func::FuncOp func;
  Problem problem;
  scf::ForallOp forall;
  MatmulLoop matmul;
};

} // namespace mlir::tcc

FailureOr<Problem> Problem::analyzeTiles(func::FuncOp func, std::array<int64_t, 3> &block) {
  return TileAnalysis(func).run(block);
}

LogicalResult TileAnalysis::checkArguments() {
  if (func.getNumResults())
    return emitError(func.getLoc(), "a tile program returns nothing; it stores to its arguments");
  for (BlockArgument argument : func.getArguments()) {
    auto type = dyn_cast<MemRefType>(argument.getType());
    if (!type || type.getRank() < 1 || type.getRank() > 2 || !getUnitStrideDim(type))
      return emitError(argument.getLoc())
             << "a tile program's arguments are memrefs of rank 1 or 2 with a stride that is "
                "statically 1; argument "
             << argument.getArgNumber() << " is " << argument.getType();
  }
  return success();
}

LogicalResult TileAnalysis::findLoops(std::array<int64_t, 3> &block) {
  for (auto found : func.getOps<scf::ForallOp>()) {
    if (forall)
      return found.emitError("a tile program has one scf.forall at its top level, this is the "
                             "second (L1.1)");
    forall = found;
  }
  if (!forall)
    return emitError(func.getLoc(),
                     "a tile program has an scf.forall over output tiles at its top level "
                     "(L1.1)");
  ArrayRef<int64_t> steps = forall.getStaticStep();
  if (forall.getRank() != 2 || llvm::any_of(steps, ShapedType::isDynamic) ||
      llvm::any_of(forall.getStaticLowerBound(), [](int64_t bound) { return bound != 0; }))
    return forall.emitError("expected two dimensions, from 0, in constant steps: (%m, %n) = (0, 0) "
                            "to (…) step (128, 128) (L1.1)");
  FailureOr<MatmulLoop> loop = findMatmulLoop(func);
  if (failed(loop))
    return failure();
  matmul = *loop;
  std::optional<int64_t> lower = getConstantIntValue(matmul.loop.getLowerBound());
  std::optional<int64_t> step = getConstantIntValue(matmul.loop.getStep());
  if (!lower || *lower != 0 || !step || *step <= 0)
    return matmul.loop.emitError("expected a loop over K from 0 in a constant step (L1.3)");
  block = {steps[0], steps[1], *step};

  RankedTensorType acc = matmul.matmuls.front().getAcc().getType();
  auto lhs = cast<ShapedType>(matmul.matmuls.front().getLhs().getType());
  if (acc.getDimSize(0) != block[0] || acc.getDimSize(1) != block[1] ||
      lhs.getDimSize(1) != block[2])
    return matmul.matmuls.front().emitOpError("multiplies tiles of ")
           << acc.getDimSize(0) << "x" << acc.getDimSize(1) << "x" << lhs.getDimSize(1)
           << ", but the loops step by " << block[0] << ", " << block[1] << " and " << block[2]
           << " (L1.5)";
  return success();
}

FailureOr<TileAnalysis::Source> TileAnalysis::trace(Operation *user, Value matrix) {
  SmallVector<unsigned, 2> dims =
      llvm::to_vector<2>(llvm::seq<unsigned>(0, cast<MemRefType>(matrix.getType()).getRank()));
  while (Operation *op = matrix.getDefiningOp()) {
    if (auto transpose = dyn_cast<memref::TransposeOp>(op)) {
      for (unsigned &dim : dims)
        dim = transpose.getPermutation().getDimPosition(dim);
      matrix = transpose.getIn();
    } else if (auto cast = dyn_cast<memref::CastOp>(op)) {
      matrix = cast.getSource();
    } else {
      return user->emitError("expected an argument of the function, transposed or not");
    }
  }
  auto argument = dyn_cast<BlockArgument>(matrix);
  if (!argument || argument.getOwner() != &func.getBody().front())
    return user->emitError("expected an argument of the function, transposed or not");
  return Source{argument.getArgNumber(), dims};
}

std::optional<Axis> TileAnalysis::axisOf(Value offset) {
  if (offset == forall.getInductionVars()[0])
    return Axis::M;
  if (offset == forall.getInductionVars()[1])
    return Axis::N;
  if (offset == matmul.loop.getInductionVar())
    return Axis::K;
  return std::nullopt;
}

FailureOr<Problem::Operand> TileAnalysis::visitOperand(Value operand, StringRef role, Axis outer) {
  auto load = operand.getDefiningOp<LoadOp>();
  if (!load || load->getParentOp() != matmul.loop)
    return matmul.matmuls.front().emitError("operand ")
           << role << " isn't a tcc.load in the loop (L1.3)";
  FailureOr<Source> source = trace(load, load.getSource());
  if (failed(source))
    return failure();
  unsigned kPosition = outer == Axis::M ? 1 : 0;
  if (load.getOffsets().size() != 2 || axisOf(load.getOffsets()[kPosition]) != Axis::K ||
      axisOf(load.getOffsets()[1 - kPosition]) != outer)
    return load.emitError("expected the offsets ")
           << (outer == Axis::M ? "[%m, %k]" : "[%k, %n]") << " for operand " << role << " (L1.3)";
  bool kFirst = source->dims[kPosition] == 0;
  return Problem::Operand{source->argument, kFirst == (outer == Axis::M)};
}

/// Inputs and outputs of the epilogue; a Compute node that stands for all of it keeps the inputs
/// alive.
LogicalResult TileAnalysis::visitEpilogue() {
  SmallVector<unsigned> inputs;
  WalkResult walk = forall.walk([&](LoadOp load) -> WalkResult {
    if (load->getParentOp() == matmul.loop)
      return WalkResult::advance();
    FailureOr<Source> source = trace(load, load.getSource());
    if (failed(source))
      return WalkResult::interrupt();
    ProblemNode node{ProblemNode::Kind::Input, load.getLoc(),
                     cast<MemRefType>(load.getSource().getType()).getElementType()};
    node.argument = source->argument;
    node.axes.resize(source->dims.size());
    for (auto [dim, offset] : llvm::enumerate(load.getOffsets())) {
      std::optional<Axis> axis = axisOf(offset);
      if (!axis || *axis == Axis::K)
        return load.emitError("expected offsets of the tile, %m or %n (L1.4)"),
               WalkResult::interrupt();
      node.axes[source->dims[dim]] = unsigned(*axis);
    }
    inputs.push_back(problem.nodes.size());
    problem.nodes.push_back(std::move(node));
    return WalkResult::advance();
  });
  if (walk.wasInterrupted())
    return failure();
  ProblemNode epilogue{ProblemNode::Kind::Compute, forall.getLoc(),
                       Float32Type::get(func.getContext())};
  epilogue.operands.assign(inputs.begin(), inputs.end());
  problem.nodes.push_back(std::move(epilogue));

  for (StoreOp store : forall.getOps<StoreOp>()) {
    FailureOr<Source> source = trace(store, store.getDest());
    if (failed(source))
      return failure();
    if (store.getOffsets().size() != 2 || axisOf(store.getOffsets()[0]) != Axis::M ||
        axisOf(store.getOffsets()[1]) != Axis::N || source->dims[0] != 0)
      return store.emitError("expected a row-major matrix and the offsets [%m, %n] (L1.6)");
    if (problem.isOutput(source->argument))
      return store.emitOpError("stores to a matrix that is already stored to (L1.6)");
    problem.outputs.push_back({source->argument, unsigned(problem.nodes.size() - 1)});
  }
  if (problem.outputs.empty())
    return forall.emitError("expected a tcc.store of the result (L1.6)");
  return success();
}

/// A loop ends where its matrices do: loads and stores are checked against its bound alone.
LogicalResult TileAnalysis::checkBound(Operation *loop, Axis axis, OpFoldResult bound) {
  StringRef name = problem.axisNames[unsigned(axis)];
  if (std::optional<int64_t> constant = getConstantIntValue(bound)) {
    int64_t size = problem.sizes[unsigned(axis)];
    if (*constant == size)
      return success();
    InFlightDiagnostic diag = loop->emitError("the loop over ")
                              << name << " ends at " << *constant << ", but " << name << " is ";
    if (ShapedType::isDynamic(size))
      return diag << "known at launch only; expected a memref.dim (L1.1)";
    return diag << size << " (L1.1)";
  }
  auto dim = cast<Value>(bound).getDefiningOp<memref::DimOp>();
  std::optional<int64_t> index = dim ? dim.getConstantIndex() : std::nullopt;
  if (!index)
    return loop->emitError("expected the loop over ")
           << name << " to end at a constant or a memref.dim of an argument (L1.1)";
  FailureOr<Source> source = trace(dim, dim.getSource());
  if (failed(source))
    return failure();
  unsigned argument = source->argument;
  if (*index >= 0 && *index < int64_t(source->dims.size()) &&
      problem.dimAxes[argument][source->dims[*index]] == axis)
    return success();
  return loop->emitError("the loop over ")
         << name << " ends at dimension " << *index << " of argument '"
         << problem.argumentNames[argument] << "', which isn't " << name << " (L1.1)";
}

LogicalResult TileAnalysis::checkBounds() {
  SmallVector<OpFoldResult> ends = forall.getMixedUpperBound();
  return success(succeeded(checkBound(forall, Axis::M, ends[0])) &&
                 succeeded(checkBound(forall, Axis::N, ends[1])) &&
                 succeeded(checkBound(matmul.loop, Axis::K, matmul.loop.getUpperBound())));
}

FailureOr<Problem> TileAnalysis::run(std::array<int64_t, 3> &block) {
  if (failed(checkArguments()) || failed(findLoops(block)))
    return failure();
  MatmulOp op = matmul.matmuls.front();
  problem.matmulLoc = op.getLoc();
  FailureOr<Problem::Operand> lhs = visitOperand(op.getLhs(), "A", Axis::M);
  if (failed(lhs))
    return failure();
  FailureOr<Problem::Operand> rhs = visitOperand(op.getRhs(), "B", Axis::N);
  if (failed(rhs))
    return failure();
  problem.lhs = *lhs;
  problem.rhs = *rhs;
  if (failed(visitEpilogue()) || failed(problem.nameArguments(func)) ||
      failed(problem.nameDimensions(func)) || failed(problem.collectSizes(func)) ||
      failed(checkBounds()))
    return failure();
  return std::move(problem);
}
