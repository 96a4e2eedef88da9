//===- SharedMemory.h - A CTA's shared memory and its shadow ----*- C++ -*-===//
//
// Every byte has a shadow: the record of its last write (0: never written) and the set of reads
// since then.
//
//===----------------------------------------------------------------------===//

#ifndef TCC_LIB_EMULATOR_SHAREDMEMORY_H
#define TCC_LIB_EMULATOR_SHAREDMEMORY_H

#include "AddressSpace.h"
#include "SyncDomain.h"

#include <optional>

namespace tcc::emulator {

/// Who accesses, as shadow memory sees it.
struct SharedAccess {
  /// The agent whose clocks decide what happened before.
  uint32_t agent = 0;
  /// The record to leave behind.
  uint32_t record = 0;
};

/// What an access collides with.
struct SharedConflict {
  enum class Kind : uint8_t {
    Uninitialized,
    WriteBefore,   // not ordered after an earlier write
    ReadBefore,    // a write not ordered after an earlier read
    ProxyFence,    // ordered, but no fence.proxy.async between generic write and async access
    WriteInFlight, // the bytes are the destination of an asynchronous copy that is not complete
    ReadInFlight,  // the bytes are the source of asynchronous work that is not complete
    Barrier,       // the bytes hold an mbarrier
  };
  Kind kind;
  uint64_t offset = 0;
  AccessRecord previous;
};

class SharedMemory {
public:
  /// Offsets kSharedBase ... end.
  SharedMemory(uint64_t end, SyncDomain &domain, bool checkRaces, bool checkUninitialized);

  bool contains(uint64_t offset, uint64_t bytes) const {
    return offset >= kSharedBase && offset <= end && bytes <= end - offset;
  }
  uint64_t sizeEnd() const { return end; }
  uint8_t *data(uint64_t offset) { return storage.data() + (offset - kSharedBase); }
  SyncDomain &sync() { return domain; }

  /// Check and remember an access to bytes that the memory contains. The first conflict is
  /// returned; after it the bytes count as accessed properly, so one fault gives one finding.
  std::optional<SharedConflict> noteRead(uint64_t offset, uint64_t bytes, SharedAccess access);
  std::optional<SharedConflict> noteWrite(uint64_t offset, uint64_t bytes, SharedAccess access);
  /// Replaces the record of bytes that `from` wrote: an asynchronous write has completed.
  void settle(uint64_t offset, uint64_t bytes, uint32_t from, uint32_t to);
  void forget(uint64_t offset, uint64_t bytes);

private:
  std::optional<SharedConflict> checkWriter(uint32_t writer, const AccessRecord &now,
                                            uint32_t agent, uint64_t offset, bool isRead) const;
  std::optional<SharedConflict> checkReaders(uint32_t set, const AccessRecord &now, uint32_t agent,
                                             uint64_t offset) const;

  uint64_t end;
  SyncDomain &domain;
  bool checkRaces;
  bool checkUninitialized;
  std::vector<uint8_t> storage;
  std::vector<uint32_t> writers;
  std::vector<uint32_t> readers;
};

} // namespace tcc::emulator

#endif // TCC_LIB_EMULATOR_SHAREDMEMORY_H
