//===- AssignFragments.cpp - Tiles over threads (L2 to L3) ----------------===//
//
// Encodings start at the matmul, whose atom dictates them, and at loads from staging buffers, which
// read by rows. They flow forward through elementwise ops, and backward into values that have no
// distribution of their own: constants, loads from global memory, broadcasts.
//
//===----------------------------------------------------------------------===//

#include "Kernel.h"
#include "Target.h"
#include "tcc/Dialect/Tcc/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::tcc {
#define GEN_PASS_DEF_ASSIGNFRAGMENTSPASS
#include "tcc/Dialect/Tcc/Transforms/Passes.h.inc"
} // namespace mlir::tcc

using namespace mlir;
using namespace mlir::tcc;

static bool isTile(Value value) { return isa<RankedTensorType>(value.getType()); }

static Attribute getEncoding(Value tile) {
  return cast<RankedTensorType>(tile.getType()).getEncoding();
}

static bool isOpaque(Attribute encoding) {
  auto fragment = dyn_cast_or_null<FragmentAttr>(encoding);
  return fragment && fragment.isOpaque();
}

/// True for values that cost nothing to make again with another encoding.
static bool isRemade(Operation *op) {
  return op && (matchPattern(op, m_Constant()) || isa<tensor::EmptyOp>(op));
}

//===----------------------------------------------------------------------===//
// The rules of propagation
//===----------------------------------------------------------------------===//

/// Gives a value without encoding this one; an error if its extents don't allow it.
static LogicalResult assign(Value tile, Attribute encoding) {
  auto type = cast<RankedTensorType>(tile.getType());
  Operation *definer = tile.getDefiningOp();
  auto report = [&] { return definer ? definer->emitOpError() : emitError(tile.getLoc()); };
  auto encoded =
      RankedTensorType::getChecked(report, type.getShape(), type.getElementType(), encoding);
  if (!encoded)
    return failure();
  tile.setType(encoded);
  DenseElementsAttr constant;
  if (definer && matchPattern(definer, m_Constant(&constant))) {
    if (!constant.isSplat() || !isa<arith::ConstantOp>(definer))
      return definer->emitOpError() << "expects a splat: a tile has one value everywhere (L1.4)";
    cast<arith::ConstantOp>(definer).setValueAttr(constant.resizeSplat(encoded));
  }
  return success();
}

static LogicalResult require(OpOperand &use, Attribute encoding);

static LogicalResult refuseOpaque(Operation *op) {
  return op->emitOpError() << "needs to know where elements of a wmma fragment are, which is "
                              "unspecified (PTX ISA, wmma): expects epilogue = shared (L2.3)";
}

/// Lets a fresh encoding flow from a value to what it is made of.
static LogicalResult propagateBackward(Value tile, Attribute encoding) {
  Operation *op = tile.getDefiningOp();
  if (!op)
    return emitError(tile.getLoc()) << "expects a tile made in this kernel, found an argument";
  if (isRemade(op))
    return success();
  if (isa<LoadOp>(op))
    return isOpaque(encoding) ? refuseOpaque(op) : success();
  if (auto broadcast = dyn_cast<linalg::BroadcastOp>(op)) {
    if (broadcast.getDimensions().size() != 1)
      return op->emitOpError() << "expects a tile of one dimension to broadcast (L1.4)";
    int64_t dim = broadcast.getDimensions().front();
    int64_t size = cast<RankedTensorType>(tile.getType()).getDimSize(dim);
    auto slice = SliceAttr::getChecked([&] { return op->emitOpError(); }, op->getContext(), dim,
                                       size, encoding);
    return success(slice && succeeded(require(broadcast.getDpsInputOperand(0)[0], slice)) &&
                   succeeded(require(broadcast.getDpsInitsMutable()[0], encoding)));
  }
  if (!op->hasTrait<OpTrait::Elementwise>())
    return op->emitOpError() << "has no rule for the distribution of its result (L1.4)";
  for (OpOperand &operand : op->getOpOperands())
    if (failed(require(operand, encoding)))
      return failure();
  return success();
}

/// Makes `use` read its value with `encoding`: assigns it, makes the value again, or converts.
static LogicalResult require(OpOperand &use, Attribute encoding) {
  Value tile = use.get();
  if (!isTile(tile) || getEncoding(tile) == encoding)
    return success();
  if (!getEncoding(tile))
    return success(succeeded(assign(tile, encoding)) &&
                   succeeded(propagateBackward(tile, encoding)));

  OpBuilder builder(use.getOwner());
  auto type = cast<RankedTensorType>(tile.getType());
  if (Operation *definer = tile.getDefiningOp(); isRemade(definer)) {
    Value copy = builder.clone(*definer)->getResult(0);
    copy.setType(RankedTensorType::get(type.getShape(), type.getElementType()));
    use.set(copy);
    return assign(copy, encoding);
  }
  if (isOpaque(getEncoding(tile)) || isOpaque(encoding))
    return refuseOpaque(use.getOwner());
  auto converted = RankedTensorType::getChecked([&] { return use.getOwner()->emitOpError(); },
                                                type.getShape(), type.getElementType(), encoding);
  if (!converted)
    return failure();
  use.set(ConvertLayoutOp::create(builder, use.getOwner()->getLoc(), converted, tile));
  return success();
}

//===----------------------------------------------------------------------===//
// A kernel
//===----------------------------------------------------------------------===//

/// Rows from a staging buffer: 16 bytes a thread, neighbours next to each other.
static BlockedAttr getRowEncoding(RankedTensorType tile, ScheduleAttr schedule) {
  int64_t vector = 16 / getElementBytes(tile.getElementType());
  return BlockedAttr::get(tile.getContext(), std::gcd(vector, tile.getDimSize(1)),
                          /*contiguous=*/1, schedule.getNumTileWarps() * 32);
}

