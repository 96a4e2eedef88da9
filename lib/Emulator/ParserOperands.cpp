//===- ParserOperands.cpp - Operands and constant expressions ---*- C++ -*-===//

#include "Parser.h"
#include "SpecialRegisters.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/bit.h"

using namespace tcc::emulator;
using llvm::Error;
using llvm::StringRef;
using llvm::Twine;

constexpr unsigned kMaxOperandDepth = 32;
constexpr size_t kMaxOperands = 2048;

Error Parser::parseOperandList(ParsedInstruction &instruction) {
  inCall = instruction.opcode.split('.').first == "call";
  bool first = true;
  while (!token.is(';')) {
    if (!first)
      if (Error e = expect(','))
        return e;
    first = false;
    if (instruction.operands.size() >= kMaxOperands)
      return error("too many operands");
    ParsedOperand &operand = instruction.operands.emplace_back();
    if (Error e = parseOperand(operand, 0))
      return e;
  }
  return Error::success();
}

/// primary [ '|' primary ]
Error Parser::parseOperand(ParsedOperand &operand, unsigned nesting) {
  if (nesting > kMaxOperandDepth)
    return error("operands are nested too deeply");
  if (Error e = parsePrimary(operand, nesting))
    return e;
  if (!token.is('|'))
    return Error::success();
  ParsedOperand pair;
  pair.kind = ParsedOperand::Kind::Pair;
  pair.location = operand.location;
  pair.elements.push_back(std::move(operand));
  while (consume('|'))
    if (Error e = parsePrimary(pair.elements.emplace_back(), nesting))
      return e;
  operand = std::move(pair);
  return Error::success();
}

Error Parser::parsePrimary(ParsedOperand &operand, unsigned nesting) {
  operand.location = token.location;
  if (consume('['))
    return parseAddress(operand, nesting + 1);
  if (consume('{'))
    return parseList(operand, '}', nesting + 1);
  if (consume('!')) {
    if (Error e = parseOperand(operand, nesting + 1))
      return e;
    operand.negated = !operand.negated;
    return Error::success();
  }
  if (inCall && consume('('))
    return parseList(operand, ')', nesting + 1);
  if (token.kind == Token::Kind::Identifier)
    return parseName(operand);
  if (atConstant())
    return parseConstant(operand, nesting);
  return expected("an operand");
}

/// Whether a constant expression begins here.
bool Parser::atConstant() const {
  return token.kind == Token::Kind::Integer || token.kind == Token::Kind::Single ||
         token.kind == Token::Kind::Double || token.is('-') || token.is('~') || token.is('(');
}

/// After '[': base [+- constant] [, coordinates...] ']'
Error Parser::parseAddress(ParsedOperand &operand, unsigned nesting) {
  operand.kind = ParsedOperand::Kind::Address;
  if (nesting > kMaxOperandDepth)
    return error("operands are nested too deeply");
  ParsedOperand base;
  if (Error e = parsePrimary(base, nesting))
    return e;
  if (token.is('+') || token.is('-')) {
    ParsedOperand offset;
    consume('+');
    if (Error e = parseConstant(offset, nesting))
      return e;
    operand.value = offset.value;
  }
  operand.value += base.kind == ParsedOperand::Kind::ModuleVariable ||
                           base.kind == ParsedOperand::Kind::FunctionVariable
                       ? base.value
                       : 0;
  if (base.kind != ParsedOperand::Kind::Integer)
    base.value = 0;
  operand.elements.push_back(std::move(base));
  while (consume(','))
    if (Error e = parseOperand(operand.elements.emplace_back(), nesting))
      return e;
  return expect(']');
}

