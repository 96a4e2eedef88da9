//===- Check.h - Comparing a kernel's outputs -------------------*- C++ -*-===//

#ifndef TCC_RUNTIME_CHECK_H
#define TCC_RUNTIME_CHECK_H

#include "tcc/Runtime/Evaluate.h"

namespace tcc::runtime {

/// One element that is off.
struct Mismatch {
  Shape index;
  double found = 0, expected = 0, bound = 0;
  bool unwritten = false; // it still holds the poison
};

struct CheckResult {
  std::string argument;
  bool exact = false;   // compared for equality, not within a bound
  bool sampled = false; // whole rows and columns only
  int64_t compared = 0;
  int64_t failures = 0;
  int64_t unwritten = 0; // of the failures
  int64_t unbounded = 0; // elements whose bound is infinite: they say nothing
  double maxAbsError = 0, meanAbsError = 0;
  double maxRelError = 0, meanRelError = 0; // of elements that aren't 0
  double worstOfBound = 0;                  // the largest error in units of its bound
  std::vector<Mismatch> first;              // the first few, by position in memory
  uint64_t fingerprint = 0;                 // of the output's bits, equal for equal results
  int64_t strayBytes = 0;                   // padding and guard bytes that changed
  int64_t firstStrayByte = 0;               // from element (0, …, 0)

  /// Outputs without anything to compare with pass if no byte beside their elements changed.
  bool passed() const {
    return failures == 0 && strayBytes == 0 && (compared == 0 || unbounded < compared);
  }
};

/// Multiply-adds above which rows and columns are sampled.
inline constexpr double defaultMaxWork = 0x1p34;

/// Compares an output with the reference. In mode Exact, returns nothing where the data don't
/// allow it (see ReferenceEvaluator::evaluate). Beyond `maxWork` multiply-adds, about as many are
/// spent on whole rows and columns.
std::optional<CheckResult> checkAgainstReference(const metadata::Reference &reference,
                                                 const metadata::RefOutput &output,
                                                 const llvm::StringMap<int64_t> &dims,
                                                 const llvm::StringMap<const HostTensor *> &inputs,
                                                 const HostTensor &actual, EvaluationMode mode,
                                                 uint64_t seed, double maxWork = defaultMaxWork);

/// Compares with given values of the same shape; `tolerance` is absolute, 0 asks for equality.
CheckResult checkAgainstExpected(llvm::StringRef argument, const HostTensor &expected,
                                 const HostTensor &actual, double tolerance);

/// Counts changed bytes outside the elements.
void checkStrayWrites(const HostTensor &before, const HostTensor &after, CheckResult &result);

/// At most about `count` indices below `extent`, ascending: the first, the last, both sides of
/// multiples of 64 (where tiles meet), and one at random in every stretch between.
std::vector<int64_t> sampleIndices(int64_t extent, int64_t count, uint64_t seed);

} // namespace tcc::runtime

#endif // TCC_RUNTIME_CHECK_H
