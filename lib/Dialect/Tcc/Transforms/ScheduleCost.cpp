//===- ScheduleCost.cpp - How long a schedule is predicted to take --------===//
//
// A multiprocessor computes its tiles one after the other. A slab of a tile takes as long as the
// slowest of four: its multiplications, the arrival of its rows in shared memory, a copy's latency
// divided by the copies that the ring of stages has on their way, and the loop's own latency. A
// tile adds its epilogue: with ping-pong the other group multiplies meanwhile, until TMA's stores
// take longer. The device's memory bounds all of it from below; blocks that divide K add the
// exchange of their sums. The constants were fitted to the cycles of 1205 kernels of 180 problems
// on an H200 (docs/Performance.md).
//
//===----------------------------------------------------------------------===//

#include "ScheduleCost.h"

#include "tcc/Support/SharedLayout.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>
#include <numeric>

using namespace mlir;
using namespace mlir::tcc;
namespace support = ::tcc::support;

/// Cycles of a tile's epilogue that nothing hides: with ping-pong of any tile and of each element
/// that a warpgroup has of it; then of a tile in a cluster, and of each block there beyond two:
/// groups in turn wait for those of the others.
static constexpr double pingPongTile = 383, pingPongElement = 0.041;
static constexpr double pingPongCluster = 693, pingPongBlock = 146;
static constexpr double cooperativeElement = 0.108;
/// Cycles of a slice that goes through the staging buffer, and of each line of at most 128 bytes
/// that TMA stores of it.
static constexpr double sliceCycles = 191, storedLineCycles = 3.21;
/// Cycles of 8 elements that a row of lanes stores from registers: not fitted, but such that
/// cooperative tiles of f32 come after ping-pong ones, as they did when timed.
static constexpr double storedPartCycles = 1;
/// Cycles of a kernel's launch and first copies, and what a cluster adds to it: its launch, and the
/// barrier at which its blocks begin.
static constexpr double kernelCycles = 9056, clusterCycles = 848;
/// Blocks of a cluster wait for each other. Where both sides are shared, rows arrive later and a
/// round of the loop takes longer.
static constexpr double clusterFactor = 1.029, bothSidesFactor = 1.17, bothSidesLoop = 1.36;
/// Warpgroups that split the columns read the same rows of shared memory, each for itself.
static constexpr double splitFactor = 1.026;
/// Cycles from a copy's start to the arrival of its first rows, and the share of the others' time
/// that the next copy doesn't overlap.
static constexpr double copyLatency = 1332, copyShare = 0.846;
/// Cycles of a round of the loop over K at least, and more for 64 of K: it waits for copies, starts
/// multiplications, waits for those before and gives their slot back; and for each other block that
/// it shares slots with.
static constexpr double loopCycles = 126, loopCyclesPerLine = 46, loopCyclesPerPeer = 21;
/// Cycles in which blocks that divide K exchange a tile: of any tile, and of each element that
/// another block sends.
static constexpr double exchangeCycles = 214, sentElement = 0.293;
/// Slabs of blocks that divide K take longer; why was not found out.
static constexpr double splitKFactor = 1.11;
/// The part of a slab's arrival for which a tile waits before its first multiplication.
static constexpr double firstSlab = 0.379;
/// Slots of the ring that hold no copy on its way: the one that is multiplied, and for some of the
/// time the one before.
static constexpr double heldSlots = 1.44;
/// The memory's bandwidth is reached with many rows on their way: with this many it's half.
static constexpr double rowsForHalfBandwidth = 67;
/// wgmma's rate where its A, 64 rows of 32 bytes, and B come through shared memory's 128 bytes a
/// cycle: narrow ones wait for A.
static constexpr double sharedBytesPerCycle = 128;

std::array<int64_t, 3> mlir::tcc::getSizes(const ScheduleContext &context) {
  std::array<int64_t, 3> sizes = context.sizes;
  for (int64_t &size : sizes)
    size = ShapedType::isDynamic(size) ? assumedSize : std::max<int64_t>(1, size);
  return sizes;
}

