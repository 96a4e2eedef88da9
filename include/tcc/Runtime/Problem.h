//===- Problem.h - A kernel's symbols bound to one launch -------*- C++ -*-===//

#ifndef TCC_RUNTIME_PROBLEM_H
#define TCC_RUNTIME_PROBLEM_H

#include "tcc/Metadata/Kernel.h"
#include "tcc/Runtime/Tensor.h"
#include "llvm/ADT/StringMap.h"

namespace tcc::runtime {

using metadata::Kernel;
using metadata::SymbolTable;

/// What the caller of a kernel chooses, by name.
struct ProblemOptions {
  llvm::StringMap<int64_t> sizes;             // M, N, K, …
  llvm::StringMap<int64_t> leadingDimensions; // by argument, in elements
  llvm::StringMap<int64_t> offsets;           // by argument, in elements
};

/// One program at one size: the layout of each argument and the value of each symbol but the
/// pointers.
struct Problem {
  llvm::SmallVector<TensorLayout, 4> layouts; // in the order of the kernel's arguments
  SymbolTable symbols;
  /// The lengths of the reference's dimensions.
  llvm::StringMap<int64_t> dims;
  /// No output has an element: there is nothing to launch.
  bool empty = false;
};

/// The variants of one program, in the order in which they are tried.
struct Program {
  llvm::StringRef name;
  llvm::SmallVector<const Kernel *, 4> variants;

  /// Arguments and reference, which all variants share.
  const Kernel &getFirst() const { return *variants.front(); }
};

/// Chooses the program by name; an empty name where there is only one. Fails where variants
/// disagree about their arguments.
llvm::Expected<Program> selectProgram(llvm::ArrayRef<Kernel> kernels, llvm::StringRef name);

/// Learns sizes from an argument's shape (of an .npy file, say), where `sizes` lacks them; equal
/// names must come out equal.
llvm::Error inferSizes(const Kernel &kernel, llvm::StringRef argument,
                       llvm::ArrayRef<int64_t> shape, llvm::StringMap<int64_t> &sizes);

/// Fails on unknown names, sizes of static dimensions, missing, negative or huge sizes, and leading
/// dimensions that the argument hasn't or that are too small.
llvm::Expected<Problem> bindProblem(const Kernel &kernel, const ProblemOptions &options);

/// Binds to matrices that are there: one layout per argument, whose element type is not looked at.
/// Fails where sizes or strides aren't those that the kernel takes.
llvm::Expected<Problem> bindLayouts(const Kernel &kernel, llvm::ArrayRef<TensorLayout> layouts);

} // namespace tcc::runtime

#endif // TCC_RUNTIME_PROBLEM_H
