//===- Mbarriers.h - Code around mbarriers --------------------------*- C++ -*-===//

#ifndef TCC_LIB_DIALECT_TCC_TRANSFORMS_MBARRIERS_H
#define TCC_LIB_DIALECT_TCC_TRANSFORMS_MBARRIERS_H

#include "TileDistribution.h"

namespace mlir::tcc {

/// Waits until the phase of parity `phase` (i32) of the mbarrier at `barrier` has completed.
void waitForPhase(I32Builder &b, Value barrier, Value phase);

} // namespace mlir::tcc

#endif // TCC_LIB_DIALECT_TCC_TRANSFORMS_MBARRIERS_H
