//===- Machine.cpp - Clusters and CTAs come and go --------------*- C++ -*-===//

#include "Machine.h"
#include "BulkGroups.h"

using namespace tcc::emulator;

Cta::Cta(Machine &machine, Cluster &cluster, Dim3 id, uint32_t rank)
    : owner(machine), group(cluster), position(id), clusterRank(rank),
      memory(machine.shape().sharedEnd, cluster.sync, machine.options().checkRaces,
             machine.options().checkUninitialized) {
  live = machine.shape().warpsPerCta;
  for (uint32_t i = 0; i < live; ++i)
    allWarps.push_back(std::make_unique<Warp>(machine, *this, i));
}

void Cta::warpExited() {
  --live;
  for (unsigned number = 0; number < barriers.size(); ++number)
    if (barriers[number].isActive)
      completeBarrier(*this, number);
  completeClusterBarrier(group);
  if (!hasExited())
    return;
  checkWarpgroupsWhole(*this);
  checkExit(*this);
}

Cluster::Cluster(Machine &machine, uint64_t index)
    : sync(machine.shape().warpsPerCta * machine.shape().cluster.count()), index(index) {
  Dim3 grid = machine.shape().grid, size = machine.shape().cluster;
  uint64_t columns = grid.x / size.x, rows = grid.y / size.y;
  Dim3 first = {uint32_t(index % columns * size.x), uint32_t(index / columns % rows * size.y),
                uint32_t(index / (columns * rows) * size.z)};
  uint32_t rank = 0;
  for (uint32_t z = 0; z < size.z; ++z)
    for (uint32_t y = 0; y < size.y; ++y)
      for (uint32_t x = 0; x < size.x; ++x)
        ctas.push_back(std::make_unique<Cta>(machine, *this,
                                             Dim3{first.x + x, first.y + y, first.z + z}, rank++));
}

bool Cluster::hasExited() const {
  return llvm::all_of(ctas, [](const auto &cta) { return cta->hasExited(); });
}

Machine::Machine(GlobalMemory &global, Program &program, const LaunchShape &shape,
                 const LaunchConfig &config, const LaunchOptions &options, const ChipLimits &chip,
                 LaunchResult &result)
    : globalMemory(global), code(program), launch(shape), config(config), settings(options),
      limits(chip), result(result), counts(program.code.size()), random(options.seed) {
  clusterCount = shape.grid.count() / shape.cluster.count();
}

void Machine::stop(LaunchStatus status) {
  if (!isStopped)
    result.status = status;
  isStopped = true;
}

bool Machine::admitCluster() {
  if (nextCluster == clusterCount)
    return false;
  clusters.push_back(std::make_unique<Cluster>(*this, nextCluster++));
  return true;
}

void Machine::retireClusters() {
  for (auto it = clusters.begin(); it != clusters.end();) {
    if (!(*it)->hasExited()) {
      ++it;
      continue;
    }
    // Bulk stores complete after their threads have gone; nothing else can be pending.
    auto belongs = [&](const AsyncOperation &operation) {
      return &operation.warp->cta().cluster() == it->get();
    };
    while (queue.performFirst(belongs) && !isStopped)
      ;
    it = clusters.erase(it);
  }
}

void Machine::countBytes(const Instruction &inst, Space space, bool isRead, uint64_t bytes) {
  InstructionReport &count = counts[inst.index];
  Report &report = result.report;
  (isRead ? count.bytesRead : count.bytesWritten) += bytes;
  bool isShared = space == Space::Shared || space == Space::SharedCluster;
  if (isShared)
    (isRead ? report.sharedBytesRead : report.sharedBytesWritten) += bytes;
  else
    (isRead ? report.globalBytesRead : report.globalBytesWritten) += bytes;
}

void Machine::addFinding(FindingKind kind, const Instruction &inst, Warp &warp, unsigned lane,
                         const llvm::Twine &message) {
  auto [known, isNew] =
      findingIndex.try_emplace({unsigned(kind), inst.index}, result.findings.size());
  // Of a deadlock every waiter is listed, also where several stand at one place.
  if (!isNew && kind != FindingKind::Deadlock) {
    if (known->second < result.findings.size())
      ++result.findings[known->second].occurrences;
    return;
  }
  if (result.findings.size() >= settings.maxFindings)
    return;
  Finding finding;
  finding.kind = kind;
  finding.kernel = config.kernel;
  finding.line = inst.line;
  for (llvm::StringRef rest = inst.text; !rest.empty();) {
    auto [word, tail] = rest.split('\n');
    if (!finding.instruction.empty())
      finding.instruction += ' ';
    finding.instruction += word.trim();
    rest = tail;
  }
  Dim3 block = warp.cta().id();
  finding.block = {block.x, block.y, block.z};
  uint64_t thread = uint64_t(warp.index()) * kLanes + lane;
  finding.thread = {uint32_t(thread % launch.block.x),
                    uint32_t(thread / launch.block.x % launch.block.y),
                    uint32_t(thread / (uint64_t(launch.block.x) * launch.block.y))};
  finding.message = message.str();
  result.findings.push_back(std::move(finding));
}

void Machine::finish() {
  Report &report = result.report;
  report.kernel = config.kernel;
  report.chip = limits.name.str();
  report.blocks = launch.grid.count();
  report.threadsPerBlock = launch.block.count();
  report.sharedBytesPerBlock = launch.sharedEnd - kSharedBase;
  report.warpInstructions = stepCount;
  result.steps = stepCount;
  for (const Instruction &inst : code.code) {
    InstructionReport &count = counts[inst.index];
    if (!count.executions)
      continue;
    count.line = inst.line;
    count.text = inst.text.str();
    report.mmaFlops += count.mmaFlops;
    report.barrierWaits += count.waits;
    report.instructions.push_back(std::move(count));
  }
  llvm::stable_sort(
      report.instructions,
      [](const InstructionReport &a, const InstructionReport &b) { return a.line < b.line; });
}
