//===- AddressSpace.h - How addresses of all spaces are laid out -*- C++ -*-===//
//
// Global and constant addresses are generic addresses. The other spaces are windows of the generic
// space:
//
//   shared   window + (rank of the CTA in its cluster << 24) + offset; the low 32 bits are the
//   .shared address. A CTA's
//            own addresses carry its rank, so they are valid shared::cluster addresses, as the ISA
//            asks.
//   local    window + offset in the thread's stack
//   param    window + kKernelParameterTag + offset for an entry's parameters; parameters of
//   functions lie on the stack
//
//===----------------------------------------------------------------------===//

#ifndef TCC_LIB_EMULATOR_ADDRESSSPACE_H
#define TCC_LIB_EMULATOR_ADDRESSSPACE_H

#include <cstdint>

namespace tcc::emulator {

constexpr uint64_t kSharedWindow = uint64_t(0x7f00) << 32;
constexpr uint64_t kLocalWindow = uint64_t(0x7e00) << 32;
constexpr uint64_t kParamWindow = uint64_t(0x7d00) << 32;
constexpr uint64_t kWindowBytes = uint64_t(1) << 32;

constexpr unsigned kSharedRankShift = 24;
constexpr uint64_t kSharedOffsetMask = (uint64_t(1) << kSharedRankShift) - 1;
/// The first bytes of shared memory belong to the system, so address 0 is never valid.
constexpr uint64_t kSharedBase = 1024;
constexpr uint64_t kLocalBase = 16;
constexpr uint64_t kMaxLocalBytes = uint64_t(512) << 10;
constexpr uint64_t kKernelParameterTag = uint64_t(1) << 30;
/// Function pointers: this tag plus the function's index in the module.
constexpr uint64_t kFunctionTag = uint64_t(0x7c00) << 32;

constexpr bool isInWindow(uint64_t address, uint64_t window) {
  return address - window < kWindowBytes;
}

} // namespace tcc::emulator

#endif // TCC_LIB_EMULATOR_ADDRESSSPACE_H
