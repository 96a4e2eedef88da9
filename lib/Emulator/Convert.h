//===- Convert.h - The cvt instruction on one value -------------*- C++ -*-===//
//
// PTX ISA "Data Movement and Conversion Instructions: cvt", "cvt.pack".
//
//===----------------------------------------------------------------------===//

#ifndef TCC_LIB_EMULATOR_CONVERT_H
#define TCC_LIB_EMULATOR_CONVERT_H

#include "ScalarMath.h"

namespace tcc::emulator {

/// A type that cvt names: an integer, or a float by its format.
struct ConvertType {
  enum Kind : uint8_t { Unsigned, Signed, Float, TF32 } kind;
  /// Bits of the value: 2 to 64 for integers, 4 to 64 for floats.
  unsigned width;
  /// Null for integers, f64 and tf32.
  const FloatFormat *format = nullptr;

  bool isInteger() const { return kind == Unsigned || kind == Signed; }
  bool isF64() const { return kind == Float && !format; }
  bool isF32() const { return kind == Float && width == 32; }
};

struct Conversion {
  ConvertType to, from;
  FloatModifiers modifiers;
  /// .rni .rzi .rmi .rpi: round to an integral value (also float to float).
  bool toIntegral = false;
};

/// Converts the low `from.width` bits of `bits`. An integer result is extended to 64 bits as its
/// signedness says, so that the caller may cut it to a wider register.
uint64_t convert(const Conversion &conversion, uint64_t bits);

/// An integer clamped to `width` bits of the given signedness, as cvt.pack.sat does for s32.
int64_t saturate(int64_t value, unsigned width, bool isSigned);

} // namespace tcc::emulator

#endif // TCC_LIB_EMULATOR_CONVERT_H
