//===- MoveInstructions.cpp - mov, selp, slct, setp, set --------*- C++ -*-===//

#include "InstructionTable.h"
#include "IntegerMath.h"
#include "Warp.h"

using namespace tcc::emulator;
using llvm::Error;
using llvm::StringRef;

namespace {

//===----------------------------------------------------------------------===//
// mov
//===----------------------------------------------------------------------===//

// aux[0]: bits.
void executeMove(Warp &warp, const Instruction &inst) {
  const Row &a = warp.read(inst.operands[1]);
  Row &d = warp.write(inst.operands[0]);
  for (unsigned lane : warp.lanes())
    d[lane] = zeroExtend(a[lane], inst.aux[0]);
}

void executeMove128(Warp &warp, const Instruction &inst) {
  uint32_t from = inst.operands[1].slot, to = inst.operands[0].slot;
  for (unsigned half = 0; half < 2; ++half)
    for (unsigned lane : warp.lanes())
      warp.writeRow(to + half)[lane] = warp.readRow(from + half)[lane];
}

void executeMovePredicate(Warp &warp, const Instruction &inst) {
  warp.writePredicate(inst.operands[0], warp.readPredicate(inst.operands[1]));
}

/// mov.b64 d, {a, b}: element 0 is the least significant.
void executePack(Warp &warp, const Instruction &inst) {
  llvm::ArrayRef<Operand> elements = inst.operands[1].elements;
  unsigned bits = inst.aux[0] / elements.size();
  const Operand &target = inst.operands[0];
  Row low = {}, high = {};
  for (size_t i = 0; i < elements.size(); ++i) {
    const Row &element = warp.read(elements[i]);
    unsigned shift = unsigned(i) * bits;
    for (unsigned lane : warp.lanes())
      (shift >= 64 ? high : low)[lane] |= zeroExtend(element[lane], bits) << (shift % 64);
  }
  Row &d = warp.write(target);
  for (unsigned lane : warp.lanes())
    d[lane] = low[lane];
  if (inst.aux[0] == 128 && target.isRegister())
    for (unsigned lane : warp.lanes())
      warp.writeRow(target.slot + 1)[lane] = high[lane];
}

void executeUnpack(Warp &warp, const Instruction &inst) {
  llvm::ArrayRef<Operand> elements = inst.operands[0].elements;
  unsigned bits = inst.aux[0] / elements.size();
  const Operand &source = inst.operands[1];
  // Copies: a target may be the source itself.
  Row low = warp.read(source);
  Row high = inst.aux[0] == 128 && source.isRegister() ? warp.readRow(source.slot + 1) : Row{};
  for (size_t i = 0; i < elements.size(); ++i) {
    Row &d = warp.write(elements[i]);
    unsigned shift = unsigned(i) * bits;
    for (unsigned lane : warp.lanes())
      d[lane] = zeroExtend((shift >= 64 ? high : low)[lane] >> (shift % 64), bits);
  }
}

Error decodeMove(const Modifiers &modifiers, Instruction &inst) {
  if (inst.operands.size() != 2)
    return modifiers.error("expected 2 operands");
  if (Error e = modifiers.checkKnown({}))
    return e;
  inst.movedOperands = 1 << 1;
  inst.aux[0] = bitWidth(inst.type);
  const Operand &target = inst.operands[0], &source = inst.operands[1];
  if (inst.type == Type::None)
    return modifiers.error("expected a type");
  if (source.isVector() || target.isVector()) {
    const Operand &vector = source.isVector() ? source : target;
    if (vector.elements.empty() || inst.aux[0] % vector.elements.size() ||
        inst.aux[0] / vector.elements.size() > 64)
      return modifiers.error("the vector's elements do not divide the type");
    inst.handler = source.isVector() ? executePack : executeUnpack;
  } else if (inst.type == Type::Pred) {
    inst.handler = executeMovePredicate;
  } else if (inst.type == Type::B128) {
    if (!source.isRegister() || !target.isRegister() || source.bits != 128 || target.bits != 128)
      return modifiers.error("expected .b128 registers");
    inst.handler = executeMove128;
  } else {
    inst.handler = executeMove;
  }
  return Error::success();
}

//===----------------------------------------------------------------------===//
// selp, slct
//===----------------------------------------------------------------------===//

void select(Warp &warp, const Instruction &inst, uint32_t takesFirst) {
  const Row &a = warp.read(inst.operands[1]);
  const Row &b = warp.read(inst.operands[2]);
  Row &d = warp.write(inst.operands[0]);
  for (unsigned lane : warp.lanes())
    d[lane] = zeroExtend(takesFirst >> lane & 1 ? a[lane] : b[lane], inst.aux[0]);
}

void executeSelect(Warp &warp, const Instruction &inst) {
  select(warp, inst, warp.readPredicate(inst.operands[3]));
}

/// slct d, a, b, c: a where c >= 0.
void executeSignSelect(Warp &warp, const Instruction &inst) {
  const Row &c = warp.read(inst.operands[3]);
  uint32_t takesFirst = 0;
  for (unsigned lane : warp.lanes())
    takesFirst |= uint32_t(int32_t(c[lane]) >= 0) << lane;
  select(warp, inst, takesFirst);
}

Error decodeSelect(const Modifiers &modifiers, Instruction &inst) {
  if (inst.operands.size() != 4)
    return modifiers.error("expected 4 operands");
  bool isSlct = inst.opcode.starts_with("slct");
  if (isSlct && isFloat(inst.type))
    return decodeFloatArithmetic(modifiers, inst);
  if (inst.types.empty())
    return modifiers.error("expected a type");
  if (Error e = modifiers.checkKnown({"ftz"}))
    return e;
  inst.aux[0] = bitWidth(inst.types.front());
  inst.movedOperands = 1 << 1 | 1 << 2;
  inst.handler = isSlct ? executeSignSelect : executeSelect;
  return Error::success();
}

//===----------------------------------------------------------------------===//
// setp, set
//===----------------------------------------------------------------------===//

// aux[0]: IntegerCompare; aux[1]: bits; aux[2]: signed; aux[3]: 0 no boolean operation, 1 and, 2
// or, 3 xor.
uint32_t compareLanes(Warp &warp, const Instruction &inst) {
  IntegerShape shape;
  shape.bits = inst.aux[1];
  shape.isSigned = inst.aux[2];
  const Row &a = warp.read(inst.operands[1]);
  const Row &b = warp.read(inst.operands[2]);
  uint32_t result = 0;
  for (unsigned lane : warp.lanes())
    result |= uint32_t(compare(IntegerCompare(inst.aux[0]), a[lane], b[lane], shape)) << lane;
  return result;
}

uint32_t combine(const Instruction &inst, uint32_t value, uint32_t c) {
  switch (inst.aux[3]) {
  case 1:
    return value & c;
  case 2:
    return value | c;
  case 3:
    return value ^ c;
  default:
    return value;
  }
}

void executeSetPredicate(Warp &warp, const Instruction &inst) {
  uint32_t value = compareLanes(warp, inst);
  uint32_t c = inst.aux[3] ? warp.readPredicate(inst.operands[3]) : 0;
  llvm::ArrayRef<Operand> targets = Warp::elements(inst.operands[0]);
  // p|q: q is the opposite comparison, combined in the same way.
  warp.writePredicate(targets[0], combine(inst, value, c));
  if (targets.size() > 1)
    warp.writePredicate(targets[1], combine(inst, ~value, c));
}

void executeSet(Warp &warp, const Instruction &inst) {
  uint32_t value = compareLanes(warp, inst);
  value = combine(inst, value, inst.aux[3] ? warp.readPredicate(inst.operands[3]) : 0);
  Row &d = warp.write(inst.operands[0]);
  uint64_t whenTrue = inst.types.front() == Type::F32 ? 0x3f800000 : UINT32_MAX;
  for (unsigned lane : warp.lanes())
    d[lane] = value >> lane & 1 ? whenTrue : 0;
}

Error decodeCompare(const Modifiers &modifiers, Instruction &inst) {
  bool isSetp = inst.opcode.starts_with("setp");
  if (inst.types.empty())
    return modifiers.error("expected a type");
  if (isFloat(inst.type))
    return decodeFloatArithmetic(modifiers, inst);
  if (Error e = modifiers.checkKnown(
          {"eq", "ne", "lt", "le", "gt", "ge", "lo", "ls", "hi", "hs", "and", "or", "xor", "ftz"}))
    return e;
  bool forcesUnsigned = false;
  std::optional<IntegerCompare> predicate =
      modifiers.all().empty() ? std::nullopt
                              : parseIntegerCompare(modifiers.all().front(), forcesUnsigned);
  if (!predicate)
    return modifiers.error("expected a comparison such as .eq or .lt");
  inst.aux[0] = uint32_t(*predicate);
  inst.aux[1] = bitWidth(inst.type);
  inst.aux[2] = isSigned(inst.type) && !forcesUnsigned;
  inst.aux[3] = modifiers.has("and") ? 1 : modifiers.has("or") ? 2 : modifiers.has("xor") ? 3 : 0;
  if (inst.operands.size() != (inst.aux[3] ? 4 : 3))
    return modifiers.error("wrong number of operands");
  inst.handler = isSetp ? executeSetPredicate : executeSet;
  return Error::success();
}

} // namespace

void tcc::emulator::registerMoveInstructions(InstructionTable &table) {
  table.add("mov", decodeMove);
  table.add("selp", decodeSelect);
  table.add("slct", decodeSelect);
  table.add("setp", decodeCompare);
  table.add("set", decodeCompare);
}
