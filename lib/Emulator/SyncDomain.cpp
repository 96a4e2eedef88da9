//===- SyncDomain.cpp - What happened before what ---------------*- C++ -*-===//

#include "SyncDomain.h"

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
  uint32_t clock = agents[agent].clocks.happened[agent];
  const AccessRecord &last = records[agents[agent].lastRecord];
  if (last.agent == agent && last.clock == clock && last.instruction == instruction &&
      last.flags == flags && agents[agent].lastRecord)
    return agents[agent].lastRecord;
  return agents[agent].lastRecord = record(AccessRecord{agent, clock, instruction, flags});
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
  std::vector<uint32_t> next;
  const AccessRecord &reader = records[record];
  for (uint32_t member : sets[set])
    if (member == record || !isOrdered(records[member], reader.agent) ||
        (records[member].flags & ~reader.flags))
      next.push_back(member);
  if (next.empty() || next.back() != record)
    next.push_back(record);
  sets.push_back(std::move(next));
  return entry->second = sets.size() - 1;
}