/// After '{' or '(': operand, ... close
Error Parser::parseList(ParsedOperand &operand, char close, unsigned nesting) {
  operand.kind = ParsedOperand::Kind::Vector;
  if (nesting > kMaxOperandDepth)
    return error("operands are nested too deeply");
  while (!token.is(close)) {
    if (!operand.elements.empty())
      if (Error e = expect(','))
        return e;
    if (operand.elements.size() >= kMaxOperands)
      return error("too many elements");
    if (Error e = parseOperand(operand.elements.emplace_back(), nesting))
      return e;
  }
  return expect(close);
}

const Parser::Symbol *Parser::lookup(StringRef name) {
  StringRef prefix = name.rtrim("0123456789");
  StringRef digits = name.drop_front(prefix.size());
  for (unsigned s = scope;; s = scopes[s].parent) {
    auto found = scopes[s].symbols.find(name);
    if (found != scopes[s].symbols.end())
      return &found->second;
    // `%a1<3>` declares %a10 ... %a12: try every split of the digits.
    for (size_t split = 0; split < digits.size() && !scopes[s].ranges.empty(); ++split) {
      auto range = scopes[s].ranges.find(name.take_front(prefix.size() + split));
      uint64_t index;
      if (range == scopes[s].ranges.end() || digits.drop_front(split).getAsInteger(10, index) ||
          index >= range->second.count)
        continue;
      Type type = range->second.type;
      Symbol symbol{Symbol::Kind::Register, type, newSlot(type, 1), 1};
      return &(scopes[s].symbols[name] = symbol);
    }
    if (s == 0)
      return nullptr;
  }
}

uint32_t Parser::newSlot(Type type, unsigned count) {
  if (type == Type::Pred) {
    function->predicates += count;
    return function->predicates - count;
  }
  unsigned rows = (type == Type::B128 ? 2 : 1) * count;
  function->registerRows += rows;
  return function->registerRows - rows;
}

void Parser::setRegister(ParsedOperand &operand, Type type, uint32_t slot) {
  operand.kind =
      type == Type::Pred ? ParsedOperand::Kind::Predicate : ParsedOperand::Kind::Register;
  operand.type = type;
  operand.slot = slot;
}

/// A register, special register, variable (+ offset), function or label.
Error Parser::parseName(ParsedOperand &operand) {
  StringRef name = token.text;
  operand.location = token.location;
  operand.name = name;
  advance();
  if (name == "_") {
    operand.kind = ParsedOperand::Kind::Sink;
    return Error::success();
  }
  if (name == "WARP_SZ") {
    operand.kind = ParsedOperand::Kind::Integer;
    operand.value = 32;
    return Error::success();
  }
  bool adjacentSuffix = token.kind == Token::Kind::Dotted && token.begin == previousEnd;
  if (const Symbol *symbol = lookup(name)) {
    if (symbol->kind == Symbol::Kind::Register) {
      if (adjacentSuffix)
        return error("'" + name + "' has no component '." + token.text +
                     "'; parts of registers belong to video instructions, which the emulator "
                     "doesn't know");
      setRegister(operand, symbol->type, symbol->slot);
      return Error::success();
    }
    if (symbol->kind == Symbol::Kind::VectorRegister) {
      unsigned rows = symbol->type == Type::B128 ? 2 : 1;
      if (adjacentSuffix) {
        size_t component = StringRef("xyzw").find(token.text);
        if (token.text.size() != 1 || component >= symbol->elements)
          return error("'" + name + "' has no component '." + token.text + "'");
        setRegister(operand, symbol->type, symbol->slot + rows * component);
        advance();
        return Error::success();
      }
      operand.kind = ParsedOperand::Kind::Vector;
      for (unsigned i = 0; i < symbol->elements; ++i)
        setRegister(operand.elements.emplace_back(), symbol->type, symbol->slot + rows * i);
      return Error::success();
    }
    operand.kind = ParsedOperand::Kind::FunctionVariable;
    operand.slot = symbol->slot;
  } else if (isSpecialRegister(name)) {
    StringRef component = adjacentSuffix ? token.text : StringRef();
    std::optional<SpecialRegister> special = parseSpecialRegister(name, component);
    if (!special)
      return errorAt(operand.location, "expected a component .x, .y or .z of '" + name + "'");
    if (!component.empty())
      advance();
    operand.kind = ParsedOperand::Kind::Special;
    operand.slot = unsigned(*special);
    return Error::success();
  } else if (auto variable = module.variableIndex.find(name);
             variable != module.variableIndex.end()) {
    operand.kind = ParsedOperand::Kind::ModuleVariable;
    operand.slot = variable->second;
  } else if (auto callee = module.functionIndex.find(name); callee != module.functionIndex.end()) {
    operand.kind = ParsedOperand::Kind::Function;
    operand.slot = callee->second;
    return Error::success();
  } else {
    if (name.starts_with("%"))
      return errorAt(operand.location, "register '" + name + "' is not declared");
    operand.kind = ParsedOperand::Kind::Label;
    operand.slot = scope;
    return Error::success();
  }
  if (token.is('+') || token.is('-')) { // mov.u64 %rd1, table+8
    ParsedOperand offset;
    consume('+');
    if (Error e = parseConstant(offset, 0))
      return e;
    operand.value = offset.value;
  }
  return Error::success();
}

