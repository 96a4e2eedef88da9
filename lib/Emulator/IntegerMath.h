//===- IntegerMath.h - Integer and logic operations on one value -*- C++ -*-===//
//
// PTX ISA 9.7.1, 9.7.2, 9.7.8. Operands are the low `bits` bits of their argument.
//
//===----------------------------------------------------------------------===//

#ifndef TCC_LIB_EMULATOR_INTEGERMATH_H
#define TCC_LIB_EMULATOR_INTEGERMATH_H

#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <optional>

namespace tcc::emulator {

/// Width and signedness of an operation, and what its modifiers add.
struct IntegerShape {
  uint8_t bits = 32;
  bool isSigned = false;
  bool saturate = false;
  bool relu = false;
  /// Two 16-bit elements in a register.
  bool packed = false;
  /// Meaning depends on the operation (prmt's mode, dp2a's half, clamp or wrap, ...).
  uint8_t mode = 0;
};

inline uint64_t zeroExtend(uint64_t value, unsigned bits) {
  return bits >= 64 ? value : value & ((uint64_t(1) << bits) - 1);
}
inline int64_t signExtend(uint64_t value, unsigned bits) {
  return int64_t(value << (64 - bits)) >> (64 - bits);
}
inline int64_t extend(uint64_t value, IntegerShape shape) {
  return shape.isSigned ? signExtend(value, shape.bits) : int64_t(zeroExtend(value, shape.bits));
}

/// An operation on up to three operands; unused ones are zero. The caller truncates the result.
using IntegerFunction = uint64_t (*)(uint64_t a, uint64_t b, uint64_t c, IntegerShape shape);

struct IntegerOperation {
  llvm::StringLiteral name;
  IntegerFunction function;
  uint8_t operands;
};

/// The operation that `name` and, for mul and mad, `.lo` or `.hi` select; null if there is none.
const IntegerOperation *findIntegerOperation(llvm::StringRef name);

/// High half of the 2*bits product.
uint64_t multiplyHigh(uint64_t a, uint64_t b, IntegerShape shape);

/// bfi: the low `length` bits of `field` at `position` of `into`.
uint64_t insertField(uint64_t field, uint64_t into, uint64_t position, uint64_t length,
                     unsigned bits);

enum class PermuteMode : uint8_t { Index, F4E, B4E, RC8, ECL, ECR, RC16 };

enum class IntegerCompare : uint8_t { Eq, Ne, Lt, Le, Gt, Ge };
std::optional<IntegerCompare> parseIntegerCompare(llvm::StringRef name, bool &forcesUnsigned);
bool compare(IntegerCompare predicate, uint64_t a, uint64_t b, IntegerShape shape);

} // namespace tcc::emulator

#endif // TCC_LIB_EMULATOR_INTEGERMATH_H
