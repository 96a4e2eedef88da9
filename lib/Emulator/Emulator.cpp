//===- Emulator.cpp - The public interface ----------------------*- C++ -*-===//

#include "tcc/Emulator/Emulator.h"

using namespace tcc::emulator;

namespace tcc::emulator {
struct ParsedModule {
  std::string target;
  std::vector<KernelInfo> kernels;
};
class DeviceState {};
} // namespace tcc::emulator

static llvm::Error notYet() {
  return llvm::createStringError("the emulator cannot execute kernels yet");
}

llvm::Expected<Module> Module::parse(llvm::StringRef, llvm::StringRef) { return notYet(); }
llvm::StringRef Module::target() const { return parsed->target; }
const std::vector<KernelInfo> &Module::kernels() const { return parsed->kernels; }
const KernelInfo *Module::findKernel(llvm::StringRef name) const {
  for (const KernelInfo &kernel : parsed->kernels)
    if (kernel.name == name)
      return &kernel;
  return nullptr;
}

Device::Device() : state(std::make_unique<DeviceState>()) {}
Device::~Device() = default;
Device::Device(Device &&) = default;
Device &Device::operator=(Device &&) = default;
llvm::Expected<uint64_t> Device::allocate(uint64_t) { return notYet(); }
llvm::Error Device::free(uint64_t) { return notYet(); }
llvm::Error Device::copyIn(uint64_t, llvm::ArrayRef<uint8_t>) { return notYet(); }
llvm::Error Device::copyOut(uint64_t, llvm::MutableArrayRef<uint8_t>) const { return notYet(); }
llvm::Error Device::fill(uint64_t, uint8_t, uint64_t) { return notYet(); }
llvm::Expected<uint64_t> Device::uninitializedBytes(uint64_t, uint64_t) const { return notYet(); }
llvm::Expected<uint64_t> Device::symbolAddress(const Module &, llvm::StringRef) { return notYet(); }
llvm::Expected<LaunchResult> Device::launch(const Module &, const LaunchConfig &,
                                            const LaunchOptions &) {
  return notYet();
}
