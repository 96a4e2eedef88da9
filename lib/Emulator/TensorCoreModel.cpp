//===- TensorCoreModel.cpp - The arithmetic of each generation ------------===//

#include "TensorCoreModel.h"

#include "llvm/ADT/STLExtras.h"

using namespace tcc::emulator;

// The H200's row (90) was fitted to and verified on recorded results. The others follow the
// literature and were not verified by us on the chip:
//  - Xie, Wang, Yang, Yang: MMA-Sim: Bit-Accurate Reference Model of Tensor Cores and Matrix Cores,
//    arXiv:2511.10909, 2025 (V100, T4, A100, Ada, H100, B200, RTX Blackwell);
//  - Khattak, Mikaitis: Accurate Models of NVIDIA Tensor Cores, arXiv:2512.07004, 2025 (V100, A100,
//    A2, Ada, L40S, B200), whose extra alignment bits count from 23 fraction bits;
//  - Fasi, Higham, Mikaitis, Pranesh: Numerical behavior of NVIDIA tensor cores, PeerJ Computer
//    Science 7:e330, 2021 (V100, T4, A100).
// B200 has no fp8 in mma.sync of its own there: the H200's way is assumed for sm_100.
static constexpr TensorCoreModel kModels[] = {
    {70, 23, 4, 0, 0, 0, 0, BlockResult::F32, true},
    {75, 24, 8, 0, 0, 0, 0, BlockResult::F32, true},
    {80, 24, 8, 4, 4, 0, 0, BlockResult::F32, false},
    {89, 24, 8, 4, 4, 16, 13, BlockResult::E8M13, false},
    {90, 25, 16, 8, 4, 0, 0, BlockResult::F32, false},
    {100, 25, 16, 8, 8, 0, 0, BlockResult::F32, false},
    {120, 25, 16, 8, 8, 32, 25, BlockResult::F32, false},
};

const TensorCoreModel &tcc::emulator::tensorCoreModel(unsigned chip) {
  for (const TensorCoreModel &model : llvm::reverse(kModels))
    if (chip >= model.chip)
      return model;
  return kModels[0];
}

static unsigned productsPerBlock(const TensorCoreModel &model, MatrixInstruction instruction,
                                 MatrixType operands) {
  if (isFloat8(operands))
    return model.float8Products;
  if (operands != MatrixType::TF32)
    return model.halfProducts;
  return instruction == MatrixInstruction::Wmma ? model.wmmaTF32Products : model.tf32Products;
}

BlockRule tcc::emulator::blockRule(const TensorCoreModel &model, MatrixInstruction instruction,
                                   MatrixType operands, unsigned depth, bool resultIsHalf) {
  BlockRule rule;
  rule.result = resultIsHalf ? BlockResult::F16 : BlockResult::F32;
  rule.fractionBits = model.fractionBits;
  if (isFloat8(operands)) {
    if (model.runsFloat8AsHalf()) {
      rule.blocks = 2;
      rule.addendLast = true;
      return rule;
    }
    rule.fractionBits = model.float8FractionBits;
    if (!resultIsHalf)
      rule.result = model.float8Result;
  }
  unsigned products = productsPerBlock(model, instruction, operands);
  if (products != 0 && products < depth)
    rule.blocks = depth / products;
  return rule;
}
