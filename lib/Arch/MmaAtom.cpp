//===- MmaAtom.cpp - Matrix instructions as rows of data ------------------===//

#include "Generations.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/FormatVariadic.h"

using namespace tcc::arch;

llvm::StringRef tcc::arch::name(ElementType type) {
  switch (type) {
  case ElementType::F16:
    return "f16";
  case ElementType::BF16:
    return "bf16";
  case ElementType::TF32:
    return "tf32";
  case ElementType::E4M3:
    return "e4m3";
  case ElementType::E5M2:
    return "e5m2";
  case ElementType::S8:
    return "s8";
  case ElementType::U8:
    return "u8";
  case ElementType::F64:
    return "f64";
  case ElementType::F32:
    return "f32";
  case ElementType::S32:
    return "s32";
  }
  llvm_unreachable("covered switch");
}

unsigned tcc::arch::bitWidth(ElementType type) {
  switch (type) {
  case ElementType::E4M3:
  case ElementType::E5M2:
  case ElementType::S8:
  case ElementType::U8:
    return 8;
  case ElementType::F16:
  case ElementType::BF16:
    return 16;
  case ElementType::TF32:
  case ElementType::F32:
  case ElementType::S32:
    return 32;
  case ElementType::F64:
    return 64;
  }
  llvm_unreachable("covered switch");
}

llvm::StringRef tcc::arch::name(MmaFamily family) {
  switch (family) {
  case MmaFamily::Wmma:
    return "wmma";
  case MmaFamily::MmaSync:
    return "mma_sync";
  case MmaFamily::Wgmma:
    return "wgmma";
  }
  llvm_unreachable("covered switch");
}

std::string MmaAtom::str() const {
  return llvm::formatv("{0} m{1}n{2}k{3} {4} x {5} -> {6}", name(family), m, n, k, name(a), name(b),
                       name(accumulator));
}

/// The plain forms of ldmatrix and of wgmma's descriptors transpose 16-bit elements only.
static bool transposesInShared(ElementType type) { return bitWidth(type) == 16; }

AtomRow tcc::arch::wmmaRow(unsigned from, unsigned m, unsigned n, unsigned k, ElementType type,
                           ElementType accumulator, unsigned ptxVersion) {
  return {{from},
          {MmaFamily::Wmma, m, n, k, /*nStep=*/n, type, type, accumulator, Place::Register,
           Place::Register, FragmentKind::Opaque, Dense | Padded, /*readsTransposed=*/true,
           ptxVersion}};
}

AtomRow tcc::arch::mmaSyncRow(unsigned from, unsigned m, unsigned n, unsigned k, ElementType type,
                              ElementType accumulator, unsigned ptxVersion) {
  return {{from},
          {MmaFamily::MmaSync, m, n, k, /*nStep=*/n, type, type, accumulator, Place::Register,
           Place::Register, FragmentKind::Mma, Dense | Padded | Swizzled, transposesInShared(type),
           ptxVersion}};
}

AtomRow tcc::arch::wgmmaRow(unsigned k, ElementType type, ElementType accumulator) {
  // Operands from registers are legal for A, but shared memory is what tcc uses.
  return {{90, Availability::Kind::OnlyArchSpecific},
          {MmaFamily::Wgmma, 64, 256, k, /*nStep=*/8, type, type, accumulator, Place::Shared,
           Place::Shared, FragmentKind::Mma, Swizzled, transposesInShared(type),
           /*ptxVersion=*/80}};
}
