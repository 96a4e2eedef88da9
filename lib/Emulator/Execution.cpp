//===- Execution.cpp - How the lanes of a warp advance ----------*- C++ -*-===//

#include "Execution.h"
#include "Machine.h"

#include "llvm/Support/MathExtras.h"

#include <cstring>

using namespace tcc::emulator;

static void removeGroup(Execution &exec, Group &group) {
  if (exec.current == &group)
    exec.current = nullptr;
  exec.groups.remove_if([&](const Group &candidate) { return &candidate == &group; });
}

void tcc::emulator::branch(Warp &warp, uint32_t taken, uint32_t target, uint32_t reconvergence) {
  Execution &exec = warp.execution();
  Group &group = *exec.current;
  uint32_t rest = group.mask & ~taken;
  if (!rest) {
    exec.next = target;
    return;
  }
  const Program &program = warp.machine().program();
  Join where;
  where.index = reconvergence;
  where.frame = group.frame;
  // Lanes that return from a function at different places meet after the call.
  if (where.index == kFunctionEnd && group.frame) {
    where.index = group.frame->call + 1;
    where.frame = group.frame->parent;
  }
  bool known = group.join && group.join->index == where.index && group.join->frame == where.frame;
  if (where.index != kFunctionEnd && !known && where.index < program.code.size()) {
    where.expected = group.mask;
    where.parent = group.join;
    group.join = std::make_shared<Join>(std::move(where));
  }
  Group other;
  other.mask = taken;
  other.index = target;
  other.frame = group.frame;
  other.join = group.join;
  group.mask = rest;
  exec.groups.push_back(std::move(other));
}

/// Moves the lanes that wait at a join on, as one group.
static void completeJoin(Execution &exec, const std::shared_ptr<Join> &join) {
  Group &group = exec.groups.emplace_back();
  group.mask = join->arrived;
  group.index = join->index;
  group.frame = join->frame;
  group.join = join->parent;
  join->expected &= ~join->arrived;
  join->arrived = 0;
}

void tcc::emulator::exitLanes(Warp &warp, uint32_t mask) {
  Execution &exec = warp.execution();
  Group &group = *exec.current;
  exec.live &= ~mask;
  group.mask &= ~mask;
  for (std::shared_ptr<Join> join = group.join; join; join = join->parent) {
    join->expected &= ~mask;
    if (join->arrived && join->arrived == join->expected) {
      llvm::erase(exec.parked, join);
      completeJoin(exec, join);
    }
  }
  // Lanes that have exited no longer belong to member masks.
  for (Group &other : exec.groups)
    if (other.wait.kind == Wait::Kind::Members)
      other.isBlocked = false;
  warp.machine().noteProgress();
  if (!group.mask) {
    exec.endsTurn = true;
    removeGroup(exec, group);
  }
  if (!exec.live)
    warp.cta().warpExited();
}

bool tcc::emulator::reachJoin(Warp &warp, Group &group) {
  Execution &exec = warp.execution();
  std::shared_ptr<Join> join = group.join;
  if (!join->arrived && join->expected != group.mask)
    exec.parked.push_back(join);
  join->arrived |= group.mask;
  if (join->arrived == join->expected) {
    llvm::erase(exec.parked, join);
    group.mask = join->arrived;
    group.join = join->parent;
    return true;
  }
  removeGroup(exec, group);
  return false;
}

bool tcc::emulator::releaseParked(Warp &warp) {
  Execution &exec = warp.execution();
  if (exec.parked.empty())
    return false;
  std::shared_ptr<Join> join = exec.parked.back();
  exec.parked.pop_back();
  completeJoin(exec, join);
  return true;
}

void tcc::emulator::mergeGroups(Warp &warp) {
  std::list<Group> &groups = warp.execution().groups;
  for (auto a = groups.begin(); a != groups.end(); ++a) {
    if (a->isBlocked)
      continue;
    for (auto b = std::next(a); b != groups.end();) {
      if (!b->isBlocked && b->index == a->index && b->frame == a->frame && b->join == a->join) {
        a->mask |= b->mask;
        b = groups.erase(b);
      } else {
        ++b;
      }
    }
  }
}

