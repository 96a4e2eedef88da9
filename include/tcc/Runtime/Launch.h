//===- Launch.h - From a bound problem to launch parameters -----*- C++ -*-===//

#ifndef TCC_RUNTIME_LAUNCH_H
#define TCC_RUNTIME_LAUNCH_H

#include "tcc/Runtime/Problem.h"
#include <array>

namespace tcc::runtime {

/// A tensor map with all numbers known. Each device encodes it in its own way. Dimension 0 is the
/// innermost.
struct TensorMapDescriptor {
  ElementType type = ElementType::F16;
  uint64_t base = 0; // device address
  llvm::SmallVector<uint64_t, 5> dims;
  llvm::SmallVector<uint64_t, 4> strideBytes; // of dimensions 1 and up
  llvm::SmallVector<uint32_t, 5> box;
  llvm::SmallVector<uint32_t, 5> elementStrides;
  unsigned swizzle = 0;     // bytes
  unsigned l2Promotion = 0; // bytes
  bool oobFillNaN = false;
};

/// A 64-bit value (pointer, size or stride), or a tensor map.
struct LaunchParameter {
  uint64_t value = 0;
  std::optional<TensorMapDescriptor> tensorMap;
};

struct LaunchPlan {
  std::string entry;
  std::array<uint32_t, 3> grid, block, cluster;
  uint32_t dynamicSharedBytes = 0;
  bool dependentLaunch = false; // as in Kernel.h
  llvm::SmallVector<LaunchParameter, 16> parameters; // in the order of Kernel.h

  bool isEmpty() const { return grid[0] == 0 || grid[1] == 0 || grid[2] == 0; }
};

/// A variant that can't be launched here, and why.
struct Rejection {
  std::string variant;
  std::string reason;
};

struct Selection {
  const Kernel *kernel = nullptr;
  std::vector<Rejection> rejected; // the variants that were tried before
};

/// The first variant whose preconditions hold and whose tensor maps can be encoded; with a
/// `label`, that one. `symbols` holds the pointers too. Fails where there is none, with the
/// reasons.
llvm::Expected<Selection> selectVariant(const Program &program, const Problem &problem,
                                        const SymbolTable &symbols, llvm::StringRef label);

/// Evaluates a selected kernel's launch. `workspace` is the address of its workspace, if any.
llvm::Expected<LaunchPlan> planLaunch(const Kernel &kernel, const Problem &problem,
                                      const SymbolTable &symbols, uint64_t workspace);

} // namespace tcc::runtime

#endif // TCC_RUNTIME_LAUNCH_H
