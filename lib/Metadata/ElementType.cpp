//===- ElementType.cpp - Element types in the PTX header ------------------===//

#include "tcc/Metadata/ElementType.h"

using namespace llvm;

namespace tcc::metadata {
namespace {

struct TypeFacts {
  StringLiteral name;
  unsigned bytes;
  bool isFloat;
};

/// Indexed by ElementType.
constexpr TypeFacts facts[] = {
    {"f16", 2, true},  {"bf16", 2, true},     {"f32", 4, true},    {"f64", 8, true},
    {"tf32", 4, true}, {"f8E4M3FN", 1, true}, {"f8E5M2", 1, true}, {"i1", 1, false},
    {"i8", 1, false},  {"ui8", 1, false},     {"i32", 4, false},   {"i64", 8, false},
};
static_assert(std::size(facts) == static_cast<size_t>(ElementType::I64) + 1);

const TypeFacts &factsOf(ElementType type) { return facts[static_cast<size_t>(type)]; }

} // namespace

StringRef getName(ElementType type) { return factsOf(type).name; }
unsigned getByteSize(ElementType type) { return factsOf(type).bytes; }
bool isFloat(ElementType type) { return factsOf(type).isFloat; }

std::optional<ElementType> parseElementType(StringRef name) {
  for (size_t i = 0; i < std::size(facts); ++i)
    if (facts[i].name == name)
      return static_cast<ElementType>(i);
  return std::nullopt;
}

} // namespace tcc::metadata
