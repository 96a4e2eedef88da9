//===- NearestSchedule.cpp - What to change in a schedule that is refused -===//
//
// A search: one choice after the other is made otherwise, then two at a time, in the order in which
// that costs speed. A choice brings along what it can't do without, as TMA its roles.
//
//===----------------------------------------------------------------------===//

#include "NearestSchedule.h"
#include "ScheduleHeuristic.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::tcc;

namespace {

class NearestSearch {
public:
  NearestSearch(const ScheduleContext &context, ScheduleAttr schedule, bool blockIsFixed)
      : context(context), schedule(schedule), blockIsFixed(blockIsFixed) {}

  /// Null if nothing is legal.
  ScheduleAttr run();

private:
  /// Calls `visit` with every schedule that is one choice away, until it returns true.
  bool visitNeighbours(const ScheduleFields &from,
                       function_ref<bool(const ScheduleFields &)> visit);
  bool visitResources(const ScheduleFields &from, function_ref<bool(const ScheduleFields &)> visit);
  bool visitTiles(const ScheduleFields &from, function_ref<bool(const ScheduleFields &)> visit);
  bool visitKinds(const ScheduleFields &from, function_ref<bool(const ScheduleFields &)> visit);
  bool isLegal(const ScheduleFields &fields);

  const ScheduleContext &context;
  ScheduleAttr schedule;
  bool blockIsFixed;
  ScheduleAttr found;
};

} // namespace

bool NearestSearch::isLegal(const ScheduleFields &fields) {
  auto candidate = ScheduleAttr::get(schedule.getContext(), fields);
  if (!mlir::tcc::isLegal(context, candidate))
    return false;
  found = candidate;
  return true;
}

/// Gives a schedule what its transport can't do without, and takes what it can't have.
static void setTransport(ScheduleFields &fields, Transport transport) {
  fields.transport = transport;
  bool isTma = transport == Transport::Tma;
  if (transport == Transport::Register)
    fields.stages = 2;
  if (isTma && fields.roles == Roles::Uniform)
    fields.roles = Roles::Cooperative;
  if (isTma)
    return;
  fields.roles = Roles::Uniform;
  fields.persistent = false;
  fields.cluster.clear();
  fields.pending = 0;
  fields.dependentLaunch = false;
  fields.splitK = 1;
  fields.producerWarps = 4;
  if (fields.epilogue == Epilogue::Tma)
    fields.epilogue = Epilogue::Direct;
}

/// Stages, roles, the epilogue and what else leaves the tile as it is.
bool NearestSearch::visitResources(const ScheduleFields &from,
                                   function_ref<bool(const ScheduleFields &)> visit) {
  auto with = [&](auto change) {
    ScheduleFields fields = from;
    change(fields);
    return visit(fields);
  };
  for (int64_t stages = std::min<int64_t>(from.stages - 1, 16); stages >= 2; --stages)
    if (with([&](ScheduleFields &fields) { fields.stages = stages; }))
      return true;
  if (from.stages < 2 && with([](ScheduleFields &fields) { fields.stages = 2; }))
    return true;
  // Their memory is where parts of a sum are exchanged.
  for (int64_t stages = from.stages + 1; from.splitK > 1 && stages <= 16; ++stages)
    if (with([&](ScheduleFields &fields) { fields.stages = stages; }))
      return true;
  if (with([](ScheduleFields &fields) { fields.chunk = 0; }))
    return true;
  for (Epilogue epilogue : {Epilogue::Direct, Epilogue::Shared})
    if (with([&](ScheduleFields &fields) { fields.epilogue = epilogue, fields.chunk = 0; }))
      return true;
  return with([](ScheduleFields &fields) { fields.persistent = !fields.persistent; }) ||
         with([](ScheduleFields &fields) { fields.cluster.clear(); }) ||
         with([](ScheduleFields &fields) {
           fields.splitK = std::min(fields.splitK, maxClusterBlocks);
         }) ||
         with([](ScheduleFields &fields) { fields.splitK = 1; }) ||
         with([](ScheduleFields &fields) { fields.producerWarps = 4; }) ||
         with([](ScheduleFields &fields) {
           fields.pending = std::min<int64_t>(fields.pending, 1);
         }) ||
         with([](ScheduleFields &fields) { fields.pending = 0; }) ||
         with([](ScheduleFields &fields) { setTransport(fields, fields.transport); }) ||
         with([](ScheduleFields &fields) { fields.roles = Roles::Cooperative; }) ||
         with([](ScheduleFields &fields) { fields.swapped = false, fields.chunk = 0; });
}

/// Warps, then the block: other divisions of it, and the multiples next to each of its sides.
bool NearestSearch::visitTiles(const ScheduleFields &from,
                               function_ref<bool(const ScheduleFields &)> visit) {
  SmallVector<std::pair<int64_t, int64_t>> grids;
  for (int64_t m : {1, 2, 4, 8})
    for (int64_t n : {1, 2, 4, 8})
      grids.push_back({m, n});
  auto distance = [&](std::pair<int64_t, int64_t> grid) {
    return std::abs(grid.first * grid.second - from.warps[0] * from.warps[1]) * 16 +
           std::abs(grid.first - from.warps[0]);
  };
  llvm::stable_sort(grids, [&](auto a, auto b) { return distance(a) < distance(b); });
  for (auto [m, n] : grids) {
    ScheduleFields fields = from;
    fields.warps = {m, n};
    if (visit(fields))
      return true;
  }
  if (blockIsFixed)
    return false;
  auto visitBlock = [&](unsigned side, int64_t extent) {
    ScheduleFields fields = from;
    fields.block[side] = extent;
    return visit(fields);
  };
  for (unsigned side : {2u, 1u, 0u}) {
    int64_t extent = from.block[side];
    for (int64_t unit : {8, 16, 32, 64, 128}) // atoms, times warps
      for (int64_t next : {extent / unit * unit, (extent / unit + 1) * unit})
        if (next > 0 && next != extent && visitBlock(side, next))
          return true;
    for (int64_t part = extent / 2; part >= 8; part /= 2)
      if (visitBlock(side, part))
        return true;
  }
  return false;
}

