//===- FloatFormat.h - The floating-point formats of PTX --------*- C++ -*-===//
//
// Every format narrower than f64 is a subset of double, so one pair of functions serves them all:
// `decode` gives the exact double, `encode` rounds a double once. An operation whose exact result
// does not fit a double is first rounded *to odd* (see roundToOdd below): a double rounded to odd
// then rounds to any format of at most 51 bits as the exact value would, in every mode.
//
//===----------------------------------------------------------------------===//

#ifndef TCC_LIB_EMULATOR_FLOATFORMAT_H
#define TCC_LIB_EMULATOR_FLOATFORMAT_H

#include <cmath>
#include <cstdint>
#include <cstring>

namespace tcc::emulator {

/// Rounding modes: PTX .rn .rz .rm .rp .rna.
enum class Rounding : uint8_t { NearestEven, Zero, Down, Up, NearestAway };

/// What the top exponent of a format encodes.
enum class TopExponent : uint8_t { IEEE, NaNOnly, Finite };

/// A binary floating-point format of at most 32 bits: sign, exponent, mantissa, from the top.
struct FloatFormat {
  unsigned exponentBits;
  unsigned mantissaBits;
  TopExponent top;
  /// The bit pattern that a NaN result has on the hardware.
  uint32_t canonicalNaN;

  constexpr int bias() const { return (1 << (exponentBits - 1)) - 1; }
  constexpr int minExponent() const { return 1 - bias(); }
  constexpr unsigned width() const { return 1 + exponentBits + mantissaBits; }
  constexpr uint32_t signBit() const { return 1u << (exponentBits + mantissaBits); }
  constexpr uint32_t exponentMask() const { return ((1u << exponentBits) - 1) << mantissaBits; }
  constexpr uint32_t mantissaMask() const { return (1u << mantissaBits) - 1; }
  constexpr uint32_t infinity() const { return exponentMask(); }
  constexpr uint32_t maxFinite() const {
    if (top == TopExponent::IEEE)
      return exponentMask() - 1;
    return (exponentMask() | mantissaMask()) - (top == TopExponent::NaNOnly ? 1 : 0);
  }
  constexpr bool isNaN(uint32_t bits) const {
    uint32_t magnitude = bits & (signBit() - 1);
    return top == TopExponent::IEEE ? magnitude > infinity()
                                    : top == TopExponent::NaNOnly && magnitude > maxFinite();
  }
  constexpr bool isInfinite(uint32_t bits) const {
    return top == TopExponent::IEEE && (bits & (signBit() - 1)) == infinity();
  }
  constexpr bool isSubnormal(uint32_t bits) const {
    return !(bits & exponentMask()) && (bits & mantissaMask());
  }
};

namespace formats {
inline constexpr FloatFormat F32 = {8, 23, TopExponent::IEEE, 0x7fffffff};
inline constexpr FloatFormat F16 = {5, 10, TopExponent::IEEE, 0x7fff};
inline constexpr FloatFormat BF16 = {8, 7, TopExponent::IEEE, 0x7fff};
inline constexpr FloatFormat E5M2 = {5, 2, TopExponent::IEEE, 0x7f};
inline constexpr FloatFormat E4M3 = {4, 3, TopExponent::NaNOnly, 0x7f};
inline constexpr FloatFormat E3M2 = {3, 2, TopExponent::Finite, 0x1f};
inline constexpr FloatFormat E2M3 = {2, 3, TopExponent::Finite, 0x1f};
inline constexpr FloatFormat E2M1 = {2, 1, TopExponent::Finite, 0x7};
} // namespace formats

template <typename To, typename From> inline To bitCast(From from) {
  static_assert(sizeof(To) == sizeof(From), "bitCast keeps the size");
  To to;
  std::memcpy(&to, &from, sizeof(To));
  return to;
}

/// The exact value of `bits`; a NaN becomes some quiet NaN.
double decode(const FloatFormat &format, uint32_t bits);

/// `value` rounded to `format`. Overflow gives infinity or the largest finite number as the mode
/// says; with `saturateFinite` (and in formats without infinity) always the latter. A NaN gives
/// the canonical NaN, with the sign dropped.
uint32_t encode(const FloatFormat &format, double value, Rounding rounding,
                bool saturateFinite = false);

/// \name Arithmetic rounded to odd
/// The result is the exact one where a double holds it, else the neighbour with an odd last bit.
/// Operands are values of formats of at most 32 bits, so no intermediate under- or overflows.
/// @{
double addToOdd(double a, double b);
double fmaToOdd(double a, double b, double c);
double divideToOdd(double a, double b);
double sqrtToOdd(double a);
double fromUnsigned64ToOdd(uint64_t magnitude);
/// @}

} // namespace tcc::emulator

#endif // TCC_LIB_EMULATOR_FLOATFORMAT_H
