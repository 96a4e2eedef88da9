//===- Instructions.cpp - What instructions ask of chip and PTX version ---===//

#include "Instructions.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace tcc::arch;
using llvm::StringRef;

namespace {
/// A family of instructions by the beginning of their names. The first row that fits counts.
struct FamilyRow {
  llvm::StringLiteral prefix;
  Feature feature;
  /// For members that came later than the family, else 0.
  unsigned ptxVersion = 0;
};

/// A dense matrix instruction, taken apart.
struct MatrixName {
  MmaFamily family;
  unsigned m, n, k;
  ElementType element;
  /// Only an accumulator is moved: the instruction exists with any element type of the shape.
  bool accumulatorOnly = false;
};
} // namespace

// Intrinsics spell ".try_wait" as ".try.wait" and name conversions by their types, hence two rows
// for some families.
static constexpr FamilyRow families[] = {
    {"barrier.cluster", Feature::Cluster},
    {"mapa", Feature::Cluster},
    {"st.async", Feature::Cluster, 81},
    {"red.async", Feature::Cluster, 81},
    {"getctarank", Feature::Cluster},
    {"is_explicit_cluster", Feature::Cluster},
    {"isspacep.shared.cluster", Feature::Cluster},
    {"read.ptx.sreg.cluster", Feature::Cluster},
    {"read.ptx.sreg.nclusterid", Feature::Cluster},
    {"cp.async.bulk.tensor.g2s.cta", Feature::Tma, 86},
    {"cp.async.bulk", Feature::Tma},
    {"cp.reduce.async.bulk", Feature::Tma},
    {"prefetch.tensormap", Feature::Tma},
    {"cp.async", Feature::CpAsync},
    {"ldmatrix", Feature::LdMatrix},
    {"movmatrix", Feature::MovMatrix},
    {"stmatrix", Feature::StMatrix},
    {"mbarrier.try", Feature::MBarrierTryWait},
    {"mbarrier.arrive.expect", Feature::MBarrierExpectTx},
    {"mbarrier.arrive.drop.expect", Feature::MBarrierExpectTx},
    {"mbarrier.arrive.relaxed", Feature::MBarrierExpectTx},
    {"mbarrier.arrive.drop.relaxed", Feature::MBarrierExpectTx},
    {"mbarrier.arrive.release", Feature::MBarrierExpectTx},
    {"mbarrier.arrive.scope", Feature::MBarrierExpectTx},
    {"mbarrier.arrive.drop.scope", Feature::MBarrierExpectTx},
    {"mbarrier.expect", Feature::MBarrierExpectTx},
    {"mbarrier.complete", Feature::MBarrierExpectTx},
    {"mbarrier", Feature::MBarrier},
    {"fence.proxy.tensormap", Feature::FenceProxyAsync, 83},
    {"fence.proxy", Feature::FenceProxyAsync},
    {"fence.mbarrier_init", Feature::FenceProxyAsync},
    {"elect", Feature::ElectSync},
    {"setmaxnreg", Feature::SetMaxRegisters},
    {"wgmma", Feature::Wgmma},
    {"griddepcontrol", Feature::GridDependency},
    {"ff2bf16x2", Feature::ConvertToBf16},
    {"f2bf16", Feature::ConvertToBf16},
    {"cvt.rn.bf16", Feature::ConvertToBf16},
    {"bf2h", Feature::ConvertFromBf16},
    {"cvt.f32.bf16", Feature::ConvertFromBf16},
    {"f2tf32.rna", Feature::ConvertToTf32},
    {"cvt.rna.tf32", Feature::ConvertToTf32},
    {"ff.to.e4m3x2", Feature::ConvertFp8},
    {"ff.to.e5m2x2", Feature::ConvertFp8},
    {"f16x2.to.e", Feature::ConvertFp8},
    {"e4m3x2.to", Feature::ConvertFp8},
    {"e5m2x2.to", Feature::ConvertFp8},
    {"cvt.rn.satfinite.e", Feature::ConvertFp8},
    {"cvt.rn.f16x2.e", Feature::ConvertFp8},
    {"tanh.approx", Feature::TanhApprox},
    {"ex2.approx.f16", Feature::Ex2ApproxF16},
    {"ex2.approx.ftz.f16", Feature::Ex2ApproxF16},
    {"redux", Feature::ReduceSync},
};

/// Before 6.3 `.aligned` was implied and left out (PTX ISA, "wmma.load"); text with it is what
/// every reader expects.
static constexpr unsigned wmmaAligned = 63;

static std::optional<ElementType> elementType(StringRef word) {
  for (ElementType type : {ElementType::F16, ElementType::BF16, ElementType::TF32,
                           ElementType::E4M3, ElementType::E5M2, ElementType::S8, ElementType::U8,
                           ElementType::F64, ElementType::F32, ElementType::S32})
    if (name(type) == word)
      return type;
  return std::nullopt;
}

/// "m16n8k16".
static bool readShape(StringRef word, MatrixName &matrix) {
  return word.consume_front("m") && !word.consumeInteger(10, matrix.m) && word.consume_front("n") &&
         !word.consumeInteger(10, matrix.n) && word.consume_front("k") &&
         !word.consumeInteger(10, matrix.k) && word.empty();
}

