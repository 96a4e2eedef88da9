//===- SharedAddressing.cpp - Where a tile's elements lie in shared memory --------------===//

#include "SharedAddressing.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "tcc/Dialect/Tcc/IR/TccOps.h"
#include <numeric>

using namespace mlir;
using namespace mlir::tcc;

SharedAddressing::SharedAddressing(I32Builder &b, TypedValue<SharedType> buffer, Value slot)
    : b(b), buffer(buffer), slot(slot) {
  SharedType type = buffer.getType();
  SharedLayoutAttr layout = type.getLayout();
  contiguous = layout.getContiguous();
  elementBytes = type.getElementType().getIntOrFloatBitWidth() / 8;
  isSwizzled = layout.isSwizzled();
  span = layout.getSpan();
  lines = type.getShape()[1 - contiguous];
  pitch = span ? span : type.getShape()[contiguous] * elementBytes + layout.getPad();
}

Value SharedAddressing::getPointer(const Coordinate &row, const Coordinate &column) {
  return getPointer(contiguous == 1 ? getOffset(row, column) : getOffset(column, row));
}

Value SharedAddressing::getBoxPointer(const Coordinate &row, const Coordinate &column) {
  return getPointer(contiguous == 1 ? getBlockedOffset(row, getBytes(column))
                                    : getBlockedOffset(column, getBytes(row)));
}

Value SharedAddressing::getPointer(const Offset &offset) {
  Value base = offset.base ? offset.base : b.constant(0);
  auto type = LLVM::LLVMPointerType::get(b.builder.getContext(), 3);
  auto id = reinterpret_cast<intptr_t>(buffer.getAsOpaquePointer());
  Value pointer = b.getOrCreate({TypeID::get<SharedAddressOp>(), base, slot, id}, [&]() -> Value {
    return SharedAddressOp::create(b.builder, b.loc, type, buffer, slot, base);
  });
  if (offset.constant == 0)
    return pointer;
  return LLVM::GEPOp::create(b.builder, b.loc, type, b.builder.getI8Type(), pointer,
                             LLVM::GEPArg(static_cast<int32_t>(offset.constant)));
}

Coordinate SharedAddressing::getBytes(const Coordinate &inner) {
  return {b.mul(inner.base, elementBytes), inner.offset * elementBytes,
          inner.multiple * elementBytes,   inner.bound * elementBytes,
          b.mul(inner.warp, elementBytes), inner.warpMultiple * elementBytes,
          inner.warpBound * elementBytes};
}

SharedAddressing::Offset SharedAddressing::getOffset(const Coordinate &line,
                                                     const Coordinate &inner) {
  Coordinate bytes = getBytes(inner);
  if (span)
    return isSwizzled ? getSwizzledOffset(line, bytes) : getBlockedOffset(line, bytes);
  Value base = b.add(b.mul(b.add(line.warp, line.base), pitch), b.add(bytes.warp, bytes.base));
  return {base, line.offset * pitch + bytes.offset};
}

/// True if adding `constant` to a multiple of `multiple` below `bound` is the same as their
/// exclusive-or: they have no bit in common.
static bool isDisjoint(int64_t multiple, int64_t bound, int64_t constant) {
  int64_t lowestOfConstant = constant & -constant;
  int64_t lowestOfMultiple = multiple & -multiple;
  return constant == 0 || bound <= lowestOfConstant || constant < lowestOfMultiple;
}

