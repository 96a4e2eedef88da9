//===- Tile.cpp - From linalg on matrices to a program on tiles -----------===//

#include "Kernel.h"
#include "Problem.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "tcc/Dialect/Tcc/IR/TccOps.h"
#include "tcc/Dialect/Tcc/Transforms/Passes.h"

namespace mlir::tcc {
#define GEN_PASS_DEF_TILEPASS
#include "tcc/Dialect/Tcc/Transforms/Passes.h.inc"
} // namespace mlir::tcc

using namespace mlir;
using namespace mlir::tcc;

namespace {
/// Writes the tile program of a problem in front of the function's terminator.
class TileBuilder {
public:
  TileBuilder(func::FuncOp func, const Problem &problem, ScheduleAttr schedule)
      : func(func), problem(problem), schedule(schedule),
        b(func.getBody().front().getTerminator()) {}

  void build();

private:
  /// The argument with its dimensions in the order of `axes`: transposed, if they are the other
  /// way round.
  Value matrix(unsigned argument, bool transposed);
  OpFoldResult sizeOf(Axis axis);
  Value buildLoop(Value m, Value n, Value k);
  void buildEpilogue(Value accumulator, Value m, Value n);
  Value buildNode(const ProblemNode &node, ArrayRef<Value> values, Value accumulator, Value m,
                  Value n);
  Value buildInput(const ProblemNode &node, Value m, Value n);

  /// An index constant at the top of the function.
  Value index(int64_t value) {
    Value &constant = indices[value];
    if (!constant) {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(&func.getBody().front());
      constant = arith::ConstantIndexOp::create(b, func.getLoc(), value);
    }
    return constant;
  }
  RankedTensorType tile(ArrayRef<int64_t> shape, Type type) {
    return RankedTensorType::get(shape, type);
  }
  RankedTensorType resultTile(Type type) {
    return tile({schedule.getBlockM(), schedule.getBlockN()}, type);
  }

  func::FuncOp func;
  const Problem &problem;
  ScheduleAttr schedule;
  OpBuilder b;
  Value lhs, rhs;
  DenseMap<int64_t, Value> indices;
  /// Views of transposed inputs, made in front of the loops.
  DenseMap<unsigned, Value> transposedInputs;
};
} // namespace

Value TileBuilder::matrix(unsigned argument, bool transposed) {
  Value value = func.getArgument(argument);
  if (!transposed)
    return value;
  AffineMap swap = AffineMap::getPermutationMap(ArrayRef<unsigned>{1, 0}, b.getContext());
  return memref::TransposeOp::create(b, value.getLoc(), value, AffineMapAttr::get(swap));
}

OpFoldResult TileBuilder::sizeOf(Axis axis) {
  int64_t size = problem.sizes[unsigned(axis)];
  if (!ShapedType::isDynamic(size))
    return b.getIndexAttr(size);
  for (auto [argument, axes] : llvm::enumerate(problem.dimAxes))
    for (auto [dim, dimAxis] : llvm::enumerate(axes))
      if (dimAxis == axis)
        return memref::DimOp::create(b, func.getLoc(), func.getArgument(argument), index(dim))
            .getResult();
  llvm_unreachable("the matmul's operands have all three axes");
}

/// The loop over K:
///
///   scf.for %k = 0 to %K step bk iter_args(%c = zero) {
///     %d = tcc.matmul (tcc.load %A[%m, %k]), (tcc.load %B[%k, %n]), %c
///     scf.yield %d }
Value TileBuilder::buildLoop(Value m, Value n, Value k) {
  Location loc = problem.matmulLoc;
  int64_t blockM = schedule.getBlockM(), blockN = schedule.getBlockN();
  int64_t blockK = schedule.getBlockK();
  RankedTensorType accType = resultTile(b.getF32Type());
  Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(accType));
  auto loop = scf::ForOp::create(b, loc, index(0), k, index(blockK), zero);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Type elementType = cast<MemRefType>(lhs.getType()).getElementType();
  Value iv = loop.getInductionVar();
  Value a = LoadOp::create(b, loc, tile({blockM, blockK}, elementType), lhs, ValueRange{m, iv},
                           IntegerAttr(), IntegerAttr());
  Value bTile = LoadOp::create(b, loc, tile({blockK, blockN}, elementType), rhs, ValueRange{iv, n},
                               IntegerAttr(), IntegerAttr());
  Value d = MatmulOp::create(b, loc, a, bTile, loop.getRegionIterArg(0));
  scf::YieldOp::create(b, loc, d);
  return loop.getResult(0);
}

