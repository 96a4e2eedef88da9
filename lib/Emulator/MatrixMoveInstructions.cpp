//===- MatrixMoveInstructions.cpp - ldmatrix, stmatrix, movmatrix ---------===//
//
// PTX ISA "Warp-level matrix load instruction: ldmatrix", "... store instruction: stmatrix",
// "Warp-level matrix transpose instruction: movmatrix". Matrices are 8x8 with 16-bit elements.
//
//===----------------------------------------------------------------------===//

#include "FloatDecode.h"
#include "MatrixProduct.h"

#include "llvm/ADT/StringSwitch.h"

using namespace tcc::emulator;

namespace {

constexpr unsigned RowBytes = 16;
using Matrix = std::array<uint16_t, 64>;

/// Where the two halves of lane l's register lie in a matrix: as they are, or transposed.
unsigned place(unsigned lane, unsigned half, bool transposed) {
  static const FragmentMap map(matrix8x8);
  unsigned at = map.lane(lane)[half];
  return transposed ? at % 8 * 8 + at / 8 : at;
}

//===----------------------------------------------------------------------===//
// Handlers. aux: number of matrices, whether transposed.
//===----------------------------------------------------------------------===//

/// The lanes that give a row's address: eight for each matrix; the others' are ignored.
uint32_t addressLanes(const Instruction &inst) {
  return uint32_t((uint64_t(1) << (8 * inst.aux[0])) - 1);
}

void loadMatrix(Warp &warp, const Instruction &inst) {
  if (!requireChip(warp, inst, 75))
    return;
  uint64_t addresses[kLanes];
  warp.addresses(inst.operands[1], addresses);
  std::array<Matrix, 4> matrices;
  if (!warp.load(inst, inst.space, addresses, addressLanes(inst), RowBytes, matrices.data(),
                 RowBytes))
    return;
  llvm::ArrayRef<Operand> destinations = Warp::elements(inst.operands[0]);
  for (unsigned i = 0; i < inst.aux[0]; ++i) {
    Row &d = warp.write(destinations[i]);
    for (unsigned lane = 0; lane < kLanes; ++lane)
      d[lane] = matrices[i][place(lane, 0, inst.aux[1])] |
                uint32_t(matrices[i][place(lane, 1, inst.aux[1])]) << 16;
  }
}

void storeMatrix(Warp &warp, const Instruction &inst) {
  if (!requireChip(warp, inst, 90))
    return;
  uint64_t addresses[kLanes];
  warp.addresses(inst.operands[0], addresses);
  std::array<Matrix, 4> matrices;
  llvm::ArrayRef<Operand> sources = Warp::elements(inst.operands[1]);
  for (unsigned i = 0; i < inst.aux[0]; ++i) {
    const Row &a = warp.read(sources[i]);
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      matrices[i][place(lane, 0, inst.aux[1])] = uint16_t(a[lane]);
      matrices[i][place(lane, 1, inst.aux[1])] = uint16_t(a[lane] >> 16);
    }
  }
  warp.store(inst, inst.space, addresses, addressLanes(inst), RowBytes, matrices.data(), RowBytes);
}

void transposeMatrix(Warp &warp, const Instruction &inst) {
  if (!requireChip(warp, inst, 75))
    return;
  const Row &a = warp.read(inst.operands[1]);
  Matrix matrix;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    matrix[place(lane, 0, false)] = uint16_t(a[lane]);
    matrix[place(lane, 1, false)] = uint16_t(a[lane] >> 16);
  }
  Row &d = warp.write(inst.operands[0]);
  for (unsigned lane = 0; lane < kLanes; ++lane)
    d[lane] = matrix[place(lane, 0, true)] | uint32_t(matrix[place(lane, 1, true)]) << 16;
}

//===----------------------------------------------------------------------===//
// Decoding
//===----------------------------------------------------------------------===//

llvm::Error decodeMove(const Modifiers &modifiers, Instruction &inst, bool isLoad) {
  inst.convergence = Convergence::FullWarp;
  if (llvm::Error error = checkOperandCount(modifiers, inst, 2, 2))
    return error;
  unsigned count = llvm::StringSwitch<unsigned>(modifiers.oneOf({"x1", "x2", "x4"}))
                       .Case("x1", 1)
                       .Case("x2", 2)
                       .Case("x4", 4)
                       .Default(0);
  if (count == 0 || inst.type != Type::B16 || !modifiers.has("m8n8") || !modifiers.has("aligned"))
    return modifiers.error("the emulator has .sync.aligned.m8n8 with .x1, .x2 or .x4, .b16");
  inst.destinations = isLoad ? 1 : 0;
  inst.space = parseSpace(modifiers);
  inst.aux[0] = count;
  inst.aux[1] = modifiers.has("trans");
  inst.handler = isLoad ? loadMatrix : storeMatrix;
  return checkRegisters(modifiers, inst.operands[isLoad ? 0 : 1], isLoad ? "r" : "the value",
                        count);
}

llvm::Error decodeLoad(const Modifiers &modifiers, Instruction &inst) {
  return decodeMove(modifiers, inst, true);
}

llvm::Error decodeStore(const Modifiers &modifiers, Instruction &inst) {
  return decodeMove(modifiers, inst, false);
}

llvm::Error decodeTranspose(const Modifiers &modifiers, Instruction &inst) {
  inst.convergence = Convergence::FullWarp;
  if (inst.type != Type::B16 || !modifiers.has("m8n8") || !modifiers.has("trans"))
    return modifiers.error("expected .sync.aligned.m8n8.trans.b16");
  inst.handler = transposeMatrix;
  return checkOperandCount(modifiers, inst, 2, 2);
}

} // namespace

void tcc::emulator::registerMatrixMoveInstructions(InstructionTable &table) {
  table.add("ldmatrix", decodeLoad);
  table.add("stmatrix", decodeStore);
  table.add("movmatrix", decodeTranspose);
}
