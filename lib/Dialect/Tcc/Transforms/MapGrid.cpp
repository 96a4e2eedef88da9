//===- MapGrid.cpp - Tiles to blocks (L3 to L3g) --------------------------===//

#include "Kernel.h"
#include "SplitK.h"
#include "tcc/Dialect/Tcc/IR/TccDialect.h"
#include "tcc/Dialect/Tcc/IR/TccTarget.h"
#include "tcc/Dialect/Tcc/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/Support/FormatVariadic.h"

namespace mlir::tcc {
#define GEN_PASS_DEF_MAPGRIDPASS
#include "tcc/Dialect/Tcc/Transforms/Passes.h.inc"
} // namespace mlir::tcc

using namespace mlir;
using namespace mlir::tcc;

namespace {

/// One dimension of the grid of output tiles, those of a cluster's blocks taken together.
struct GridDim {
  /// Clusters' tiles along it, as a value of the kernel.
  Value tiles;
  /// The same as a number if it is static, else as an expression over the sizes.
  std::optional<int64_t> count;
  std::string expression;
  /// Elements of a block's tile, and of a cluster's.
  int64_t blockStep, step;
};

} // namespace

/// The name of the size that `bound` is: a memref.dim of an argument, transposed or not (L1.1).
static FailureOr<StringRef> getDimName(func::FuncOp kernel, Operation *user, Value bound) {
  auto refuse = [&]() -> FailureOr<StringRef> {
    return user->emitOpError() << "expects the bounds of the tile loop to be constants or sizes of "
                                  "arguments by memref.dim (L1.1)";
  };
  auto dim = bound.getDefiningOp<memref::DimOp>();
  std::optional<int64_t> index = dim ? dim.getConstantIndex() : std::nullopt;
  Value matrix = index ? dim.getSource() : Value();
  auto type = index ? dyn_cast<MemRefType>(matrix.getType()) : MemRefType();
  if (!type || *index < 0 || *index >= type.getRank())
    return refuse();
  while (auto transpose = matrix.getDefiningOp<memref::TransposeOp>()) {
    index = transpose.getPermutation().getDimPosition(*index);
    matrix = transpose.getIn();
  }
  auto argument = dyn_cast<BlockArgument>(matrix);
  if (!argument || argument.getOwner() != &kernel.getBody().front())
    return refuse();
  auto names = kernel.getArgAttrOfType<ArrayAttr>(argument.getArgNumber(), TccDialect::kDimsAttr);
  if (!names)
    return kernel.emitError() << "expects '" << TccDialect::kDimsAttr << "' on argument "
                              << argument.getArgNumber()
                              << ", whose sizes the grid depends on (L0t.4)";
  return cast<StringAttr>(names[*index]).getValue();
}

static FailureOr<GridDim> getGridDim(func::FuncOp kernel, scf::ForallOp forall, unsigned dim,
                                     int64_t clusterBlocks, OpBuilder &builder) {
  std::optional<int64_t> lower = getConstantIntValue(forall.getMixedLowerBound()[dim]);
  std::optional<int64_t> step = getConstantIntValue(forall.getMixedStep()[dim]);
  if (lower != 0 || !step || *step < 1)
    return forall.emitOpError() << "expects lower bounds of 0 and constant steps (L1.1)";

  GridDim result;
  result.blockStep = *step;
  result.step = *step * clusterBlocks;
  Location loc = forall.getLoc();
  OpFoldResult upper = forall.getMixedUpperBound()[dim];
  if (std::optional<int64_t> size = getConstantIntValue(upper)) {
    if (*size < 0)
      return forall.emitOpError() << "expects upper bounds that aren't negative, found " << *size;
    result.count = llvm::divideCeil(*size, result.step);
    result.expression = std::to_string(*result.count);
    result.tiles = arith::ConstantIndexOp::create(builder, loc, *result.count);
    return result;
  }
  Value size = cast<Value>(upper);
  FailureOr<StringRef> name = getDimName(kernel, forall, size);
  if (failed(name))
    return failure();
  result.expression = llvm::formatv("ceildiv({0}, {1})", *name, result.step).str();
  Value stepValue = arith::ConstantIndexOp::create(builder, loc, result.step);
  result.tiles = arith::CeilDivUIOp::create(builder, loc, size, stepValue);
  return result;
}

/// This block's number in its cluster along M and N, times its tile; null for zero. Blocks are
/// numbered along M first, as tcc-distribute and tcc-lower-pipeline have them.
static std::pair<Value, Value> getClusterOffsets(OpBuilder &builder, Location loc,
                                                 ScheduleAttr schedule, const GridDim &m,
                                                 const GridDim &n) {
  int64_t clusterM = schedule.getClusterM(), clusterN = schedule.getClusterN();
  if (clusterM * clusterN == 1)
    return {};
  Value rank = gpu::ClusterBlockIdOp::create(builder, loc, gpu::Dimension::x);
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(builder, loc, value);
  };
  Value rankM = arith::RemUIOp::create(builder, loc, rank, constant(clusterM));
  Value rankN = arith::DivUIOp::create(builder, loc, rank, constant(clusterM));
  return {arith::MulIOp::create(builder, loc, rankM, constant(m.blockStep)),
          arith::MulIOp::create(builder, loc, rankN, constant(n.blockStep))};
}

