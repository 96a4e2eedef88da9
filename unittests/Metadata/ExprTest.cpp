//===- ExprTest.cpp - Expressions over launch-time symbols ----------------===//

#include "tcc/Metadata/Expr.h"
#include "gtest/gtest.h"

using namespace llvm;
using namespace tcc::metadata;

static int64_t evaluate(StringRef text, const SymbolTable &symbols = {}) {
  Expected<Expr> expr = Expr::parse(text);
  EXPECT_TRUE(bool(expr)) << text.str();
  if (!expr) {
    ADD_FAILURE() << toString(expr.takeError());
    return 0;
  }
  Expected<int64_t> value = expr->evaluate(symbols);
  if (!value) {
    ADD_FAILURE() << toString(value.takeError());
    return 0;
  }
  return *value;
}

static std::string parseError(StringRef text) {
  Expected<Expr> expr = Expr::parse(text);
  return expr ? "" : toString(expr.takeError());
}

static std::string evaluationError(StringRef text, const SymbolTable &symbols = {}) {
  Expected<Expr> expr = Expr::parse(text);
  if (!expr)
    return "parse: " + toString(expr.takeError());
  Expected<int64_t> value = expr->evaluate(symbols);
  return value ? "" : toString(value.takeError());
}

TEST(Expr, Precedence) {
  EXPECT_EQ(evaluate("1 + 2 * 3"), 7);
  EXPECT_EQ(evaluate("(1 + 2) * 3"), 9);
  EXPECT_EQ(evaluate("10 - 3 - 2"), 5);
  EXPECT_EQ(evaluate("1 + 1 == 2 && 3 < 2 || 5 >= 5"), 1);
  EXPECT_EQ(evaluate("-3 * -2"), 6);
  EXPECT_EQ(evaluate("min(4, 3) + max(1, 2) * ceildiv(7, 2)"), 11);
}

TEST(Expr, RoundsTowardMinusInfinity) {
  EXPECT_EQ(evaluate("-7 / 2"), -4);
  EXPECT_EQ(evaluate("-7 % 2"), 1);
  EXPECT_EQ(evaluate("7 % -2"), -1);
  EXPECT_EQ(evaluate("ceildiv(-7, 2)"), -3);
  EXPECT_EQ(evaluate("ceildiv(0, 128)"), 0);
}

TEST(Expr, Symbols) {
  SymbolTable symbols = {{"M", 1000}, {"A.stride0", 1008}, {"A.ptr", 4096}};
  EXPECT_EQ(evaluate("ceildiv(M, 128)", symbols), 8);
  EXPECT_EQ(evaluate("A.ptr % 16 == 0 && A.stride0 * 2 % 16 == 0", symbols), 1);
  EXPECT_EQ(evaluationError("N + 1", symbols), "unknown symbol 'N'");
}

TEST(Expr, EvaluatesTheRightSideOnlyWhenNeeded) {
  SymbolTable symbols = {{"K", 0}};
  EXPECT_EQ(evaluate("K != 0 && 8 / K > 3", symbols), 0);
  EXPECT_EQ(evaluate("K == 0 || 8 / K > 3", symbols), 1);
}

TEST(Expr, EvaluationErrors) {
  EXPECT_EQ(evaluationError("1 / 0"), "in '1 / 0': division by zero");
  EXPECT_EQ(evaluationError("ceildiv(1, 0)"), "in 'ceildiv(1, 0)': division by zero");
  EXPECT_EQ(evaluationError("9223372036854775807 + 1"),
            "in '9223372036854775807 + 1': the value doesn't fit in 64 bits");
  EXPECT_EQ(evaluationError("-9223372036854775808 / -1"),
            "in '-9223372036854775808 / -1': the value doesn't fit in 64 bits");
}

TEST(Expr, ParseErrors) {
  EXPECT_EQ(parseError("M +"),
            "expression 'M +', column 4: expected an integer, a symbol, '-' or '('");
  EXPECT_EQ(parseError("(M"), "expression '(M', column 3: expected ')'");
  EXPECT_EQ(parseError("M N"), "expression 'M N', column 3: expected an operator or the end");
  EXPECT_EQ(parseError("max(1)"), "expression 'max(1)', column 6: expected ','");
  EXPECT_EQ(parseError("log(1)"), "expression 'log(1)', column 5: unknown function 'log', "
                                  "expected ceildiv, min or max");
  EXPECT_EQ(parseError("9223372036854775808"),
            "expression '9223372036854775808', column 1: the integer doesn't fit in 64 bits");
  EXPECT_NE(parseError(std::string(100, '(')).find("nested more than 64 deep"), std::string::npos);
  EXPECT_NE(parseError(std::string(5000, ' ')).find("at most 4096"), std::string::npos);
}

TEST(Expr, PrintsWithFewParentheses) {
  for (StringRef text :
       {"M + N * K", "(M + N) * K", "M - (N - K)", "M - N - K", "ceildiv(M, 128) * ceildiv(N, 64)",
        "min(M, -4) % 2 == 0 && K >= 128", "(M == N) == (N == K)", "M - -5"}) {
    Expected<Expr> expr = Expr::parse(text);
    ASSERT_TRUE(bool(expr)) << toString(expr.takeError());
    EXPECT_EQ(expr->str(), text.str());
    EXPECT_TRUE(*expr == cantFail(Expr::parse(expr->str())));
  }
}

TEST(Expr, Builders) {
  Expr m = Expr::symbol("M");
  EXPECT_EQ(((m + 1) * Expr::ceilDiv(m, 8)).str(), "(M + 1) * ceildiv(M, 8)");
  EXPECT_EQ(Expr(3).getConstant(), 3);
}
