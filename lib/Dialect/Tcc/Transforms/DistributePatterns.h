//===- DistributePatterns.h - Patterns of tcc-distribute ----------------------*- C++ -*-===//

#ifndef TCC_LIB_DIALECT_TCC_TRANSFORMS_DISTRIBUTEPATTERNS_H
#define TCC_LIB_DIALECT_TCC_TRANSFORMS_DISTRIBUTEPATTERNS_H

#include "TileDistribution.h"

#include "tcc/Dialect/Tcc/IR/TccOps.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/DialectConversion.h"
#include "llvm/ADT/DenseMap.h"

namespace mlir::tcc {

/// For every matmul on wmma fragments: whether A and B were loaded row-major. tcc.mma states it
/// (PTX ISA, wmma.mma: the layouts must be those of the loads), the tiles' types don't.
struct WmmaMajors {
  bool rowMajorA;
  bool rowMajorB;
};
using WmmaMajorMap = llvm::DenseMap<Operation *, WmmaMajors>;

/// The values of operands that convert one to one.
inline SmallVector<Value> flatten(ArrayRef<ValueRange> values) {
  return llvm::map_to_vector(values, [](ValueRange range) -> Value { return range.front(); });
}
/// An optional operand; null if it is absent.
inline Value getOptional(ValueRange values) { return values.empty() ? Value() : values.front(); }

/// The threads of the block that runs `op` (`tcc.block` of its kernel); an error at `op` if
/// unknown.
FailureOr<int64_t> requireThreads(Operation *op);

/// Fails, with an error at `op`, for a buffer without a layout.
LogicalResult requireLayout(Operation *op, SharedType buffer);

/// The registers of a tile's distribution that a slice of it has.
SmallVector<int64_t> getSliceRegisters(tensor::ExtractSliceOp op);

/// Patterns can't explain why they fail to the user, so each op is checked before the first one
/// runs: an error at an op of theirs that the patterns below couldn't distribute. All tiles have
/// known registers.
LogicalResult verifyTileOp(Operation *op);
LogicalResult verifyGlobalAccess(Operation *op);
LogicalResult verifySharedAccess(Operation *op);
LogicalResult verifyTmaCopy(CopyOp op);
LogicalResult verifyBulkStore(BulkStoreOp op);
LogicalResult verifyWarpgroupMatmul(MatmulOp op);
LogicalResult verifyClusterReduce(ClusterReduceOp op);

/// Arithmetic, constants, broadcasts, slices, conversions and matmuls.
void populateDistributeTilePatterns(const TypeConverter &converter, RewritePatternSet &patterns,
                                    const WmmaMajorMap &majors);
/// Accesses to global memory: tcc.load, tcc.store, tcc.copy.
void populateDistributeGlobalPatterns(const TypeConverter &converter, RewritePatternSet &patterns);
/// Accesses to shared memory: tcc.local_load, tcc.local_store.
void populateDistributeSharedPatterns(const TypeConverter &converter, RewritePatternSet &patterns);
/// TMA copies, and matmuls whose operands are in shared memory.
void populateDistributeHopperPatterns(const TypeConverter &converter, RewritePatternSet &patterns);
/// Sums over the blocks of a cluster.
void populateDistributeClusterPatterns(const TypeConverter &converter, RewritePatternSet &patterns);

} // namespace mlir::tcc

#endif // TCC_LIB_DIALECT_TCC_TRANSFORMS_DISTRIBUTEPATTERNS_H