/// The greatest, and more where others are close: none hides another wholly. The parts of a slab do
/// better than a kernel's.
static double softMax(std::initializer_list<double> values, double power) {
  double greatest = std::max(values), sum = 0;
  if (greatest <= 0)
    return 0;
  for (double value : values)
    sum += std::pow(value / greatest, power);
  return greatest * std::pow(sum, 1 / power);
}
static constexpr double slabPower = 20, kernelPower = 6;

namespace {

/// The parts of a prediction.
class CostModel {
public:
  CostModel(const ScheduleContext &context, const ScheduleFields &fields)
      : chip(context.chip->throughput()), context(context), fields(fields),
        sizes(getSizes(context)), blockM(fields.block[0]), blockN(fields.block[1]),
        clusterM(fields.cluster.empty() ? 1 : fields.cluster[0]),
        clusterN(fields.cluster.empty() ? 1 : fields.cluster[1]) {}

  ScheduleCost predict() const;

private:
  int64_t countWaves() const;
  double getSlabMma() const;
  double getSlabLoad() const;
  double getTile(double mainLoop) const;
  double getShare() const;
  double getStores() const;
  double getExchange() const;
  double getMemory() const;

  const ::tcc::arch::Throughput &chip;
  const ScheduleContext &context;
  const ScheduleFields &fields;
  std::array<int64_t, 3> sizes;
  int64_t blockM, blockN, clusterM, clusterN;
};

} // namespace

int64_t CostModel::countWaves() const {
  int64_t clusters = llvm::divideCeil(sizes[0], blockM * clusterM) *
                     llvm::divideCeil(sizes[1], blockN * clusterN);
  // Larger clusters than are portable have no number; none is legal.
  size_t blocks = std::clamp<int64_t>(clusterM * clusterN * fields.splitK, 1,
                                      chip.residentClusters.size());
  return llvm::divideCeil(clusters, std::max<int64_t>(1, chip.residentClusters[blocks - 1]));
}

double CostModel::getSlabMma() const {
  unsigned nDim = fields.getAtomNDim();
  // An atom of n columns takes n / 2 cycles, its operands 64 + n rows of 32 bytes.
  double n = double(fields.block[nDim]) / fields.warps[nDim];
  double waiting = std::max(1.0, (64 + n) * 32 / sharedBytesPerCycle / (n / 2));
  return 2.0 * blockM * blockN * fields.block[2] / chip.mmaFlops * waiting;
}

/// Every row of 128 bytes arrives in shared memory, those that other blocks of the cluster bring,
/// too. To fetch one that lies across the grid of 128 bytes takes longer than its arrival: with a
/// pitch of 64 bytes beyond the grid every other one does.
double CostModel::getSlabLoad() const {
  auto fetches = [&](int64_t pitch, double rows) {
    double aligned = ShapedType::isDynamic(pitch) ? 1 : std::gcd(pitch, 128) / 128.0;
    return rows * (aligned * chip.cyclesPerRow + (1 - aligned) * chip.cyclesPerUnalignedRow);
  };
  // Columns that are contiguous come in lines, whole ones.
  double rowsM = blockM, rowsN = blockN;
  if (context.lhsContiguous == 0)
    rowsM = llvm::alignTo(blockM, 64);
  if (context.rhsContiguous == 1)
    rowsN = llvm::alignTo(blockN, 64);
  double fetched =
      fetches(context.lhsPitch, rowsM / clusterN) + fetches(context.rhsPitch, rowsN / clusterM);
  double load = std::max((rowsM + rowsN) * chip.cyclesPerRow, fetched) * (fields.block[2] / 64.0);
  return clusterM > 1 && clusterN > 1 ? load * bothSidesFactor : load;
}

/// The part of a tile that a block stores.
double CostModel::getShare() const {
  int64_t elements = getShareElements(fields, *llvm::max_element(context.outputBytes));
  return double(elements) / (blockM * blockN);
}

