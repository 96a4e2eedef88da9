//===- PtxFuzzer.cpp - Hostile PTX must end in an error ---------------------===//
//
// Parses arbitrary text, and launches what parses for a few steps: neither may crash or hang.
//
//===----------------------------------------------------------------------===//

#include "tcc/Emulator/Emulator.h"

#include "llvm/Support/Endian.h"

using namespace tcc::emulator;

constexpr unsigned BufferBytes = 4096;

/// Runs a kernel for a few steps. Every parameter word is the address of one small buffer, so that
/// what a mutated kernel loads and stores is often mapped.
static void launch(const Module &module, const KernelInfo &kernel, bool wantsWarpgroup) {
  Device device;
  uint64_t buffer = llvm::cantFail(device.allocate(BufferBytes));
  llvm::cantFail(device.fill(buffer, 0, BufferBytes));
  LaunchConfig config;
  config.kernel = kernel.name;
  config.block = kernel.requiredBlock.value_or(Dim3{wantsWarpgroup ? 128u : 32u, 1, 1});
  config.dynamicSharedBytes = BufferBytes;
  config.parameters.resize(llvm::alignTo(kernel.parameterBytes, 8));
  for (size_t at = 0; at < config.parameters.size(); at += 8)
    llvm::support::endian::write64le(config.parameters.data() + at, buffer);
  LaunchOptions options;
  options.chip = "sm_90a";
  options.maxSteps = 2000;
  llvm::consumeError(device.launch(module, config, options).takeError());
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  llvm::StringRef text(reinterpret_cast<const char *>(data), size);
  llvm::Expected<Module> module = Module::parse(text);
  if (!module) {
    llvm::consumeError(module.takeError());
    return 0;
  }
  for (const KernelInfo &kernel : module->kernels())
    if (kernel.parameterBytes <= BufferBytes)
      launch(*module, kernel, text.contains("wgmma"));
  return 0;
}