static Value getCount(OpBuilder &builder, Location loc, int64_t value) {
  return arith::ConstantIntOp::create(builder, loc, value, 32);
}

/// The remainder and the quotient.
static std::pair<Value, Value> divide(OpBuilder &builder, Location loc, Value number,
                                      Value divisor) {
  return {arith::RemUIOp::create(builder, loc, number, divisor),
          arith::DivUIOp::create(builder, loc, number, divisor)};
}

/// Row and column in a group of tiles whose first row is `first`. The last group may be lower. To
/// divide by its height where that's no constant takes longer than all else that a block does
/// before its first copy: 400 cycles.
static std::pair<Value, Value> getInGroup(OpBuilder &builder, Location loc, Value number,
                                          Value first, const GridDim &m, Value tilesM,
                                          int64_t raster) {
  Value height = getCount(builder, loc, raster);
  if (!m.count) {
    Value rest = arith::SubIOp::create(builder, loc, tilesM, first);
    return divide(builder, loc, number, arith::MinUIOp::create(builder, loc, rest, height));
  }
  auto [row, column] = divide(builder, loc, number, height);
  int64_t last = *m.count % raster;
  if (last == 0)
    return {row, column};
  auto [lastRow, lastColumn] = divide(builder, loc, number, getCount(builder, loc, last));
  Value isLast = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, first,
                                       getCount(builder, loc, *m.count - last));
  return {arith::SelectOp::create(builder, loc, isLast, lastRow, row),
          arith::SelectOp::create(builder, loc, isLast, lastColumn, column)};
}

/// Offsets of tile number `tile` along M and N. Tiles are numbered in groups of `raster` along M: a
/// group is finished, column by column, before the next begins, so that blocks that run together
/// share rows of A and columns of B in the L2 cache.
static std::pair<Value, Value> getTileOffsets(OpBuilder &builder, Location loc, Value tile,
                                              const GridDim &m, const GridDim &n, int64_t raster) {
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(builder, loc, value);
  };
  // Tiles are far fewer than 2^32 in any memory, and 64-bit divisions take long at a tile's start.
  auto narrow = [&](Value value) -> Value {
    return arith::IndexCastUIOp::create(builder, loc, builder.getI32Type(), value);
  };
  auto widen = [&](Value value) -> Value {
    return arith::IndexCastUIOp::create(builder, loc, builder.getIndexType(), value);
  };
  Value number = narrow(tile), tilesM = narrow(m.tiles), tilesN = narrow(n.tiles);
  Value tileM, tileN;
  if (raster == 1) {
    std::tie(tileN, tileM) = divide(builder, loc, number, tilesN);
  } else if (m.count && *m.count <= raster) {
    std::tie(tileM, tileN) = divide(builder, loc, number, tilesM);
  } else {
    Value height = getCount(builder, loc, raster);
    Value tilesOfGroup = arith::MulIOp::create(builder, loc, height, tilesN);
    auto [inGroup, group] = divide(builder, loc, number, tilesOfGroup);
    Value first = arith::MulIOp::create(builder, loc, group, height);
    auto [row, column] = getInGroup(builder, loc, inGroup, first, m, tilesM, raster);
    tileM = arith::AddIOp::create(builder, loc, first, row);
    tileN = column;
  }
  return {arith::MulIOp::create(builder, loc, widen(tileM), constant(m.step)),
          arith::MulIOp::create(builder, loc, widen(tileN), constant(n.step))};
}

static std::string getTileCount(const GridDim &m, const GridDim &n) {
  if (m.count && n.count)
    return std::to_string(*m.count * *n.count);
  return m.expression + " * " + n.expression;
}

/// Clusters, or blocks, that the device runs at a time. Not every multiprocessor has a place in a
/// cluster of more than two: one cluster too many would begin when the others have ended.
static std::string getResidentCount(func::FuncOp kernel, int64_t clusterBlocks) {
  if (clusterBlocks == 1)
    return "sm_count";
  const ::tcc::arch::Chip *chip = findChip(kernel);
  int64_t multiprocessors = chip ? chip->limits().typicalMultiprocessors : 0, resident = 0;
  if (chip && clusterBlocks <= int64_t(chip->throughput().residentClusters.size()))
    resident = chip->throughput().residentClusters[clusterBlocks - 1];
  if (resident * clusterBlocks == multiprocessors || resident == 0)
    return llvm::formatv("max(1, sm_count / {0})", clusterBlocks);
  return llvm::formatv("max(1, sm_count * {0} / {1})", resident, multiprocessors);
}

