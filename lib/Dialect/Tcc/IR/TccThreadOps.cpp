//===- TccThreadOps.cpp - Verifiers of ops on registers ---------------------------------===//

#include "tcc/Dialect/Tcc/IR/TccOps.h"

#include "mlir/Dialect/LLVMIR/LLVMTypes.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace mlir::tcc;

LogicalResult GlobalAddressOp::verify() {
  int64_t rank = getSource().getType().getRank();
  if (static_cast<int64_t>(getIndices().size()) != rank)
    return emitOpError() << "expects one index for each of the matrix's " << rank
                         << " dimensions, found " << getIndices().size();
  return success();
}

LogicalResult SharedAddressOp::verify() {
  int64_t stages = getBuffer().getType().getStages();
  if (stages > 1 && !getSlot())
    return emitOpError() << "expects a slot: the buffer has " << stages << " stages";
  if (stages == 1 && getSlot())
    return emitOpError() << "expects no slot: the buffer has one stage";
  return success();
}

namespace {

/// Registers of one thread for one atom, by element type (docs/IR.md, L4d).
struct AtomRegisters {
  unsigned a, b, c;
};

} // namespace

/// The atoms that `tcc.mma` spells: 16-bit operands, f32 accumulator. Nothing if unknown.
static std::optional<AtomRegisters> getAtomRegisters(MmaFamily family, ArrayRef<int64_t> shape,
                                                     Type element) {
  if (family == MmaFamily::MmaSync && shape == ArrayRef<int64_t>{16, 8, 16})
    return AtomRegisters{4, 2, 4};
  if (family == MmaFamily::Wmma && shape == ArrayRef<int64_t>{16, 16, 16})
    return element.isF16() ? AtomRegisters{8, 8, 8} : AtomRegisters{4, 4, 8};
  return std::nullopt;
}

/// The element type of operand registers: all are `vector<2xf16>` or all `vector<2xbf16>`.
static Type getPackedElement(TypeRange types) {
  if (types.empty() || !llvm::all_equal(types))
    return {};
  auto pair = dyn_cast<VectorType>(types.front());
  if (!pair || pair.getShape() != ArrayRef<int64_t>{2})
    return {};
  Type element = pair.getElementType();
  return element.isF16() || element.isBF16() ? element : Type();
}

LogicalResult MmaOp::verify() {
  Type element = getPackedElement(getA().getTypes());
  if (!element || element != getPackedElement(getB().getTypes()))
    return emitOpError() << "expects the registers of A and B to be vector<2xf16> or "
                         << "vector<2xbf16>, all alike";
  std::optional<AtomRegisters> registers = getAtomRegisters(getFamily(), getShape(), element);
  if (!registers)
    return emitOpError() << "knows no atom " << stringifyMmaFamily(getFamily()) << " of shape ["
                         << getShape() << "]; known: mma_sync [16, 8, 16], wmma [16, 16, 16]";
  if (getA().size() != registers->a || getB().size() != registers->b ||
      getC().size() != registers->c || getResults().size() != registers->c)
    return emitOpError() << "expects " << registers->a << ", " << registers->b << " and "
                         << registers->c << " registers of A, B and C, and as many results as of "
                         << "C, found " << getA().size() << ", " << getB().size() << ", "
                         << getC().size() << " and " << getResults().size();
  return success();
}

/// PTX ISA, wmma.load and wmma.store: the stride in bytes is a multiple of 16.
static LogicalResult verifyStride(Operation *op, int64_t stride, int64_t elementBytes) {
  if (stride > 0 && stride * elementBytes % 16 == 0)
    return success();
  return op->emitOpError() << "expects a stride of a multiple of " << 16 / elementBytes
                           << " elements (16 bytes), found " << stride;
}

LogicalResult WmmaLoadOp::verify() {
  Type element = getPackedElement(getResultTypes());
  if (!element || getOperand() == Operand::C)
    return emitOpError() << "expects operand a or b and results of vector<2xf16> or "
                         << "vector<2xbf16>, all alike";
  std::optional<AtomRegisters> registers = getAtomRegisters(MmaFamily::Wmma, getShape(), element);
  if (!registers)
    return emitOpError() << "knows no wmma atom of shape [" << getShape()
                         << "]; known: [16, 16, 16]";
  unsigned expected = getOperand() == Operand::A ? registers->a : registers->b;
  if (getNumResults() != expected)
    return emitOpError() << "expects " << expected << " results, found " << getNumResults();
  return verifyStride(*this, getStride(), 2);
}

LogicalResult WmmaStoreOp::verify() {
  std::optional<AtomRegisters> registers =
      getAtomRegisters(MmaFamily::Wmma, getShape(), Float16Type::get(getContext()));
  if (!registers)
    return emitOpError() << "knows no wmma atom of shape [" << getShape()
                         << "]; known: [16, 16, 16]";
  if (getValues().size() != registers->c)
    return emitOpError() << "expects " << registers->c << " values, found " << getValues().size();
  return verifyStride(*this, getStride(), 4);
}

//===----------------------------------------------------------------------===//
// Hopper
//===----------------------------------------------------------------------===//

static LogicalResult verifyBox(Operation *op, int64_t rank, size_t offsets, ArrayRef<int64_t> box,
                               int64_t span) {
  if (rank != 2 || offsets != 2 || box.size() != 2)
    return op->emitOpError()
           << "expects a matrix of rank 2, two offsets and two extents of the box";
  for (int64_t extent : box)
    if (extent < 1 || extent > 256)
      return op->emitOpError() << "expects extents of the box from 1 to 256, found " << extent;
  if (!llvm::is_contained({0, 32, 64, 128}, span))
    return op->emitOpError() << "'span' is 0, 32, 64 or 128 bytes, found " << span;
  return success();
}

LogicalResult TmaLoadOp::verify() {
  return verifyBox(*this, getSource().getType().getRank(), getOffsets().size(), getBox(),
                   getSpan());
}

LogicalResult TmaStoreOp::verify() {
  return verifyBox(*this, getDest().getType().getRank(), getOffsets().size(), getBox(), getSpan());
}

LogicalResult MatrixDescriptorOp::verify() {
  if (!llvm::is_contained({0, 32, 64, 128}, getSpan()))
    return emitOpError() << "'span' is 0, 32, 64 or 128 bytes, found " << getSpan();
  for (int64_t offset : {getLeading(), getStride()})
    if (offset < 0 || offset % 16 != 0 || offset >= (1 << 18))
      return emitOpError() << "expects offsets of a multiple of 16 bytes below 2^18, found "
                           << offset;
  return success();
}

LogicalResult WgmmaOp::verify() {
  ArrayRef<int64_t> shape = getShape();
  if (shape.size() != 3 || shape[0] != 64 || shape[2] != 16 || shape[1] < 8 || shape[1] > 256 ||
      shape[1] % 8 != 0)
    return emitOpError() << "knows atoms of shape [64, n, 16], n a multiple of 8 from 8 to 256, "
                         << "found [" << shape << "]";
  if (!getElementType().isF16() && !getElementType().isBF16())
    return emitOpError() << "expects operands of f16 or bf16, found " << getElementType();
  if (static_cast<int64_t>(getAcc().size()) != shape[1] / 2)
    return emitOpError() << "expects " << shape[1] / 2 << " accumulators, found "
                         << getAcc().size();
  return success();
}
