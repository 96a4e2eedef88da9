//===- Types.cpp - PTX fundamental types and state spaces -------*- C++ -*-===//

#include "Types.h"

#include "llvm/ADT/STLExtras.h"

using namespace tcc::emulator;

namespace {
enum Class : uint8_t { Bits, Unsigned, Signed, Float };
struct TypeInfo {
  Type type;
  llvm::StringLiteral name;
  unsigned bits;
  Class kind;
};
} // namespace

// In the order of the enumeration, None left out.
static constexpr TypeInfo kTypes[] = {
    {Type::Pred, "pred", 1, Bits},
    {Type::B1, "b1", 1, Bits},
    {Type::B4, "b4", 4, Bits},
    {Type::B6, "b6", 6, Bits},
    {Type::B8, "b8", 8, Bits},
    {Type::B16, "b16", 16, Bits},
    {Type::B32, "b32", 32, Bits},
    {Type::B64, "b64", 64, Bits},
    {Type::B128, "b128", 128, Bits},
    {Type::U2, "u2", 2, Unsigned},
    {Type::U4, "u4", 4, Unsigned},
    {Type::U8, "u8", 8, Unsigned},
    {Type::U16, "u16", 16, Unsigned},
    {Type::U32, "u32", 32, Unsigned},
    {Type::U64, "u64", 64, Unsigned},
    {Type::S2, "s2", 2, Signed},
    {Type::S4, "s4", 4, Signed},
    {Type::S8, "s8", 8, Signed},
    {Type::S16, "s16", 16, Signed},
    {Type::S32, "s32", 32, Signed},
    {Type::S64, "s64", 64, Signed},
    {Type::U8x4, "u8x4", 32, Unsigned},
    {Type::S8x4, "s8x4", 32, Signed},
    {Type::U16x2, "u16x2", 32, Unsigned},
    {Type::S16x2, "s16x2", 32, Signed},
    {Type::F16, "f16", 16, Float},
    {Type::F16x2, "f16x2", 32, Float},
    {Type::BF16, "bf16", 16, Float},
    {Type::BF16x2, "bf16x2", 32, Float},
    {Type::TF32, "tf32", 32, Float},
    {Type::F32, "f32", 32, Float},
    {Type::F32x2, "f32x2", 64, Float},
    {Type::F64, "f64", 64, Float},
    {Type::E4M3, "e4m3", 8, Float},
    {Type::E5M2, "e5m2", 8, Float},
    {Type::E4M3x2, "e4m3x2", 16, Float},
    {Type::E5M2x2, "e5m2x2", 16, Float},
    {Type::E4M3x4, "e4m3x4", 32, Float},
    {Type::E5M2x4, "e5m2x4", 32, Float},
    {Type::E2M1x2, "e2m1x2", 8, Float},
    {Type::E2M3x2, "e2m3x2", 16, Float},
    {Type::E3M2x2, "e3m2x2", 16, Float},
    {Type::UE8M0x2, "ue8m0x2", 16, Float},
    {Type::E2M1, "e2m1", 4, Float},
    {Type::E2M3, "e2m3", 6, Float},
    {Type::E3M2, "e3m2", 6, Float},
    {Type::UE8M0, "ue8m0", 8, Float},
};

static const TypeInfo *info(Type type) {
  return type == Type::None ? nullptr : &kTypes[unsigned(type) - 1];
}

unsigned tcc::emulator::bitWidth(Type type) {
  const TypeInfo *entry = info(type);
  return entry ? entry->bits : 0;
}

bool tcc::emulator::isFloat(Type type) {
  const TypeInfo *entry = info(type);
  return entry && entry->kind == Float;
}

bool tcc::emulator::isSigned(Type type) {
  const TypeInfo *entry = info(type);
  return entry && entry->kind == Signed;
}

std::optional<Type> tcc::emulator::parseType(llvm::StringRef modifier) {
  const auto *entry =
      llvm::find_if(kTypes, [&](const TypeInfo &type) { return type.name == modifier; });
  if (entry == std::end(kTypes))
    return std::nullopt;
  return entry->type;
}
