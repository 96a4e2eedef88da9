//===- SyncDomain.cpp - What happened before what ---------------*- C++ -*-===//

#include "SyncDomain.h"

#include "llvm/ADT/STLExtras.h"

using namespace tcc::emulator;

SyncDomain::SyncDomain(uint32_t warps) : warps(warps), records(1), sets(1) {
  for (uint32_t i = 0; i < warps; ++i)
    addAgent();
}

uint32_t SyncDomain::addAgent() {
  uint32_t agent = agents.size();
  agents.emplace_back();
  agents.back().clocks.happened.raise(agent, 1);
  return agent;
}

void SyncDomain::release(uint32_t agent, Clocks &into) {
  Clocks &own = agents[agent].clocks;
  into.join(own);
  own.happened.raise(agent, own.happened[agent] + 1);
}

void SyncDomain::releaseFenced(uint32_t agent, Clocks &into) {
  Agent &state = agents[agent];
  into.join(state.atFence);
  into.executed.join(state.clocks.executed);
  state.clocks.happened.raise(agent, state.clocks.happened[agent] + 1);
}

void SyncDomain::fence(uint32_t agent) {
  Agent &state = agents[agent];
  state.clocks.join(state.pendingAcquire);
  state.pendingAcquire = {};
  state.atFence = state.clocks;
  state.clocks.happened.raise(agent, state.clocks.happened[agent] + 1);
}

void SyncDomain::proxyFence(uint32_t agent) {
  Clocks &own = agents[agent].clocks;
  own.proxied.join(own.happened);
  own.happened.raise(agent, own.happened[agent] + 1);
}

void SyncDomain::strongStore(uint32_t agent, uint64_t location, bool isRelease) {
  Agent &state = agents[agent];
  Clocks &at = locations[location];
  if (isRelease)
    release(agent, at);
  else
    at.join(state.atFence);
}

void SyncDomain::strongLoad(uint32_t agent, uint64_t location, bool isAcquire) {
  auto at = locations.find(location);
  if (at == locations.end())
    return;
  if (isAcquire)
    agents[agent].clocks.join(at->second);
  else
    agents[agent].pendingAcquire.join(at->second);
}

uint32_t SyncDomain::record(uint32_t agent, uint32_t instruction, uint8_t flags) {
  Agent &state = agents[agent];
  uint32_t clock = state.clocks.happened[agent];
  const AccessRecord &last = records[state.lastRecord];
  if (state.lastRecord && last.clock == clock && last.instruction == instruction &&
      last.flags == flags)
    return state.lastRecord;
  // A loop that synchronises with nobody leaves the same records behind each time.
  if (!state.lastRecord || last.clock != clock)
    state.recordsNow.clear();
  uint32_t &entry = state.recordsNow[uint64_t(instruction) << 8 | flags];
  if (!entry)
    entry = record(AccessRecord{agent, clock, instruction, flags});
  return state.lastRecord = entry;
}

uint32_t SyncDomain::record(const AccessRecord &access) {
  records.push_back(access);
  return records.size() - 1;
}

uint32_t SyncDomain::addReader(uint32_t set, uint32_t record) {
  uint64_t key = uint64_t(set) << 32 | record;
  auto [entry, isNew] = setIndex.try_emplace(key, 0);
  if (!isNew)
    return entry->second;
  // Readers that happened before this one need not be remembered: whoever is ordered after it is
  // ordered after them.
  std::vector<uint32_t> next = {record};
  const AccessRecord &reader = records[record];
  for (uint32_t member : sets[set])
    if (member != record && (!isOrdered(records[member], reader.agent) ||
                             (records[member].flags & ~reader.flags)))
      next.push_back(member);
  llvm::sort(next);
  auto [known, isNewSet] = setOf.try_emplace(std::move(next), sets.size());
  if (isNewSet)
    sets.push_back(known->first);
  return entry->second = known->second;
}
