//===- ControlInstructions.cpp - Branches, calls, exits ---------*- C++ -*-===//

#include "AddressSpace.h"
#include "InstructionTable.h"
#include "Machine.h"

using namespace tcc::emulator;
using llvm::Error;

namespace {

void executeBranch(Warp &warp, const Instruction &inst) {
  branch(warp, warp.active(), uint32_t(inst.operands[0].immediate), inst.reconvergence);
}

void executeIndexedBranch(Warp &warp, const Instruction &inst) {
  const std::vector<uint32_t> &targets = warp.machine().program().targetLists[inst.index];
  const Row index = warp.read(inst.operands[0]);
  uint32_t rest = warp.active();
  while (rest) {
    unsigned first = *LaneRange(rest).begin();
    uint64_t target = uint32_t(index[first]);
    if (target >= targets.size())
      return warp.fault(FindingKind::OutOfBounds, inst, first,
                        "index " + llvm::Twine(target) + " into a list of " +
                            llvm::Twine(targets.size()) + " branch targets");
    uint32_t same = 0;
    for (unsigned lane : LaneRange(rest))
      same |= uint32_t(uint32_t(index[lane]) == target) << lane;
    branch(warp, same, targets[target], inst.reconvergence);
    rest &= ~same;
  }
}

void executeCall(Warp &warp, const Instruction &inst) {
  const Operand &callee = inst.operands[inst.operands[0].isVector() ? 1 : 0];
  const Program &program = warp.machine().program();
  const Row target = warp.read(callee);
  uint32_t rest = warp.active();
  while (rest && !warp.machine().stopped()) {
    unsigned first = *LaneRange(rest).begin();
    uint64_t value = target[first] - kFunctionTag;
    uint32_t function =
        value < program.functionOfModule.size() ? program.functionOfModule[value] : kNoSlot;
    if (function == kNoSlot)
      return warp.fault(FindingKind::IllegalInstruction, inst, first,
                        "the called address is not a function");
    const FunctionCode &code = program.functions[function];
    if (!code.hasBody) {
      bool isAssert = code.name == "__assertfail";
      return warp.fault(isAssert ? FindingKind::Trap : FindingKind::Unsupported, inst, first,
                        isAssert ? llvm::Twine("a device assertion failed")
                                 : "function '" + code.name + "' has no body in this module");
    }
    uint32_t same = 0;
    for (unsigned lane : LaneRange(rest))
      same |= uint32_t(target[lane] == target[first]) << lane;
    call(warp, inst, same, function);
    rest &= ~same;
  }
}

void executeReturn(Warp &warp, const Instruction &) { returnLanes(warp, warp.active()); }
void executeExit(Warp &warp, const Instruction &) { exitLanes(warp, warp.active()); }

void executeTrap(Warp &warp, const Instruction &inst) {
  warp.fault(FindingKind::Trap, inst, *warp.lanes().begin(), "the kernel executed trap");
}

void executeNothing(Warp &, const Instruction &) {}

/// A sleeping thread lets others run.
void executeSleep(Warp &warp, const Instruction &) { warp.execution().endsTurn = true; }

Error decodeBranch(const Modifiers &modifiers, Instruction &inst) {
  if (inst.operands.size() != 1 || inst.operands[0].kind != Operand::Kind::Label)
    return modifiers.error("expected a label");
  inst.destinations = 0;
  inst.flow = Flow::Branch;
  inst.handler = executeBranch;
  return modifiers.checkKnown({"uni"});
}

Error decodeIndexedBranch(const Modifiers &modifiers, Instruction &inst) {
  if (inst.operands.size() != 2 || inst.operands[1].kind != Operand::Kind::Label)
    return modifiers.error("expected an index and the label of a .branchtargets list");
  inst.destinations = 0;
  inst.flow = Flow::BranchIndexed;
  inst.handler = executeIndexedBranch;
  return modifiers.checkKnown({"uni"});
}

Error decodeCall(const Modifiers &modifiers, Instruction &inst) {
  if (inst.operands.empty() || (inst.operands[0].isVector() && inst.operands.size() < 2))
    return modifiers.error("expected a function");
  // Undefined arguments stay undefined in the callee.
  inst.propagatesUndefined = true;
  inst.destinations = 0;
  inst.flow = Flow::Call;
  inst.handler = executeCall;
  return modifiers.checkKnown({"uni"});
}

template <Handler handler, Flow flow>
Error decodeSimple(const Modifiers &modifiers, Instruction &inst) {
  inst.destinations = 0;
  inst.flow = flow;
  inst.handler = handler;
  return modifiers.checkKnown({"uni", "u32"});
}

} // namespace

void tcc::emulator::registerControlInstructions(InstructionTable &table) {
  table.add("bra", decodeBranch);
  table.add("brx.idx", decodeIndexedBranch);
  table.add("call", decodeCall);
  table.add("ret", decodeSimple<executeReturn, Flow::Return>);
  table.add("exit", decodeSimple<executeExit, Flow::Exit>);
  table.add("trap", decodeSimple<executeTrap, Flow::Exit>);
  table.add("brkpt", decodeSimple<executeNothing, Flow::Next>);
  table.add("pmevent", decodeSimple<executeNothing, Flow::Next>);
  table.add("nanosleep", decodeSimple<executeSleep, Flow::Next>);
}
