//===- ChipTest.cpp - What chips answer -----------------------------------===//

#include "tcc/Arch/Chip.h"
#include "gtest/gtest.h"

using namespace tcc::arch;

namespace {

const Chip &chip(llvm::StringRef name) { return *llvm::cantFail(lookupChip(name)); }

TEST(Chip, unknownNamesListTheKnownOnes) {
  std::string message = llvm::toString(lookupChip("sm_99").takeError());
  EXPECT_EQ(message, "unknown chip 'sm_99'; known are sm_70, sm_75, sm_80, sm_86, sm_87, sm_89, "
                     "sm_90, sm_90a, sm_100, sm_100a, sm_103, sm_103a, sm_120, sm_120a, sm_121 and "
                     "sm_121a");
  EXPECT_EQ(llvm::toString(lookupChip("").takeError()).substr(0, 33),
            "no chip is named; known are sm_70");
}

TEST(Chip, everyKnownNameIsFound) {
  for (const Chip &known : knownChips())
    EXPECT_EQ(&chip(known.name()), &known);
}

TEST(Chip, asyncCopyAndLdmatrix) {
  EXPECT_FALSE(chip("sm_70").hasAsyncCopy());
  EXPECT_FALSE(chip("sm_75").hasAsyncCopy());
  EXPECT_TRUE(chip("sm_80").hasAsyncCopy());
  EXPECT_TRUE(chip("sm_120").hasAsyncCopy());
  EXPECT_FALSE(chip("sm_70").hasLdMatrix());
  EXPECT_TRUE(chip("sm_75").hasLdMatrix());
}

TEST(Chip, wgmmaIsOnSm90aAlone) {
  for (const Chip &known : knownChips())
    EXPECT_EQ(known.hasWgmma(), known.name() == "sm_90a") << known.name().str();
  EXPECT_EQ(llvm::toString(chip("sm_90").require(Feature::Wgmma)),
            "sm_90 has no wgmma.mma_async; sm_90a has it");
  EXPECT_FALSE(bool(chip("sm_90a").require(Feature::Wgmma)));
}

TEST(Chip, setmaxnregNeedsAnArchSpecificTarget) {
  EXPECT_FALSE(chip("sm_90").has(Feature::SetMaxRegisters));
  EXPECT_TRUE(chip("sm_90a").has(Feature::SetMaxRegisters));
  EXPECT_FALSE(chip("sm_100").has(Feature::SetMaxRegisters));
  EXPECT_TRUE(chip("sm_100a").has(Feature::SetMaxRegisters));
}

TEST(Chip, requirementsNameTheChipsThatMeetThem) {
  EXPECT_EQ(llvm::toString(chip("sm_70").require(Feature::CpAsync)),
            "sm_70 has no cp.async; sm_80, sm_86, sm_87, sm_89, sm_90, sm_90a, sm_100, sm_100a, "
            "sm_103, sm_103a, sm_120, sm_120a, sm_121 and sm_121a have it");
}

TEST(Chip, elementTypes) {
  EXPECT_FALSE(chip("sm_75").hasBf16());
  EXPECT_TRUE(chip("sm_80").hasBf16());
  EXPECT_TRUE(chip("sm_70").hasWmma(ElementType::F16));
  EXPECT_FALSE(chip("sm_70").hasWmma(ElementType::S8));
  EXPECT_TRUE(chip("sm_75").hasWmma(ElementType::S8));
  EXPECT_FALSE(chip("sm_70").hasMmaSync(ElementType::F16));
  EXPECT_TRUE(chip("sm_75").hasMmaSync(ElementType::F16));
  EXPECT_FALSE(chip("sm_86").hasMmaSync(ElementType::E4M3));
  EXPECT_TRUE(chip("sm_89").hasMmaSync(ElementType::E4M3));
  EXPECT_EQ(chipsWithAtom(MmaFamily::Wgmma, ElementType::BF16), "sm_90a");
}

TEST(Chip, preferredAtoms) {
  const MmaAtom *ampere =
      chip("sm_80").findAtom(MmaFamily::MmaSync, ElementType::F16, ElementType::F32);
  ASSERT_TRUE(ampere);
  EXPECT_EQ(ampere->str(), "mma_sync m16n8k16 f16 x f16 -> f32");
  EXPECT_EQ(ampere->fragment, FragmentKind::Mma);
  const MmaAtom *turing =
      chip("sm_75").findAtom(MmaFamily::MmaSync, ElementType::F16, ElementType::F32);
  ASSERT_TRUE(turing);
  EXPECT_EQ(turing->k, 8u);
  const MmaAtom *volta =
      chip("sm_70").findAtom(MmaFamily::Wmma, ElementType::F16, ElementType::F32);
  ASSERT_TRUE(volta);
  EXPECT_EQ(volta->str(), "wmma m16n16k16 f16 x f16 -> f32");
  EXPECT_EQ(volta->fragment, FragmentKind::Opaque);
  EXPECT_EQ(volta->sharedLayouts & Swizzled, 0u);
  EXPECT_FALSE(chip("sm_70").findAtom(MmaFamily::Wmma, ElementType::BF16, ElementType::F32));
  const MmaAtom *hopper =
      chip("sm_90a").findAtom(MmaFamily::Wgmma, ElementType::E4M3, ElementType::F32);
  ASSERT_TRUE(hopper);
  EXPECT_EQ(hopper->aPlace, Place::Shared);
  EXPECT_FALSE(hopper->readsTransposed);
}

TEST(Chip, sharedMemory) {
  EXPECT_EQ(chip("sm_70").limits().sharedBytesPerBlock, 96 * 1024);
  EXPECT_EQ(chip("sm_75").limits().sharedBytesPerBlock, 64 * 1024);
  EXPECT_EQ(chip("sm_80").limits().sharedBytesPerBlock, 163 * 1024);
  EXPECT_EQ(chip("sm_86").limits().sharedBytesPerBlock, 99 * 1024);
  EXPECT_EQ(chip("sm_89").limits().sharedBytesPerBlock, 99 * 1024);
  EXPECT_EQ(chip("sm_90a").limits().sharedBytesPerBlock, 227 * 1024);
}

TEST(Chip, ptxVersions) {
  EXPECT_EQ(chip("sm_70").ptxVersion(), 60u);
  EXPECT_EQ(chip("sm_90a").ptxVersion(), 80u);
  EXPECT_EQ(info(Feature::LdMatrix).ptxVersion, 65u);
  const MmaAtom *fp8 =
      chip("sm_89").findAtom(MmaFamily::MmaSync, ElementType::E4M3, ElementType::F32);
  ASSERT_TRUE(fp8);
  EXPECT_EQ(fp8->ptxVersion, 84u);
}

TEST(Feature, everyFeatureHasARow) {
  for (int i = 0; i <= int(Feature::ReduceSync); ++i)
    EXPECT_EQ(int(info(Feature(i)).feature), i);
}

} // namespace
