//===- Lexer.h - Tokens of PTX ----------------------------------*- C++ -*-===//

#ifndef TCC_LIB_EMULATOR_LEXER_H
#define TCC_LIB_EMULATOR_LEXER_H

#include "llvm/ADT/StringRef.h"

#include <cstdint>

namespace tcc::emulator {

struct SourceLocation {
  uint32_t line = 1;
  uint32_t column = 1;
};

struct Token {
  enum class Kind : uint8_t {
    End,
    Error,      // text: what is wrong
    Identifier, // foo, %r1, $L__BB0_1, _
    Dotted,     // .global, .shared::cluster; text without the leading dot
    Integer,    // value
    Single,     // 0f3F800000; value: its 32 bits
    Double,     // 0d..., 1.5; value: its 64 bits
    String,     // text without the quotes
    Punctuation // text: one character
  };
  Kind kind = Kind::End;
  llvm::StringRef text;
  uint64_t value = 0;
  SourceLocation location;
  /// Where the token begins and ends in the source.
  size_t begin = 0;
  size_t end = 0;

  bool is(char c) const { return kind == Kind::Punctuation && text[0] == c; }
  bool isDotted(llvm::StringRef name) const { return kind == Kind::Dotted && text == name; }
};

class Lexer {
public:
  explicit Lexer(llvm::StringRef source) : source(source) {}
  Token next();
  llvm::StringRef text(size_t begin, size_t end) const { return source.slice(begin, end); }

private:
  char peek(size_t ahead = 0) const {
    return position + ahead < source.size() ? source[position + ahead] : '\0';
  }
  bool atEnd() const { return position >= source.size(); }
  void advance();
  /// False when a comment does not end.
  bool skipSpaceAndComments();
  Token finish(Token token);
  Token lexNumber(Token token);
  Token lexString(Token token);
  Token lexDotted(Token token);

  llvm::StringRef source;
  size_t position = 0;
  SourceLocation here;
};

} // namespace tcc::emulator

#endif // TCC_LIB_EMULATOR_LEXER_H
