//===- ExprParser.cpp - Recursive descent over the grammar of Expr.h ------===//

#include "tcc/Metadata/Expr.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/Twine.h"
#include <optional>

using namespace llvm;

namespace tcc::metadata {
namespace {

using Kind = Expr::Kind;

class Parser {
public:
  explicit Parser(StringRef text) : text(text), rest(text) {}

  Expected<Expr> parse() {
    Expected<Expr> expr = parseLevel(0);
    if (expr && !rest.trim().empty())
      return error("expected an operator or the end");
    return expr;
  }

private:
  struct Operator {
    StringLiteral text;
    Kind kind;
  };
  /// One binary level of the grammar. Longer spellings come before their prefixes.
  struct Level {
    ArrayRef<Operator> operators;
    bool associates;
  };

  static ArrayRef<Level> levels() {
    static constexpr Operator logicalOr[] = {{"||", Kind::Or}};
    static constexpr Operator logicalAnd[] = {{"&&", Kind::And}};
    static constexpr Operator compare[] = {{"==", Kind::Eq}, {"!=", Kind::Ne}, {"<=", Kind::Le},
                                           {">=", Kind::Ge}, {"<", Kind::Lt},  {">", Kind::Gt}};
    static constexpr Operator sum[] = {{"+", Kind::Add}, {"-", Kind::Sub}};
    static constexpr Operator product[] = {{"*", Kind::Mul}, {"/", Kind::Div}, {"%", Kind::Mod}};
    static const Level all[] = {
        {logicalOr, true}, {logicalAnd, true}, {compare, false}, {sum, true}, {product, true}};
    return all;
  }

  Error error(const Twine &expected) const {
    size_t column = text.size() - rest.ltrim().size() + 1;
    return createStringError("expression '" + text + "', column " + Twine(column) + ": " +
                             expected);
  }

  bool consume(StringRef token) {
    rest = rest.ltrim();
    return rest.consume_front(token);
  }

  std::optional<Kind> consumeOperator(const Level &level) {
    for (const Operator &op : level.operators)
      if (consume(op.text))
        return op.kind;
    return std::nullopt;
  }

  Expected<Expr> parseLevel(unsigned index) {
    if (index == levels().size())
      return parseUnary();
    const Level &level = levels()[index];
    Expected<Expr> lhs = parseLevel(index + 1);
    while (lhs) {
      std::optional<Kind> kind = consumeOperator(level);
      if (!kind)
        break;
      Expected<Expr> rhs = parseLevel(index + 1);
      if (!rhs)
        return rhs;
      lhs = Expr::binary(*kind, *lhs, *rhs);
      if (!level.associates)
        break;
    }
    return lhs;
  }

  Expected<Expr> parseUnary() {
    // A hostile header must not overflow the stack; nobody nests this deep.
    constexpr unsigned maxDepth = 64;
    if (depth == maxDepth)
      return error("nested more than " + Twine(maxDepth) + " deep");
    ++depth;
    Expected<Expr> result = consume("-") ? parseNegated() : parseAtom();
    --depth;
    return result;
  }

  Expected<Expr> parseNegated() {
    // The literal with its sign, so that INT64_MIN is one too.
    if (!rest.empty() && isDigit(rest.front()))
      return parseInteger("-");
    Expected<Expr> operand = parseUnary();
    if (!operand)
      return operand;
    return Expr(0) - *operand;
  }

  Expected<Expr> parseInteger(StringRef sign) {
    StringRef digits = rest.take_while(isDigit);
    int64_t value;
    std::string literal = (sign + digits).str();
    if (StringRef(literal).getAsInteger(10, value))
      return error("the integer doesn't fit in 64 bits");
    rest = rest.drop_front(digits.size());
    return Expr(value);
  }

  Expected<Expr> parseAtom() {
    rest = rest.ltrim();
    if (consume("(")) {
      Expected<Expr> inner = parseLevel(0);
      if (inner && !consume(")"))
        return error("expected ')'");
      return inner;
    }
    if (!rest.empty() && isDigit(rest.front()))
      return parseInteger("");
    if (rest.empty() || !(isAlpha(rest.front()) || rest.front() == '_'))
      return error("expected an integer, a symbol, '-' or '('");
    StringRef name = rest.take_while([](char c) { return isAlnum(c) || c == '_' || c == '.'; });
    rest = rest.drop_front(name.size());
    if (consume("("))
      return parseCall(name);
    return Expr::symbol(name);
  }

  Expected<Expr> parseCall(StringRef name) {
    std::optional<Kind> kind = StringSwitch<std::optional<Kind>>(name)
                                   .Case("ceildiv", Kind::CeilDiv)
                                   .Case("min", Kind::Min)
                                   .Case("max", Kind::Max)
                                   .Default(std::nullopt);
    if (!kind)
      return error("unknown function '" + name + "', expected ceildiv, min or max");
    Expected<Expr> lhs = parseLevel(0);
    if (!lhs)
      return lhs;
    if (!consume(","))
      return error("expected ','");
    Expected<Expr> rhs = parseLevel(0);
    if (!rhs)
      return rhs;
    if (!consume(")"))
      return error("expected ')'");
    return Expr::binary(*kind, *lhs, *rhs);
  }

  StringRef text;
  StringRef rest;
  unsigned depth = 0;
};

} // namespace

Expected<Expr> Expr::parse(StringRef text) {
  constexpr size_t maxLength = 4096;
  if (text.size() > maxLength)
    return createStringError("expression of " + Twine(text.size()) + " characters, at most " +
                             Twine(maxLength) + " are accepted");
  return Parser(text).parse();
}

} // namespace tcc::metadata
