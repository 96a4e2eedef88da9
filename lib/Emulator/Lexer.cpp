//===- Lexer.cpp - Tokens of PTX --------------------------------*- C++ -*-===//

#include "Lexer.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/bit.h"

#include <cstdlib>
#include <string>

using namespace tcc::emulator;

static bool isNameStart(char c) { return llvm::isAlpha(c) || c == '_' || c == '$' || c == '%'; }
static bool isNameBody(char c) { return llvm::isAlnum(c) || c == '_' || c == '$'; }

void Lexer::advance() {
  if (source[position] == '\n') {
    ++here.line;
    here.column = 1;
  } else {
    ++here.column;
  }
  ++position;
}

bool Lexer::skipSpaceAndComments() {
  while (!atEnd()) {
    if (llvm::isSpace(peek())) {
      advance();
    } else if (peek() == '/' && peek(1) == '/') {
      while (!atEnd() && peek() != '\n')
        advance();
    } else if (peek() == '/' && peek(1) == '*') {
      SourceLocation start = here;
      advance();
      advance();
      while (!atEnd() && !(peek() == '*' && peek(1) == '/'))
        advance();
      if (atEnd()) {
        here = start;
        return false;
      }
      advance();
      advance();
    } else {
      break;
    }
  }
  return true;
}

Token Lexer::finish(Token token) {
  token.end = position;
  if (token.text.empty())
    token.text = source.slice(token.begin, token.end);
  return token;
}

Token Lexer::next() {
  Token token;
  bool closed = skipSpaceAndComments();
  token.location = here;
  token.begin = token.end = position;
  if (!closed) {
    token.kind = Token::Kind::Error;
    token.text = "comment without an end";
    return token;
  }
  if (atEnd())
    return token;
  char c = peek();
  if (llvm::isDigit(c))
    return lexNumber(token);
  if (c == '"')
    return lexString(token);
  if (c == '.')
    return lexDotted(token);
  if (isNameStart(c)) {
    token.kind = Token::Kind::Identifier;
    advance();
    while (isNameBody(peek()))
      advance();
    return finish(token);
  }
  token.kind = Token::Kind::Punctuation;
  advance();
  return finish(token);
}

// Integers are decimal, 0x, 0b or octal with an optional U; 0f and 0d give a float's bits; the rest
// is a C float (PTX ISA 4.5).
Token Lexer::lexNumber(Token token) {
  auto takeHex = [&](unsigned digits) {
    size_t start = position;
    while (llvm::isHexDigit(peek()) && position - start < digits)
      advance();
    return position - start == digits &&
           !source.slice(start, position).getAsInteger(16, token.value);
  };
  auto fail = [&](llvm::StringRef message) {
    token.kind = Token::Kind::Error;
    token.text = message;
    token.end = position;
    return token;
  };
  char marker = peek(1);
  if (peek() == '0' && (marker == 'f' || marker == 'F' || marker == 'd' || marker == 'D')) {
    bool single = marker == 'f' || marker == 'F';
    advance();
    advance();
    if (!takeHex(single ? 8 : 16))
      return fail(single ? "expected 8 hexadecimal digits after 0f"
                         : "expected 16 hexadecimal digits after 0d");
    token.kind = single ? Token::Kind::Single : Token::Kind::Double;
    return finish(token);
  }
  size_t start = position;
  bool isHex = peek() == '0' && (marker == 'x' || marker == 'X');
  while (llvm::isAlnum(peek()) || (peek() == '.' && llvm::isDigit(peek(1))) ||
         (!isHex && (peek() == '+' || peek() == '-') &&
          (source[position - 1] == 'e' || source[position - 1] == 'E')))
    advance();
  llvm::StringRef digits = source.slice(start, position);
  if (!isHex && digits.find_first_of(".eE") != llvm::StringRef::npos) {
    std::string copy = digits.str();
    char *end = nullptr;
    double value = std::strtod(copy.c_str(), &end);
    if (*end)
      return fail("malformed floating-point literal");
    token.kind = Token::Kind::Double;
    token.value = llvm::bit_cast<uint64_t>(value);
    return finish(token);
  }
  if (digits.ends_with_insensitive("u"))
    digits = digits.drop_back();
  unsigned radix = 10;
  if (isHex) {
    radix = 16;
    digits = digits.drop_front(2);
  } else if (digits.starts_with("0b") || digits.starts_with("0B")) {
    radix = 2;
    digits = digits.drop_front(2);
  } else if (digits.size() > 1 && digits[0] == '0') {
    radix = 8;
  }
  if (digits.getAsInteger(radix, token.value))
    return fail("malformed integer literal, or one beyond 64 bits");
  token.kind = Token::Kind::Integer;
  return finish(token);
}

Token Lexer::lexString(Token token) {
  advance();
  size_t start = position;
  while (!atEnd() && peek() != '"' && peek() != '\n') {
    if (peek() == '\\' && position + 1 < source.size())
      advance();
    advance();
  }
  if (peek() != '"' || atEnd()) {
    token.kind = Token::Kind::Error;
    token.text = "string without an end";
    token.end = position;
    return token;
  }
  token.kind = Token::Kind::String;
  llvm::StringRef text = source.slice(start, position);
  advance();
  token.end = position;
  token.text = text;
  return token;
}

Token Lexer::lexDotted(Token token) {
  advance();
  size_t start = position;
  while (isNameBody(peek()) || (peek() == ':' && peek(1) == ':' && isNameBody(peek(2)))) {
    if (peek() == ':')
      advance();
    advance();
  }
  if (position == start) {
    token.kind = Token::Kind::Punctuation;
    return finish(token);
  }
  token.kind = Token::Kind::Dotted;
  token.text = source.slice(start, position);
  token.end = position;
  return token;
}
