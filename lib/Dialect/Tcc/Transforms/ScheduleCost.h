//===- ScheduleCost.h - How long a schedule is predicted to take ----------===//

#ifndef TCC_LIB_DIALECT_TCC_TRANSFORMS_SCHEDULECOST_H
#define TCC_LIB_DIALECT_TCC_TRANSFORMS_SCHEDULECOST_H

#include "ScheduleLegality.h"

#include <limits>

namespace mlir::tcc {

/// What a size that isn't known counts as, and a greater one than any memory leaves room for: the
/// choice no longer depends on it, and products of sizes don't overflow.
inline constexpr int64_t assumedSize = 4096, greatestSize = int64_t(1) << 30;

/// M, N and K, with `assumedSize` for those that aren't known, none above `greatestSize`.
std::array<int64_t, 3> getSizes(const ScheduleContext &context);

/// Cycles of a multiprocessor that a kernel is predicted to take, and what they are made of.
struct ScheduleCost {
  /// Tiles that the busiest multiprocessor computes.
  int64_t waves;
  /// Of a slab: the tensor core's, those in which its rows are brought to shared memory, and those
  /// in which the L2 cache gives the rows of all blocks of a GPC.
  double slabMma, slabLoad, slabL2;
  /// Of the kernel: waves of tiles, and what the device's memory needs for A, B and C.
  double tiles, memory;
  double total;

  /// "271 kcycles: 5 waves, …": for remarks.
  std::string str() const;
};

/// The prediction for a kernel of wgmma and TMA on a chip whose throughput is known (lib/Arch). It
/// depends on the tile and its division, the stages, the roles, the cluster, the raster and the
/// epilogue. The L2 cache's part, which takes longest to find, is left out (slabL2 is 0) of what is
/// beyond `limit` without it.
ScheduleCost predictCost(const ScheduleContext &context, const ScheduleFields &fields,
                         double limit = std::numeric_limits<double>::infinity());

} // namespace mlir::tcc

#endif // TCC_LIB_DIALECT_TCC_TRANSFORMS_SCHEDULECOST_H
