//===- FloatDecode.cpp - Qualifiers and types of float instructions -------===//

#include "FloatDecode.h"

using namespace tcc::emulator;

std::optional<FloatType> tcc::emulator::arithmeticType(Type type) {
  switch (type) {
  case Type::F16:
    return FloatType{&formats::F16, 1};
  case Type::F16x2:
    return FloatType{&formats::F16, 2};
  case Type::BF16:
    return FloatType{&formats::BF16, 1};
  case Type::BF16x2:
    return FloatType{&formats::BF16, 2};
  case Type::F32:
    return FloatType{&formats::F32, 1};
  case Type::F64:
    return FloatType{nullptr, 1};
  default:
    return std::nullopt;
  }
}

static constexpr llvm::StringRef kRoundings[] = {"rn",  "rz",  "rm",  "rp", "rna",
                                                 "rni", "rzi", "rmi", "rpi"};

llvm::Error tcc::emulator::checkOneRounding(const Modifiers &modifiers) {
  auto isRounding = [](llvm::StringRef part) { return llvm::is_contained(kRoundings, part); };
  size_t count = llvm::count_if(modifiers.all(), isRounding);
  if (count > 1)
    return modifiers.error("expected one rounding mode, found " + llvm::Twine(count));
  return llvm::Error::success();
}

FloatModifiers tcc::emulator::parseFloatModifiers(const Modifiers &modifiers) {
  FloatModifiers result;
  llvm::StringRef rounding = modifiers.oneOf(kRoundings);
  if (rounding == "rna")
    result.rounding = Rounding::NearestAway;
  else if (rounding.starts_with("rz"))
    result.rounding = Rounding::Zero;
  else if (rounding.starts_with("rm"))
    result.rounding = Rounding::Down;
  else if (rounding.starts_with("rp"))
    result.rounding = Rounding::Up;
  result.ftz = modifiers.has("ftz");
  result.sat = modifiers.has("sat");
  result.satFinite = modifiers.has("satfinite");
  result.relu = modifiers.has("relu");
  result.propagateNaN = modifiers.has("NaN");
  result.xorSignAbs = modifiers.has("xorsign");
  result.outOfBounds = modifiers.has("oob");
  return result;
}

uint32_t tcc::emulator::packModifiers(const FloatModifiers &modifiers) {
  return uint32_t(modifiers.rounding) | modifiers.ftz << 8 | modifiers.sat << 9 |
         modifiers.satFinite << 10 | modifiers.relu << 11 | modifiers.propagateNaN << 12 |
         modifiers.xorSignAbs << 13 | modifiers.outOfBounds << 14;
}

FloatModifiers tcc::emulator::unpackModifiers(uint32_t word) {
  FloatModifiers result;
  result.rounding = Rounding(word & 0xff);
  result.ftz = word >> 8 & 1;
  result.sat = word >> 9 & 1;
  result.satFinite = word >> 10 & 1;
  result.relu = word >> 11 & 1;
  result.propagateNaN = word >> 12 & 1;
  result.xorSignAbs = word >> 13 & 1;
  result.outOfBounds = word >> 14 & 1;
  return result;
}

llvm::Error tcc::emulator::checkOperandCount(const Modifiers &modifiers,
                                             const Instruction &instruction, size_t least,
                                             size_t most) {
  size_t count = instruction.operands.size();
  if (count >= least && count <= most)
    return llvm::Error::success();
  if (least == most)
    return modifiers.error("expected " + llvm::Twine(least) + " operands, found " +
                           llvm::Twine(count));
  return modifiers.error("expected " + llvm::Twine(least) + " to " + llvm::Twine(most) +
                         " operands, found " + llvm::Twine(count));
}

llvm::StringRef tcc::emulator::baseName(const Instruction &instruction) {
  return instruction.opcode.split('.').first;
}
