//===- ScheduleHeuristic.cpp - A schedule where the user gave none --------===//

#include "ScheduleHeuristic.h"
#include "ScheduleCost.h"
#include "ScheduleSearch.h"
#include "Target.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::tcc;
namespace arch = ::tcc::arch;

/// True where a wgmma kernel can be built: the block tile of a tile program may not suit it.
static bool canUseWgmma(MLIRContext *context, const ScheduleContext &facts,
                        std::optional<std::array<int64_t, 3>> block) {
  llvm::Expected<const arch::MmaAtom *> atom = findAtom(facts, MmaFamily::Wgmma);
  if (!atom) {
    llvm::consumeError(atom.takeError());
    return false;
  }
  llvm::Expected<ScheduleAttr> schedule =
      chooseSchedule(context, facts, MmaFamily::Wgmma, Transport::Tma, block);
  if (!schedule)
    llvm::consumeError(schedule.takeError());
  return bool(schedule);
}

llvm::Expected<MmaFamily>
mlir::tcc::chooseFamily(MLIRContext *context, const ScheduleContext &facts,
                        std::optional<std::array<int64_t, 3>> block) {
  if (canUseWgmma(context, facts, block))
    return MmaFamily::Wgmma;
  llvm::Expected<const arch::MmaAtom *> preferred = findAtom(facts, MmaFamily::MmaSync);
  if (preferred)
    return MmaFamily::MmaSync;
  llvm::consumeError(preferred.takeError());
  if (llvm::Expected<const arch::MmaAtom *> atom = findAtom(facts, MmaFamily::Wmma); !atom)
    return atom.takeError();
  return MmaFamily::Wmma;
}

Transport mlir::tcc::chooseTransport(const arch::Chip &chip, MmaFamily family) {
  if (family == MmaFamily::Wgmma)
    return Transport::Tma;
  return chip.hasAsyncCopy() ? Transport::CpAsync : Transport::Register;
}

namespace {
/// A block tile, how warps divide it, and its speed in percent of the best tile's. The speeds come
/// from measured kernels at large sizes (docs/Performance.md); small tiles read more per flop.
struct TileCandidate {
  int64_t m, n, warpsM, warpsN;
  int64_t efficiency;
};
constexpr TileCandidate warpTiles[] = {
    {128, 256, 2, 4, 100}, {128, 128, 2, 4, 90}, {64, 128, 2, 4, 80},
    {64, 64, 2, 2, 65},    {32, 64, 2, 2, 45},   {32, 32, 2, 2, 30},
};
/// Of wgmma with copies by the warps that multiply; with TMA there is a cost model.
constexpr TileCandidate warpgroupTiles[] = {
    {128, 256, 8, 1, 100}, {128, 192, 8, 1, 97}, {128, 128, 8, 1, 90},
    {64, 256, 4, 1, 80},   {64, 128, 4, 1, 65},  {64, 64, 4, 1, 45},
};

/// How warps may divide a tile that is given, better ones first.
constexpr std::pair<int64_t, int64_t> warpGrids[] = {
    {2, 4}, {4, 2}, {2, 2}, {1, 4}, {8, 1}, {4, 1}, {1, 2}, {2, 1}, {1, 1}, {4, 4}, {2, 8}, {8, 2}};

struct Scored {
  ScheduleAttr schedule;
  int64_t cost;
};
} // namespace

/// Tiles that one multiprocessor computes, one after the other.
static int64_t countWaves(const ScheduleContext &facts, int64_t m, int64_t n) {
  auto [sizeM, sizeN, sizeK] = getSizes(facts);
  int64_t tiles = llvm::divideCeil(sizeM, m) * llvm::divideCeil(sizeN, n);
  return llvm::divideCeil(tiles, facts.chip->limits().typicalMultiprocessors);
}

static ScheduleFields getBaseFields(ArrayRef<int64_t> block, ArrayRef<int64_t> warps,
                                    MmaFamily family, Transport transport) {
  ScheduleFields fields;
  fields.block.assign(block.begin(), block.end());
  fields.warps.assign(warps.begin(), warps.end());
  fields.mma = family;
  fields.transport = transport;
  fields.epilogue = family == MmaFamily::Wmma ? Epilogue::Shared : Epilogue::Direct;
  fields.roles = transport == Transport::Tma ? Roles::Cooperative : Roles::Uniform;
  fields.raster = usualRaster;
  return fields;
}

/// The schedule of a tile with as many stages as help and fit, at most `maxStages`; none if not
/// even two fit.
static std::optional<ScheduleAttr> fitStages(MLIRContext *context, const ScheduleContext &facts,
                                             ArrayRef<int64_t> block, ArrayRef<int64_t> warps,
                                             MmaFamily family, Transport transport,
                                             int64_t maxStages) {
  ScheduleFields fields = getBaseFields(block, warps, family, transport);
  for (int64_t stages = maxStages; stages > 1; --stages) {
    fields.stages = stages;
    auto schedule = ScheduleAttr::get(context, fields);
    if (isLegal(facts, schedule))
      return schedule;
  }
  return std::nullopt;
}

