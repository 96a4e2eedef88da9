//===- Chips.h - Limits of the emulated chips -------------------*- C++ -*-===//

#ifndef TCC_LIB_EMULATOR_CHIPS_H
#define TCC_LIB_EMULATOR_CHIPS_H

#include "llvm/ADT/StringRef.h"

#include <cstdint>

namespace tcc::emulator {

struct ChipLimits {
  llvm::StringLiteral name;
  /// 10 * major + minor compute capability.
  unsigned version;
  /// Most shared memory of one block, static and dynamic.
  uint64_t maxSharedBytes;
  /// Most blocks in a cluster (beyond 8 the driver asks for an opt-in).
  unsigned maxClusterBlocks;
  /// The "a" feature set (wgmma, setmaxnreg).
  bool archSpecific;
};

constexpr unsigned kMaxThreadsPerBlock = 1024;
/// 32-bit registers of a multiprocessor, of every chip here; a thread's count is allocated in units
/// of 8 (CUDA C++ Programming Guide, "Technical Specifications per Compute Capability").
constexpr unsigned kRegistersPerMultiprocessor = 64 * 1024;
constexpr unsigned kRegisterUnit = 8;
constexpr unsigned kMaxRegistersPerThread = 256;

/// Null for an unknown chip.
const ChipLimits *findChip(llvm::StringRef name);

} // namespace tcc::emulator

#endif // TCC_LIB_EMULATOR_CHIPS_H