Value TileBuilder::buildInput(const ProblemNode &node, Value m, Value n) {
  auto load = [&](Value source, ArrayRef<int64_t> shape, ValueRange offsets) -> Value {
    return LoadOp::create(b, node.loc, tile(shape, node.type), source, offsets, IntegerAttr(),
                          IntegerAttr());
  };
  int64_t blockM = schedule.getBlockM(), blockN = schedule.getBlockN();
  Value argument = func.getArgument(node.argument);
  if (node.axes.size() == 2) {
    auto view = transposedInputs.find(node.argument);
    bool transposed = node.axes[0] == unsigned(Axis::N);
    return load(transposed ? view->second : argument, {blockM, blockN}, {m, n});
  }
  // One-dimensional: the same for all rows (columns).
  bool alongM = node.axes[0] == unsigned(Axis::M);
  Value vector = load(argument, alongM ? blockM : blockN, alongM ? m : n);
  RankedTensorType type = resultTile(node.type);
  Value empty = tensor::EmptyOp::create(b, node.loc, type.getShape(), type.getElementType());
  int64_t broadcastDim = alongM ? 1 : 0;
  return linalg::BroadcastOp::create(b, node.loc, vector, empty, broadcastDim)->getResult(0);
}

Value TileBuilder::buildNode(const ProblemNode &node, ArrayRef<Value> values, Value accumulator,
                             Value m, Value n) {
  switch (node.kind) {
  case ProblemNode::Kind::Product:
    return accumulator;
  case ProblemNode::Kind::Input:
    return buildInput(node, m, n);
  case ProblemNode::Kind::Constant:
    return arith::ConstantOp::create(
        b, node.loc, DenseElementsAttr::get(resultTile(node.type), Attribute(node.value)));
  case ProblemNode::Kind::Compute:
    break;
  }
  SmallVector<Value> operands;
  for (unsigned operand : node.operands)
    operands.push_back(values[operand]);
  return b.create(node.loc, node.opName, operands, resultTile(node.type), node.opAttrs.getValue())
      ->getResult(0);
}

void TileBuilder::buildEpilogue(Value accumulator, Value m, Value n) {
  SmallVector<bool> live = problem.liveNodes();
  SmallVector<Value> values(live.size());
  for (size_t i = 0; i < live.size(); ++i)
    if (live[i])
      values[i] = buildNode(problem.nodes[i], values, accumulator, m, n);
  for (const Problem::Output &output : problem.outputs)
    StoreOp::create(b, problem.matmulLoc, values[output.node], func.getArgument(output.argument),
                    ValueRange{m, n}, IntegerAttr());
}

void TileBuilder::build() {
  lhs = matrix(problem.lhs.argument, problem.lhs.transposed);
  rhs = matrix(problem.rhs.argument, problem.rhs.transposed);
  for (auto [node, isLive] : llvm::zip(problem.nodes, problem.liveNodes()))
    if (isLive && node.kind == ProblemNode::Kind::Input && node.axes.size() == 2 &&
        node.axes[0] == unsigned(Axis::N) && !transposedInputs.count(node.argument))
      transposedInputs[node.argument] = matrix(node.argument, true);
  OpFoldResult sizeM = sizeOf(Axis::M), sizeN = sizeOf(Axis::N);
  OpFoldResult foldedK = sizeOf(Axis::K);
  Value sizeK = isa<Value>(foldedK) ? cast<Value>(foldedK) : index(*getConstantIntValue(foldedK));
  OpFoldResult zero = b.getIndexAttr(0);
  auto forall =
      scf::ForallOp::create(b, problem.matmulLoc, SmallVector<OpFoldResult>{zero, zero},
                            SmallVector<OpFoldResult>{sizeM, sizeN},
                            SmallVector<OpFoldResult>{b.getIndexAttr(schedule.getBlockM()),
                                                      b.getIndexAttr(schedule.getBlockN())},
                            /*outputs=*/ValueRange(), /*mapping=*/std::nullopt);
  b.setInsertionPointToStart(forall.getBody());
  Value m = forall.getInductionVar(0), n = forall.getInductionVar(1);
  buildEpilogue(buildLoop(m, n, sizeK), m, n);
}

static LogicalResult tileKernel(func::FuncOp func) {
  FailureOr<ScheduleAttr> schedule = getSchedule(func);
  if (failed(schedule))
    return failure();
  FailureOr<Problem> problem = Problem::analyze(func);
  if (failed(problem))
    return failure();
  SmallVector<Operation *> oldOps;
  for (Operation &op : func.getBody().front().without_terminator())
    oldOps.push_back(&op);
  TileBuilder(func, *problem, *schedule).build();
  for (Operation *op : llvm::reverse(oldOps))
    op->erase();
  setLevel(func, Level::L1);
  return success();
}

namespace {
struct TilePass : public mlir::tcc::impl::TilePassBase<TilePass> {
  using TilePassBase::TilePassBase;

  void runOnOperation() override {
    SmallVector<func::FuncOp> kernels;
    getOperation()->walk([&](func::FuncOp func) {
      // A hand-written tile program is on L1 already.
      FailureOr<Level> level = getLevel(func);
      if (!func.isDeclaration() && !(succeeded(level) && *level == Level::L1))
        kernels.push_back(func);
    });
    for (func::FuncOp func : kernels)
      if (failed(transformKernels(func, "tcc-tile", Level::L0t, tileKernel)))
        return signalPassFailure();
  }
};
} // namespace
