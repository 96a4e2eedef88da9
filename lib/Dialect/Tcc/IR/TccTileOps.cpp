//===- TccTileOps.cpp - Verifiers and folders of ops on tiles ---------------------------===//

#include "tcc/Dialect/Tcc/IR/TccOps.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace mlir::tcc;

/// Rank and element type of tile and matrix, and the number of offsets (constraints 1 and 2 of
/// loads, stores and copies).
static LogicalResult verifyTileAccess(Operation *op, ArrayRef<int64_t> tileShape, Type tileElement,
                                      MemRefType matrix, OperandRange offsets) {
  if (static_cast<int64_t>(tileShape.size()) != matrix.getRank())
    return op->emitOpError() << "expects tile and matrix of the same rank, found a tile of rank "
                             << tileShape.size() << " and a matrix of rank " << matrix.getRank();
  if (tileElement != matrix.getElementType())
    return op->emitOpError() << "expects tile and matrix of the same element type, found "
                             << tileElement << " and " << matrix.getElementType();
  if (static_cast<int64_t>(offsets.size()) != matrix.getRank())
    return op->emitOpError() << "expects one offset for each of the matrix's " << matrix.getRank()
                             << " dimensions, found " << offsets.size();
  return success();
}

/// The width of an access is a power of two up to 16 bytes and holds an element.
static LogicalResult verifyBytes(Operation *op, std::optional<int64_t> bytes, Type element) {
  if (!bytes)
    return success();
  if (!llvm::is_contained({1, 2, 4, 8, 16}, *bytes))
    return op->emitOpError() << "'bytes' is 1, 2, 4, 8 or 16, found " << *bytes;
  int64_t elementBytes = element.getIntOrFloatBitWidth() / 8;
  if (*bytes < elementBytes)
    return op->emitOpError() << "'bytes' is at least the " << elementBytes << " bytes of "
                             << element << ", found " << *bytes;
  return success();
}

static LogicalResult verifyClamp(Operation *op, std::optional<int64_t> clamp, int64_t rank) {
  if (clamp && (*clamp < 0 || *clamp >= rank))
    return op->emitOpError() << "'clamp' is a dimension below " << rank << ", found " << *clamp;
  return success();
}

/// A slot is named if and only if there is more than one.
static LogicalResult verifySlot(Operation *op, SharedType buffer, Value slot) {
  if (buffer.getStages() > 1 && !slot)
    return op->emitOpError() << "expects a slot: the buffer has " << buffer.getStages()
                             << " stages";
  if (buffer.getStages() == 1 && slot)
    return op->emitOpError() << "expects no slot: the buffer has one stage";
  return success();
}

LogicalResult LoadOp::verify() {
  RankedTensorType tile = getResult().getType();
  if (failed(verifyTileAccess(*this, tile.getShape(), tile.getElementType(), getSource().getType(),
                              getOffsets())) ||
      failed(verifyBytes(*this, getBytes(), tile.getElementType())))
    return failure();
  return verifyClamp(*this, getClamp(), tile.getRank());
}

LogicalResult StoreOp::verify() {
  RankedTensorType tile = getValue().getType();
  if (failed(verifyTileAccess(*this, tile.getShape(), tile.getElementType(), getDest().getType(),
                              getOffsets())))
    return failure();
  return verifyBytes(*this, getBytes(), tile.getElementType());
}

LogicalResult ClusterReduceOp::verify() {
  if (getShares().size() < 2)
    return emitOpError() << "expects a region for each of at least two blocks, found "
                         << getShares().size();
  for (Region &share : getShares())
    if (share.getNumArguments() != 1 || share.getArgument(0).getType() != getAcc().getType())
      return emitOpError() << "expects regions with one argument, of the accumulator's type "
                           << getAcc().getType();
  if (getBuffers().empty())
    return emitOpError() << "expects a buffer that the blocks read each other's parts in";
  return success();
}

