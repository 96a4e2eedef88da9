//===- ClockProbe.h - The clock that multiprocessors ran at -----*- C++ -*-===//

#ifndef TCC_LIB_RUNTIME_CLOCKPROBE_H
#define TCC_LIB_RUNTIME_CLOCKPROBE_H

#include "CudaDriver.h"
#include <memory>

namespace tcc::runtime::cuda {

/// Measures the average clock of the multiprocessors between two points of the default stream, by
/// a small kernel that reads their cycle counters and the time. A power-capped GPU changes its
/// clock while it runs; what the driver reports is an average over much longer.
class ClockProbe {
public:
  static llvm::Expected<std::unique_ptr<ClockProbe>> create(const Driver &driver, unsigned smCount);
  ~ClockProbe();

  enum class Point : uint8_t { Begin, End };
  /// Puts a reading into the stream.
  llvm::Error record(Point point);
  /// Keeps the stream busy for so long: what is put into it meanwhile follows without a pause.
  llvm::Error delay(uint64_t nanoseconds);
  /// The clock in MHz between the two points, after both have passed; 0 if they are too close.
  llvm::Expected<double> readMHz();

private:
  ClockProbe(const Driver &driver, unsigned smCount) : driver(driver), smCount(smCount) {}
  llvm::Error open();
  llvm::Error launch(Function kernel, unsigned blocks, uint64_t parameter);

  const Driver &driver;
  unsigned smCount;
  ModuleHandle module = nullptr;
  Function readFunction = nullptr, delayFunction = nullptr;
  DevicePointer readings = 0;
};

} // namespace tcc::runtime::cuda

#endif // TCC_LIB_RUNTIME_CLOCKPROBE_H
