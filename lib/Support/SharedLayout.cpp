//===- SharedLayout.cpp - Where a tile's elements lie in shared memory ----===//

#include "tcc/Support/SharedLayout.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>
#include <optional>
#include <tuple>

using namespace tcc::support;

namespace {
/// ldmatrix rows, wmma leading dimensions and the widest copies are multiples of this many bytes.
constexpr int64_t pieceBytes = 16;
constexpr int64_t warpSize = 32;
constexpr int64_t bankBytes = 4;
constexpr int64_t bankCount = 32;
constexpr int64_t phaseBytes = bankBytes * bankCount;
/// PTX ISA, "Tensor-map": elements of a box along a dimension.
constexpr int64_t maxBoxExtent = 256;
/// PTX ISA, cp.async.bulk.tensor: alignment of the address in shared memory.
constexpr int64_t boxAlignment = 128;
} // namespace

std::string SharedLayout::str() const {
  switch (kindOf) {
  case Kind::Dense:
    return "dense";
  case Kind::Padded:
    return llvm::formatv("padded by {0} bytes", bytes);
  case Kind::Swizzled:
    return llvm::formatv("swizzled by {0} bytes", bytes);
  case Kind::Blocked:
    return llvm::formatv("in blocks of {0} bytes", bytes);
  }
  llvm_unreachable("covered switch");
}

/// Blocks are boxes of TMA.
static llvm::Error checkBlocks(const SharedTile &tile, int64_t span) {
  if (span <= 0 || span % (2 * pieceBytes) != pieceBytes)
    return llvm::createStringError(llvm::formatv(
        "blocks without a swizzle have lines of an odd multiple of 16 bytes, not of {0}", span));
  if (span > maxBoxExtent * tile.elementBytes)
    return llvm::createStringError(llvm::formatv(
        "blocks of {0} bytes have lines of {1} elements, but a box of TMA has at most {2}", span,
        span / tile.elementBytes, maxBoxExtent));
  if (tile.innerBytes() > span && tile.lines() * span % boxAlignment)
    return llvm::createStringError(llvm::formatv(
        "blocks of {0} lines of {1} bytes don't start at multiples of {2} bytes, as boxes of TMA "
        "do; use a multiple of 8 lines",
        tile.lines(), span, boxAlignment));
  return llvm::Error::success();
}

llvm::Error tcc::support::checkLayout(const SharedTile &tile, const SharedLayout &layout) {
  int64_t inner = tile.innerBytes();
  if (tile.lines() <= 0 || inner <= 0)
    return llvm::createStringError("a shared tile needs at least one element");
  if (int64_t span = layout.span()) {
    if (layout.kind() == SharedLayout::Kind::Blocked)
      if (llvm::Error error = checkBlocks(tile, span))
        return error;
    if (layout.swizzleSpan() && span != 32 && span != 64 && span != 128)
      return llvm::createStringError(
          llvm::formatv("a swizzle spans 32, 64 or 128 bytes, not {0}", span));
    if (inner % span)
      return llvm::createStringError(
          llvm::formatv("lines of {0} bytes can't be cut into blocks of {1} bytes; use a span that "
                        "divides them",
                        inner, span));
    return llvm::Error::success();
  }
  if (layout.padBytes() < 0)
    return llvm::createStringError("a padding can't be negative");
  int64_t pitch = inner + layout.padBytes();
  if (pitch % pieceBytes)
    return llvm::createStringError(llvm::formatv(
        "lines of {0} bytes with {1} bytes of padding start at multiples of {2} bytes, "
        "but ldmatrix rows and wmma leading dimensions need multiples of 16; pad by {3} "
        "bytes",
        inner, layout.padBytes(), pitch,
        llvm::alignTo(inner + layout.padBytes(), pieceBytes) - inner));
  return llvm::Error::success();
}

int64_t tcc::support::linePitch(const SharedTile &tile, const SharedLayout &layout) {
  return layout.span() ? layout.span() : tile.innerBytes() + layout.padBytes();
}

int64_t tcc::support::linearOffset(const SharedTile &tile, const SharedLayout &layout, int64_t row,
                                   int64_t column) {
  int64_t line = tile.contiguous == 1 ? row : column;
  int64_t innerByte = (tile.contiguous == 1 ? column : row) * tile.elementBytes;
  int64_t span = layout.span();
  if (!span)
    return line * linePitch(tile, layout) + innerByte;
  return innerByte / span * (tile.lines() * span) + line * span + innerByte % span;
}

int64_t tcc::support::byteOffset(const SharedTile &tile, const SharedLayout &layout, int64_t row,
                                 int64_t column) {
  int64_t linear = linearOffset(tile, layout, row, column);
  if (!layout.swizzleSpan())
    return linear;
  int64_t mask = layout.swizzleSpan() / pieceBytes - 1;
  return linear ^ (((linear >> 7) & mask) << 4);
}

