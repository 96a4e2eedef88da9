//===- MatrixDescriptor.h - wgmma's shared-memory matrix descriptor -------===//
//
// wgmma reads a matrix from shared memory through a 64-bit descriptor (PTX ISA, "Matrix Descriptor
// Format"): bits 0..13 start address / 16, bits 16..29 leading byte offset / 16, bits 32..45 stride
// byte offset / 16, bits 49..51 base offset, bits 62..63 swizzle mode (0 none, 1 128 bytes, 2 64
// bytes, 3 32 bytes). What the two offsets mean depends on the major dimension and on the swizzle;
// for a tile in one of SharedLayout's swizzled forms with span s, or in blocks of 16 bytes
// ("none"), where kb is the byte of k in its line and r the row of A or column of B:
//
//   K-major,  none: (r/8)*SBO + (kb/16)*LBO + (r%8)*16 + kb%16
//   K-major,  s:    (r/8)*SBO + (r%8)*s + kb              one instruction stays inside a span
//   MN-major, none: (r/8)*SBO + (k/8)*LBO + (k%8)*16 + 2*(r%8)
//   MN-major, s:    (r/(s/2))*LBO + (k/8)*SBO + (k%8)*s + 2*(r%(s/2))
//
//===----------------------------------------------------------------------===//

#ifndef TCC_SUPPORT_MATRIXDESCRIPTOR_H
#define TCC_SUPPORT_MATRIXDESCRIPTOR_H

#include "tcc/Support/SharedLayout.h"

namespace tcc::support {

/// A descriptor's fields in bytes, the start address aside.
struct MatrixDescriptor {
  int64_t leadingByteOffset;
  int64_t strideByteOffset;
  /// 16 (none), 32, 64 or 128.
  int64_t swizzleSpan;

  /// The 64 bits with a start address of 0; the start is added as (address & 0x3ffff) >> 4.
  uint64_t encode() const;
};

/// The descriptor of a tile whose K dimension is `kDim` (0 or 1): K-major if that is the contiguous
/// one, else MN-major. Fails for layouts that are not swizzled, and for MN-major elements of other
/// than 2 bytes, which wgmma can't read.
llvm::Expected<MatrixDescriptor> wgmmaDescriptor(const SharedTile &tile, const SharedLayout &layout,
                                                 unsigned kDim);

} // namespace tcc::support

#endif // TCC_SUPPORT_MATRIXDESCRIPTOR_H
