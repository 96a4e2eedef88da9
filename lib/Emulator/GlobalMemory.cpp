//===- GlobalMemory.cpp - Allocations of device memory ----------*- C++ -*-===//

#include "GlobalMemory.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

using namespace tcc::emulator;

constexpr uint64_t kMaxTotalBytes = uint64_t(16) << 30;
constexpr uint64_t kAlignment = 256;
// No access of a kernel that is off by a tile reaches the next allocation.
constexpr uint64_t kGuardBytes = uint64_t(64) << 20;

llvm::Expected<uint64_t> GlobalMemory::allocate(uint64_t bytes) {
  if (bytes > kMaxTotalBytes - totalBytes)
    return llvm::createStringError(
        llvm::formatv("allocation of {0} bytes: the emulated device has 16 GiB of memory, {1} are "
                      "in use",
                      bytes, totalBytes)
            .str());
  auto allocation = std::make_unique<Allocation>();
  allocation->base = nextBase;
  allocation->size = bytes;
  // calloc: large blocks are untouched zero pages until they are used.
  allocation->data.reset(static_cast<uint8_t *>(std::calloc(std::max<uint64_t>(bytes, 1), 1)));
  allocation->defined.reset(static_cast<uint8_t *>(std::calloc(std::max<uint64_t>(bytes, 1), 1)));
  if (!allocation->data || !allocation->defined)
    return llvm::createStringError(
        llvm::formatv("allocation of {0} bytes: the host is out of memory", bytes).str());
  nextBase = llvm::alignTo(nextBase + bytes + kGuardBytes, kAlignment);
  totalBytes += bytes;
  allocations.push_back(std::move(allocation));
  return allocations.back()->base;
}

llvm::Error GlobalMemory::free(uint64_t address) {
  for (auto it = allocations.begin(); it != allocations.end(); ++it) {
    if ((*it)->base != address)
      continue;
    totalBytes -= (*it)->size;
    lastHit = nullptr;
    allocations.erase(it);
    return llvm::Error::success();
  }
  return llvm::createStringError(
      llvm::formatv("free of {0:x}: no allocation begins there", address).str());
}

Allocation *GlobalMemory::search(uint64_t address, uint64_t bytes) {
  auto next = llvm::partition_point(
      allocations, [&](const auto &allocation) { return allocation->base <= address; });
  if (next == allocations.begin())
    return nullptr;
  Allocation *candidate = std::prev(next)->get();
  uint64_t offset = address - candidate->base;
  if (offset > candidate->size || bytes > candidate->size - offset)
    return nullptr;
  return lastHit = candidate;
}

std::string GlobalMemory::describeMiss(uint64_t address, uint64_t bytes) const {
  auto next = llvm::partition_point(
      allocations, [&](const auto &allocation) { return allocation->base <= address; });
  if (next != allocations.begin()) {
    const Allocation &before = **std::prev(next);
    uint64_t end = before.base + before.size;
    if (address + bytes - end <= kGuardBytes)
      return llvm::formatv("the allocation {0:x} of {1} bytes ends {2} bytes before the end of the "
                           "access",
                           before.base, before.size, address + bytes - end)
          .str();
  }
  if (next != allocations.end() && (*next)->base - address <= kGuardBytes)
    return llvm::formatv("the allocation {0:x} begins {1} bytes later", (*next)->base,
                         (*next)->base - address)
        .str();
  return "no allocation is near";
}
