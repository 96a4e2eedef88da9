//===- ScheduleCost.cpp - How long a schedule is predicted to take --------===//
//
// A multiprocessor computes its tiles one after the other. A slab of a tile takes as long as the
// slowest of five: its multiplications, the arrival of its rows in shared memory, what the L2 cache
// gives to all multiprocessors of a GPC, a copy's latency divided by the copies that the ring of
// stages has on their way, and the loop's own latency. A tile adds its epilogue: with ping-pong the
// other group multiplies meanwhile, until TMA's stores take longer. The device's memory bounds all
// of it from below; blocks that divide K add the exchange of their sums. The constants were fitted
// to the cycles of 1423 kernels of 289 problems on an H200 (docs/Performance.md).
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
/// that a warpgroup has of it; then of each block of a cluster beyond two: groups in turn wait for
/// those of the others.
static constexpr double pingPongTile = 284, pingPongElement = 0.059, pingPongBlock = 611;
static constexpr double cooperativeElement = 0.098;
/// Cycles of a slice that goes through the staging buffer, and of each line of at most 128 bytes
/// that TMA stores of it.
static constexpr double sliceCycles = 195, storedLineCycles = 3.52;
/// Cycles of 8 elements that a row of lanes stores from registers: not fitted, but such that
/// cooperative tiles of f32 come after ping-pong ones, as they did when timed.
static constexpr double storedPartCycles = 1;
/// Cycles of a kernel's launch and first copies, and what a cluster adds to it, and each block of
/// it beyond two: its launch, and the barrier at which its blocks begin.
static constexpr double kernelCycles = 9399, clusterCycles = 568, clusterBlock = 104;
/// Where blocks of a cluster share rows of A and columns of B, rows arrive later.
static constexpr double bothSidesFactor = 1.26;
/// Warpgroups that split the columns read the same rows of shared memory, each for itself.
static constexpr double splitFactor = 1.026;
/// Cycles from a copy's start to the arrival of its first rows, and the share of the others' time
/// that the next copy doesn't overlap.
static constexpr double copyLatency = 1268, copyShare = 1.035;
/// Cycles of a round of the loop over K at least, and more for 64 of K: it waits for copies, starts
/// multiplications, waits for those before and gives their slot back; and for each other block of
/// its cluster.
static constexpr double loopCycles = 116, loopCyclesPerLine = 47, loopCyclesPerPeer = 24;
/// Cycles in which blocks that divide K exchange a tile, of each element that another block sends.
static constexpr double sentElement = 0.31;
/// Slabs of blocks that divide K take longer; why was not found out.
static constexpr double splitKFactor = 1.095;
/// How often a GPC fetches rows again that several of its clusters copy, each for itself: those
/// that begin together are on other GPCs.
static constexpr double dealtApart = 0.527;
/// How often, at most, blocks that moved apart do, and after how many slabs of 64.
static constexpr double mostApart = 0.31, linesUntilApart = 113;
/// What fetching a row across the grid of 128 bytes takes more, and what it takes for each further
/// multiprocessor of the GPC: such rows come for each.
static constexpr double unalignedFetch = 0.09, unalignedAgain = 1.22;
/// What a row beyond a matrix's end takes of the time of one inside. It isn't fetched, but the wait
/// for its zeros grows with the number of such blocks on the GPC; those whose tile is wholly beyond
/// the end, as a cluster's may be, count twice.
static constexpr double beyondFetch = 0.64;
/// The part of a slab's arrival for which a tile waits before its first multiplication.
static constexpr double firstSlab = 0.066;
/// Slots of the ring that hold no copy on its way: the one that is multiplied, and for some of the
/// time the one before.
static constexpr double heldSlots = 1.31;
/// The memory's bandwidth is reached with many rows on their way: with this many it's half.
static constexpr double rowsForHalfBandwidth = 48;
/// wgmma's rate where its A, 64 rows of 32 bytes, and B come through shared memory's 128 bytes a
/// cycle: narrow ones wait for A.
static constexpr double sharedBytesPerCycle = 128;

std::array<int64_t, 3> mlir::tcc::getSizes(const ScheduleContext &context) {
  std::array<int64_t, 3> sizes = context.sizes;
  for (int64_t &size : sizes)
    size = ShapedType::isDynamic(size) ? assumedSize : std::clamp<int64_t>(size, 1, greatestSize);
  return sizes;
}

