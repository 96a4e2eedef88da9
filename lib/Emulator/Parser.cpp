//===- Parser.cpp - Module level --------------------------------*- C++ -*-===//

#include "Parser.h"

#include "llvm/Support/FormatVariadic.h"

using namespace tcc::emulator;
using llvm::Error;
using llvm::StringRef;
using llvm::Twine;

// Enough for any generated module, small enough that a parse of hostile text ends soon.
constexpr size_t kMaxSourceBytes = size_t(256) << 20;

//===----------------------------------------------------------------------===//
// Tokens
//===----------------------------------------------------------------------===//

Error Parser::errorAt(SourceLocation location, const Twine &message) const {
  return llvm::createStringError(llvm::formatv("{0}:{1}:{2}: error: {3}", module.name,
                                               location.line, location.column, message.str())
                                     .str());
}

Error Parser::expected(const Twine &what) const {
  if (token.kind == Token::Kind::Error)
    return error(token.text);
  if (token.kind == Token::Kind::End)
    return error("expected " + what + ", found the end of the text");
  StringRef dot = token.kind == Token::Kind::Dotted ? "." : "";
  return error("expected " + what + ", found '" + dot + token.text.take_front(60) + "'");
}

Error Parser::expect(char punctuation) {
  if (!consume(punctuation))
    return expected("'" + Twine(punctuation) + "'");
  return Error::success();
}

bool Parser::consume(char punctuation) {
  if (!token.is(punctuation))
    return false;
  advance();
  return true;
}

bool Parser::consumeDotted(StringRef name) {
  if (!token.isDotted(name))
    return false;
  advance();
  return true;
}

Error Parser::parseUnsigned(uint64_t &value, uint64_t maximum, const Twine &what) {
  if (token.kind != Token::Kind::Integer)
    return expected(what);
  if (token.value > maximum)
    return error(what + " is at most " + Twine(maximum) + ", found " + token.text);
  value = token.value;
  advance();
  return Error::success();
}

//===----------------------------------------------------------------------===//
// Module level
//===----------------------------------------------------------------------===//

Error Parser::parse() {
  scopes.emplace_back();
  while (token.kind != Token::Kind::End)
    if (Error e = parseModuleItem())
      return e;
  if (module.target.empty())
    return error("expected a .target directive");
  return Error::success();
}

Error Parser::parseModuleItem() {
  if (token.kind != Token::Kind::Dotted) {
    if (consume(';'))
      return Error::success();
    if (token.is('@')) // @@DWARF lines of old compilers
      return skipStatement();
    return expected("a directive");
  }
  StringRef name = token.text;
  if (name == "version") {
    advance();
    module.version = token.text.str();
    if (token.kind != Token::Kind::Double && token.kind != Token::Kind::Integer)
      return expected("a version number");
    advance();
    return Error::success();
  }
  if (name == "target")
    return parseTarget();
  if (name == "address_size") {
    advance();
    uint64_t size = 0;
    if (Error e = parseUnsigned(size, 64, "an address size"))
      return e;
    if (size != 32 && size != 64)
      return error("the address size is 32 or 64, found " + Twine(size));
    module.addressSize = size;
    return Error::success();
  }
  if (name == "section")
    return skipBraces();
  if (name == "file" || name == "loc" || name == "pragma")
    return skipStatement();
  if (name == "alias")
    return parseAlias();
  return parseLinked();
}

Error Parser::parseTarget() {
  advance();
  if (token.kind != Token::Kind::Identifier)
    return expected("a target such as sm_80");
  module.target = token.text.str();
  advance();
  while (consume(',')) {
    if (token.kind != Token::Kind::Identifier)
      return expected("a target option");
    advance();
  }
  return Error::success();
}

/// Skips directives that only debuggers read: to the `;`, or to the end of the line for .file and
/// .loc, which have none.
Error Parser::skipStatement() {
  uint32_t line = token.location.line;
  while (token.kind != Token::Kind::End && token.location.line == line) {
    if (token.kind == Token::Kind::Error)
      return error(token.text);
    if (consume(';'))
      break;
    advance();
  }
  return Error::success();
}

Error Parser::skipBraces() {
  while (token.kind != Token::Kind::End && !token.is('{'))
    advance();
  if (Error e = expect('{'))
    return e;
  unsigned open = 1;
  while (open && token.kind != Token::Kind::End) {
    open += token.is('{');
    open -= token.is('}');
    advance();
  }
  return open ? expected("'}'") : Error::success();
}

/// [linkage] (.entry | .func | variable)
Error Parser::parseLinked() {
  bool isExtern = false;
  while (token.isDotted("visible") || token.isDotted("extern") || token.isDotted("weak") ||
         token.isDotted("common")) {
    isExtern |= token.text == "extern";
    advance();
  }
  if (consumeDotted("entry"))
    return parseFunction(/*isEntry=*/true);
  if (consumeDotted("func"))
    return parseFunction(/*isEntry=*/false);
  static constexpr std::pair<StringRef, Space> kSpaces[] = {
      {"global", Space::Global}, {"shared", Space::Shared}, {"const", Space::Const},
      {"local", Space::Local},   {"param", Space::Param},   {"tex", Space::Global}};
  for (auto [name, space] : kSpaces)
    if (consumeDotted(name))
      return parseVariable(space, isExtern);
  return expected(".entry, .func, a variable or another module directive");
}