int64_t tcc::support::sizeBytes(const SharedTile &tile, const SharedLayout &layout) {
  return tile.lines() * (tile.innerBytes() + layout.padBytes());
}

int64_t tcc::support::requiredAlignment(const SharedLayout &layout) {
  if (layout.kind() == SharedLayout::Kind::Blocked)
    return boxAlignment;
  return layout.swizzleSpan() ? 8 * layout.swizzleSpan() : pieceBytes;
}

unsigned tcc::support::bankConflictDegree(llvm::ArrayRef<int64_t> addresses, unsigned width) {
  size_t lanesPerPhase = phaseBytes / width;
  unsigned worst = 1;
  for (size_t first = 0; first < addresses.size(); first += lanesPerPhase) {
    std::array<llvm::SmallVector<int64_t, 8>, bankCount> wordsOfBank;
    for (int64_t address : addresses.slice(first).take_front(lanesPerPhase)) {
      for (int64_t word = address / bankBytes; word * bankBytes < address + width; ++word) {
        auto &words = wordsOfBank[word % bankCount];
        // Lanes that ask for the same word share one access.
        if (!llvm::is_contained(words, word))
          words.push_back(word);
        worst = std::max<unsigned>(worst, words.size());
      }
    }
  }
  return worst;
}

/// The offset of the byte `innerByte` of line `line`.
static int64_t offsetInLine(const SharedTile &tile, const SharedLayout &layout, int64_t line,
                            int64_t innerByte) {
  int64_t inner = innerByte / tile.elementBytes;
  int64_t offset = tile.contiguous == 1 ? byteOffset(tile, layout, line, inner)
                                        : byteOffset(tile, layout, inner, line);
  return offset + innerByte % tile.elementBytes;
}

/// How many lines to look at. Lines 8 apart lie a multiple of 128 bytes apart, in the same banks:
/// pitches are multiples of 16 bytes (else all lines differ), and a swizzle repeats after 8 lines.
static int64_t linesUntilRepeat(const SharedTile &tile, const SharedLayout &layout) {
  constexpr int64_t period = 8;
  bool repeats = linePitch(tile, layout) % pieceBytes == 0;
  return repeats ? std::min(tile.lines(), period) : tile.lines();
}

static unsigned matrixRowsDegree(const SharedTile &tile, const SharedLayout &layout) {
  unsigned worst = 1;
  for (int64_t line = 0; line + 8 <= linesUntilRepeat(tile, layout); line += 8) {
    for (int64_t byte = 0; byte + pieceBytes <= tile.innerBytes(); byte += pieceBytes) {
      llvm::SmallVector<int64_t, 8> addresses;
      for (int64_t i = 0; i < 8; ++i)
        addresses.push_back(offsetInLine(tile, layout, line + i, byte));
      worst = std::max(worst, bankConflictDegree(addresses, pieceBytes));
    }
  }
  return worst;
}

static unsigned vectorCopyDegree(const SharedTile &tile, const SharedLayout &layout) {
  unsigned worst = 1;
  int64_t piecesPerLine = tile.innerBytes() / pieceBytes;
  int64_t repeat = std::lcm(linesUntilRepeat(tile, layout) * piecesPerLine, warpSize);
  int64_t pieces = std::min(tile.lines() * piecesPerLine, repeat);
  for (int64_t first = 0; first < pieces; first += warpSize) {
    llvm::SmallVector<int64_t, warpSize> addresses;
    for (int64_t piece = first; piece < std::min(first + warpSize, pieces); ++piece)
      addresses.push_back(
          offsetInLine(tile, layout, piece / piecesPerLine, piece % piecesPerLine * pieceBytes));
    worst = std::max(worst, bankConflictDegree(addresses, pieceBytes));
  }
  return worst;
}

static unsigned accumulatorPairsDegree(const SharedTile &tile, const SharedLayout &layout) {
  unsigned worst = 1;
  int64_t pairBytes = 2 * tile.elementBytes;
  for (int64_t line = 0; line + 8 <= linesUntilRepeat(tile, layout); line += 8) {
    for (int64_t byte = 0; byte + 4 * pairBytes <= tile.innerBytes(); byte += 4 * pairBytes) {
      llvm::SmallVector<int64_t, warpSize> addresses;
      for (int64_t lane = 0; lane < warpSize; ++lane)
        addresses.push_back(
            offsetInLine(tile, layout, line + lane / 4, byte + lane % 4 * pairBytes));
      worst = std::max(worst, bankConflictDegree(addresses, std::max<int64_t>(pairBytes, 4)));
    }
  }
  return worst;
}