/// The greatest, and more where others are close: none hides another wholly. The parts of a slab do
/// better than a kernel's.
static double softMax(std::initializer_list<double> values, unsigned power) {
  double greatest = std::max(values), sum = 0;
  if (greatest <= 0)
    return 0;
  for (double value : values) {
    // With std::pow the search takes longer by a seventh.
    double product = 1;
    for (unsigned factor = 0; factor < power; ++factor)
      product *= value / greatest;
    sum += product;
  }
  return greatest * std::pow(sum, 1.0 / power);
}
static constexpr unsigned slabPower = 20, kernelPower = 6;

namespace {

/// Rows of 128 bytes of A or B that a cluster's last tile along M or N has, and what those beyond
/// the matrix's end count.
struct LastTile {
  double inside = 0, beyond = 0;
};

/// Rows of 128 bytes that the blocks of a GPC copy for 64 of K at a time.
struct GpcRows {
  /// Of A and of B: those of all blocks (of all clusters, where a cluster's blocks share them), and
  /// different ones.
  std::array<double, 2> all = {}, different = {};
  /// Those beyond the matrices' ends.
  double beyond = 0;
};

/// The parts of a prediction.
class CostModel {
public:
  CostModel(const ScheduleContext &context, const ScheduleFields &fields)
      : chip(context.chip->throughput()), context(context), fields(fields),
        sizes(getSizes(context)), blockM(fields.block[0]), blockN(fields.block[1]),
        clusterM(fields.cluster.empty() ? 1 : fields.cluster[0]),
        clusterN(fields.cluster.empty() ? 1 : fields.cluster[1]), lines(fields.block[2] / 64.0) {}

  ScheduleCost predict(double limit) const;

private:
  int64_t getResident() const;
  int64_t countWaves() const;
  double getTotal(ScheduleCost &cost, double slabBeyond) const;
  double getSlabMma() const;
  std::array<double, 2> getRows() const;
  double getSlabLoad() const;
  LastTile getLastTile(unsigned dim) const;
  SmallVector<GpcRows, 8> getGpcRows() const;
  double getSlabL2(const GpcRows &rows, double apart) const;
  double getApart(const ScheduleCost &cost) const;
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
  double lines; // of 128 bytes that a slab has of each row
};

} // namespace

/// Tiles, or clusters, that the device computes at a time.
int64_t CostModel::getResident() const {
  // Larger clusters than are portable have no number; none is legal.
  size_t blocks = std::clamp<int64_t>(clusterM * clusterN * fields.splitK, 1,
                                      chip.residentClusters.size());
  return std::max<int64_t>(1, chip.residentClusters[blocks - 1]);
}

int64_t CostModel::countWaves() const {
  int64_t clusters = llvm::divideCeil(sizes[0], blockM * clusterM) *
                     llvm::divideCeil(sizes[1], blockN * clusterN);
  return llvm::divideCeil(clusters, getResident());
}

double CostModel::getSlabMma() const {
  unsigned nDim = fields.getAtomNDim();
  // An atom of n columns takes n / 2 cycles, its operands 64 + n rows of 32 bytes.
  double n = double(fields.block[nDim]) / fields.warps[nDim];
  double waiting = std::max(1.0, (64 + n) * 32 / sharedBytesPerCycle / (n / 2));
  return 2.0 * blockM * blockN * fields.block[2] / chip.mmaFlops * waiting;
}

/// The part of the rows of this pitch that lies across the grid of 128 bytes: with a pitch of 64
/// bytes beyond the grid every other one does.
static double getUnalignedPart(int64_t pitch) {
  return ShapedType::isDynamic(pitch) ? 0 : 1 - std::gcd(pitch, 128) / 128.0;
}

/// Rows of 128 bytes that a block has of A and of B in 64 of K. Columns that are contiguous come in
/// lines, whole ones.
std::array<double, 2> CostModel::getRows() const {
  return {double(context.lhsContiguous == 0 ? llvm::alignTo(blockM, 64) : blockM),
          double(context.rhsContiguous == 1 ? llvm::alignTo(blockN, 64) : blockN)};
}

/// Every row of 128 bytes arrives in shared memory, those that other blocks of the cluster bring,
/// too. To fetch one that lies across the grid takes longer than its arrival.
double CostModel::getSlabLoad() const {
  auto fetches = [&](int64_t pitch, double rows) {
    double unaligned = getUnalignedPart(pitch);
    return rows * ((1 - unaligned) * chip.cyclesPerRow + unaligned * chip.cyclesPerUnalignedRow);
  };
  auto [rowsM, rowsN] = getRows();
  double fetched =
      fetches(context.lhsPitch, rowsM / clusterN) + fetches(context.rhsPitch, rowsN / clusterM);
  double load = std::max((rowsM + rowsN) * chip.cyclesPerRow, fetched) * lines;
  return clusterM > 1 && clusterN > 1 ? load * bothSidesFactor : load;
}

