//===- WgmmaOperand.h - Matrices in shared memory for wgmma -----*- C++ -*-===//
//
// The 64-bit matrix descriptor of wgmma and the addresses that it stands for (PTX ISA
// "Asynchronous warpgroup-level matrix: shared memory matrix layout", "matrix descriptor").
//
//===----------------------------------------------------------------------===//

#ifndef TCC_LIB_EMULATOR_WGMMAOPERAND_H
#define TCC_LIB_EMULATOR_WGMMAOPERAND_H

#include <cstdint>

namespace tcc::emulator {

/// An operand of one wgmma: A's rows or B's columns ("rows" here), 32 bytes of K for each.
class WgmmaOperand {
public:
  /// \p mnMajor: rows are contiguous (the transposed layout, 16-bit elements only).
  WgmmaOperand(uint64_t descriptor, bool mnMajor);

  /// Whether the bits that the descriptor reserves are zero.
  bool isWellFormed() const { return wellFormed; }
  unsigned swizzleSpan() const { return span; }
  bool isMNMajor() const { return mnMajor; }

  /// K-major: the address of bytes 16*part to 16*part + 15 of the K of a row, part 0 or 1.
  uint64_t chunkOfRow(unsigned row, unsigned part) const;
  /// MN-major: the address of rows 8*group to 8*group + 7 at one k.
  uint64_t chunkOfGroup(unsigned group, unsigned k) const;

private:
  uint64_t finish(uint64_t offset) const;

  uint64_t start, leading, stride;
  unsigned baseOffset, span;
  bool mnMajor, wellFormed;
};

} // namespace tcc::emulator

#endif // TCC_LIB_EMULATOR_WGMMAOPERAND_H
