//===- Device.cpp - What the backends share -------------------------------===//

#include "tcc/Runtime/Device.h"
#include <chrono>
#include <utility>

using namespace llvm;

namespace tcc::runtime {

Device::~Device() = default;
DeviceModule::~DeviceModule() = default;

Expected<LaunchTimes> DeviceModule::time(ArrayRef<LaunchPlan> rotation, TimingCounts counts) {
  LaunchTimes times;
  size_t next = 0;
  for (unsigned i = 0; i < counts.warmup + counts.repeats; ++i) {
    auto start = std::chrono::steady_clock::now();
    for (unsigned j = 0; j < counts.batch; ++j)
      if (Error error = launch(rotation[next++ % rotation.size()]))
        return std::move(error);
    std::chrono::duration<double, std::milli> elapsed = std::chrono::steady_clock::now() - start;
    if (i >= counts.warmup)
      times.milliseconds.push_back(elapsed.count() / counts.batch);
  }
  return times;
}

Expected<VersusTimes> DeviceModule::timeVersusCublasLt(ArrayRef<LaunchPlan>, ArrayRef<MatmulCall>,
                                                       TimingCounts) {
  return createStringError("--vs=cublaslt needs a GPU, use --device=cuda");
}

//===----------------------------------------------------------------------===//
// DeviceBuffer
//===----------------------------------------------------------------------===//

Expected<DeviceBuffer> DeviceBuffer::create(Device &device, uint64_t bytes) {
  DeviceBuffer buffer;
  // No backend allocates nothing, but empty matrices have an address too.
  Expected<uint64_t> address = device.allocate(std::max<uint64_t>(bytes, 1));
  if (!address)
    return address.takeError();
  buffer.device = &device;
  buffer.address = *address;
  return buffer;
}

DeviceBuffer::DeviceBuffer(DeviceBuffer &&other)
    : device(std::exchange(other.device, nullptr)), address(other.address) {}

DeviceBuffer &DeviceBuffer::operator=(DeviceBuffer &&other) {
  std::swap(device, other.device);
  std::swap(address, other.address);
  return *this;
}

DeviceBuffer::~DeviceBuffer() {
  if (device)
    device->free(address);
}

Expected<uint64_t> prepareWorkspace(const Kernel &kernel, const SymbolTable &symbols,
                                    Device &device, DeviceBuffer &buffer) {
  Expected<int64_t> bytes = kernel.workspaceBytes.evaluate(symbols);
  if (!bytes)
    return createStringError("workspace of '" + kernel.entry + "': " + toString(bytes.takeError()));
  if (*bytes < 0)
    return createStringError("workspace of '" + kernel.entry + "' has " + Twine(*bytes) + " bytes");
  if (*bytes == 0)
    return 0;
  Expected<DeviceBuffer> created = DeviceBuffer::create(device, *bytes);
  if (!created)
    return created.takeError();
  buffer = std::move(*created);
  if (Error error = device.fill(buffer.getAddress(), 0, *bytes))
    return std::move(error);
  return buffer.getAddress();
}

//===----------------------------------------------------------------------===//
// Choice
//===----------------------------------------------------------------------===//

char HungKernelError::ID;

std::error_code HungKernelError::convertToErrorCode() const {
  return std::make_error_code(std::errc::timed_out);
}

Expected<std::unique_ptr<Device>> openDevice(const DeviceOptions &options, std::string &note) {
  switch (options.backend) {
  case Backend::Emulator:
    return openEmulatorDevice(options);
  case Backend::CUDA:
    if (!options.chip.empty())
      return createStringError("--chip chooses the emulated chip, it can't be combined with "
                               "--device=cuda");
    return openCudaDevice(options);
  case Backend::Auto:
    break;
  }
  if (!options.chip.empty())
    return openEmulatorDevice(options);
  Expected<std::unique_ptr<Device>> gpu = openCudaDevice(options);
  if (gpu)
    return gpu;
  note = "no GPU (" + toString(gpu.takeError()) + "), running on the emulator";
  return openEmulatorDevice(options);
}

} // namespace tcc::runtime
