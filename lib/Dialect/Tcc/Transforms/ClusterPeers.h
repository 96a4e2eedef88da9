//===- ClusterPeers.h - Blocks that fill each other's slots ---------*- C++ -*-===//

#ifndef TCC_LIB_DIALECT_TCC_TRANSFORMS_CLUSTERPEERS_H
#define TCC_LIB_DIALECT_TCC_TRANSFORMS_CLUSTERPEERS_H

#include "TileDistribution.h"
#include "tcc/Dialect/Tcc/IR/TccAttrs.h"

namespace mlir::tcc {

/// The blocks of a cluster that write into a block's slots, itself included: those with the same
/// rows of A, and those with the same columns of B.
class ClusterPeers {
public:
  /// A block alone if there is no schedule.
  explicit ClusterPeers(ScheduleAttr schedule);

  int64_t size() const { return m + n - 1; }

  /// A barrier of the cluster, or of the block if it is alone, after which a thread's mbarriers
  /// that `nvvm.fence.mbarrier.init` stands behind may be used. Warps arrive as a whole.
  void meetInitialised(OpBuilder &builder, Location loc) const;

  /// The rank of the block that lane i < size() gives a slot back to: those with the same rows of A
  /// (i < n), then those with the same columns of B but this block.
  Value getRank(I32Builder &b) const;

private:
  int64_t m = 1, n = 1;
};

} // namespace mlir::tcc

#endif // TCC_LIB_DIALECT_TCC_TRANSFORMS_CLUSTERPEERS_H
