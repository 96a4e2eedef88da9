//===- InstructionTable.h - Which family executes an opcode -----*- C++ -*-===//
//
// An instruction family registers the dotted prefix of its opcodes ("mma.sync", "ld") with a decode
// function. The longest registered prefix of an opcode wins. Decoding runs once per instruction and
// launch; an opcode without a family, or one that its family refuses, becomes an instruction that
// reports its error when it is executed.
//
//===----------------------------------------------------------------------===//

#ifndef TCC_LIB_EMULATOR_INSTRUCTIONTABLE_H
#define TCC_LIB_EMULATOR_INSTRUCTIONTABLE_H

#include "Program.h"
#include "Warp.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"

namespace tcc::emulator {

/// The dot-separated parts of an opcode after the registered prefix, without dots.
class Modifiers {
public:
  Modifiers(llvm::StringRef opcode, llvm::ArrayRef<llvm::StringRef> parts)
      : opcode(opcode), parts(parts) {}

  bool has(llvm::StringRef modifier) const { return llvm::is_contained(parts, modifier); }
  llvm::ArrayRef<llvm::StringRef> all() const { return parts; }
  /// The first of the candidates that is present, or an empty string.
  llvm::StringRef oneOf(llvm::ArrayRef<llvm::StringRef> candidates) const;
  /// An error that names the first part that is neither a type nor in `known`.
  llvm::Error checkKnown(llvm::ArrayRef<llvm::StringRef> known) const;
  /// "opcode: message".
  llvm::Error error(const llvm::Twine &message) const;

private:
  llvm::StringRef opcode;
  llvm::ArrayRef<llvm::StringRef> parts;
};

/// Sets `handler`, `destinations`, `convergence`, `aux`, ...; the types, operands, guard and text
/// are already there.
using DecodeFunction = llvm::Error (*)(const Modifiers &modifiers, Instruction &instruction);

class InstructionTable {
public:
  void add(llvm::StringRef prefix, DecodeFunction decode) { families[prefix] = decode; }
  /// The family of the longest registered prefix, and the length of that prefix; null when there is
  /// none.
  std::pair<DecodeFunction, size_t> find(llvm::StringRef opcode) const;

  /// All families.
  static const InstructionTable &get();

private:
  llvm::StringMap<DecodeFunction> families;
};

void registerIntegerInstructions(InstructionTable &table);
void registerMoveInstructions(InstructionTable &table);
void registerControlInstructions(InstructionTable &table);
void registerMemoryInstructions(InstructionTable &table);
void registerAtomicInstructions(InstructionTable &table);
void registerWarpInstructions(InstructionTable &table);
void registerBarrierInstructions(InstructionTable &table);
void registerAsyncCopyInstructions(InstructionTable &table);
void registerMbarrierInstructions(InstructionTable &table);
void registerClusterInstructions(InstructionTable &table);
void registerBulkCopyInstructions(InstructionTable &table);
void registerBulkGroupInstructions(InstructionTable &table);

void registerFloatInstructions(InstructionTable &table);
void registerConvertInstructions(InstructionTable &table);
void registerMatrixMoveInstructions(InstructionTable &table);
void registerMmaInstructions(InstructionTable &table);
void registerWmmaInstructions(InstructionTable &table);
void registerTensorCopyInstructions(InstructionTable &table);
void registerWgmmaInstructions(InstructionTable &table);

/// The state space that a modifier names; Generic without one.
Space parseSpace(const Modifiers &modifiers);
/// What .relaxed, .volatile, .acquire, .release make of a load or store.
AccessStrength parseStrength(const Modifiers &modifiers, bool isLoad);

/// add, sub, min, setp, ... exist for integers and floats under one name. The integer families own
/// the name; for a float type they hand over to this (FloatInstructions.cpp).
llvm::Error decodeFloatArithmetic(const Modifiers &modifiers, Instruction &instruction);

} // namespace tcc::emulator

#endif // TCC_LIB_EMULATOR_INSTRUCTIONTABLE_H
