//===- DistributeHopper.cpp - TMA copies and warpgroup multiplications ------------------===//

#include "DistributePatterns.h"
#include "Kernel.h"
#include "SharedAddressing.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "tcc/Dialect/Tcc/IR/TccOps.h"
#include "tcc/Support/MatrixDescriptor.h"

using namespace mlir;
using namespace mlir::tcc;
namespace support = ::tcc::support;

/// A box of a tensor map has at most as many elements along a dimension (PTX ISA, "Tensor-map").
static constexpr int64_t maxBoxExtent = 256;

static support::SharedTile getSharedTile(SharedType type) {
  return {{type.getShape()[0], type.getShape()[1]},
          static_cast<unsigned>(type.getLayout().getContiguous()),
          type.getElementType().getIntOrFloatBitWidth() / 8};
}

static support::SharedLayout getSharedLayout(SharedType type) {
  return support::SharedLayout::inBlocks(type.getLayout().getSpan());
}

namespace {

/// The boxes that a buffer of TMA is made of: its layout's blocks, cut in as many shares as blocks
/// of a cluster bring, and these in pieces of 256 lines at most.
class BoxGrid {
public:
  BoxGrid(SharedType buffer, int64_t shares = 1)
      : shape(buffer.getShape()), inner(buffer.getLayout().getContiguous()), outer(1 - inner),
        swizzle(getSharedLayout(buffer).swizzleSpan()), extents(2),
        shareLines(shape[outer] / shares) {
    extents[inner] =
        buffer.getLayout().getSpan() * 8 / buffer.getElementType().getIntOrFloatBitWidth();
    int64_t pieces = llvm::divideCeil(shareLines, maxBoxExtent);
    while (shareLines % pieces)
      ++pieces;
    extents[outer] = shareLines / pieces;
  }

  /// Calls `emit` with the first row and column of each box of share 0.
  void forEach(function_ref<void(const Coordinate &row, const Coordinate &column)> emit) const {
    for (int64_t i = 0; i < shape[inner]; i += extents[inner])
      for (int64_t line = 0; line < shareLines; line += extents[outer]) {
        SmallVector<Coordinate, 2> first(2);
        first[inner].offset = i;
        first[outer].offset = line;
        emit(first[0], first[1]);
      }
  }

  ArrayRef<int64_t> shape;
  unsigned inner, outer;
  /// Bytes that a box is swizzled by; 0 for none.
  int64_t swizzle;
  SmallVector<int64_t, 2> extents;
  /// Lines of a share.
  int64_t shareLines;
};

/// A coordinate in the matrix: the tile's offset and the place in the tile.
Value addOffset(I32Builder &b, Value offset, const Coordinate &place) {
  Value inTile = arith::IndexCastOp::create(b.builder, b.loc, b.builder.getIndexType(),
                                            b.materialize(place));
  return arith::AddIOp::create(b.builder, b.loc, offset, inTile);
}

/// How the blocks of a cluster bring a buffer that they have in common.
struct ClusterShare {
  /// Blocks that share it, and this block's number among them; null if it has the buffer alone.
  int64_t count = 1;
  Value rank;
  /// A bit for each of them, by rank in the cluster (i16).
  Value mask;

