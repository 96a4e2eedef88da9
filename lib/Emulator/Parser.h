//===- Parser.h - From PTX text to ParsedModule -----------------*- C++ -*-===//
//
// A recursive-descent parser of the whole language, PTX ISA 4 and 5. Opcodes are kept as text: an
// instruction that the emulator cannot execute is no syntax error. Nesting, sizes and counts are
// bounded, so hostile text ends in an error.
//
//===----------------------------------------------------------------------===//

#ifndef TCC_LIB_EMULATOR_PARSER_H
#define TCC_LIB_EMULATOR_PARSER_H

#include "Syntax.h"

namespace tcc::emulator {

class Parser {
public:
  Parser(ParsedModule &module) : module(module), lexer(module.text) { token = lexer.next(); }
  llvm::Error parse();

private:
  using Error = llvm::Error;

  struct Symbol {
    enum class Kind : uint8_t { Register, VectorRegister, Variable } kind;
    Type type = Type::None;
    uint32_t slot = 0;
    unsigned elements = 1;
  };
  /// `.reg .b32 %r<10>`: rows are given out when a name is used.
  struct RegisterRange {
    Type type;
    uint64_t count;
  };
  struct Scope {
    unsigned parent = 0;
    llvm::StringMap<Symbol> symbols;
    llvm::StringMap<RegisterRange> ranges;
    llvm::StringMap<uint32_t> labels;
  };

  //===--- Tokens (Parser.cpp) ---===//
  void advance() {
    previousEnd = token.end;
    token = lexer.next();
  }
  Error error(const llvm::Twine &message) const { return errorAt(token.location, message); }
  Error errorAt(SourceLocation location, const llvm::Twine &message) const;
  Error expected(const llvm::Twine &what) const;
  Error expect(char punctuation);
  bool consume(char punctuation);
  bool consumeDotted(llvm::StringRef name);
  Error parseUnsigned(uint64_t &value, uint64_t maximum, const llvm::Twine &what);

  //===--- Module level (Parser.cpp) ---===//
  Error parseModuleItem();
  Error parseTarget();
  Error skipStatement();
  Error skipBraces();
  Error parseLinked();
  Error parseFunction(bool isEntry);
  Error parseFunctionAttributes(ParsedFunction &function);
  Error parseAlias();
  Error finishFunction(ParsedFunction &function, bool hasBody);
  Error describeKernel(const ParsedFunction &function);

  //===--- Declarations (ParserDeclarations.cpp) ---===//
  Error parseParameters(ParsedFunction &function, std::vector<uint32_t> &list);
  Error parseVariable(Space space, bool isExtern);
  Error parseVariableHead(Variable &variable, unsigned &vector);
  Error parseArrayBounds(Variable &variable, unsigned vector, bool &open);
  Error parseInitializer(Variable &variable, uint64_t elementBytes, uint64_t &offset,
                         unsigned depth);
  Error parseInitialValue(Variable &variable, uint64_t elementBytes, uint64_t &offset);
  Error declareVariable(Variable variable);
  Error parseRegisters();
  Error parseDim3(Dim3 &dim);

  //===--- Bodies (ParserBody.cpp) ---===//
  Error parseBody(ParsedFunction &function);
  Error parseStatement();
  Error parseDirectiveStatement();
  Error parseTargetList(llvm::StringRef label);
  Error parseInstruction();
  Error parseOpcode(ParsedInstruction &instruction);
  Error resolveLabels(ParsedFunction &function);
  Error resolveLabel(ParsedOperand &operand, unsigned depth);

  //===--- Operands (ParserOperands.cpp) ---===//
  Error parseOperandList(ParsedInstruction &instruction);
  Error parseOperand(ParsedOperand &operand, unsigned depth);
  Error parsePrimary(ParsedOperand &operand, unsigned depth);
  Error parseAddress(ParsedOperand &operand, unsigned depth);
  Error parseList(ParsedOperand &operand, char close, unsigned depth);
  Error parseName(ParsedOperand &operand);
  Error parseConstant(ParsedOperand &operand, unsigned depth);
  Error parseConstantTerm(ParsedOperand &operand, unsigned depth);
  bool atConstant() const;
  const Symbol *lookup(llvm::StringRef name);
  uint32_t newSlot(Type type, unsigned count);
  void setRegister(ParsedOperand &operand, Type type, uint32_t slot);

  ParsedModule &module;
  Lexer lexer;
  Token token;
  size_t previousEnd = 0;
  ParsedFunction *function = nullptr;
  std::deque<Scope> scopes;
  unsigned scope = 0;
  unsigned depth = 0;
  /// In a call, parentheses hold arguments; elsewhere, constant expressions.
  bool inCall = false;
};

} // namespace tcc::emulator

#endif // TCC_LIB_EMULATOR_PARSER_H
