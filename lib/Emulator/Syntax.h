//===- Syntax.h - A parsed PTX module ---------------------------*- C++ -*-===//
//
// What the parser makes of PTX text: names are resolved (to register slots, variables, functions,
// labels), opcodes are not yet interpreted.
//
//===----------------------------------------------------------------------===//

#ifndef TCC_LIB_EMULATOR_SYNTAX_H
#define TCC_LIB_EMULATOR_SYNTAX_H

#include "Lexer.h"
#include "Types.h"
#include "tcc/Emulator/Emulator.h"

#include "llvm/ADT/StringMap.h"

#include <deque>
#include <string>
#include <vector>

namespace tcc::emulator {

/// An address in a variable's initial value.
struct Relocation {
  uint64_t offset = 0;
  unsigned bytes = 8;
  llvm::StringRef symbol;
  int64_t addend = 0;
};

struct Variable {
  llvm::StringRef name;
  Space space = Space::Generic;
  Type type = Type::B8;
  uint64_t alignment = 1;
  uint64_t size = 0;
  bool isExtern = false;
  /// For `.reg` parameters of functions: the register row.
  uint32_t slot = ~0u;
  std::vector<uint8_t> initializer;
  std::vector<Relocation> relocations;
  SourceLocation location;
};

struct ParsedOperand {
  enum class Kind : uint8_t {
    Sink,
    Register,  // slot, type
    Predicate, // slot
    Special,   // slot: index in the special register table
    Integer,
    Single,
    Double,
    ModuleVariable,   // slot: index in ParsedModule::variables
    FunctionVariable, // slot: index in ParsedFunction::variables
    Function,         // slot: index in ParsedModule::functions
    Label,            // value: instruction index; until the function ends, name and scope
    Address,          // elements[0]: base; value: offset; elements[1...]: coordinates
    Vector,
    Pair,
  };
  Kind kind = Kind::Sink;
  bool negated = false;
  Type type = Type::None;
  uint32_t slot = 0;
  /// Literal's bits, or the offset that is added to a symbol or address.
  uint64_t value = 0;
  llvm::StringRef name;
  SourceLocation location;
  std::vector<ParsedOperand> elements;
};

struct ParsedInstruction {
  SourceLocation location;
  llvm::StringRef opcode;
  llvm::StringRef text;
  /// Guard predicate or ~0.
  uint32_t guard = ~0u;
  bool guardNegated = false;
  std::vector<ParsedOperand> operands;
};

struct ParsedFunction {
  llvm::StringRef name;
  bool isEntry = false;
  bool hasBody = false;
  SourceLocation location;
  /// Parameters, return values, and the variables of the body. The first two are also in
  /// `variables`.
  std::vector<uint32_t> parameters;
  std::vector<uint32_t> results;
  std::deque<Variable> variables;
  std::vector<ParsedInstruction> body;
  /// The label lists of `.branchtargets` and `.calltargets`, by the label that names them.
  llvm::StringMap<std::vector<ParsedOperand>> targetLists;
  unsigned registerRows = 0;
  unsigned predicates = 0;
  std::optional<Dim3> requiredBlock, maximumBlock, requiredCluster;
  /// .maxnreg and .minnctapersm; 0: not given.
  uint64_t maximumRegisters = 0, minimumBlocks = 0;
};

struct ParsedModule {
  std::string name;
  std::string text;
  std::string target;
  std::string version;
  unsigned addressSize = 64;
  std::deque<Variable> variables;
  std::deque<ParsedFunction> functions;
  llvm::StringMap<uint32_t> variableIndex;
  llvm::StringMap<uint32_t> functionIndex;
  /// Opcodes whose parts are not adjacent in the text.
  std::deque<std::string> joinedOpcodes;
  std::vector<KernelInfo> kernels;
};

llvm::Expected<std::shared_ptr<ParsedModule>> parseModule(llvm::StringRef text,
                                                          llvm::StringRef name);

} // namespace tcc::emulator

#endif // TCC_LIB_EMULATOR_SYNTAX_H
