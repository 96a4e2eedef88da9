//===- UnusedChoices.cpp - What of a written schedule no variant can use --===//

#include "UnusedChoices.h"
#include "Kernel.h"
#include "NearestSchedule.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::tcc;

namespace {
/// A choice and how it needs the rows of some matrices aligned.
struct Need {
  StringRef choice;
  int64_t bytes;
};
} // namespace

/// Notes what keeps rows of a matrix from being aligned as a choice needs.
static void noteRows(InFlightDiagnostic &warning, func::FuncOp func, const Problem &problem,
                     unsigned argument, Need need) {
  auto type = cast<MemRefType>(func.getArgument(argument).getType());
  unsigned contiguous = *getUnitStrideDim(type);
  int64_t stride = getStrides(type)[1 - contiguous];
  int64_t elementBytes = getElementBytes(type.getElementType());
  if (ShapedType::isDynamic(stride) || stride * elementBytes % need.bytes == 0)
    return;
  StringRef rows = contiguous == 1 ? "rows" : "columns";
  warning.attachNote(func.getArgument(argument).getLoc())
      << rows << " of " << problem.argumentNames[argument] << " are " << stride * elementBytes
      << " bytes apart, but " << need.choice << " needs a multiple of " << need.bytes << ": pad "
      << "them to " << llvm::alignTo(stride * elementBytes, need.bytes) / elementBytes
      << " elements";
}

static void noteCap(InFlightDiagnostic &warning, func::FuncOp func, ScheduleAttr written,
                    ArrayRef<Operand> operands, Need need) {
  if (written.getAlignment().empty() || llvm::all_of(operands, [&](Operand operand) {
        return written.getAlignmentOf(operand) >= need.bytes;
      }))
    return;
  warning.attachNote(func.getLoc())
      << "the schedule's alignment = [" << written.getAlignment() << "] allows accesses of fewer "
      << "bytes than the " << need.bytes << " that " << need.choice << " needs";
}

static InFlightDiagnostic warnOf(func::FuncOp func, StringRef choice, ScheduleAttr written,
                                 ScheduleAttr first) {
  return emitWarning(func.getLoc())
         << "no variant can use the schedule's " << choice << "; the first one has instead: "
         << describeChanges(written.getFields(), first.getFields())
         << "; write that, or mend what the notes say";
}

void mlir::tcc::warnOfUnusedChoices(func::FuncOp func, const Problem &problem,
                                    ScheduleAttr written, ArrayRef<ScheduleAttr> used) {
  Transport transport = written.getTransport();
  if (llvm::none_of(used, [&](ScheduleAttr one) { return one.getTransport() == transport; })) {
    std::string choice = ("transport = " + stringifyTransport(transport)).str();
    // PTX ISA, cp.async: 4, 8 or 16 bytes. cuTensorMapEncodeTiled: strides of 16, no empty
    // dimension.
    bool isTma = transport == Transport::Tma;
    Need need = {stringifyTransport(transport), isTma ? 16 : 4};
    InFlightDiagnostic warning = warnOf(func, choice, written, used.front());
    for (unsigned argument : {problem.lhs.argument, problem.rhs.argument})
      noteRows(warning, func, problem, argument, need);
    noteCap(warning, func, written, {Operand::A, Operand::B}, need);
    for (auto [size, name] : llvm::zip(problem.sizes, problem.axisNames))
      if (isTma && size == 0)
        warning.attachNote(func.getLoc()) << name << " is 0, and tma copies no empty matrices";
    return;
  }
  Epilogue epilogue = written.getEpilogue();
  if (llvm::any_of(used, [&](ScheduleAttr one) { return one.getEpilogue() == epilogue; }))
    return;
  std::string choice = ("epilogue = " + stringifyEpilogue(epilogue)).str();
  InFlightDiagnostic warning = warnOf(func, choice, written, used.front());
  for (const Problem::Output &output : problem.outputs)
    noteRows(warning, func, problem, output.argument, {choice, 16});
}
