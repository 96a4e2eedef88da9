//===- Expr.cpp - Building, evaluating and printing expressions -----------===//

#include "tcc/Metadata/Expr.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/MathExtras.h"
#include <limits>

using namespace llvm;

namespace tcc::metadata {

struct Expr::Node {
  Kind kind;
  int64_t value = 0;
  std::string name;
  Expr lhs, rhs;

  Node(int64_t value) : kind(Kind::Constant), value(value), lhs(nullptr), rhs(nullptr) {}
  Node(StringRef name) : kind(Kind::Symbol), name(name), lhs(nullptr), rhs(nullptr) {}
  Node(Kind kind, Expr lhs, Expr rhs) : kind(kind), lhs(std::move(lhs)), rhs(std::move(rhs)) {}
};

Expr::Expr() : Expr(int64_t(0)) {}
Expr::Expr(int64_t value) : node(std::make_shared<Node>(value)) {}

Expr Expr::symbol(StringRef name) { return Expr(std::make_shared<const Node>(name)); }

Expr Expr::binary(Kind kind, Expr lhs, Expr rhs) {
  return Expr(std::make_shared<const Node>(kind, std::move(lhs), std::move(rhs)));
}

Expr::Kind Expr::getKind() const { return node->kind; }
int64_t Expr::getConstant() const { return node->value; }
StringRef Expr::getSymbol() const { return node->name; }
Expr Expr::getLHS() const { return node->lhs; }
Expr Expr::getRHS() const { return node->rhs; }

//===----------------------------------------------------------------------===//
// Evaluation
//===----------------------------------------------------------------------===//

static Error evaluationError(const Expr &expr, const Twine &why) {
  return createStringError("in '" + expr.str() + "': " + why);
}

/// The arithmetic kinds; comparisons and logic are total and handled by the caller.
static Expected<int64_t> evaluateArithmetic(const Expr &expr, int64_t lhs, int64_t rhs) {
  int64_t result = 0;
  bool overflow = false;
  switch (expr.getKind()) {
  case Expr::Kind::Add:
    overflow = AddOverflow(lhs, rhs, result);
    break;
  case Expr::Kind::Sub:
    overflow = SubOverflow(lhs, rhs, result);
    break;
  case Expr::Kind::Mul:
    overflow = MulOverflow(lhs, rhs, result);
    break;
  case Expr::Kind::Div:
  case Expr::Kind::Mod:
  case Expr::Kind::CeilDiv:
    if (rhs == 0)
      return evaluationError(expr, "division by zero");
    if (lhs == std::numeric_limits<int64_t>::min() && rhs == -1)
      overflow = true;
    else if (expr.getKind() == Expr::Kind::Div)
      result = divideFloorSigned(lhs, rhs);
    else if (expr.getKind() == Expr::Kind::CeilDiv)
      result = divideCeilSigned(lhs, rhs);
    else
      result = lhs - divideFloorSigned(lhs, rhs) * rhs;
    break;
  case Expr::Kind::Min:
    return std::min(lhs, rhs);
  default:
    return std::max(lhs, rhs);
  }
  if (overflow)
    return evaluationError(expr, "the value doesn't fit in 64 bits");
  return result;
}

Expected<int64_t> Expr::evaluate(const SymbolTable &symbols) const {
  if (isConstant())
    return getConstant();
  if (isSymbol()) {
    auto found = symbols.find(getSymbol());
    if (found == symbols.end())
      return createStringError("unknown symbol '" + getSymbol() + "'");
    return found->second;
  }
  Expected<int64_t> lhs = node->lhs.evaluate(symbols);
  if (!lhs)
    return lhs.takeError();
  if (getKind() == Kind::And && !*lhs)
    return 0;
  if (getKind() == Kind::Or && *lhs)
    return 1;
  Expected<int64_t> rhs = node->rhs.evaluate(symbols);
  if (!rhs)
    return rhs.takeError();
  switch (getKind()) {
  case Kind::Eq:
    return *lhs == *rhs;
  case Kind::Ne:
    return *lhs != *rhs;
  case Kind::Lt:
    return *lhs < *rhs;
  case Kind::Le:
    return *lhs <= *rhs;
  case Kind::Gt:
    return *lhs > *rhs;
  case Kind::Ge:
    return *lhs >= *rhs;
  case Kind::And:
  case Kind::Or:
    return *rhs != 0;
  default:
    return evaluateArithmetic(*this, *lhs, *rhs);
  }
}

void Expr::collectSymbols(StringSet<> &names) const {
  if (isConstant())
    return;
  if (isSymbol()) {
    names.insert(getSymbol());
    return;
  }
  node->lhs.collectSymbols(names);
  node->rhs.collectSymbols(names);
}

bool Expr::operator==(const Expr &other) const {
  if (node == other.node)
    return true;
  if (getKind() != other.getKind())
    return false;
  if (isConstant())
    return getConstant() == other.getConstant();
  if (isSymbol())
    return getSymbol() == other.getSymbol();
  return node->lhs == other.node->lhs && node->rhs == other.node->rhs;
}

//===----------------------------------------------------------------------===//
// Printing
//===----------------------------------------------------------------------===//

namespace {
/// How a kind is spelled; precedence 0 stands for the functions `name(a, b)`.
struct Spelling {
  StringRef text;
  unsigned precedence;
};
} // namespace

static Spelling getSpelling(Expr::Kind kind) {
  switch (kind) {
  case Expr::Kind::Or:
    return {"||", 1};
  case Expr::Kind::And:
    return {"&&", 2};
  case Expr::Kind::Eq:
    return {"==", 3};
  case Expr::Kind::Ne:
    return {"!=", 3};
  case Expr::Kind::Lt:
    return {"<", 3};
  case Expr::Kind::Le:
    return {"<=", 3};
  case Expr::Kind::Gt:
    return {">", 3};
  case Expr::Kind::Ge:
    return {">=", 3};
  case Expr::Kind::Add:
    return {"+", 4};
  case Expr::Kind::Sub:
    return {"-", 4};
  case Expr::Kind::Mul:
    return {"*", 5};
  case Expr::Kind::Div:
    return {"/", 5};
  case Expr::Kind::Mod:
    return {"%", 5};
  case Expr::Kind::CeilDiv:
    return {"ceildiv", 0};
  case Expr::Kind::Min:
    return {"min", 0};
  case Expr::Kind::Max:
    return {"max", 0};
  case Expr::Kind::Constant:
  case Expr::Kind::Symbol:
    break;
  }
  llvm_unreachable("atoms have no operator");
}

/// Prints `expr` where an operator of precedence below `minimum` needs parentheses.
static std::string print(const Expr &expr, unsigned minimum) {
  if (expr.isConstant())
    return std::to_string(expr.getConstant());
  if (expr.isSymbol())
    return expr.getSymbol().str();
  Spelling spelling = getSpelling(expr.getKind());
  if (spelling.precedence == 0)
    return (spelling.text + "(" + print(expr.getLHS(), 0) + ", " + print(expr.getRHS(), 0) + ")")
        .str();
  // Operators associate to the left, comparisons don't associate at all.
  unsigned left = spelling.precedence + (spelling.precedence == 3);
  std::string text = (print(expr.getLHS(), left) + " " + spelling.text + " " +
                      print(expr.getRHS(), spelling.precedence + 1))
                         .str();
  return spelling.precedence < minimum ? "(" + text + ")" : text;
}

std::string Expr::str() const { return print(*this, 0); }

} // namespace tcc::metadata
