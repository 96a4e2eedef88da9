//===- ParserBody.cpp - Statements of a function ----------------*- C++ -*-===//

#include "Parser.h"

using namespace tcc::emulator;
using llvm::Error;
using llvm::StringRef;
using llvm::Twine;

constexpr unsigned kMaxScopeDepth = 256;
constexpr size_t kMaxInstructions = size_t(1) << 22;

Error Parser::parseBody(ParsedFunction &parsed) {
  if (Error e = expect('{'))
    return e;
  depth = 1;
  while (depth) {
    if (token.kind == Token::Kind::End)
      return expected("'}'");
    if (Error e = parseStatement())
      return e;
  }
  return resolveLabels(parsed);
}

Error Parser::parseStatement() {
  if (consume(';'))
    return Error::success();
  if (token.is('{')) {
    if (++depth > kMaxScopeDepth)
      return error("scopes are nested too deeply");
    advance();
    scopes.emplace_back();
    scopes.back().parent = scope;
    scope = scopes.size() - 1;
    return Error::success();
  }
  if (token.is('}')) {
    advance();
    --depth;
    scope = scopes[scope].parent;
    return Error::success();
  }
  if (token.kind == Token::Kind::Dotted)
    return parseDirectiveStatement();
  if (token.kind != Token::Kind::Identifier && !token.is('@'))
    return expected("an instruction, a label or a directive");
  return parseInstruction();
}

Error Parser::parseDirectiveStatement() {
  StringRef name = token.text;
  if (name == "loc" || name == "file" || name == "pragma")
    return skipStatement();
  if (name == "section")
    return skipBraces();
  if (name == "reg") {
    advance();
    return parseRegisters();
  }
  static constexpr std::pair<StringRef, Space> kSpaces[] = {
      {"global", Space::Global},     {"shared", Space::Shared}, {"const", Space::Const},
      {"local", Space::Local},       {"param", Space::Param},   {"shared::cta", Space::Shared},
      {"param::func", Space::Param}, {"volatile", Space::Local}};
  for (auto [spelling, space] : kSpaces)
    if (consumeDotted(spelling))
      return parseVariable(space, /*isExtern=*/false);
  if (name == "extern" || name == "visible") {
    bool isExtern = name == "extern";
    advance();
    if (!consumeDotted("shared"))
      return expected(".shared");
    return parseVariable(Space::Shared, isExtern);
  }
  return expected("a directive that may stand in a function");
}

/// `label: .branchtargets L1, L2;` and its relatives, after the colon.
Error Parser::parseTargetList(StringRef label) {
  bool isPrototype = token.text == "callprototype";
  advance();
  if (isPrototype) { // Only the call's own operands matter here.
    while (token.kind != Token::Kind::End && !token.is(';'))
      advance();
    return expect(';');
  }
  std::vector<ParsedOperand> &targets = function->targetLists[label];
  do {
    ParsedOperand target;
    if (token.kind != Token::Kind::Identifier)
      return expected("a label or a function");
    if (Error e = parseName(target))
      return e;
    targets.push_back(std::move(target));
  } while (consume(','));
  return expect(';');
}

/// [label:] [@[!]p] opcode operands ;
Error Parser::parseInstruction() {
  if (function->body.size() >= kMaxInstructions)
    return error("more than 2^22 instructions in a function");
  ParsedInstruction instruction;
  instruction.location = token.location;
  if (consume('@')) {
    instruction.guardNegated = consume('!');
    ParsedOperand guard;
    if (token.kind != Token::Kind::Identifier)
      return expected("a predicate");
    SourceLocation location = token.location;
    if (Error e = parseName(guard))
      return e;
    if (guard.kind != ParsedOperand::Kind::Predicate)
      return errorAt(location, "a guard is a .pred register");
    instruction.guard = guard.slot;
    if (token.kind != Token::Kind::Identifier)
      return expected("an opcode");
  } else {
    Token name = token;
    advance();
    if (consume(':')) {
      if (!scopes[scope].labels.try_emplace(name.text, function->body.size()).second)
        return errorAt(name.location, "label '" + name.text + "' is defined twice");
      if (token.isDotted("branchtargets") || token.isDotted("calltargets") ||
          token.isDotted("callprototype"))
        return parseTargetList(name.text);
      return Error::success();
    }
    instruction.opcode = name.text;
    instruction.text = name.text;
  }
  if (Error e = parseOpcode(instruction))
    return e;
  size_t begin = instruction.text.data() - module.text.data();
  if (Error e = parseOperandList(instruction))
    return e;
  instruction.text = StringRef(module.text).slice(begin, token.begin).rtrim();
  if (Error e = expect(';'))
    return e;
  function->body.push_back(std::move(instruction));
  return Error::success();
}

/// The name and its dotted parts. If no guard was parsed, the name is already in
/// `instruction.opcode`.
Error Parser::parseOpcode(ParsedInstruction &instruction) {
  if (instruction.opcode.empty()) {
    instruction.opcode = instruction.text = token.text;
    advance();
  }
  const char *begin = instruction.opcode.data();
  size_t end = instruction.opcode.end() - module.text.data();
  bool adjacent = true;
  std::string joined = instruction.opcode.str();
  while (token.kind == Token::Kind::Dotted) {
    adjacent &= token.begin == end;
    end = token.end;
    (joined += '.') += token.text;
    advance();
  }
  if (adjacent) {
    instruction.opcode = StringRef(begin, module.text.data() + end - begin);
  } else {
    module.joinedOpcodes.push_back(std::move(joined));
    instruction.opcode = module.joinedOpcodes.back();
  }
  return Error::success();
}

Error Parser::resolveLabels(ParsedFunction &parsed) {
  for (ParsedInstruction &instruction : parsed.body)
    for (ParsedOperand &operand : instruction.operands)
      if (Error e = resolveLabel(operand, 0))
        return e;
  for (auto &list : parsed.targetLists)
    for (ParsedOperand &operand : list.second)
      if (Error e = resolveLabel(operand, 0))
        return e;
  return Error::success();
}

Error Parser::resolveLabel(ParsedOperand &operand, unsigned nesting) {
  for (ParsedOperand &element : operand.elements)
    if (Error e = resolveLabel(element, nesting + 1))
      return e;
  if (operand.kind != ParsedOperand::Kind::Label)
    return Error::success();
  for (unsigned s = operand.slot;; s = scopes[s].parent) {
    auto found = scopes[s].labels.find(operand.name);
    if (found != scopes[s].labels.end()) {
      operand.value = found->second;
      return Error::success();
    }
    if (s == 0)
      break;
  }
  return errorAt(operand.location, "'" + operand.name + "' is neither declared nor a label");
}
