//===- SelectTargetVariants.cpp - Variants of a kernel by alignment -------===//

#include "SelectTargetVariants.h"
#include "Kernel.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <numeric>
#include <optional>

using namespace mlir;
using namespace mlir::tcc;

namespace {
/// What is known of a matrix's rows (columns, if column-major).
struct RowFacts {
  std::string name;
  int64_t elementBytes;
  /// In elements; kDynamic if not known.
  int64_t stride;
  unsigned strideDim;

  RowFacts(func::FuncOp func, const Problem &problem, unsigned argument) {
    auto type = cast<MemRefType>(func.getArgument(argument).getType());
    name = problem.argumentNames[argument];
    elementBytes = getElementBytes(type.getElementType());
    strideDim = 1 - *getUnitStrideDim(type);
    stride = getStrides(type)[strideDim];
  }

  /// False if rows can't be aligned to `bytes` whatever the launch.
  bool mayBeAligned(int64_t bytes) const {
    return ShapedType::isDynamic(stride) || stride * elementBytes % bytes == 0;
  }
  /// What a known stride aligns rows to, 16 bytes at most, where the pointer is.
  std::optional<int64_t> strideAlignment() const {
    if (ShapedType::isDynamic(stride))
      return std::nullopt;
    return std::gcd(stride * elementBytes, int64_t(16));
  }
  /// True if the stride's part of the alignment is known to hold.
  bool strideIsAligned(int64_t bytes) const {
    return !ShapedType::isDynamic(stride) && stride * elementBytes % bytes == 0;
  }
  void addPreconditions(int64_t bytes, SmallVectorImpl<std::string> &conditions) const {
    if (bytes <= elementBytes)
      return;
    conditions.push_back(llvm::formatv("{0}.ptr % {1} == 0", name, bytes));
    if (ShapedType::isDynamic(stride))
      conditions.push_back(
          llvm::formatv("{0}.stride{1} * {2} % {3} == 0", name, strideDim, elementBytes, bytes));
  }
};
} // namespace

namespace {
class VariantEnumerator {
public:
  VariantEnumerator(func::FuncOp func, const Problem &problem, Epilogue epilogue)
      : problem(problem), epilogue(epilogue), lhs(func, problem, problem.lhs.argument),
        rhs(func, problem, problem.rhs.argument) {
    for (const Problem::Output &output : problem.outputs) {
      outputs.emplace_back(func, problem, output.argument);
      least[2] = std::min(least[2], outputs.back().elementBytes);
    }
    least[0] = least[1] = lhs.elementBytes;
  }

  SmallVector<Variant> run(Transport transport, ArrayRef<int64_t> atMost);

private:
  SmallVector<Variant> candidates(Transport transport, ArrayRef<int64_t> atMost);
  bool isPossible(const Variant &variant);
  bool isSuperfluous(const Variant &variant, const Variant &wider, bool isLast);
  void addPreconditions(Variant &variant);

  const Problem &problem;
  Epilogue epilogue;
  RowFacts lhs, rhs;
  SmallVector<RowFacts, 1> outputs;
  /// Bytes of the elements of A, B and (the narrowest) C.
  std::array<int64_t, 3> least = {16, 16, 16};
};
} // namespace

/// A narrow store costs little; narrow copies do, and below 4 bytes cp.async can't make them.
SmallVector<Variant> VariantEnumerator::candidates(Transport transport, ArrayRef<int64_t> atMost) {
  SmallVector<Variant> all = {{"align16", {16, 16, 16}, transport, {}},
                              {"align16_narrow_store", {16, 16, least[2]}, transport, {}}};
  Transport narrow = transport == Transport::Tma ? Transport::CpAsync : transport;
  // Known strides may align one operand's rows better than the other's.
  std::optional<int64_t> a = lhs.strideAlignment(), b = rhs.strideAlignment();
  if (a && b && *a != *b)
    all.push_back({llvm::formatv("align{0}x{1}", *a, *b).str(),
                   {*a, *b, least[2]},
                   std::min(*a, *b) < 4 ? Transport::Register : narrow,
                   {}});
  for (int64_t bytes : {8, 4})
    all.push_back({"align" + std::to_string(bytes), {bytes, bytes, least[2]}, narrow, {}});
  all.push_back({"align" + std::to_string(least[0]), least, Transport::Register, {}});
  for (Variant &variant : all)
    for (auto [bytes, cap, element] : llvm::zip(variant.alignment, atMost, least))
      bytes = std::max(element, std::min(bytes, cap));
  return all;
}

bool VariantEnumerator::isPossible(const Variant &variant) {
  auto [a, b, c] = variant.alignment;
  int64_t inputs = std::min(a, b);
  // PTX ISA, cp.async: 4, 8 or 16 bytes.
  if (variant.transport == Transport::CpAsync && inputs < 4)
    return false;
  // A tensor map has rows aligned to 16 bytes, and no empty dimension (cuTensorMapEncodeTiled).
  if (variant.transport == Transport::Tma && (inputs < 16 || llvm::is_contained(problem.sizes, 0)))
    return false;
  return lhs.mayBeAligned(a) && rhs.mayBeAligned(b) &&
         llvm::all_of(outputs, [c = c](auto &row) { return row.mayBeAligned(c); });
}

/// Where strides are aligned, only odd pointers need a narrower form than `wider`, and those the
/// last variant takes.
bool VariantEnumerator::isSuperfluous(const Variant &variant, const Variant &wider, bool isLast) {
  if (variant.alignment == wider.alignment && variant.transport == wider.transport)
    return true;
  if (isLast)
    return false;
  auto [a, b, c] = wider.alignment;
  if (variant.alignment[0] != a || variant.alignment[1] != b)
    return lhs.strideIsAligned(a) && rhs.strideIsAligned(b);
  return llvm::all_of(outputs, [c = c](auto &row) { return row.strideIsAligned(c); });
}

void VariantEnumerator::addPreconditions(Variant &variant) {
  auto [a, b, c] = variant.alignment;
  lhs.addPreconditions(a, variant.preconditions);
  rhs.addPreconditions(b, variant.preconditions);
  for (const RowFacts &row : outputs)
    row.addPreconditions(c, variant.preconditions);
  // TMA stores whole pieces of 16 bytes: the last one of a row would reach into the padding.
  if (epilogue == Epilogue::Tma && c == 16 && ShapedType::isDynamic(problem.sizes[1]))
    for (const RowFacts &row : outputs)
      variant.preconditions.push_back(
          llvm::formatv("{0} * {1} % 16 == 0", problem.axisNames[1], row.elementBytes));
  if (variant.transport == Transport::Tma)
    for (auto [size, name] : llvm::zip(problem.sizes, problem.axisNames))
      if (ShapedType::isDynamic(size))
        variant.preconditions.push_back(name + " > 0");
}

SmallVector<Variant> VariantEnumerator::run(Transport transport, ArrayRef<int64_t> atMost) {
  SmallVector<Variant> all = candidates(transport, atMost), variants;
  for (Variant &variant : all) {
    if (!isPossible(variant))
      continue;
    if (!variants.empty() && isSuperfluous(variant, variants.back(), &variant == &all.back()))
      continue;
    addPreconditions(variant);
    variants.push_back(variant);
    if (variant.preconditions.empty())
      break;
  }
  return variants;
}

SmallVector<Variant> mlir::tcc::enumerateVariants(func::FuncOp func, const Problem &problem,
                                                  ScheduleAttr schedule) {
  return VariantEnumerator(func, problem, schedule.getEpilogue())
      .run(schedule.getTransport(), schedule.getAlignment());
}
