//===- GlobalMemory.h - Allocations of device memory ------------*- C++ -*-===//

#ifndef TCC_LIB_EMULATOR_GLOBALMEMORY_H
#define TCC_LIB_EMULATOR_GLOBALMEMORY_H

#include "llvm/Support/Error.h"

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <vector>

namespace tcc::emulator {

/// One allocation: its bytes, and one flag per byte that is 1 once the byte was written.
struct Allocation {
  struct Free {
    void operator()(uint8_t *memory) const { std::free(memory); }
  };
  uint64_t base = 0;
  uint64_t size = 0;
  bool isReadOnly = false;
  std::unique_ptr<uint8_t, Free> data;
  std::unique_ptr<uint8_t, Free> defined;
};

class GlobalMemory {
public:
  llvm::Expected<uint64_t> allocate(uint64_t bytes);
  llvm::Error free(uint64_t address);

  /// The allocation that holds all of [address, address + bytes), or null. Zero bytes need only lie
  /// in one.
  Allocation *find(uint64_t address, uint64_t bytes) {
    if (lastHit && address - lastHit->base < lastHit->size &&
        bytes <= lastHit->size - (address - lastHit->base))
      return lastHit;
    return search(address, bytes);
  }
  const Allocation *find(uint64_t address, uint64_t bytes) const {
    return const_cast<GlobalMemory *>(this)->search(address, bytes);
  }
  /// "it ends 4 bytes before the access", for messages about an address that no allocation holds.
  std::string describeMiss(uint64_t address, uint64_t bytes) const;

private:
  Allocation *search(uint64_t address, uint64_t bytes);

  std::vector<std::unique_ptr<Allocation>> allocations; // by address
  Allocation *lastHit = nullptr;
  uint64_t nextBase = uint64_t(2) << 32;
  uint64_t totalBytes = 0;
};

} // namespace tcc::emulator

#endif // TCC_LIB_EMULATOR_GLOBALMEMORY_H
