//===- SyncDomain.h - What happened before what -----------------*- C++ -*-===//
//
// Vector clocks over the agents of one cluster: its warps, and one agent per mbarrier or bulk group
// for the asynchronous work that completes there. An access is recorded as (agent, clock of that
// agent). It happened before what agent b does now iff b's clock for that agent has reached the
// recorded one. Clocks travel with synchronisation: a release joins the agent's clocks into the
// object (barrier, mbarrier phase, location), an acquire joins them back.
//
// A second clock, `proxied`, holds which generic writes a fence.proxy.async made visible to the
// async proxy on the way (PTX ISA 8.9.1.2, proxy-preserved base causality order); it travels along.
//
// A third, `executed`, holds what is known to be over without having been released: waits for the
// parity of an mbarrier (each warp has an agent for its waits), and loads whose values a wgmma
// took. That is enough to overwrite what was read, not to read what was written. It travels along,
// and where nothing else does: with relaxed arrivals and with the issue of asynchronous work.
//
//===----------------------------------------------------------------------===//

#ifndef TCC_LIB_EMULATOR_SYNCDOMAIN_H
#define TCC_LIB_EMULATOR_SYNCDOMAIN_H

#include "llvm/ADT/DenseMap.h"

#include <cstdint>
#include <map>
#include <vector>

namespace tcc::emulator {

class VectorClock {
public:
  uint32_t operator[](uint32_t agent) const { return agent < ticks.size() ? ticks[agent] : 0; }
  void raise(uint32_t agent, uint32_t value) {
    if (agent >= ticks.size())
      ticks.resize(agent + 1);
    if (ticks[agent] < value)
      ticks[agent] = value;
  }
  void join(const VectorClock &other) {
    if (other.ticks.size() > ticks.size())
      ticks.resize(other.ticks.size());
    for (size_t i = 0, e = other.ticks.size(); i != e; ++i)
      if (ticks[i] < other.ticks[i])
        ticks[i] = other.ticks[i];
  }

private:
  std::vector<uint32_t> ticks;
};

struct Clocks {
  VectorClock happened;
  VectorClock proxied;
  VectorClock executed;
  void join(const Clocks &other) {
    happened.join(other.happened);
    proxied.join(other.proxied);
    executed.join(other.executed);
  }
};

/// One access that shadow memory remembers.
struct AccessRecord {
  enum Flag : uint8_t {
    Strong = 1,   // atomic, volatile, relaxed, ...: never races with another strong access
    Async = 2,    // through the async proxy
    InFlight = 4, // asynchronous and not complete
    Barrier = 8,  // the word holds an mbarrier
  };
  uint32_t agent = 0;
  uint32_t clock = 0;
  uint32_t instruction = 0;
  uint8_t flags = 0;
};

class SyncDomain {
public:
  explicit SyncDomain(uint32_t warps);

  uint32_t warpCount() const { return warps; }
  uint32_t addAgent();
  Clocks &clocks(uint32_t agent) { return agents[agent].clocks; }

  void release(uint32_t agent, Clocks &into);
  void acquire(uint32_t agent, const Clocks &from) { agents[agent].clocks.join(from); }
  /// A relaxed arrival releases what the last fence before it released.
  void releaseFenced(uint32_t agent, Clocks &into);
  /// membar, fence: orders strong accesses on both sides.
  void fence(uint32_t agent);
  void proxyFence(uint32_t agent);
  /// Strong accesses to a location (any key) carry clocks; `isRelease` and `isAcquire` without a
  /// fence's help.
  void strongStore(uint32_t agent, uint64_t location, bool isRelease);
  void strongLoad(uint32_t agent, uint64_t location, bool isAcquire);

  /// The index of a record for an access of `agent` now. Never 0.
  uint32_t record(uint32_t agent, uint32_t instruction, uint8_t flags);
  uint32_t record(const AccessRecord &access);
  const AccessRecord &at(uint32_t record) const { return records[record]; }

  /// Whether the recorded access happened before what `agent` does now.
  bool isOrdered(const AccessRecord &access, uint32_t agent) const {
    return access.agent == agent ? !(access.flags & AccessRecord::InFlight)
                                 : agents[agent].clocks.happened[access.agent] >= access.clock;
  }
  /// Whether the recorded read is over when `agent` does something now.
  bool isReadOver(const AccessRecord &access, uint32_t agent) const {
    return isOrdered(access, agent) || agents[agent].clocks.executed[access.agent] >= access.clock;
  }
  /// Whether the generic write is visible to the async proxy when `agent` starts asynchronous work
  /// now.
  bool isProxied(const AccessRecord &access, uint32_t agent) const {
    return agents[agent].clocks.proxied[access.agent] >= access.clock;
  }

  /// Sets of records of reads, each there once. Set 0 is empty.
  uint32_t addReader(uint32_t set, uint32_t record);
  const std::vector<uint32_t> &readers(uint32_t set) const { return sets[set]; }

private:
  struct Agent {
    Clocks clocks;
    Clocks atFence;        // what a relaxed store after the last fence releases
    Clocks pendingAcquire; // what relaxed loads have seen since
    uint32_t lastRecord = 0;
    /// The records of the agent's present clock, by instruction and flags.
    llvm::DenseMap<uint64_t, uint32_t> recordsNow;
  };
  uint32_t warps;
  std::vector<Agent> agents;
  std::vector<AccessRecord> records;
  std::vector<std::vector<uint32_t>> sets; // sorted
  std::map<std::vector<uint32_t>, uint32_t> setOf;
  llvm::DenseMap<uint64_t, uint32_t> setIndex;
  llvm::DenseMap<uint64_t, Clocks> locations;
};

} // namespace tcc::emulator

#endif // TCC_LIB_EMULATOR_SYNCDOMAIN_H
