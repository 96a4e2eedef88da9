//===- ParserDeclarations.cpp - Variables, parameters, registers -*- C++ -*-===//

#include "Parser.h"

#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"

#include <cstring>

using namespace tcc::emulator;
using llvm::Error;
using llvm::StringRef;
using llvm::Twine;

constexpr uint64_t kMaxVariableBytes = uint64_t(1) << 32;
constexpr uint64_t kMaxInitializedBytes = uint64_t(1) << 28;
constexpr uint64_t kMaxAlignment = uint64_t(1) << 16;

/// `( parameter, ... )` of a function's head.
Error Parser::parseParameters(ParsedFunction &parsed, std::vector<uint32_t> &list) {
  if (Error e = expect('('))
    return e;
  while (!token.is(')')) {
    if (!list.empty())
      if (Error e = expect(','))
        return e;
    if (list.size() >= 4096)
      return error("more than 4096 parameters");
    Variable variable;
    if (consumeDotted("param"))
      variable.space = Space::Param;
    else if (consumeDotted("reg"))
      variable.space = Space::Register;
    else
      return expected(".param or .reg");
    unsigned vector = 1;
    bool open = false;
    if (Error e = parseVariableHead(variable, vector))
      return e;
    if (Error e = parseArrayBounds(variable, vector, open))
      return e;
    list.push_back(parsed.variables.size());
    if (Error e = declareVariable(std::move(variable)))
      return e;
  }
  return expect(')');
}

/// [.align n] [.v2|.v4] .type [.ptr [.space] [.align n]] [.attribute(...)] name
Error Parser::parseVariableHead(Variable &variable, unsigned &vector) {
  bool hasType = false;
  uint64_t alignment = 0;
  while (token.kind == Token::Kind::Dotted) {
    StringRef name = token.text;
    if (name == "align") {
      advance();
      uint64_t value = 0;
      if (Error e = parseUnsigned(value, kMaxAlignment, "an alignment"))
        return e;
      if (!llvm::isPowerOf2_64(value))
        return error("an alignment is a power of two, found " + Twine(value));
      if (!hasType)
        alignment = value;
      continue;
    }
    if (name == "attribute") {
      while (token.kind != Token::Kind::End && !token.is(')'))
        advance();
      if (Error e = expect(')'))
        return e;
      continue;
    }
    if (name == "v2" || name == "v4" || name == "v8") {
      vector = name[1] - '0';
    } else if (std::optional<Type> type = parseType(name); type && !hasType) {
      variable.type = *type;
      hasType = true;
    } else if (name == "texref" || name == "samplerref" || name == "surfref") {
      variable.type = Type::B64;
      hasType = true;
    } else if (name != "ptr" && name != "global" && name != "shared" && name != "const" &&
               name != "local" && name != "param" && name != "generic") {
      return expected("a type");
    }
    advance();
  }
  if (!hasType)
    return expected("a type");
  if (token.kind != Token::Kind::Identifier)
    return expected("a name");
  variable.name = token.text;
  variable.location = token.location;
  advance();
  uint64_t natural = std::max<uint64_t>(1, bitWidth(variable.type) / 8) * vector;
  variable.alignment = std::max(alignment, natural);
  // A declared alignment below the natural one of a byte array's elements only is meaningful.
  if (alignment)
    variable.alignment = alignment;
  return Error::success();
}

/// The `[n][m]` after a name; sets the size. `open` is set for `[]`.
Error Parser::parseArrayBounds(Variable &variable, unsigned vector, bool &open) {
  uint64_t size = std::max<uint64_t>(1, bitWidth(variable.type) / 8) * vector;
  open = false;
  while (consume('[')) {
    if (token.is(']')) {
      if (open)
        return error("only the first dimension may be empty");
      open = true;
    } else {
      uint64_t count = 0;
      ParsedOperand constant;
      SourceLocation location = token.location;
      if (Error e = parseConstant(constant, 0))
        return e;
      count = constant.value;
      if (constant.kind != ParsedOperand::Kind::Integer || count > kMaxVariableBytes ||
          size * count > kMaxVariableBytes)
        return errorAt(location, "a variable has at most 2^32 bytes");
      size *= count;
    }
    if (Error e = expect(']'))
      return e;
  }
  variable.size = size;
  return Error::success();
}

