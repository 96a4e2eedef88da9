//===- EpilogueSlices.cpp - The epilogue through shared memory ------------===//
//
// The stored values are rebuilt for each slice, from the stores backwards: an op is cloned
// for the part of its value that is asked for. What doesn't depend on the row is built once for all
// slices of the same columns, and ahead of them: while the slices before are computed, and the
// first ones' before the loop over K where registers allow it. No slice then waits for its vectors.
//
//===----------------------------------------------------------------------===//

#include "EpilogueSlices.h"
#include "ScheduleLegality.h"

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
  /// Slices have `sliceRows` x `sliceColumns` elements.
  EpilogueSlicer(OpResult acc, int64_t sliceRows, int64_t sliceColumns, OpBuilder &builder)
      : acc(acc), blockRows(cast<RankedTensorType>(acc.getType()).getDimSize(0)),
        sliceRows(sliceRows), sliceColumns(sliceColumns), builder(builder) {}

  /// Lets the accumulator go through this buffer.
  void stageAccumulator(Value buffer) { accumulatorStaging = buffer; }
  /// Lets what `store` stores go through this buffer, and leave it by TMA.
  void stageStore(StoreOp store, Value buffer) { storeStaging[store] = buffer; }

  /// Builds the inputs of `broadcasts` that have no rows for all slices that begin at `column`.
  LogicalResult buildColumns(int64_t column, ArrayRef<linalg::BroadcastOp> broadcasts);
  /// Builds the stores of the slice that begins at `row` and `column`.
  LogicalResult buildSlice(int64_t row, int64_t column, ArrayRef<StoreOp> stores);

private:
  FailureOr<Value> build(Value value, Extent extent);
  FailureOr<Value> buildOp(Operation *op, Extent extent);
  Value buildAccumulator();
  FailureOr<Value> buildBroadcast(linalg::BroadcastOp broadcast);
  FailureOr<Value> buildElementwise(Operation *op, Extent extent);

  /// The offsets of a matrix's tile, moved down to the slice.
  SmallVector<Value> getOffsets(ValueRange offsets, Extent extent, Location loc);
  RankedTensorType getType(RankedTensorType tile, Extent extent);

  void buildStore(StoreOp store, Value value);

  OpResult acc;
  int64_t blockRows, sliceRows, sliceColumns;
  OpBuilder &builder;
  Value accumulatorStaging;
  DenseMap<Operation *, Value> storeStaging;
  int64_t row = 0, column = 0;
  /// What is built already: of this slice, by value and extent, and of columns by their first one.
  DenseMap<std::pair<Value, int>, Value> slice;
  DenseMap<std::pair<Value, int64_t>, Value> columns;
};

} // namespace

RankedTensorType EpilogueSlicer::getType(RankedTensorType tile, Extent extent) {
  SmallVector<int64_t> shape(tile.getShape());
  shape.front() = extent == Extent::Columns ? sliceColumns : sliceRows;
  if (extent == Extent::Matrix)
    shape.back() = sliceColumns;
  return RankedTensorType::get(shape, tile.getElementType());
}

SmallVector<Value> EpilogueSlicer::getOffsets(ValueRange offsets, Extent extent, Location loc) {
  SmallVector<Value> moved(offsets);
  auto move = [&](Value &offset, int64_t by) {
    if (by != 0)
      offset = arith::AddIOp::create(builder, loc, offset,
                                     arith::ConstantIndexOp::create(builder, loc, by));
  };
  if (extent != Extent::Columns)
    move(moved.front(), row);
  if (extent != Extent::Rows)
    move(moved.back(), column);
  return moved;
}

