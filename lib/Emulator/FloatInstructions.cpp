//===- FloatInstructions.cpp - Scalar floating-point arithmetic -----------===//
//
// PTX ISA "Floating Point Instructions", "Half Precision Floating Point Instructions" and "Mixed
// Precision ...": add sub mul fma mad div min max abs neg sqrt rcp and the approximate functions.
//
//===----------------------------------------------------------------------===//

#include "Approximate.h"
#include "FloatDecode.h"
#include "MatrixProduct.h"
#include "Warp.h"

#include "llvm/ADT/StringSwitch.h"

using namespace tcc::emulator;

//===----------------------------------------------------------------------===//
// Handlers
//===----------------------------------------------------------------------===//

namespace {

const Row zeroRow = {};

const Row &source(Warp &warp, const Instruction &inst, unsigned index) {
  return index < inst.operands.size() ? warp.read(inst.operands[index]) : zeroRow;
}

/// f32 to nearest without modifiers, most of what kernels do outside the tensor cores.
template <typename Compute> void plainSingle(Warp &warp, const Instruction &inst, Compute compute) {
  const Row &a = source(warp, inst, 1), &b = source(warp, inst, 2), &c = source(warp, inst, 3);
  Row &d = warp.write(inst.operands[0]);
  for (unsigned lane : warp.lanes()) {
    float result = compute(bitCast<float>(uint32_t(a[lane])), bitCast<float>(uint32_t(b[lane])),
                           bitCast<float>(uint32_t(c[lane])));
    d[lane] = result != result ? formats::F32.canonicalNaN : bitCast<uint32_t>(result);
  }
}

void addSingle(Warp &warp, const Instruction &inst) {
  plainSingle(warp, inst, [](float a, float b, float) { return a + b; });
}
void subSingle(Warp &warp, const Instruction &inst) {
  plainSingle(warp, inst, [](float a, float b, float) { return a - b; });
}
void mulSingle(Warp &warp, const Instruction &inst) {
  plainSingle(warp, inst, [](float a, float b, float) { return a * b; });
}
void fmaSingle(Warp &warp, const Instruction &inst) {
  plainSingle(warp, inst, [](float a, float b, float c) { return std::fma(a, b, c); });
}

/// Applies `compute` to each element of a register of one or two.
template <typename Compute>
void eachElement(Warp &warp, const Instruction &inst, const FloatType &type, Compute compute) {
  const Row &a = source(warp, inst, 1), &b = source(warp, inst, 2), &c = source(warp, inst, 3);
  Row &d = warp.write(inst.operands[0]);
  unsigned width = type.elementBits();
  uint64_t mask = (uint64_t(1) << width) - 1;
  for (unsigned lane : warp.lanes()) {
    uint64_t result = 0;
    for (unsigned shift = 0; shift < width * type.count; shift += width)
      result |=
          uint64_t(compute(uint32_t(a[lane] >> shift & mask), uint32_t(b[lane] >> shift & mask),
                           uint32_t(c[lane] >> shift & mask)))
          << shift;
    d[lane] = result;
  }
}

void exactElements(Warp &warp, const Instruction &inst, const FloatType &type) {
  FloatOp op = FloatOp(inst.aux[0]);
  FloatModifiers modifiers = unpackModifiers(inst.aux[1]);
  eachElement(warp, inst, type, [&](uint32_t a, uint32_t b, uint32_t c) {
    return evaluate(op, *type.format, modifiers, a, b, c);
  });
}

void exactNarrow(Warp &warp, const Instruction &inst) {
  exactElements(warp, inst, *arithmeticType(inst.type));
}

/// Two numbers of f32 in 64 bits.
void exactPairs(Warp &warp, const Instruction &inst) {
  if (requireChip(warp, inst, 100))
    exactElements(warp, inst, FloatType{&formats::F32, 2});
}

/// f32 arithmetic whose operands but the last are narrow.
void exactMixed(Warp &warp, const Instruction &inst) {
  if (!requireChip(warp, inst, 100))
    return;
  const FloatFormat &narrow = *arithmeticType(inst.type)->format;
  FloatOp op = FloatOp(inst.aux[0]);
  FloatModifiers modifiers = unpackModifiers(inst.aux[1]);
  const Row &a = source(warp, inst, 1), &b = source(warp, inst, 2), &c = source(warp, inst, 3);
  Row &d = warp.write(inst.operands[0]);
  auto widen = [&](uint64_t bits) {
    return encode(formats::F32, decode(narrow, uint16_t(bits)), Rounding::NearestEven);
  };
  for (unsigned lane : warp.lanes()) {
    uint32_t second = op == FloatOp::Fma ? widen(b[lane]) : uint32_t(b[lane]);
    d[lane] = evaluate(op, formats::F32, modifiers, widen(a[lane]), second, uint32_t(c[lane]));
  }
}

void exactDouble(Warp &warp, const Instruction &inst) {
  FloatOp op = FloatOp(inst.aux[0]);
  FloatModifiers modifiers = unpackModifiers(inst.aux[1]);
  const Row &a = source(warp, inst, 1), &b = source(warp, inst, 2), &c = source(warp, inst, 3);
  Row &d = warp.write(inst.operands[0]);
  for (unsigned lane : warp.lanes())
    d[lane] = evaluate64(op, modifiers, a[lane], b[lane], c[lane]);
}

void approximateNarrow(Warp &warp, const Instruction &inst) {
  FloatType type = *arithmeticType(inst.type);
  ApproximateOp op = ApproximateOp(inst.aux[0]);
  bool ftz = unpackModifiers(inst.aux[1]).ftz;
  eachElement(warp, inst, type, [&](uint32_t a, uint32_t b, uint32_t) {
    return approximate(op, *type.format, ftz, a, b);
  });
}

void approximateDouble(Warp &warp, const Instruction &inst) {
  const Row &a = source(warp, inst, 1);
  Row &d = warp.write(inst.operands[0]);
  for (unsigned lane : warp.lanes())
    d[lane] = approximate64(ApproximateOp(inst.aux[0]), a[lane]);
}

/// copysign d, a, b: the sign of a on the magnitude of b.
void copySign(Warp &warp, const Instruction &inst) {
  const Row &a = warp.read(inst.operands[1]), &b = warp.read(inst.operands[2]);
  Row &d = warp.write(inst.operands[0]);
  uint64_t sign = uint64_t(1) << (bitWidth(inst.type) - 1);
  for (unsigned lane : warp.lanes())
    d[lane] = (a[lane] & sign) | (b[lane] & (sign - 1));
}

//===----------------------------------------------------------------------===//
// Decoding
//===----------------------------------------------------------------------===//

std::optional<FloatOp> exactOp(llvm::StringRef name) {
  return llvm::StringSwitch<std::optional<FloatOp>>(name)
      .Case("add", FloatOp::Add)
      .Case("sub", FloatOp::Sub)
      .Case("mul", FloatOp::Mul)
      .Cases({"fma", "mad"}, FloatOp::Fma)
      .Case("div", FloatOp::Div)
      .Case("min", FloatOp::Min)
      .Case("max", FloatOp::Max)
      .Case("abs", FloatOp::Abs)
      .Case("neg", FloatOp::Neg)
      .Case("sqrt", FloatOp::Sqrt)
      .Case("rcp", FloatOp::Rcp)
      .Default(std::nullopt);
}

std::optional<ApproximateOp> approximateOp(llvm::StringRef name, const Modifiers &modifiers) {
  if (name == "div" && modifiers.has("full"))
    return ApproximateOp::DivFull;
  if (!modifiers.has("approx"))
    return std::nullopt;
  return llvm::StringSwitch<std::optional<ApproximateOp>>(name)
      .Case("div", ApproximateOp::Div)
      .Case("rcp", ApproximateOp::Rcp)
      .Case("sqrt", ApproximateOp::Sqrt)
      .Case("rsqrt", ApproximateOp::Rsqrt)
      .Case("sin", ApproximateOp::Sin)
      .Case("cos", ApproximateOp::Cos)
      .Case("lg2", ApproximateOp::Lg2)
      .Case("ex2", ApproximateOp::Ex2)
      .Case("tanh", ApproximateOp::Tanh)
      .Default(std::nullopt);
}

size_t operandCount(FloatOp op) {
  switch (op) {
  case FloatOp::Fma:
    return 4;
  case FloatOp::Abs:
  case FloatOp::Neg:
  case FloatOp::Sqrt:
  case FloatOp::Rcp:
    return 2;
  default:
    return 3;
  }
}

Handler exactHandler(FloatOp op, const FloatType &type, const FloatModifiers &modifiers) {
  if (type.isF64())
    return exactDouble;
  if (type.format != &formats::F32 || !modifiers.plain())
    return exactNarrow;
  switch (op) {
  case FloatOp::Add:
    return addSingle;
  case FloatOp::Sub:
    return subSingle;
  case FloatOp::Mul:
    return mulSingle;
  case FloatOp::Fma:
    return fmaSingle;
  default:
    return exactNarrow;
  }
}

llvm::Error decodeApproximate(const Modifiers &modifiers, Instruction &inst, ApproximateOp op,
                              const FloatType &type) {
  bool isDivision = op == ApproximateOp::Div || op == ApproximateOp::DivFull;
  size_t count = isDivision ? 3 : 2;
  if (llvm::Error error = checkOperandCount(modifiers, inst, count, count))
    return error;
  if (llvm::Error error = modifiers.checkKnown({"approx", "full", "ftz"}))
    return error;
  if (type.isF64() && op != ApproximateOp::Rcp && op != ApproximateOp::Rsqrt)
    return modifiers.error("only rcp.approx and rsqrt.approx exist for f64");
  inst.aux[0] = uint32_t(op);
  inst.aux[1] = packModifiers(parseFloatModifiers(modifiers));
  inst.handler = type.isF64() ? approximateDouble : approximateNarrow;
  return llvm::Error::success();
}

/// PTX ISA: these have no default rounding mode.
bool needsRounding(FloatOp op) {
  return op == FloatOp::Fma || op == FloatOp::Div || op == FloatOp::Sqrt || op == FloatOp::Rcp;
}

llvm::Error checkRounding(const Modifiers &modifiers, FloatOp op) {
  if (needsRounding(op) && modifiers.oneOf({"rn", "rz", "rm", "rp"}).empty())
    return modifiers.error(op == FloatOp::Fma ? "expected a rounding mode such as .rn"
                                              : "expected a rounding mode such as .rn, or .approx");
  return checkOneRounding(modifiers);
}

/// The types .f32.f16 and .f32.bf16: of the result and the last operand, then of the others.
bool isMixed(llvm::ArrayRef<Type> types) {
  return types.size() == 2 && types[0] == Type::F32 &&
         (types[1] == Type::F16 || types[1] == Type::BF16);
}

/// What came with sm_100: mixed types, and pairs of f32.
llvm::Error decodeMixedOrPairs(const Modifiers &modifiers, Instruction &inst) {
  bool isPair = inst.type == Type::F32x2;
  std::optional<FloatOp> op = exactOp(baseName(inst));
  if (op != FloatOp::Add && op != FloatOp::Sub && op != FloatOp::Fma &&
      !(isPair && op == FloatOp::Mul))
    return modifiers.error(isPair ? "of f32x2 there are only add, sub, mul and fma"
                                  : "of mixed types there are only add, sub and fma");
  if (llvm::Error error = checkOperandCount(modifiers, inst, operandCount(*op), operandCount(*op)))
    return error;
  if (llvm::Error error = modifiers.checkKnown({"rn", "rz", "rm", "rp", isPair ? "ftz" : "sat"}))
    return error;
  inst.aux[0] = uint32_t(*op);
  inst.aux[1] = packModifiers(parseFloatModifiers(modifiers));
  inst.handler = isPair ? exactPairs : exactMixed;
  return llvm::Error::success();
}

llvm::Error decodeArithmetic(const Modifiers &modifiers, Instruction &inst) {
  if (isMixed(inst.types) || llvm::ArrayRef(inst.types) == llvm::ArrayRef(Type::F32x2))
    return decodeMixedOrPairs(modifiers, inst);
  std::optional<FloatType> type = arithmeticType(inst.type);
  if (!type || inst.types.size() != 1)
    return modifiers.error("expected one type of f16, f16x2, bf16, bf16x2, f32, f32x2, f64");
  if (auto op = approximateOp(baseName(inst), modifiers))
    return decodeApproximate(modifiers, inst, *op, *type);
  std::optional<FloatOp> op = exactOp(baseName(inst));
  if (!op)
    return modifiers.error("no such floating-point instruction; is .approx missing?");
  if (llvm::Error error = checkOperandCount(modifiers, inst, operandCount(*op), operandCount(*op)))
    return error;
  if (llvm::Error error = modifiers.checkKnown(
          {"rn", "rz", "rm", "rp", "ftz", "sat", "relu", "NaN", "xorsign", "abs", "oob"}))
    return error;
  if (llvm::Error error = checkRounding(modifiers, *op))
    return error;
  FloatModifiers parsed = parseFloatModifiers(modifiers);
  inst.aux[0] = uint32_t(*op);
  inst.aux[1] = packModifiers(parsed);
  inst.handler = exactHandler(*op, *type, parsed);
  return llvm::Error::success();
}

llvm::Error decodeCopySign(const Modifiers &modifiers, Instruction &inst) {
  if (inst.type != Type::F32 && inst.type != Type::F64)
    return modifiers.error("expected .f32 or .f64");
  inst.handler = copySign;
  return checkOperandCount(modifiers, inst, 3, 3);
}

} // namespace

llvm::Error tcc::emulator::decodeFloatArithmetic(const Modifiers &modifiers,
                                                 Instruction &instruction) {
  llvm::StringRef name = baseName(instruction);
  if (name == "setp" || name == "set" || name == "slct")
    return decodeFloatComparison(modifiers, instruction);
  return decodeArithmetic(modifiers, instruction);
}

void tcc::emulator::registerFloatInstructions(InstructionTable &table) {
  for (llvm::StringRef name : {"fma", "sqrt", "rcp", "rsqrt", "sin", "cos", "lg2", "ex2", "tanh"})
    table.add(name, decodeArithmetic);
  table.add("copysign", decodeCopySign);
  table.add("testp", decodeFloatComparison);
}
