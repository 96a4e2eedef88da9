//===- Report.h - What a kernel did, in numbers -----------------*- C++ -*-===//
//
// Counts of one launch, per instruction and in all. The emulator models no time: these are the
// quantities that a reader of a profile looks at first.
//
//===----------------------------------------------------------------------===//

#ifndef TCC_EMULATOR_REPORT_H
#define TCC_EMULATOR_REPORT_H

#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdint>
#include <string>
#include <vector>

namespace tcc::emulator {

/// One PTX instruction that was executed at least once.
struct InstructionReport {
  uint32_t line = 0;
  std::string text;
  /// Warp-level executions, and the lanes active in them.
  uint64_t executions = 0;
  uint64_t lanes = 0;
  /// Shared memory: accesses and the cycles that they take with 32 banks of 4 bytes;
  /// `minimumWavefronts` is what the same bytes need without conflicts. worstConflict is the
  /// highest ratio of the two in one execution.
  uint64_t sharedWavefronts = 0;
  uint64_t minimumWavefronts = 0;
  double worstConflict = 0;
  /// Global memory: 32-byte sectors touched, and the fewest that the requested bytes would fit in.
  uint64_t globalSectors = 0;
  uint64_t minimumSectors = 0;
  uint64_t bytesRead = 0;
  uint64_t bytesWritten = 0;
  /// Multiply-adds count as two.
  uint64_t mmaFlops = 0;
  /// Barriers: executions that had to wait.
  uint64_t waits = 0;

  double meanConflict() const {
    return minimumWavefronts ? double(sharedWavefronts) / double(minimumWavefronts) : 0.0;
  }
};

struct Report {
  std::string kernel;
  std::string chip;
  uint64_t blocks = 0;
  uint64_t threadsPerBlock = 0;
  uint64_t sharedBytesPerBlock = 0;
  uint64_t warpInstructions = 0;
  uint64_t mmaFlops = 0;
  uint64_t globalBytesRead = 0;
  uint64_t globalBytesWritten = 0;
  uint64_t sharedBytesRead = 0;
  uint64_t sharedBytesWritten = 0;
  uint64_t barrierWaits = 0;
  /// In the order of the PTX text.
  std::vector<InstructionReport> instructions;

  void print(llvm::raw_ostream &os) const;
  llvm::json::Value toJSON() const;
};

} // namespace tcc::emulator

#endif // TCC_EMULATOR_REPORT_H
