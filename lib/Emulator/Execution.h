//===- Execution.h - How the lanes of a warp advance ------------*- C++ -*-===//
//
// The lanes of a warp that stand at the same instruction form a group. A branch that splits a group
// creates a Join at the branch's immediate post-dominator, where the parts wait for each other.
// Groups of one warp take turns, so a lane may spin on what another lane does; when nothing else
// can go on, lanes that wait at a join go on alone.
//
//===----------------------------------------------------------------------===//

#ifndef TCC_LIB_EMULATOR_EXECUTION_H
#define TCC_LIB_EMULATOR_EXECUTION_H

#include "SyncDomain.h"
#include "Warp.h"
#include "WgmmaState.h"

#include <list>
#include <memory>

namespace tcc::emulator {

/// A call in progress. Shared by the groups that came through it.
struct Frame {
  std::shared_ptr<const Frame> parent;
  uint32_t call = 0; // index of the call instruction
  uint32_t function = 0;
  /// The callee's rows before a recursive call overwrote them.
  std::vector<Row> savedRows;
  std::vector<uint32_t> savedPredicates;
};

struct Join {
  uint32_t index = 0;
  std::shared_ptr<const Frame> frame;
  /// Lanes that will come, and those that are here.
  uint32_t expected = 0;
  uint32_t arrived = 0;
  std::shared_ptr<Join> parent;
};

/// What a group waits for.
struct Wait {
  enum class Kind : uint8_t {
    None,
    Barrier,
    ClusterBarrier,
    Members,
    Mbarrier,
    Dependency,
    Registers
  };
  Kind kind = Kind::None;
  uint32_t instruction = 0;
  /// Barrier: its number. Mbarrier: shared address and parity or phase. Members: the missing lanes.
  /// Registers: how many it needs.
  uint64_t id = 0;
  uint64_t phase = 0;
};

struct Group {
  uint32_t mask = 0;
  uint32_t index = 0;
  std::shared_ptr<const Frame> frame;
  std::shared_ptr<Join> join;
  /// Blocked: another party moves the group on. Otherwise `wait` is the last failed poll, for
  /// reports.
  bool isBlocked = false;
  Wait wait;
};

/// cp.async work of one instruction that has not landed yet.
struct PendingCopy {
  const Instruction *instruction = nullptr;
  uint32_t mask = 0;
  uint32_t record = 0;
  unsigned bytes = 0;
  std::array<uint64_t, kLanes> destination; // shared-space addresses
  std::array<uint64_t, kLanes> source;
  std::array<uint8_t, kLanes> sourceBytes;
  std::array<uint32_t, kLanes> group; // number of the group that the copy belongs to
};

struct Execution {
  std::list<Group> groups;
  Group *current = nullptr;
  /// Lanes that exist, and those of them that have not exited.
  uint32_t lanes = 0;
  uint32_t live = 0;
  /// Joins with lanes that wait there.
  std::vector<std::shared_ptr<Join>> parked;
  /// The warp's agent in the cluster's SyncDomain.
  uint32_t agent = 0;

  /// CC.CF of add.cc and its relatives, one bit per lane.
  uint32_t carry = 0;

  // Set before each handler, changed by it.
  uint32_t next = 0;
  bool endsTurn = false;

  std::array<std::vector<uint8_t>, kLanes> stack;
  std::array<std::vector<uint8_t>, kLanes> stackDefined;

  std::vector<PendingCopy> copies;
  std::array<uint32_t, kLanes> committedGroups = {};

  /// barrier.cluster: lanes that have arrived in its current phase; how many phases each lane has
  /// arrived in and waited for.
  uint32_t clusterArrived = 0;
  std::array<uint32_t, kLanes> clusterArrivals = {};
  std::array<uint32_t, kLanes> clusterWaits = {};
  /// What other warps had executed before cluster barriers that this one has waited for.
  VectorClock executedByPeers;
  /// Bulk groups: how many each lane has committed, and the agent of its copies (0: none yet).
  std::array<uint32_t, kLanes> bulkCommitted = {};
  std::array<uint32_t, kLanes> bulkAgents = {};

  /// Waits for the parity of an mbarrier that succeeded, and the agent whose clock is their number
  /// (0: none yet).
  uint32_t parityWaits = 0;
  uint32_t waitAgent = 0;

  /// Registers per thread after the last setmaxnreg; 0: as launched.
  uint32_t registers = 0;

  /// Null until the warp executes a wgmma instruction.
  std::unique_ptr<WgmmaState> wgmma;
};

/// Splits or moves the current group: lanes of `taken` go to `target`, the others to the next
/// instruction; they meet again at `reconvergence`.
void branch(Warp &warp, uint32_t taken, uint32_t target, uint32_t reconvergence);
/// The lanes of `mask` end their thread.
void exitLanes(Warp &warp, uint32_t mask);
/// Enters a function in the active lanes.
void call(Warp &warp, const Instruction &inst, uint32_t taken, uint32_t function);
/// Returns from the current function in the active lanes, or exits from the entry.
void returnLanes(Warp &warp, uint32_t mask);
/// The group stands at its join. True if it may go on (all lanes are here; it then holds them),
/// false if it is gone.
bool reachJoin(Warp &warp, Group &group);
/// Lands the copies of cp.async in the lanes of `mask` whose group is older than the lane's newest
/// `newest` groups; also the uncommitted ones if `all`.
void landCopies(Warp &warp, uint32_t mask, uint32_t newest, bool all);
/// Lets the lanes that wait at a join go on alone; false when no lane waits at one.
bool releaseParked(Warp &warp);
/// Unites ready groups that stand at the same place.
void mergeGroups(Warp &warp);
/// Makes room for a frame of `bytes` at `address` in a lane's stack; false beyond the limit.
bool growStack(Warp &warp, unsigned lane, uint64_t end);

} // namespace tcc::emulator

#endif // TCC_LIB_EMULATOR_EXECUTION_H
