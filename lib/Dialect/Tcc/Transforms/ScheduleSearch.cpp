//===- ScheduleSearch.cpp - The best schedule of wgmma and TMA ------------===//
//
// Tiles, roles and clusters are ranked by the cost model, which costs nothing; legality and the
// number of stages are asked of the best ones only, until one is legal.
//
//===----------------------------------------------------------------------===//

#include "ScheduleSearch.h"
#include "ScheduleCost.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mlir::tcc;

namespace {

struct Candidate {
  ScheduleAttr schedule;
  ScheduleCost cost;
};

class TmaScheduleSearch {
public:
  TmaScheduleSearch(MLIRContext *context, const ScheduleContext &facts,
                    std::optional<std::array<int64_t, 3>> block)
      : context(context), facts(facts), block(block) {}

  std::optional<ScheduleAttr> run(std::string *why);

private:
  void addTiles();
  void addTile(int64_t m, int64_t n, int64_t k);
  void add(ScheduleFields fields);
  std::optional<ScheduleAttr> complete(const Candidate &candidate);
  std::optional<ScheduleAttr> fitStages(ScheduleFields fields);

  MLIRContext *context;
  const ScheduleContext &facts;
  std::optional<std::array<int64_t, 3>> block;
  SmallVector<Candidate> candidates;
};

} // namespace

void TmaScheduleSearch::add(ScheduleFields fields) {
  auto schedule = ScheduleAttr::get(context, fields);
  candidates.push_back({schedule, predictCost(facts, schedule)});
}

/// The ways to compute a tile: by two groups in turn, or by one of one or two warpgroups.
void TmaScheduleSearch::addTile(int64_t m, int64_t n, int64_t k) {
  ScheduleFields fields;
  fields.block = {m, n, k};
  fields.mma = MmaFamily::Wgmma;
  fields.transport = Transport::Tma;
  fields.stages = 4;
  fields.pending = 1;
  // Neighbouring blocks then share rows of A and columns of B in the L2 cache.
  fields.raster = 8;
  fields.persistent = true;
  // TMA stores of f32 are no faster than pairs from registers; 16-bit pairs are half sectors.
  bool isNarrow = llvm::all_of(facts.outputBytes, [](int64_t bytes) { return bytes <= 2; });
  fields.epilogue = isNarrow && facts.hasTmaRows() && n % 16 == 0 ? Epilogue::Tma : Epilogue::Direct;

  for (auto [clusterM, clusterN] : {std::pair(1, 1), {2, 1}, {1, 2}, {4, 1}, {1, 4}}) {
    if (clusterM * clusterN > 1)
      fields.cluster = {clusterM, clusterN};
    // The first of equal cost is taken.
    fields.roles = Roles::Cooperative;
    fields.warps = {m == 64 ? 4 : 8, 1};
    add(fields);
    fields.roles = Roles::PingPong;
    fields.warps = {4, 1};
    if (m <= 128)
      add(fields);
  }
}

void TmaScheduleSearch::addTiles() {
  if (block)
    return addTile((*block)[0], (*block)[1], (*block)[2]);
  constexpr int64_t blockK = 64; // a line of 128 bytes of 16-bit elements
  // Columns of B that are contiguous come in blocks of a line, too.
  int64_t step = facts.rhsContiguous == 1 ? 64 : 16;
  for (int64_t m : {64, 128, 256})
    for (int64_t n = std::max<int64_t>(32, step); n <= 256; n += step)
      addTile(m, n, blockK);
}

/// The schedule with as many stages as fit and help; none if not even two do.
std::optional<ScheduleAttr> TmaScheduleSearch::fitStages(ScheduleFields fields) {
  fields.stages = 2;
  auto least = ScheduleAttr::get(context, fields);
  if (!isLegal(facts, least))
    return std::nullopt;
  SharedBytes bytes = llvm::cantFail(
      predictSharedBytes(facts, *llvm::cantFail(findAtom(facts, MmaFamily::Wgmma)), least));
  constexpr int64_t barriers = 16, maxStages = 16;
  int64_t room = facts.chip->limits().sharedBytesPerBlock - (bytes.other - 2 * barriers);
  int64_t slabs = llvm::divideCeil(getSizes(facts)[2], fields.block[2]);
  fields.stages = std::clamp<int64_t>(std::min(room / (bytes.perStage + barriers), slabs + 1), 2,
                                      maxStages);
  return ScheduleAttr::get(context, fields);
}

/// Shared memory goes to stages first, what is left to the epilogue's slices: fewer stages cost more
/// than narrow slices do (measured, docs/Performance.md).
std::optional<ScheduleAttr> TmaScheduleSearch::complete(const Candidate &candidate) {
  ScheduleFields fields = candidate.schedule.getFields();
  // One tile a block needs no loop; only known sizes tell.
  bool isStatic = llvm::none_of(facts.sizes, ShapedType::isDynamic);
  if (isStatic && fields.roles == Roles::Cooperative && candidate.cost.waves == 1)
    fields.persistent = false;
  if (fields.epilogue != Epilogue::Tma)
    return fitStages(fields);
  std::optional<ScheduleAttr> best;
  for (int64_t chunk : {64, 32, 16}) {
    if (fields.block[1] % chunk != 0)
      continue;
    fields.chunk = chunk;
    std::optional<ScheduleAttr> fitted = fitStages(fields);
    if (fitted && (!best || fitted->getStages() > best->getStages()))
      best = fitted;
  }
  return best;
}

std::optional<ScheduleAttr> TmaScheduleSearch::run(std::string *why) {
  addTiles();
  llvm::stable_sort(candidates, [](const Candidate &a, const Candidate &b) {
    return a.cost.total < b.cost.total;
  });
  std::optional<ScheduleAttr> best;
  for (const Candidate &candidate : candidates) {
    std::optional<ScheduleAttr> completed = complete(candidate);
    // Two stages are a last resort.
    if (!completed || (!best && completed->getStages() < 3 && &candidate != &candidates.back() &&
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
  return TmaScheduleSearch(context, facts, block).run(why);
}
