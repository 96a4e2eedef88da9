//===- CudaDevice.cpp - A GPU through the CUDA driver ---------------------===//

#include "CudaModule.h"

using namespace llvm;

namespace tcc::runtime {
namespace {

using cuda::Driver;

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