/// Of A (`dim` 0) or B.
LastTile CostModel::getLastTile(unsigned dim) const {
  int64_t block = dim == 0 ? blockM : blockN, blocks = dim == 0 ? clusterM : clusterN;
  bool isContiguous = dim == 0 ? context.lhsContiguous == 0 : context.rhsContiguous == 1;
  double blockRows = getRows()[dim];
  LastTile last;
  int64_t rest = (sizes[dim] - 1) % (block * blocks) + 1;
  for (int64_t number = 0; number < blocks; ++number) {
    int64_t inside = std::clamp<int64_t>(rest - number * block, 0, block);
    double rows = double(isContiguous ? llvm::alignTo(inside, 64) : inside);
    last.inside += rows;
    last.beyond += inside == 0 ? 2 * blockRows : blockRows - rows;
  }
  return last;
}

/// For the tiles that are computed first.
SmallVector<GpcRows, 8> CostModel::getGpcRows() const {
  // As tcc-map-grid numbers them.
  std::array<int64_t, 2> tiles;
  tiles[0] = llvm::divideCeil(sizes[0], blockM * clusterM);
  tiles[1] = llvm::divideCeil(sizes[1], blockN * clusterN);
  int64_t height = std::max<int64_t>(1, fields.raster / clusterM);
  int64_t atATime = std::min(tiles[0] * tiles[1], getResident());
  bool isDealt = clusterM * clusterN * fields.splitK > 1;
  auto [blockRowsM, blockRowsN] = getRows();
  std::array<double, 2> whole = {blockRowsM * clusterM, blockRowsN * clusterN};
  std::array<LastTile, 2> last = {getLastTile(0), getLastTile(1)};
  SmallVector<GpcRows, 8> gpcs;
  for (int64_t gpc = 0; gpc < chip.gpcs; ++gpc) {
    int64_t begin = isDealt ? gpc : gpc * atATime / chip.gpcs;
    int64_t end = isDealt ? atATime : (gpc + 1) * atATime / chip.gpcs;
    std::array<SmallVector<int64_t, 32>, 2> seen;
    GpcRows &sum = gpcs.emplace_back();
    for (int64_t tile = begin; tile < end; tile += isDealt ? chip.gpcs : 1) {
      int64_t first = tile / (height * tiles[1]) * height, inGroup = tile % (height * tiles[1]);
      int64_t groupHeight = std::min(height, tiles[0] - first);
      int64_t place[2] = {first + inGroup % groupHeight, inGroup / groupHeight};
      for (unsigned dim : {0u, 1u}) {
        bool isLast = place[dim] == tiles[dim] - 1;
        double inside = isLast ? last[dim].inside : whole[dim];
        sum.all[dim] += inside;
        sum.beyond += isLast ? last[dim].beyond : 0;
        if (llvm::is_contained(seen[dim], place[dim]))
          continue;
        seen[dim].push_back(place[dim]);
        sum.different[dim] += inside;
      }
    }
  }
  return gpcs;
}

/// What the L2 cache takes for a slab of a GPC's blocks, which fetch rows of others once more where
/// they are `apart` (0 to 1).
double CostModel::getSlabL2(const GpcRows &rows, double apart) const {
  std::array<int64_t, 2> pitches = {context.lhsPitch, context.rhsPitch};
  std::array<bool, 2> isMulticast = {clusterN > 1, clusterM > 1};
  if (clusterM * clusterN * fields.splitK > 1)
    apart = std::max(apart, dealtApart);
  double fetched = 0;
  for (unsigned dim : {0u, 1u}) {
    double unaligned = getUnalignedPart(pitches[dim]), all = rows.all[dim];
    double different = rows.different[dim];
    double once = isMulticast[dim] ? all : different + apart * (all - different);
    fetched += once * (1 + unalignedFetch * unaligned) + unalignedAgain * unaligned * (all - once);
  }
  return fetched * fields.splitK * chip.cyclesPerGpcRow * lines;
}

