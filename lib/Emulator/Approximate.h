//===- Approximate.h - The approximate functions of PTX ---------*- C++ -*-===//
//
// Instructions with .approx or .full. The hardware's tables are not public: these round the exact
// function, which stays within the error bounds that the PTX ISA states, and give the special
// values (zeros, infinities, NaN, subnormals) that the ISA lists.
//
//===----------------------------------------------------------------------===//

#ifndef TCC_LIB_EMULATOR_APPROXIMATE_H
#define TCC_LIB_EMULATOR_APPROXIMATE_H

#include "ScalarMath.h"

namespace tcc::emulator {

enum class ApproximateOp : uint8_t { Rcp, Sqrt, Rsqrt, Sin, Cos, Lg2, Ex2, Tanh, Div, DivFull };

/// On f32, f16 or bf16. `b` is the divisor of Div and DivFull.
uint32_t approximate(ApproximateOp op, const FloatFormat &format, bool ftz, uint32_t a,
                     uint32_t b = 0);

/// rcp.approx.ftz.f64 and rsqrt.approx.ftz.f64: the low 32 bits of operand and result are zero.
uint64_t approximate64(ApproximateOp op, uint64_t a);

} // namespace tcc::emulator

#endif // TCC_LIB_EMULATOR_APPROXIMATE_H
