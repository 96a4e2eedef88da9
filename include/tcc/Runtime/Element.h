//===- Element.h - Stored elements and their rounding -----------*- C++ -*-===//
//
// Between the bytes of an element and its value as a double, for every type of the PTX header.
//
//===----------------------------------------------------------------------===//

#ifndef TCC_RUNTIME_ELEMENT_H
#define TCC_RUNTIME_ELEMENT_H

#include "tcc/Metadata/ElementType.h"
#include <cstdint>

namespace tcc::runtime {

using metadata::ElementType;

/// Decodes `count` elements that stand `stride` elements apart.
void decode(ElementType type, const uint8_t *source, int64_t stride, int64_t count, double *out);
double decode(ElementType type, const uint8_t *source);

/// Rounds and stores one element; see roundTo.
void encode(ElementType type, double value, uint8_t *out);

/// The nearest value of the type. Floats: ties to even, overflow to infinity (f8E4M3FN: NaN); tf32:
/// ties away from zero, as cvt.rna does. Integers: toward zero, clamped, NaN to 0.
double roundTo(ElementType type, double value);

/// Bounds the error of rounding a value of at most this magnitude to the type: half a unit in the
/// last place, for integers 0.
double halfUlp(ElementType type, double magnitude);

/// Magnitudes from here on may round to infinity.
double overflowThreshold(ElementType type);

/// The byte that fills outputs before a launch: it makes every float a NaN that no arithmetic
/// gives.
uint8_t poisonByte(ElementType type);

} // namespace tcc::runtime

#endif // TCC_RUNTIME_ELEMENT_H
