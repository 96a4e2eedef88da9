//===- ScalarMath.h - Floating-point instructions on one value --*- C++ -*-===//
//
// PTX ISA sections "Floating Point Instructions", "Half Precision ..." and "Comparison and
// Selection", on bit patterns. Where the ISA leaves the result open (NaN payloads) these do what
// an H200 does. Narrow operations take the format (F32, F16 or BF16) as an argument.
//
//===----------------------------------------------------------------------===//

#ifndef TCC_LIB_EMULATOR_SCALARMATH_H
#define TCC_LIB_EMULATOR_SCALARMATH_H

#include "FloatFormat.h"

namespace tcc::emulator {

/// The qualifiers of a floating-point instruction.
struct FloatModifiers {
  Rounding rounding = Rounding::NearestEven;
  bool ftz = false;
  bool sat = false;
  bool satFinite = false;
  bool relu = false;
  bool propagateNaN = false;
  bool xorSignAbs = false;
  bool outOfBounds = false;

  bool plain() const {
    return rounding == Rounding::NearestEven && !ftz && !sat && !relu && !outOfBounds;
  }
};

enum class FloatOp : uint8_t { Add, Sub, Mul, Fma, Div, Min, Max, Abs, Neg, Sqrt, Rcp };

/// Comparisons of setp and set: ordered, unordered (`...u`), and tests for numbers.
enum class FloatCompare : uint8_t {
  Eq,
  Ne,
  Lt,
  Le,
  Gt,
  Ge,
  Equ,
  Neu,
  Ltu,
  Leu,
  Gtu,
  Geu,
  Num,
  Nan
};

enum class FloatClass : uint8_t { Finite, Infinite, Number, NotANumber, Normal, Subnormal };

/// Sign kept, subnormals made zero.
inline uint32_t flush(const FloatFormat &format, uint32_t bits) {
  return format.isSubnormal(bits) ? bits & format.signBit() : bits;
}

/// A double rounded once to the format, then .ftz, .sat, .relu as the modifiers say.
uint32_t finish(const FloatFormat &format, double value, const FloatModifiers &modifiers);

/// One operation on a format of at most 32 bits. Unused operands are ignored.
uint32_t evaluate(FloatOp op, const FloatFormat &format, const FloatModifiers &modifiers,
                  uint32_t a, uint32_t b = 0, uint32_t c = 0);

/// One operation on f64.
uint64_t evaluate64(FloatOp op, const FloatModifiers &modifiers, uint64_t a, uint64_t b = 0,
                    uint64_t c = 0);

bool compare(FloatCompare predicate, double a, double b);

/// testp, on the bits of an f32 (widened to 64) or f64.
bool testClass(FloatClass kind, bool isF64, uint64_t bits);

} // namespace tcc::emulator

#endif // TCC_LIB_EMULATOR_SCALARMATH_H
