//===- CudaModule.cpp - PTX loaded by the CUDA driver ---------------------===//

#include "CudaModule.h"
#include "CublasLt.h"
#include "llvm/ADT/STLExtras.h"
#include <chrono>
#include <thread>

using namespace llvm;

namespace tcc::runtime {
namespace {

using cuda::Driver;

/// CUtensorMapDataType
Expected<int> mapElementType(ElementType type) {
  switch (type) {
  case ElementType::F8E4M3FN:
  case ElementType::F8E5M2:
  case ElementType::I8:
  case ElementType::UI8:
    return 0;
  case ElementType::I32:
    return 3;
  case ElementType::I64:
    return 5;
  case ElementType::F16:
    return 6;
  case ElementType::F32:
    return 7;
  case ElementType::F64:
    return 8;
  case ElementType::BF16:
    return 9;
  case ElementType::TF32:
    return 11;
  case ElementType::I1:
    break;
  }
  return createStringError("no tensor map of " + getName(type) + " elements");
}

Expected<cuda::TensorMap> encodeTensorMap(const Driver &driver, const TensorMapDescriptor &map) {
  if (!driver.tensorMapEncodeTiled)
    return createStringError("the driver lacks cuTensorMapEncodeTiled, update it");
  Expected<int> type = mapElementType(map.type);
  if (!type)
    return type.takeError();
  // CUtensorMapSwizzle and CUtensorMapL2promotion count up from none.
  int swizzle = map.swizzle == 32 ? 1 : map.swizzle == 64 ? 2 : map.swizzle == 128 ? 3 : 0;
  int promotion = map.l2Promotion == 64    ? 1
                  : map.l2Promotion == 128 ? 2
                  : map.l2Promotion == 256 ? 3
                                           : 0;
  cuda::TensorMap encoded;
  if (Error error = driver.check(
          driver.tensorMapEncodeTiled(
              &encoded, *type, map.dims.size(), reinterpret_cast<void *>(map.base), map.dims.data(),
              map.strideBytes.data(), map.box.data(), map.elementStrides.data(), /*interleave=*/0,
              swizzle, promotion, map.oobFillNaN),
          "cuTensorMapEncodeTiled"))
    return std::move(error);
  return encoded;
}

/// A launch's parameters in the form that the driver takes: one pointer per parameter.
class ParameterPack {
public:
  static Expected<ParameterPack> create(const Driver &driver, const LaunchPlan &plan) {
    ParameterPack pack;
    for (const LaunchParameter &parameter : plan.parameters) {
      if (!parameter.tensorMap)
        continue;
      Expected<cuda::TensorMap> map = encodeTensorMap(driver, *parameter.tensorMap);
      if (!map)
        return map.takeError();
      pack.maps.push_back(*map);
    }
    for (const LaunchParameter &parameter : plan.parameters)
      pack.values.push_back(parameter.value);
    size_t nextMap = 0;
    for (auto [index, parameter] : enumerate(plan.parameters))
      pack.pointers.push_back(parameter.tensorMap ? static_cast<void *>(&pack.maps[nextMap++])
                                                  : static_cast<void *>(&pack.values[index]));
    return pack;
  }

