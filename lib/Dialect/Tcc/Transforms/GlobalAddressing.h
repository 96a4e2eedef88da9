//===- GlobalAddressing.h - A tile's place in a matrix ------------------------*- C++ -*-===//
//
// Emits addresses and edge conditions of a tile's elements in global memory. Addresses are 64-bit;
// edge conditions compare 32-bit coordinates in the tile with what is left of the matrix there.
//
//===------------------------------------------------------------------------------------===//

#ifndef TCC_LIB_DIALECT_TCC_TRANSFORMS_GLOBALADDRESSING_H
#define TCC_LIB_DIALECT_TCC_TRANSFORMS_GLOBALADDRESSING_H

#include "TileDistribution.h"

namespace mlir::tcc {

class GlobalAddressing {
public:
  /// The tile of `shape` at `offsets` of `matrix`, whose neighbours along `unitDim` are adjacent.
  /// Coordinates along `clampDim` are clamped to the matrix, unless that is `unitDim`: a clamped
  /// vector would be misaligned.
  GlobalAddressing(I32Builder &b, TypedValue<MemRefType> matrix, ValueRange offsets,
                   ArrayRef<int64_t> shape, unsigned unitDim, std::optional<int64_t> clampDim);

  /// How many of the tile's rows (columns) the matrix has: i32 in [0, shape[dim]].
  Value getRemaining(unsigned dim) const { return remaining[dim]; }

  /// True (i1) if all of the tile is inside the matrix along `dim`.
  Value isWhole(unsigned dim);

  /// The address of an element, as !llvm.ptr<1>.
  Value getPointer(ArrayRef<Coordinate> coordinates);

  bool isClamped(unsigned dim) const { return clampDim && *clampDim == dim; }
  unsigned getUnitDim() const { return unitDim; }
  unsigned getRank() const { return shape.size(); }
  int64_t getElementBytes() const { return elementBytes; }

private:
  Value computeRemaining(unsigned dim);
  Value getIndex(unsigned dim, const Coordinate &coordinate);

  I32Builder &b;
  TypedValue<MemRefType> matrix;
  SmallVector<Value, 2> offsets;
  SmallVector<int64_t, 2> shape;
  unsigned unitDim;
  std::optional<int64_t> clampDim;
  int64_t elementBytes;
  SmallVector<Value, 2> remaining;
};

} // namespace mlir::tcc

#endif // TCC_LIB_DIALECT_TCC_TRANSFORMS_GLOBALADDRESSING_H
