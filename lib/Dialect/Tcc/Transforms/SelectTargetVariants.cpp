//===- SelectTargetVariants.cpp - Variants of a kernel by alignment -------===//

#include "SelectTargetVariants.h"
#include "Kernel.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

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
    SmallVector<int64_t> strides;
    int64_t offset;
    (void)type.getStridesAndOffset(strides, offset); // the analysis saw to it
    name = problem.argumentNames[argument];
    elementBytes = getElementBytes(type.getElementType());
    strideDim = 1 - *getUnitStrideDim(type);
    stride = strides[strideDim];
  }

  /// False if rows can't be aligned to `bytes` whatever the launch.
  bool mayBeAligned(int64_t bytes) const {
    return ShapedType::isDynamic(stride) || stride * elementBytes % bytes == 0;
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

/// M > 0, N > 0, K > 0, as far as they aren't known.
static void addSizePreconditions(const Problem &problem, SmallVectorImpl<std::string> &conditions) {
  for (auto [size, name] : llvm::zip(problem.sizes, problem.axisNames))
    if (ShapedType::isDynamic(size))
      conditions.push_back(name + " > 0");
}

SmallVector<Variant> mlir::tcc::enumerateVariants(func::FuncOp func, const Problem &problem,
                                                  Transport transport, ArrayRef<int64_t> atMost) {
  RowFacts lhs(func, problem, problem.lhs.argument), rhs(func, problem, problem.rhs.argument);
  SmallVector<RowFacts, 1> outputs;
  int64_t outputBytes = 16;
  for (const Problem::Output &output : problem.outputs) {
    outputs.emplace_back(func, problem, output.argument);
    outputBytes = std::min(outputBytes, outputs.back().elementBytes);
  }
  int64_t inputBytes = lhs.elementBytes;

  // A narrow store costs little; a narrow copy much, and below 4 bytes cp.async can't make it.
  SmallVector<Variant> candidates = {
      {"align16", {16, 16, 16}, transport, {}},
      {"align16_narrow_store", {16, 16, outputBytes}, transport, {}}};
  if (transport != Transport::Register)
    candidates.push_back({"align4", {4, 4, outputBytes}, Transport::CpAsync, {}});
  candidates.push_back({"align" + std::to_string(inputBytes),
                        {inputBytes, inputBytes, outputBytes},
                        Transport::Register,
                        {}});

  SmallVector<Variant> variants;
  for (Variant &variant : candidates) {
    std::array<int64_t, 3> least = {inputBytes, inputBytes, outputBytes};
    for (auto [bytes, cap, element] : llvm::zip(variant.alignment, atMost, least))
      bytes = std::max(element, std::min(bytes, cap));
    auto [a, b, c] = variant.alignment;
    // PTX ISA, cp.async: 4, 8 or 16 bytes.
    if (variant.transport == Transport::CpAsync && std::min(a, b) < 4)
      continue;
    // A tensor map has rows aligned to 16 bytes, and no empty dimension (cuTensorMapEncodeTiled).
    if (variant.transport == Transport::Tma &&
        (std::min(a, b) < 16 || llvm::is_contained(problem.sizes, 0)))
      continue;
    bool outputsMayBe = llvm::all_of(outputs, [c = c](auto &row) { return row.mayBeAligned(c); });
    if (!lhs.mayBeAligned(a) || !rhs.mayBeAligned(b) || !outputsMayBe)
      continue;
    if (!variants.empty()) {
      const Variant &wider = variants.back();
      // Aligned by their strides: only odd pointers would need the narrower form, and those the
      // last variant takes.
      bool isLast = &variant == &candidates.back();
      bool inputsHold =
          lhs.strideIsAligned(wider.alignment[0]) && rhs.strideIsAligned(wider.alignment[1]);
      bool outputsHold =
          llvm::all_of(outputs, [&](auto &row) { return row.strideIsAligned(wider.alignment[2]); });
      bool sameInputs = a == wider.alignment[0] && b == wider.alignment[1];
      if (!isLast && (sameInputs ? outputsHold : inputsHold))
        continue;
      if (variant.alignment == wider.alignment && variant.transport == wider.transport)
        continue;
    }
    lhs.addPreconditions(a, variant.preconditions);
    rhs.addPreconditions(b, variant.preconditions);
    for (const RowFacts &row : outputs)
      row.addPreconditions(c, variant.preconditions);
    if (variant.transport == Transport::Tma)
      addSizePreconditions(problem, variant.preconditions);
    variants.push_back(variant);
    if (variants.back().preconditions.empty())
      break;
  }
  return variants;
}