/// term (op term)*, left to right without precedence among + - and with * / % binding in the term;
/// the C operators that PTX also allows in constant expressions (<<, &, ?:, ...) are not used by
/// any producer known.
Error Parser::parseConstant(ParsedOperand &operand, unsigned nesting) {
  if (Error e = parseConstantTerm(operand, nesting))
    return e;
  while (token.is('+') || token.is('-')) {
    bool minus = token.is('-');
    advance();
    ParsedOperand right;
    if (Error e = parseConstantTerm(right, nesting))
      return e;
    if (operand.kind != ParsedOperand::Kind::Integer || right.kind != ParsedOperand::Kind::Integer)
      return error("only integers may be added in a constant expression");
    operand.value = minus ? operand.value - right.value : operand.value + right.value;
  }
  return Error::success();
}

/// [-+~] ( integer | float | '(' constant ')' ) [* term]
Error Parser::parseConstantTerm(ParsedOperand &operand, unsigned nesting) {
  if (nesting > kMaxOperandDepth)
    return error("a constant expression is nested too deeply");
  operand.location = token.location;
  char sign = token.is('-') || token.is('~') || token.is('+') ? token.text[0] : 0;
  if (sign) {
    advance();
    if (Error e = parseConstantTerm(operand, nesting + 1))
      return e;
    if (sign == '-' && operand.kind == ParsedOperand::Kind::Double)
      operand.value ^= uint64_t(1) << 63;
    else if (sign == '-' && operand.kind == ParsedOperand::Kind::Single)
      operand.value ^= uint64_t(1) << 31;
    else if (sign == '-')
      operand.value = -operand.value;
    else if (sign == '~')
      operand.value = ~operand.value;
    return Error::success();
  }
  if (consume('(')) {
    if (Error e = parseConstant(operand, nesting + 1))
      return e;
    if (Error e = expect(')'))
      return e;
  } else {
    switch (token.kind) {
    case Token::Kind::Integer:
      operand.kind = ParsedOperand::Kind::Integer;
      break;
    case Token::Kind::Single:
      operand.kind = ParsedOperand::Kind::Single;
      break;
    case Token::Kind::Double:
      operand.kind = ParsedOperand::Kind::Double;
      break;
    default:
      if (token.kind == Token::Kind::Identifier && token.text == "WARP_SZ") {
        operand.kind = ParsedOperand::Kind::Integer;
        token.value = 32;
        break;
      }
      return expected("a constant");
    }
    operand.value = token.value;
    advance();
  }
  if (token.is('*') && operand.kind == ParsedOperand::Kind::Integer) {
    advance();
    ParsedOperand right;
    if (Error e = parseConstantTerm(right, nesting + 1))
      return e;
    operand.value *= right.value;
  }
  return Error::success();
}