/// Slices and their lines, which are as wide as boxes of TMA are.
double CostModel::getStores() const {
  double elements = double(blockM) * blockN;
  if (fields.epilogue != Epilogue::Tma) {
    constexpr double partElements = 8;
    return elements / partElements * storedPartCycles * context.outputBytes.size();
  }
  double cycles = 0;
  for (int64_t bytes : context.outputBytes) {
    auto [rows, columns] = getEpilogueSlice(fields, bytes);
    constexpr int64_t leastBytes = 16;
    int64_t lineBytes = std::max(
        leastBytes, support::boxSpan(columns / getColumnParts(fields) * bytes, bytes));
    double lines = elements * bytes / lineBytes * llvm::divideCeil(lineBytes, 128);
    cycles += elements / (rows * columns) * sliceCycles + lines * storedLineCycles;
  }
  return cycles;
}

double CostModel::getTile(double mainLoop) const {
  double warpgroups = double(fields.warps[0]) * fields.warps[1] / 4;
  double elements = double(blockM) * blockN / warpgroups;
  int64_t blocks = clusterM * clusterN;
  if (fields.roles == Roles::PingPong)
    return softMax({mainLoop + pingPongTile + pingPongElement * elements, getStores()},
                   kernelPower) +
           (blocks > 1 ? pingPongCluster + pingPongBlock * (blocks - 2) : 0);
  return mainLoop + (cooperativeElement * elements + getStores()) * getShare();
}

/// Blocks that divide K meet, and send each other parts of their sums.
double CostModel::getExchange() const {
  if (fields.splitK == 1)
    return 0;
  return exchangeCycles + sentElement * getShare() * (fields.splitK - 1) * blockM * blockN;
}

double CostModel::getMemory() const {
  auto [m, n, k] = sizes;
  double outputBytes = 0;
  for (int64_t bytes : context.outputBytes)
    outputBytes += bytes;
  // The smaller operand stays in the L2 cache.
  double rows = double(fields.stages) * (n >= m ? blockN : blockM) * (fields.block[2] / 64.0);
  return (2.0 * k * (m + n) + outputBytes * m * n) / chip.memoryBytes *
         (1 + rowsForHalfBandwidth / rows);
}

ScheduleCost CostModel::predict() const {
  ScheduleCost cost;
  cost.waves = countWaves();
  cost.slabMma = getSlabMma();
  cost.slabLoad = getSlabLoad();
  double latency = (copyLatency + copyShare * cost.slabLoad) / (fields.stages - heldSlots);
  double slabs =
      llvm::divideCeil(llvm::divideCeil(sizes[2], fields.block[2]), fields.splitK);
  // Copies of all slabs start at once: the first one's latency is the kernel's.
  if (slabs <= fields.stages)
    latency = 0;
  double lines = fields.block[2] / 64.0;
  double loop = loopCycles + loopCyclesPerLine * lines +
                loopCyclesPerPeer * lines * (clusterM + clusterN - 2);
  if (clusterM > 1 && clusterN > 1)
    loop *= bothSidesLoop;
  double slab = softMax({cost.slabMma, cost.slabLoad, latency, loop}, slabPower);
  if (fields.warps[fields.getAtomNDim()] > 1)
    slab *= splitFactor;
  if (fields.splitK > 1)
    slab *= splitKFactor;
  cost.tiles = cost.waves * getTile(slabs * slab + firstSlab * cost.slabLoad);
  if (clusterM * clusterN > 1)
    cost.tiles = cost.tiles * clusterFactor + clusterCycles;
  cost.memory = getMemory();
  cost.total = softMax({cost.tiles, cost.memory}, kernelPower) + kernelCycles +
               cost.waves * getExchange();
  return cost;
}

ScheduleCost mlir::tcc::predictCost(const ScheduleContext &context, const ScheduleFields &fields) {
  return CostModel(context, fields).predict();
}

std::string ScheduleCost::str() const {
  return llvm::formatv("{0:F1} kcycles: {1} waves, {2:F0} cycles of multiplications and {3:F0} of "
                       "copies a slab, at least {4:F0} kcycles of memory",
                       total / 1000, waves, slabMma, slabLoad, memory / 1000);
}