  /// Blocks of a cluster are numbered along M first.
  static ClusterShare get(I32Builder &b, CopyOp copy) {
    ClusterShare share;
    if (!copy.getMulticast())
      return share;
    auto schedule = copy->getParentOfType<func::FuncOp>()->getAttrOfType<ScheduleAttr>(
        TccDialect::kScheduleAttr);
    int64_t clusterM = schedule.getClusterM(), clusterN = schedule.getClusterN();
    Value rank = NVVM::BlockInClusterIdXOp::create(b.builder, b.loc, b.builder.getI32Type());
    Value rankM = b.rem(rank, clusterM), rankN = clusterN > 1 ? b.div(rank, clusterM) : Value();
    bool isAlongM = *copy.getMulticast() == 0;
    share.count = isAlongM ? clusterM : clusterN;
    share.rank = isAlongM ? rankM : rankN;
    int64_t bits = 0;
    for (int64_t i = 0; i < share.count; ++i)
      bits |= int64_t(1) << (isAlongM ? i : i * clusterM);
    Value shift = isAlongM ? b.mul(rankN, clusterM) : rankM;
    Value mask = b.constant(bits);
    if (shift)
      mask = arith::ShLIOp::create(b.builder, b.loc, mask, shift);
    share.mask = arith::TruncIOp::create(b.builder, b.loc, b.builder.getI16Type(), mask);
    return share;
  }
};

/// tcc.copy tma %A[%m, %k], %sa slot %s  →  tcc.tma_load for each box; of a buffer that blocks of
/// the cluster share, for those of this block's share, to all of them
struct DistributeTmaCopy : OpConversionPattern<CopyOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(CopyOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    if (op.getTransport() != Transport::Tma)
      return rewriter.notifyMatchFailure(op, "not by TMA");
    Value pipeline = findPipeline(op);
    if (!pipeline)
      return rewriter.notifyMatchFailure(op, "no pipeline guards the buffer");
    I32Builder b(rewriter, op.getLoc());
    Value slot = getOptional(adaptor.getSlot());
    SharedAddressing addressing(b, op.getDest(), slot);
    ClusterShare share = ClusterShare::get(b, op);
    BoxGrid boxes(op.getDest().getType(), share.count);
    SmallVector<Value> offsets = flatten(adaptor.getOffsets());
    boxes.forEach([&](Coordinate row, Coordinate column) {
      if (share.rank) {
        // All lines of a block of the buffer follow each other, so that shares do.
        Coordinate &line = boxes.outer == 0 ? row : column;
        line.base = b.mul(share.rank, boxes.shareLines);
        line.multiple = boxes.shareLines, line.bound = boxes.shape[boxes.outer];
      }
      SmallVector<Value> place = {addOffset(b, offsets[0], row), addOffset(b, offsets[1], column)};
      TmaLoadOp::create(rewriter, op.getLoc(), op.getSource(), place, boxes.extents,
                        addressing.getBoxPointer(row, column), pipeline, slot, boxes.swizzle,
                        share.mask);
    });
    rewriter.eraseOp(op);
    return success();
  }

  /// The pipeline that guards the copy's buffer; null if there is none.
  static Value findPipeline(CopyOp op) {
    for (Operation *user : op.getDest().getUsers())
      if (auto pipeline = dyn_cast<CreatePipelineOp>(user))
        return pipeline;
    return {};
  }
};

/// tcc.bulk_store %sc slot %s, %C[%m, %n]  →  if (first thread of the tile) tcc.tma_store for each
/// box
struct DistributeBulkStore : OpConversionPattern<BulkStoreOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(BulkStoreOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    I32Builder b(rewriter, op.getLoc());
    OpBuilder::InsertionGuard guard(rewriter);
    beginFirstThread(b);
    SharedAddressing addressing(b, op.getSource(), getOptional(adaptor.getSlot()));
    BoxGrid boxes(op.getSource().getType());
    SmallVector<Value> offsets = flatten(adaptor.getOffsets());
    boxes.forEach([&](const Coordinate &row, const Coordinate &column) {
      SmallVector<Value> place = {addOffset(b, offsets[0], row), addOffset(b, offsets[1], column)};
      TmaStoreOp::create(rewriter, op.getLoc(), addressing.getBoxPointer(row, column), op.getDest(),
                         place, boxes.extents, boxes.swizzle);
    });
    NVVM::CpAsyncBulkCommitGroupOp::create(rewriter, op.getLoc());
    rewriter.eraseOp(op);
    return success();
  }

  /// The same thread starts the stores of a tile and waits for them: bulk groups are a thread's.
  static void beginFirstThread(I32Builder &b) {
    Value isFirst = arith::CmpIOp::create(b.builder, b.loc, arith::CmpIPredicate::eq, b.threadId(),
                                          b.constant(0));
    auto ifOp = scf::IfOp::create(b.builder, b.loc, isFirst);
    b.builder.setInsertionPointToStart(ifOp.thenBlock());
  }
};

/// tcc.bulk_wait  →  if (first thread of the tile) cp.async.bulk.wait_group 0
struct DistributeBulkWait : OpConversionPattern<BulkWaitOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(BulkWaitOp op, OneToNOpAdaptor,
                                ConversionPatternRewriter &rewriter) const override {
    I32Builder b(rewriter, op.getLoc());
    OpBuilder::InsertionGuard guard(rewriter);
    DistributeBulkStore::beginFirstThread(b);
    NVVM::CpAsyncBulkWaitGroupOp::create(rewriter, op.getLoc(), rewriter.getI32IntegerAttr(0),
                                         op.getRead() ? rewriter.getUnitAttr() : UnitAttr());
    rewriter.eraseOp(op);
    return success();
  }
};

