//===- Device.h - Where kernels run -----------------------------*- C++ -*-===//
//
// One interface, two backends: the CUDA driver, loaded at run time, and tcc's PTX emulator.
//
//===----------------------------------------------------------------------===//

#ifndef TCC_RUNTIME_DEVICE_H
#define TCC_RUNTIME_DEVICE_H

#include "tcc/Runtime/Launch.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/JSON.h"
#include <memory>
#include <vector>

namespace tcc::runtime {

struct DeviceInfo {
  std::string backend; // "cuda" or "emulator"
  std::string name;    // "NVIDIA H200"
  std::string chip;    // "sm_90"
  std::string driver;  // "CUDA 13.0"
  unsigned smCount = 1;
  uint64_t l2Bytes = 0;
};

/// What a backend can tell of a module's last launch; empty where it can't.
struct LaunchReport {
  std::string text;
  llvm::json::Value json = nullptr;
  std::string trace;
  /// What was wrong in a kernel that nevertheless ran to its end: an uninitialised read, a race.
  std::vector<std::string> findings;
};

/// A function of each element of a product, plus a bias where there is one.
enum class Epilogue : uint8_t { None, Relu, Gelu };

/// C = f(A·B + bias) or f(A·B + C + bias) as a library is asked for it: A is rows×depth, B
/// depth×columns. Leading dimensions count elements. C is row-major.
struct MatmulCall {
  ElementType input = ElementType::F16;
  ElementType output = ElementType::F32;
  int64_t rows = 0, columns = 0, depth = 0;
  uint64_t a = 0, b = 0, c = 0; // device addresses
  int64_t lda = 0, ldb = 0, ldc = 0;
  bool aIsRowMajor = true, bIsRowMajor = true;
  bool accumulate = false;
  Epilogue epilogue = Epilogue::None;
  uint64_t bias = 0; // one element per column; 0: none
  ElementType biasType = ElementType::F32;
};

struct LaunchTimes {
  std::vector<double> milliseconds; // of each launch
  double smClockMHz = 0;            // of the multiprocessors meanwhile; 0 where it isn't known
};

/// Milliseconds of each launch of a kernel and of its peer, which took turns.
struct VersusTimes {
  std::vector<double> own, peer;
  double smClockMHz = 0;
  unsigned algorithm = 0, candidates = 0; // which of the peer's algorithms was fastest
};

/// How often to launch. A measurement is a batch of launches back to back, which may overlap where
/// the kernel allows it (Kernel::dependentLaunch); its time is that of one launch on average.
struct TimingCounts {
  unsigned warmup = 5, repeats = 20; // batches: not counted, and measured
  unsigned batch = 1;                // launches
};

/// PTX loaded on a device.
class DeviceModule {
public:
  virtual ~DeviceModule();

  /// Runs the kernel to its end. An empty grid is no error: nothing is launched. Look at the
  /// report's findings too.
  virtual llvm::Error launch(const LaunchPlan &plan) = 0;

  /// Times launches, which take the plans of `rotation` in turn. The base class measures wall time.
  virtual llvm::Expected<LaunchTimes> time(llvm::ArrayRef<LaunchPlan> rotation,
                                           TimingCounts counts);

  /// Races the kernel with cublasLt (the fastest of up to 8 that its heuristic names, with 64 MiB
  /// of workspace) on the same input sets; one call per plan. Fails where there is no GPU.
  virtual llvm::Expected<VersusTimes> timeVersusCublasLt(llvm::ArrayRef<LaunchPlan> rotation,
                                                         llvm::ArrayRef<MatmulCall> calls,
                                                         TimingCounts counts);

  virtual LaunchReport getReport() const { return {}; }
};

/// A device and its memory. Addresses are 256-byte aligned at the start of an allocation.
class Device {
public:
  virtual ~Device();

  virtual const DeviceInfo &getInfo() const = 0;
  /// Whether an access outside an allocation is an error of its own; where not, guard bytes must
  /// show it.
  virtual bool detectsOutOfBounds() const = 0;
  virtual llvm::Expected<uint64_t> allocate(uint64_t bytes) = 0;
  virtual void free(uint64_t address) = 0;
  virtual llvm::Error copyIn(uint64_t address, llvm::ArrayRef<uint8_t> bytes) = 0;
  virtual llvm::Error copyOut(uint64_t address, llvm::MutableArrayRef<uint8_t> bytes) = 0;
  virtual llvm::Error fill(uint64_t address, uint8_t value, uint64_t bytes) = 0;
  /// `name` is the file's, for messages. The module must not outlive the device.
  virtual llvm::Expected<std::unique_ptr<DeviceModule>> load(llvm::StringRef ptx,
                                                             llvm::StringRef name) = 0;
};

/// An allocation that frees itself.
class DeviceBuffer {
public:
  DeviceBuffer() = default;
  static llvm::Expected<DeviceBuffer> create(Device &device, uint64_t bytes);
  DeviceBuffer(DeviceBuffer &&other);
  DeviceBuffer &operator=(DeviceBuffer &&other);
  ~DeviceBuffer();

  uint64_t getAddress() const { return address; }

private:
  Device *device = nullptr;
  uint64_t address = 0;
};

/// Makes `buffer` the kernel's workspace, zeroed, and returns its address; 0 where the kernel needs
/// none.
llvm::Expected<uint64_t> prepareWorkspace(const Kernel &kernel, const SymbolTable &symbols,
                                          Device &device, DeviceBuffer &buffer);

enum class Backend : uint8_t { Auto, CUDA, Emulator };

struct DeviceOptions {
  Backend backend = Backend::Auto;
  double timeoutSeconds = 60; // CUDA: how long a kernel may run before it counts as hung
  // The emulator's:
  std::string chip;      // empty: the PTX's .target
  unsigned smCount = 16; // small, so that persistent kernels loop at small sizes too
  uint64_t seed = 0;     // of the warp schedule; 0: the fixed order
  uint64_t maxSteps = uint64_t(1) << 32;
  bool collectReport = false;
  bool trace = false; // of warp 0 in block 0
};

/// Opens a GPU (`CUDA`), the emulator, or (`Auto`) a GPU where there is one and no chip is asked
/// for, else the emulator. `note` tells why Auto took the emulator.
llvm::Expected<std::unique_ptr<Device>> openDevice(const DeviceOptions &options, std::string &note);

/// The two backends; openDevice chooses.
llvm::Expected<std::unique_ptr<Device>> openCudaDevice(const DeviceOptions &options);
llvm::Expected<std::unique_ptr<Device>> openEmulatorDevice(const DeviceOptions &options);

/// A kernel didn't end within DeviceOptions::timeoutSeconds. The process can't use the GPU any
/// more, and should leave without cleaning up.
class HungKernelError : public llvm::ErrorInfo<HungKernelError> {
public:
  static char ID;
  explicit HungKernelError(std::string message) : message(std::move(message)) {}
  void log(llvm::raw_ostream &os) const override { os << message; }
  std::error_code convertToErrorCode() const override;

private:
  std::string message;
};

} // namespace tcc::runtime

#endif // TCC_RUNTIME_DEVICE_H
