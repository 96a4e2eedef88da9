//===- ArgumentSet.h - A kernel's arguments on host and device --*- C++ -*-===//

#ifndef TCC_LIB_RUNTIME_ARGUMENTSET_H
#define TCC_LIB_RUNTIME_ARGUMENTSET_H

#include "tcc/Runtime/Device.h"

namespace tcc::runtime {

/// One copy of a program's arguments: their values before a launch, and memory on the device.
class ArgumentSet {
public:
  /// Allocates; every byte is poison.
  static llvm::Expected<ArgumentSet> create(Device &device, const Kernel &kernel,
                                            const Problem &problem);

  /// The sizes, strides, pointers and `sm_count`.
  const SymbolTable &getSymbols() const { return symbols; }
  HostTensor &getHost(size_t argument) { return host[argument]; }
  /// The values before the launch, by name.
  llvm::StringMap<const HostTensor *> getHostByName(const Kernel &kernel) const;

  /// Takes the values of another set of the same problem.
  void copyHostFrom(ArgumentSet &other);
  /// Copies every argument to the device.
  llvm::Error upload();
  /// An argument's bytes after a launch.
  llvm::Expected<HostTensor> download(size_t argument);
  /// See the function of this name in Device.h.
  llvm::Expected<uint64_t> prepareWorkspace(const Kernel &kernel) {
    return runtime::prepareWorkspace(kernel, symbols, *device, workspace);
  }

private:
  Device *device = nullptr;
  SymbolTable symbols;
  std::vector<HostTensor> host;
  std::vector<DeviceBuffer> buffers;
  DeviceBuffer workspace;
};

} // namespace tcc::runtime

#endif // TCC_LIB_RUNTIME_ARGUMENTSET_H
