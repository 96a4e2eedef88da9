//===- Barriers.h - Conflicts in unguarded shared buffers -------*- C++ -*-===//

#ifndef TCC_LIB_DIALECT_TCC_TRANSFORMS_BARRIERS_H
#define TCC_LIB_DIALECT_TCC_TRANSFORMS_BARRIERS_H

#include "Kernel.h"

namespace mlir::tcc {

/// True if a pipeline orders the accesses to the buffer.
bool isGuarded(Value buffer);

/// True if the drain of a pipeline is a barrier of the block: in a loop, where the pipeline is
/// filled again. Elsewhere no copy is in flight after it and nobody else has to know: no other
/// buffer shares the pipeline's memory.
bool isBlockBarrier(DrainOp drain);

/// An access that may meet another thread's access since the last barrier.
struct BarrierConflict {
  Operation *access;
  /// A bulk store may still read what the access writes: a tcc.bulk_wait must come first.
  bool withBulkStore;
  /// The access is a bulk store: what was written must be made visible to the async proxy, by a
  /// fence before the barrier.
  bool isBulkStore;
  /// A barrier of the block can't stand here, one of the consumer group can.
  bool isInRole = false;
};

/// Walks `kernel` in program order and calls `onConflict` before each access to an unguarded buffer
/// that may meet another thread's access since the last barrier of the block (of the group, in a
/// role): a read or a write after a write, a write after a read, over the iterations of loops too.
/// For a bulk store a barrier counts that comes after an nvvm.fence.proxy of the writers.
/// `onConflict` says whether it has put a barrier there. An access that can't be followed is an
/// error.
LogicalResult findBarrierConflicts(func::FuncOp kernel,
                                   function_ref<FailureOr<bool>(BarrierConflict)> onConflict);

} // namespace mlir::tcc

#endif // TCC_LIB_DIALECT_TCC_TRANSFORMS_BARRIERS_H
