//===- SharedAddressing.h - Where a tile's elements lie in shared memory ------*- C++ -*-===//
//
// Emits the addresses of elements of a shared buffer in its layout (tcc/Support/SharedLayout.h has
// the formulas), as a part that depends on the thread and an immediate. For swizzled buffers
// constants that change bits of the exclusive-or go into it, the others stay immediates:
//
//   element (row, chunk) of 128-byte rows: ((row * 128 + ((chunk ^ row % 8) * 16)) ^ k) + immediate
//
// Without a swizzle all constants are immediates, unless a thread's part crosses blocks.
//
//===------------------------------------------------------------------------------------===//

#ifndef TCC_LIB_DIALECT_TCC_TRANSFORMS_SHAREDADDRESSING_H
#define TCC_LIB_DIALECT_TCC_TRANSFORMS_SHAREDADDRESSING_H

#include "TileDistribution.h"
#include "tcc/Dialect/Tcc/IR/TccTypes.h"

namespace mlir::tcc {

/// The addresses of one buffer, in one slot.
class SharedAddressing {
public:
  /// `slot` is null for a buffer of one stage. The buffer has a layout.
  SharedAddressing(I32Builder &b, TypedValue<SharedType> buffer, Value slot);

  /// The address of element (row, column), as !llvm.ptr<3>.
  Value getPointer(const Coordinate &row, const Coordinate &column);
  /// The address of the box of TMA that begins at element (row, column), the first of a block's
  /// line: TMA swizzles by address, also from a line on whose pieces are permuted. For layouts with
  /// blocks.
  Value getBoxPointer(const Coordinate &row, const Coordinate &column);

  /// The dimension whose neighbours are adjacent.
  unsigned getContiguous() const { return contiguous; }
  int64_t getElementBytes() const { return elementBytes; }
  /// Elements from one line to the next, for layouts without blocks.
  int64_t getLeadingDimension() const { return pitch / elementBytes; }
  /// Elements of a block's line; none for layouts without blocks.
  std::optional<int64_t> getBlockExtent() const {
    return span ? std::optional(span / elementBytes) : std::nullopt;
  }

private:
  /// `base + constant` bytes from the start of the slot; a null base is zero.
  struct Offset {
    Value base;
    int64_t constant;
  };
  /// Bytes along the contiguous dimension, split in a swizzled block and the place in its line.
  struct Inner {
    Value block;
    int64_t blockConstant = 0;
    Value within;
    int64_t withinConstant = 0;
  };

  Value getPointer(const Offset &offset);
  Coordinate getBytes(const Coordinate &inner);
  Offset getOffset(const Coordinate &line, const Coordinate &inner);
  Offset getSwizzledOffset(const Coordinate &line, const Coordinate &innerBytes);
  Offset getBlockedOffset(const Coordinate &line, const Coordinate &innerBytes);
  Inner splitInner(Coordinate innerBytes);
  /// The exclusive-or of a line, as a byte offset in it.
  Value getXor(Value line);
  int64_t getXor(int64_t line) const;

  I32Builder &b;
  TypedValue<SharedType> buffer;
  Value slot;
  unsigned contiguous;
  bool isSwizzled;
  int64_t elementBytes, span, lines, pitch;
};

} // namespace mlir::tcc

#endif // TCC_LIB_DIALECT_TCC_TRANSFORMS_SHAREDADDRESSING_H
