//===- Types.h - PTX fundamental types and state spaces ---------*- C++ -*-===//

#ifndef TCC_LIB_EMULATOR_TYPES_H
#define TCC_LIB_EMULATOR_TYPES_H

#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <optional>

namespace tcc::emulator {

/// Types as they occur in instruction modifiers (PTX ISA 5.2), packed and alternate formats
/// included.
enum class Type : uint8_t {
  None,
  Pred,
  B1,
  B4,
  B6,
  B8,
  B16,
  B32,
  B64,
  B128,
  U2,
  U4,
  U8,
  U16,
  U32,
  U64,
  S2,
  S4,
  S8,
  S16,
  S32,
  S64,
  U8x4,
  S8x4,
  U16x2,
  S16x2,
  F16,
  F16x2,
  BF16,
  BF16x2,
  TF32,
  F32,
  F32x2,
  F64,
  E4M3,
  E5M2,
  E4M3x2,
  E5M2x2,
  E4M3x4,
  E5M2x4,
  E2M1x2,
  E2M3x2,
  E3M2x2,
  UE8M0x2,
  E2M1,
  E2M3,
  E3M2,
  UE8M0,
};

/// Bits of a value; 1 for a predicate, 0 for None.
unsigned bitWidth(Type type);
bool isFloat(Type type);
bool isSigned(Type type);
/// The type that a modifier names ("f16x2" without its dot), or nothing.
std::optional<Type> parseType(llvm::StringRef modifier);

/// State spaces (PTX ISA 5.1). SharedCluster accepts every address that Shared does.
enum class Space : uint8_t {
  Generic,
  Register,
  Global,
  Shared,
  SharedCluster,
  Local,
  Const,
  Param
};

} // namespace tcc::emulator

#endif // TCC_LIB_EMULATOR_TYPES_H
