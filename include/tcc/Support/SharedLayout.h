//===- SharedLayout.h - Where a tile's elements lie in shared memory ------===//
//
// A tile of two dimensions lies in shared memory. One of its dimensions is contiguous; it is called
// the inner dimension here, the other one the outer, and all elements with the same outer index
// form a line. A layout says at which byte each element starts:
//
//  dense       Lines follow each other: offset = outer * innerBytes + innerByte.
//
//  padded(p)   The same, with p unused bytes after each line. With a pitch that is an odd multiple
//              of 16 bytes, the 16-byte pieces of 8 consecutive lines fall into different banks.
//
//  swizzled(s) The form that TMA writes and wgmma reads (PTX ISA, "Matrix Descriptor Format" and
//              "Swizzling Modes"). The inner dimension is cut into blocks of s bytes (s = 32, 64 or
//              128); each block holds all lines with a pitch of s bytes, and blocks follow each
//              other:
//
//                linear = (innerByte / s) * (lines * s) + outer * s + innerByte % s
//                offset = linear ^ (((linear >> 7) & (s / 16 - 1)) << 4)
//
//              The exclusive-or permutes the 16-byte pieces of each 128 bytes by address bits 7..9,
//              not by the line number, so a tile must start at a multiple of 8 * s. Inside a block,
//              8 consecutive lines' pieces at the same innerByte fall into different banks.
//
//  blocked(s)  The same blocks without the exclusive-or, as TMA stores boxes that are not swizzled:
//              s is an odd multiple of 16 bytes, so that pieces fall into different banks as in
//              padded lines. wgmma reads this form only with s = 16.
//
// All of them are injective and keep 16-byte pieces together and aligned; unit tests enumerate
// this.
//
// Shared memory has 32 banks of 4 bytes. A warp's access is served in phases of at most 128 bytes:
// all lanes at once for 4-byte accesses, half a warp for 8 bytes, a quarter for 16 bytes. The
// conflict degree of a phase is the largest number of different words that one bank must give; 1 is
// free of conflicts, and a phase takes as many cycles as its degree.
//
//===----------------------------------------------------------------------===//

#ifndef TCC_SUPPORT_SHAREDLAYOUT_H
#define TCC_SUPPORT_SHAREDLAYOUT_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include <array>
#include <cstdint>
#include <string>

namespace tcc::support {

/// Elements per side, which dimension is contiguous (0 or 1), and bytes per element.
struct SharedTile {
  std::array<int64_t, 2> shape;
  unsigned contiguous;
  unsigned elementBytes;

  int64_t lines() const { return shape[1 - contiguous]; }
  int64_t innerBytes() const { return shape[contiguous] * elementBytes; }
};

/// One of the layouts described at the top of this file.
class SharedLayout {
public:
  enum class Kind { Dense, Padded, Swizzled, Blocked };

  static SharedLayout dense() { return SharedLayout(Kind::Dense, 0); }
  static SharedLayout padded(int64_t bytes) { return SharedLayout(Kind::Padded, bytes); }
  static SharedLayout swizzled(int64_t span) { return SharedLayout(Kind::Swizzled, span); }
  static SharedLayout blocked(int64_t span) { return SharedLayout(Kind::Blocked, span); }
  /// Blocks of `span` bytes: swizzled where the hardware has a swizzle of them.
  static SharedLayout inBlocks(int64_t span) {
    return span == 32 || span == 64 || span == 128 ? swizzled(span) : blocked(span);
  }

  Kind kind() const { return kindOf; }
  /// Unused bytes after each line; 0 unless padded.
  int64_t padBytes() const { return kindOf == Kind::Padded ? bytes : 0; }
  /// Bytes of a block's line; 0 unless swizzled or blocked.
  int64_t span() const { return kindOf >= Kind::Swizzled ? bytes : 0; }
  /// The span that TMA and wgmma are told to swizzle by; 0 for none.
  int64_t swizzleSpan() const { return kindOf == Kind::Swizzled ? bytes : 0; }
  /// For messages: "padded by 16 bytes", "swizzled by 128 bytes", "in blocks of 176 bytes".
  std::string str() const;

