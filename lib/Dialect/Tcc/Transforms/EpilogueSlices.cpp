//===- EpilogueSlices.cpp - The epilogue through shared memory ------------===//
//
// The stored values are rebuilt for each slice of rows, from the stores backwards: an op is cloned
// for the part of its value that is asked for. What doesn't depend on the row is built once.
//
//===----------------------------------------------------------------------===//

#include "EpilogueSlices.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::tcc;

namespace {

/// What a tile of the epilogue ranges over: matrices are [rows, columns]; the extents alone don't
/// tell a row vector from a column vector where the block is square.
enum class Extent { Matrix, Rows, Columns };

/// Rebuilds the epilogue for one slice after the other.
class EpilogueSlicer {
public:
  EpilogueSlicer(OpResult acc, int64_t blockRows, int64_t sliceRows, Value staging,
                 OpBuilder &builder)
      : acc(acc), blockRows(blockRows), sliceRows(sliceRows), staging(staging), builder(builder) {}

  /// Builds the inputs of `broadcasts` that have no rows, for all slices.
  LogicalResult buildColumns(ArrayRef<linalg::BroadcastOp> broadcasts);
  /// Builds the stores of the slice that begins at `row`.
  LogicalResult buildSlice(int64_t row, ArrayRef<StoreOp> stores);

private:
  FailureOr<Value> build(Value value, Extent extent);
  FailureOr<Value> buildOp(Operation *op, Extent extent);
  Value buildAccumulator();
  FailureOr<Value> buildBroadcast(linalg::BroadcastOp broadcast);
  FailureOr<Value> buildElementwise(Operation *op, Extent extent);

  /// The offsets of a matrix's tile, moved down to the slice.
  SmallVector<Value> getOffsets(ValueRange offsets, Extent extent, Location loc);
  RankedTensorType getType(RankedTensorType tile, Extent extent);

  OpResult acc;
  int64_t blockRows, sliceRows;
  Value staging;
  OpBuilder &builder;
  int64_t row = 0;
  /// What is built already: of this slice, by value and extent, and of all slices.
  DenseMap<std::pair<Value, int>, Value> slice;
  DenseMap<Value, Value> columns;
};

} // namespace

RankedTensorType EpilogueSlicer::getType(RankedTensorType tile, Extent extent) {
  if (extent == Extent::Columns)
    return tile;
  SmallVector<int64_t> shape(tile.getShape());
  shape[0] = sliceRows;
  return RankedTensorType::get(shape, tile.getElementType());
}

SmallVector<Value> EpilogueSlicer::getOffsets(ValueRange offsets, Extent extent, Location loc) {
  SmallVector<Value> moved(offsets);
  if (extent == Extent::Columns || row == 0)
    return moved;
  Value by = arith::ConstantIndexOp::create(builder, loc, row);
  moved[0] = arith::AddIOp::create(builder, loc, moved[0], by);
  return moved;
}

// %acc   →   its rows, out of the accumulator's fragments through the staging buffer
Value EpilogueSlicer::buildAccumulator() {
  Location loc = acc.getLoc();
  auto type = cast<RankedTensorType>(acc.getType());
  RankedTensorType sliceType = getType(type, Extent::Matrix);
  SmallVector<OpFoldResult> offsets = {builder.getIndexAttr(row), builder.getIndexAttr(0)};
  SmallVector<OpFoldResult> sizes = {builder.getIndexAttr(sliceRows),
                                     builder.getIndexAttr(type.getDimSize(1))};
  SmallVector<OpFoldResult> strides(2, builder.getIndexAttr(1));
  Value fragment =
      tensor::ExtractSliceOp::create(builder, loc, sliceType, acc, offsets, sizes, strides);
  LocalStoreOp::create(builder, loc, fragment, staging, Value());
  return LocalLoadOp::create(builder, loc, sliceType, staging, Value(),
                             builder.getDenseI64ArrayAttr({0, 0}));
}

FailureOr<Value> EpilogueSlicer::buildBroadcast(linalg::BroadcastOp broadcast) {
  ArrayRef<int64_t> added = broadcast.getDimensions();
  if (added.size() != 1)
    return broadcast.emitOpError() << "expects a tile of one dimension to broadcast (L1.4)";
  FailureOr<Value> input =
      build(broadcast.getInput(), added[0] == 0 ? Extent::Columns : Extent::Rows);
  FailureOr<Value> init = build(broadcast.getInit(), Extent::Matrix);
  if (failed(input) || failed(init))
    return failure();
  return linalg::BroadcastOp::create(builder, broadcast.getLoc(), *input, *init, added)
      .getResult()
      .front();
}

FailureOr<Value> EpilogueSlicer::buildElementwise(Operation *op, Extent extent) {
  SmallVector<Value> operands;
  for (Value operand : op->getOperands()) {
    FailureOr<Value> built = build(operand, extent);
    if (failed(built))
      return failure();
    operands.push_back(*built);
  }
  Operation *clone = builder.clone(*op);
  clone->setOperands(operands);
  clone->getResult(0).setType(getType(cast<RankedTensorType>(op->getResult(0).getType()), extent));
  return clone->getResult(0);
}