// %acc   →   its slice; out of the accumulator's fragments through the staging buffer, if any
Value EpilogueSlicer::buildAccumulator() {
  Location loc = acc.getLoc();
  auto type = cast<RankedTensorType>(acc.getType());
  RankedTensorType sliceType = getType(type, Extent::Matrix);
  SmallVector<OpFoldResult> offsets = {builder.getIndexAttr(row), builder.getIndexAttr(column)};
  SmallVector<OpFoldResult> sizes = {builder.getIndexAttr(sliceRows),
                                     builder.getIndexAttr(sliceColumns)};
  SmallVector<OpFoldResult> strides(2, builder.getIndexAttr(1));
  Value fragment =
      tensor::ExtractSliceOp::create(builder, loc, sliceType, acc, offsets, sizes, strides);
  if (!accumulatorStaging)
    return fragment;
  LocalStoreOp::create(builder, loc, fragment, accumulatorStaging, Value());
  return LocalLoadOp::create(builder, loc, sliceType, accumulatorStaging, Value(),
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
  bool isColumns = extent == Extent::Columns;
  if (Value known = isColumns ? columns.lookup({value, column}) : slice.lookup(key))
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
  (isColumns ? columns[{value, column}] : slice[key]) = *built;
  return built;
}

LogicalResult EpilogueSlicer::buildColumns(int64_t firstColumn,
                                           ArrayRef<linalg::BroadcastOp> broadcasts) {
  column = firstColumn;
  for (linalg::BroadcastOp broadcast : broadcasts)
    if (broadcast.getDimensions() == ArrayRef<int64_t>{0} &&
        failed(build(broadcast.getInput(), Extent::Columns)))
      return failure();
  return success();
}

void EpilogueSlicer::buildStore(StoreOp store, Value value) {
  Location loc = store.getLoc();
  SmallVector<Value> offsets = getOffsets(store.getOffsets(), Extent::Matrix, loc);
  Value staging = storeStaging.lookup(store);
  if (!staging) {
    StoreOp::create(builder, loc, value, store.getDest(), offsets, store.getBytesAttr());
    return;
  }
  LocalStoreOp::create(builder, loc, value, staging, Value());
  BulkStoreOp::create(builder, loc, staging, /*slot=*/Value(), store.getDest(), offsets);
}

LogicalResult EpilogueSlicer::buildSlice(int64_t sliceRow, int64_t sliceColumn,
                                         ArrayRef<StoreOp> stores) {
  row = sliceRow;
  column = sliceColumn;
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
    buildStore(store, value);
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

/// True if `value` can be built anew before `loop`, out of what is there.
static bool isMadeBefore(Value value, scf::ForOp loop) {
  Operation *op = value.getDefiningOp();
  if (!op || op->getBlock() != loop->getBlock() || op->isBeforeInBlock(loop))
    return true;
  return op != loop && isa<RankedTensorType>(value.getType()) &&
         llvm::all_of(op->getOperands(),
                      [&](Value operand) { return isMadeBefore(operand, loop); });
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

/// Rows and columns of a slice.
static std::pair<int64_t, int64_t> getSliceExtents(ScheduleAttr schedule, FragmentAttr fragment,
                                                   ArrayRef<int64_t> blockShape,
                                                   ArrayRef<StoreOp> stores) {
  int64_t elementBytes = 1;
  for (StoreOp store : llvm::to_vector(stores))
    elementBytes =
        std::max(elementBytes, getElementBytes(store.getDest().getType().getElementType()));
  if (fragment.getMma() == MmaFamily::Wgmma)
    return getEpilogueSlice(schedule.getFields(), elementBytes);
  return {fragment.getUnit().first, blockShape[1]};
}

/// A buffer at the top of `block`, behind those that are there.
static Value allocStaging(Block *block, Location loc, ArrayRef<int64_t> shape, Type element) {
  OpBuilder builder = OpBuilder::atBlockBegin(block);
  while (isa<AllocSharedOp>(*builder.getInsertionPoint()))
    builder.setInsertionPointAfter(&*builder.getInsertionPoint());
  return AllocSharedOp::create(
      builder, loc,
      SharedType::get(builder.getContext(), shape, element, /*stages=*/1, /*layout=*/{}));
}

bool mlir::tcc::hasEpilogueWork(MatmulLoop &program) {
  bool hasWork = false, isStored = false;
  for (Operation &op : *program.loop->getBlock()) {
    if (isa<LoadOp>(op) && isStored)
      return false;
    auto store = dyn_cast<StoreOp>(op);
    isStored |= bool(store);
    hasWork |= store && store.getValue() != program.getResult();
  }
  return hasWork;
}

LogicalResult mlir::tcc::sliceEpilogue(MatmulLoop &program, ScheduleAttr schedule,
                                       FragmentAttr fragment, Block *allocBlock) {
  Block *body = program.loop->getBlock();
  FailureOr<SmallVector<StoreOp>> stores = collectStores(body);
  if (failed(stores))
    return failure();
  OpResult acc = program.getResult();
  auto accType = cast<RankedTensorType>(acc.getType());
  int64_t rows = accType.getDimSize(0), columns = accType.getDimSize(1);
  auto [sliceRows, sliceColumns] = getSliceExtents(schedule, fragment, accType.getShape(), *stores);
  if (rows % sliceRows != 0)
    return program.loop.emitOpError()
           << "expects the block's " << rows << " rows to be a multiple of " << sliceRows
           << ", the rows of one atom on each warp along M";

  OpBuilder builder(body->getTerminator());
  Operation *last = body->getTerminator()->getPrevNode();
  EpilogueSlicer slicer(acc, sliceRows, sliceColumns, builder);
  Location loc = program.loop.getLoc();
  SmallVector<int64_t> shape = {sliceRows, sliceColumns};
  if (schedule.getEpilogue() == Epilogue::Shared)
    slicer.stageAccumulator(allocStaging(allocBlock, loc, shape, accType.getElementType()));
  if (schedule.getEpilogue() == Epilogue::Tma)
    for (StoreOp store : *stores)
      slicer.stageStore(store, allocStaging(allocBlock, store.getLoc(), shape,
                                            store.getDest().getType().getElementType()));

  SmallVector<linalg::BroadcastOp> broadcasts =
      llvm::to_vector(body->getOps<linalg::BroadcastOp>());
  // By TMA operands pass no register on their way, so that one slice's vectors find some.
  bool isBeforeLoop = schedule.getTransport() == Transport::Tma &&
                      llvm::all_of(broadcasts, [&](linalg::BroadcastOp broadcast) {
                        return isMadeBefore(broadcast.getInput(), program.loop);
                      });
  if (isBeforeLoop)
    builder.setInsertionPoint(program.loop);
  if (failed(slicer.buildColumns(0, broadcasts)))
    return failure();
  builder.setInsertionPoint(body->getTerminator());
  for (int64_t column = 0; column < columns; column += sliceColumns) {
    int64_t next = column + sliceColumns;
    if (next < columns && failed(slicer.buildColumns(next, broadcasts)))
      return failure();
    for (int64_t row = 0; row < rows; row += sliceRows)
      if (failed(slicer.buildSlice(row, column, *stores)))
        return failure();
  }
  eraseOriginals(*stores, program.loop, last->getNextNode());
  return success();
}