Error Parser::parseAlias() {
  advance();
  StringRef alias = token.text;
  if (token.kind != Token::Kind::Identifier)
    return expected("a function name");
  advance();
  if (Error e = expect(','))
    return e;
  auto aliased = module.functionIndex.find(token.text);
  if (aliased == module.functionIndex.end())
    return expected("a function that is declared before");
  module.functionIndex[alias] = aliased->second;
  advance();
  return expect(';');
}

Error Parser::parseFunction(bool isEntry) {
  ParsedFunction parsed;
  parsed.isEntry = isEntry;
  function = &parsed;
  scopes.clear();
  scopes.emplace_back();
  scope = 0;
  while (consumeDotted("attribute")) { // .attribute(.unified(...))
    while (token.kind != Token::Kind::End && !consume(')'))
      advance();
  }
  if (token.is('('))
    if (Error e = parseParameters(parsed, parsed.results))
      return e;
  if (token.kind != Token::Kind::Identifier)
    return expected("a function name");
  parsed.name = token.text;
  parsed.location = token.location;
  advance();
  if (token.is('('))
    if (Error e = parseParameters(parsed, parsed.parameters))
      return e;
  if (Error e = parseFunctionAttributes(parsed))
    return e;
  bool hasBody = token.is('{');
  if (!hasBody) {
    if (Error e = expect(';'))
      return e;
    return finishFunction(parsed, false);
  }
  // The name is known inside the body, for recursion; the body is moved in when it is complete.
  if (!module.functionIndex.count(parsed.name)) {
    module.functionIndex[parsed.name] = module.functions.size();
    ParsedFunction &declared = module.functions.emplace_back();
    declared.name = parsed.name;
    declared.isEntry = isEntry;
  }
  if (Error e = parseBody(parsed))
    return e;
  return finishFunction(parsed, true);
}

Error Parser::parseFunctionAttributes(ParsedFunction &parsed) {
  while (token.kind == Token::Kind::Dotted) {
    StringRef name = token.text;
    SourceLocation location = token.location;
    advance();
    Dim3 dim;
    if (name == "reqntid" || name == "maxntid" || name == "reqnctapercluster") {
      if (Error e = parseDim3(dim))
        return e;
      (name == "reqntid"   ? parsed.requiredBlock
       : name == "maxntid" ? parsed.maximumBlock
                           : parsed.requiredCluster) = dim;
    } else if (name == "minnctapersm" || name == "maxnctapersm" || name == "maxnreg" ||
               name == "maxclusterrank") {
      uint64_t count;
      if (Error e = parseUnsigned(count, UINT32_MAX, "a count"))
        return e;
      if (name == "maxnreg")
        parsed.maximumRegisters = count;
      else if (name == "minnctapersm")
        parsed.minimumBlocks = count;
    } else if (name == "pragma") {
      while (token.kind == Token::Kind::String || token.is(','))
        advance();
      if (Error e = expect(';'))
        return e;
    } else if (name != "explicitcluster" && name != "noreturn" && name != "blocksareclusters" &&
               name != "unique" && name != "abi_preserve" && name != "abi_preserve_control") {
      return errorAt(location, "unknown function directive '." + name + "'");
    }
  }
  return Error::success();
}

Error Parser::finishFunction(ParsedFunction &parsed, bool hasBody) {
  parsed.hasBody = hasBody;
  StringRef name = parsed.name;
  auto known = module.functionIndex.find(name);
  if (known == module.functionIndex.end()) {
    module.functionIndex[name] = module.functions.size();
    module.functions.push_back(std::move(parsed));
    function = nullptr;
    return Error::success();
  }
  ParsedFunction &declared = module.functions[known->second];
  if (declared.hasBody && hasBody)
    return errorAt(parsed.location, "'" + name + "' is defined twice");
  if (hasBody || declared.parameters.empty())
    declared = std::move(parsed);
  function = nullptr;
  return hasBody && declared.isEntry ? describeKernel(declared) : Error::success();
}

Error Parser::describeKernel(const ParsedFunction &entry) {
  KernelInfo info;
  info.name = entry.name.str();
  info.line = entry.location.line;
  for (uint32_t index : entry.parameters) {
    const Variable &parameter = entry.variables[index];
    info.parameterBytes =
        (info.parameterBytes + parameter.alignment - 1) / parameter.alignment * parameter.alignment;
    info.parameters.push_back(
        {parameter.name.str(), info.parameterBytes, parameter.size, parameter.alignment});
    info.parameterBytes += parameter.size;
  }
  info.requiredBlock = entry.requiredBlock;
  info.maximumBlock = entry.maximumBlock;
  info.requiredCluster = entry.requiredCluster;
  module.kernels.push_back(std::move(info));
  return Error::success();
}

llvm::Expected<std::shared_ptr<ParsedModule>> tcc::emulator::parseModule(StringRef text,
                                                                         StringRef name) {
  auto module = std::make_shared<ParsedModule>();
  module->name = name.str();
  if (text.size() > kMaxSourceBytes)
    return llvm::createStringError("%s: error: PTX text of more than 256 MiB",
                                   module->name.c_str());
  // A driver takes a C string: what follows a NUL is not part of the program.
  module->text = text.take_until([](char c) { return c == '\0'; }).str();
  if (Error e = Parser(*module).parse())
    return std::move(e);
  return module;
}
