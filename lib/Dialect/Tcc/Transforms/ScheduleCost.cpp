//===- ScheduleCost.cpp - How long a schedule is predicted to take --------===//
//
// A multiprocessor computes its tiles one after the other. A slab of a tile takes as long as the
// slower of its multiplications and its copies; a tile adds what its epilogue isn't hidden behind.
// The device's memory bounds all of it from below. The constants were fitted to kernels measured on
// an H200 (docs/Performance.md), where the model's order of tiles was compared with the measured one.
//
//===----------------------------------------------------------------------===//

#include "ScheduleCost.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::tcc;

/// Cycles of a tile that nothing hides: with ping-pong the other group multiplies meanwhile.
static constexpr double pingPongTile = 700, cooperativeTile = 3500;
/// Cycles of a kernel before its first multiplication and after its last: with ping-pong, the last
/// tile's epilogue is among them.
static constexpr double pingPongKernel = 2500, cooperativeKernel = 1000;
/// Two warpgroups that wait for each other, and blocks of a cluster that do.
static constexpr double cooperativeFactor = 1.01, clusterFactor = 1.03;
/// A cluster's launch, and its barriers at both ends.
static constexpr double clusterKernel = 4000;
/// Rows brought for a multiply-add cost power, and at the power limit the clock goes down.
static constexpr double powerPerRow = 2;

std::array<int64_t, 3> mlir::tcc::getSizes(const ScheduleContext &context) {
  std::array<int64_t, 3> sizes = context.sizes;
  for (int64_t &size : sizes)
    size = ShapedType::isDynamic(size) ? assumedSize : std::max<int64_t>(1, size);
  return sizes;
}

ScheduleCost mlir::tcc::predictCost(const ScheduleContext &context, ScheduleAttr schedule) {
  const ::tcc::arch::Throughput &chip = context.chip->throughput();
  auto [m, n, k] = getSizes(context);
  int64_t blockM = schedule.getBlockM(), blockN = schedule.getBlockN();
  int64_t clusterM = schedule.getClusterM(), clusterN = schedule.getClusterN();
  int64_t clusterBlocks = clusterM * clusterN;
  ScheduleCost cost;
  int64_t clusters =
      llvm::divideCeil(m, blockM * clusterM) * llvm::divideCeil(n, blockN * clusterN);
  // Clusters of more than two don't fit the chip's parts without a rest: 30 of 4 run at once.
  int64_t blocks = context.chip->limits().typicalMultiprocessors;
  int64_t resident = clusterBlocks > 2 ? (blocks - 12) / clusterBlocks : blocks / clusterBlocks;
  cost.waves = llvm::divideCeil(clusters, std::max<int64_t>(1, resident));

  // A block's only tile has nobody to take turns with.
  bool isPingPong = schedule.getRoles() == Roles::PingPong && cost.waves > 1;

  double slabK = schedule.getBlockK();
  cost.slabMma = 2.0 * blockM * blockN * slabK / chip.mmaFlops;
  // Rows of 128 bytes, those that other blocks of the cluster bring left out.
  auto perRow = [&](int64_t pitch) {
    bool isAligned = ShapedType::isDynamic(pitch) || pitch % 128 == 0;
    return isAligned ? chip.cyclesPerRow : chip.cyclesPerUnalignedRow;
  };
  cost.slabLoad = (double(blockM) / clusterN * perRow(context.lhsPitch) +
                   double(blockN) / clusterM * perRow(context.rhsPitch)) *
                  (slabK * 2 / 128);
  double slabs = llvm::divideCeil(k, schedule.getBlockK());
  double tile = slabs * std::max(cost.slabMma, cost.slabLoad) +
                (isPingPong ? pingPongTile : cooperativeTile);
  cost.tiles = cost.waves * tile + (isPingPong ? pingPongKernel : cooperativeKernel);
  cost.tiles *= isPingPong ? 1 : cooperativeFactor;
  cost.tiles += clusterBlocks > 1 ? clusterKernel : 0;
  cost.tiles *= 1 + powerPerRow * (double(blockM) + blockN) / (double(blockM) * blockN);

  double outputBytes = 0;
  for (int64_t bytes : context.outputBytes)
    outputBytes += bytes;
  cost.memory = (2.0 * k * (m + n) + outputBytes * m * n) / chip.memoryBytes;
  // Neither is hidden behind the other wholly.
  cost.total = std::max(cost.tiles, cost.memory) + std::min(cost.tiles, cost.memory) / 4;
  cost.total *= clusterBlocks > 1 ? clusterFactor : 1;
  return cost;
}

std::string ScheduleCost::str() const {
  return llvm::formatv("{0:F0} kcycles: {1} waves, {2:F0} cycles of multiplications and {3:F0} of "
                       "copies a slab, at least {4:F0} kcycles of memory",
                       total / 1000, waves, slabMma, slabLoad, memory / 1000);
}