LogicalResult CopyOp::verify() {
  SharedType buffer = getDest().getType();
  Type element = buffer.getElementType();
  if (failed(verifyTileAccess(*this, buffer.getShape(), element, getSource().getType(),
                              getOffsets())) ||
      failed(verifyBytes(*this, getBytes(), element)) ||
      failed(verifyClamp(*this, getClamp(), buffer.getShape().size())) ||
      failed(verifySlot(*this, buffer, getSlot())))
    return failure();
  if (getTransport() == Transport::CpAsync && getBytes() < 4)
    return emitOpError() << "cp_async moves 4, 8 or 16 bytes, found 'bytes' = " << getBytes()
                         << "; use the transport 'register'";
  if (!getMulticast())
    return success();
  if (getTransport() != Transport::Tma)
    return emitOpError() << "has 'multicast', which is for the transport 'tma'";
  if (*getMulticast() != 0 && *getMulticast() != 1)
    return emitOpError() << "'multicast' is 0 or 1, a dimension of the cluster, found "
                         << *getMulticast();
  return success();
}

LogicalResult BulkStoreOp::verify() {
  SharedType buffer = getSource().getType();
  if (failed(verifyTileAccess(*this, buffer.getShape(), buffer.getElementType(),
                              getDest().getType(), getOffsets())))
    return failure();
  return verifySlot(*this, buffer, getSlot());
}

LogicalResult LocalLoadOp::verify() {
  SharedType buffer = getSource().getType();
  RankedTensorType tile = getResult().getType();
  if (tile.getElementType() != buffer.getElementType())
    return emitOpError() << "expects tile and buffer of the same element type, found "
                         << tile.getElementType() << " and " << buffer.getElementType();
  ArrayRef<int64_t> offsets = getOffsets();
  if (tile.getRank() != 2 || offsets.size() != 2)
    return emitOpError() << "expects a tile and offsets of two dimensions, found "
                         << tile.getRank() << " and " << offsets.size();
  for (auto [offset, extent, limit] : llvm::zip(offsets, tile.getShape(), buffer.getShape()))
    if (offset < 0 || extent > limit || offset > limit - extent)
      return emitOpError() << "expects a tile inside the buffer, found extent " << extent
                           << " at offset " << offset << " in " << limit;
  return verifySlot(*this, buffer, getSlot());
}

LogicalResult LocalStoreOp::verify() {
  SharedType buffer = getDest().getType();
  RankedTensorType tile = getValue().getType();
  if (tile.getShape() != buffer.getShape() || tile.getElementType() != buffer.getElementType())
    return emitOpError() << "expects tile and buffer of the same shape and element type, found "
                         << tile << " and " << buffer;
  return verifySlot(*this, buffer, getSlot());
}

//===----------------------------------------------------------------------===//
// MatmulOp
//===----------------------------------------------------------------------===//

namespace {

/// What a matmul needs to know of an operand, be it a tile or a shared buffer.
struct OperandView {
  ArrayRef<int64_t> shape;
  Type element;
  Attribute encoding;
  bool isShared;
};

} // namespace

static OperandView viewOf(Value value) {
  if (auto tile = dyn_cast<RankedTensorType>(value.getType()))
    return {tile.getShape(), tile.getElementType(), tile.getEncoding(), false};
  auto buffer = cast<SharedType>(value.getType());
  return {buffer.getShape(), buffer.getElementType(), {}, true};
}

/// Constraint 4: each encoding is the fragment of its role in one atom on one warp grid.
static LogicalResult verifyEncodings(MatmulOp op, const OperandView &lhs, const OperandView &rhs,
                                     RankedTensorType acc) {
  auto reference = dyn_cast_or_null<FragmentAttr>(acc.getEncoding());
  auto check = [&](Attribute encoding, Operand role, StringRef name) -> LogicalResult {
    auto fragment = dyn_cast_or_null<FragmentAttr>(encoding);
    if (!reference && !encoding)
      return success();
    if (!fragment || !reference || fragment.getOperand() != role ||
        fragment.getMma() != reference.getMma() || fragment.getShape() != reference.getShape() ||
        fragment.getWarps() != reference.getWarps()) {
      InFlightDiagnostic error = op.emitOpError()
                                 << "expects the " << name << " to have the fragment of operand '"
                                 << stringifyOperand(role)
                                 << "' of the accumulator's atom and warps, found ";
      if (encoding)
        return error << encoding;
      return error << "no encoding";
    }
    return success();
  };
  if (failed(check(acc.getEncoding(), Operand::C, "accumulator")))
    return failure();
  if (!lhs.isShared && failed(check(lhs.encoding, Operand::A, "left operand")))
    return failure();
  if (!rhs.isShared && failed(check(rhs.encoding, Operand::B, "right operand")))
    return failure();
  return success();
}

void MatmulOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  for (OpOperand *operand : {&getLhsMutable(), &getRhsMutable()})
    if (isa<SharedType>(operand->get().getType()))
      effects.emplace_back(MemoryEffects::Read::get(), operand);
}

/// Constraint 5.
static LogicalResult verifyMatmulSlot(MatmulOp op) {
  int64_t stages = 1;
  for (Value operand : {op.getLhs(), op.getRhs()})
    if (auto buffer = dyn_cast<SharedType>(operand.getType()))
      stages = std::max(stages, buffer.getStages());
  if (stages > 1 && !op.getSlot())
    return op.emitOpError() << "expects a slot: an operand has " << stages << " stages";
  if (stages == 1 && op.getSlot())
    return op.emitOpError() << "expects no slot: no operand has several stages";
  return success();
}

LogicalResult MatmulOp::verify() {
  if (failed(verifyMatmulSlot(*this)))
    return failure();
  OperandView lhs = viewOf(getLhs()), rhs = viewOf(getRhs());
  RankedTensorType acc = getAcc().getType();
  if (lhs.shape.size() != 2 || rhs.shape.size() != 2 || acc.getRank() != 2)
    return emitOpError() << "expects operands of rank 2, found ranks " << lhs.shape.size() << ", "
                         << rhs.shape.size() << " and " << acc.getRank();
  if (lhs.shape[1] != rhs.shape[0])
    return emitOpError() << "expects equal K, found " << lhs.shape[1] << " columns of the left and "
                         << rhs.shape[0] << " rows of the right operand";
  if (acc.getShape()[0] != lhs.shape[0] || acc.getShape()[1] != rhs.shape[1])
    return emitOpError() << "expects an accumulator of " << lhs.shape[0] << "x" << rhs.shape[1]
                         << ", found " << acc.getShape()[0] << "x" << acc.getShape()[1];
  if (lhs.element != rhs.element)
    return emitOpError() << "expects operands of one element type, found " << lhs.element << " and "
                         << rhs.element;
  if (!lhs.element.isF16() && !lhs.element.isBF16())
    return emitOpError() << "expects operands of f16 or bf16, found " << lhs.element;
  if (!acc.getElementType().isF32())
    return emitOpError() << "expects an accumulator of f32, found " << acc.getElementType();
  int64_t pending = getPending();
  if (pending < 0 || (pending > 0 && !(lhs.isShared && rhs.isShared)))
    return emitOpError() << "'pending' is 0, or more with both operands in shared memory, found "
                         << pending;
  return verifyEncodings(*this, lhs, rhs, acc);
}

//===----------------------------------------------------------------------===//
// ConvertLayoutOp
//===----------------------------------------------------------------------===//

OpFoldResult ConvertLayoutOp::fold(FoldAdaptor) {
  // convert(x) to x's own type → x
  if (getSource().getType() == getType())
    return getSource();
  // convert(convert(x)) → convert(x): values don't depend on the distribution.
  if (auto inner = getSource().getDefiningOp<ConvertLayoutOp>()) {
    getSourceMutable().assign(inner.getSource());
    return getResult();
  }
  return {};
}

LogicalResult ConvertLayoutOp::verify() {
  RankedTensorType source = getSource().getType(), result = getType();
  if (source.getShape() != result.getShape() || source.getElementType() != result.getElementType())
    return emitOpError() << "expects operand and result to differ in their encoding alone, found "
                         << source << " and " << result;
  return success();
}