/// How far blocks of a GPC move apart. Where they wait for multiplications they all go at one pace;
/// where they wait for copies those that get them first run ahead, the farther the longer K is.
double CostModel::getApart(const ScheduleCost &cost) const {
  double kLines = double(cost.waves) * sizes[2] / 64 / fields.splitK;
  double waiting = std::max(cost.slabLoad, cost.slabL2) / cost.slabMma;
  return mostApart * std::clamp((waiting - 0.9) / 0.2, 0.0, 1.0) *
         std::min(1.0, kLines / linesUntilApart);
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
           (blocks > 1 ? pingPongBlock * (blocks - 2) : 0);
  return mainLoop + (cooperativeElement * elements + getStores()) * getShare();
}

/// Blocks that divide K meet, and send each other parts of their sums.
double CostModel::getExchange() const {
  if (fields.splitK == 1)
    return 0;
  return sentElement * getShare() * (fields.splitK - 1) * blockM * blockN;
}

double CostModel::getMemory() const {
  auto [m, n, k] = sizes;
  double outputBytes = 0;
  for (int64_t bytes : context.outputBytes)
    outputBytes += bytes;
  // The smaller operand stays in the L2 cache.
  double rows = double(fields.stages) * (n >= m ? blockN : blockM) * lines;
  return (2.0 * k * (m + n) + outputBytes * m * n) / chip.memoryBytes *
         (1 + rowsForHalfBandwidth / rows);
}

double CostModel::getTotal(ScheduleCost &cost, double slabBeyond) const {
  double load = std::max(cost.slabLoad, cost.slabL2);
  double latency = (copyLatency + copyShare * load) / (fields.stages - heldSlots);
  double slabs =
      llvm::divideCeil(llvm::divideCeil(sizes[2], fields.block[2]), fields.splitK);
  double peers = double(clusterM) * clusterN - 1;
  // Copies of all slabs start at once: the first one's latency is the kernel's.
  if (slabs <= fields.stages)
    latency = peers = 0;
  double loop = loopCycles + (loopCyclesPerLine + loopCyclesPerPeer * peers) * lines;
  double slab = softMax({cost.slabMma, cost.slabLoad, cost.slabL2, latency, loop}, slabPower);
  if (slabs > fields.stages)
    slab += slabBeyond;
  if (fields.warps[fields.getAtomNDim()] > 1)
    slab *= splitFactor;
  if (fields.splitK > 1)
    slab *= splitKFactor;
  cost.tiles = cost.waves * getTile(slabs * slab + firstSlab * (load + slabBeyond));
  if (clusterM * clusterN > 1)
    cost.tiles += clusterCycles + clusterBlock * (clusterM * clusterN - 2);
  return softMax({cost.tiles, cost.memory}, kernelPower) + kernelCycles +
         cost.waves * getExchange();
}

ScheduleCost CostModel::predict(double limit) const {
  ScheduleCost cost;
  cost.waves = countWaves();
  cost.slabMma = getSlabMma();
  cost.slabLoad = getSlabLoad();
  cost.slabL2 = 0;
  cost.memory = getMemory();
  cost.total = getTotal(cost, /*slabBeyond=*/0);
  if (cost.total > limit)
    return cost;
  SmallVector<GpcRows, 8> gpcs = getGpcRows();
  auto getMostL2 = [&](double apart) {
    double most = 0;
    for (const GpcRows &rows : gpcs)
      most = std::max(most, getSlabL2(rows, apart));
    return most;
  };
  cost.slabL2 = getMostL2(/*apart=*/0);
  if (double apart = getApart(cost); apart > 0)
    cost.slabL2 = getMostL2(apart);
  double beyond = 0;
  for (const GpcRows &rows : gpcs)
    beyond = std::max(beyond, rows.beyond);
  double slabBeyond = beyond * beyondFetch * chip.cyclesPerGpcRow * fields.splitK * lines;
  cost.total = getTotal(cost, slabBeyond);
  return cost;
}

ScheduleCost mlir::tcc::predictCost(const ScheduleContext &context, const ScheduleFields &fields,
                                    double limit) {
  return CostModel(context, fields).predict(limit);
}

std::string ScheduleCost::str() const {
  return llvm::formatv("{0:F1} kcycles: {1} waves, {2:F0} cycles of multiplications, {3:F0} of "
                       "copies and {4:F0} of the L2 cache a slab, at least {5:F0} kcycles of "
                       "memory",
                       total / 1000, waves, slabMma, slabLoad, slabL2, memory / 1000);
}
