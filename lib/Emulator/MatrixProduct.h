//===- MatrixProduct.h - D = A*B + C on a warp's fragments ------*- C++ -*-===//
//
// What mma.sync and wmma.mma share: gathering fragments from registers into matrices, the product
// by the rule of its types, and scattering the result.
//
//===----------------------------------------------------------------------===//

#ifndef TCC_LIB_EMULATOR_MATRIXPRODUCT_H
#define TCC_LIB_EMULATOR_MATRIXPRODUCT_H

#include "Fragments.h"
#include "InstructionTable.h"
#include "TensorCore.h"
#include "Types.h"
#include "Warp.h"

#include <optional>

namespace tcc::emulator {

/// The product that an instruction computes. A is m x k, B n x k, C and D m x n.
struct MatrixProduct {
  unsigned m = 0, n = 0, k = 0;
  MatrixType a = MatrixType::F16, b = MatrixType::F16;
  Type c = Type::F32, d = Type::F32;
  /// Floating point.
  BlockRule rule;
  /// Flip the sign of an operand (wgmma scale-a, scale-b = -1).
  bool negateA = false, negateB = false;
  /// mma.sync on fp8 (see DecodedMatrix::assignFloat8AsHalf).
  bool float8AsHalf = false;
  /// Integers: .satfinite.
  bool saturate = false;
  /// b1: .xor instead of .and.
  bool bitXor = false;
  /// f64.
  Rounding rounding = Rounding::NearestEven;

  /// Bits of a register that holds a fragment of these elements.
  static unsigned registerBits(unsigned elementBits) { return elementBits == 64 ? 64 : 32; }
  uint64_t flops() const { return uint64_t(2) * m * n * k; }
};

/// Operand types that mma and wmma multiply.
std::optional<MatrixType> matrixType(Type type);

/// Registers of a fragment with 64-bit elements, or with `width` <= 32 bits packed into 32-bit
/// registers: fills the matrix in the order of the map.
void gather(Warp &warp, llvm::ArrayRef<Operand> registers, const FragmentMap &map, unsigned width,
            llvm::MutableArrayRef<uint32_t> matrix);
void gather64(Warp &warp, llvm::ArrayRef<Operand> registers, const FragmentMap &map,
              llvm::MutableArrayRef<uint64_t> matrix);
void scatter(Warp &warp, llvm::ArrayRef<Operand> registers, const FragmentMap &map, unsigned width,
             llvm::ArrayRef<uint32_t> matrix);
void scatter64(Warp &warp, llvm::ArrayRef<Operand> registers, const FragmentMap &map,
               llvm::ArrayRef<uint64_t> matrix);

/// The places of the four fragments.
struct FragmentMaps {
  const FragmentMap &a, &b, &c, &d;
};

/// Executes D = A*B + C for operands d, a, b, c of the instruction.
void multiplyFragments(Warp &warp, const Instruction &inst, const MatrixProduct &product,
                       const FragmentMaps &maps);

/// The same on elements in the low bits of words, for everything but f64; b1 in words of 32 bits.
void multiply(const MatrixProduct &product, llvm::ArrayRef<uint32_t> a, llvm::ArrayRef<uint32_t> b,
              llvm::ArrayRef<uint32_t> c, llvm::MutableArrayRef<uint32_t> d);

/// False, and the launch stops, where the emulated chip is older than the instruction.
bool requireChip(Warp &warp, const Instruction &inst, unsigned chip);

/// An error unless the operand is a vector of `expected` registers (or one register).
llvm::Error checkRegisters(const Modifiers &modifiers, const Operand &operand, llvm::StringRef name,
                           size_t expected);

} // namespace tcc::emulator

#endif // TCC_LIB_EMULATOR_MATRIXPRODUCT_H
