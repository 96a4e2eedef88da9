//===- FloatDecode.h - Qualifiers and types of float instructions -*- C++ -*-===//
//
// What the families of floating-point instructions share when they decode: the modifiers packed in
// a word of Instruction::aux, and PTX types as formats.
//
//===----------------------------------------------------------------------===//

#ifndef TCC_LIB_EMULATOR_FLOATDECODE_H
#define TCC_LIB_EMULATOR_FLOATDECODE_H

#include "InstructionTable.h"
#include "ScalarMath.h"

namespace tcc::emulator {

/// A float type of one or two elements in a register; f64 has no format.
struct FloatType {
  const FloatFormat *format = nullptr;
  unsigned count = 1;

  bool isF64() const { return !format; }
  unsigned elementBits() const { return format ? format->width() : 64; }
};

/// The type's format where arithmetic exists for it: f16, bf16, f32, f64, f16x2, bf16x2.
std::optional<FloatType> arithmeticType(Type type);

/// Rounding and flags as the modifiers say; what is absent keeps its default.
FloatModifiers parseFloatModifiers(const Modifiers &modifiers);

/// An error where more than one of them is a rounding mode.
llvm::Error checkOneRounding(const Modifiers &modifiers);

uint32_t packModifiers(const FloatModifiers &modifiers);
FloatModifiers unpackModifiers(uint32_t word);

/// An error unless the instruction has between `least` and `most` operands.
llvm::Error checkOperandCount(const Modifiers &modifiers, const Instruction &instruction,
                              size_t least, size_t most);

/// setp, set, slct and testp (FloatComparisons.cpp).
llvm::Error decodeFloatComparison(const Modifiers &modifiers, Instruction &instruction);

/// The name before the first dot.
llvm::StringRef baseName(const Instruction &instruction);

} // namespace tcc::emulator

#endif // TCC_LIB_EMULATOR_FLOATDECODE_H
