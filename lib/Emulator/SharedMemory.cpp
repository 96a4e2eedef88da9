//===- SharedMemory.cpp - A CTA's shared memory and its shadow --*- C++ -*-===//

#include "SharedMemory.h"

using namespace tcc::emulator;

SharedMemory::SharedMemory(uint64_t end, SyncDomain &domain, bool checkRaces,
                           bool checkUninitialized)
    : end(end), domain(domain), checkRaces(checkRaces), checkUninitialized(checkUninitialized),
      storage(end - kSharedBase), writers(end - kSharedBase), readers(end - kSharedBase) {}

std::optional<SharedConflict> SharedMemory::checkWriter(uint32_t writer, const AccessRecord &now,
                                                        uint32_t agent, uint64_t offset,
                                                        bool isRead) const {
  using Kind = SharedConflict::Kind;
  if (!writer) {
    if (isRead && checkUninitialized)
      return SharedConflict{Kind::Uninitialized, offset, {}};
    return std::nullopt;
  }
  const AccessRecord &last = domain.at(writer);
  if (last.flags & AccessRecord::Barrier)
    return SharedConflict{Kind::Barrier, offset, last};
  if (last.flags & AccessRecord::InFlight)
    return SharedConflict{Kind::WriteInFlight, offset, last};
  if (!checkRaces)
    return std::nullopt;
  bool bothStrong = last.flags & now.flags & AccessRecord::Strong;
  if (!bothStrong && !domain.isOrdered(last, agent))
    return SharedConflict{Kind::WriteBefore, offset, last};
  bool crossesProxy = (now.flags & AccessRecord::Async) && !(last.flags & AccessRecord::Async);
  if (crossesProxy && !domain.isProxied(last, agent))
    return SharedConflict{Kind::ProxyFence, offset, last};
  return std::nullopt;
}

std::optional<SharedConflict> SharedMemory::checkReaders(uint32_t set, const AccessRecord &now,
                                                         uint32_t agent, uint64_t offset) const {
  for (uint32_t reader : domain.readers(set)) {
    const AccessRecord &last = domain.at(reader);
    bool bothStrong = last.flags & now.flags & AccessRecord::Strong;
    if (bothStrong || domain.isReadOver(last, agent))
      continue;
    return SharedConflict{last.flags & AccessRecord::Async ? SharedConflict::Kind::ReadInFlight
                                                           : SharedConflict::Kind::ReadBefore,
                          offset, last};
  }
  return std::nullopt;
}

std::optional<SharedConflict> SharedMemory::noteRead(uint64_t offset, uint64_t bytes,
                                                     SharedAccess access) {
  std::optional<SharedConflict> conflict;
  const AccessRecord now = domain.at(access.record);
  uint32_t lastWriter = ~0u, lastSet = ~0u, nextSet = 0;
  for (uint64_t i = offset - kSharedBase, e = i + bytes; i != e; ++i) {
    if (writers[i] != lastWriter) {
      lastWriter = writers[i];
      if (std::optional<SharedConflict> found =
              checkWriter(lastWriter, now, access.agent, i + kSharedBase, /*isRead=*/true)) {
        if (!conflict)
          conflict = found;
        if (found->kind != SharedConflict::Kind::Barrier)
          writers[i] = domain.record(AccessRecord{}); // Clock 0: ordered before everything.
      }
    }
    if (!checkRaces)
      continue;
    if (readers[i] != lastSet) {
      lastSet = readers[i];
      nextSet = domain.addReader(lastSet, access.record);
    }
    readers[i] = nextSet;
  }
  return conflict;
}

std::optional<SharedConflict> SharedMemory::noteWrite(uint64_t offset, uint64_t bytes,
                                                      SharedAccess access) {
  std::optional<SharedConflict> conflict;
  const AccessRecord now = domain.at(access.record);
  uint32_t lastWriter = ~0u, lastSet = ~0u;
  for (uint64_t i = offset - kSharedBase, e = i + bytes; i != e; ++i) {
    if (writers[i] != lastWriter && !conflict) {
      lastWriter = writers[i];
      conflict = checkWriter(lastWriter, now, access.agent, i + kSharedBase, /*isRead=*/false);
    }
    if (readers[i] != lastSet && !conflict && checkRaces) {
      lastSet = readers[i];
      conflict = checkReaders(lastSet, now, access.agent, i + kSharedBase);
    }
    writers[i] = access.record;
    readers[i] = 0;
  }
  return conflict;
}

void SharedMemory::settle(uint64_t offset, uint64_t bytes, uint32_t from, uint32_t to) {
  for (uint64_t i = offset - kSharedBase, e = i + bytes; i != e; ++i)
    if (writers[i] == from)
      writers[i] = to;
}

void SharedMemory::forget(uint64_t offset, uint64_t bytes) {
  for (uint64_t i = offset - kSharedBase, e = i + bytes; i != e; ++i)
    writers[i] = readers[i] = 0;
}
