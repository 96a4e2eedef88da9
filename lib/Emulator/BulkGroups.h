//===- BulkGroups.h - Bulk copies that complete by groups -------*- C++ -*-===//
//
// Bulk copies out of shared memory belong to the bulk group that their thread commits next (PTX
// ISA 9.7.9.25). A wait of that thread makes their source reusable; only one without .read makes
// what they write visible. Each thread that issues any has an agent of its own, whose clock counts
// its groups: whoever is ordered after the wait is ordered after the reads.
//
//===----------------------------------------------------------------------===//

#ifndef TCC_LIB_EMULATOR_BULKGROUPS_H
#define TCC_LIB_EMULATOR_BULKGROUPS_H

#include "Machine.h"

namespace tcc::emulator {

/// The access to note for the source bytes of a bulk operation in a lane's open group.
SharedAccess beginGroupRead(Warp &warp, const Instruction &inst, unsigned lane);

/// Queues an operation that completes with the lane's open group (see AsyncOperation).
void pushGroupOperation(Warp &warp, const Instruction &inst, unsigned lane,
                        std::function<void()> readSource, std::function<void()> perform);

/// What an asynchronous write that completes on an mbarrier leaves in shadow memory: `access` notes
/// it when it is issued, SharedMemory::settle replaces access.record by `landed` when its bytes are
/// there.
struct MbarrierWrite {
  SharedAccess access;
  uint32_t landed = 0;
};
/// `flags`: AccessRecord::Async for the async proxy, 0 for st.async.
MbarrierWrite beginMbarrierWrite(Warp &warp, const Instruction &inst, Mbarrier &barrier,
                                 uint8_t flags);

/// Reports bulk copies that still read or write the shared memory of a block that has exited, and
/// accesses of peers that the exit is not ordered after.
void checkExit(Cta &cta);

} // namespace tcc::emulator

#endif // TCC_LIB_EMULATOR_BULKGROUPS_H