  bool operator==(const SharedLayout &other) const {
    return kindOf == other.kindOf && bytes == other.bytes;
  }

private:
  SharedLayout(Kind kind, int64_t bytes) : kindOf(kind), bytes(bytes) {}
  Kind kindOf;
  int64_t bytes;
};

/// Fails if `layout` can't hold `tile`: lines that don't start at multiples of 16 bytes, which
/// ldmatrix, wmma and 16-byte copies need, an inner dimension that the span doesn't divide, or
/// blocks that TMA can't store as boxes.
llvm::Error checkLayout(const SharedTile &tile, const SharedLayout &layout);

/// The byte at which element (row, column) would start without the exclusive-or, relative to the
/// tile's start. This is also what a wgmma descriptor's start address advances by.
int64_t linearOffset(const SharedTile &tile, const SharedLayout &layout, int64_t row,
                     int64_t column);

/// The byte at which element (row, column) starts, relative to the tile's start.
int64_t byteOffset(const SharedTile &tile, const SharedLayout &layout, int64_t row, int64_t column);

/// Bytes from a line to the next one (inside a block, where there are any).
int64_t linePitch(const SharedTile &tile, const SharedLayout &layout);

/// Bytes that the tile occupies, padding included.
int64_t sizeBytes(const SharedTile &tile, const SharedLayout &layout);

/// The alignment in bytes that the tile's start needs.
int64_t requiredAlignment(const SharedLayout &layout);

/// The conflict degree of one warp-wide access of `width` bytes (4, 8 or 16) per lane; `addresses`
/// has one byte address for each of at most 32 lanes.
unsigned bankConflictDegree(llvm::ArrayRef<int64_t> addresses, unsigned width);

/// How warps reach a tile, as far as banks are concerned.
enum class SharedAccess {
  /// 8 lines of 16 bytes at once: ldmatrix, ldmatrix.trans, stmatrix, and wmma.load as the hardware
  /// from sm_75 on performs it.
  MatrixRows,
  /// 16 bytes per lane, consecutive lanes along the inner dimension: cp.async, ld/st.shared.v4.
  VectorCopy,
  /// An m16n8 accumulator fragment: lane 4g + t has columns 2t and 2t + 1 of line g.
  AccumulatorPairs,
};

/// The worst conflict degree over all positions of `access` in the tile.
unsigned conflictDegree(const SharedTile &tile, const SharedLayout &layout, SharedAccess access);

/// Who works on a tile: this decides the layouts that may be used and the accesses that count.
enum class SharedConsumer {
  /// ldmatrix reads what 16-byte copies wrote: any layout.
  LdMatrix,
  /// wmma.load and wmma.store take a leading dimension: dense or padded.
  Wmma,
  /// wgmma reads by a matrix descriptor: swizzled only.
  Wgmma,
  /// Accumulators of wgmma are written by lines (stmatrix, or pairs of elements) and stored by TMA,
  /// in boxes: swizzled or blocked.
  BulkStore,
  /// Accumulators of mma.sync are written and read back by lines: dense or padded.
  Epilogue,
};

/// A layout and the worst conflict degrees that are left with it.
struct LayoutChoice {
  SharedLayout layout;
  /// Of the consumer's own access: MatrixRows, or AccumulatorPairs for Epilogue and where BulkStore
  /// has elements that stmatrix can't write.
  unsigned consumerDegree;
  /// Of VectorCopy, which fills (or drains) the tile; 1 where no thread does (BulkStore). Padding
  /// can't free both for lines shorter than 128 bytes: the copies of one quarter warp then span
  /// more than 128 bytes.
  unsigned copyDegree;
};

/// What `layout`, which can hold `tile`, costs `consumer`.
LayoutChoice assessLayout(const SharedTile &tile, const SharedLayout &layout,
                          SharedConsumer consumer);

/// The best layout for `consumer`: fewest conflicts of the consumer, then of the copies, then
/// fewest bytes; for BulkStore, the widest swizzle but that of 32 bytes, which wide blocks go
/// before: each block is a box. With `parts`, each line consists of as many equal parts, written by
/// different warps, and no block crosses from one to another. Fails if none can hold the tile (an
/// inner dimension that is not a multiple of 16 bytes, or of 32 bytes for wgmma).
llvm::Expected<LayoutChoice> chooseLayout(const SharedTile &tile, SharedConsumer consumer,
                                          int64_t parts = 1);

/// The span of the layout that chooseLayout takes for BulkStore where each of the equal parts of a
/// line has `partBytes`; 0 if there is none.
int64_t boxSpan(int64_t partBytes, unsigned elementBytes);

} // namespace tcc::support

#endif // TCC_SUPPORT_SHAREDLAYOUT_H
