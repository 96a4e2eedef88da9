//===- AtomicInstructions.cpp - atom and red --------------------*- C++ -*-===//

#include "AddressSpace.h"
#include "AtomicMath.h"
#include "InstructionTable.h"
#include "Machine.h"

#include <cstring>

using namespace tcc::emulator;
using llvm::Error;
using llvm::StringRef;

namespace {

constexpr unsigned kMaxBytes = 32;

// aux[0]: AtomicOp; aux[1]: bytes of an element; aux[2], aux[3]: strength of the load and of the
// store; aux[4]: 1 for atom, which returns the old value.
void executeAtomic(Warp &warp, const Instruction &inst) {
  unsigned first = inst.aux[4];
  AtomicOp op = AtomicOp(inst.aux[0]);
  unsigned bytes = inst.aux[1];
  llvm::ArrayRef<Operand> values = Warp::elements(inst.operands[first + 1]);
  unsigned total = bytes * values.size();
  uint64_t address[kLanes];
  warp.addresses(inst.operands[first], address);
  Row old[8], oldHigh;
  for (unsigned lane : warp.lanes()) {
    uint8_t data[kLanes][kMaxBytes];
    if (!warp.load(inst, inst.space, address, 1u << lane, total, data, kMaxBytes,
                   AccessStrength(inst.aux[2])))
      return;
    bool isShared = inst.space == Space::Shared || inst.space == Space::SharedCluster ||
                    (inst.space == Space::Generic && isInWindow(address[lane], kSharedWindow));
    uint8_t before[kMaxBytes];
    std::memcpy(before, data[lane], total);
    for (size_t i = 0; i < values.size(); ++i) {
      uint8_t *element = data[lane] + i * bytes;
      auto wide = [&](const Operand &operand) {
        AtomicValue value;
        value.low = warp.read(operand)[lane];
        if (bytes == 16 && operand.isRegister())
          value.high = warp.readRow(operand.slot + 1)[lane];
        return value;
      };
      AtomicValue current;
      std::memcpy(&current.low, element, std::min(bytes, 8u));
      if (bytes == 16)
        std::memcpy(&current.high, element + 8, 8);
      old[i][lane] = current.low;
      oldHigh[lane] = current.high;
      AtomicValue c;
      if (op == AtomicOp::Cas)
        c = wide(inst.operands[first + 2]);
      AtomicValue result =
          applyAtomic(op, inst.type, current, wide(values[i]), c, /*isGlobal=*/!isShared);
      std::memcpy(element, &result.low, std::min(bytes, 8u));
      if (bytes == 16)
        std::memcpy(element + 8, &result.high, 8);
    }
    // A lock that is taken already changes nothing; a warp that spins on it makes no progress.
    bool changes = std::memcmp(before, data[lane], total);
    if ((changes || AccessStrength(inst.aux[3]) == AccessStrength::Release) &&
        !warp.store(inst, inst.space, address, 1u << lane, total, data, kMaxBytes,
                    AccessStrength(inst.aux[3])))
      return;
  }
  if (!first)
    return;
  llvm::ArrayRef<Operand> targets = Warp::elements(inst.operands[0]);
  for (size_t i = 0; i < targets.size(); ++i) {
    Row &d = warp.write(targets[i]);
    for (unsigned lane : warp.lanes())
      d[lane] = old[i][lane];
    if (bytes == 16 && targets[i].isRegister())
      for (unsigned lane : warp.lanes())
        warp.writeRow(targets[i].slot + 1)[lane] = oldHigh[lane];
  }
}

Error decodeAtomic(const Modifiers &modifiers, Instruction &inst) {
  bool isAtom = inst.opcode.starts_with("atom");
  if (Error e = modifiers.checkKnown(
          {"relaxed", "acquire", "release",       "acq_rel", "cta",         "cluster",
           "gpu",     "sys",     "global",        "shared",  "shared::cta", "shared::cluster",
           "add",     "min",     "max",           "inc",     "dec",         "and",
           "or",      "xor",     "exch",          "cas",     "noftz",       "v2",
           "v4",      "v8",      "L2::cache_hint"}))
    return e;
  std::optional<AtomicOp> op = parseAtomicOp(
      modifiers.oneOf({"add", "min", "max", "inc", "dec", "and", "or", "xor", "exch", "cas"}));
  if (!op)
    return modifiers.error("expected an operation such as .add");
  unsigned first = isAtom;
  size_t needed = first + 2 + (*op == AtomicOp::Cas);
  if (inst.operands.size() != needed && inst.operands.size() != needed + 1)
    return modifiers.error("expected " + llvm::Twine(needed) + " operands");
  if (inst.types.size() != 1 || bitWidth(inst.type) < 16)
    return modifiers.error("expected one type of at least 16 bits");
  if (inst.operands[first].kind != Operand::Kind::Address)
    return modifiers.error("expected an address in brackets");
  size_t count = modifiers.has("v2") ? 2 : modifiers.has("v4") ? 4 : modifiers.has("v8") ? 8 : 1;
  if (Warp::elements(inst.operands[first + 1]).size() != count ||
      (isAtom && inst.operands[0].kind != Operand::Kind::Sink &&
       Warp::elements(inst.operands[0]).size() != count))
    return modifiers.error("expected vectors of " + llvm::Twine(count) + " registers");
  if (!supportsAtomic(*op, inst.type))
    return modifiers.error("this operation does not exist for this type");
  inst.aux[0] = uint32_t(*op);
  inst.aux[1] = bitWidth(inst.type) / 8;
  bool acquires = modifiers.has("acquire") || modifiers.has("acq_rel");
  bool releases = modifiers.has("release") || modifiers.has("acq_rel");
  inst.aux[2] = uint32_t(acquires ? AccessStrength::Acquire : AccessStrength::Strong);
  inst.aux[3] = uint32_t(releases ? AccessStrength::Release : AccessStrength::Strong);
  inst.aux[4] = first;
  inst.destinations = first;
  inst.handler = executeAtomic;
  if (inst.aux[1] * count > kMaxBytes)
    return modifiers.error("more than 32 bytes");
  return Error::success();
}

} // namespace

void tcc::emulator::registerAtomicInstructions(InstructionTable &table) {
  table.add("atom", decodeAtomic);
  table.add("red", decodeAtomic);
}
