//===- ScheduleSearch.cpp - The best schedule of wgmma and TMA ------------===//
//
// Tiles, slabs, their division among warpgroups, roles and clusters are ranked by the cost model,
// which costs little; legality and the exact number of stages are asked of the best ones only,
// until one is legal.
//
//===----------------------------------------------------------------------===//

#include "ScheduleSearch.h"
#include "ScheduleCost.h"

#include "llvm/ADT/STLExtras.h"
#include <cmath>
#include <limits>

using namespace mlir;
using namespace mlir::tcc;
namespace arch = ::tcc::arch;

namespace {

/// How warpgroups divide a tile: `alongM` of them along the atom's m, or `alongN` along its n.
struct Division {
  int64_t alongM, alongN;
};
constexpr Division divisions[] = {{1, 1}, {2, 1}, {1, 2}};
constexpr std::pair<int64_t, int64_t> clusters[] = {{1, 1}, {2, 1}, {1, 2}, {4, 1},
                                                    {1, 4}, {2, 2}, {4, 2}, {2, 4}};
/// Bytes of a stage's barriers, and to which a staging buffer's size is rounded up.
constexpr int64_t stageBarriers = 16, stagingAlignment = 1024;
constexpr int64_t maxStages = 16, maxChunk = 96;
/// Limits of the heights and numbers of groups of tiles' rows that are tried beside `usualRaster`.
constexpr int64_t maxGroupHeight = 32, maxGroups = 16;

struct Candidate {
  ScheduleFields fields;
  ScheduleCost cost;
};

class TmaScheduleSearch {
public:
  TmaScheduleSearch(MLIRContext *context, const ScheduleContext &facts,
                    const arch::MmaAtom &atom, std::optional<std::array<int64_t, 3>> block)
      : context(context), facts(facts), atom(atom), block(block) {
    bool isNarrow = llvm::all_of(facts.outputBytes, [](int64_t bytes) { return bytes <= 2; });
    hasTmaStores = isNarrow && facts.hasTmaRows();
  }

  std::optional<ScheduleAttr> run(std::string *why);

private:
  std::optional<ScheduleAttr> pick(std::string *why);
  void addTiles();
  void addTile(int64_t m, int64_t n, bool swapped);
  void addSlab(ScheduleFields fields, int64_t m, int64_t n);
  void addRoles(ScheduleFields &fields, const Division &division);
  void addChunks(ScheduleFields &fields);
  void addClusters(ScheduleFields &fields);
  void addRasters(ScheduleFields fields, ScheduleCost cost);
  void addSplitK(ScheduleFields fields);
  void addCandidate(const ScheduleFields &fields, const ScheduleCost &cost);
  int64_t limitStages(const ScheduleFields &fields, int64_t fitting) const;
  int64_t estimateStages(const ScheduleFields &fields) const;
  std::optional<ScheduleAttr> complete(const Candidate &candidate);
  std::optional<ScheduleAttr> fitStages(ScheduleFields fields);

  MLIRContext *context;
  const ScheduleContext &facts;
  const arch::MmaAtom &atom; // of wgmma
  std::optional<std::array<int64_t, 3>> block;
  /// TMA stores of f32 are no faster than pairs from registers; 16-bit pairs are half sectors.
  bool hasTmaStores;
  SmallVector<Candidate, 0> candidates;
  /// The best prediction so far, and how many times as long a candidate may take: most of thousands
  /// are far from it, and remembering them all takes longer than their predictions.
  double leastTotal = std::numeric_limits<double>::infinity(), slack = 1.25;
};

} // namespace

/// The stages that help, of those that fit.
int64_t TmaScheduleSearch::limitStages(const ScheduleFields &fields, int64_t fitting) const {
  int64_t slabs = llvm::divideCeil(getSizes(facts)[2], fields.block[2] * fields.splitK);
  return std::min({fitting, slabs + 1, maxStages});
}

