//===- TileAccess.h - The memory accesses that move a tile's registers --------*- C++ -*-===//
//
// A thread's registers of a tile, grouped into accesses of consecutive elements in memory: a vector
// of a blocked tile may take several, two neighbouring accumulators of a fragment share one.
//
//===------------------------------------------------------------------------------------===//

#ifndef TCC_LIB_DIALECT_TCC_TRANSFORMS_TILEACCESS_H
#define TCC_LIB_DIALECT_TCC_TRANSFORMS_TILEACCESS_H

#include "TileDistribution.h"

namespace mlir::tcc {

/// `elements.size()` elements that follow each other in memory.
struct TileAccess {
  /// An element of a register of the tile.
  struct Element {
    int64_t reg;
    int64_t index;
  };
  SmallVector<Coordinate, 2> first; // where the first element stands
  SmallVector<Element> elements;
  Value owned; // i1; null if every thread makes the access

  int64_t getWidth() const { return elements.size(); }
};

/// The accesses of a thread to all of a tile, each of at most `maxWidth` (a power of two) elements
/// along `unitDim` and aligned to its width. Elements that a register repeats are accessed once.
SmallVector<TileAccess> getTileAccesses(const TileDistribution &distribution,
                                        ArrayRef<RegisterPosition> positions, unsigned unitDim,
                                        int64_t maxWidth);

/// Loads that have been made, to be put together as registers.
class TileAssembler {
public:
  explicit TileAssembler(const TileDistribution &distribution);

  /// `value` (a vector, or a scalar if the access is one element wide) is what the access gave.
  void set(OpBuilder &builder, Location loc, const TileAccess &access, Value value);
  /// Registers `first` to `first + count`, all of whose elements are set.
  SmallVector<Value> getRegisters(OpBuilder &builder, Location loc, int64_t first, int64_t count);

private:
  TileDistribution distribution;
  SmallVector<Value> whole;                 // registers that one access gave
  SmallVector<SmallVector<Value>> elements; // else their elements
};

/// What an access stores: a vector, or a scalar if it is one element wide.
Value getAccessValue(OpBuilder &builder, Location loc, const TileDistribution &distribution,
                     const TileAccess &access, ValueRange registers);

/// One element of a register.
Value getElement(OpBuilder &builder, Location loc, ValueRange registers,
                 TileAccess::Element element);

} // namespace mlir::tcc

#endif // TCC_LIB_DIALECT_TCC_TRANSFORMS_TILEACCESS_H
