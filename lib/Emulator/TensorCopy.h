//===- TensorCopy.h - One bulk tensor copy of a lane ------------*- C++ -*-===//
//
// What loads and stores of tensors share: reading the tensor map and the coordinates, and finding
// what is wrong with them when the copy is issued.
//
//===----------------------------------------------------------------------===//

#ifndef TCC_LIB_EMULATOR_TENSORCOPY_H
#define TCC_LIB_EMULATOR_TENSORCOPY_H

#include "InstructionTable.h"
#include "Machine.h"
#include "TensorMap.h"

namespace tcc::emulator {

/// Bytes that a tensor copy moves as a unit.
constexpr unsigned kTensorChunkBytes = 16;

/// A copy of one lane. Every check returns false after it has stopped the launch.
struct TensorRequest {
  Warp &warp;
  const Instruction &inst;
  unsigned lane;
  TensorMapDescriptor map;
  llvm::SmallVector<int32_t, 5> coordinates;

  TensorRequest(Warp &warp, const Instruction &inst, unsigned lane)
      : warp(warp), inst(inst), lane(lane) {}

  void fault(FindingKind kind, const llvm::Twine &message) const {
    warp.fault(kind, inst, lane, message);
  }

  /// The operand [map, {coordinates}].
  bool readTensorOperand(const Operand &operand);
  /// What the hardware raises an illegal instruction for.
  bool checkCoordinates(bool isStore) const;
  /// Alignment and bounds of the box in a CTA's shared memory; `what` names its role.
  bool checkShared(Cta &cta, uint64_t offset, const TensorBox &box, llvm::StringRef what) const;
  /// Bounds of the bytes of the tensor that a chunk covers, and for reads whether they were
  /// written.
  bool checkTensorBytes(const TensorChunk &chunk, bool isRead) const;

private:
  bool loadTensorMap(uint64_t address);
};

/// Errors for modes that are not emulated, and for a rank that the operand does not have.
llvm::Error checkTensorMode(const Modifiers &modifiers);
llvm::Error checkTensorOperand(const Modifiers &modifiers, const Operand &operand);

/// cp.async.bulk.tensor from shared to global memory, and its reductions
/// (TensorStoreInstructions.cpp).
llvm::Error decodeTensorStore(const Modifiers &modifiers, Instruction &inst);

} // namespace tcc::emulator

#endif // TCC_LIB_EMULATOR_TENSORCOPY_H