/// The descriptors of one operand of a warpgroup's share of a matmul.
class OperandDescriptors {
public:
  /// `kDim` is the operand's dimension along K. The warpgroup's part of the buffer begins `place`
  /// times `extent` rows (columns) after its start; `place` is null for zero. Every 64 rows of the
  /// atom's a, and every run of b's columns, begin a whole number of blocks or groups of 8 lines
  /// on: their places are multiples of the first one's.
  OperandDescriptors(I32Builder &b, TypedValue<SharedType> buffer, Value slot, unsigned kDim,
                     Value place, int64_t extent)
      : b(b), tile(getSharedTile(buffer.getType())), layout(getSharedLayout(buffer.getType())),
        kDim(kDim), descriptor(cantFail(support::wgmmaDescriptor(tile, layout, kDim))) {
    auto type = LLVM::LLVMPointerType::get(b.builder.getContext(), 3);
    Value base = place ? b.mul(place, getOffset(extent, 0)) : b.constant(0);
    pointer = SharedAddressOp::create(b.builder, b.loc, type, buffer, slot, base);
  }

  /// The descriptor of the atom that begins at row (column) `mn` and at `k`.
  Value get(int64_t mn, int64_t k) {
    int64_t offset = getOffset(mn, k);
    Value start = pointer;
    if (offset != 0)
      start = LLVM::GEPOp::create(b.builder, b.loc, pointer.getType(), b.builder.getI8Type(),
                                  pointer, LLVM::GEPArg(static_cast<int32_t>(offset)));
    return MatrixDescriptorOp::create(b.builder, b.loc, start, descriptor.leadingByteOffset,
                                      descriptor.strideByteOffset, layout.span());
  }

  bool isKMajor() const { return tile.contiguous == kDim; }

private:
  int64_t getOffset(int64_t mn, int64_t k) const {
    return kDim == 1 ? support::linearOffset(tile, layout, mn, k)
                     : support::linearOffset(tile, layout, k, mn);
  }

  I32Builder &b;
  support::SharedTile tile;
  support::SharedLayout layout;
  unsigned kDim;
  support::MatrixDescriptor descriptor;
  Value pointer;
};

/// A warp's place that all lanes know to be the same. As a part of the thread's number it would
/// live in every lane's registers: a shuffle tells ptxas, which then keeps descriptors in uniform
/// registers, where wgmma wants them. It stands at the top of the kernel, as no pass may move it.
std::pair<Value, Value> getUniformWarpPlace(I32Builder &b, MatmulOp op, FragmentAttr fragment) {
  if (fragment.getWarps()[0] * fragment.getWarps()[1] == 4)
    return {}; // the one warpgroup
  OpBuilder::InsertionGuard guard(b.builder);
  b.builder.setInsertionPointToStart(&op->getParentOfType<func::FuncOp>().getBody().front());
  Type i32 = b.builder.getI32Type();
  Value warp = NVVM::ShflOp::create(b.builder, b.loc, i32, b.constant(-1), b.warp(), b.constant(0),
                                    b.constant(31), NVVM::ShflKind::idx, /*pred=*/UnitAttr());
  return getWarpPlace(b, fragment, warp);
}

