//===- WarpMemory.cpp - Loads and stores of a warp --------------*- C++ -*-===//

#include "Execution.h"
#include "Machine.h"
#include "MemoryCounters.h"

#include "llvm/Support/FormatVariadic.h"

#include <cstring>

using namespace tcc::emulator;
using llvm::formatv;

/// One warp-wide load or store; `in` is set for stores.
struct Warp::Access {
  const Instruction &inst;
  Space space;
  const uint64_t (&address)[kLanes];
  uint32_t mask;
  unsigned bytes;
  uint8_t *out;
  const uint8_t *in;
  unsigned stride;
  AccessStrength strength;

  bool isRead() const { return out != nullptr; }
  const char *name() const { return isRead() ? "load" : "store"; }
  void move(uint8_t *memory, unsigned lane) const {
    if (out)
      std::memcpy(out + size_t(lane) * stride, memory, bytes);
    else
      std::memcpy(memory, in + size_t(lane) * stride, bytes);
  }
};

bool Warp::load(const Instruction &inst, Space space, const uint64_t (&address)[kLanes],
                uint32_t mask, unsigned bytes, void *out, unsigned stride,
                AccessStrength strength) {
  Access load{inst,    space,  address, mask, bytes, static_cast<uint8_t *>(out),
              nullptr, stride, strength};
  return access(load);
}

bool Warp::store(const Instruction &inst, Space space, const uint64_t (&address)[kLanes],
                 uint32_t mask, unsigned bytes, const void *in, unsigned stride,
                 AccessStrength strength) {
  Access store{inst,   space,   address, mask, bytes, nullptr, static_cast<const uint8_t *>(in),
               stride, strength};
  return access(store);
}

bool Warp::access(Access &access) {
  if (!access.mask)
    return true;
  switch (access.space) {
  case Space::Generic:
    return accessGeneric(access);
  case Space::Shared:
  case Space::SharedCluster:
    return checkAlignment(access) && accessShared(access);
  case Space::Local:
    return checkAlignment(access) && accessStack(access);
  case Space::Param:
    return checkAlignment(access) && accessParameters(access);
  default:
    return checkAlignment(access) && accessGlobal(access);
  }
}

bool Warp::checkAlignment(Access &access) {
  for (unsigned lane : LaneRange(access.mask))
    if (access.address[lane] & (access.bytes - 1)) {
      fault(FindingKind::Misaligned, access.inst, lane,
            formatv("{0} of {1} bytes at {2:x}: the address must be a multiple of {1}",
                    access.name(), access.bytes, access.address[lane])
                .str());
      return false;
    }
  return true;
}

