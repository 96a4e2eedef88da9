//===- ElementType.h - Element types in the PTX header ----------*- C++ -*-===//

#ifndef TCC_METADATA_ELEMENTTYPE_H
#define TCC_METADATA_ELEMENTTYPE_H

#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <optional>

namespace tcc::metadata {

/// Types of matrix elements and of reference nodes, spelled as MLIR spells them.
enum class ElementType : uint8_t {
  F16,
  BF16,
  F32,
  F64,
  TF32, // f32 storage, of which the tensor core reads 10 fraction bits
  F8E4M3FN,
  F8E5M2,
  I1,
  I8,
  UI8,
  I32,
  I64,
};

/// "f16", "bf16", "f32", "f64", "tf32", "f8E4M3FN", "f8E5M2", "i1", "i8", "ui8", "i32", "i64".
llvm::StringRef getName(ElementType type);
std::optional<ElementType> parseElementType(llvm::StringRef name);

/// The size of one stored element in bytes; tf32 takes 4, i1 takes 1.
unsigned getByteSize(ElementType type);

bool isFloat(ElementType type);

} // namespace tcc::metadata

#endif // TCC_METADATA_ELEMENTTYPE_H
