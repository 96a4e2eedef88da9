//===- ConvertInstructions.cpp - cvt and cvt.pack -------------------------===//
//
// PTX ISA "Data Movement and Conversion Instructions: cvt", "cvt.pack".
//
//===----------------------------------------------------------------------===//

#include "Convert.h"
#include "FloatDecode.h"
#include "Warp.h"

using namespace tcc::emulator;

namespace {

/// A type of cvt with the number of its elements in a register and the bits between them.
struct PackedType {
  ConvertType element;
  unsigned count = 1;
  unsigned stride = 0;
};

PackedType floats(const FloatFormat &format, unsigned count, unsigned stride) {
  return {{ConvertType::Float, format.width(), &format}, count, stride};
}

std::optional<PackedType> convertTypeOf(Type type) {
  switch (type) {
  case Type::U8:
  case Type::U16:
  case Type::U32:
  case Type::U64:
    return PackedType{{ConvertType::Unsigned, bitWidth(type)}};
  case Type::S8:
  case Type::S16:
  case Type::S32:
  case Type::S64:
    return PackedType{{ConvertType::Signed, bitWidth(type)}};
  case Type::F16:
    return floats(formats::F16, 1, 16);
  case Type::F16x2:
    return floats(formats::F16, 2, 16);
  case Type::BF16:
    return floats(formats::BF16, 1, 16);
  case Type::BF16x2:
    return floats(formats::BF16, 2, 16);
  case Type::F32:
    return floats(formats::F32, 1, 32);
  case Type::F64:
    return PackedType{{ConvertType::Float, 64}};
  case Type::TF32:
    return PackedType{{ConvertType::TF32, 32}};
  case Type::E4M3x2:
    return floats(formats::E4M3, 2, 8);
  case Type::E5M2x2:
    return floats(formats::E5M2, 2, 8);
  // The 6-bit formats lie in bytes with two zero bits on top.
  case Type::E3M2x2:
    return floats(formats::E3M2, 2, 8);
  case Type::E2M3x2:
    return floats(formats::E2M3, 2, 8);
  case Type::E2M1x2:
    return floats(formats::E2M1, 2, 4);
  default:
    return std::nullopt;
  }
}

Conversion conversionOf(const Instruction &inst) {
  return {convertTypeOf(inst.types[0])->element, convertTypeOf(inst.types[1])->element,
          unpackModifiers(inst.aux[0]), inst.aux[1] != 0};
}

//===----------------------------------------------------------------------===//
// Handlers
//===----------------------------------------------------------------------===//

uint64_t lowMask(unsigned width) { return ~uint64_t(0) >> (64 - width); }

void convertScalar(Warp &warp, const Instruction &inst) {
  Conversion conversion = conversionOf(inst);
  const Row &a = warp.read(inst.operands[1]);
  const Operand &destination = inst.operands[0];
  // A register wider than the type takes the value extended as the type's signedness says.
  uint64_t mask = lowMask(destination.bits ? destination.bits : 64);
  Row &d = warp.write(destination);
  for (unsigned lane : warp.lanes())
    d[lane] = convert(conversion, a[lane]) & mask;
}

/// cvt.f16x2.f32 d, a, b and the like: the first source goes to the high half.
void convertPair(Warp &warp, const Instruction &inst) {
  Conversion conversion = conversionOf(inst);
  const Row &a = warp.read(inst.operands[1]), &b = warp.read(inst.operands[2]);
  Row &d = warp.write(inst.operands[0]);
  unsigned stride = convertTypeOf(inst.types[0])->stride;
  for (unsigned lane : warp.lanes())
    d[lane] = convert(conversion, a[lane]) << stride | convert(conversion, b[lane]);
}

/// cvt.e4m3x2.f16x2 d, a and the like, element by element.
void convertPacked(Warp &warp, const Instruction &inst) {
  Conversion conversion = conversionOf(inst);
  const Row &a = warp.read(inst.operands[1]);
  Row &d = warp.write(inst.operands[0]);
  unsigned toStride = convertTypeOf(inst.types[0])->stride;
  unsigned fromStride = convertTypeOf(inst.types[1])->stride;
  for (unsigned lane : warp.lanes())
    d[lane] = convert(conversion, a[lane] >> fromStride) << toStride | convert(conversion, a[lane]);
}

/// cvt.pack: {c's low bits, a, b} with a and b clamped to the narrow type.
void convertPack(Warp &warp, const Instruction &inst) {
  const Row &a = warp.read(inst.operands[1]), &b = warp.read(inst.operands[2]);
  const Row *c = inst.operands.size() > 3 ? &warp.read(inst.operands[3]) : nullptr;
  Row &d = warp.write(inst.operands[0]);
  unsigned width = bitWidth(inst.types[0]);
  bool isSignedResult = isSigned(inst.types[0]), isSignedSource = isSigned(inst.types[1]);
  auto narrow = [&](uint64_t bits) {
    int64_t value = isSignedSource ? int64_t(int32_t(bits)) : int64_t(uint32_t(bits));
    return uint64_t(saturate(value, width, isSignedResult)) & lowMask(width);
  };
  for (unsigned lane : warp.lanes()) {
    uint64_t pair = narrow(a[lane]) << width | narrow(b[lane]);
    d[lane] = uint32_t(pair | (c ? (*c)[lane] << (2 * width) : 0));
  }
}

//===----------------------------------------------------------------------===//
// Decoding
//===----------------------------------------------------------------------===//

/// PTX ISA "cvt": a conversion between integers and floats, or to a narrower float, says how it
/// rounds; to an integer by .rni and its kin.
llvm::Error checkRounding(const Modifiers &modifiers, bool toInteger, bool fromInteger,
                          bool narrows) {
  if (llvm::Error error = checkOneRounding(modifiers))
    return error;
  bool toIntegral = !modifiers.oneOf({"rni", "rzi", "rmi", "rpi"}).empty();
  bool rounds = !modifiers.oneOf({"rn", "rz", "rm", "rp", "rna"}).empty();
  if (toInteger && !fromInteger && !toIntegral)
    return modifiers.error("expected .rni, .rzi, .rmi or .rpi: a float becomes an integer");
  if (!toInteger && (fromInteger || narrows) && !rounds)
    return modifiers.error("expected a rounding mode such as .rn");
  return llvm::Error::success();
}

llvm::Error decodeConvert(const Modifiers &modifiers, Instruction &inst) {
  if (llvm::Error error = modifiers.checkKnown({"rn", "rz", "rm", "rp", "rna", "rni", "rzi", "rmi",
                                                "rpi", "ftz", "sat", "satfinite", "relu"}))
    return error;
  if (inst.types.size() != 2)
    return modifiers.error("expected a result type and a source type");
  std::optional<PackedType> to = convertTypeOf(inst.types[0]), from = convertTypeOf(inst.types[1]);
  if (!to || !from)
    return modifiers.error("the emulator converts between integers, f16, bf16, tf32, f32, f64, "
                           "their pairs and pairs of 8-, 6- and 4-bit floats");
  if (from->count > to->count)
    return modifiers.error("a packed source needs a packed result");
  bool pair = to->count == 2 && from->count == 1;
  size_t count = pair ? 3 : 2;
  if (llvm::Error error = checkOperandCount(modifiers, inst, count, count))
    return error;
  if (llvm::Error error =
          checkRounding(modifiers, to->element.isInteger(), from->element.isInteger(),
                        to->count == 1 && bitWidth(inst.types[0]) < bitWidth(inst.types[1])))
    return error;
  inst.aux[0] = packModifiers(parseFloatModifiers(modifiers));
  inst.aux[1] = !modifiers.oneOf({"rni", "rzi", "rmi", "rpi"}).empty();
  inst.readBits = bitWidth(inst.types[1]);
  if (to->element.isInteger() && from->element.isInteger() && !modifiers.has("sat"))
    inst.movedOperands = 1 << 1;
  inst.handler = pair ? convertPair : to->count == 2 ? convertPacked : convertScalar;
  return llvm::Error::success();
}

llvm::Error decodePack(const Modifiers &modifiers, Instruction &inst) {
  if (inst.types.size() < 2 || bitWidth(inst.types[0]) > 16 || bitWidth(inst.types[1]) != 32 ||
      isFloat(inst.types[1]))
    return modifiers.error("expected .sat, a result type of u2 to s16, and .s32 or .u32");
  inst.handler = convertPack;
  return checkOperandCount(modifiers, inst, 3, 4);
}

} // namespace

void tcc::emulator::registerConvertInstructions(InstructionTable &table) {
  table.add("cvt", decodeConvert);
  table.add("cvt.pack", decodePack);
}
