//===- CudaDriver.h - The part of the CUDA driver API in use ----*- C++ -*-===//
//
// Declared here, so that the runtime builds without the CUDA toolkit and runs without libcuda.
// Names and values follow cuda.h, whose ABI NVIDIA keeps.
//
//===----------------------------------------------------------------------===//

#ifndef TCC_LIB_RUNTIME_CUDADRIVER_H
#define TCC_LIB_RUNTIME_CUDADRIVER_H

#include "llvm/Support/Error.h"
#include <cstddef>
#include <cstdint>

namespace tcc::runtime::cuda {

using Result = int;
using DeviceHandle = int;
using DevicePointer = unsigned long long;
using Context = struct ContextTag *;
using ModuleHandle = struct ModuleTag *;
using Function = struct FunctionTag *;
using Stream = struct StreamTag *;
using Event = struct EventTag *;

// CUresult
constexpr Result success = 0;
constexpr Result errorNotReady = 600;

// CUdevice_attribute
constexpr int attributeSmCount = 16;
constexpr int attributeL2Bytes = 38;
constexpr int attributeMajor = 75;
constexpr int attributeMinor = 76;
constexpr int attributeSharedPerBlockOptin = 97;

// CUfunction_attribute
constexpr int functionMaxThreads = 0;
constexpr int functionSharedBytes = 1;
constexpr int functionLocalBytes = 3;
constexpr int functionRegisters = 4;
constexpr int functionMaxDynamicShared = 8;
constexpr int functionNonPortableCluster = 14;

// CUjit_option
constexpr int jitInfoLog = 3;
constexpr int jitInfoLogBytes = 4;
constexpr int jitErrorLog = 5;
constexpr int jitErrorLogBytes = 6;

// CUlaunchAttribute and CUlaunchConfig
constexpr int launchClusterDimension = 4;
constexpr int launchProgrammaticSerialization = 6;
struct LaunchAttribute {
  int id;
  char padding[4];
  union {
    char bytes[64];
    unsigned clusterDim[3];
    int programmaticSerializationAllowed;
  } value;
};
static_assert(sizeof(LaunchAttribute) == 72);

struct LaunchConfig {
  unsigned grid[3];
  unsigned block[3];
  unsigned sharedBytes;
  Stream stream;
  LaunchAttribute *attributes;
  unsigned numAttributes;
};

/// CUtensorMap
struct alignas(64) TensorMap {
  uint64_t opaque[16];
};

/// Every entry point in use, as X(member, symbol, parameters).
#define TCC_CUDA_DRIVER_FUNCTIONS(X)                                                               \
  X(init, "cuInit", (unsigned))                                                                    \
  X(driverGetVersion, "cuDriverGetVersion", (int *))                                               \
  X(getErrorName, "cuGetErrorName", (Result, const char **))                                       \
  X(getErrorString, "cuGetErrorString", (Result, const char **))                                   \
  X(deviceGetCount, "cuDeviceGetCount", (int *))                                                   \
  X(deviceGet, "cuDeviceGet", (DeviceHandle *, int))                                               \
  X(deviceGetName, "cuDeviceGetName", (char *, int, DeviceHandle))                                 \
  X(deviceGetAttribute, "cuDeviceGetAttribute", (int *, int, DeviceHandle))                        \
  X(primaryCtxRetain, "cuDevicePrimaryCtxRetain", (Context *, DeviceHandle))                       \
  X(primaryCtxRelease, "cuDevicePrimaryCtxRelease_v2", (DeviceHandle))                             \
  X(ctxSetCurrent, "cuCtxSetCurrent", (Context))                                                   \
  X(memAlloc, "cuMemAlloc_v2", (DevicePointer *, size_t))                                          \
  X(memFree, "cuMemFree_v2", (DevicePointer))                                                      \
  X(memcpyHtoD, "cuMemcpyHtoD_v2", (DevicePointer, const void *, size_t))                          \
  X(memcpyDtoH, "cuMemcpyDtoH_v2", (void *, DevicePointer, size_t))                                \
  X(memsetD8, "cuMemsetD8_v2", (DevicePointer, unsigned char, size_t))                             \
  X(moduleLoadDataEx, "cuModuleLoadDataEx",                                                        \
    (ModuleHandle *, const void *, unsigned, int *, void **))                                      \
  X(moduleUnload, "cuModuleUnload", (ModuleHandle))                                                \
  X(moduleGetFunction, "cuModuleGetFunction", (Function *, ModuleHandle, const char *))            \
  X(funcGetAttribute, "cuFuncGetAttribute", (int *, int, Function))                                \
  X(funcSetAttribute, "cuFuncSetAttribute", (Function, int, int))                                  \
  X(launchKernelEx, "cuLaunchKernelEx", (const LaunchConfig *, Function, void **, void **))        \
  X(eventCreate, "cuEventCreate", (Event *, unsigned))                                             \
  X(eventRecord, "cuEventRecord", (Event, Stream))                                                 \
  X(eventQuery, "cuEventQuery", (Event))                                                           \
  X(eventElapsedTime, "cuEventElapsedTime", (float *, Event, Event))                               \
  X(eventDestroy, "cuEventDestroy_v2", (Event))

/// Newer entry points, null in older drivers.
#define TCC_CUDA_DRIVER_OPTIONAL_FUNCTIONS(X)                                                      \
  X(tensorMapEncodeTiled, "cuTensorMapEncodeTiled",                                                \
    (TensorMap *, int, uint32_t, void *, const uint64_t *, const uint64_t *, const uint32_t *,     \
     const uint32_t *, int, int, int, int))

/// The driver's functions.
struct Driver {
#define X(member, symbol, parameters) Result(*member) parameters = nullptr;
  TCC_CUDA_DRIVER_FUNCTIONS(X)
  TCC_CUDA_DRIVER_OPTIONAL_FUNCTIONS(X)
#undef X

  /// Loads libcuda.so.1 once and initialises it. Fails, with the reason, where there is none.
  static llvm::Expected<const Driver *> get();

  /// "cuMemAlloc failed: out of memory (CUDA_ERROR_OUT_OF_MEMORY)", followed by what usually causes
  /// it, where that is known.
  llvm::Error check(Result result, const llvm::Twine &what) const;
};

} // namespace tcc::runtime::cuda

#endif // TCC_LIB_RUNTIME_CUDADRIVER_H
