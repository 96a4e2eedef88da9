//===- TensorCoreModel.h - The arithmetic of each generation ----*- C++ -*-===//
//
// Every NVIDIA tensor core sums products by the block rule of TensorCore.h. Generations differ in
// how many products a block takes and how many bits it keeps: the same mma.sync gives other bits on
// an A100 than on an H200.
//
//===----------------------------------------------------------------------===//

#ifndef TCC_LIB_EMULATOR_TENSORCOREMODEL_H
#define TCC_LIB_EMULATOR_TENSORCOREMODEL_H

#include "TensorCore.h"

namespace tcc::emulator {

/// What mma.sync and wmma.mma on floating-point operands compute. 0 products: the generation lacks
/// the type.
struct TensorCoreModel {
  /// The first compute capability of the generation, 10 * major + minor.
  unsigned chip;
  /// Fraction bits kept below the largest exponent of a block.
  int fractionBits;
  /// Products in one block of f16 and bf16; of tf32 in mma.sync, and in wmma.
  unsigned halfProducts, tf32Products, wmmaTF32Products;
  /// The same for fp8. With 0 products, fp8 runs as f16 in two halves and C is added last.
  unsigned float8Products;
  int float8FractionBits;
  BlockResult float8Result;
  /// m8n8k4 on f16 is one block of a tensor core, rather than a chain of f32 instructions.
  bool hasM8N8K4;

  bool runsFloat8AsHalf() const { return float8Products == 0; }
};

/// The generation of a chip, from 70 on.
const TensorCoreModel &tensorCoreModel(unsigned chip);

enum class MatrixInstruction : uint8_t { Mma, Wmma };

/// The rule for operands of one type and \p depth products per element of D.
BlockRule blockRule(const TensorCoreModel &model, MatrixInstruction instruction,
                    MatrixType operands, unsigned depth, bool resultIsHalf);

} // namespace tcc::emulator

#endif // TCC_LIB_EMULATOR_TENSORCOREMODEL_H