Error Parser::parseVariable(Space space, bool isExtern) {
  Variable head;
  head.space = space;
  head.isExtern = isExtern;
  // .shared::cta is the long form of .shared; .const[2] names a bank that today's PTX ignores.
  if (consume('[')) {
    advance();
    if (Error e = expect(']'))
      return e;
  }
  unsigned vector = 1;
  if (Error e = parseVariableHead(head, vector))
    return e;
  while (true) {
    Variable variable = head;
    bool open = false;
    // `.param .b32 p<4>` declares four variables.
    uint64_t copies = 0;
    if (consume('<')) {
      if (Error e = parseUnsigned(copies, 4096, "a number of variables"))
        return e;
      if (Error e = expect('>'))
        return e;
    }
    uint64_t elementBytes = std::max<uint64_t>(1, bitWidth(variable.type) / 8);
    if (Error e = parseArrayBounds(variable, vector, open))
      return e;
    if (consume('=')) {
      uint64_t offset = 0;
      if (!open)
        variable.initializer.reserve(std::min<uint64_t>(variable.size, 4096));
      if (Error e = parseInitializer(variable, elementBytes, offset, 0))
        return e;
      if (open)
        variable.size = offset;
      if (variable.initializer.size() > variable.size)
        return errorAt(variable.location, "more initial values than '" + variable.name + "' holds");
    } else if (open) {
      variable.size = 0;
    }
    if (copies) {
      for (uint64_t i = 0; i < copies; ++i) {
        Variable copy = variable;
        module.joinedOpcodes.push_back((variable.name + Twine(i)).str());
        copy.name = module.joinedOpcodes.back();
        if (Error e = declareVariable(std::move(copy)))
          return e;
      }
    } else if (Error e = declareVariable(std::move(variable))) {
      return e;
    }
    if (!consume(','))
      break;
    if (token.kind != Token::Kind::Identifier)
      return expected("a name");
    head.name = token.text;
    head.location = token.location;
    advance();
  }
  return expect(';');
}

Error Parser::parseInitializer(Variable &variable, uint64_t elementBytes, uint64_t &offset,
                               unsigned nesting) {
  if (!token.is('{'))
    return parseInitialValue(variable, elementBytes, offset);
  if (nesting > 8)
    return error("initial values are nested too deeply");
  advance();
  while (!token.is('}')) {
    if (Error e = parseInitializer(variable, elementBytes, offset, nesting + 1))
      return e;
    if (!consume(','))
      break;
  }
  return expect('}');
}

Error Parser::parseInitialValue(Variable &variable, uint64_t elementBytes, uint64_t &offset) {
  if (offset + elementBytes > kMaxInitializedBytes)
    return error("more than 2^28 bytes of initial values");
  variable.initializer.resize(offset + elementBytes);
  uint64_t bits = 0;
  bool isName = token.kind == Token::Kind::Identifier;
  if (isName) {
    bool generic = token.text == "generic";
    if (generic) {
      advance();
      if (Error e = expect('('))
        return e;
      if (token.kind != Token::Kind::Identifier)
        return expected("a variable");
    }
    Relocation relocation{offset, unsigned(elementBytes), token.text, 0};
    advance();
    if (generic)
      if (Error e = expect(')'))
        return e;
    bool minus = token.is('-');
    if (minus || token.is('+')) {
      advance();
      ParsedOperand addend;
      if (Error e = parseConstant(addend, 0))
        return e;
      relocation.addend = minus ? -int64_t(addend.value) : int64_t(addend.value);
    }
    variable.relocations.push_back(relocation);
  } else {
    ParsedOperand constant;
    if (Error e = parseConstant(constant, 0))
      return e;
    bits = constant.value;
    bool wide = variable.type == Type::F64;
    if (constant.kind == ParsedOperand::Kind::Double && !wide)
      bits = llvm::bit_cast<uint32_t>(float(llvm::bit_cast<double>(bits)));
    else if (constant.kind == ParsedOperand::Kind::Single && wide)
      bits = llvm::bit_cast<uint64_t>(double(llvm::bit_cast<float>(uint32_t(bits))));
  }
  std::memcpy(variable.initializer.data() + offset, &bits, std::min<uint64_t>(elementBytes, 8));
  offset += elementBytes;
  return Error::success();
}