/// Takes apart `mma.m16n8k16.row.col.bf16`, `mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32`,
/// `wmma.m16n16k16.load.a.row.stride.f16.p3` and their kin. Sparse, block-scaled and sub-byte forms
/// give none.
static std::optional<MatrixName> readMatrixName(StringRef name) {
  MatrixName matrix;
  if (name.consume_front("wmma."))
    matrix.family = MmaFamily::Wmma;
  else if (name.consume_front("mma."))
    matrix.family = MmaFamily::MmaSync;
  else
    return std::nullopt;

  // The element type stands among accumulator types; f16 intrinsics name nothing but those.
  std::optional<ElementType> element;
  bool shaped = false;
  for (StringRef word : llvm::split(name, '.')) {
    if (!shaped && readShape(word, matrix)) {
      shaped = true;
    } else if (word == "c" || word == "d" || word == "store") {
      matrix.accumulatorOnly = true;
    } else if (word.starts_with("sp") || word == "block" || word == "block_scale" ||
               word == "popc" || word == "s4" || word == "u4" || word == "b1" || word == "e3m2" ||
               word == "e2m3" || word == "e2m1") {
      return std::nullopt;
    } else if (auto type = elementType(word)) {
      bool accumulator = *type == ElementType::F32 || *type == ElementType::S32;
      if (!accumulator && (!element || *element == ElementType::F16))
        element = type;
    }
  }
  if (!shaped)
    return std::nullopt;
  matrix.element = element.value_or(ElementType::F16);
  return matrix;
}

static llvm::Expected<unsigned> requireMatrix(const MatrixName &matrix, const Chip &chip) {
  std::string shapes;
  for (const MmaAtom &atom : chip.mmaAtoms()) {
    if (atom.family != matrix.family)
      continue;
    bool sameShape = atom.m == matrix.m && atom.n == matrix.n && atom.k == matrix.k;
    bool sameType = matrix.accumulatorOnly || atom.a == matrix.element;
    if (sameShape && sameType) {
      unsigned version = std::max(atom.ptxVersion, chip.ptxVersion());
      return matrix.family == MmaFamily::Wmma ? std::max(version, wmmaAligned) : version;
    }
    if (sameType && !StringRef(shapes).contains(atom.str()))
      shapes += (shapes.empty() ? "" : ", ") + atom.str();
  }
  auto wanted = llvm::formatv("{0} m{1}n{2}k{3} on {4} elements", name(matrix.family), matrix.m,
                              matrix.n, matrix.k, name(matrix.element));
  if (!shapes.empty())
    return llvm::createStringError(
        llvm::formatv("{0} has no {1}; it has {2}", chip.name(), wanted, shapes));
  std::string others = chipsWithAtom(matrix.family, matrix.element);
  return llvm::createStringError(
      llvm::formatv("{0} has no {1}; {2}", chip.name(), wanted,
                    others.empty() ? "no chip has" : "such instructions are on " + others));
}

llvm::Expected<unsigned> mlir::tcc::requiredPTXVersion(StringRef name, const Chip &chip) {
  if (std::optional<MatrixName> matrix = readMatrixName(name))
    return requireMatrix(*matrix, chip);
  for (const FamilyRow &row : families) {
    if (!name.starts_with(row.prefix))
      continue;
    if (llvm::Error error = chip.require(row.feature))
      return std::move(error);
    return std::max({chip.ptxVersion(), info(row.feature).ptxVersion, row.ptxVersion});
  }
  return chip.ptxVersion();
}

bool mlir::tcc::isCollective(StringRef name) {
  // PTX says so in the mnemonic; the names of some intrinsics leave it out.
  if (name.contains(".sync") || name.contains(".aligned"))
    return true;
  return llvm::any_of(llvm::ArrayRef<StringRef>{"wmma.", "mma.", "barrier.", "shfl.", "vote.",
                                                "redux.", "setmaxnreg.", "tcgen05."},
                      [&](StringRef prefix) { return name.starts_with(prefix); });
}

llvm::SmallVector<StringRef> mlir::tcc::mnemonicsOf(StringRef assembly) {
  llvm::SmallVector<StringRef> mnemonics;
  while (!assembly.empty()) {
    size_t end = assembly.find_first_of(";{}\n");
    StringRef statement = assembly.take_front(end).trim();
    assembly = end == StringRef::npos ? "" : assembly.drop_front(end + 1);
    if (statement.consume_front("@")) // a predicate
      statement = statement.drop_until(llvm::isSpace).trim();
    // Directives (.reg), labels and operands of a statement that a brace has split.
    if (statement.empty() || !llvm::isAlpha(statement.front()) || statement.ends_with(":"))
      continue;
    mnemonics.push_back(statement.take_until(llvm::isSpace));
  }
  return mnemonics;
}

std::string mlir::tcc::ptxVersionString(unsigned version) {
  return llvm::formatv("{0}.{1}", version / 10, version % 10);
}
