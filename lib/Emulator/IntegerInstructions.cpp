//===- IntegerInstructions.cpp - Integer, logic and bit instructions -*- C++ -*-===//

#include "Execution.h"
#include "InstructionTable.h"
#include "IntegerMath.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace tcc::emulator;
using llvm::Error;
using llvm::StringRef;

namespace {

uint32_t pack(IntegerShape shape) {
  return shape.bits | shape.isSigned << 8 | shape.saturate << 9 | shape.relu << 10 |
         shape.packed << 11 | uint32_t(shape.mode) << 16;
}

IntegerShape unpack(uint32_t word) {
  IntegerShape shape;
  shape.bits = word & 0xff;
  shape.isSigned = word >> 8 & 1;
  shape.saturate = word >> 9 & 1;
  shape.relu = word >> 10 & 1;
  shape.packed = word >> 11 & 1;
  shape.mode = word >> 16;
  return shape;
}

StringRef baseOpcode(const Instruction &inst) { return inst.opcode.split('.').first; }

constexpr Row kZeros = {};

// aux[0]: the shape; table: the IntegerOperation; aux[1]: bits of the result.
void executeOperation(Warp &warp, const Instruction &inst) {
  const auto &operation = *static_cast<const IntegerOperation *>(inst.table);
  IntegerShape shape = unpack(inst.aux[0]);
  unsigned resultBits = inst.aux[1];
  const Row &a = warp.read(inst.operands[1]);
  const Row &b = operation.operands > 1 ? warp.read(inst.operands[2]) : kZeros;
  const Row &c = operation.operands > 2 ? warp.read(inst.operands[3]) : kZeros;
  Row &d = warp.write(inst.operands[0]);
  for (unsigned lane : warp.lanes())
    d[lane] = zeroExtend(operation.function(a[lane], b[lane], c[lane], shape), resultBits);
}

void executePacked(Warp &warp, const Instruction &inst) {
  const auto &operation = *static_cast<const IntegerOperation *>(inst.table);
  IntegerShape shape = unpack(inst.aux[0]);
  const Row &a = warp.read(inst.operands[1]);
  const Row &b = operation.operands > 1 ? warp.read(inst.operands[2]) : kZeros;
  Row &d = warp.write(inst.operands[0]);
  for (unsigned lane : warp.lanes()) {
    uint64_t low = operation.function(a[lane], b[lane], 0, shape);
    uint64_t high = operation.function(a[lane] >> 16, b[lane] >> 16, 0, shape);
    d[lane] = zeroExtend(low, 16) | zeroExtend(high, 16) << 16;
  }
}

/// The frequent 32- and 64-bit forms without a call per lane.
template <typename T, T (*function)(T, T, T)>
void executeFast(Warp &warp, const Instruction &inst) {
  const Row &a = warp.read(inst.operands[1]);
  const Row &b = warp.read(inst.operands[2]);
  const Row &c = inst.operands.size() > 3 ? warp.read(inst.operands[3]) : kZeros;
  Row &d = warp.write(inst.operands[0]);
  for (unsigned lane : warp.lanes())
    d[lane] = function(T(a[lane]), T(b[lane]), T(c[lane]));
}
template <typename T> T fastAdd(T a, T b, T) { return a + b; }
template <typename T> T fastMultiply(T a, T b, T) { return a * b; }
template <typename T> T fastMultiplyAdd(T a, T b, T c) { return a * b + c; }
template <typename T> T fastAnd(T a, T b, T) { return a & b; }
template <typename T> T fastOr(T a, T b, T) { return a | b; }
template <typename T> T fastXor(T a, T b, T) { return a ^ b; }

Handler findFast(StringRef name, unsigned bits) {
#define FAST(NAME, FUNCTION)                                                                       \
  if (name == NAME)                                                                                \
  return bits == 32 ? Handler(executeFast<uint32_t, FUNCTION<uint32_t>>)                           \
                    : Handler(executeFast<uint64_t, FUNCTION<uint64_t>>)
  FAST("add", fastAdd);
  FAST("mul.lo", fastMultiply);
  FAST("mad.lo", fastMultiplyAdd);
  FAST("and", fastAnd);
  FAST("or", fastOr);
  FAST("xor", fastXor);
#undef FAST
  return nullptr;
}

void executeWide(Warp &warp, const Instruction &inst) {
  IntegerShape shape = unpack(inst.aux[0]);
  const Row &a = warp.read(inst.operands[1]);
  const Row &b = warp.read(inst.operands[2]);
  const Row &c = inst.operands.size() > 3 ? warp.read(inst.operands[3]) : kZeros;
  Row &d = warp.write(inst.operands[0]);
  for (unsigned lane : warp.lanes())
    d[lane] =
        zeroExtend(uint64_t(extend(a[lane], shape)) * uint64_t(extend(b[lane], shape)) + c[lane],
                   2 * shape.bits);
}

void executeDivision(Warp &warp, const Instruction &inst) {
  IntegerShape shape = unpack(inst.aux[0]);
  const Row &a = warp.read(inst.operands[1]);
  const Row &b = warp.read(inst.operands[2]);
  for (unsigned lane : warp.lanes()) {
    if (!zeroExtend(b[lane], shape.bits)) {
      warp.report(FindingKind::Unspecified, inst, lane,
                  "division of " + llvm::Twine(extend(a[lane], shape)) +
                      " by zero: the ISA leaves the result open");
      break;
    }
  }
  executeOperation(warp, inst);
}

void executeBitFieldInsert(Warp &warp, const Instruction &inst) {
  unsigned bits = inst.aux[1];
  const Row &a = warp.read(inst.operands[1]);
  const Row &b = warp.read(inst.operands[2]);
  const Row &position = warp.read(inst.operands[3]);
  const Row &length = warp.read(inst.operands[4]);
  Row &d = warp.write(inst.operands[0]);
  for (unsigned lane : warp.lanes())
    d[lane] = zeroExtend(insertField(a[lane], b[lane], position[lane], length[lane], bits), bits);
}

void executeLop3(Warp &warp, const Instruction &inst) {
  const Row &a = warp.read(inst.operands[1]);
  const Row &b = warp.read(inst.operands[2]);
  const Row &c = warp.read(inst.operands[3]);
  const Row &table = warp.read(inst.operands[4]);
  uint32_t nonZero = 0;
  const Operand &target = inst.operands[0];
  const Operand &value = target.kind == Operand::Kind::Pair ? target.elements[0] : target;
  Row &d = warp.write(value);
  for (unsigned lane : warp.lanes()) {
    uint32_t result = 0;
    for (unsigned entry = 0; entry < 8; ++entry)
      if (table[lane] >> entry & 1)
        result |= uint32_t(entry & 4 ? a[lane] : ~a[lane]) &
                  uint32_t(entry & 2 ? b[lane] : ~b[lane]) &
                  uint32_t(entry & 1 ? c[lane] : ~c[lane]);
    d[lane] = result;
    nonZero |= uint32_t(result != 0) << lane;
  }
  // lop3.BoolOp d|p, a, b, c, table, q: p = (d != 0) BoolOp q
  if (target.kind == Operand::Kind::Pair) {
    uint32_t q = warp.readPredicate(inst.operands[5]);
    warp.writePredicate(target.elements[1], inst.aux[0] ? nonZero | q : nonZero & q);
  }
}

/// add.cc, addc, sub.cc, subc, mad.cc, madc (PTX ISA 9.7.2). aux[2]: 1 reads the carry, 2 writes
/// it, 4 subtracts, 8 multiplies first, 16 takes the high half of the product.
void executeCarry(Warp &warp, const Instruction &inst) {
  IntegerShape shape = unpack(inst.aux[0]);
  unsigned flags = inst.aux[2];
  const Row &a = warp.read(inst.operands[1]);
  const Row &b = warp.read(inst.operands[2]);
  const Row &c = flags & 8 ? warp.read(inst.operands[3]) : kZeros;
  Row &d = warp.write(inst.operands[0]);
  uint32_t &carry = warp.execution().carry;
  uint32_t carryOut = carry;
  for (unsigned lane : warp.lanes()) {
    uint64_t x = a[lane], y = b[lane];
    if (flags & 8) {
      x = flags & 16 ? multiplyHigh(x, y, shape)
                     : uint64_t(extend(x, shape)) * uint64_t(extend(y, shape));
      y = c[lane];
    }
    x = zeroExtend(x, shape.bits);
    y = zeroExtend(y, shape.bits);
    unsigned __int128 in = flags & 1 ? carry >> lane & 1 : 0;
    unsigned __int128 sum = flags & 4 ? static_cast<unsigned __int128>(x) - y - in
                                      : static_cast<unsigned __int128>(x) + y + in;
    d[lane] = zeroExtend(uint64_t(sum), shape.bits);
    bool out = sum >> shape.bits & 1;
    carryOut = (carryOut & ~(1u << lane)) | uint32_t(out) << lane;
  }
  if (flags & 2)
    carry = carryOut;
}

IntegerShape shapeOf(const Modifiers &modifiers, Type type) {
  IntegerShape shape;
  shape.packed = type == Type::U16x2 || type == Type::S16x2;
  shape.bits = shape.packed ? 16 : bitWidth(type);
  shape.isSigned = isSigned(type);
  shape.saturate = modifiers.has("sat");
  shape.relu = modifiers.has("relu");
  return shape;
}

Error checkOperands(const Modifiers &modifiers, const Instruction &inst, size_t count) {
  if (inst.operands.size() == count)
    return Error::success();
  return modifiers.error("expected " + llvm::Twine(count) + " operands, found " +
                         llvm::Twine(inst.operands.size()));
}

Error decodeCarry(const Modifiers &modifiers, Instruction &inst, StringRef name) {
  inst.aux[0] = pack(shapeOf(modifiers, inst.type));
  inst.aux[2] = (name.ends_with("c") ? 1 : 0) | (modifiers.has("cc") ? 2 : 0) |
                (name.starts_with("sub") ? 4 : 0) | (name.starts_with("mad") ? 8 : 0) |
                (modifiers.has("hi") ? 16 : 0);
  inst.handler = executeCarry;
  return checkOperands(modifiers, inst, name.starts_with("mad") ? 4 : 3);
}

/// Modes that change what an operation does.
uint8_t modeOf(const Modifiers &modifiers, const Instruction &inst, StringRef name) {
  if (name == "shf")
    return (modifiers.has("r") ? 1 : 0) | (modifiers.has("wrap") ? 2 : 0);
  if (name == "bfind")
    return modifiers.has("shiftamt");
  if (name == "szext" || name == "bmsk")
    return modifiers.has("wrap");
  if (name == "dp4a" || name == "dp2a")
    return (name == "dp4a" ? 0 : modifiers.has("hi") ? 2 : 1) | (isSigned(inst.types[1]) ? 4 : 0);
  static constexpr StringRef kPermute[] = {"f4e", "b4e", "rc8", "ecl", "ecr", "rc16"};
  if (name == "prmt")
    for (size_t i = 0; i < std::size(kPermute); ++i)
      if (modifiers.has(kPermute[i]))
        return 1 + i;
  return 0;
}

/// Instruction::movedOperands. Of two operands of xor, one must be a constant: a bit of the result
/// is not monotone in both.
uint8_t movedOperandsOf(StringRef name, const Instruction &inst) {
  if (name == "xor" && inst.operands.size() == 3)
    return inst.operands[2].isImmediate() ? 1 << 1 : inst.operands[1].isImmediate() ? 1 << 2 : 0;
  return llvm::StringSwitch<uint8_t>(name)
      .Cases({"shl", "shr", "bfe", "brev", "not"}, 1 << 1)
      .Cases({"and", "or", "prmt", "shf"}, 1 << 1 | 1 << 2)
      .Default(0);
}

Error decodeInteger(const Modifiers &modifiers, Instruction &inst) {
  StringRef name = baseOpcode(inst);
  if (inst.types.empty())
    return modifiers.error("expected a type");
  if (isFloat(inst.type))
    return decodeFloatArithmetic(modifiers, inst);
  if (Error e =
          modifiers.checkKnown({"lo", "hi", "wide", "sat", "cc", "relu", "l", "r", "clamp", "wrap",
                                "shiftamt", "f4e", "b4e", "rc8", "ecl", "ecr", "rc16", "uni"}))
    return e;
  if (modifiers.has("cc") || name == "addc" || name == "subc" || name == "madc")
    return decodeCarry(modifiers, inst, name);
  IntegerShape shape = shapeOf(modifiers, name.starts_with("dp") ? inst.types[0] : inst.type);
  if (modifiers.has("wide")) {
    inst.aux[0] = pack(shape);
    inst.handler = executeWide;
    return checkOperands(modifiers, inst, name == "mad" ? 4 : 3);
  }
  std::string key = name.str();
  if (modifiers.has("lo") && name != "dp2a")
    key += ".lo";
  else if (modifiers.has("hi") && name != "dp2a")
    key += ".hi";
  const IntegerOperation *operation = findIntegerOperation(key);
  if (!operation)
    return modifiers.error("expected .lo, .hi or .wide");
  if (name == "dp2a" || name == "dp4a")
    if (inst.types.size() != 2)
      return modifiers.error("expected two types");
  shape.mode = modeOf(modifiers, inst, name);
  inst.aux[0] = pack(shape);
  inst.aux[1] = name == "popc" || name == "clz" || name == "bfind" ? 32 : shape.bits;
  inst.table = operation;
  inst.movedOperands = movedOperandsOf(name, inst);
  inst.handler = executeOperation;
  if (shape.packed)
    inst.handler = executePacked;
  else if (name == "div" || name == "rem")
    inst.handler = executeDivision;
  else if (!shape.saturate && (shape.bits == 32 || shape.bits == 64))
    if (Handler fast = findFast(key, shape.bits))
      inst.handler = fast;
  return checkOperands(modifiers, inst, operation->operands + 1);
}

/// and, or, xor and not also combine predicates.
template <unsigned op> void executePredicateLogic(Warp &warp, const Instruction &inst) {
  uint32_t a = warp.readPredicate(inst.operands[1]);
  uint32_t b = op == 3 ? 0 : warp.readPredicate(inst.operands[2]);
  warp.writePredicate(inst.operands[0], op == 0 ? a & b : op == 1 ? a | b : op == 2 ? a ^ b : ~a);
}

Error decodeLogic(const Modifiers &modifiers, Instruction &inst) {
  if (inst.type != Type::Pred)
    return decodeInteger(modifiers, inst);
  StringRef name = baseOpcode(inst);
  inst.handler = name == "and"   ? executePredicateLogic<0>
                 : name == "or"  ? executePredicateLogic<1>
                 : name == "xor" ? executePredicateLogic<2>
                                 : executePredicateLogic<3>;
  return checkOperands(modifiers, inst, name == "not" ? 2 : 3);
}

Error decodeLop3(const Modifiers &modifiers, Instruction &inst) {
  inst.aux[0] = modifiers.has("or");
  inst.handler = executeLop3;
  bool hasPredicate = !inst.operands.empty() && inst.operands[0].kind == Operand::Kind::Pair;
  if (hasPredicate && inst.operands[0].elements.size() != 2)
    return modifiers.error("expected d|p");
  return checkOperands(modifiers, inst, hasPredicate ? 6 : 5);
}

Error decodeBitFieldInsert(const Modifiers &modifiers, Instruction &inst) {
  inst.aux[1] = bitWidth(inst.type);
  inst.movedOperands = 1 << 1 | 1 << 2;
  inst.handler = executeBitFieldInsert;
  return checkOperands(modifiers, inst, 5);
}

} // namespace

void tcc::emulator::registerIntegerInstructions(InstructionTable &table) {
  for (StringRef name :
       {"add", "sub",   "mul",  "mad",  "mul24", "mad24", "sad",  "div",  "rem",  "abs",   "neg",
        "min", "max",   "cnot", "shl",  "shr",   "shf",   "popc", "clz",  "brev", "bfind", "fns",
        "bfe", "szext", "bmsk", "prmt", "dp4a",  "dp2a",  "addc", "subc", "madc"})
    table.add(name, decodeInteger);
  for (StringRef name : {"and", "or", "xor", "not"})
    table.add(name, decodeLogic);
  table.add("lop3", decodeLop3);
  table.add("bfi", decodeBitFieldInsert);
  registerMoveInstructions(table);
}
