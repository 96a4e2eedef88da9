//===- PtxFuzzer.cpp - Hostile PTX must end in an error ---------------------===//
//
// Parses arbitrary text, and launches what parses for a few steps: neither may crash or hang.
//
//===----------------------------------------------------------------------===//

#include "tcc/Emulator/Emulator.h"

using namespace tcc::emulator;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  llvm::StringRef text(reinterpret_cast<const char *>(data), size);
  llvm::Expected<Module> module = Module::parse(text);
  if (!module) {
    llvm::consumeError(module.takeError());
    return 0;
  }
  for (const KernelInfo &kernel : module->kernels()) {
    // Module variables are bounded by the device's memory, which is more than a fuzzer's.
    if (kernel.parameterBytes > 4096)
      continue;
    Device device;
    LaunchConfig config;
    config.kernel = kernel.name;
    config.block = kernel.requiredBlock.value_or(Dim3{32, 1, 1});
    config.parameters.resize(kernel.parameterBytes);
    LaunchOptions options;
    options.chip = "sm_90a";
    options.maxSteps = 2000;
    llvm::consumeError(device.launch(*module, config, options).takeError());
  }
  return 0;
}