FailureOr<Value> EpilogueSlicer::buildOp(Operation *op, Extent extent) {
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  // A matrix's rows are the block's, whatever its columns are.
  if (extent != Extent::Columns && type.getDimSize(0) != blockRows)
    return op->emitOpError() << "expects a tile with the accumulator's " << blockRows
                             << " rows, found " << type << " (L1.4)";
  RankedTensorType sliceType = getType(type, extent);
  Location loc = op->getLoc();
  if (auto load = dyn_cast<LoadOp>(op))
    return LoadOp::create(builder, loc, sliceType, load.getSource(),
                          getOffsets(load.getOffsets(), extent, loc), load.getBytesAttr(),
                          load.getClampAttr())
        .getResult();
  if (isa<tensor::EmptyOp>(op))
    return tensor::EmptyOp::create(builder, loc, sliceType, ValueRange()).getResult();
  if (auto broadcast = dyn_cast<linalg::BroadcastOp>(op))
    return buildBroadcast(broadcast);
  DenseElementsAttr constant;
  if (matchPattern(op, m_Constant(&constant)) && constant.isSplat())
    return arith::ConstantOp::create(builder, loc, constant.resizeSplat(sliceType)).getResult();
  if (op->hasTrait<OpTrait::Elementwise>() && op->getNumResults() == 1)
    return buildElementwise(op, extent);
  return op->emitOpError() << "can't stand between the loop and the store (L1.4): expects "
                              "elementwise ops, splat constants, tcc.load and linalg.broadcast";
}

FailureOr<Value> EpilogueSlicer::build(Value value, Extent extent) {
  if (!isa<RankedTensorType>(value.getType()))
    return value;
  std::pair<Value, int> key(value, static_cast<int>(extent));
  if (Value known = extent == Extent::Columns ? columns.lookup(value) : slice.lookup(key))
    return known;
  FailureOr<Value> built = failure();
  if (value == acc)
    built = buildAccumulator();
  else if (Operation *op = value.getDefiningOp())
    built = buildOp(op, extent);
  else
    return emitError(value.getLoc())
           << "expects a tile that is made between the loop and the store (L1.4)";
  if (failed(built))
    return failure();
  (extent == Extent::Columns ? columns[value] : slice[key]) = *built;
  return built;
}

LogicalResult EpilogueSlicer::buildColumns(ArrayRef<linalg::BroadcastOp> broadcasts) {
  for (linalg::BroadcastOp broadcast : broadcasts)
    if (broadcast.getDimensions() == ArrayRef<int64_t>{0} &&
        failed(build(broadcast.getInput(), Extent::Columns)))
      return failure();
  return success();
}

LogicalResult EpilogueSlicer::buildSlice(int64_t sliceRow, ArrayRef<StoreOp> stores) {
  row = sliceRow;
  slice.clear();
  // All loads come before all stores, as they did in the whole tile.
  SmallVector<Value> values;
  for (StoreOp store : stores) {
    FailureOr<Value> value = build(store.getValue(), Extent::Matrix);
    if (failed(value))
      return failure();
    values.push_back(*value);
  }
  for (auto [store, value] : llvm::zip(llvm::to_vector(stores), values))
    StoreOp::create(builder, store.getLoc(), value, store.getDest(),
                    getOffsets(store.getOffsets(), Extent::Matrix, store.getLoc()),
                    store.getBytesAttr());
  return success();
}

/// Collects the stores; an error if a tile is loaded after one: slices would reorder them.
static FailureOr<SmallVector<StoreOp>> collectStores(Block *body) {
  SmallVector<StoreOp> stores;
  for (Operation &op : *body) {
    if (auto store = dyn_cast<StoreOp>(op)) {
      if (store.getValue().getType().getRank() != 2)
        return store.emitOpError() << "expects a tile of two dimensions (L1.4)";
      stores.push_back(store);
    } else if (isa<LoadOp>(op) && !stores.empty()) {
      return op.emitOpError() << "expects to stand before the stores (L1.4)";
    }
  }
  return stores;
}

/// Erases what the slices replaced, users first.
static void eraseOriginals(ArrayRef<StoreOp> stores, Operation *loop, Operation *firstNew) {
  for (StoreOp store : stores)
    store.erase();
  for (Operation *op = firstNew->getPrevNode(); op && op != loop;) {
    Operation *previous = op->getPrevNode();
    bool isTile = op->getNumResults() == 1 && isa<RankedTensorType>(op->getResult(0).getType());
    if (isTile && op->use_empty())
      op->erase();
    op = previous;
  }
}

LogicalResult mlir::tcc::sliceEpilogue(MatmulLoop &program, FragmentAttr fragment,
                                       Block *allocBlock) {
  Block *body = program.loop->getBlock();
  FailureOr<SmallVector<StoreOp>> stores = collectStores(body);
  if (failed(stores))
    return failure();
  OpResult acc = program.getResult();
  auto accType = cast<RankedTensorType>(acc.getType());
  int64_t rows = accType.getDimSize(0);
  int64_t sliceRows = fragment.getUnit().first;
  if (rows % sliceRows != 0)
    return program.loop.emitOpError()
           << "expects the block's " << rows << " rows to be a multiple of " << sliceRows
           << ", the rows of one atom on each warp along M";

  Location loc = program.loop.getLoc();
  OpBuilder builder = OpBuilder::atBlockBegin(allocBlock);
  while (isa<AllocSharedOp>(*builder.getInsertionPoint()))
    builder.setInsertionPointAfter(&*builder.getInsertionPoint());
  Value staging = AllocSharedOp::create(
      builder, loc,
      SharedType::get(builder.getContext(), {sliceRows, accType.getDimSize(1)},
                      accType.getElementType(), /*stages=*/1, /*layout=*/{}));

  builder.setInsertionPoint(body->getTerminator());
  Operation *last = body->getTerminator()->getPrevNode();
  EpilogueSlicer slicer(acc, rows, sliceRows, staging, builder);
  if (failed(slicer.buildColumns(llvm::to_vector(body->getOps<linalg::BroadcastOp>()))))
    return failure();
  for (int64_t row = 0; row < rows; row += sliceRows)
    if (failed(slicer.buildSlice(row, *stores)))
      return failure();
  eraseOriginals(*stores, program.loop, last->getNextNode());
  return success();
}
