//===- SharedLayouts.h - Buffers in terms of lib/Support --------*- C++ -*-===//

#ifndef TCC_LIB_DIALECT_TCC_TRANSFORMS_SHAREDLAYOUTS_H
#define TCC_LIB_DIALECT_TCC_TRANSFORMS_SHAREDLAYOUTS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "tcc/Dialect/Tcc/IR/TccOps.h"
#include "tcc/Support/SharedLayout.h"

namespace mlir::tcc {

/// One stage of a buffer.
::tcc::support::SharedTile getSharedTile(SharedType type, unsigned contiguous);
::tcc::support::SharedLayout toSupport(SharedLayoutAttr layout);

/// Who works on a buffer besides the copies: the atoms of `family`, or, if no copy fills it, the
/// epilogue that stages accumulators of `family` in it.
::tcc::support::SharedConsumer getConsumer(AllocSharedOp alloc, MmaFamily family);

/// An error at `alloc` if the layout can't hold the buffer, or if `consumer` can't read it (L3.1).
LogicalResult checkSharedLayout(AllocSharedOp alloc, const ::tcc::support::SharedTile &tile,
                                const ::tcc::support::SharedLayout &layout,
                                ::tcc::support::SharedConsumer consumer);

/// Dynamic shared memory of a kernel: its buffers in program order, each with all stages and at the
/// alignment that its layout needs, then the mbarriers of its tma pipelines (8 bytes each: PTX ISA,
/// mbarrier).
struct SharedMemoryPlan {
  struct Buffer {
    AllocSharedOp alloc;
    int64_t offset;
  };
  struct Barriers {
    CreatePipelineOp pipeline;
    int64_t offset;
  };
  SmallVector<Buffer> buffers;
  SmallVector<Barriers> barriers;
  int64_t totalBytes = 0;
};
SharedMemoryPlan planSharedMemory(func::FuncOp kernel);

/// The mbarriers of a tma pipeline: for each stage a full and an empty one, and one for each of the
/// groups that take turns.
int64_t getNumBarriers(CreatePipelineOp pipeline);

} // namespace mlir::tcc

#endif // TCC_LIB_DIALECT_TCC_TRANSFORMS_SHAREDLAYOUTS_H
