//===- Barriers.h - State of barriers, mbarriers, cluster barriers -*- C++ -*-===//

#ifndef TCC_LIB_EMULATOR_BARRIERS_H
#define TCC_LIB_EMULATOR_BARRIERS_H

#include "SyncDomain.h"

#include <cstdint>
#include <string>
#include <vector>

namespace tcc::emulator {

class Warp;
class Cta;
class Cluster;
struct Group;
struct Instruction;

/// One of the 16 named barriers of a CTA (PTX ISA 9.7.13.1).
struct Barrier {
  struct Waiter {
    Warp *warp;
    Group *group;
    const Instruction *instruction;
    uint32_t mask;
  };
  /// Threads that must arrive; 0: all of the CTA.
  uint32_t expected = 0;
  uint32_t arrived = 0;
  bool isActive = false;
  /// The reduction of bar.red so far.
  uint32_t population = 0, votes = 0;
  std::vector<Waiter> waiters;
  std::vector<const Warp *> arrivedWarps;
  Clocks clocks;
};

/// Completes a barrier whose arrivals suffice; called after an arrival and after a warp's exit.
void completeBarrier(Cta &cta, unsigned number);

/// An mbarrier object (PTX ISA 9.7.13.15): expected and pending arrivals, transaction bytes, phase.
struct Mbarrier {
  uint32_t expected = 0;
  uint32_t pending = 0;
  int64_t transactions = 0;
  uint64_t phase = 0;
  /// Arrivals release into `clocks`; a completed phase hands them to `completed`, which waiters
  /// acquire.
  Clocks clocks;
  Clocks completed;
  /// A parity wait that saw the last phase complete, as (agent of the warp's waits, their number).
  struct Observation {
    uint32_t agent;
    uint32_t number;
    Warp *warp;
    unsigned lane;
    const Instruction *instruction;
  };
  std::vector<Observation> observations;
  /// The agent on whose behalf asynchronous work that completes here acts; its clock is the phase
  /// + 1.
  uint32_t agent = 0;
  /// The initialisation, which every use must be ordered after.
  uint32_t initRecord = 0;
  uint32_t initLine = 0;
  /// A fence.mbarrier_init or fence.proxy.async has followed: the async proxy and other CTAs see
  /// it.
  bool isFenced = false;
  /// fence.mbarrier_init has followed: a cluster barrier, relaxed or not, makes it visible.
  bool isInitFenced = false;
};

/// barrier.cluster: one barrier for all threads of the cluster, arrive and wait are separate.
struct ClusterBarrier {
  struct Waiter {
    Warp *warp;
    Group *group;
    uint32_t index;
  };
  uint32_t arrived = 0;
  uint32_t phase = 0;
  Clocks clocks;
  Clocks completed;
  /// What was executed before the arrivals, the relaxed ones too: enough to exit after, not to read
  /// data after.
  VectorClock executed;
  std::vector<Waiter> waiters;
};

void completeClusterBarrier(Cluster &cluster);

/// Finds the live mbarrier at a shared-space address; null after a finding or fault.
Mbarrier *findMbarrier(Warp &warp, const Instruction &inst, unsigned lane, uint64_t address);
/// The same, for use by the async proxy or from another CTA: reports a missing fence after the
/// initialisation.
Mbarrier *findFencedMbarrier(Warp &warp, const Instruction &inst, unsigned lane, uint64_t address);
/// Makes the initialisations that happened before visible to the async proxy and to other CTAs;
/// `isInitFence`: by fence.mbarrier_init.
void fenceMbarriers(Warp &warp, bool isInitFence);
/// What the warp has executed comes before the completion of the mbarrier's current phase.
void noteExecuted(Warp &warp, Mbarrier &barrier);
/// Takes `count` arrivals and completes the phase if it is due; false after a fault.
bool arriveAt(Warp &warp, const Instruction &inst, unsigned lane, Mbarrier &barrier,
              uint32_t count);
/// Adds to the transaction count (negative: bytes have arrived) and completes the phase if it is
/// due.
bool addTransactions(Warp &warp, const Instruction &inst, unsigned lane, Mbarrier &barrier,
                     int64_t bytes);
/// Lets waiters of `group` go on behind the instruction that they wait at.
void resume(Warp &warp, Group &group, uint32_t next);

struct Wait;
/// "waits for phase 3 of the mbarrier at ...", for deadlock reports.
std::string describeMbarrier(Warp &warp, const Wait &wait);

} // namespace tcc::emulator

#endif // TCC_LIB_EMULATOR_BARRIERS_H
