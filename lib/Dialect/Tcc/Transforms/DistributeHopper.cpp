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
  return support::SharedLayout::swizzled(type.getLayout().getSpan());
}

namespace {

/// tcc.copy tma %A[%m, %k], %sa slot %s  →  tcc.tma_load for each box: a swizzled block of the
/// buffer, cut in pieces of 256 lines
struct DistributeTmaCopy : OpConversionPattern<CopyOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(CopyOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    if (op.getTransport() != Transport::Tma)
      return rewriter.notifyMatchFailure(op, "not by TMA");
    Value pipeline = findPipeline(op);
    if (!pipeline)
      return rewriter.notifyMatchFailure(op, "no pipeline guards the buffer");
    SharedType buffer = op.getDest().getType();
    int64_t span = buffer.getLayout().getSpan();
    unsigned inner = buffer.getLayout().getContiguous(), outer = 1 - inner;
    I32Builder b(rewriter, op.getLoc());
    Value slot = getOptional(adaptor.getSlot());
    SharedAddressing addressing(b, op.getDest(), slot);
    SmallVector<int64_t, 2> box(2);
    box[inner] = span / addressing.getElementBytes();
    box[outer] = std::min(buffer.getShape()[outer], maxBoxExtent);

    SmallVector<Value> offsets = flatten(adaptor.getOffsets());
    for (int64_t i = 0; i < buffer.getShape()[inner]; i += box[inner])
      for (int64_t line = 0; line < buffer.getShape()[outer]; line += box[outer]) {
        SmallVector<Coordinate, 2> first(2);
        first[inner].offset = i;
        first[outer].offset = line;
        SmallVector<Value, 2> place(2);
        for (unsigned dim : {0u, 1u}) {
          Value constant = arith::ConstantIndexOp::create(rewriter, op.getLoc(), first[dim].offset);
          place[dim] = arith::AddIOp::create(rewriter, op.getLoc(), offsets[dim], constant);
        }
        TmaLoadOp::create(rewriter, op.getLoc(), op.getSource(), place, box,
                          addressing.getPointer(first[0], first[1]), pipeline, slot, span);
      }
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

/// The descriptors of one operand of a warpgroup's share of a matmul.
class OperandDescriptors {
public:
  /// `kDim` is the operand's dimension along K; `base` the warpgroup's first byte, null for zero.
  OperandDescriptors(I32Builder &b, TypedValue<SharedType> buffer, Value slot, unsigned kDim,
                     Value base)
      : b(b), tile(getSharedTile(buffer.getType())), layout(getSharedLayout(buffer.getType())),
        kDim(kDim), descriptor(cantFail(support::wgmmaDescriptor(tile, layout, kDim))) {
    auto type = LLVM::LLVMPointerType::get(b.builder.getContext(), 3);
    pointer =
        SharedAddressOp::create(b.builder, b.loc, type, buffer, slot, base ? base : b.constant(0));
  }

  /// The descriptor of the atom that begins at row (column) `mn` and at `k`.
  Value get(int64_t mn, int64_t k) {
    int64_t offset = kDim == 1 ? support::linearOffset(tile, layout, mn, k)
                               : support::linearOffset(tile, layout, k, mn);
    Value start = pointer;
    if (offset != 0)
      start = LLVM::GEPOp::create(b.builder, b.loc, pointer.getType(), b.builder.getI8Type(),
                                  pointer, LLVM::GEPArg(static_cast<int32_t>(offset)));
    return MatrixDescriptorOp::create(b.builder, b.loc, start, descriptor.leadingByteOffset,
                                      descriptor.strideByteOffset, layout.span());
  }

  bool isRowMajor() const { return tile.contiguous == 1; }

private:
  I32Builder &b;
  support::SharedTile tile;
  support::SharedLayout layout;
  unsigned kDim;
  support::MatrixDescriptor descriptor;
  Value pointer;
};

/// tcc.matmul of shared buffers  →  fence; tcc.wgmma for each atom and step of K; commit;
/// … wait
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
    auto [warpM, warpN] = getWarpPlace(b, fragment);
    // Every 64 rows of A, and every run of B's columns, begin a whole number of blocks or groups of
    // 8 lines on: their places are multiples of the first one's.
    int64_t stepA = support::linearOffset(getSharedTile(lhs.getType()),
                                          getSharedLayout(lhs.getType()), shape[0], 0);
    int64_t stepB =
        warpN ? support::linearOffset(getSharedTile(rhs.getType()), getSharedLayout(rhs.getType()),
                                      0, columns * shape[1])
              : 0;
    Value slot = getOptional(adaptor.getSlot());
    OperandDescriptors a(b, lhs, slot, /*kDim=*/1, b.mul(b.div(warpM, 4), stepA));
    OperandDescriptors bs(b, rhs, slot, /*kDim=*/0, b.mul(warpN, stepB));

    SmallVector<Value> acc(adaptor.getAcc());
    int64_t perAtom = acc.size() / (rows * columns);
    int64_t unitRows = fragment.getUnit().first;
    NVVM::WgmmaFenceAlignedOp::create(rewriter, op.getLoc());
    for (int64_t k = 0; k < lhs.getType().getShape()[1]; k += shape[2])
      for (int64_t i = 0; i < rows; ++i)
        for (int64_t j = 0; j < columns; ++j) {
          auto c = MutableArrayRef(acc).slice((i * columns + j) * perAtom, perAtom);
          auto wgmma = WgmmaOp::create(
              rewriter, op.getLoc(), SmallVector<Type>(perAtom, rewriter.getF32Type()), shape,
              lhs.getType().getElementType(), a.get(i * unitRows, k), bs.get(j * shape[1], k),
              ValueRange(c), a.isRowMajor(), bs.isRowMajor());
          llvm::copy(wgmma.getResults(), c.begin());
        }
    NVVM::WgmmaGroupSyncAlignedOp::create(rewriter, op.getLoc());
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPoint(findEnd(op));
    auto wait = WgmmaWaitOp::create(rewriter, op.getLoc(), ValueRange(acc).getTypes(),
                                    /*pending=*/0, acc);
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

} // namespace

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

static LogicalResult verifySwizzle(Operation *op, SharedType buffer) {
  if (failed(requireLayout(op, buffer)))
    return failure();
  if (buffer.getLayout().getSpan() != 0)
    return success();
  return op->emitOpError() << "needs a swizzled buffer (#tcc.layout with 'span'), found " << buffer;
}

LogicalResult mlir::tcc::verifyTmaCopy(CopyOp op) {
  FailureOr<unsigned> unitDim = requireUnitStrideDim(op, op.getSource().getType());
  SharedType buffer = op.getDest().getType();
  if (failed(unitDim) || failed(verifySwizzle(op, buffer)))
    return failure();
  if (op.getSource().getType().getRank() != 2)
    return op.emitOpError() << "by TMA copies tiles of two dimensions";
  if (buffer.getLayout().getContiguous() != *unitDim)
    return op.emitOpError() << "copies runs along dimension " << *unitDim << " of the matrix, but "
                            << "the buffer's layout is contiguous along dimension "
                            << buffer.getLayout().getContiguous();
  int64_t lines = buffer.getShape()[1 - *unitDim];
  if (lines > maxBoxExtent && lines % maxBoxExtent != 0)
    return op.emitOpError() << "by TMA needs at most " << maxBoxExtent << " lines or a multiple, "
                            << "found " << lines;
  if (op.getSlot() && DistributeTmaCopy::findPipeline(op))
    return success();
  return op.emitOpError() << "by TMA needs a pipeline that guards the buffer";
}

LogicalResult mlir::tcc::verifyWarpgroupMatmul(MatmulOp op) {
  auto fragment = dyn_cast_or_null<FragmentAttr>(op.getAcc().getType().getEncoding());
  if (!fragment || fragment.getMma() != MmaFamily::Wgmma)
    return op.emitOpError() << "reads shared memory, which atoms of wgmma alone do";
  auto lhs = dyn_cast<SharedType>(op.getLhs().getType());
  auto rhs = dyn_cast<SharedType>(op.getRhs().getType());
  if (!lhs || !rhs)
    return op.emitOpError() << "by wgmma needs both operands in shared memory";
  if (failed(verifySwizzle(op, lhs)) || failed(verifySwizzle(op, rhs)))
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
  // N-major columns lie in blocks of a span: an atom reads whole ones.
  int64_t blockColumns =
      rhs.getLayout().getSpan() * 8 / rhs.getElementType().getIntOrFloatBitWidth();
  if (rhs.getLayout().getContiguous() == 1 && fragment.getShape()[1] % blockColumns != 0)
    return op.emitOpError() << "by wgmma with B contiguous along N needs atoms of a multiple of "
                            << blockColumns << " columns, found " << fragment.getShape()[1];
  return success();
}

void mlir::tcc::populateDistributeHopperPatterns(const TypeConverter &converter,
                                                 RewritePatternSet &patterns) {
  patterns.add<DistributeTmaCopy, DistributeWarpgroupMatmul>(converter, patterns.getContext());
}
