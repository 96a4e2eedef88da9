//===- SharedLayoutTest.cpp - Layouts by enumeration ----------------------===//

#include "tcc/Support/SharedLayout.h"
#include "llvm/ADT/DenseSet.h"
#include "gtest/gtest.h"

using namespace tcc::support;

namespace {

const SharedTile tiles[] = {
    {{128, 64}, 1, 2}, {{64, 128}, 1, 2}, {{128, 32}, 1, 2}, {{64, 16}, 1, 2}, {{64, 128}, 0, 2},
    {{32, 256}, 1, 2}, {{96, 64}, 0, 2},  {{16, 32}, 1, 4},  {{64, 64}, 1, 1}, {{32, 8}, 1, 2},
    {{64, 176}, 1, 2}, {{64, 144}, 1, 2}, {{8, 24}, 1, 2},   {{64, 44}, 1, 4},
};
const SharedLayout layouts[] = {
    SharedLayout::dense(),      SharedLayout::padded(16),   SharedLayout::padded(48),
    SharedLayout::swizzled(32), SharedLayout::swizzled(64), SharedLayout::swizzled(128),
    SharedLayout::blocked(16),  SharedLayout::blocked(48),  SharedLayout::blocked(144),
    SharedLayout::blocked(176),
};

template <typename Callback> void forEachLegalLayout(Callback callback) {
  for (const SharedTile &tile : tiles) {
    for (const SharedLayout &layout : layouts) {
      if (llvm::Error error = checkLayout(tile, layout)) {
        llvm::consumeError(std::move(error));
        continue;
      }
      callback(tile, layout);
    }
  }
}

TEST(SharedLayout, everyLayoutIsInjectiveAndInBounds) {
  int cases = 0;
  forEachLegalLayout([&](const SharedTile &tile, const SharedLayout &layout) {
    ++cases;
    llvm::DenseSet<int64_t> seen;
    for (int64_t row = 0; row < tile.shape[0]; ++row) {
      for (int64_t column = 0; column < tile.shape[1]; ++column) {
        int64_t offset = byteOffset(tile, layout, row, column);
        EXPECT_TRUE(seen.insert(offset).second) << layout.str() << " " << row << "," << column;
        EXPECT_EQ(offset % tile.elementBytes, 0);
        EXPECT_GE(offset, 0);
        EXPECT_LE(offset + tile.elementBytes, sizeBytes(tile, layout));
      }
    }
  });
  EXPECT_GT(cases, 40);
}

TEST(SharedLayout, sixteenBytePiecesStayTogetherAndAligned) {
  forEachLegalLayout([&](const SharedTile &tile, const SharedLayout &layout) {
    int64_t perPiece = 16 / tile.elementBytes;
    for (int64_t line = 0; line < tile.lines(); ++line) {
      for (int64_t inner = 0; inner < tile.shape[tile.contiguous]; ++inner) {
        auto at = [&](int64_t i) {
          return tile.contiguous ? byteOffset(tile, layout, line, i)
                                 : byteOffset(tile, layout, i, line);
        };
        int64_t start = at(inner / perPiece * perPiece);
        EXPECT_EQ(start % 16, 0);
        EXPECT_EQ(at(inner), start + inner % perPiece * tile.elementBytes);
      }
    }
  });
}

// TMA's rule (PTX ISA, "Swizzling Modes"), written independently: 16-byte piece p of 128-byte row r
// goes to piece p ^ (r mod 8) for 128 bytes, p ^ (r/2 mod 4) inside 64 bytes with rows of 64, and
// so on.
TEST(SharedLayout, swizzleOfOneBlockMatchesThePieceRule) {
  for (int64_t span : {32, 64, 128}) {
    SharedTile tile{{64, span / 2}, 1, 2};
    for (int64_t line = 0; line < 64; ++line) {
      for (int64_t piece = 0; piece < span / 16; ++piece) {
        int64_t linesPer128 = 128 / span;
        int64_t swizzled = piece ^ (line / linesPer128 % (span / 16));
        EXPECT_EQ(byteOffset(tile, SharedLayout::swizzled(span), line, piece * 8),
                  line * span + swizzled * 16);
      }
    }
  }
}

TEST(SharedLayout, knownOffsets) {
  SharedTile rowMajor{{128, 64}, 1, 2};
  EXPECT_EQ(byteOffset(rowMajor, SharedLayout::dense(), 3, 5), 3 * 128 + 10);
  EXPECT_EQ(byteOffset(rowMajor, SharedLayout::padded(16), 3, 5), 3 * 144 + 10);
  EXPECT_EQ(byteOffset(rowMajor, SharedLayout::swizzled(128), 3, 5), 3 * 128 + 48 + 10);
  // The second block of 64 columns starts after all 16 lines of the first.
  SharedTile wide{{16, 128}, 1, 2};
  EXPECT_EQ(byteOffset(wide, SharedLayout::swizzled(128), 1, 64), 16 * 128 + 128 + 16);
  // Blocks of 88 columns without a swizzle: lines are 176 bytes apart in both.
  SharedTile split{{64, 176}, 1, 2};
  EXPECT_EQ(byteOffset(split, SharedLayout::blocked(176), 3, 87), 3 * 176 + 174);
  EXPECT_EQ(byteOffset(split, SharedLayout::blocked(176), 3, 88), 64 * 176 + 3 * 176);
  SharedTile columnMajor{{64, 32}, 0, 2};
  EXPECT_EQ(byteOffset(columnMajor, SharedLayout::dense(), 5, 3), 3 * 128 + 10);
}

TEST(SharedLayout, sizesAndAlignments) {
  SharedTile tile{{128, 64}, 1, 2};
  EXPECT_EQ(sizeBytes(tile, SharedLayout::dense()), 16384);
  EXPECT_EQ(sizeBytes(tile, SharedLayout::padded(16)), 128 * 144);
  EXPECT_EQ(sizeBytes(tile, SharedLayout::swizzled(128)), 16384);
  EXPECT_EQ(requiredAlignment(SharedLayout::dense()), 16);
  EXPECT_EQ(requiredAlignment(SharedLayout::swizzled(128)), 1024);
  EXPECT_EQ(requiredAlignment(SharedLayout::swizzled(32)), 256);
  EXPECT_EQ(sizeBytes({{64, 176}, 1, 2}, SharedLayout::blocked(176)), 64 * 352);
  EXPECT_EQ(requiredAlignment(SharedLayout::blocked(176)), 128);
}

TEST(SharedLayout, degreeCountsWordsPerBank) {
  llvm::SmallVector<int64_t> addresses;
  for (int64_t lane = 0; lane < 32; ++lane)
    addresses.push_back(lane * 4);
  EXPECT_EQ(bankConflictDegree(addresses, 4), 1u);
  for (int64_t stride : {2, 4, 32}) {
    for (int64_t lane = 0; lane < 32; ++lane)
      addresses[lane] = lane * 4 * stride;
    EXPECT_EQ(bankConflictDegree(addresses, 4), stride);
  }
  // A broadcast is one access.
  std::fill(addresses.begin(), addresses.end(), 64);
  EXPECT_EQ(bankConflictDegree(addresses, 4), 1u);
  // 8-byte accesses are served by half warps: contiguous ones are free.
  for (int64_t lane = 0; lane < 32; ++lane)
    addresses[lane] = lane * 8;
  EXPECT_EQ(bankConflictDegree(addresses, 8), 1u);
  // Rows of 128 bytes: all of a quarter warp's pieces in the same four banks.
  for (int64_t lane = 0; lane < 32; ++lane)
    addresses[lane] = lane * 128;
  EXPECT_EQ(bankConflictDegree(addresses, 16), 8u);
}

TEST(SharedLayout, denseRowsOf128BytesConflict) {
  EXPECT_EQ(conflictDegree({{128, 64}, 1, 2}, SharedLayout::dense(), SharedAccess::MatrixRows), 8u);
  EXPECT_EQ(conflictDegree({{128, 32}, 1, 2}, SharedLayout::dense(), SharedAccess::MatrixRows), 4u);
  EXPECT_EQ(conflictDegree({{128, 64}, 1, 2}, SharedLayout::dense(), SharedAccess::VectorCopy), 1u);
}

TEST(SharedLayout, chosenLayoutsAreFreeOfConflicts) {
  for (SharedConsumer consumer :
       {SharedConsumer::LdMatrix, SharedConsumer::Wmma, SharedConsumer::Wgmma}) {
    for (int64_t lines : {16, 32, 64, 128, 256}) {
      for (int64_t inner : {16, 32, 64, 128, 256}) {
        for (unsigned contiguous : {0, 1}) {
          SharedTile tile{{lines, lines}, contiguous, 2};
          tile.shape[contiguous] = inner;
          LayoutChoice choice = llvm::cantFail(chooseLayout(tile, consumer));
          EXPECT_EQ(choice.consumerDegree, 1u)
              << choice.layout.str() << " " << lines << "x" << inner;
          bool padded = choice.layout.kind() == SharedLayout::Kind::Padded;
          EXPECT_LE(choice.copyDegree, padded && inner < 64 ? 2u : 1u)
              << choice.layout.str() << " " << lines << "x" << inner;
        }
      }
    }
  }
}

// Any multiple of 8 columns of 16 bits can be stored by TMA, and written by stmatrix without
// conflicts.
TEST(SharedLayout, stagingOfAnyEightColumnsIsFreeOfConflicts) {
  for (int64_t columns = 8; columns <= 256; columns += 8) {
    for (int64_t parts : {1, 2}) {
      SharedTile tile{{64, columns * parts}, 1, 2};
      LayoutChoice choice = llvm::cantFail(chooseLayout(tile, SharedConsumer::BulkStore, parts));
      EXPECT_EQ(choice.consumerDegree, 1u) << choice.layout.str() << " " << columns;
      EXPECT_EQ(columns * 2 % choice.layout.span(), 0) << choice.layout.str() << " " << columns;
      EXPECT_LE(choice.layout.span(), 512);
    }
  }
}

TEST(SharedLayout, stagingPrefersWideSwizzlesThenWideBlocks) {
  auto choose = [](int64_t columns, int64_t parts = 1, unsigned elementBytes = 2) {
    return llvm::cantFail(
               chooseLayout({{64, columns}, 1, elementBytes}, SharedConsumer::BulkStore, parts))
        .layout;
  };
  EXPECT_EQ(choose(128), SharedLayout::swizzled(128));
  EXPECT_EQ(choose(96), SharedLayout::swizzled(64));
  EXPECT_EQ(choose(176), SharedLayout::blocked(176));
  EXPECT_EQ(choose(88), SharedLayout::blocked(176));
  EXPECT_EQ(choose(48), SharedLayout::blocked(48));
  EXPECT_EQ(choose(16), SharedLayout::swizzled(32));
  EXPECT_EQ(choose(8), SharedLayout::blocked(16));
  // Each of two warpgroups has whole blocks: 144 columns are 4.5 of 64 bytes.
  EXPECT_EQ(choose(288), SharedLayout::swizzled(64));
  EXPECT_EQ(choose(288, 2), SharedLayout::blocked(144));
  // A box has at most 256 elements: 744 columns are 3 * 248.
  EXPECT_EQ(choose(744, 3), SharedLayout::blocked(496));
  EXPECT_EQ(boxSpan(2 * 248, 2), 496);
  EXPECT_EQ(boxSpan(2 * 64, 2), 128);
  EXPECT_EQ(boxSpan(8, 1), 0);
  // 8 columns of f32 stay together. Their pairs conflict in wide lines.
  EXPECT_EQ(choose(88, 1, 4), SharedLayout::swizzled(32));
  SharedTile wide{{64, 32}, 1, 4};
  EXPECT_EQ(llvm::cantFail(chooseLayout(wide, SharedConsumer::BulkStore)).consumerDegree, 2u);
}

TEST(SharedLayout, choiceFollowsTheConsumer) {
  SharedTile tile{{128, 64}, 1, 2};
  EXPECT_EQ(llvm::cantFail(chooseLayout(tile, SharedConsumer::LdMatrix)).layout,
            SharedLayout::swizzled(128));
  EXPECT_EQ(llvm::cantFail(chooseLayout(tile, SharedConsumer::Wmma)).layout,
            SharedLayout::padded(16));
  EXPECT_EQ(llvm::cantFail(chooseLayout(tile, SharedConsumer::Wgmma)).layout,
            SharedLayout::swizzled(128));
  SharedTile narrow{{128, 32}, 1, 2};
  EXPECT_EQ(llvm::cantFail(chooseLayout(narrow, SharedConsumer::LdMatrix)).layout,
            SharedLayout::swizzled(64));
  // f32 accumulator pairs want lines that are 32 bytes apart in the banks.
  SharedTile output{{64, 128}, 1, 4};
  LayoutChoice choice = llvm::cantFail(chooseLayout(output, SharedConsumer::Epilogue));
  EXPECT_EQ(choice.layout, SharedLayout::padded(32));
  EXPECT_EQ(choice.consumerDegree, 1u);
}

TEST(SharedLayout, oneElementOfPaddingIsRefused) {
  EXPECT_EQ(llvm::toString(checkLayout({{128, 64}, 1, 2}, SharedLayout::padded(2))),
            "lines of 128 bytes with 2 bytes of padding start at multiples of 130 "
            "bytes, but ldmatrix "
            "rows and wmma leading dimensions need multiples of 16; pad by 16 bytes");
}

TEST(SharedLayout, illegalSwizzlesAreRefused) {
  EXPECT_EQ(llvm::toString(checkLayout({{128, 64}, 1, 2}, SharedLayout::swizzled(48))),
            "a swizzle spans 32, 64 or 128 bytes, not 48");
  EXPECT_EQ(
      llvm::toString(checkLayout({{128, 48}, 1, 2}, SharedLayout::swizzled(128))),
      "lines of 96 bytes can't be cut into blocks of 128 bytes; use a span that divides them");
  EXPECT_EQ(llvm::toString(checkLayout({{128, 64}, 1, 2}, SharedLayout::padded(-16))),
            "a padding can't be negative");
  EXPECT_EQ(llvm::toString(checkLayout({{0, 64}, 1, 2}, SharedLayout::dense())),
            "a shared tile needs at least one element");
}

TEST(SharedLayout, illegalBlocksAreRefused) {
  EXPECT_EQ(llvm::toString(checkLayout({{64, 96}, 1, 2}, SharedLayout::blocked(96))),
            "blocks without a swizzle have lines of an odd multiple of 16 bytes, not of 96");
  EXPECT_EQ(llvm::toString(checkLayout({{64, 264}, 1, 2}, SharedLayout::blocked(528))),
            "blocks of 528 bytes have lines of 264 elements, but a box of TMA has at most 256");
  EXPECT_EQ(
      llvm::toString(checkLayout({{12, 176}, 1, 2}, SharedLayout::blocked(176))),
      "blocks of 12 lines of 176 bytes don't start at multiples of 128 bytes, as boxes of TMA "
      "do; use a multiple of 8 lines");
  EXPECT_EQ(
      llvm::toString(checkLayout({{64, 88}, 1, 2}, SharedLayout::blocked(48))),
      "lines of 176 bytes can't be cut into blocks of 48 bytes; use a span that divides them");
  // One block alone starts where the buffer does.
  EXPECT_FALSE(bool(checkLayout({{12, 88}, 1, 2}, SharedLayout::blocked(176))));
}

TEST(SharedLayout, unusableTilesHaveNoChoice) {
  EXPECT_EQ(
      llvm::toString(chooseLayout({{64, 4}, 1, 2}, SharedConsumer::BulkStore).takeError()),
      "no shared-memory layout holds lines of 8 bytes; use a tile whose contiguous dimension is "
      "a multiple of 16 bytes");
  EXPECT_EQ(llvm::toString(chooseLayout({{128, 8}, 1, 2}, SharedConsumer::Wgmma).takeError()),
            "no shared-memory layout holds lines of 16 bytes; use a tile whose "
            "contiguous dimension is a multiple of 32 bytes");
}

} // namespace
