//===- MmaAtom.h - Matrix instructions as rows of data --------------------===//

#ifndef TCC_ARCH_MMAATOM_H
#define TCC_ARCH_MMAATOM_H

#include "llvm/ADT/StringRef.h"
#include <string>

namespace tcc::arch {

/// Element types of matrix instructions.
enum class ElementType { F16, BF16, TF32, E4M3, E5M2, S8, U8, F64, F32, S32 };

/// "f16", "bf16", ...: the PTX spelling.
llvm::StringRef name(ElementType type);
unsigned bitWidth(ElementType type);

/// Instruction families that multiply matrices.
enum class MmaFamily { Wmma, MmaSync, Wgmma };

/// "wmma", "mma_sync", "wgmma": as schedules spell them.
llvm::StringRef name(MmaFamily family);

/// Where an instruction finds an operand.
enum class Place { Register, Shared };

/// What is known of the element that a register holds.
enum class FragmentKind {
  /// Nothing (PTX ISA, "Matrix Fragments for WMMA": the mapping is unspecified).
  Opaque,
  /// The m16n8 fragments of mma.sync, which wgmma's accumulators repeat.
  Mma,
};

/// Layouts in shared memory that an operand can be read from, as a set.
enum SharedLayouts : unsigned { Dense = 1, Padded = 2, Swizzled = 4 };

/// One shape and type of a matrix instruction: D = A * B + C.
struct MmaAtom {
  MmaFamily family;
  /// Elements: A is m x k, B is k x n, C and D are m x n. For wgmma, n is the largest of its
  /// multiples of `nStep`.
  unsigned m, n, k;
  unsigned nStep;
  ElementType a, b, accumulator;
  Place aPlace, bPlace;
  FragmentKind fragment;
  unsigned sharedLayouts;
  /// An operand whose contiguous dimension isn't K can be read, too.
  bool readsTransposed;
  /// The lowest PTX ISA version that has it, as major * 10 + minor.
  unsigned ptxVersion;

  /// "mma_sync m16n8k16 f16 x f16 -> f32".
  std::string str() const;
};

} // namespace tcc::arch

#endif // TCC_ARCH_MMAATOM_H