/// Stages that fit, without regard to the order of buffers and their alignment.
int64_t TmaScheduleSearch::estimateStages(const ScheduleFields &fields) const {
  int64_t staging = 0;
  if (fields.epilogue == Epilogue::Tma)
    for (int64_t bytes : facts.outputBytes) {
      auto [rows, columns] = getEpilogueSlice(fields, bytes);
      staging += llvm::alignTo(rows * columns * bytes, stagingAlignment);
    }
  if (fields.roles == Roles::PingPong)
    staging *= 2;
  int64_t perStage = (fields.block[0] + fields.block[1]) * fields.block[2] * 2 + stageBarriers;
  return limitStages(fields, (facts.chip->limits().sharedBytesPerBlock - staging) / perStage);
}

void TmaScheduleSearch::addCandidate(const ScheduleFields &fields, const ScheduleCost &cost) {
  leastTotal = std::min(leastTotal, cost.total);
  if (cost.total <= slack * leastTotal)
    candidates.push_back({fields, cost});
}

void TmaScheduleSearch::addClusters(ScheduleFields &fields) {
  for (auto [clusterM, clusterN] : clusters) {
    fields.cluster.clear();
    if (clusterM * clusterN > 1)
      fields.cluster = {clusterM, clusterN};
    double limit = slack * leastTotal;
    ScheduleCost cost = predictCost(facts, fields, limit);
    // A block's only tile has nobody to take turns with.
    if (cost.total <= limit && (fields.roles != Roles::PingPong || cost.waves > 1))
      addRasters(fields, cost);
  }
}

/// Where the L2 cache is the bound, the order of tiles decides what a GPC's multiprocessors share:
/// groups of rows such that all are of the same height, which only a known M tells. Others than
/// usual must be worth it.
void TmaScheduleSearch::addRasters(ScheduleFields fields, ScheduleCost cost) {
  constexpr double gain = 0.99;
  if (!ShapedType::isDynamic(facts.sizes[0]) &&
      cost.slabL2 > std::max(cost.slabMma, cost.slabLoad)) {
    int64_t clusterM = fields.cluster.empty() ? 1 : fields.cluster[0];
    int64_t tilesM = llvm::divideCeil(getSizes(facts)[0], fields.block[0] * clusterM);
    ScheduleFields other = fields;
    for (int64_t groups = 1; groups <= std::min(tilesM, maxGroups); ++groups) {
      int64_t height = llvm::divideCeil(tilesM, groups);
      other.raster = height * clusterM;
      if (height > maxGroupHeight || other.raster == usualRaster)
        continue;
      ScheduleCost otherCost = predictCost(facts, other);
      if (otherCost.total < gain * cost.total) {
        cost = otherCost;
        fields.raster = other.raster;
      }
    }
  }
  addCandidate(fields, cost);
}

/// Clusters whose blocks divide K, for tiles that few multiprocessors have. Each block should have
/// slices to store, as wide as that allows.
void TmaScheduleSearch::addSplitK(ScheduleFields fields) {
  unsigned nDim = fields.getAtomNDim();
  auto [sizeM, sizeN, k] = getSizes(facts);
  int64_t tiles =
      llvm::divideCeil(sizeM, fields.block[0]) * llvm::divideCeil(sizeN, fields.block[1]);
  if (fields.warps[nDim] != 1 || 2 * tiles > facts.chip->limits().typicalMultiprocessors)
    return;
  int64_t side = fields.block[nDim], slabs = llvm::divideCeil(k, fields.block[2]);
  fields.cluster.clear();
  fields.persistent = false;
  int64_t blocks = facts.chip->throughput().residentClusters.size();
  int64_t outputBytes = *llvm::max_element(facts.outputBytes);
  for (fields.splitK = 2; fields.splitK <= std::min(blocks, slabs); ++fields.splitK) {
    int64_t parts = llvm::divideCeil(side, maxChunk);
    parts = std::min(std::max(parts, fields.splitK), side / atom.nStep);
    while (side % (parts * atom.nStep))
      ++parts;
    fields.chunk = fields.epilogue == Epilogue::Tma ? side / parts : 0;
    fields.stages = estimateStages(fields);
    if (fields.stages < 2)
      continue;
    int64_t lineBytes = fields.block[2] * 2 * fields.stages;
    int64_t room = countExchangeParts({fields.block[0] * lineBytes, fields.block[1] * lineBytes},
                                      getShareElements(fields, outputBytes) * 4);
    ScheduleCost cost = predictCost(facts, fields, slack * leastTotal);
    if (cost.waves == 1 && room >= fields.splitK - 1)
      addCandidate(fields, cost);
  }
}