  void **data() { return pointers.data(); }

private:
  // Moving a vector keeps its elements in place, so the pointers stay valid.
  std::vector<cuda::TensorMap> maps;
  std::vector<uint64_t> values;
  std::vector<void *> pointers;
};

Error enqueue(const Driver &driver, const LaunchPlan &plan, cuda::Function function,
              ParameterPack &parameters) {
  cuda::LaunchConfig config = {};
  std::copy(plan.grid.begin(), plan.grid.end(), config.grid);
  std::copy(plan.block.begin(), plan.block.end(), config.block);
  config.sharedBytes = plan.dynamicSharedBytes;
  SmallVector<cuda::LaunchAttribute, 2> attributes;
  if (plan.cluster != std::array<uint32_t, 3>{1, 1, 1}) {
    cuda::LaunchAttribute &cluster = attributes.emplace_back();
    cluster.id = cuda::launchClusterDimension;
    std::copy(plan.cluster.begin(), plan.cluster.end(), cluster.value.clusterDim);
  }
  if (plan.dependentLaunch) {
    cuda::LaunchAttribute &serialization = attributes.emplace_back();
    serialization.id = cuda::launchProgrammaticSerialization;
    serialization.value.programmaticSerializationAllowed = 1;
  }
  config.attributes = attributes.data();
  config.numAttributes = attributes.size();
  return driver.check(driver.launchKernelEx(&config, function, parameters.data(), nullptr),
                      "launch of '" + plan.entry + "'");
}

} // namespace

CudaModule::~CudaModule() {
  if (hung) {
    (void)clockProbe.release(); // to free its memory would wait for the kernel
    return;
  }
  for (cuda::Event event : events)
    driver.eventDestroy(event);
  driver.moduleUnload(handle);
}

/// Finds the entry, and raises its limits to what the plan needs.
Expected<cuda::Function> CudaModule::findFunction(const LaunchPlan &plan) {
  cuda::Function function;
  if (Error error = driver.check(driver.moduleGetFunction(&function, handle, plan.entry.c_str()),
                                 "entry '" + plan.entry + "': cuModuleGetFunction"))
    return std::move(error);
  int limit = 0, fixed = 0, maxThreads = 0;
  driver.deviceGetAttribute(&limit, cuda::attributeSharedPerBlockOptin, device);
  driver.funcGetAttribute(&fixed, cuda::functionSharedBytes, function);
  driver.funcGetAttribute(&maxThreads, cuda::functionMaxThreads, function);
  if (plan.dynamicSharedBytes + uint64_t(fixed) > uint64_t(limit))
    return createStringError("'" + plan.entry + "' needs " +
                             Twine(plan.dynamicSharedBytes + uint64_t(fixed)) +
                             " bytes of shared memory per block, this GPU has " + Twine(limit));
  uint64_t threads = uint64_t(plan.block[0]) * plan.block[1] * plan.block[2];
  if (threads > uint64_t(maxThreads))
    return createStringError("'" + plan.entry + "' is launched with " + Twine(threads) +
                             " threads per block, compiled for this GPU it can have " +
                             Twine(maxThreads));
  // Above 48 KiB dynamic shared memory must be asked for (CUDA C++ Programming Guide).
  if (Error error = driver.check(driver.funcSetAttribute(function, cuda::functionMaxDynamicShared,
                                                         plan.dynamicSharedBytes),
                                 "'" + plan.entry + "': cuFuncSetAttribute(dynamic shared memory)"))
    return std::move(error);
  constexpr unsigned portableClusterSize = 8;
  if (plan.cluster[0] * plan.cluster[1] * plan.cluster[2] > portableClusterSize)
    if (Error error =
            driver.check(driver.funcSetAttribute(function, cuda::functionNonPortableCluster, 1),
                         "'" + plan.entry + "': cuFuncSetAttribute(non-portable cluster)"))
      return std::move(error);
  return function;
}

Expected<CudaModule::Contender> CudaModule::prepare(ArrayRef<LaunchPlan> rotation) {
  Expected<cuda::Function> function = findFunction(rotation.front());
  if (!function)
    return function.takeError();
  auto packs = std::make_shared<std::vector<ParameterPack>>();
  for (const LaunchPlan &plan : rotation) {
    Expected<ParameterPack> pack = ParameterPack::create(driver, plan);
    if (!pack)
      return pack.takeError();
    packs->push_back(std::move(*pack));
  }
  return Contender([this, rotation, function = *function, packs](size_t set) {
    return enqueue(driver, rotation[set], function, (*packs)[set]);
  });
}

/// Polls, so that a kernel that never ends can't stop the process.
Error CudaModule::waitFor(cuda::Event event, StringRef what) {
  auto start = std::chrono::steady_clock::now();
  while (true) {
    cuda::Result result = driver.eventQuery(event);
    if (result != cuda::errorNotReady)
      return driver.check(result, "run of '" + what + "'");
    std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    if (elapsed.count() > timeoutSeconds) {
      hung = true;
      return make_error<HungKernelError>(
          ("'" + what + "' hasn't ended after " + Twine(int64_t(timeoutSeconds)) +
           " s: most likely a barrier that is never completed; --device=emulator names it, "
           "--timeout waits longer")
              .str());
    }
    if (elapsed.count() > 1e-3)
      std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
}

Error CudaModule::reserveEvents(size_t count) {
  while (events.size() < count) {
    cuda::Event event;
    if (Error error = driver.check(driver.eventCreate(&event, 0), "cuEventCreate"))
      return error;
    events.push_back(event);
  }
  return Error::success();
}

Expected<cuda::ClockProbe *> CudaModule::getClockProbe() {
  if (!clockProbe) {
    int smCount = 1;
    driver.deviceGetAttribute(&smCount, cuda::attributeSmCount, device);
    Expected<std::unique_ptr<cuda::ClockProbe>> created = cuda::ClockProbe::create(driver, smCount);
    if (!created)
      return created.takeError();
    clockProbe = std::move(*created);
  }
  return clockProbe.get();
}

Expected<CudaModule::RaceResult> CudaModule::race(ArrayRef<Contender> contenders, size_t sets,
                                                  TimingCounts counts, StringRef what) {
  size_t measured = contenders.size() * counts.repeats;
  if (Error error = reserveEvents(2 * measured))
    return std::move(error);
  Expected<cuda::ClockProbe *> probe = getClockProbe();
  if (!probe)
    return probe.takeError();
  cuda::Event *next = events.data();
  // A kernel of a few microseconds ends before the host has put the next one into the stream, and
  // the time between two events would be the host's. So every few rounds the host gets ahead; the
  // slowest launch seen, cublasLtMatmul's, takes it 10 us. A stream takes in a thousand launches or
  // so: to wait for more helps nobody.
  constexpr uint64_t roundsAhead = 8, mostAhead = 512, nanosecondsPerLaunch = 15000;
  uint64_t launchesAhead = std::min(roundsAhead * contenders.size() * counts.batch, mostAhead);
  uint64_t nanosecondsAhead = launchesAhead * nanosecondsPerLaunch;
  for (unsigned round = 0; round < counts.warmup + counts.repeats; ++round) {
    if (round % roundsAhead == 0)
      if (Error error = (*probe)->delay(nanosecondsAhead))
        return std::move(error);
    if (round == counts.warmup)
      if (Error error = (*probe)->record(cuda::ClockProbe::Point::Begin))
        return std::move(error);
    for (const Contender &contender : contenders) {
      if (round >= counts.warmup)
        driver.eventRecord(*next++, nullptr);
      for (unsigned i = 0; i < counts.batch; ++i)
        if (Error error = contender((size_t(round) * counts.batch + i) % sets))
          return std::move(error);
      if (round >= counts.warmup)
        driver.eventRecord(*next++, nullptr);
    }
  }
  if (Error error = (*probe)->record(cuda::ClockProbe::Point::End))
    return std::move(error);
  if (Error error = waitFor(next[-1], what))
    return std::move(error);
  RaceResult result;
  result.milliseconds.resize(contenders.size());
  for (size_t i = 0; i < measured; ++i) {
    float elapsed = 0;
    if (Error error =
            driver.check(driver.eventElapsedTime(&elapsed, events[2 * i], events[2 * i + 1]),
                         "cuEventElapsedTime"))
      return std::move(error);
    result.milliseconds[i % contenders.size()].push_back(elapsed / counts.batch);
  }
  Expected<double> clock = (*probe)->readMHz();
  if (!clock)
    return clock.takeError();
  result.smClockMHz = *clock;
  return result;
}

Error CudaModule::launch(const LaunchPlan &plan) {
  if (plan.isEmpty())
    return Error::success();
  Expected<Contender> kernel = prepare(plan);
  if (!kernel)
    return kernel.takeError();
  if (Error error = reserveEvents(1))
    return error;
  if (Error error = (*kernel)(0))
    return error;
  driver.eventRecord(events.front(), nullptr);
  return waitFor(events.front(), plan.entry);
}

Expected<LaunchTimes> CudaModule::time(ArrayRef<LaunchPlan> rotation, TimingCounts counts) {
  if (rotation.front().isEmpty())
    return LaunchTimes{std::vector<double>(counts.repeats, 0.0)};
  Expected<Contender> kernel = prepare(rotation);
  if (!kernel)
    return kernel.takeError();
  auto times = race(*kernel, rotation.size(), counts, rotation.front().entry);
  if (!times)
    return times.takeError();
  return LaunchTimes{std::move(times->milliseconds.front()), times->smClockMHz};
}

Expected<VersusTimes> CudaModule::timeVersusCublasLt(ArrayRef<LaunchPlan> rotation,
                                                     ArrayRef<MatmulCall> calls,
                                                     TimingCounts counts) {
  Expected<Contender> kernel = prepare(rotation);
  if (!kernel)
    return kernel.takeError();
  Expected<std::unique_ptr<cuda::CublasLt>> peer = cuda::CublasLt::create(driver, calls);
  if (!peer)
    return peer.takeError();
  // The heuristic's own order is often not the fastest: its candidates race first.
  std::vector<Contender> candidates;
  for (size_t i = 0; i < (*peer)->getNumCandidates(); ++i)
    candidates.push_back([&peer, i](size_t set) { return (*peer)->enqueue(i, set); });
  constexpr unsigned trialRepeats = 7;
  auto trial =
      race(candidates, calls.size(), {/*warmup=*/2, trialRepeats, counts.batch}, "cublasLtMatmul");
  if (!trial)
    return trial.takeError();
  for (std::vector<double> &times : trial->milliseconds)
    sort(times);
  auto best = min_element(trial->milliseconds, [](const auto &a, const auto &b) {
    return a[trialRepeats / 2] < b[trialRepeats / 2];
  });
  size_t chosen = best - trial->milliseconds.begin();
  auto times = race({*kernel, candidates[chosen]}, rotation.size(), counts, rotation.front().entry);
  if (!times)
    return times.takeError();
  return VersusTimes{std::move(times->milliseconds[0]), std::move(times->milliseconds[1]),
                     times->smClockMHz, unsigned(chosen), unsigned(candidates.size())};
}

} // namespace tcc::runtime
