//===- FloatComparisons.cpp - setp, set, slct and testp on floats ---------===//
//
// PTX ISA "Comparison and Selection Instructions", "Half Precision Comparison Instructions",
// "testp".
//
//===----------------------------------------------------------------------===//

#include "FloatDecode.h"
#include "Warp.h"

#include "llvm/ADT/StringSwitch.h"

using namespace tcc::emulator;

namespace {

enum class Combine : uint32_t { None, And, Or, Xor };

//===----------------------------------------------------------------------===//
// Handlers. aux: comparison, modifiers, Combine.
//===----------------------------------------------------------------------===//

uint32_t combine(Combine how, uint32_t value, uint32_t with) {
  switch (how) {
  case Combine::None:
    return value;
  case Combine::And:
    return value & with;
  case Combine::Or:
    return value | with;
  case Combine::Xor:
    return value ^ with;
  }
  return value;
}

/// Compares element `element` of the first two sources: bit l for lane l.
uint32_t compareElement(Warp &warp, const Instruction &inst, const FloatType &type,
                        unsigned element) {
  FloatCompare predicate = FloatCompare(inst.aux[0]);
  bool ftz = unpackModifiers(inst.aux[1]).ftz;
  const Row &a = warp.read(inst.operands[1]), &b = warp.read(inst.operands[2]);
  auto value = [&](uint64_t bits) {
    if (type.isF64())
      return bitCast<double>(bits);
    unsigned width = type.elementBits();
    uint32_t narrow = uint32_t(bits >> (element * width) & ((uint64_t(1) << width) - 1));
    return decode(*type.format, ftz ? flush(*type.format, narrow) : narrow);
  };
  uint32_t result = 0;
  for (unsigned lane : warp.lanes())
    if (compare(predicate, value(a[lane]), value(b[lane])))
      result |= 1u << lane;
  return result;
}

/// setp p, p|q: q is the opposite comparison, or that of the high halves of a packed type.
void setPredicate(Warp &warp, const Instruction &inst) {
  FloatType type = *arithmeticType(inst.type);
  Combine how = Combine(inst.aux[2]);
  uint32_t with = how == Combine::None ? 0 : warp.readPredicate(inst.operands[3]);
  uint32_t first = compareElement(warp, inst, type, 0);
  uint32_t second = type.count == 2 ? compareElement(warp, inst, type, 1) : ~first;
  llvm::ArrayRef<Operand> destinations = Warp::elements(inst.operands[0]);
  warp.writePredicate(destinations[0], combine(how, first, with));
  if (destinations.size() > 1)
    warp.writePredicate(destinations[1], combine(how, second, with));
}

/// What set writes for true.
uint64_t trueValue(Type type) {
  switch (type) {
  case Type::F32:
    return 0x3f800000;
  case Type::F16:
  case Type::F16x2:
    return 0x3c00;
  case Type::BF16:
  case Type::BF16x2:
    return 0x3f80;
  default:
    return bitWidth(type) == 16 ? 0xffff : 0xffffffff;
  }
}

void setRegister(Warp &warp, const Instruction &inst) {
  FloatType type = *arithmeticType(inst.type);
  Combine how = Combine(inst.aux[2]);
  uint32_t with = how == Combine::None ? 0 : warp.readPredicate(inst.operands[3]);
  uint32_t results[2] = {};
  for (unsigned element = 0; element < type.count; ++element)
    results[element] = combine(how, compareElement(warp, inst, type, element), with);
  uint64_t yes = trueValue(inst.types.front());
  Row &d = warp.write(inst.operands[0]);
  for (unsigned lane : warp.lanes()) {
    d[lane] = results[0] >> lane & 1 ? yes : 0;
    if (results[1] >> lane & 1)
      d[lane] |= yes << 16;
  }
}

/// slct d, a, b, c: a where c >= 0, which -0 is and NaN is not.
void select(Warp &warp, const Instruction &inst) {
  const Row &a = warp.read(inst.operands[1]), &b = warp.read(inst.operands[2]);
  const Row &c = warp.read(inst.operands[3]);
  Row &d = warp.write(inst.operands[0]);
  uint64_t mask = ~uint64_t(0) >> (64 - bitWidth(inst.types.front()));
  bool ftz = unpackModifiers(inst.aux[1]).ftz;
  for (unsigned lane : warp.lanes()) {
    uint32_t bits = uint32_t(c[lane]);
    bool takesA = inst.type == Type::S32
                      ? int32_t(bits) >= 0
                      : decode(formats::F32, ftz ? flush(formats::F32, bits) : bits) >= 0;
    d[lane] = (takesA ? a : b)[lane] & mask;
  }
}

void testProperty(Warp &warp, const Instruction &inst) {
  const Row &a = warp.read(inst.operands[1]);
  uint32_t result = 0;
  for (unsigned lane : warp.lanes())
    if (testClass(FloatClass(inst.aux[0]), inst.type == Type::F64, a[lane]))
      result |= 1u << lane;
  warp.writePredicate(inst.operands[0], result);
}

//===----------------------------------------------------------------------===//
// Decoding
//===----------------------------------------------------------------------===//

std::optional<FloatCompare> parseCompare(llvm::StringRef name) {
  return llvm::StringSwitch<std::optional<FloatCompare>>(name)
      .Case("eq", FloatCompare::Eq)
      .Case("ne", FloatCompare::Ne)
      .Case("lt", FloatCompare::Lt)
      .Case("le", FloatCompare::Le)
      .Case("gt", FloatCompare::Gt)
      .Case("ge", FloatCompare::Ge)
      .Case("equ", FloatCompare::Equ)
      .Case("neu", FloatCompare::Neu)
      .Case("ltu", FloatCompare::Ltu)
      .Case("leu", FloatCompare::Leu)
      .Case("gtu", FloatCompare::Gtu)
      .Case("geu", FloatCompare::Geu)
      .Case("num", FloatCompare::Num)
      .Case("nan", FloatCompare::Nan)
      .Default(std::nullopt);
}

std::optional<FloatClass> parseClass(llvm::StringRef name) {
  return llvm::StringSwitch<std::optional<FloatClass>>(name)
      .Case("finite", FloatClass::Finite)
      .Case("infinite", FloatClass::Infinite)
      .Case("number", FloatClass::Number)
      .Case("notanumber", FloatClass::NotANumber)
      .Case("normal", FloatClass::Normal)
      .Case("subnormal", FloatClass::Subnormal)
      .Default(std::nullopt);
}

Combine parseCombine(const Modifiers &modifiers) {
  return llvm::StringSwitch<Combine>(modifiers.oneOf({"and", "or", "xor"}))
      .Case("and", Combine::And)
      .Case("or", Combine::Or)
      .Case("xor", Combine::Xor)
      .Default(Combine::None);
}

llvm::Error decodeCompare(const Modifiers &modifiers, Instruction &inst, bool toPredicate) {
  std::optional<FloatCompare> predicate =
      modifiers.all().empty() ? std::nullopt : parseCompare(modifiers.all().front());
  if (!predicate)
    return modifiers.error("expected a comparison (eq, ne, lt, le, gt, ge, equ, neu, ltu, leu, "
                           "gtu, geu, num, nan) after the name");
  if (!arithmeticType(inst.type))
    return modifiers.error("expected a source type of f16, f16x2, bf16, bf16x2, f32, f64");
  if (!toPredicate && inst.types.size() != 2)
    return modifiers.error("expected a result type and a source type");
  Combine how = parseCombine(modifiers);
  size_t count = how == Combine::None ? 3 : 4;
  if (llvm::Error error = checkOperandCount(modifiers, inst, count, count))
    return error;
  inst.aux[0] = uint32_t(*predicate);
  inst.aux[1] = packModifiers(parseFloatModifiers(modifiers));
  inst.aux[2] = uint32_t(how);
  inst.handler = toPredicate ? setPredicate : setRegister;
  return llvm::Error::success();
}

llvm::Error decodeSelect(const Modifiers &modifiers, Instruction &inst) {
  if (inst.types.size() != 2 || (inst.type != Type::F32 && inst.type != Type::S32))
    return modifiers.error("expected a result type and .f32 or .s32");
  inst.aux[1] = packModifiers(parseFloatModifiers(modifiers));
  inst.handler = select;
  return checkOperandCount(modifiers, inst, 4, 4);
}

llvm::Error decodeTestProperty(const Modifiers &modifiers, Instruction &inst) {
  std::optional<FloatClass> kind =
      modifiers.all().empty() ? std::nullopt : parseClass(modifiers.all().front());
  if (!kind || (inst.type != Type::F32 && inst.type != Type::F64))
    return modifiers.error("expected finite, infinite, number, notanumber, normal or subnormal, "
                           "and .f32 or .f64");
  inst.aux[0] = uint32_t(*kind);
  inst.handler = testProperty;
  return checkOperandCount(modifiers, inst, 2, 2);
}

} // namespace

llvm::Error tcc::emulator::decodeFloatComparison(const Modifiers &modifiers,
                                                 Instruction &instruction) {
  llvm::StringRef name = baseName(instruction);
  if (name == "testp")
    return decodeTestProperty(modifiers, instruction);
  if (name == "slct")
    return decodeSelect(modifiers, instruction);
  return decodeCompare(modifiers, instruction, name == "setp");
}