/// Slices of the epilogue, and stages in the shared memory that they leave: of those that leave as
/// many the fastest, narrower ones only where that is one more stage.
void TmaScheduleSearch::addChunks(ScheduleFields &fields) {
  unsigned nDim = fields.getAtomNDim();
  int64_t side = fields.block[nDim];
  struct Chunk {
    int64_t size, stages;
    double total;
  };
  SmallVector<Chunk> chunks;
  fields.cluster.clear();
  auto addChunk = [&](int64_t size) {
    fields.chunk = size;
    fields.stages = estimateStages(fields);
    if (fields.stages < 2)
      return;
    // Slices are nothing to the L2 cache.
    Chunk chunk = {size, fields.stages, predictCost(facts, fields, /*limit=*/0).total};
    if (chunks.empty() || chunk.stages > chunks.back().stages)
      chunks.push_back(chunk);
    else if (chunk.stages == chunks.back().stages && chunk.total < chunks.back().total)
      chunks.back() = chunk;
  };
  if (fields.epilogue != Epilogue::Tma || fields.warps[nDim] != 1)
    addChunk(0);
  else
    for (int64_t parts = llvm::divideCeil(side, maxChunk); parts <= side / atom.nStep; ++parts)
      if (side % (parts * atom.nStep) == 0)
        addChunk(side / parts);
  for (const Chunk &chunk : chunks) {
    fields.chunk = chunk.size;
    fields.stages = chunk.stages;
    addClusters(fields);
  }
}

/// The ways to compute a divided tile: by two groups in turn, or by one of one or two warpgroups.
void TmaScheduleSearch::addRoles(ScheduleFields &fields, const Division &division) {
  int64_t m = fields.block[1 - fields.getAtomNDim()];
  bool isOne = division.alongM * division.alongN == 1;
  // Two warpgroups take more rows of an atom better than one.
  if (!isOne || m == atom.m || block) {
    fields.roles = Roles::Cooperative;
    addChunks(fields);
    addSplitK(fields);
  }
  if (isOne && m <= 2 * atom.m) {
    fields.roles = Roles::PingPong;
    addChunks(fields);
  }
}

/// `m` and `n` are the atom's sides.
void TmaScheduleSearch::addTile(int64_t m, int64_t n, bool swapped) {
  ScheduleFields fields;
  fields.mma = MmaFamily::Wgmma;
  fields.transport = Transport::Tma;
  fields.pending = 1;
  fields.raster = usualRaster;
  fields.persistent = true;
  fields.epilogue = hasTmaStores ? Epilogue::Tma : Epilogue::Direct;
  fields.swapped = swapped;
  if (block) {
    fields.block = {m, n, (*block)[2]};
    return addSlab(fields, m, n);
  }
  constexpr int64_t line = 64; // 128 bytes of 16-bit elements
  fields.block = {m, n, line};
  addSlab(fields, m, n);
  // A round of the loop takes its time, however little it multiplies.
  constexpr int64_t manyStages = 8;
  if ((m + n) * line * 2 * manyStages <= facts.chip->limits().sharedBytesPerBlock) {
    fields.block[2] = 2 * line;
    addSlab(fields, m, n);
  }
}

/// The divisions of a tile among warpgroups.
void TmaScheduleSearch::addSlab(ScheduleFields fields, int64_t m, int64_t n) {
  bool swapped = fields.swapped;
  // Columns that are contiguous come in blocks of a line, of which an atom takes whole ones.
  bool isContiguous = swapped ? facts.lhsContiguous == 0 : facts.rhsContiguous == 1;
  int64_t unit = isContiguous ? 64 : atom.nStep;
  constexpr int64_t maxAccumulators = 192;
  for (const Division &division : divisions) {
    int64_t atomN = n / division.alongN, warpgroups = division.alongM * division.alongN;
    if (m % (atom.m * division.alongM) || n % (unit * division.alongN) || atomN > atom.n ||
        m * n > maxAccumulators * 128 * warpgroups)
      continue;
    fields.warps = {4 * division.alongM, division.alongN};
    if (swapped) {
      fields.block = {n, m, fields.block[2]};
      std::swap(fields.warps[0], fields.warps[1]);
    }
    addRoles(fields, division);
  }
}

