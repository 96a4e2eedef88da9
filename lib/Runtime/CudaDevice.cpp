//===- CudaDevice.cpp - A GPU through the CUDA driver ---------------------===//

#include "CudaDriver.h"
#include "tcc/Runtime/Device.h"
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

class CudaModule : public DeviceModule {
public:
  CudaModule(const Driver &driver, cuda::ModuleHandle handle, cuda::DeviceHandle device,
             double timeoutSeconds, bool &hung)
      : driver(driver), handle(handle), device(device), timeoutSeconds(timeoutSeconds), hung(hung) {
  }

  ~CudaModule() override {
    if (hung)
      return;
    for (cuda::Event event : events)
      driver.eventDestroy(event);
    driver.moduleUnload(handle);
  }

  Error launch(const LaunchPlan &plan) override {
    Expected<std::vector<double>> times = time(plan, 0, 1);
    return times ? Error::success() : times.takeError();
  }

  Expected<std::vector<double>> time(ArrayRef<LaunchPlan> rotation, unsigned warmup,
                                     unsigned repeats) override;

private:
  Expected<cuda::Function> prepare(const LaunchPlan &plan);
  Error enqueue(const LaunchPlan &plan, cuda::Function function, ParameterPack &parameters);
  Error waitFor(cuda::Event event, StringRef entry);
  Error reserveEvents(size_t count);

  const Driver &driver;
  cuda::ModuleHandle handle;
  cuda::DeviceHandle device;
  double timeoutSeconds;
  bool &hung;
  std::vector<cuda::Event> events;
};

