//===- Mbarriers.h - Code around mbarriers --------------------------*- C++ -*-===//

#ifndef TCC_LIB_DIALECT_TCC_TRANSFORMS_MBARRIERS_H
#define TCC_LIB_DIALECT_TCC_TRANSFORMS_MBARRIERS_H

#include "TileDistribution.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "tcc/Dialect/Tcc/IR/TccOps.h"

namespace mlir::tcc {

/// Bytes of an mbarrier (PTX ISA, "mbarrier object").
inline constexpr int64_t mbarrierBytes = 8;

/// Shared memory for `count` mbarriers, where the builder stands.
TypedValue<SharedType> allocMbarriers(OpBuilder &builder, Location loc, int64_t count);

/// The address of the mbarrier `offset` bytes (i32) behind the first of `barriers`.
Value getMbarrier(I32Builder &b, TypedValue<SharedType> barriers, Value offset);

/// A branch, for the builder to fill, that the block's first thread alone takes.
scf::IfOp createFirstThreadBranch(I32Builder &b);

void initMbarrier(I32Builder &b, Value barrier, int64_t arrivals);

/// Waits until the phase of parity `phase` (i32) of the mbarrier at `barrier` has completed.
void waitForPhase(I32Builder &b, Value barrier, Value phase);

} // namespace mlir::tcc

#endif // TCC_LIB_DIALECT_TCC_TRANSFORMS_MBARRIERS_H