void TmaScheduleSearch::addTiles() {
  // Without TMA's stores the elements of swapped tiles go one by one: other lanes have their
  // neighbours.
  for (bool swapped : {false, true}) {
    if (swapped && !hasTmaStores)
      return;
    if (block) {
      auto [m, n, k] = *block;
      addTile(swapped ? n : m, swapped ? m : n, swapped);
      continue;
    }
    for (int64_t m = atom.m; m <= 4 * atom.m; m += atom.m)
      for (int64_t n = atom.nStep; n <= 2 * atom.n; n += atom.nStep)
        addTile(m, n, swapped);
  }
}

/// The schedule with as many stages as fit and help; none if not even two do.
std::optional<ScheduleAttr> TmaScheduleSearch::fitStages(ScheduleFields fields) {
  fields.stages = 2;
  ScheduleFields least = fields;
  least.splitK = 1; // sums are exchanged in the memory of all stages
  if (!isLegal(facts, ScheduleAttr::get(context, least)))
    return std::nullopt;
  SharedBytes bytes =
      llvm::cantFail(predictSharedBytes(facts, atom, ScheduleAttr::get(context, fields)));
  int64_t room = facts.chip->limits().sharedBytesPerBlock - (bytes.other - 2 * stageBarriers);
  int64_t fitting = room / (bytes.perStage + stageBarriers);
  fields.stages = std::max<int64_t>(2, limitStages(fields, fitting));
  auto most = ScheduleAttr::get(context, fields);
  if (fields.splitK > 1 && !isLegal(facts, most))
    return std::nullopt;
  return most;
}

std::optional<ScheduleAttr> TmaScheduleSearch::complete(const Candidate &candidate) {
  ScheduleFields fields = candidate.fields;
  // One tile a block needs no loop; only known sizes tell.
  bool isStatic = llvm::none_of(facts.sizes, ShapedType::isDynamic);
  if (isStatic && fields.roles == Roles::Cooperative && candidate.cost.waves == 1)
    fields.persistent = false;
  return fitStages(fields);
}

std::optional<ScheduleAttr> TmaScheduleSearch::run(std::string *why) {
  if (std::optional<ScheduleAttr> found = pick(why))
    return found;
  // None of the best is legal.
  slack = std::numeric_limits<double>::infinity();
  candidates.clear();
  return pick(why);
}

std::optional<ScheduleAttr> TmaScheduleSearch::pick(std::string *why) {
  addTiles();
  SmallVector<unsigned, 0> order = llvm::to_vector<0>(llvm::seq<unsigned>(candidates.size()));
  llvm::sort(order, [&](unsigned a, unsigned b) {
    return std::pair(candidates[a].cost.total, a) < std::pair(candidates[b].cost.total, b);
  });
  std::optional<ScheduleAttr> best;
  for (unsigned index : order) {
    const Candidate &candidate = candidates[index];
    std::optional<ScheduleAttr> completed = complete(candidate);
    // Two stages are a last resort.
    if (!completed || (!best && completed->getStages() < 3 && std::isfinite(slack) &&
                       getSizes(facts)[2] > 2 * completed->getBlockK()))
      continue;
    if (!why)
      return completed;
    llvm::raw_string_ostream stream(*why);
    if (best) {
      stream << "; next best is " << *completed << ", " << candidate.cost.str();
      break;
    }
    best = completed;
    stream << "; predicted " << candidate.cost.str();
  }
  return best;
}

std::optional<ScheduleAttr>
mlir::tcc::searchTmaSchedule(MLIRContext *context, const ScheduleContext &facts,
                             std::optional<std::array<int64_t, 3>> block, std::string *why) {
  llvm::Expected<const arch::MmaAtom *> atom = findAtom(facts, MmaFamily::Wgmma);
  if (!atom) {
    llvm::consumeError(atom.takeError());
    return std::nullopt;
  }
  return TmaScheduleSearch(context, facts, **atom, block).run(why);
}