unsigned tcc::support::conflictDegree(const SharedTile &tile, const SharedLayout &layout,
                                      SharedAccess access) {
  switch (access) {
  case SharedAccess::MatrixRows:
    return matrixRowsDegree(tile, layout);
  case SharedAccess::VectorCopy:
    return vectorCopyDegree(tile, layout);
  case SharedAccess::AccumulatorPairs:
    return accumulatorPairsDegree(tile, layout);
  }
  llvm_unreachable("covered switch");
}

LayoutChoice tcc::support::assessLayout(const SharedTile &tile, const SharedLayout &layout,
                                        SharedConsumer consumer) {
  constexpr unsigned matrixElementBytes = 2; // stmatrix
  bool isBulkStore = consumer == SharedConsumer::BulkStore;
  bool hasPairs = consumer == SharedConsumer::Epilogue ||
                  (isBulkStore && tile.elementBytes != matrixElementBytes);
  SharedAccess access = hasPairs ? SharedAccess::AccumulatorPairs : SharedAccess::MatrixRows;
  return {layout, conflictDegree(tile, layout, access),
          isBulkStore ? 1 : conflictDegree(tile, layout, SharedAccess::VectorCopy)};
}

/// Few boxes: by descending span, but blocks of three pieces or more go before the narrowest
/// swizzle. A block has whole parts of 8 columns, which an accumulator is made of.
static llvm::SmallVector<int64_t> boxSpans(int64_t partBytes, unsigned elementBytes) {
  llvm::SmallVector<int64_t> spans = {128, 64};
  for (int64_t pieces = maxBoxExtent * elementBytes / pieceBytes - 1; pieces >= 3; pieces -= 2)
    spans.push_back(pieces * pieceBytes);
  spans.append({2 * pieceBytes, pieceBytes});
  llvm::erase_if(spans,
                 [&](int64_t span) { return partBytes % span || span % (8 * elementBytes); });
  return spans;
}

int64_t tcc::support::boxSpan(int64_t partBytes, unsigned elementBytes) {
  llvm::SmallVector<int64_t> spans = boxSpans(partBytes, elementBytes);
  return spans.empty() ? 0 : spans.front();
}

static llvm::SmallVector<SharedLayout> boxLayouts(const SharedTile &tile, int64_t partBytes) {
  llvm::SmallVector<SharedLayout> layouts;
  for (int64_t span : boxSpans(partBytes, tile.elementBytes))
    layouts.push_back(SharedLayout::inBlocks(span));
  return layouts;
}

static llvm::SmallVector<SharedLayout> candidateLayouts(SharedConsumer consumer) {
  const SharedLayout dense = SharedLayout::dense();
  const SharedLayout swizzles[] = {SharedLayout::swizzled(128), SharedLayout::swizzled(64),
                                   SharedLayout::swizzled(32)};
  const SharedLayout paddings[] = {SharedLayout::padded(16), SharedLayout::padded(32),
                                   SharedLayout::padded(48)};
  llvm::SmallVector<SharedLayout> candidates;
  if (consumer != SharedConsumer::Wgmma)
    candidates.push_back(dense);
  if (consumer == SharedConsumer::LdMatrix || consumer == SharedConsumer::Wgmma)
    candidates.append(std::begin(swizzles), std::end(swizzles));
  if (consumer != SharedConsumer::Wgmma)
    candidates.append(std::begin(paddings), std::end(paddings));
  return candidates;
}

llvm::Expected<LayoutChoice> tcc::support::chooseLayout(const SharedTile &tile,
                                                        SharedConsumer consumer, int64_t parts) {
  bool isBulkStore = consumer == SharedConsumer::BulkStore;
  std::optional<LayoutChoice> best;
  for (SharedLayout layout :
       isBulkStore ? boxLayouts(tile, tile.innerBytes() / parts) : candidateLayouts(consumer)) {
    if (llvm::Error error = checkLayout(tile, layout)) {
      llvm::consumeError(std::move(error));
      continue;
    }
    LayoutChoice choice = assessLayout(tile, layout, consumer);
    if (isBulkStore)
      return choice;
    auto cost = [&](const LayoutChoice &c) {
      return std::make_tuple(c.consumerDegree, c.copyDegree, sizeBytes(tile, c.layout));
    };
    if (!best || cost(choice) < cost(*best))
      best = choice;
  }
  if (!best)
    return llvm::createStringError(llvm::formatv(
        "no shared-memory layout holds lines of {0} bytes; use a tile whose contiguous "
        "dimension is a multiple of {1} bytes",
        tile.innerBytes(), consumer == SharedConsumer::Wgmma ? 32 : 16));
  return *best;
}
