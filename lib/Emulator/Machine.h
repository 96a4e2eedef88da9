//===- Machine.h - Grid, clusters, CTAs, scheduler --------------*- C++ -*-===//

#ifndef TCC_LIB_EMULATOR_MACHINE_H
#define TCC_LIB_EMULATOR_MACHINE_H

#include "AsyncQueue.h"
#include "Barriers.h"
#include "Chips.h"
#include "Execution.h"
#include "GlobalMemory.h"
#include "Program.h"
#include "SharedMemory.h"
#include "SpinWatch.h"

#include "llvm/ADT/MapVector.h"

#include <map>
#include <random>

namespace tcc::emulator {

class Cluster;

/// One thread block.
class Cta {
public:
  Cta(Machine &machine, Cluster &cluster, Dim3 id, uint32_t rank);

  Machine &machine() { return owner; }
  Cluster &cluster() { return group; }
  SharedMemory &shared() { return memory; }
  /// Position in the grid, and linear rank in the cluster.
  Dim3 id() const { return position; }
  uint32_t rank() const { return clusterRank; }
  uint64_t sharedBase() const { return uint64_t(clusterRank) << kSharedRankShift; }
  std::vector<std::unique_ptr<Warp>> &warps() { return allWarps; }
  uint32_t liveWarps() const { return live; }
  void warpExited();
  /// Every thread has exited. Its shared memory stays, so that late accesses of peers can be
  /// reported.
  bool hasExited() const { return live == 0; }

  std::array<Barrier, 16> barriers;
  /// By offset in shared memory.
  std::map<uint64_t, Mbarrier> mbarriers;
  /// The last access of each warp of another CTA, by agent, as its record.
  std::map<uint32_t, uint32_t> remoteAccesses;
  WarpgroupLogs warpgroups;
  /// What setmaxnreg.dec has given back (PTX ISA: the per-CTA-maximum-register-pool).
  int64_t freeRegisters = 0;

private:
  Machine &owner;
  Cluster &group;
  Dim3 position;
  uint32_t clusterRank;
  SharedMemory memory;
  std::vector<std::unique_ptr<Warp>> allWarps;
  uint32_t live = 0;
};

/// CTAs that run at the same time and see each other's shared memory; without clusters, one CTA.
class Cluster {
public:
  Cluster(Machine &machine, uint64_t index);
  std::vector<std::unique_ptr<Cta>> ctas;
  SyncDomain sync;
  ClusterBarrier barrier;
  uint64_t index;
  bool hasExited() const;
};

/// What a launch fixes for its whole run.
struct LaunchShape {
  Dim3 grid, block, cluster;
  bool explicitCluster = false;
  uint32_t warpsPerCta = 0;
  uint64_t sharedEnd = 0;
  uint64_t dynamicSharedBytes = 0;
  /// With which threads start where setmaxnreg may move registers; 0: unknown.
  uint32_t registersPerThread = 0;
};

class Machine {
public:
  Machine(GlobalMemory &global, Program &program, const LaunchShape &shape,
          const LaunchConfig &config, const LaunchOptions &options, const ChipLimits &chip,
          LaunchResult &result);

  /// Runs the grid to its end, a fault, a deadlock or the step limit.
  void run();

  //===--- For instruction handlers ---===//
  GlobalMemory &global() { return globalMemory; }
  const Program &program() const { return code; }
  const LaunchShape &shape() const { return launch; }
  const LaunchOptions &options() const { return settings; }
  const ChipLimits &chip() const { return limits; }
  llvm::ArrayRef<uint8_t> parameters() const { return config.parameters; }
  AsyncQueue &async() { return queue; }
  InstructionReport &counters(const Instruction &inst) { return counts[inst.index]; }
  /// Adds to the instruction's and the launch's byte counts; `space` is Shared or Global.
  void countBytes(const Instruction &inst, Space space, bool isRead, uint64_t bytes);
  uint64_t steps() const { return stepCount; }
  bool stopped() const { return isStopped; }
  void stop(LaunchStatus status);
  /// Something happened that another warp may have waited for.
  void noteProgress() { ++progress; }
  void addFinding(FindingKind kind, const Instruction &inst, Warp &warp, unsigned lane,
                  const llvm::Twine &message);

private:
  bool admitCluster();
  void retireClusters();
  void runTurn(Warp &warp, Group &group);
  bool step(Warp &warp, Group &group);
  bool runRound();
  bool onQuiet();
  bool doWhatWasPutOff();
  bool spinsForEver();
  void reportDeadlock();
  void describeWait(Warp &warp, const Group &group);
  bool checkConvergence(Warp &warp, Group &group, const Instruction &inst);
  bool gatherMembers(Warp &warp, Group &group, const Instruction &inst);
  /// Reports what is read without ever having been written: the guard by all lanes of the group,
  /// the operands by those of `mask`. True where undefined bits go into the result instead.
  bool checkDefined(Warp &warp, const Instruction &inst, uint32_t group, uint32_t mask);
  bool checkRegisters(Warp &warp, const Instruction &inst, uint32_t mask);
  /// Executes an instruction that moves undefined bits, and marks where they go.
  void executeOnUndefined(Warp &warp, const Instruction &inst);
  void trace(Warp &warp, const Instruction &inst);
  void finish();

  GlobalMemory &globalMemory;
  Program &code;
  LaunchShape launch;
  const LaunchConfig &config;
  const LaunchOptions &settings;
  const ChipLimits &limits;
  LaunchResult &result;
  AsyncQueue queue;
  std::vector<std::unique_ptr<Cluster>> clusters;
  uint64_t nextCluster = 0;
  uint64_t clusterCount = 0;
  std::vector<InstructionReport> counts;
  uint64_t stepCount = 0;
  uint64_t progress = 0;
  /// Whether every group's turn in this round ended at a failed poll or a block.
  bool roundIsCertain = true;
  uint64_t quietRounds = 0;
  SpinWatch spins;
  bool isStopped = false;
  std::mt19937_64 random;
  std::map<std::pair<unsigned, uint32_t>, size_t> findingIndex;
};

} // namespace tcc::emulator

#endif // TCC_LIB_EMULATOR_MACHINE_H