/// Finds the entry, and raises its limits to what the plan needs.
Expected<cuda::Function> CudaModule::prepare(const LaunchPlan &plan) {
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

Error CudaModule::enqueue(const LaunchPlan &plan, cuda::Function function,
                          ParameterPack &parameters) {
  cuda::LaunchConfig config = {};
  cuda::LaunchAttribute cluster = {};
  cluster.id = cuda::launchClusterDimension;
  for (int i = 0; i < 3; ++i) {
    config.grid[i] = plan.grid[i];
    config.block[i] = plan.block[i];
    cluster.value.clusterDim[i] = plan.cluster[i];
  }
  config.sharedBytes = plan.dynamicSharedBytes;
  config.attributes = &cluster;
  config.numAttributes = plan.cluster != std::array<uint32_t, 3>{1, 1, 1};
  return driver.check(driver.launchKernelEx(&config, function, parameters.data(), nullptr),
                      "launch of '" + plan.entry + "'");
}

/// Polls, so that a kernel that never ends can't stop the process.
Error CudaModule::waitFor(cuda::Event event, StringRef entry) {
  auto start = std::chrono::steady_clock::now();
  while (true) {
    cuda::Result result = driver.eventQuery(event);
    if (result != cuda::errorNotReady)
      return driver.check(result, "run of '" + entry + "'");
    std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    if (elapsed.count() > timeoutSeconds) {
      hung = true;
      return make_error<HungKernelError>(
          ("'" + entry + "' hasn't ended after " + Twine(int64_t(timeoutSeconds)) +
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

Expected<std::vector<double>> CudaModule::time(ArrayRef<LaunchPlan> rotation, unsigned warmup,
                                               unsigned repeats) {
  std::vector<double> milliseconds;
  if (rotation.front().isEmpty())
    return std::vector<double>(repeats, 0.0);
  Expected<cuda::Function> function = prepare(rotation.front());
  if (!function)
    return function.takeError();
  std::vector<ParameterPack> packs;
  for (const LaunchPlan &plan : rotation) {
    Expected<ParameterPack> pack = ParameterPack::create(driver, plan);
    if (!pack)
      return pack.takeError();
    packs.push_back(std::move(*pack));
  }
  if (Error error = reserveEvents(2 * repeats))
    return std::move(error);
  for (unsigned i = 0; i < warmup + repeats; ++i) {
    size_t set = i % rotation.size();
    bool counted = i >= warmup;
    if (counted)
      driver.eventRecord(events[2 * (i - warmup)], nullptr);
    if (Error error = enqueue(rotation[set], *function, packs[set]))
      return std::move(error);
    if (counted)
      driver.eventRecord(events[2 * (i - warmup) + 1], nullptr);
  }
  if (Error error = waitFor(events[2 * repeats - 1], rotation.front().entry))
    return std::move(error);
  for (unsigned i = 0; i < repeats; ++i) {
    float elapsed = 0;
    if (Error error =
            driver.check(driver.eventElapsedTime(&elapsed, events[2 * i], events[2 * i + 1]),
                         "cuEventElapsedTime"))
      return std::move(error);
    milliseconds.push_back(elapsed);
  }
  return milliseconds;
}

class CudaDevice : public Device {
public:
  CudaDevice(const Driver &driver, cuda::DeviceHandle device, double timeoutSeconds)
      : driver(driver), device(device), timeoutSeconds(timeoutSeconds) {}

  ~CudaDevice() override {
    if (context && !hung)
      driver.primaryCtxRelease(device);
  }

  Error open();

  const DeviceInfo &getInfo() const override { return info; }
  bool detectsOutOfBounds() const override { return false; }

  Expected<uint64_t> allocate(uint64_t bytes) override {
    cuda::DevicePointer pointer;
    if (Error error = driver.check(driver.memAlloc(&pointer, bytes),
                                   "allocation of " + Twine(bytes) + " bytes on the GPU"))
      return std::move(error);
    return pointer;
  }
  void free(uint64_t address) override {
    if (!hung)
      driver.memFree(address);
  }
  Error copyIn(uint64_t address, ArrayRef<uint8_t> bytes) override {
    return driver.check(driver.memcpyHtoD(address, bytes.data(), bytes.size()), "copy to the GPU");
  }
  Error copyOut(uint64_t address, MutableArrayRef<uint8_t> bytes) override {
    return driver.check(driver.memcpyDtoH(bytes.data(), address, bytes.size()),
                        "copy from the GPU");
  }
  Error fill(uint64_t address, uint8_t value, uint64_t bytes) override {
    return driver.check(driver.memsetD8(address, value, bytes), "fill of GPU memory");
  }
  Expected<std::unique_ptr<DeviceModule>> load(StringRef ptx, StringRef name) override;

private:
  const Driver &driver;
  cuda::DeviceHandle device;
  double timeoutSeconds;
  cuda::Context context = nullptr;
  DeviceInfo info;
  bool hung = false; // set by a module: every further call would block
};

Error CudaDevice::open() {
  if (Error error =
          driver.check(driver.primaryCtxRetain(&context, device), "cuDevicePrimaryCtxRetain"))
    return error;
  if (Error error = driver.check(driver.ctxSetCurrent(context), "cuCtxSetCurrent"))
    return error;
  int version = 0, major = 0, minor = 0, smCount = 1, l2Bytes = 0;
  char name[256] = "";
  driver.driverGetVersion(&version);
  driver.deviceGetName(name, sizeof(name), device);
  driver.deviceGetAttribute(&major, cuda::attributeMajor, device);
  driver.deviceGetAttribute(&minor, cuda::attributeMinor, device);
  driver.deviceGetAttribute(&smCount, cuda::attributeSmCount, device);
  driver.deviceGetAttribute(&l2Bytes, cuda::attributeL2Bytes, device);
  info.backend = "cuda";
  info.name = name;
  info.chip = ("sm_" + Twine(major) + Twine(minor)).str();
  info.driver = ("CUDA " + Twine(version / 1000) + "." + Twine(version % 1000 / 10)).str();
  info.smCount = smCount;
  info.l2Bytes = l2Bytes;
  return Error::success();
}

Expected<std::unique_ptr<DeviceModule>> CudaDevice::load(StringRef ptx, StringRef name) {
  std::string log(16384, '\0');
  int options[] = {cuda::jitErrorLog, cuda::jitErrorLogBytes};
  void *values[] = {log.data(), reinterpret_cast<void *>(log.size())};
  cuda::ModuleHandle handle;
  std::string text = ptx.str(); // the driver wants a terminated string
  Error error = driver.check(driver.moduleLoadDataEx(&handle, text.c_str(), 2, options, values),
                             "loading '" + name + "' on " + info.name + " (" + info.chip + ")");
  if (!error)
    return std::make_unique<CudaModule>(driver, handle, device, timeoutSeconds, hung);
  StringRef details = StringRef(log.c_str()).trim();
  return createStringError(toString(std::move(error)) + (details.empty() ? "" : "\n" + details));
}

} // namespace

Expected<std::unique_ptr<Device>> openCudaDevice(const DeviceOptions &options) {
  Expected<const Driver *> driver = Driver::get();
  if (!driver)
    return driver.takeError();
  cuda::DeviceHandle handle;
  if (Error error = (*driver)->check((*driver)->deviceGet(&handle, 0), "cuDeviceGet"))
    return std::move(error);
  auto device = std::make_unique<CudaDevice>(**driver, handle, options.timeoutSeconds);
  if (Error error = device->open())
    return std::move(error);
  return device;
}

} // namespace tcc::runtime