/// tcc.matmul of shared buffers  →  fence; tcc.wgmma for each atom and step of K; commit;
/// … wait. A transposed accumulator is the product of B's transpose and A's: B is the atom's a.
struct DistributeWarpgroupMatmul : OpConversionPattern<MatmulOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(MatmulOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    auto lhs = dyn_cast<TypedValue<SharedType>>(op.getLhs());
    auto rhs = dyn_cast<TypedValue<SharedType>>(op.getRhs());
    if (!lhs || !rhs)
      return rewriter.notifyMatchFailure(op, "operands are not in shared memory");
    RankedTensorType tile = op.getAcc().getType();
    auto fragment = cast<FragmentAttr>(tile.getEncoding());
    auto [rows, columns] = fragment.getAtomsPerWarp(tile.getShape());
    ArrayRef<int64_t> shape = fragment.getShape();
    I32Builder b(rewriter, op.getLoc());
    auto [warpM, warpN] = getUniformWarpPlace(b, op, fragment);
    Value slot = getOptional(adaptor.getSlot());
    unsigned lhsK = 1, rhsK = 0;
    if (fragment.getTransposed())
      std::swap(lhs, rhs), std::swap(lhsK, rhsK);
    Value warpgroupM = fragment.getWarps()[0] > 4 ? b.div(warpM, 4) : Value();
    OperandDescriptors a(b, lhs, slot, lhsK, warpgroupM, shape[0]);
    OperandDescriptors bs(b, rhs, slot, rhsK, warpN, columns * shape[1]);

    SmallVector<Value> acc(adaptor.getAcc());
    int64_t perAtom = acc.size() / (rows * columns);
    int64_t unitRows = shape[0] * fragment.getWarps()[0] / 4;
    auto fence = WgmmaFenceOp::create(rewriter, op.getLoc(), ValueRange(acc).getTypes(), acc);
    acc = SmallVector<Value>(fence.getResults());
    for (int64_t k = 0; k < lhs.getType().getShape()[lhsK]; k += shape[2])
      for (int64_t i = 0; i < rows; ++i)
        for (int64_t j = 0; j < columns; ++j) {
          auto c = MutableArrayRef(acc).slice((i * columns + j) * perAtom, perAtom);
          auto wgmma = WgmmaOp::create(
              rewriter, op.getLoc(), SmallVector<Type>(perAtom, rewriter.getF32Type()), shape,
              lhs.getType().getElementType(), a.get(i * unitRows, k), bs.get(j * shape[1], k),
              ValueRange(c), a.isKMajor(), !bs.isKMajor());
          llvm::copy(wgmma.getResults(), c.begin());
        }
    NVVM::WgmmaGroupSyncAlignedOp::create(rewriter, op.getLoc());
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPoint(findEnd(op));
    auto wait = WgmmaWaitOp::create(rewriter, op.getLoc(), ValueRange(acc).getTypes(),
                                    op.getPending(), acc);
    rewriter.replaceOpWithMultiple(op, {SmallVector<Value>(wait.getResults())});
    return success();
  }

  /// The op that needs the multiplication done: it gives the slot back, or uses the result. What
  /// stands before it, copies of other slabs say, is done beside the multiplication.
  static Operation *findEnd(MatmulOp op) {
    Operation *end = op->getNextNode();
    while (!isa<ConsumerReleaseOp>(end) && !end->hasTrait<OpTrait::IsTerminator>() &&
           end->getNumRegions() == 0 && !llvm::is_contained(end->getOperands(), op.getResult()))
      end = end->getNextNode();
    return end;
  }
};

/// tcc.matmul_wait  →  tcc.wgmma_wait 0
struct DistributeMatmulWait : OpConversionPattern<MatmulWaitOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(MatmulWaitOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    ValueRange acc = adaptor.getAcc();
    auto wait = WgmmaWaitOp::create(rewriter, op.getLoc(), acc.getTypes(), /*pending=*/0, acc);
    rewriter.replaceOpWithMultiple(op, {SmallVector<Value>(wait.getResults())});
    return success();
  }
};

} // namespace

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

/// What TMA copies is in blocks, the boxes; what wgmma reads, swizzled.
static LogicalResult verifyBlocks(Operation *op, SharedType buffer, bool isSwizzled) {
  if (failed(requireLayout(op, buffer)))
    return failure();
  SharedLayoutAttr layout = buffer.getLayout();
  if (isSwizzled && !layout.isSwizzled())
    return op->emitOpError() << "needs a swizzled buffer (#tcc.layout with 'span' 32, 64 or 128), "
                             << "found " << buffer;
  if (layout.getSpan() == 0)
    return op->emitOpError() << "needs a buffer in blocks (#tcc.layout with 'span'), found "
                             << buffer;
  if (llvm::Error error = support::checkLayout(getSharedTile(buffer), getSharedLayout(buffer)))
    return op->emitOpError() << llvm::toString(std::move(error));
  return success();
}

/// Boxes of equal height begin at multiples of 128 bytes (PTX ISA, cp.async.bulk.tensor).
static LogicalResult verifyLines(Operation *op, SharedType buffer) {
  int64_t lines = buffer.getShape()[1 - buffer.getLayout().getContiguous()];
  if (lines <= maxBoxExtent || lines % 8 == 0)
    return success();
  return op->emitOpError() << "by TMA needs at most " << maxBoxExtent
                           << " lines or a multiple of 8, found " << lines;
}

