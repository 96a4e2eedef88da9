//===- AtomicMath.h - Read-modify-write on one value ------------*- C++ -*-===//
//
// Shared by atom, red, and the reductions of bulk and tensor copies.
//
//===----------------------------------------------------------------------===//

#ifndef TCC_LIB_EMULATOR_ATOMICMATH_H
#define TCC_LIB_EMULATOR_ATOMICMATH_H

#include "Types.h"

#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <optional>

namespace tcc::emulator {

enum class AtomicOp : uint8_t { Add, Min, Max, Inc, Dec, And, Or, Xor, Exch, Cas };

struct AtomicValue {
  uint64_t low = 0;
  uint64_t high = 0; // of b128
};

std::optional<AtomicOp> parseAtomicOp(llvm::StringRef name);
bool supportsAtomic(AtomicOp op, Type type);
/// The new value. In global memory f32 add flushes subnormals and f64 add treats NaNs differently.
AtomicValue applyAtomic(AtomicOp op, Type type, AtomicValue old, AtomicValue operand,
                        AtomicValue swap, bool isGlobal);

} // namespace tcc::emulator

#endif // TCC_LIB_EMULATOR_ATOMICMATH_H
