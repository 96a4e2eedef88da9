//===- Definedness.cpp - Registers that nothing wrote -----------*- C++ -*-===//
//
// A row knows the lanes in which it is wholly defined, so that the usual instruction costs a look
// at one word per register. Which bits of the other lanes are undefined is kept for rows that were
// partly defined once: by the pack of a half that is never used, say.
//
// Instructions that only move, mask or join bits hand undefined ones on
// (Instruction::movedOperands). As each bit of their result is monotone in the operands' bits, it
// depends on the undefined ones exactly if it differs between all of these being 1 and all 0.
//
//===----------------------------------------------------------------------===//

#include "Machine.h"

#include "llvm/Support/FormatVariadic.h"

using namespace tcc::emulator;

uint64_t Warp::undefinedBits(uint32_t slot, unsigned lane) const {
  if (definedRows[slot] >> lane & 1)
    return 0;
  auto entry = partlyDefined.find(slot);
  return entry == partlyDefined.end() ? ~uint64_t(0) : entry->second[lane];
}

void Warp::setUndefinedBits(uint32_t slot, unsigned lane, uint64_t bits) {
  if (!bits)
    return setDefined(slot, 1u << lane);
  auto [entry, isNew] = partlyDefined.try_emplace(slot);
  if (isNew)
    entry->second.fill(~uint64_t(0));
  entry->second[lane] = bits;
  definedRows[slot] &= ~(1u << lane);
}

namespace {

/// A row of registers that an instruction reads.
struct RegisterRead {
  uint32_t row;
  /// The bits that it reads.
  uint64_t bits;
  bool isMoved;
};

uint64_t lowBits(unsigned width) { return ~uint64_t(0) >> (64 - std::min(width, 64u)); }

void collectReads(const Operand &operand, const Instruction &inst, bool isMoved,
                  llvm::SmallVectorImpl<RegisterRead> &reads) {
  if (operand.kind == Operand::Kind::Address && operand.slot != kNoSlot)
    reads.push_back({operand.slot, lowBits(operand.bits), /*isMoved=*/false});
  if (operand.isRegister())
    for (uint32_t row = operand.slot; row <= operand.slot + (operand.bits == 128); ++row)
      reads.push_back({row, lowBits(operand.bits) & lowBits(inst.readBits), isMoved});
  for (const Operand &element : operand.elements)
    collectReads(element, inst, isMoved && operand.isVector(), reads);
}

llvm::SmallVector<RegisterRead, 8> readsOf(const Instruction &inst) {
  llvm::SmallVector<RegisterRead, 8> reads;
  for (size_t i = 0; i < inst.operands.size(); ++i)
    if (i >= inst.destinations || inst.operands[i].kind == Operand::Kind::Address)
      collectReads(inst.operands[i], inst, inst.movedOperands >> i & 1, reads);
  return reads;
}

} // namespace

bool Machine::checkDefined(Warp &warp, const Instruction &inst, uint32_t group, uint32_t mask) {
  auto checkPredicate = [&](uint32_t predicate, uint32_t readers) {
    if (uint32_t lanes = readers & ~warp.definedPredicates[predicate]) {
      warp.report(FindingKind::Uninitialized, inst, *LaneRange(lanes).begin(),
                  "a predicate register without a defined value is read: nothing was written to "
                  "it");
      warp.definedPredicates[predicate] |= lanes;
    }
  };
  if (inst.guard != kNoSlot)
    checkPredicate(inst.guard, group);
  for (uint32_t predicate : inst.sourcePredicates)
    checkPredicate(predicate, mask);
  if (inst.propagatesUndefined)
    return false;
  for (uint32_t row : inst.sourceRows)
    if (mask & ~warp.definedRows[row])
      return checkRegisters(warp, inst, mask);
  return false;
}

bool Machine::checkRegisters(Warp &warp, const Instruction &inst, uint32_t mask) {
  llvm::SmallVector<RegisterRead, 8> reads = readsOf(inst);
  for (const RegisterRead &read : reads) {
    if (read.isMoved)
      continue;
    bool isReported = false;
    for (unsigned lane : LaneRange(mask & ~warp.definedRows[read.row])) {
      uint64_t bits = warp.undefinedBits(read.row, lane) & read.bits;
      if (!bits)
        continue;
      if (!isReported && bits == read.bits)
        warp.report(FindingKind::Uninitialized, inst, lane,
                    "a register without a defined value is read: nothing was written to it");
      else if (!isReported)
        warp.report(FindingKind::Uninitialized, inst, lane,
                    llvm::formatv("a register is read of which the bits {0:x} have no defined "
                                  "value: nothing was written to them",
                                  bits)
                        .str());
      isReported = true;
      warp.setDefined(read.row, 1u << lane);
    }
  }
  return llvm::any_of(reads, [&](const RegisterRead &read) {
    return read.isMoved && (mask & ~warp.definedRows[read.row]);
  });
}

void Machine::executeOnUndefined(Warp &warp, const Instruction &inst) {
  struct Source {
    uint32_t row;
    Row value, undefined;
  };
  llvm::SmallVector<Source, 4> sources;
  for (const RegisterRead &read : readsOf(inst)) {
    Source &source = sources.emplace_back(Source{read.row, warp.registers[read.row], {}});
    for (unsigned lane : warp.lanes())
      source.undefined[lane] = warp.undefinedBits(read.row, lane) & read.bits;
  }
  // The destination may be a source.
  auto execute = [&](bool fill) {
    for (const Source &source : sources)
      for (unsigned lane : warp.lanes())
        warp.registers[source.row][lane] =
            fill ? source.value[lane] | source.undefined[lane]
                 : source.value[lane] & ~source.undefined[lane];
    inst.handler(warp, inst);
  };
  execute(true);
  llvm::SmallVector<Row, 4> ones;
  for (uint32_t row : inst.destinationRows)
    ones.push_back(warp.registers[row]);
  execute(false);
  for (size_t i = 0; i < ones.size(); ++i) {
    uint32_t row = inst.destinationRows[i];
    for (unsigned lane : warp.lanes())
      warp.setUndefinedBits(row, lane, ones[i][lane] ^ warp.registers[row][lane]);
  }
}
