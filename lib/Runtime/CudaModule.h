//===- CudaModule.h - PTX loaded by the CUDA driver -------------*- C++ -*-===//

#ifndef TCC_LIB_RUNTIME_CUDAMODULE_H
#define TCC_LIB_RUNTIME_CUDAMODULE_H

#include "ClockProbe.h"
#include "tcc/Runtime/Device.h"
#include <functional>

namespace tcc::runtime {

class CudaModule : public DeviceModule {
public:
  /// `hung` is the device's: set once a kernel doesn't end, after which no call may be made.
  CudaModule(const cuda::Driver &driver, cuda::ModuleHandle handle, cuda::DeviceHandle device,
             double timeoutSeconds, bool &hung)
      : driver(driver), handle(handle), device(device), timeoutSeconds(timeoutSeconds), hung(hung) {
  }
  ~CudaModule() override;

  llvm::Error launch(const LaunchPlan &plan) override;
  llvm::Expected<LaunchTimes> time(llvm::ArrayRef<LaunchPlan> rotation,
                                   TimingCounts counts) override;
  llvm::Expected<VersusTimes> timeVersusCublasLt(llvm::ArrayRef<LaunchPlan> rotation,
                                                 llvm::ArrayRef<MatmulCall> calls,
                                                 TimingCounts counts) override;

private:
  /// Puts the work on input set `set` into the stream.
  using Contender = std::function<llvm::Error(size_t set)>;

  /// Makes the kernel ready to run on every plan of the rotation.
  llvm::Expected<Contender> prepare(llvm::ArrayRef<LaunchPlan> rotation);
  struct RaceResult {
    std::vector<std::vector<double>> milliseconds; // a launch, in each repeat of each contender
    double smClockMHz = 0;
  };
  /// The contenders take turns, so that what changes over time (clocks, temperature) is shared.
  llvm::Expected<RaceResult> race(llvm::ArrayRef<Contender> contenders, size_t sets,
                                  TimingCounts counts, llvm::StringRef what);
  llvm::Expected<cuda::Function> findFunction(const LaunchPlan &plan);
  llvm::Error waitFor(cuda::Event event, llvm::StringRef what);
  llvm::Error reserveEvents(size_t count);
  llvm::Expected<cuda::ClockProbe *> getClockProbe();

  const cuda::Driver &driver;
  cuda::ModuleHandle handle;
  cuda::DeviceHandle device;
  double timeoutSeconds;
  bool &hung;
  std::vector<cuda::Event> events;
  std::unique_ptr<cuda::ClockProbe> clockProbe;
};

} // namespace tcc::runtime

#endif // TCC_LIB_RUNTIME_CUDAMODULE_H