/// The other order of operands, another transport, another family of instructions.
bool NearestSearch::visitKinds(const ScheduleFields &from,
                               function_ref<bool(const ScheduleFields &)> visit) {
  ScheduleFields other = from;
  other.swapped = !from.swapped, other.chunk = 0;
  std::swap(other.warps[0], other.warps[1]);
  if (visit(other))
    return true;
  for (Transport transport : {Transport::Tma, Transport::CpAsync, Transport::Register}) {
    ScheduleFields fields = from;
    setTransport(fields, transport);
    if (transport != from.transport && visit(fields))
      return true;
  }
  for (MmaFamily family : {MmaFamily::Wgmma, MmaFamily::MmaSync, MmaFamily::Wmma}) {
    ScheduleFields fields = from;
    fields.mma = family;
    if (family == MmaFamily::Wmma)
      fields.epilogue = Epilogue::Shared;
    setTransport(fields, chooseTransport(*context.chip, family));
    if (family != from.mma && visit(fields))
      return true;
  }
  return false;
}

bool NearestSearch::visitNeighbours(const ScheduleFields &from,
                                    function_ref<bool(const ScheduleFields &)> visit) {
  return visitResources(from, visit) || visitTiles(from, visit) || visitKinds(from, visit);
}

ScheduleAttr NearestSearch::run() {
  auto isLegalOne = [&](const ScheduleFields &fields) { return isLegal(fields); };
  ScheduleFields fields = schedule.getFields();
  auto isLegalWithAnother = [&](const ScheduleFields &one) {
    return visitNeighbours(one, isLegalOne);
  };
  if (visitNeighbours(fields, isLegalOne) || visitNeighbours(fields, isLegalWithAnother))
    return found;
  std::optional<std::array<int64_t, 3>> block;
  if (blockIsFixed)
    block = {fields.block[0], fields.block[1], fields.block[2]};
  MLIRContext *mlirContext = schedule.getContext();
  llvm::Expected<MmaFamily> family = chooseFamily(mlirContext, context, block);
  if (!family)
    return llvm::consumeError(family.takeError()), ScheduleAttr();
  llvm::Expected<ScheduleAttr> chosen =
      chooseSchedule(mlirContext, context, *family, chooseTransport(*context.chip, *family), block);
  if (!chosen)
    return llvm::consumeError(chosen.takeError()), ScheduleAttr();
  return *chosen;
}

std::string mlir::tcc::describeChanges(const ScheduleFields &from, const ScheduleFields &to) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  auto name = [&](StringRef field) -> llvm::raw_ostream & {
    return stream << (text.empty() ? "" : ", ") << field << " = ";
  };
  auto list = [&](StringRef field, ArrayRef<int64_t> before, ArrayRef<int64_t> after) {
    if (before != after)
      llvm::interleaveComma(after, name(field) << "["), stream << "]";
  };
  auto number = [&](StringRef field, int64_t before, int64_t after) {
    if (before != after)
      name(field) << after;
  };
  auto word = [&](StringRef field, StringRef before, StringRef after) {
    if (before != after)
      name(field) << after;
  };
  list("block", from.block, to.block);
  list("warps", from.warps, to.warps);
  word("mma", stringifyMmaFamily(from.mma), stringifyMmaFamily(to.mma));
  word("transport", stringifyTransport(from.transport), stringifyTransport(to.transport));
  number("stages", from.stages, to.stages);
  word("epilogue", stringifyEpilogue(from.epilogue), stringifyEpilogue(to.epilogue));
  word("roles", stringifyRoles(from.roles), stringifyRoles(to.roles));
  word("persistent", from.persistent ? "true" : "false", to.persistent ? "true" : "false");
  if (from.cluster != to.cluster)
    list("cluster", from.cluster, to.cluster.empty() ? SmallVector<int64_t, 2>{1, 1} : to.cluster);
  number("pending", from.pending, to.pending);
  number("chunk", from.chunk, to.chunk);
  word("swapped", from.swapped ? "true" : "false", to.swapped ? "true" : "false");
  word("dependent_launch", from.dependentLaunch ? "true" : "false",
       to.dependentLaunch ? "true" : "false");
  number("split_k", from.splitK, to.splitK);
  number("producer_warps", from.producerWarps, to.producerWarps);
  return text;
}

std::string mlir::tcc::describeNearestSchedule(const ScheduleContext &context,
                                               ScheduleAttr schedule, bool blockIsFixed) {
  ScheduleAttr nearest = NearestSearch(context, schedule, blockIsFixed).run();
  if (!nearest)
    return "none is legal";
  return "nearest legal: " + describeChanges(schedule.getFields(), nearest.getFields());
}
