//===- ClockProbe.cpp - The clock that multiprocessors ran at -------------===//

#include "ClockProbe.h"
#include "llvm/ADT/STLExtras.h"
#include <vector>

using namespace llvm;

namespace tcc::runtime::cuda {
namespace {

/// A multiprocessor's cycles and nanoseconds.
struct Reading {
  uint64_t cycles, nanoseconds;
};

/// Each block writes the two counters of the multiprocessor that it runs on (PTX ISA, "Special
/// Registers"): they count since different times on each, so that only differences mean anything.
constexpr char probePTX[] = R"(.version 6.0
.target sm_70
.address_size 64
.visible .entry tcc_read_clock(.param .u64 readings)
{
  .reg .b32 %r<2>;
  .reg .b64 %rd<5>;
  ld.param.u64 %rd1, [readings];
  mov.u32 %r1, %smid;
  mad.wide.u32 %rd2, %r1, 16, %rd1;
  mov.u64 %rd3, %clock64;
  mov.u64 %rd4, %globaltimer;
  st.global.v2.u64 [%rd2], {%rd3, %rd4};
  ret;
}
.visible .entry tcc_delay(.param .u64 nanoseconds)
{
  .reg .pred %p;
  .reg .b64 %rd<5>;
  ld.param.u64 %rd1, [nanoseconds];
  mov.u64 %rd2, %globaltimer;
$wait:
  mov.u64 %rd3, %globaltimer;
  sub.u64 %rd4, %rd3, %rd2;
  setp.lt.u64 %p, %rd4, %rd1;
  @%p bra $wait;
  ret;
}
)";

} // namespace

Expected<std::unique_ptr<ClockProbe>> ClockProbe::create(const Driver &driver, unsigned smCount) {
  std::unique_ptr<ClockProbe> probe(new ClockProbe(driver, smCount));
  if (Error error = probe->open())
    return std::move(error);
  return std::move(probe);
}

ClockProbe::~ClockProbe() {
  if (readings)
    driver.memFree(readings);
  if (module)
    driver.moduleUnload(module);
}

Error ClockProbe::open() {
  if (Error error = driver.check(driver.moduleLoadDataEx(&module, probePTX, 0, nullptr, nullptr),
                                 "loading the clock probe"))
    return error;
  if (Error error = driver.check(driver.moduleGetFunction(&readFunction, module, "tcc_read_clock"),
                                 "clock probe: cuModuleGetFunction"))
    return error;
  if (Error error = driver.check(driver.moduleGetFunction(&delayFunction, module, "tcc_delay"),
                                 "clock probe: cuModuleGetFunction"))
    return error;
  size_t bytes = 2 * smCount * sizeof(Reading);
  if (Error error = driver.check(driver.memAlloc(&readings, bytes), "clock probe: cuMemAlloc"))
    return error;
  return driver.check(driver.memsetD8(readings, 0, bytes), "clock probe: cuMemsetD8");
}

Error ClockProbe::launch(Function kernel, unsigned blocks, uint64_t parameter) {
  void *parameters[] = {&parameter};
  LaunchConfig config = {};
  config.grid[0] = blocks;
  config.grid[1] = config.grid[2] = 1;
  config.block[0] = config.block[1] = config.block[2] = 1;
  return driver.check(driver.launchKernelEx(&config, kernel, parameters, nullptr),
                      "launch of the clock probe");
}

Error ClockProbe::record(Point point) {
  // More blocks than multiprocessors, so that each gets one.
  return launch(readFunction, 4 * smCount,
                readings + (point == Point::End ? smCount * sizeof(Reading) : 0));
}

Error ClockProbe::delay(uint64_t nanoseconds) { return launch(delayFunction, 1, nanoseconds); }

Expected<double> ClockProbe::readMHz() {
  std::vector<Reading> all(2 * smCount);
  if (Error error =
          driver.check(driver.memcpyDtoH(all.data(), readings, all.size() * sizeof(Reading)),
                       "clock probe: cuMemcpyDtoH"))
    return std::move(error);
  std::vector<double> clocks;
  for (unsigned sm = 0; sm < smCount; ++sm) {
    const Reading &begin = all[sm], &end = all[smCount + sm];
    // The timer ticks once a microsecond on some chips: 100 of them give the clock to a percent.
    if (begin.cycles != 0 && end.nanoseconds > begin.nanoseconds + 100000)
      clocks.push_back(1e3 * double(end.cycles - begin.cycles) /
                       double(end.nanoseconds - begin.nanoseconds));
  }
  if (clocks.empty())
    return 0;
  llvm::sort(clocks);
  return clocks[clocks.size() / 2];
}

} // namespace tcc::runtime::cuda
