//===- AtomicMath.cpp - Read-modify-write on one value ----------*- C++ -*-===//

#include "AtomicMath.h"
#include "IntegerMath.h"
#include "ScalarMath.h"

#include "llvm/ADT/STLExtras.h"

using namespace tcc::emulator;

std::optional<AtomicOp> tcc::emulator::parseAtomicOp(llvm::StringRef name) {
  static constexpr llvm::StringLiteral kNames[] = {"add", "min", "max", "inc",  "dec",
                                                   "and", "or",  "xor", "exch", "cas"};
  const auto *entry = llvm::find(kNames, name);
  if (entry == std::end(kNames))
    return std::nullopt;
  return AtomicOp(entry - std::begin(kNames));
}

bool tcc::emulator::supportsAtomic(AtomicOp op, Type type) {
  switch (op) {
  case AtomicOp::Add:
    return type != Type::B32 && type != Type::B64 && type != Type::B128 && type != Type::B16;
  case AtomicOp::Min:
  case AtomicOp::Max:
    return type != Type::B16 && type != Type::B128;
  case AtomicOp::Inc:
  case AtomicOp::Dec:
    return type == Type::U32;
  default:
    return !isFloat(type);
  }
}

/// f64 in global memory hands on the operand's NaN, else the old one, as it is; elsewhere the code
/// that adds passes the old value last, whose NaN wins.
static uint64_t addDouble(uint64_t old, uint64_t operand, bool isGlobal) {
  auto isNaN = [](uint64_t bits) { return (bits << 1) > (uint64_t(0x7ff) << 53); };
  if (isGlobal && isNaN(operand))
    return operand;
  if (isGlobal && isNaN(old))
    return old;
  return evaluate64(FloatOp::Add, {}, operand, old);
}

static uint64_t applyFloat(AtomicOp op, Type type, uint64_t a, uint64_t b, bool isGlobal) {
  FloatOp operation = op == AtomicOp::Add   ? FloatOp::Add
                      : op == AtomicOp::Min ? FloatOp::Min
                                            : FloatOp::Max;
  FloatModifiers modifiers;
  if (type == Type::F64)
    return op == AtomicOp::Add ? addDouble(a, b, isGlobal) : evaluate64(operation, modifiers, a, b);
  modifiers.ftz = isGlobal && type == Type::F32 && op == AtomicOp::Add;
  bool isBrain = type == Type::BF16 || type == Type::BF16x2;
  const FloatFormat &format = type == Type::F32 ? formats::F32
                              : isBrain         ? formats::BF16
                                                : formats::F16;
  if (type != Type::F16x2 && type != Type::BF16x2)
    return evaluate(operation, format, modifiers, uint32_t(a), uint32_t(b));
  uint32_t low = evaluate(operation, format, modifiers, a & 0xffff, b & 0xffff);
  uint32_t high = evaluate(operation, format, modifiers, a >> 16 & 0xffff, b >> 16 & 0xffff);
  return low | high << 16;
}

AtomicValue tcc::emulator::applyAtomic(AtomicOp op, Type type, AtomicValue old, AtomicValue operand,
                                       AtomicValue swap, bool isGlobal) {
  IntegerShape shape;
  shape.bits = std::min(64u, bitWidth(type));
  shape.isSigned = isSigned(type);
  uint64_t a = zeroExtend(old.low, shape.bits), b = zeroExtend(operand.low, shape.bits);
  switch (op) {
  case AtomicOp::Add:
    return {isFloat(type) ? applyFloat(op, type, a, b, isGlobal) : zeroExtend(a + b, shape.bits),
            0};
  case AtomicOp::Min:
  case AtomicOp::Max: {
    if (isFloat(type))
      return {applyFloat(op, type, a, b, isGlobal), 0};
    bool less = compare(IntegerCompare::Lt, a, b, shape);
    return {less == (op == AtomicOp::Min) ? a : b, 0};
  }
  case AtomicOp::Inc:
    return {a >= b ? 0 : a + 1, 0};
  case AtomicOp::Dec:
    return {a == 0 || a > b ? b : a - 1, 0};
  case AtomicOp::And:
    return {a & b, 0};
  case AtomicOp::Or:
    return {a | b, 0};
  case AtomicOp::Xor:
    return {a ^ b, 0};
  case AtomicOp::Exch:
    return operand;
  case AtomicOp::Cas: {
    // d, [a], b, c: c where the old value is b.
    bool equal = a == b && (bitWidth(type) <= 64 || old.high == operand.high);
    return equal ? swap : old;
  }
  }
  return old;
}
