//===- Expr.h - Integer expressions over launch-time symbols ----*- C++ -*-===//
//
// What the compiler doesn't know until launch (grid sizes, preconditions, workspace) stands in the
// PTX header as an expression over symbols, which the launcher evaluates:
//
//   expr    := or
//   or      := and ('||' and)*
//   and     := compare ('&&' compare)*
//   compare := sum (('==' | '!=' | '<' | '<=' | '>' | '>=') sum)?
//   sum     := product (('+' | '-') product)*
//   product := unary (('*' | '/' | '%') unary)*
//   unary   := '-' unary | atom
//   atom    := integer | symbol | '(' expr ')' | ('ceildiv' | 'min' | 'max') '(' expr ',' expr ')'
//   symbol  := [A-Za-z_][A-Za-z0-9_.]*
//
// Values are int64. '/' and '%' round toward minus infinity, comparisons give 0 or 1, '&&' and '||'
// evaluate their right side only when needed.
//
//===----------------------------------------------------------------------===//

#ifndef TCC_METADATA_EXPR_H
#define TCC_METADATA_EXPR_H

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <memory>
#include <string>

namespace tcc::metadata {

/// The values of symbols at a launch.
using SymbolTable = llvm::StringMap<int64_t>;

/// An immutable expression with value semantics; copies share their nodes.
class Expr {
public:
  enum class Kind : uint8_t {
    Constant,
    Symbol,
    Add,
    Sub,
    Mul,
    Div, // floor
    Mod, // of the floor division: has the divisor's sign
    CeilDiv,
    Min,
    Max,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    And,
    Or,
  };

  /// The constant 0.
  Expr();
  /// Implicit, so that `expr * 2` and `{Expr::symbol("M"), 1}` read well.
  Expr(int64_t value);

  static Expr symbol(llvm::StringRef name);
  static Expr binary(Kind kind, Expr lhs, Expr rhs);
  static Expr ceilDiv(Expr lhs, Expr rhs) { return binary(Kind::CeilDiv, lhs, rhs); }
  static Expr min(Expr lhs, Expr rhs) { return binary(Kind::Min, lhs, rhs); }
  static Expr max(Expr lhs, Expr rhs) { return binary(Kind::Max, lhs, rhs); }

  /// Parses the grammar above. The error names the column and what was expected there. Texts of
  /// more than 4096 characters are refused.
  static llvm::Expected<Expr> parse(llvm::StringRef text);

  Kind getKind() const;
  bool isConstant() const { return getKind() == Kind::Constant; }
  bool isSymbol() const { return getKind() == Kind::Symbol; }
  /// The value of a constant.
  int64_t getConstant() const;
  /// The name of a symbol.
  llvm::StringRef getSymbol() const;
  /// The operands of a binary expression.
  Expr getLHS() const;
  Expr getRHS() const;

  /// Fails on an unknown symbol, a division by zero, or overflow of int64.
  llvm::Expected<int64_t> evaluate(const SymbolTable &symbols) const;

  /// Adds the names of all symbols in the expression.
  void collectSymbols(llvm::StringSet<> &names) const;

  /// With as few parentheses as the grammar allows; parse(str()) gives an equal expression.
  std::string str() const;

  /// Structural equality: `M + N` differs from `N + M`.
  bool operator==(const Expr &other) const;
  bool operator!=(const Expr &other) const { return !(*this == other); }

private:
  struct Node;
  explicit Expr(std::shared_ptr<const Node> node) : node(std::move(node)) {}
  std::shared_ptr<const Node> node;
};

inline Expr operator+(Expr lhs, Expr rhs) { return Expr::binary(Expr::Kind::Add, lhs, rhs); }
inline Expr operator-(Expr lhs, Expr rhs) { return Expr::binary(Expr::Kind::Sub, lhs, rhs); }
inline Expr operator*(Expr lhs, Expr rhs) { return Expr::binary(Expr::Kind::Mul, lhs, rhs); }
inline Expr operator/(Expr lhs, Expr rhs) { return Expr::binary(Expr::Kind::Div, lhs, rhs); }
inline Expr operator%(Expr lhs, Expr rhs) { return Expr::binary(Expr::Kind::Mod, lhs, rhs); }

} // namespace tcc::metadata

#endif // TCC_METADATA_EXPR_H
