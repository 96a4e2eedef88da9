//===- MatrixDescriptor.cpp - wgmma's shared-memory matrix descriptor -----===//

#include "tcc/Support/MatrixDescriptor.h"
#include "llvm/Support/FormatVariadic.h"

using namespace tcc::support;

uint64_t MatrixDescriptor::encode() const {
  uint64_t mode = swizzleSpan == 128 ? 1 : swizzleSpan == 64 ? 2 : swizzleSpan == 32 ? 3 : 0;
  auto field = [](int64_t bytes) { return uint64_t(bytes >> 4) & 0x3fff; };
  return field(leadingByteOffset) << 16 | field(strideByteOffset) << 32 | mode << 62;
}

llvm::Expected<MatrixDescriptor>
tcc::support::wgmmaDescriptor(const SharedTile &tile, const SharedLayout &layout, unsigned kDim) {
  int64_t span = layout.span();
  bool unswizzled = span == 16;
  if (!layout.swizzleSpan() && !unswizzled)
    return llvm::createStringError(
        llvm::formatv("wgmma reads swizzled tiles, not one that is {0}", layout.str()));
  if (llvm::Error error = checkLayout(tile, layout))
    return std::move(error);
  int64_t blockBytes = tile.lines() * span;
  if (tile.contiguous == kDim)
    return MatrixDescriptor{unswizzled ? blockBytes : 0, 8 * span, span};
  if (tile.elementBytes != 2)
    return llvm::createStringError(
        llvm::formatv("wgmma reads {0}-byte elements only where K is contiguous in shared memory",
                      tile.elementBytes));
  if (unswizzled)
    return MatrixDescriptor{8 * span, blockBytes, span};
  return MatrixDescriptor{blockBytes, 8 * span, span};
}