Error Parser::declareVariable(Variable variable) {
  if (variable.space == Space::Register) {
    Symbol symbol{Symbol::Kind::Register, variable.type, newSlot(variable.type, 1), 1};
    variable.slot = symbol.slot;
    scopes[scope].symbols[variable.name] = symbol;
    function->variables.push_back(std::move(variable));
    return Error::success();
  }
  if (!function) {
    auto [known, isNew] = module.variableIndex.try_emplace(variable.name, module.variables.size());
    if (!isNew) {
      Variable &old = module.variables[known->second];
      if (!old.isExtern && !variable.isExtern)
        return errorAt(variable.location, "'" + variable.name + "' is defined twice");
      if (old.isExtern)
        old = std::move(variable);
      return Error::success();
    }
    module.variables.push_back(std::move(variable));
    return Error::success();
  }
  if (function->variables.size() >= (1u << 20))
    return errorAt(variable.location, "more than 2^20 variables in a function");
  Symbol symbol{Symbol::Kind::Variable, variable.type, uint32_t(function->variables.size()), 1};
  if (!scopes[scope].symbols.try_emplace(variable.name, symbol).second)
    return errorAt(variable.location, "'" + variable.name + "' is declared twice");
  function->variables.push_back(std::move(variable));
  return Error::success();
}

/// `.reg [.v2|.v4] .type name | name<n>, ... ;`
Error Parser::parseRegisters() {
  Type type = Type::None;
  unsigned vector = 1;
  while (token.kind == Token::Kind::Dotted) {
    if (token.text == "v2" || token.text == "v4")
      vector = token.text[1] - '0';
    else if (std::optional<Type> parsed = parseType(token.text))
      type = *parsed;
    else
      return expected("a register type");
    advance();
  }
  if (type == Type::None)
    return expected("a register type");
  do {
    if (token.kind != Token::Kind::Identifier)
      return expected("a register name");
    StringRef name = token.text;
    SourceLocation location = token.location;
    advance();
    if (consume('<')) {
      uint64_t count = 0;
      if (Error e = parseUnsigned(count, UINT32_MAX, "a number of registers"))
        return e;
      if (Error e = expect('>'))
        return e;
      scopes[scope].ranges[name] = {type, count};
      continue;
    }
    Symbol symbol{vector > 1 ? Symbol::Kind::VectorRegister : Symbol::Kind::Register, type,
                  newSlot(type, vector), vector};
    if (!scopes[scope].symbols.try_emplace(name, symbol).second)
      return errorAt(location, "'" + name + "' is declared twice");
  } while (consume(','));
  return expect(';');
}

/// `x[, y[, z]]`
Error Parser::parseDim3(Dim3 &dim) {
  uint32_t *fields[] = {&dim.x, &dim.y, &dim.z};
  for (unsigned i = 0; i < 3; ++i) {
    if (i && !consume(','))
      break;
    uint64_t value = 0;
    if (Error e = parseUnsigned(value, UINT32_MAX, "a dimension"))
      return e;
    *fields[i] = value;
  }
  return Error::success();
}