/// The fastest schedule of one tile and its cost.
static std::optional<Scored> scoreTile(MLIRContext *context, const ScheduleContext &facts,
                                       const TileCandidate &tile, ArrayRef<int64_t> blockKs,
                                       MmaFamily family, Transport transport) {
  int64_t waves = countWaves(facts, tile.m, tile.n);
  // One wave has nothing but its own stages to hide latency behind.
  int64_t maxStages = transport == Transport::Register ? 2 : waves > 1 ? 4 : 8;
  std::optional<Scored> best;
  for (int64_t blockK : blockKs) {
    std::optional<ScheduleAttr> schedule =
        fitStages(context, facts, {tile.m, tile.n, blockK}, {tile.warpsM, tile.warpsN}, family,
                  transport, maxStages);
    if (!schedule)
      continue;
    // Copies need two tiles of lead (one, from registers) to stay ahead of the loop.
    int64_t enough = transport == Transport::Register ? 2 : 3;
    int64_t efficiency =
        schedule->getStages() >= enough ? tile.efficiency : tile.efficiency * 3 / 4;
    int64_t cost = waves * tile.m * tile.n * 100 / std::max<int64_t>(1, efficiency);
    if (!best || cost < best->cost)
      best = Scored{*schedule, cost};
  }
  return best;
}

llvm::Expected<ScheduleAttr>
mlir::tcc::chooseSchedule(MLIRContext *context, const ScheduleContext &facts, MmaFamily family,
                          Transport transport, std::optional<std::array<int64_t, 3>> block,
                          std::string *why) {
  if (transport == Transport::Tma)
    if (std::optional<ScheduleAttr> found = searchTmaSchedule(context, facts, block, why))
      return *found;
  bool isWgmma = family == MmaFamily::Wgmma;
  SmallVector<TileCandidate> tiles(isWgmma ? ArrayRef(warpgroupTiles) : ArrayRef(warpTiles));
  // Register tiles in flight grow with the slab, so that 32 is the most that pays there.
  SmallVector<int64_t> blockKs = {64, 32};
  if (transport == Transport::Register)
    blockKs = {32};
  if (block) {
    tiles.clear();
    for (auto [warpsM, warpsN] : warpGrids)
      tiles.push_back({(*block)[0], (*block)[1], warpsM, warpsN, 100});
    blockKs = {(*block)[2]};
  }
  std::optional<Scored> best;
  for (const TileCandidate &tile : tiles) {
    std::optional<Scored> scored = scoreTile(context, facts, tile, blockKs, family, transport);
    if (scored && (!best || scored->cost < best->cost))
      best = scored;
  }
  if (best)
    return best->schedule;
  if (!block)
    return llvm::createStringError("no schedule of the heuristic fits " + facts.chip->name() +
                                   "; write one as tcc.schedule");
  // Say what is wrong with the user's tile, with the division that most tiles allow.
  auto schedule =
      ScheduleAttr::get(context, getBaseFields(*block, {1, 1}, family, transport));
  llvm::Error error = checkSchedule(facts, schedule);
  return llvm::createStringError(
      llvm::formatv("no schedule fits the tile {0}x{1}x{2}: {3}", (*block)[0], (*block)[1],
                    (*block)[2], error ? llvm::toString(std::move(error)) : "too many registers"));
}

std::string mlir::tcc::explainSchedule(const ScheduleContext &context, ScheduleAttr schedule) {
  const arch::MmaAtom *atom = llvm::cantFail(findAtom(context, schedule.getMma()));
  arch::MmaAtom used = *atom;
  used.n = getAtomN(*atom, schedule);
  SharedBytes bytes = llvm::cantFail(predictSharedBytes(context, *atom, schedule));
  std::string text = llvm::formatv(
      "block {0}x{1}x{2}, {3}x{4} warps of {5}, {6} stages by {7}: {8} of {9} bytes of shared "
      "memory, about {10} of {11} registers",
      schedule.getBlockM(), schedule.getBlockN(), schedule.getBlockK(), schedule.getWarpsM(),
      schedule.getWarpsN(), used.str(), schedule.getStages(),
      stringifyTransport(schedule.getTransport()), bytes.total(),
      context.chip->limits().sharedBytesPerBlock, predictRegisters(*atom, schedule).total(),
      registerLimit(*context.chip, schedule));
  if (llvm::any_of(context.sizes, ShapedType::isDynamic))
    text += llvm::formatv("; sizes not known are taken as {0}", assumedSize);
  return text;
}
