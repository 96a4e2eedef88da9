//===- WarpInstructions.cpp - shfl, vote, match, redux, elect ---*- C++ -*-===//
//
// The machine has brought the lanes of the member mask together: the active lanes are those that
// take part.
//
//===----------------------------------------------------------------------===//

#include "Execution.h"
#include "InstructionTable.h"

using namespace tcc::emulator;
using llvm::Error;
using llvm::StringRef;

namespace {

enum class ShuffleMode : uint32_t { Up, Down, Butterfly, Index };

void executeShuffle(Warp &warp, const Instruction &inst) {
  const Row a = warp.read(inst.operands[1]);
  const Row b = warp.read(inst.operands[2]);
  const Row c = warp.read(inst.operands[3]);
  llvm::ArrayRef<Operand> targets = Warp::elements(inst.operands[0]);
  Row &d = warp.write(targets[0]);
  uint32_t inRange = 0, defined = 0;
  for (unsigned lane : warp.lanes()) {
    // PTX ISA 9.7.9.6: c[12:8] is the segment mask, c[4:0] the clamp.
    unsigned segment = c[lane] >> 8 & 31, clamp = c[lane] & 31, offset = b[lane] & 31;
    int last = (lane & segment) | (clamp & ~segment);
    int from = 0;
    bool valid = false;
    switch (ShuffleMode(inst.aux[0])) {
    case ShuffleMode::Up:
      from = int(lane) - int(offset);
      valid = from >= last;
      break;
    case ShuffleMode::Down:
      from = lane + offset;
      valid = from <= last;
      break;
    case ShuffleMode::Butterfly:
      from = lane ^ offset;
      valid = from <= last;
      break;
    case ShuffleMode::Index:
      from = (lane & segment) | (offset & ~segment);
      valid = from <= last;
      break;
    }
    if (!valid)
      from = lane;
    // What a lane that takes no part would give is undefined; it may be read but not used.
    if (warp.active() >> from & 1)
      defined |= 1u << lane;
    d[lane] = uint32_t(a[from]);
    inRange |= uint32_t(valid) << lane;
  }
  if (targets[0].isRegister()) {
    warp.setDefined(targets[0].slot, defined);
    for (unsigned lane : LaneRange(warp.active() & ~defined))
      warp.setUndefinedBits(targets[0].slot, lane, ~uint64_t(0));
  }
  if (targets.size() > 1 && targets[1].isPredicate()) {
    warp.writePredicate(targets[1], inRange);
    warp.setPredicateDefined(targets[1].slot, warp.active());
  }
}

Error decodeShuffle(const Modifiers &modifiers, Instruction &inst) {
  StringRef mode = modifiers.oneOf({"up", "down", "bfly", "idx"});
  if (mode.empty())
    return modifiers.error("expected .up, .down, .bfly or .idx");
  if (inst.operands.size() != 5)
    return modifiers.error("expected 5 operands");
  inst.aux[0] = uint32_t(mode == "up"     ? ShuffleMode::Up
                         : mode == "down" ? ShuffleMode::Down
                         : mode == "bfly" ? ShuffleMode::Butterfly
                                          : ShuffleMode::Index);
  inst.managesDefinedness = true;
  inst.convergence = Convergence::MemberMask;
  inst.maskOperand = 4;
  inst.handler = executeShuffle;
  return Error::success();
}

enum class VoteMode : uint32_t { All, Any, Uni, Ballot };

void executeVote(Warp &warp, const Instruction &inst) {
  uint32_t votes = warp.readPredicate(inst.operands[1]) & warp.active();
  VoteMode mode = VoteMode(inst.aux[0]);
  if (mode == VoteMode::Ballot) {
    Row &d = warp.write(inst.operands[0]);
    for (unsigned lane : warp.lanes())
      d[lane] = votes;
    return;
  }
  bool all = votes == warp.active(), any = votes != 0;
  bool result = mode == VoteMode::All ? all : mode == VoteMode::Any ? any : all || !any;
  warp.writePredicate(inst.operands[0], result ? ~0u : 0);
}

Error decodeVote(const Modifiers &modifiers, Instruction &inst) {
  StringRef mode = modifiers.oneOf({"all", "any", "uni", "ballot"});
  if (mode.empty() || inst.operands.size() != 3)
    return modifiers.error("expected .all, .any, .uni or .ballot and 3 operands");
  inst.aux[0] = uint32_t(mode == "all"   ? VoteMode::All
                         : mode == "any" ? VoteMode::Any
                         : mode == "uni" ? VoteMode::Uni
                                         : VoteMode::Ballot);
  inst.convergence = Convergence::MemberMask;
  inst.maskOperand = 2;
  inst.handler = executeVote;
  return Error::success();
}

// aux[0]: 1 for match.all.
void executeMatch(Warp &warp, const Instruction &inst) {
  const Row a = warp.read(inst.operands[1]);
  llvm::ArrayRef<Operand> targets = Warp::elements(inst.operands[0]);
  Row &d = warp.write(targets[0]);
  uint64_t mask = bitWidth(inst.type) == 64 ? ~uint64_t(0) : UINT32_MAX;
  bool allEqual = true;
  for (unsigned lane : warp.lanes()) {
    uint32_t same = 0;
    for (unsigned other : warp.lanes())
      same |= uint32_t((a[lane] & mask) == (a[other] & mask)) << other;
    allEqual &= same == warp.active();
    d[lane] = same;
  }
  if (!inst.aux[0])
    return;
  for (unsigned lane : warp.lanes())
    d[lane] = allEqual ? warp.active() : 0;
  if (targets.size() > 1)
    warp.writePredicate(targets[1], allEqual ? ~0u : 0);
}

Error decodeMatch(const Modifiers &modifiers, Instruction &inst) {
  if (inst.operands.size() != 3 || inst.type == Type::None ||
      modifiers.has("all") == modifiers.has("any"))
    return modifiers.error("expected .all or .any, a type and 3 operands");
  inst.aux[0] = modifiers.has("all");
  inst.convergence = Convergence::MemberMask;
  inst.maskOperand = 2;
  inst.handler = executeMatch;
  return Error::success();
}

enum class ReduceMode : uint32_t { Add, Min, Max, And, Or, Xor };

void executeReduce(Warp &warp, const Instruction &inst) {
  const Row &a = warp.read(inst.operands[1]);
  bool isSignedType = isSigned(inst.type);
  uint32_t result = uint32_t(a[*warp.lanes().begin()]);
  for (unsigned lane : LaneRange(warp.active() & (warp.active() - 1))) {
    uint32_t value = uint32_t(a[lane]);
    bool less = isSignedType ? int32_t(value) < int32_t(result) : value < result;
    switch (ReduceMode(inst.aux[0])) {
    case ReduceMode::Add:
      result += value;
      break;
    case ReduceMode::Min:
      result = less ? value : result;
      break;
    case ReduceMode::Max:
      result = less ? result : value;
      break;
    case ReduceMode::And:
      result &= value;
      break;
    case ReduceMode::Or:
      result |= value;
      break;
    case ReduceMode::Xor:
      result ^= value;
      break;
    }
  }
  Row &d = warp.write(inst.operands[0]);
  for (unsigned lane : warp.lanes())
    d[lane] = result;
}

Error decodeReduce(const Modifiers &modifiers, Instruction &inst) {
  static constexpr StringRef kModes[] = {"add", "min", "max", "and", "or", "xor"};
  StringRef mode = modifiers.oneOf(kModes);
  if (mode.empty() || inst.operands.size() != 3 || bitWidth(inst.type) != 32 || isFloat(inst.type))
    return modifiers.error("expected an operation, a 32-bit integer type and 3 operands");
  inst.aux[0] = llvm::find(kModes, mode) - std::begin(kModes);
  inst.convergence = Convergence::MemberMask;
  inst.maskOperand = 2;
  inst.handler = executeReduce;
  return Error::success();
}

void executeElect(Warp &warp, const Instruction &inst) {
  unsigned leader = *warp.lanes().begin();
  llvm::ArrayRef<Operand> targets = Warp::elements(inst.operands[0]);
  Row &d = warp.write(targets[0]);
  for (unsigned lane : warp.lanes())
    d[lane] = leader;
  if (targets.size() > 1)
    warp.writePredicate(targets[1], 1u << leader);
}

Error decodeElect(const Modifiers &modifiers, Instruction &inst) {
  if (inst.operands.size() != 2)
    return modifiers.error("expected d|p and a member mask");
  inst.convergence = Convergence::MemberMask;
  inst.maskOperand = 1;
  inst.handler = executeElect;
  return Error::success();
}

void executeActiveMask(Warp &warp, const Instruction &inst) {
  Row &d = warp.write(inst.operands[0]);
  for (unsigned lane : warp.lanes())
    d[lane] = warp.active();
}

Error decodeActiveMask(const Modifiers &modifiers, Instruction &inst) {
  if (inst.operands.size() != 1)
    return modifiers.error("expected 1 operand");
  inst.handler = executeActiveMask;
  return Error::success();
}

void executeNothing(Warp &, const Instruction &) {}

Error decodeWarpBarrier(const Modifiers &modifiers, Instruction &inst) {
  if (inst.operands.size() != 1)
    return modifiers.error("expected a member mask");
  inst.destinations = 0;
  inst.convergence = Convergence::MemberMask;
  inst.maskOperand = 0;
  inst.handler = executeNothing;
  return Error::success();
}

} // namespace

void tcc::emulator::registerWarpInstructions(InstructionTable &table) {
  table.add("shfl.sync", decodeShuffle);
  table.add("vote.sync", decodeVote);
  table.add("match", decodeMatch);
  table.add("redux.sync", decodeReduce);
  table.add("elect.sync", decodeElect);
  table.add("activemask", decodeActiveMask);
  table.add("bar.warp.sync", decodeWarpBarrier);
}