/// The loop: operands and accumulator have the fragments of the atom (L3.4).
static LogicalResult assignLoop(func::FuncOp kernel, ScheduleAttr schedule, MatmulLoop &program) {
  for (MatmulOp matmul : program.matmuls) {
    Type element = isTile(matmul.getLhs())
                       ? getElementTypeOrSelf(matmul.getLhs())
                       : cast<SharedType>(matmul.getLhs().getType()).getElementType();
    std::pair<Operand, OpOperand *> inputs[] = {{Operand::A, &matmul.getLhsMutable()},
                                                {Operand::B, &matmul.getRhsMutable()}};
    for (auto [operand, use] : inputs) {
      if (!isTile(use->get()))
        continue;
      FailureOr<FragmentAttr> fragment = getFragment(kernel, schedule, operand, element);
      if (failed(fragment))
        return failure();
      if (!use->get().getDefiningOp<LocalLoadOp>())
        return matmul.emitOpError() << "expects operand '" << stringifyOperand(operand)
                                    << "' to be a tcc.local_load (L2.1): run tcc-stage-shared";
      if (failed(assign(use->get(), *fragment)))
        return failure();
    }
    FailureOr<FragmentAttr> acc = getFragment(kernel, schedule, Operand::C, element);
    if (failed(acc) || failed(assign(matmul.getResult(), *acc)))
      return failure();
  }
  Attribute acc = getEncoding(program.matmuls.front().getResult());
  scf::ForOp loop = program.loop;
  if (failed(assign(loop.getRegionIterArg(program.accIndex), acc)) ||
      failed(assign(program.getResult(), acc)))
    return failure();
  return require(loop.getInitArgsMutable()[program.accIndex], acc);
}

/// The fragment of a slice of the accumulator. An accumulator of wgmma is as the 8-column parts of
/// it, side by side: columns of it are the fragment of a narrower atom (PTX ISA, "Register
/// Fragments for wgmma.mma_async.m64nNk16").
static Attribute getSliceEncoding(tensor::ExtractSliceOp slice) {
  Attribute encoding = getEncoding(slice.getSource());
  auto fragment = dyn_cast_or_null<FragmentAttr>(encoding);
  unsigned columnDim = fragment ? fragment.getColumnDim() : 1;
  int64_t columns = slice.getType().getDimSize(columnDim);
  if (!fragment || fragment.getMma() != MmaFamily::Wgmma ||
      columns == slice.getSourceType().getDimSize(columnDim))
    return encoding;
  ArrayRef<int64_t> shape = fragment.getShape();
  return FragmentAttr::get(slice.getContext(), fragment.getMma(), fragment.getOperand(),
                           {shape[0], columns, shape[2]}, fragment.getWarps(),
                           fragment.getTransposed());
}

/// One op after the loop.
static LogicalResult assignForward(Operation *op, ScheduleAttr schedule) {
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op))
    return assign(slice.getResult(), getSliceEncoding(slice));
  if (auto load = dyn_cast<LocalLoadOp>(op))
    return assign(load.getResult(), getRowEncoding(load.getResult().getType(), schedule));
  if (isa<StoreOp, LocalStoreOp>(op)) {
    // The accumulator has no part in this tile: any distribution is as good as another.
    OpOperand &value = op->getOpOperand(0);
    auto tile = cast<RankedTensorType>(value.get().getType());
    if (tile.getRank() != 2)
      return op->emitOpError() << "expects a tile of two dimensions, found " << tile << " (L1.4)";
    return tile.getEncoding() ? success() : require(value, getRowEncoding(tile, schedule));
  }
  bool isElementwise =
      op->hasTrait<OpTrait::Elementwise>() && op->getNumResults() == 1 && isTile(op->getResult(0));
  if (!isElementwise)
    return success();
  for (Value operand : op->getOperands()) {
    if (!isTile(operand) || !getEncoding(operand))
      continue;
    Attribute encoding = getEncoding(operand);
    for (OpOperand &use : op->getOpOperands())
      if (failed(require(use, encoding)))
        return failure();
    return assign(op->getResult(0), encoding);
  }
  return success();
}

/// Values that nothing stored depends on keep no encoding; drop them (L3.3).
static void eraseUnused(Block *body) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(*body)))
    if (op.getNumResults() == 1 && isTile(op.getResult(0)) && op.use_empty() &&
        !getEncoding(op.getResult(0)))
      op.erase();
}

static LogicalResult assignKernel(func::FuncOp kernel) {
  FailureOr<ScheduleAttr> schedule = getSchedule(kernel);
  if (failed(schedule))
    return failure();
  WalkResult walk = kernel.walk([](AllocSharedOp alloc) -> WalkResult {
    if (alloc.getType().getLayout())
      return WalkResult::advance();
    return alloc.emitOpError() << "expects a layout: run tcc-layout-shared first";
  });
  if (walk.wasInterrupted())
    return failure();
  FailureOr<MatmulLoop> program = findMatmulLoop(kernel);
  if (failed(program) || failed(assignLoop(kernel, *schedule, *program)))
    return failure();
  Block *body = program->loop->getBlock();
  for (Operation &op : llvm::make_early_inc_range(
           llvm::make_range(std::next(program->loop->getIterator()), body->end())))
    if (failed(assignForward(&op, *schedule)))
      return failure();
  eraseUnused(body);
  setLevel(kernel, Level::L3);
  return success();
}

namespace {

struct AssignFragmentsPass : mlir::tcc::impl::AssignFragmentsPassBase<AssignFragmentsPass> {
  void runOnOperation() override {
    if (failed(transformKernels(getOperation(), getArgument(), Level::L2, assignKernel)))
      signalPassFailure();
  }
};

} // namespace
