//===- FragmentsTest.cpp --------------------------------------------------===//

#include "Emulator/Fragments.h"

#include "gtest/gtest.h"

#include <map>
#include <set>

using namespace tcc::emulator;

/// Every place is held equally often: once, or `copies` times.
static void expectCovers(const FragmentLayout &layout, unsigned copies = 1) {
  FragmentMap map(layout);
  std::map<unsigned, unsigned> seen;
  for (unsigned lane = 0; lane < 32; ++lane)
    for (unsigned place : map.lane(lane))
      ++seen[place];
  EXPECT_EQ(seen.size(), map.size());
  for (auto [place, count] : seen)
    ASSERT_EQ(count, copies) << "place " << place;
}

TEST(Fragments, MmaLayoutsCoverTheirMatrices) {
  struct Shape {
    unsigned m, k, perRegister;
  };
  for (Shape shape : {Shape{16, 8, 2},
                      {16, 16, 2},
                      {16, 4, 1},
                      {16, 8, 1},
                      {16, 16, 1},
                      {16, 16, 4},
                      {16, 32, 4},
                      {16, 32, 8},
                      {16, 64, 8},
                      {8, 4, 1},
                      {8, 16, 4},
                      {8, 32, 8}}) {
    expectCovers(mmaLayoutA(shape.m, shape.k, shape.perRegister));
    expectCovers(mmaLayoutB(8, shape.k, shape.perRegister));
  }
  expectCovers(mmaLayoutC(16, 8));
  expectCovers(mmaLayoutC(8, 8));
  for (unsigned n = 8; n <= 256; n += 8)
    expectCovers(mmaLayoutC(16, n));
  expectCovers(mmaM8N8K4ByRow);
  expectCovers(mmaM8N8K4ByColumn);
  expectCovers(mmaM8N8K4HalfC);
  expectCovers(mmaM8N8K4FloatC);
  expectCovers(matrix8x8);
}

TEST(Fragments, M16N8K16MatchesTheFiguresOfTheISA) {
  // Lane 5: group 1, thread 1 of the group.
  FragmentMap a(mmaLayoutA(16, 16, 2));
  auto at = [](unsigned row, unsigned column) { return uint16_t(row * 16 + column); };
  std::vector<uint16_t> expected = {at(1, 2),  at(1, 3),  at(9, 2),  at(9, 3),
                                    at(1, 10), at(1, 11), at(9, 10), at(9, 11)};
  EXPECT_EQ(a.lane(5).vec(), expected);
  FragmentMap c(mmaLayoutC(16, 8));
  EXPECT_EQ(c.lane(5).vec(), (std::vector<uint16_t>{1 * 8 + 2, 1 * 8 + 3, 9 * 8 + 2, 9 * 8 + 3}));
}

TEST(Fragments, WmmaLayoutsCoverTheirMatrices) {
  using S = WmmaShape;
  using R = WmmaRole;
  using E = WmmaElement;
  for (S shape : {S::M16N16K16, S::M8N32K16, S::M32N8K16}) {
    for (R role : {R::A, R::B}) {
      const FragmentLayout *half = wmmaLayout(shape, role, E::F16);
      expectCovers(*half, half->values * 32 / (half->rows * half->columns));
      EXPECT_EQ(half->values, 16u);
      expectCovers(*wmmaLayout(shape, role, E::BF16));
      expectCovers(*wmmaLayout(shape, role, E::Int8));
    }
    for (E element : {E::F32, E::F16, E::S32})
      expectCovers(*wmmaLayout(shape, R::Accumulator, element));
    EXPECT_EQ(wmmaLayout(shape, R::A, E::TF32), nullptr);
  }
  expectCovers(*wmmaLayout(S::M16N16K8, R::B, E::TF32));
  expectCovers(*wmmaLayout(S::M8N8K4, R::A, E::F64));
  expectCovers(*wmmaLayout(S::M8N8K32, R::A, E::Int4));
  expectCovers(*wmmaLayout(S::M8N8K128, R::A, E::Bit));
}

TEST(Fragments, APermutationKeepsTheElements) {
  FragmentMap map(mmaLayoutC(16, 8));
  FragmentMap one = map.permuted(1), again = map.permuted(1), two = map.permuted(2);
  std::multiset<unsigned> before, after;
  bool sameAsTwo = true, moved = false;
  for (unsigned lane = 0; lane < 32; ++lane) {
    before.insert(map.lane(lane).begin(), map.lane(lane).end());
    after.insert(one.lane(lane).begin(), one.lane(lane).end());
    EXPECT_EQ(one.lane(lane), again.lane(lane));
    sameAsTwo &= one.lane(lane) == two.lane(lane);
    moved |= one.lane(lane) != map.lane(lane);
  }
  EXPECT_EQ(before, after);
  EXPECT_FALSE(sameAsTwo);
  EXPECT_TRUE(moved);
}