bool Warp::accessGeneric(Access &access) {
  uint32_t rest = access.mask;
  uint64_t inWindow[kLanes];
  while (rest) {
    uint64_t first = access.address[*LaneRange(rest).begin()];
    Access part = access;
    uint64_t window = 0;
    part.space = Space::Global;
    for (auto [base, space] :
         {std::pair(kSharedWindow, Space::SharedCluster), std::pair(kLocalWindow, Space::Local),
          std::pair(kParamWindow, Space::Param)})
      if (isInWindow(first, base)) {
        window = base;
        part.space = space;
      }
    part.mask = 0;
    for (unsigned lane : LaneRange(rest)) {
      uint64_t address = access.address[lane];
      bool belongs = window ? isInWindow(address, window)
                            : !isInWindow(address, kSharedWindow) &&
                                  !isInWindow(address, kLocalWindow) &&
                                  !isInWindow(address, kParamWindow);
      if (!belongs)
        continue;
      part.mask |= 1u << lane;
      inWindow[lane] = address - window;
    }
    Access converted{part.inst, part.space, inWindow,    part.mask,    part.bytes,
                     part.out,  part.in,    part.stride, part.strength};
    if (!this->access(converted))
      return false;
    rest &= ~part.mask;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Shared memory
//===----------------------------------------------------------------------===//

SharedMemory *Warp::findShared(const Instruction &inst, unsigned lane, uint64_t address,
                               uint64_t bytes, uint64_t &offset) {
  uint64_t rank = address >> kSharedRankShift;
  offset = address & kSharedOffsetMask;
  Cluster &cluster = block->cluster();
  if (rank >= cluster.ctas.size()) {
    fault(FindingKind::OutOfBounds, inst, lane,
          formatv("shared address {0:x} names CTA {1} of a cluster of {2}", address, rank,
                  cluster.ctas.size())
              .str());
    return nullptr;
  }
  Cta &target = *cluster.ctas[rank];
  if (!target.shared().contains(offset, bytes)) {
    fault(FindingKind::OutOfBounds, inst, lane,
          formatv("access of {0} bytes at shared address {1:x}: the block's shared memory is "
                  "[{2:x}, {3:x})",
                  bytes, address, kSharedBase | rank << kSharedRankShift,
                  target.shared().sizeEnd() | rank << kSharedRankShift)
              .str());
    return nullptr;
  }
  if (&target != block)
    target.remoteAccesses[exec->agent] = cluster.sync.record(exec->agent, inst.index, 0);
  if (target.hasExited() && &target != block)
    report(FindingKind::PeerExited, inst, lane,
           formatv("shared memory of CTA {0} of the cluster is accessed after that CTA has exited",
                   rank)
               .str());
  return &target.shared();
}

bool Warp::accessShared(Access &access) {
  SyncDomain &sync = block->cluster().sync;
  bool isStrong = access.strength != AccessStrength::Weak;
  SharedAccess note{exec->agent, sync.record(exec->agent, access.inst.index,
                                             uint8_t(isStrong ? AccessRecord::Strong : 0))};
  bool isRelease = access.strength == AccessStrength::Release;
  bool isAcquire = access.strength == AccessStrength::Acquire;
  for (unsigned lane : LaneRange(access.mask)) {
    uint64_t offset;
    SharedMemory *memory =
        findShared(access.inst, lane, access.address[lane], access.bytes, offset);
    if (!memory)
      return false;
    std::optional<SharedConflict> conflict;
    if (access.isRead()) {
      if (isStrong)
        sync.strongLoad(exec->agent, access.address[lane], isAcquire);
      conflict = memory->noteRead(offset, access.bytes, note);
    } else {
      conflict = memory->noteWrite(offset, access.bytes, note);
      if (isStrong)
        sync.strongStore(exec->agent, access.address[lane], isRelease);
    }
    if (conflict)
      reportConflict(access.inst, lane, *conflict, access.isRead());
    access.move(memory->data(offset), lane);
  }
  if (!access.isRead())
    owner->noteProgress();
  if (owner->options().collectReport) {
    countSharedAccess(owner->counters(access.inst), access.address, access.mask, access.bytes);
    owner->countBytes(access.inst, Space::Shared, access.isRead(),
                      uint64_t(llvm::popcount(access.mask)) * access.bytes);
  }
  return true;
}

void Warp::reportConflict(const Instruction &inst, unsigned lane, const SharedConflict &conflict,
                          bool isRead) {
  const AccessRecord &last = conflict.previous;
  uint32_t line = owner->program().code[last.instruction].line;
  SyncDomain &sync = block->cluster().sync;
  std::string who =
      last.agent < sync.warpCount()
          ? formatv("warp {0}{1}", last.agent % owner->shape().warpsPerCta,
                    last.agent / owner->shape().warpsPerCta == block->rank() ? ""
                                                                             : " of another CTA")
                .str()
          : std::string("asynchronous work");
  std::string what =
      formatv("{0} of shared address {1:x}", isRead ? "read" : "write", conflict.offset).str();
  std::string text;
  FindingKind kind = FindingKind::Race;
  switch (conflict.kind) {
  case SharedConflict::Kind::Uninitialized:
    kind = FindingKind::Uninitialized;
    text = what + ": nothing was written there before";
    break;
  case SharedConflict::Kind::WriteBefore:
    text = formatv("{0} is not ordered after the write at line {1} by {2}", what, line, who);
    break;
  case SharedConflict::Kind::ReadBefore:
    text = formatv("{0} is not ordered after the read at line {1} by {2}", what, line, who);
    break;
  case SharedConflict::Kind::ProxyFence:
    kind = FindingKind::ProxyRace;
    text =
        formatv("{0} by the async proxy: no fence.proxy.async after the write at line {1} by {2}",
                what, line, who);
    break;
  case SharedConflict::Kind::WriteInFlight:
    kind = FindingKind::AsyncInFlight;
    text =
        formatv("{0}: the asynchronous copy at line {1} writes there and has not been waited for",
                what, line);
    break;
  case SharedConflict::Kind::ReadInFlight:
    kind = FindingKind::AsyncInFlight;
    text = formatv("{0}: the asynchronous work at line {1} reads there and has not been waited for",
                   what, line);
    break;
  case SharedConflict::Kind::Barrier:
    kind = FindingKind::BarrierMisuse;
    text = formatv("{0}: an mbarrier lives there (initialised at line {1}); invalidate it first",
                   what, line);
    break;
  }
  report(kind, inst, lane, text);
}

//===----------------------------------------------------------------------===//
// Other spaces
//===----------------------------------------------------------------------===//

bool Warp::accessGlobal(Access &access) {
  GlobalMemory &memory = owner->global();
  bool checkDefined = owner->options().checkUninitialized && access.isRead();
  SyncDomain &sync = block->cluster().sync;
  bool isStrong = access.strength != AccessStrength::Weak;
  for (unsigned lane : LaneRange(access.mask)) {
    uint64_t address = access.address[lane];
    Allocation *allocation = memory.find(address, access.bytes);
    if (!allocation) {
      fault(FindingKind::OutOfBounds, access.inst, lane,
            formatv("{0} of {1} bytes at global address {2:x}: {3}", access.name(), access.bytes,
                    address, memory.describeMiss(address, access.bytes))
                .str());
      return false;
    }
    uint64_t offset = address - allocation->base;
    if (allocation->isReadOnly && !access.isRead()) {
      fault(FindingKind::OutOfBounds, access.inst, lane,
            formatv("store to constant memory at {0:x}", address).str());
      return false;
    }
    if (checkDefined && std::memchr(allocation->defined.get() + offset, 0, access.bytes))
      report(FindingKind::Uninitialized, access.inst, lane,
             formatv("load of {0} bytes at global address {1:x}: nothing was written there before",
                     access.bytes, address)
                 .str());
    if (isStrong && access.isRead())
      sync.strongLoad(exec->agent, address, access.strength == AccessStrength::Acquire);
    access.move(allocation->data.get() + offset, lane);
    if (!access.isRead()) {
      std::memset(allocation->defined.get() + offset, 1, access.bytes);
      if (isStrong)
        sync.strongStore(exec->agent, address, access.strength == AccessStrength::Release);
    }
  }
  if (!access.isRead())
    owner->noteProgress();
  if (owner->options().collectReport) {
    countGlobalAccess(owner->counters(access.inst), access.address, access.mask, access.bytes);
    owner->countBytes(access.inst, Space::Global, access.isRead(),
                      uint64_t(llvm::popcount(access.mask)) * access.bytes);
  }
  return true;
}

bool Warp::accessStack(Access &access) {
  for (unsigned lane : LaneRange(access.mask)) {
    uint64_t address = access.address[lane];
    std::vector<uint8_t> &stack = exec->stack[lane], &defined = exec->stackDefined[lane];
    if (address < kLocalBase || address > stack.size() || access.bytes > stack.size() - address) {
      fault(FindingKind::OutOfBounds, access.inst, lane,
            formatv("{0} of {1} bytes at local address {2:x}: the thread's stack is [{3:x}, {4:x})",
                    access.name(), access.bytes, address, kLocalBase, stack.size())
                .str());
      return false;
    }
    access.move(stack.data() + address, lane);
    if (!access.isRead())
      std::memset(defined.data() + address, 1, access.bytes);
    else if (owner->options().checkUninitialized &&
             std::memchr(defined.data() + address, 0, access.bytes))
      report(FindingKind::Uninitialized, access.inst, lane,
             formatv("load of {0} bytes at local address {1:x}: nothing was written there before",
                     access.bytes, address)
                 .str());
  }
  return true;
}

bool Warp::accessParameters(Access &access) {
  llvm::ArrayRef<uint8_t> parameters = owner->parameters();
  for (unsigned lane : LaneRange(access.mask)) {
    uint64_t address = access.address[lane];
    if (address < kKernelParameterTag) { // a function's parameter
      Access part = access;
      part.mask = 1u << lane;
      if (!accessStack(part))
        return false;
      continue;
    }
    uint64_t offset = address - kKernelParameterTag;
    if (!access.isRead() || offset > parameters.size() ||
        access.bytes > parameters.size() - offset) {
      fault(FindingKind::OutOfBounds, access.inst, lane,
            formatv("{0} of {1} bytes at offset {2} of the kernel's {3} parameter bytes",
                    access.name(), access.bytes, offset, parameters.size())
                .str());
      return false;
    }
    access.move(const_cast<uint8_t *>(parameters.data()) + offset, lane);
  }
  return true;
}