SharedAddressing::Inner SharedAddressing::splitInner(Coordinate innerBytes) {
  Inner inner;
  int64_t rest = innerBytes.offset % span;
  if (innerBytes.warp && innerBytes.warpMultiple % span != 0) {
    // Warps share a block: their part is one of the places in its line.
    innerBytes.base = b.add(innerBytes.warp, innerBytes.base);
    innerBytes.multiple = std::gcd(innerBytes.multiple, innerBytes.warpMultiple);
    innerBytes.bound += innerBytes.warpBound - innerBytes.warpMultiple;
    innerBytes.warp = Value();
  }
  if (!innerBytes.base || innerBytes.bound + rest <= span) {
    inner.block = b.div(innerBytes.warp, span);
    inner.within = innerBytes.base;
    inner.blockConstant = innerBytes.offset / span;
    inner.withinConstant = rest;
    if (inner.within && !isDisjoint(innerBytes.multiple, innerBytes.bound, rest)) {
      inner.within = b.add(inner.within, rest);
      inner.withinConstant = 0;
    }
    return inner;
  }
  Value bytes = b.add(innerBytes.warp, innerBytes.base);
  if (rest == 0)
    inner.blockConstant = innerBytes.offset / span;
  else
    bytes = b.add(bytes, innerBytes.offset);
  inner.block = b.div(bytes, span);
  inner.within = b.rem(bytes, span);
  return inner;
}

Value SharedAddressing::getXor(Value line) {
  // Address bits 7.. are bits log2(128 / span).. of the line.
  return line ? b.mul(b.bitAnd(b.div(line, 128 / span), span / 16 - 1), 16) : Value();
}

int64_t SharedAddressing::getXor(int64_t line) const {
  return (line * span >> 7 & (span / 16 - 1)) * 16;
}

SharedAddressing::Offset SharedAddressing::getBlockedOffset(const Coordinate &line,
                                                            const Coordinate &innerBytes) {
  Value lineBytes = b.mul(b.add(line.warp, line.base), span);
  int64_t lineConstant = line.offset * span, rest = innerBytes.offset % span;
  bool startsBlock = !innerBytes.warp || innerBytes.warpMultiple % span == 0;
  if (startsBlock && (!innerBytes.base || innerBytes.bound + rest <= span)) {
    // The warp's first block begins `lines` times as many bytes in as its column in a line does.
    Value base = b.add(b.mul(innerBytes.warp, lines), b.add(lineBytes, innerBytes.base));
    return {base, lineConstant + innerBytes.offset / span * (lines * span) + rest};
  }
  // Each block before the byte adds its other lines to the bytes of the one.
  Value bytes = b.materialize(innerBytes);
  Value before = b.mul(b.div(bytes, span), (lines - 1) * span);
  return {b.add(b.add(before, bytes), lineBytes), lineConstant};
}

SharedAddressing::Offset SharedAddressing::getSwizzledOffset(const Coordinate &line,
                                                             const Coordinate &innerBytes) {
  constexpr int64_t period = 8; // lines after which the exclusive-or repeats
  Inner inner = splitInner(innerBytes);
  int64_t blockBytes = lines * span;
  if (lines % period != 0) {
    // Blocks start in the middle of a period: the exclusive-or needs the whole linear address.
    Value linear = b.add(b.mul(b.add(inner.block, b.constant(inner.blockConstant)), blockBytes),
                         b.add(b.mul(b.materialize(line), span),
                               b.add(inner.within, b.constant(inner.withinConstant))));
    Value bits = b.mul(b.bitAnd(b.div(linear, 128), span / 16 - 1), 16);
    return {b.bitXor(linear, bits), 0};
  }

  Value lineBase = b.add(line.warp, line.base);
  int64_t lineConstant = line.offset;
  Value xorBase;
  int64_t xorConstant = 0;
  if (lineConstant % period == 0) {
    xorBase = getXor(lineBase);
  } else if ((!line.base || line.multiple % period == 0) &&
             (!line.warp || line.warpMultiple % period == 0)) {
    xorConstant = getXor(lineConstant);
  } else {
    lineBase = b.add(lineBase, lineConstant);
    lineConstant = 0;
    xorBase = getXor(lineBase);
  }
  Value base = b.add(b.mul(inner.block, blockBytes),
                     b.add(b.mul(lineBase, span), b.bitXor(inner.within, xorBase)));
  int64_t constant = inner.blockConstant * blockBytes + lineConstant * span;
  // All of `base` but the place in the line is a multiple of the span, which the constant is below.
  int64_t withinConstant = inner.withinConstant ^ xorConstant;
  if (base)
    return {b.bitXor(base, withinConstant), constant};
  return {Value(), constant + withinConstant};
}
