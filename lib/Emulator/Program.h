//===- Program.h - Decoded instructions -------------------------*- C++ -*-===//
//
// An entry and the functions that it may call, decoded once per launch: every operand is a register
// row, a constant row or an address with its symbol resolved, so that a handler neither looks up
// names nor parses modifiers.
//
//===----------------------------------------------------------------------===//

#ifndef TCC_LIB_EMULATOR_PROGRAM_H
#define TCC_LIB_EMULATOR_PROGRAM_H

#include "SpecialRegisters.h"
#include "Types.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include <array>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

namespace tcc::emulator {

class Warp;
struct Instruction;

constexpr unsigned kLanes = 32;
constexpr uint32_t kNoSlot = ~0u;
constexpr uint32_t kFunctionEnd = ~0u;

/// The values of one register in the 32 lanes of a warp. Bits above the register's width are zero
/// in registers; a constant row holds the 64-bit value of the literal, so a handler truncates what
/// it reads to its type's width.
using Row = std::array<uint64_t, kLanes>;

/// Executes one instruction for the warp's active lanes (never none). Registers that it writes must
/// be touched in active lanes only. It reports through Warp::report and Warp::fault.
using Handler = void (*)(Warp &warp, const Instruction &instruction);

struct Operand {
  enum class Kind : uint8_t {
    None,
    Sink,      // `_`
    Register,  // slot: row in the register file; 128-bit registers take rows slot and slot + 1
    Predicate, // slot: index in the predicate file; negated for !p
    Immediate, // slot: row in Program::constants; immediate: its bits
    Address, // slot: row of the base or kNoSlot; immediate: byte offset (and the symbol's address)
    Vector,  // {a, b, ...}: elements
    Pair,    // a|b: two elements
    Label,   // immediate: the target's instruction index
  };
  Kind kind = Kind::None;
  bool negated = false;
  /// Width of a register.
  uint8_t bits = 0;
  /// A symbol's or address' space where the program names one (`mov r, sym`).
  Space space = Space::Generic;
  uint32_t slot = kNoSlot;
  int64_t immediate = 0;
  llvm::ArrayRef<Operand> elements;

  bool isRegister() const { return kind == Kind::Register; }
  bool isPredicate() const { return kind == Kind::Predicate; }
  bool isImmediate() const { return kind == Kind::Immediate; }
  bool isVector() const { return kind == Kind::Vector; }
};

/// What an instruction demands of the lanes that execute it.
enum class Convergence : uint8_t {
  None,
  /// `.aligned`: all lanes that have not exited.
  Aligned,
  /// `.aligned`, and defined for whole warps only (mma, ldmatrix, wgmma).
  FullWarp,
  /// `.sync` with a member mask as operand Instruction::maskOperand: lanes wait for each other.
  MemberMask,
};

/// How an instruction continues; set by the control family.
enum class Flow : uint8_t { Next, Branch, BranchIndexed, Call, Return, Exit };

struct Instruction {
  Handler handler = nullptr;
  /// Guard predicate, or kNoSlot.
  uint32_t guard = kNoSlot;
  bool guardNegated = false;
  Convergence convergence = Convergence::None;
  Flow flow = Flow::Next;
  uint8_t maskOperand = 0;
  /// The leading operands that are written; the others are read.
  uint8_t destinations = 1;
  /// The handler itself moves definedness from sources to destinations (call): reading an undefined
  /// register is no error then.
  bool propagatesUndefined = false;
  /// The handler marks its destinations as defined itself; sources are still checked.
  bool managesDefinedness = false;
  /// Bit i: the bits of operand i are only moved, masked or joined with others, so that undefined
  /// ones are no error and make undefined what they become in the result (mov, selp, prmt, shl).
  /// Every bit of the result must depend monotonically on the bits of these operands.
  uint8_t movedOperands = 0;
  /// Register operands are read up to this width; ld, st and cvt take wider registers than types.
  uint8_t readBits = 64;
  Space space = Space::Generic;
  /// Types in the order of the modifiers; `type` is the last, which for most instructions is the
  /// operation's.
  llvm::SmallVector<Type, 4> types;
  Type type = Type::None;
  llvm::SmallVector<Operand, 6> operands;
  /// For the family: small parameters decoded from the modifiers, and a table that outlives the
  /// launch.
  std::array<uint32_t, 6> aux = {};
  const void *table = nullptr;

  uint32_t line = 0;
  /// "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", and the whole instruction as it is
  /// written.
  llvm::StringRef opcode;
  llvm::StringRef text;
  /// Index in the program, and in Program::functions.
  uint32_t index = 0;
  uint32_t function = 0;
  /// Where lanes that diverge here meet again: the immediate post-dominator's index, or
  /// kFunctionEnd.
  uint32_t reconvergence = kFunctionEnd;
  /// Reads a special register that changes while the warp runs.
  bool readsClock = false;

  // Filled by the decoder from `operands` and `destinations`.
  llvm::SmallVector<uint32_t, 8> sourceRows;
  llvm::SmallVector<uint32_t, 4> sourcePredicates;
  llvm::SmallVector<uint32_t, 8> destinationRows;
  llvm::SmallVector<uint32_t, 2> destinationPredicates;
};

/// Where a formal or actual parameter of a function lives.
struct ParameterPlace {
  /// A register row, or kNoSlot for memory at the frame's offset.
  uint32_t row = kNoSlot;
  uint64_t offset = 0;
  uint64_t bytes = 0;
};

struct FunctionCode {
  llvm::StringRef name;
  bool hasBody = false;
  uint32_t begin = 0;
  uint32_t end = 0;
  /// Its rows and predicates in the warp's register file: lanes that are in a function share them.
  uint32_t firstRow = 0, rowCount = 0;
  uint32_t firstPredicate = 0, predicateCount = 0;
  /// The row that holds the address of the lane's frame in local memory.
  uint32_t frameRow = kNoSlot;
  uint64_t frameBytes = 0;
  std::vector<ParameterPlace> parameters;
  std::vector<ParameterPlace> results;
};

/// An entry and everything that it may call.
struct Program {
  std::vector<Instruction> code;
  std::vector<FunctionCode> functions; // The entry comes first.
  /// By index in the module, which function pointers hold; kNoSlot for functions that the entry
  /// cannot call.
  std::vector<uint32_t> functionOfModule;
  std::vector<Row> constants;
  /// Rows and predicates that hold special registers.
  std::vector<std::pair<uint32_t, SpecialRegister>> specialRows;
  uint32_t explicitClusterPredicate = kNoSlot;
  /// Holds the shared-space address of the CTA's own memory.
  uint32_t sharedBaseRow = 0;
  uint32_t rowCount = 0;
  uint32_t predicateCount = 0;
  /// Offsets in the CTA's shared memory, kSharedBase and up.
  uint64_t staticSharedEnd = 0;
  uint64_t dynamicSharedBegin = 0;
  /// Targets of brx.idx and candidates of indirect calls, by instruction.
  std::vector<std::vector<uint32_t>> targetLists;
  std::deque<std::string> messages;
  std::deque<std::vector<Operand>> elementStorage;
};

} // namespace tcc::emulator

#endif // TCC_LIB_EMULATOR_PROGRAM_H