LogicalResult mlir::tcc::verifyTmaCopy(CopyOp op) {
  FailureOr<unsigned> unitDim = requireUnitStrideDim(op, op.getSource().getType());
  SharedType buffer = op.getDest().getType();
  if (failed(unitDim) || failed(verifyBlocks(op, buffer, /*isSwizzled=*/false)))
    return failure();
  if (op.getSource().getType().getRank() != 2)
    return op.emitOpError() << "by TMA copies tiles of two dimensions";
  if (buffer.getLayout().getContiguous() != *unitDim)
    return op.emitOpError() << "copies runs along dimension " << *unitDim << " of the matrix, but "
                            << "the buffer's layout is contiguous along dimension "
                            << buffer.getLayout().getContiguous();
  if (failed(verifyLines(op, buffer)))
    return failure();
  if (op.getSlot() && DistributeTmaCopy::findPipeline(op))
    return success();
  return op.emitOpError() << "by TMA needs a pipeline that guards the buffer";
}

LogicalResult mlir::tcc::verifyBulkStore(BulkStoreOp op) {
  FailureOr<unsigned> unitDim = requireUnitStrideDim(op, op.getDest().getType());
  SharedType buffer = op.getSource().getType();
  if (failed(unitDim) || failed(verifyBlocks(op, buffer, /*isSwizzled=*/false)))
    return failure();
  if (buffer.getShape().size() != 2)
    return op.emitOpError() << "stores tiles of two dimensions";
  if (buffer.getLayout().getContiguous() == *unitDim)
    return verifyLines(op, buffer);
  return op.emitOpError() << "stores runs along dimension " << *unitDim << " of the matrix, but "
                          << "the buffer's layout is contiguous along dimension "
                          << buffer.getLayout().getContiguous();
}

LogicalResult mlir::tcc::verifyWarpgroupMatmul(MatmulOp op) {
  auto fragment = dyn_cast_or_null<FragmentAttr>(op.getAcc().getType().getEncoding());
  if (!fragment || fragment.getMma() != MmaFamily::Wgmma)
    return op.emitOpError() << "reads shared memory, which atoms of wgmma alone do";
  auto lhs = dyn_cast<SharedType>(op.getLhs().getType());
  auto rhs = dyn_cast<SharedType>(op.getRhs().getType());
  if (!lhs || !rhs)
    return op.emitOpError() << "by wgmma needs both operands in shared memory";
  if (failed(verifyBlocks(op, lhs, /*isSwizzled=*/true)) ||
      failed(verifyBlocks(op, rhs, /*isSwizzled=*/true)))
    return failure();
  for (auto [buffer, kDim] : {std::pair(lhs, 1u), std::pair(rhs, 0u)}) {
    auto descriptor =
        support::wgmmaDescriptor(getSharedTile(buffer), getSharedLayout(buffer), kDim);
    if (!descriptor)
      return op.emitOpError() << llvm::toString(descriptor.takeError());
    if (buffer.getShape()[kDim] % fragment.getShape()[2] != 0)
      return op.emitOpError() << "by wgmma needs K in steps of " << fragment.getShape()[2]
                              << ", found " << buffer.getShape()[kDim];
  }
  // Columns of the atom's b that are contiguous lie in blocks of a span: an atom reads whole ones.
  bool isTransposed = fragment.getTransposed();
  SharedType columns = isTransposed ? lhs : rhs;
  int64_t blockColumns =
      columns.getLayout().getSpan() * 8 / columns.getElementType().getIntOrFloatBitWidth();
  if (columns.getLayout().getContiguous() == fragment.getColumnDim() &&
      fragment.getShape()[1] % blockColumns != 0)
    return op.emitOpError() << "by wgmma with "
                            << (isTransposed ? "A contiguous along M" : "B contiguous along N")
                            << " needs atoms of a multiple of " << blockColumns
                            << " columns, found " << fragment.getShape()[1];
  return success();
}

void mlir::tcc::populateDistributeHopperPatterns(const TypeConverter &converter,
                                                 RewritePatternSet &patterns) {
  patterns.add<DistributeTmaCopy, DistributeBulkStore, DistributeBulkWait,
               DistributeWarpgroupMatmul, DistributeMatmulWait>(converter, patterns.getContext());
}
