//===- TensorCoreExact.cpp - Integer, bit and f64 matrix arithmetic -------===//
//
// The products that are exact, or a chain of IEEE operations.
//
//===----------------------------------------------------------------------===//

#include "ScalarMath.h"
#include "TensorCore.h"

#include "llvm/Support/MathExtras.h"

#include <limits>

using namespace tcc::emulator;

void tcc::emulator::multiplyF64(llvm::ArrayRef<uint64_t> a, llvm::ArrayRef<uint64_t> b,
                                llvm::ArrayRef<uint64_t> c, llvm::MutableArrayRef<uint64_t> d,
                                Rounding rounding, unsigned rows, unsigned columns,
                                unsigned depth) {
  FloatModifiers modifiers;
  modifiers.rounding = rounding;
  for (unsigned row = 0; row < rows; ++row) {
    for (unsigned column = 0; column < columns; ++column) {
      uint64_t sum = c[row * columns + column];
      for (unsigned k = 0; k < depth; ++k)
        sum = evaluate64(FloatOp::Fma, modifiers, a[row * depth + k], b[column * depth + k], sum);
      d[row * columns + column] = sum;
    }
  }
}

static int32_t integerValue(MatrixType type, uint32_t bits) {
  switch (type) {
  case MatrixType::S8:
    return int8_t(bits);
  case MatrixType::U8:
    return uint8_t(bits);
  case MatrixType::S4:
    return int32_t(llvm::SignExtend32<4>(bits & 15));
  default:
    return int32_t(bits & 15);
  }
}

void tcc::emulator::multiplyInteger(MatrixType typeA, MatrixType typeB, bool saturate,
                                    llvm::ArrayRef<uint32_t> a, llvm::ArrayRef<uint32_t> b,
                                    llvm::ArrayRef<uint32_t> c, llvm::MutableArrayRef<uint32_t> d,
                                    unsigned rows, unsigned columns, unsigned depth) {
  llvm::SmallVector<int32_t, 0> x(rows * depth), y(columns * depth);
  for (unsigned i = 0; i < x.size(); ++i)
    x[i] = integerValue(typeA, a[i]);
  for (unsigned i = 0; i < y.size(); ++i)
    y[i] = integerValue(typeB, b[i]);
  for (unsigned row = 0; row < rows; ++row) {
    for (unsigned column = 0; column < columns; ++column) {
      unsigned at = row * columns + column;
      int32_t product = 0; // At most 64 * 255 * 255.
      for (unsigned k = 0; k < depth; ++k)
        product += x[row * depth + k] * y[column * depth + k];
      int64_t sum = int64_t(product) + (c.empty() ? 0 : int32_t(c[at]));
      if (saturate)
        sum = std::clamp<int64_t>(sum, std::numeric_limits<int32_t>::min(),
                                  std::numeric_limits<int32_t>::max());
      d[at] = uint32_t(sum);
    }
  }
}

void tcc::emulator::multiplyBits(bool isXor, llvm::ArrayRef<uint32_t> a, llvm::ArrayRef<uint32_t> b,
                                 llvm::ArrayRef<uint32_t> c, llvm::MutableArrayRef<uint32_t> d,
                                 unsigned rows, unsigned columns, unsigned words) {
  for (unsigned row = 0; row < rows; ++row) {
    for (unsigned column = 0; column < columns; ++column) {
      unsigned at = row * columns + column;
      uint32_t sum = c.empty() ? 0 : c[at];
      for (unsigned word = 0; word < words; ++word) {
        uint32_t x = a[row * words + word], y = b[column * words + word];
        sum += llvm::popcount(isXor ? x ^ y : x & y);
      }
      d[at] = sum;
    }
  }
}

void tcc::emulator::multiplyM8N8K4(bool resultF16, bool addendF16, llvm::ArrayRef<uint32_t> a,
                                   llvm::ArrayRef<uint32_t> b, llvm::ArrayRef<uint32_t> c,
                                   llvm::MutableArrayRef<uint32_t> d) {
  auto half = [](uint32_t bits) { return float(decode(formats::F16, bits)); };
  for (unsigned row = 0; row < 8; ++row) {
    for (unsigned column = 0; column < 8; ++column) {
      unsigned at = row * 8 + column;
      float x[4], y[4];
      for (unsigned k = 0; k < 4; ++k) {
        x[k] = half(a[row * 4 + k]);
        y[k] = half(b[column * 4 + k]);
      }
      float addend = addendF16 ? half(c[at]) : bitCast<float>(c[at]);
      float first = std::fma(x[1], y[1], x[0] * y[0]);
      if (resultF16) {
        float sum = (first + addend) + std::fma(x[3], y[3], x[2] * y[2]);
        d[at] = encode(formats::F16, sum, Rounding::NearestEven);
      } else {
        float sum = std::fma(x[3], y[3], std::fma(x[2], y[2], first)) + addend;
        d[at] = std::isnan(sum) ? formats::F32.canonicalNaN : bitCast<uint32_t>(sum);
      }
    }
  }
}