bool tcc::emulator::growStack(Warp &warp, unsigned lane, uint64_t end) {
  Execution &exec = warp.execution();
  if (end > kMaxLocalBytes)
    return false;
  if (exec.stack[lane].size() < end) {
    exec.stack[lane].resize(end);
    exec.stackDefined[lane].resize(end);
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

namespace {
/// A parameter's bytes in one lane, with their definedness.
struct ParameterCopy {
  std::vector<uint8_t> bytes;
  std::vector<uint8_t> defined;
};
} // namespace

static ParameterCopy readPlace(Warp &warp, const ParameterPlace &place, uint64_t frame,
                               unsigned lane) {
  Execution &exec = warp.execution();
  ParameterCopy copy;
  copy.bytes.resize(place.bytes);
  if (place.row != kNoSlot) {
    std::memcpy(copy.bytes.data(), &warp.readRow(place.row)[lane],
                std::min<uint64_t>(8, place.bytes));
    uint64_t undefined = warp.undefinedBits(place.row, lane);
    for (uint64_t byte = 0; byte < place.bytes; ++byte)
      copy.defined.push_back(byte >= 8 || !(undefined >> byte * 8 & 0xff));
    return copy;
  }
  auto begin = frame + place.offset;
  copy.bytes.assign(exec.stack[lane].begin() + begin,
                    exec.stack[lane].begin() + begin + place.bytes);
  copy.defined.assign(exec.stackDefined[lane].begin() + begin,
                      exec.stackDefined[lane].begin() + begin + place.bytes);
  return copy;
}

static void writePlace(Warp &warp, const ParameterPlace &place, uint64_t frame, unsigned lane,
                       const ParameterCopy &copy) {
  Execution &exec = warp.execution();
  uint64_t bytes = std::min<uint64_t>(place.bytes, copy.bytes.size());
  if (place.row != kNoSlot) {
    uint64_t value = 0;
    std::memcpy(&value, copy.bytes.data(), std::min<uint64_t>(8, bytes));
    warp.writeRow(place.row)[lane] = value;
    uint64_t undefined = 0;
    for (uint64_t byte = 0; byte < std::min<uint64_t>(8, bytes); ++byte)
      undefined |= copy.defined[byte] ? 0 : uint64_t(0xff) << byte * 8;
    warp.setUndefinedBits(place.row, lane, undefined);
    return;
  }
  std::memcpy(exec.stack[lane].data() + frame + place.offset, copy.bytes.data(), bytes);
  std::memcpy(exec.stackDefined[lane].data() + frame + place.offset, copy.defined.data(), bytes);
}

/// Where a call's own operand lives: a variable of the caller's frame, a register, a literal (row
/// kNoSlot, kept in `literal`).
static ParameterPlace actualPlace(const Operand &operand, uint64_t bytes) {
  ParameterPlace place;
  place.bytes = bytes;
  if (operand.kind == Operand::Kind::Register)
    place.row = operand.slot;
  else
    place.offset = uint64_t(operand.immediate);
  return place;
}

static llvm::ArrayRef<Operand> arguments(const Instruction &inst) {
  // call [(results),] callee [, (arguments)] [, prototype]
  for (size_t i = 1; i < inst.operands.size(); ++i)
    if (inst.operands[i].isVector())
      return inst.operands[i].elements;
  return {};
}

static llvm::ArrayRef<Operand> results(const Instruction &inst) {
  return inst.operands[0].isVector() ? inst.operands[0].elements : llvm::ArrayRef<Operand>();
}

void tcc::emulator::call(Warp &warp, const Instruction &inst, uint32_t taken, uint32_t function) {
  Execution &exec = warp.execution();
  const Program &program = warp.machine().program();
  const FunctionCode &callee = program.functions[function];
  const FunctionCode &caller = program.functions[inst.function];
  llvm::ArrayRef<Operand> actual = arguments(inst);
  unsigned first = *LaneRange(taken).begin();
  if (actual.size() != callee.parameters.size() || results(inst).size() > callee.results.size())
    return warp.fault(FindingKind::IllegalInstruction, inst, first,
                      "'" + callee.name + "' takes " + llvm::Twine(callee.parameters.size()) +
                          " arguments, the call passes " + llvm::Twine(actual.size()));
  auto frame = std::make_shared<Frame>();
  frame->parent = exec.current->frame;
  frame->call = inst.index;
  frame->function = function;
  bool isRecursive = function == inst.function;
  for (const Frame *f = exec.current->frame.get(); f; f = f->parent.get())
    isRecursive |= f->function == function;

  // Read all arguments before a recursive call's rows are overwritten.
  std::vector<ParameterCopy> values;
  for (unsigned lane : LaneRange(taken)) {
    uint64_t callerFrame = warp.readRow(caller.frameRow)[lane];
    for (size_t i = 0; i < actual.size(); ++i) {
      uint64_t bytes = callee.parameters[i].bytes;
      if (actual[i].isImmediate()) {
        ParameterCopy literal;
        literal.bytes.resize(std::max<uint64_t>(bytes, 8));
        std::memcpy(literal.bytes.data(), &actual[i].immediate, 8);
        literal.defined.assign(literal.bytes.size(), 1);
        values.push_back(std::move(literal));
      } else {
        values.push_back(readPlace(warp, actualPlace(actual[i], bytes), callerFrame, lane));
      }
    }
  }
  if (isRecursive) {
    for (uint32_t row = callee.firstRow; row < callee.firstRow + callee.rowCount; ++row)
      frame->savedRows.push_back(warp.readRow(row));
    frame->savedRows.push_back(warp.readRow(callee.frameRow));
    for (uint32_t p = 0; p < callee.predicateCount; ++p) {
      Operand predicate;
      predicate.kind = Operand::Kind::Predicate;
      predicate.slot = callee.firstPredicate + p;
      frame->savedPredicates.push_back(warp.readPredicate(predicate));
    }
  }
  size_t next = 0;
  for (unsigned lane : LaneRange(taken)) {
    uint64_t begin = llvm::alignTo(warp.readRow(caller.frameRow)[lane] + caller.frameBytes, 16);
    if (!growStack(warp, lane, begin + callee.frameBytes))
      return warp.fault(FindingKind::OutOfBounds, inst, lane,
                        "the stack exceeds " + llvm::Twine(kMaxLocalBytes) + " bytes");
    std::fill_n(exec.stackDefined[lane].begin() + begin, callee.frameBytes, 0);
    warp.writeRow(callee.frameRow)[lane] = begin;
    for (const ParameterPlace &place : callee.parameters)
      writePlace(warp, place, begin, lane, values[next++]);
  }
  warp.setDefined(callee.frameRow, taken);
  // Lanes that do not call go on; all meet behind the call.
  bool splits = exec.current->mask & ~taken;
  branch(warp, taken, callee.begin, inst.index + 1);
  (splits ? exec.groups.back() : *exec.current).frame = std::move(frame);
}

void tcc::emulator::returnLanes(Warp &warp, uint32_t mask) {
  Execution &exec = warp.execution();
  if (!exec.current->frame)
    return exitLanes(warp, mask);
  std::shared_ptr<const Frame> frame = exec.current->frame;
  const Program &program = warp.machine().program();
  const Instruction &site = program.code[frame->call];
  const FunctionCode &callee = program.functions[frame->function];
  const FunctionCode &caller = program.functions[site.function];
  llvm::ArrayRef<Operand> actual = results(site);
  for (unsigned lane : LaneRange(mask)) {
    uint64_t calleeFrame = warp.readRow(callee.frameRow)[lane];
    std::vector<ParameterCopy> values;
    for (size_t i = 0; i < actual.size(); ++i)
      values.push_back(readPlace(warp, callee.results[i], calleeFrame, lane));
    for (size_t row = 0; row + 1 < frame->savedRows.size(); ++row)
      warp.writeRow(callee.firstRow + row)[lane] = frame->savedRows[row][lane];
    if (!frame->savedRows.empty())
      warp.writeRow(callee.frameRow)[lane] = frame->savedRows.back()[lane];
    for (size_t i = 0; i < actual.size(); ++i)
      writePlace(warp, actualPlace(actual[i], callee.results[i].bytes),
                 warp.readRow(caller.frameRow)[lane], lane, values[i]);
  }
  for (size_t p = 0; p < frame->savedPredicates.size(); ++p) {
    Operand predicate;
    predicate.kind = Operand::Kind::Predicate;
    predicate.slot = callee.firstPredicate + p;
    warp.writePredicate(predicate, frame->savedPredicates[p]);
  }
  // The lanes leave their frame; others of the group stay in the function.
  bool splits = exec.current->mask & ~mask;
  branch(warp, mask, frame->call + 1, kFunctionEnd);
  (splits ? exec.groups.back() : *exec.current).frame = frame->parent;
}
