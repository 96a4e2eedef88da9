//===- Generations.h - Tables that the generations' files fill ------------===//

#ifndef TCC_LIB_ARCH_GENERATIONS_H
#define TCC_LIB_ARCH_GENERATIONS_H

#include "tcc/Arch/Chip.h"

namespace tcc::arch {

/// Which chips have something: those from `from` on, or, for instructions that are not carried over
/// to later chips, only the architecture-specific target ("a" suffix) of that capability.
struct Availability {
  unsigned from;
  enum class Kind { Onwards, OnwardsArchSpecific, OnlyArchSpecific } kind = Kind::Onwards;

  bool includes(const ChipDescription &chip) const;
};

/// A chip's row.
struct ChipDescription {
  llvm::StringRef name;
  unsigned capability;
  /// The target has architecture-specific instructions: its name ends in "a".
  bool archSpecific;
  unsigned ptxVersion;
  Limits limits;
  Throughput throughput = {};
};

/// An atom's row.
struct AtomRow {
  Availability available;
  MmaAtom atom;
};

/// Rows of matrix instructions, by operand kind.
AtomRow wmmaRow(unsigned from, unsigned m, unsigned n, unsigned k, ElementType type,
                ElementType accumulator, unsigned ptxVersion);
AtomRow mmaSyncRow(unsigned from, unsigned m, unsigned n, unsigned k, ElementType type,
                   ElementType accumulator, unsigned ptxVersion);
AtomRow wgmmaRow(unsigned k, ElementType type, ElementType accumulator);

// A generation's file adds its chips, and the matrix instructions that came with them.
llvm::ArrayRef<ChipDescription> sm70Chips();
llvm::ArrayRef<AtomRow> sm70Atoms();
llvm::ArrayRef<ChipDescription> sm80Chips();
llvm::ArrayRef<AtomRow> sm80Atoms();
llvm::ArrayRef<ChipDescription> sm90Chips();
llvm::ArrayRef<AtomRow> sm90Atoms();
llvm::ArrayRef<ChipDescription> sm100Chips();

/// Which chips have a feature.
Availability availability(Feature feature);

} // namespace tcc::arch

#endif // TCC_LIB_ARCH_GENERATIONS_H
