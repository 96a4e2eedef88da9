//===- RunPrint.cpp - Results as text and as JSON -------------------------===//

#include "tcc/Runtime/Run.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include <cmath>

using namespace llvm;

namespace tcc::runtime {

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

static std::string joinExtents(ArrayRef<uint32_t> extents) {
  return join(map_range(extents, [](uint32_t x) { return std::to_string(x); }), "x");
}

static void printLaunch(raw_ostream &os, const RunResult &result) {
  os << result.kernel << ": variant " << result.variant << " on " << result.device.name << " ("
     << result.device.chip;
  if (!result.device.driver.empty())
    os << ", " << result.device.driver;
  os << ")\n ";
  for (const auto &[name, size] : result.sizes)
    os << " " << name << "=" << size;
  os << (result.sizes.empty() ? " " : ", ") << "grid " << joinExtents(result.plan.grid)
     << ", block " << joinExtents(result.plan.block);
  if (result.plan.cluster != std::array<uint32_t, 3>{1, 1, 1})
    os << ", cluster " << joinExtents(result.plan.cluster);
  os << ", " << result.plan.dynamicSharedBytes << " bytes of dynamic shared memory\n";
  for (const Rejection &rejection : result.rejected)
    os << "  skipped variant " << rejection.variant << ": " << rejection.reason << "\n";
  for (const std::string &note : result.notes)
    os << "  note: " << note << "\n";
}

static void printMismatches(raw_ostream &os, const CheckResult &check) {
  for (const Mismatch &mismatch : check.first) {
    os << "    " << check.argument << "["
       << join(map_range(mismatch.index, [](int64_t i) { return std::to_string(i); }), ", ")
       << "] ";
    if (mismatch.unwritten)
      os << "was never written";
    else
      os << "is " << format("%.9g", mismatch.found);
    os << ", expected " << format("%.9g", mismatch.expected);
    if (!check.exact)
      os << " ± " << format("%.2g", mismatch.bound);
    os << "\n";
  }
}

static void printCheck(raw_ostream &os, StringRef set, const CheckResult &check) {
  os << "  check " << set << ": " << check.argument << " " << (check.passed() ? "ok" : "FAILED");
  if (check.compared == 0 && check.strayBytes == 0)
    os << ", nothing to compare";
  if (check.compared > 0) {
    os << ", " << check.compared << " elements"
       << (check.sampled ? " sampled in whole rows and columns" : "");
    if (check.failures > 0)
      os << ", " << check.failures << " wrong";
    if (check.unwritten > 0)
      os << " (" << check.unwritten << " never written)";
    if (check.exact && check.failures == 0)
      os << ", all equal";
    else
      os << ", max error " << format("%.3g", check.maxAbsError) << ", mean "
         << format("%.3g", check.meanAbsError) << ", max relative "
         << format("%.3g", check.maxRelError);
    if (!check.exact)
      os << ", " << format("%.3g", check.worstOfBound) << " of the bound";
    if (check.unbounded > 0)
      os << ", " << check.unbounded << " without a finite bound";
  }
  os << "\n";
  printMismatches(os, check);
  if (check.strayBytes > 0)
    os << "    " << check.strayBytes << " bytes beside the elements of " << check.argument
       << " were overwritten, the first at byte " << check.firstStrayByte
       << " from element (0, 0)\n";
}

static void printTiming(raw_ostream &os, const TimingResult &timing) {
  os << "  time: " << format("%.6g", timing.getMedian()) << " ms median of "
     << timing.milliseconds.size() << " (" << format("%.6g", timing.milliseconds.front()) << " to "
     << format("%.6g", timing.milliseconds.back()) << ")";
  if (timing.batch > 1)
    os << ", of batches of " << timing.batch << " launches";
  if (timing.wallTime) {
    os << ", wall time of the emulator, which says nothing about a GPU\n";
    return;
  }
  os << ", " << timing.inputSets << " input sets in turn, " << format("%.1f", timing.teraflops)
     << " TFLOP/s";
  if (timing.smClockMHz > 0)
    os << ", " << format("%.0f", timing.getMedianCycles()) << " cycles at "
       << format("%.0f", timing.smClockMHz) << " MHz";
  os << "\n";
  if (!timing.peerMilliseconds.empty())
    os << "  cublasLt in turn with it: " << format("%.6g", timing.getPeerMedian())
       << " ms median; tcc runs at " << format("%.3f", timing.getPeerMedian() / timing.getMedian())
       << " of its speed\n";
}

void printResult(raw_ostream &os, const RunResult &result) {
  printLaunch(os, result);
  for (const std::string &finding : result.findings)
    os << "  found: " << finding << "\n";
  for (const DataSetResult &set : result.dataSets)
    for (const CheckResult &check : set.checks)
      if (check.compared > 0 || check.strayBytes > 0)
        printCheck(os, set.name, check);
  if (result.timing)
    printTiming(os, *result.timing);
}

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

/// JSON has no infinity.
static json::Value number(double value) {
  if (std::isfinite(value))
    return value;
  return nullptr;
}

static json::Value toJSON(const CheckResult &check) {
  json::Array first;
  for (const Mismatch &mismatch : check.first)
    first.push_back(json::Object{{"index", json::Array(mismatch.index)},
                                 {"found", number(mismatch.found)},
                                 {"expected", number(mismatch.expected)},
                                 {"bound", number(mismatch.bound)},
                                 {"unwritten", mismatch.unwritten}});
  return json::Object{{"argument", check.argument},
                      {"passed", check.passed()},
                      {"exact", check.exact},
                      {"sampled", check.sampled},
                      {"compared", check.compared},
                      {"failures", check.failures},
                      {"unwritten", check.unwritten},
                      {"unbounded", check.unbounded},
                      {"max_abs_error", number(check.maxAbsError)},
                      {"mean_abs_error", number(check.meanAbsError)},
                      {"max_rel_error", number(check.maxRelError)},
                      {"mean_rel_error", number(check.meanRelError)},
                      {"worst_of_bound", number(check.worstOfBound)},
                      {"stray_bytes", check.strayBytes},
                      {"fingerprint", utohexstr(check.fingerprint)},
                      {"first_failures", std::move(first)}};
}

static json::Value toJSON(const DeviceInfo &device) {
  return json::Object{{"backend", device.backend},
                      {"name", device.name},
                      {"chip", device.chip},
                      {"driver", device.driver},
                      {"sm_count", device.smCount}};
}

static json::Value toJSON(const TimingResult &timing) {
  json::Object object{{"median_ms", timing.getMedian()},
                      {"min_ms", timing.milliseconds.front()},
                      {"max_ms", timing.milliseconds.back()},
                      {"repeats", int64_t(timing.milliseconds.size())},
                      {"batch", timing.batch},
                      {"input_sets", timing.inputSets},
                      {"teraflops", timing.teraflops},
                      {"wall_time", timing.wallTime}};
  if (timing.smClockMHz > 0) {
    object["sm_clock_mhz"] = timing.smClockMHz;
    object["median_cycles"] = timing.getMedianCycles();
  }
  if (!timing.peerMilliseconds.empty()) {
    object["cublaslt_median_ms"] = timing.getPeerMedian();
    object["of_cublaslt"] = timing.getPeerMedian() / timing.getMedian();
  }
  return object;
}

static json::Value toJSON(const LaunchPlan &plan) {
  return json::Object{{"entry", plan.entry},
                      {"grid", json::Array(plan.grid)},
                      {"block", json::Array(plan.block)},
                      {"cluster", json::Array(plan.cluster)},
                      {"dynamic_shared_bytes", plan.dynamicSharedBytes}};
}

json::Value toJSON(const RunResult &result) {
  json::Object sizes;
  for (const auto &[name, size] : result.sizes)
    sizes[name] = size;
  json::Array rejected, checks;
  for (const Rejection &rejection : result.rejected)
    rejected.push_back(json::Object{{"variant", rejection.variant}, {"reason", rejection.reason}});
  for (const DataSetResult &set : result.dataSets)
    for (const CheckResult &check : set.checks) {
      json::Value value = toJSON(check);
      (*value.getAsObject())["data"] = set.name;
      checks.push_back(std::move(value));
    }
  json::Object object{{"kernel", result.kernel},
                      {"variant", result.variant},
                      {"skipped_variants", std::move(rejected)},
                      {"device", toJSON(result.device)},
                      {"sizes", std::move(sizes)},
                      {"launch", toJSON(result.plan)},
                      {"launched", result.launched},
                      {"checks", std::move(checks)},
                      {"passed", result.passed()},
                      {"findings", json::Array(result.findings)},
                      {"notes", json::Array(result.notes)}};
  if (result.timing)
    object["time"] = toJSON(*result.timing);
  if (result.report.json.kind() != json::Value::Null)
    object["report"] = result.report.json;
  return object;
}

} // namespace tcc::runtime
