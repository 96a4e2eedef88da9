//===- LayoutShared.cpp - Where elements lie in shared memory (L2) --------===//

#include "Kernel.h"
#include "ScheduleLegality.h"
#include "SharedLayouts.h"
#include "tcc/Dialect/Tcc/Transforms/Passes.h"
#include "tcc/Dialect/Tcc/Transforms/RemarkCategories.h"

#include "mlir/IR/Remarks.h"

namespace mlir::tcc {
#define GEN_PASS_DEF_LAYOUTSHAREDPASS
#include "tcc/Dialect/Tcc/Transforms/Passes.h.inc"
} // namespace mlir::tcc

using namespace mlir;
using namespace mlir::tcc;
namespace support = ::tcc::support;

/// A copy moves whole runs of the matrix: the buffer's contiguous dimension is the matrix's. What
/// no copy fills is a staging buffer, which is read by rows.
static FailureOr<unsigned> getContiguousDim(AllocSharedOp alloc) {
  std::optional<unsigned> contiguous;
  for (Operation *user : alloc->getUsers()) {
    auto copy = dyn_cast<CopyOp>(user);
    if (!copy)
      continue;
    FailureOr<unsigned> dim = requireUnitStrideDim(copy, copy.getSource().getType());
    if (failed(dim))
      return failure();
    if (contiguous && *contiguous != *dim)
      return copy.emitOpError() << "expects all copies into a buffer to come from matrices with "
                                   "the same contiguous dimension";
    contiguous = *dim;
  }
  return contiguous.value_or(1);
}

static SharedLayoutAttr toAttr(MLIRContext *context, unsigned contiguous,
                               const support::SharedLayout &layout) {
  return SharedLayoutAttr::get(context, contiguous, layout.span(), layout.padBytes());
}

/// Says which layout a buffer got, and what it costs if bank conflicts are left.
static void explain(AllocSharedOp alloc, func::FuncOp kernel, const support::LayoutChoice &choice) {
  bool isFree = choice.consumerDegree == 1 && choice.copyDegree == 1;
  auto options = remark::RemarkOpts::name("SharedLayout")
                     .category(kLayoutSharedRemarks)
                     .function(kernel.getName());
  auto report =
      isFree ? remark::passed(alloc.getLoc(), options) : remark::missed(alloc.getLoc(), options);
  if (!report)
    return;
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << alloc.getType() << " is " << choice.layout.str();
  if (isFree)
    stream << ": free of bank conflicts";
  else
    stream << ": the worst access by fragments takes " << choice.consumerDegree
           << " times, by vectors " << choice.copyDegree
           << " times as long as without bank conflicts";
  report << text;
}

static LogicalResult layoutBuffer(AllocSharedOp alloc, func::FuncOp kernel, ScheduleAttr schedule) {
  FailureOr<unsigned> contiguous = getContiguousDim(alloc);
  if (failed(contiguous))
    return failure();
  SharedType type = alloc.getType();
  support::SharedTile tile = getSharedTile(type, *contiguous);
  support::SharedConsumer consumer = getConsumer(alloc, schedule.getMma());

  if (SharedLayoutAttr given = type.getLayout()) {
    if (given.getContiguous() != *contiguous)
      return alloc.emitOpError() << "expects dimension " << *contiguous
                                 << " to be contiguous, as in the matrix that is copied, found "
                                 << given;
    support::SharedLayout layout = toSupport(given);
    if (failed(checkSharedLayout(alloc, tile, layout, consumer)))
      return failure();
    explain(alloc, kernel, support::assessLayout(tile, layout, consumer));
    return success();
  }

  llvm::Expected<support::LayoutChoice> choice =
      support::chooseLayout(tile, consumer, getColumnParts(schedule.getFields()));
  if (!choice)
    return alloc.emitOpError() << "has no layout: " << llvm::toString(choice.takeError());
  alloc.getResult().setType(
      type.withLayout(toAttr(kernel.getContext(), *contiguous, choice->layout)));
  explain(alloc, kernel, *choice);
  return success();
}

static LogicalResult layoutKernel(func::FuncOp kernel) {
  FailureOr<ScheduleAttr> schedule = getSchedule(kernel);
  if (failed(schedule))
    return failure();
  WalkResult walk = kernel.walk(
      [&](AllocSharedOp alloc) { return WalkResult(layoutBuffer(alloc, kernel, *schedule)); });
  return failure(walk.wasInterrupted());
}

namespace {

struct LayoutSharedPass : mlir::tcc::impl::LayoutSharedPassBase<LayoutSharedPass> {
  void runOnOperation() override {
    if (failed(transformKernels(getOperation(), getArgument(), Level::L2, layoutKernel)))
      signalPassFailure();
  }
};

} // namespace
