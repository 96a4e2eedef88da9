//===- Warp.h - Registers and active lanes of one warp ----------*- C++ -*-===//
//
// What an instruction handler works with: rows of registers, the active mask, memory by lane, and
// reports. A handler processes all active lanes of a warp at once:
//
//   void addU32(Warp &warp, const Instruction &inst) {
//     const Row &a = warp.read(inst.operands[1]), &b = warp.read(inst.operands[2]);
//     Row &d = warp.write(inst.operands[0]);
//     for (unsigned lane : warp.lanes())
//       d[lane] = uint32_t(a[lane] + b[lane]);
//   }
//
// The machine has already checked the guard, convergence and that the sources are defined, and
// marks the destinations as defined afterwards.
//
//===----------------------------------------------------------------------===//

#ifndef TCC_LIB_EMULATOR_WARP_H
#define TCC_LIB_EMULATOR_WARP_H

#include "Program.h"
#include "tcc/Emulator/Emulator.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/Twine.h"
#include "llvm/ADT/bit.h"

#include <memory>

namespace tcc::emulator {

class Machine;
class Cta;
struct Execution;
class SharedMemory;
struct SharedConflict;
struct WarpState;

/// Iterates over the set bits of a lane mask.
class LaneRange {
public:
  class iterator {
  public:
    explicit iterator(uint32_t rest) : rest(rest) {}
    unsigned operator*() const { return llvm::countr_zero(rest); }
    iterator &operator++() {
      rest &= rest - 1;
      return *this;
    }
    bool operator!=(iterator other) const { return rest != other.rest; }

  private:
    uint32_t rest;
  };
  explicit LaneRange(uint32_t mask) : mask(mask) {}
  iterator begin() const { return iterator(mask); }
  iterator end() const { return iterator(0); }

private:
  uint32_t mask;
};

/// How a memory access counts for races and ordering (PTX ISA 8, memory consistency model).
enum class AccessStrength : uint8_t {
  Weak,
  Strong,  // volatile, relaxed: orders nothing by itself, never races with another strong access
  Acquire, // loads
  Release, // stores
};

class Warp {
public:
  //===--- Registers ---===//

  /// Lanes that execute the current instruction.
  uint32_t active() const { return activeMask; }
  LaneRange lanes() const { return LaneRange(activeMask); }

  /// The values of a register or immediate operand. Only active lanes of a register are meaningful.
  const Row &read(const Operand &operand) const;
  const Row &readRow(uint32_t slot) const { return registers[slot]; }
  /// The row to write a register operand to; a scratch row for `_`. Keep the bits above the width
  /// zero.
  Row &write(const Operand &operand);
  Row &writeRow(uint32_t slot) { return registers[slot]; }

  /// Bit l is lane l's value, negation applied. An Immediate operand counts as its truth value.
  uint32_t readPredicate(const Operand &operand) const;
  /// Writes the active lanes of a predicate operand; nothing for `_`.
  void writePredicate(const Operand &operand, uint32_t values) {
    writePredicate(operand, values, activeMask);
  }
  void writePredicate(const Operand &operand, uint32_t values, uint32_t mask);

  /// The elements of a vector operand, or the operand itself as its only element.
  static llvm::ArrayRef<Operand> elements(const Operand &operand);

  /// Lanes in which all bits of a register row are defined.
  uint32_t definedLanes(uint32_t slot) const { return definedRows[slot]; }
  void setPredicateDefined(uint32_t slot, uint32_t mask) { definedPredicates[slot] |= mask; }
  void setDefined(uint32_t slot, uint32_t mask) { definedRows[slot] |= mask; }
  /// The bits of a lane's register that nothing wrote; all of them where nothing wrote any.
  uint64_t undefinedBits(uint32_t slot, unsigned lane) const;
  void setUndefinedBits(uint32_t slot, unsigned lane, uint64_t bits);

  //===--- Memory ---===//

  /// The byte address of an Address operand in every active lane.
  void addresses(const Operand &operand, uint64_t (&out)[kLanes]) const;

  /// Loads `bytes` (1 to 64, a power of two) per lane of `mask` into out + lane * stride. Checks
  /// alignment, bounds, definedness and races; counts for the report. False after a fault: nothing
  /// was loaded, the handler returns.
  bool load(const Instruction &inst, Space space, const uint64_t (&address)[kLanes], uint32_t mask,
            unsigned bytes, void *out, unsigned stride,
            AccessStrength strength = AccessStrength::Weak);
  /// The same for stores.
  bool store(const Instruction &inst, Space space, const uint64_t (&address)[kLanes], uint32_t mask,
             unsigned bytes, const void *in, unsigned stride,
             AccessStrength strength = AccessStrength::Weak);

  /// What shadow memory has to say about an access: as a finding, in words. For instructions that
  /// access shared memory without load and store.
  void reportConflict(const Instruction &inst, unsigned lane, const SharedConflict &conflict,
                      bool isRead);
  /// The memory that holds [address, address + bytes) of the shared space, and the offset in it;
  /// null after a fault.
  SharedMemory *findShared(const Instruction &inst, unsigned lane, uint64_t address, uint64_t bytes,
                           uint64_t &offset);

  //===--- Reports ---===//

  /// Records a finding for a lane of this warp and goes on.
  void report(FindingKind kind, const Instruction &inst, unsigned lane, const llvm::Twine &message);
  /// The same, and stops the launch: what a GPU would raise an error for.
  void fault(FindingKind kind, const Instruction &inst, unsigned lane, const llvm::Twine &message);
  void countMmaFlops(const Instruction &inst, uint64_t flops);

  //===--- Place in the machine ---===//

  Machine &machine() const { return *owner; }
  Cta &cta() const { return *block; }
  /// Index of the warp in its CTA.
  uint32_t index() const { return warpIndex; }
  /// The number in the emulated chip's name: 80 for sm_80, 90 for sm_90a.
  unsigned chip() const;
  uint64_t seed() const;

  /// Program counters, divergence, pending copies: for the families that control execution.
  Execution &execution() const { return *exec; }
  /// A copy of all that decides how the warp goes on while memory stays as it is.
  WarpState state() const;

  Warp(Machine &machine, Cta &cta, uint32_t index);
  ~Warp();

private:
  friend class Machine;
  void initializeSpecialRegisters();

  struct Access;
  bool access(Access &access);
  bool accessGeneric(Access &access);
  bool accessShared(Access &access);
  bool accessGlobal(Access &access);
  bool accessStack(Access &access);
  bool accessParameters(Access &access);
  bool checkAlignment(Access &access);

  std::vector<Row> registers;
  std::vector<uint32_t> predicates;
  std::vector<uint32_t> definedRows;
  std::vector<uint32_t> definedPredicates;
  /// The undefined bits of rows that in some lane were partly defined once.
  llvm::DenseMap<uint32_t, Row> partlyDefined;
  const std::vector<Row> *constants = nullptr;
  /// Symbol addresses are computed here; an instruction has at most a few.
  mutable std::array<Row, 4> scratch;
  mutable unsigned nextScratch = 0;
  uint32_t activeMask = 0;
  uint32_t warpIndex = 0;
  Machine *owner = nullptr;
  Cta *block = nullptr;
  std::unique_ptr<Execution> exec;
};

} // namespace tcc::emulator

#endif // TCC_LIB_EMULATOR_WARP_H