/// Puts the forall's body where the builder stands, for the tile number `tile`.
static void inlineTile(scf::ForallOp forall, IRRewriter &rewriter, Value tile, const GridDim &m,
                       const GridDim &n, ScheduleAttr schedule) {
  Location loc = forall.getLoc();
  int64_t raster = std::max<int64_t>(1, schedule.getRaster() / schedule.getClusterM());
  auto [offsetM, offsetN] = getTileOffsets(rewriter, loc, tile, m, n, raster);
  if (auto [inM, inN] = getClusterOffsets(rewriter, loc, schedule, m, n); inM) {
    offsetM = arith::AddIOp::create(rewriter, loc, offsetM, inM);
    offsetN = arith::AddIOp::create(rewriter, loc, offsetN, inN);
  }
  rewriter.eraseOp(forall.getTerminator());
  rewriter.inlineBlockBefore(forall.getBody(), rewriter.getInsertionBlock(),
                             rewriter.getInsertionPoint(), {offsetM, offsetN});
}

static FailureOr<scf::ForallOp> findTileLoop(func::FuncOp kernel) {
  SmallVector<scf::ForallOp> loops;
  kernel.walk([&](scf::ForallOp forall) { loops.push_back(forall); });
  if (loops.size() != 1 || loops.front()->getParentOp() != kernel)
    return kernel.emitError() << "expects one scf.forall over output tiles in its body, found "
                              << loops.size() << " (L1.1)";
  if (loops.front().getRank() != 2 || loops.front().getNumResults() != 0)
    return loops.front().emitOpError() << "expects two dimensions, M and N, and no results (L1.1)";
  return loops.front();
}

static LogicalResult mapKernel(func::FuncOp kernel) {
  FailureOr<ScheduleAttr> schedule = getSchedule(kernel);
  if (failed(schedule))
    return failure();
  FailureOr<scf::ForallOp> found = findTileLoop(kernel);
  if (failed(found))
    return failure();
  scf::ForallOp forall = *found;
  IRRewriter rewriter(kernel.getContext());
  rewriter.setInsertionPoint(forall);
  FailureOr<GridDim> m = getGridDim(kernel, forall, 0, schedule->getClusterM(), rewriter);
  if (failed(m))
    return failure();
  FailureOr<GridDim> n = getGridDim(kernel, forall, 1, schedule->getClusterN(), rewriter);
  if (failed(n))
    return failure();

  // Buffers live as long as the block, not the tile.
  for (auto alloc : llvm::make_early_inc_range(forall.getBody()->getOps<AllocSharedOp>()))
    rewriter.moveOpBefore(alloc, forall);
  Location loc = forall.getLoc();
  // Clusters are what takes tiles.
  int64_t clusterBlocks = schedule->getClusterBlocks();
  auto inClusters = [&](Value blocks) -> Value {
    if (clusterBlocks == 1)
      return blocks;
    Value divisor = arith::ConstantIndexOp::create(rewriter, loc, clusterBlocks);
    return arith::DivUIOp::create(rewriter, loc, blocks, divisor);
  };
  Value block = inClusters(gpu::BlockIdOp::create(rewriter, loc, gpu::Dimension::x));
  std::string grid = getTileCount(*m, *n);
  if (schedule->getPersistent()) {
    Value tiles = arith::MulIOp::create(rewriter, loc, m->tiles, n->tiles);
    Value blocks = inClusters(gpu::GridDimOp::create(rewriter, loc, gpu::Dimension::x));
    auto loop = scf::ForOp::create(rewriter, loc, block, tiles, blocks);
    rewriter.setInsertionPoint(loop.getBody()->getTerminator());
    inlineTile(forall, rewriter, loop.getInductionVar(), *m, *n, *schedule);
    grid = llvm::formatv("min({0}, {1})", grid, getResidentCount(kernel, clusterBlocks));
  } else {
    inlineTile(forall, rewriter, block, *m, *n, *schedule);
  }
  if (clusterBlocks != 1)
    grid = llvm::formatv("({0}) * {1}", grid, clusterBlocks).str();
  rewriter.eraseOp(forall);
  if (schedule->getSplitK() > 1 && failed(splitK(kernel, schedule->getSplitK())))
    return failure();

  kernel->setAttr(TccDialect::kGridAttr, rewriter.getStrArrayAttr({grid, "1", "1"}));
  kernel->setAttr(TccDialect::kBlockAttr, rewriter.getI64IntegerAttr(schedule->getNumThreads()));
  setLevel(kernel, Level::L3g);
  return success();
}

namespace {

struct MapGridPass : mlir::tcc::impl::MapGridPassBase<MapGridPass> {
  void runOnOperation() override {
    if (failed(transformKernels(getOperation(), getArgument(), Level::L3, mapKernel)))
      signalPassFailure();
  }
};

} // namespace
