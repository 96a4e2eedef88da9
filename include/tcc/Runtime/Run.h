//===- Run.h - One program from PTX to checked results ----------*- C++ -*-===//
//
// What tcc-run does, as a library: choose the program and its variant, make or read its data,
// launch it, check what it gave, and time it.
//
//===----------------------------------------------------------------------===//

#ifndef TCC_RUNTIME_RUN_H
#define TCC_RUNTIME_RUN_H

#include "tcc/Runtime/Check.h"
#include "tcc/Runtime/Device.h"
#include "tcc/Runtime/Fill.h"
#include "llvm/Support/JSON.h"
#include <map>

namespace tcc::runtime {

/// Files by argument.
using FileMap = std::map<std::string, std::string>;

struct RunOptions {
  std::string kernel;  // empty: the only one
  std::string variant; // empty: the first that can be launched
  ProblemOptions problem;
  DeviceOptions device;
  Fill fill = Fill::Normal;
  uint64_t seed = 1;
  FileMap inputs, outputs, expected; // .npy
  double tolerance = 0;              // of `expected`, absolute
  bool check = false;
  bool time = false;
  bool versusCublasLt = false; // with `time`: measure cublasLt in turn
  TimingCounts counts;
};

/// The checks of the outputs for one set of inputs.
struct DataSetResult {
  std::string name; // "normal", "integer", …
  std::vector<CheckResult> checks;
};

struct TimingResult {
  std::vector<double> milliseconds; // a launch, in each measurement, sorted
  unsigned batch = 1;               // launches of a measurement
  unsigned inputSets = 1;           // rotated, so that no launch finds its inputs in L2
  double teraflops = 0;             // by the median; 0 without a matmul in the reference
  bool wallTime = false;            // the emulator's: says nothing about a GPU
  double smClockMHz = 0;            // of the multiprocessors meanwhile; 0 where it isn't known

  std::vector<double> peerMilliseconds; // of cublasLt, sorted; empty where it wasn't asked for

  double getMedian() const { return milliseconds[milliseconds.size() / 2]; }
  double getPeerMedian() const { return peerMilliseconds[peerMilliseconds.size() / 2]; }
  /// Clock cycles of a multiprocessor in the median time: what a power-capped GPU's changing clock
  /// leaves comparable.
  double getMedianCycles() const { return getMedian() * 1e3 * smClockMHz; }
};

struct RunResult {
  std::string kernel;
  std::string variant;
  std::vector<Rejection> rejected;
  DeviceInfo device;
  std::vector<std::pair<std::string, int64_t>> sizes; // in the order of the arguments
  LaunchPlan plan;
  bool launched = false;
  std::vector<DataSetResult> dataSets;
  std::optional<TimingResult> timing;
  LaunchReport report;
  std::vector<std::string> findings; // of all launches, each once
  std::vector<std::string> notes;

  /// No check failed and nothing was found.
  bool passed() const;
};

/// Runs a program of the PTX text; `name` is the file's, for messages.
llvm::Expected<RunResult> run(llvm::StringRef ptx, llvm::StringRef name, const RunOptions &options);

/// For people.
void printResult(llvm::raw_ostream &os, const RunResult &result);
/// For programs; docs/Metadata.md doesn't cover it, field names stay.
llvm::json::Value toJSON(const RunResult &result);

/// Reads "M=4096,N=16" into a map. `option` is named in errors: expected name=integer, found …;
/// a name given twice with different values is an error.
llvm::Error parseIntegers(llvm::StringRef option, llvm::StringRef text,
                          llvm::StringMap<int64_t> &out);
/// Reads "A=a.npy".
llvm::Error parseFile(llvm::StringRef option, llvm::StringRef text, FileMap &out);

} // namespace tcc::runtime

#endif // TCC_RUNTIME_RUN_H
