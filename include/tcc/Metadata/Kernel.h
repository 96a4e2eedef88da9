//===- Kernel.h - What a launcher must know of one PTX entry ----*- C++ -*-===//
//
// One Kernel describes one variant: a PTX entry, how to launch it, and when it may be launched.
// Variants of the same program share their `name` and are tried in order. docs/Metadata.md
// specifies every field for people who write their own launcher.
//
// Symbols that expressions may use:
//   M, N, K, …              sizes: the symbols that stand in the arguments' shapes
//   A.ptr                   address of argument A's element (0, …, 0)
//   A.size0, A.stride0, …   A's sizes, and its strides in elements
//   sm_count                multiprocessors of the device
//
// Parameters of the PTX entry, in order:
//   per argument: pointer to element (0, …, 0), offset applied; then as i64 every size that isn't
//   an
//     integer in `shape`; then as i64 every stride that isn't an integer in `strides`
//   the workspace's pointer, where there is a workspace
//   the tensor maps, each a 128-byte __grid_constant__ aligned to 64 bytes
//
//===----------------------------------------------------------------------===//

#ifndef TCC_METADATA_KERNEL_H
#define TCC_METADATA_KERNEL_H

#include "tcc/Metadata/ElementType.h"
#include "tcc/Metadata/Expr.h"
#include "tcc/Metadata/Reference.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/JSON.h"
#include <array>
#include <optional>
#include <string>

namespace tcc::metadata {

/// The version that this build writes, and the newest that it reads (docs/Metadata.md).
inline constexpr int64_t schemaVersion = 1;

enum class Direction : uint8_t { In, Out, InOut };

/// A memref argument. `shape` holds integers and size symbols; equal symbols must be equal at
/// launch. A stride that is the symbol `<name>.stride<d>` is the caller's to choose (dense unless
/// asked otherwise); any other expression fixes it.
struct Argument {
  std::string name;
  ElementType type = ElementType::F32;
  llvm::SmallVector<Expr, 4> shape;
  llvm::SmallVector<Expr, 4> strides; // in elements, one per dimension
  Direction direction = Direction::In;
};

/// A tensor map that the launcher encodes (cuTensorMapEncodeTiled, PTX ISA "Tensor-map").
/// Dimension 0 is the innermost, as CUDA counts.
struct TensorMap {
  std::string argument;
  ElementType type = ElementType::F16;
  /// Tensor-map dimension i is the argument's dimension dims[i]; 1 to 5 of them, and dims[0] has
  /// stride 1.
  llvm::SmallVector<unsigned, 5> dims;
  llvm::SmallVector<int64_t, 5> box;            // elements per dimension, 1 to 256
  llvm::SmallVector<int64_t, 5> elementStrides; // 1 to 8
  unsigned swizzle = 0;                         // bytes: 0, 32, 64 or 128
  unsigned l2Promotion = 0;                     // bytes: 0, 64, 128 or 256
  bool oobFillNaN = false;                      // else zero
};

/// The arithmetic of the kernel's matmul (docs/Numerics.md).
struct NumericContract {
  ElementType lhs = ElementType::F16;
  ElementType rhs = ElementType::F16;
  ElementType accumulator = ElementType::F32;
  ElementType output = ElementType::F32;
  std::string rounding = "nearest-even"; // from the accumulator to the output
};

struct Kernel {
  std::string compiler; // name and version of what wrote the kernel
  std::string name;     // of the program, shared by its variants
  std::string entry;    // the PTX symbol
  std::string variant;  // a label that tells this variant from the others
  std::string target;   // chip: "sm_90a"
  llvm::SmallVector<Argument, 4> arguments;
  std::array<Expr, 3> grid = {1, 1, 1}; // in blocks
  std::array<int64_t, 3> block = {1, 1, 1};
  std::array<int64_t, 3> cluster = {1, 1, 1}; // in blocks
  int64_t dynamicSharedBytes = 0;
  Expr workspaceBytes = 0; // device memory, zeroed before each launch
  /// The kernel itself waits for the grid ahead of it in the stream (griddepcontrol): it may be
  /// launched before that one has ended.
  bool dependentLaunch = false;
  llvm::SmallVector<TensorMap, 3> tensorMaps;
  llvm::SmallVector<Expr, 4> preconditions; // all must be non-zero
  llvm::json::Object schedule;              // for people to read, and for benchmarks
  std::optional<NumericContract> numerics;
  std::optional<Reference> reference;

  const Argument *findArgument(llvm::StringRef name) const;
  /// The symbols in the arguments' shapes, in order of first appearance.
  llvm::SmallVector<std::string> getSizeSymbols() const;

  /// Consistency within the kernel: names, ranks, symbols, tensor maps, the reference. Errors begin
  /// with the kernel's entry and the field.
  llvm::Error verify() const;
};

/// The one symbol by which an argument's stride is left to the caller: `A.stride0`.
std::string getStrideSymbol(llvm::StringRef argument, unsigned dim);

} // namespace tcc::metadata

#endif // TCC_METADATA_KERNEL_H
