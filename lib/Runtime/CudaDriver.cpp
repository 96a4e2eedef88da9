//===- CudaDriver.cpp - Loading libcuda, and its errors -------------------===//

#include "CudaDriver.h"
#include "llvm/ADT/Twine.h"
#include <dlfcn.h>

using namespace llvm;

namespace tcc::runtime::cuda {

static Error loadFunctions(void *library, Driver &driver) {
#define X(member, symbol, parameters)                                                              \
  driver.member = reinterpret_cast<Result(*) parameters>(dlsym(library, symbol));
  TCC_CUDA_DRIVER_FUNCTIONS(X)
  TCC_CUDA_DRIVER_OPTIONAL_FUNCTIONS(X)
#undef X
#define X(member, symbol, parameters)                                                              \
  if (!driver.member)                                                                              \
    return createStringError("libcuda.so.1 lacks " symbol                                          \
                             ": the driver is older than CUDA 12, update it");
  TCC_CUDA_DRIVER_FUNCTIONS(X)
#undef X
  return Error::success();
}

static Error loadDriver(Driver &driver) {
  void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
  if (!library)
    return createStringError("libcuda.so.1 can't be loaded: NVIDIA's driver isn't installed");
  if (Error error = loadFunctions(library, driver))
    return error;
  return driver.check(driver.init(0), "cuInit");
}

Expected<const Driver *> Driver::get() {
  // Initialised once; the library stays loaded for the life of the process.
  static Driver driver;
  static const std::string problem = [] {
    Error error = loadDriver(driver);
    return error ? toString(std::move(error)) : std::string();
  }();
  if (!problem.empty())
    return createStringError(problem);
  return &driver;
}

/// What to look at, for the errors that a wrong kernel or a wrong machine gives.
static StringRef explain(Result result) {
  switch (result) {
  case 1: // CUDA_ERROR_INVALID_VALUE
    return "a launch shape, shared-memory size or parameter is out of the chip's range";
  case 2: // CUDA_ERROR_OUT_OF_MEMORY
    return "choose smaller sizes";
  case 100: // CUDA_ERROR_NO_DEVICE
    return "the driver is there, but it sees no GPU (CUDA_VISIBLE_DEVICES?)";
  case 209: // CUDA_ERROR_NO_BINARY_FOR_GPU
    return "the PTX's .target doesn't fit this GPU: sm_XYa targets run on that chip alone, others "
           "on the same and newer chips";
  case 218: // CUDA_ERROR_INVALID_PTX
    return "the driver's compiler refuses the PTX";
  case 222: // CUDA_ERROR_UNSUPPORTED_PTX_VERSION
    return "the PTX's .version is newer than this driver; update the driver";
  case 500: // CUDA_ERROR_NOT_FOUND
    return "the PTX has no such entry";
  case 700: // CUDA_ERROR_ILLEGAL_ADDRESS
    return "the kernel accessed memory that isn't allocated; --device=emulator names the "
           "instruction";
  case 701: // CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES
    return "the block needs more registers or threads than a multiprocessor has";
  case 715: // CUDA_ERROR_ILLEGAL_INSTRUCTION
    return "an instruction's operands are invalid on this chip (a tensor copy's coordinates, say); "
           "--device=emulator names the instruction";
  case 716: // CUDA_ERROR_MISALIGNED_ADDRESS
    return "a vector access isn't aligned; --device=emulator names the instruction";
  case 719: // CUDA_ERROR_LAUNCH_FAILED
    return "the kernel trapped or faulted; --device=emulator names the instruction";
  case 912: // CUDA_ERROR_INVALID_CLUSTER_SIZE
    return "the chip can't schedule a cluster of this size";
  default:
    return "";
  }
}

Error Driver::check(Result result, const Twine &what) const {
  if (result == success)
    return Error::success();
  const char *name = "unknown error", *description = "unknown";
  getErrorName(result, &name);
  getErrorString(result, &description);
  std::string message = (what + " failed: " + description + " (" + name + ")").str();
  if (StringRef hint = explain(result); !hint.empty())
    message += (": " + hint).str();
  return createStringError(message);
}

} // namespace tcc::runtime::cuda
