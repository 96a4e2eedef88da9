//===- TensorCore.h - Matrix arithmetic of the tensor cores -----*- C++ -*-===//
//
// D = A*B + C on small matrices as tensor cores compute it. A floating-point product is a sequence
// of *blocks*: the exact products of a block and its addend are aligned to the largest exponent
// among them, cut (toward zero) to a fixed number of fraction bits, and summed exactly; only the
// sum is rounded. Neither IEEE dot products nor fused multiply-adds give these bits.
//
// A is M x K, row-major; B is given by columns, N x K, so that both operands of a dot product are
// contiguous; C and D are M x N, row-major.
//
//===----------------------------------------------------------------------===//

#ifndef TCC_LIB_EMULATOR_TENSORCORE_H
#define TCC_LIB_EMULATOR_TENSORCORE_H

#include "FloatFormat.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

namespace tcc::emulator {

enum class MatrixType : uint8_t { F16, BF16, TF32, E4M3, E5M2, F64, S8, U8, S4, U4, B1 };

/// Bits of one element.
unsigned bitWidth(MatrixType type);
bool isFloat8(MatrixType type);

/// Rows of operand elements, decoded once: value = significand * 2^(exponent - 10).
/// The significand has at most 11 bits and a sign; a subnormal keeps the least exponent.
class DecodedMatrix {
public:
  /// \p bits holds rows*depth elements in the low bits of each word.
  void assign(MatrixType type, llvm::ArrayRef<uint32_t> bits, unsigned rows, unsigned depth,
              bool negate = false);

  /// The operands of mma.sync on fp8, which runs on f16 in two halves: elements converted to f16
  /// (a subnormal e4m3 is then normal), those with k%4 in {0, 1} before those in {2, 3}.
  void assignFloat8AsHalf(MatrixType type, llvm::ArrayRef<uint32_t> bits, unsigned rows,
                          unsigned depth);

  unsigned depth() const { return columns; }
  const int16_t *significands(unsigned row) const { return significand.data() + row * columns; }
  const int16_t *exponents(unsigned row) const { return exponent.data() + row * columns; }
  /// Whether the row holds an infinity or a NaN.
  bool hasSpecial(unsigned row) const { return special[row]; }
  /// In such a row, what an element is.
  enum Class : int8_t { Finite, Infinite, NegativeInfinite, NaN };
  Class classOf(unsigned row, unsigned k) const { return classes[row * columns + k]; }

private:
  void resize(unsigned rows, unsigned depth);
  void set(const FloatFormat &format, unsigned row, unsigned k, uint32_t bits);

  llvm::SmallVector<int16_t, 0> significand, exponent;
  llvm::SmallVector<Class, 0> classes;
  llvm::SmallVector<bool, 0> special;
  unsigned columns = 0;
};

/// How the sum of a block is rounded: f32 and E8M13 (an f32 with 13 fraction bits) are cut, f16 is
/// rounded to nearest even.
enum class BlockResult : uint8_t { F32, F16, E8M13 };

/// The rule by which one instruction computes.
struct BlockRule {
  /// Fraction bits kept below the largest exponent.
  int fractionBits = 25;
  BlockResult result = BlockResult::F32;
  /// The K dimension is cut into this many blocks, each taking the former's result as addend.
  unsigned blocks = 1;
  /// The first block starts from zero and C is added at the end, in the result's type.
  bool addendLast = false;
};

/// D = A*B + C. D's elements are f32 or f16 bits as the rule's result says, C's are of the format
/// \p addend, which may differ. An empty \p c counts as zeros (scale-d = 0).
void multiplyFloat(const BlockRule &rule, const DecodedMatrix &a, const DecodedMatrix &b,
                   const FloatFormat &addend, llvm::ArrayRef<uint32_t> c,
                   llvm::MutableArrayRef<uint32_t> d, unsigned rows, unsigned columns);

/// f64: a chain of fused multiply-adds in the order of k.
void multiplyF64(llvm::ArrayRef<uint64_t> a, llvm::ArrayRef<uint64_t> b, llvm::ArrayRef<uint64_t> c,
                 llvm::MutableArrayRef<uint64_t> d, Rounding rounding, unsigned rows,
                 unsigned columns, unsigned depth);

/// s8, u8, s4, u4: exact, wrapped to 32 bits or clamped. Elements in the low bits of each word.
void multiplyInteger(MatrixType typeA, MatrixType typeB, bool saturate, llvm::ArrayRef<uint32_t> a,
                     llvm::ArrayRef<uint32_t> b, llvm::ArrayRef<uint32_t> c,
                     llvm::MutableArrayRef<uint32_t> d, unsigned rows, unsigned columns,
                     unsigned depth);

/// b1: population count of AND or XOR. Elements packed 32 to a word, \p words to a row.
void multiplyBits(bool isXor, llvm::ArrayRef<uint32_t> a, llvm::ArrayRef<uint32_t> b,
                  llvm::ArrayRef<uint32_t> c, llvm::MutableArrayRef<uint32_t> d, unsigned rows,
                  unsigned columns, unsigned words);

/// mma.m8n8k4 on f16, which runs as f32 arithmetic on every chip after sm_70.
void multiplyM8N8K4(bool resultF16, bool addendF16, llvm::ArrayRef<uint32_t> a,
                    llvm::ArrayRef<uint32_t> b, llvm::ArrayRef<uint32_t> c,
                    llvm::MutableArrayRef<uint32_t> d);

} // namespace tcc::emulator

#endif // TCC_LIB_EMULATOR_TENSORCORE_H
