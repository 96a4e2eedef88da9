//===- SplitSlabs.cpp - Matmuls of one atom's K (L3g) ---------------------===//

#include "Kernel.h"
#include "tcc/Dialect/Tcc/Transforms/Passes.h"

namespace mlir::tcc {
#define GEN_PASS_DEF_SPLITSLABSPASS
#include "tcc/Dialect/Tcc/Transforms/Passes.h.inc"
} // namespace mlir::tcc

using namespace mlir;
using namespace mlir::tcc;

namespace {

/// The operand tiles of one step.
struct StepOperands {
  Value lhs, rhs;
};

} // namespace

/// The part of a slab's load that begins at `step` atoms along K.
static FailureOr<Value> loadStep(OpBuilder &builder, LocalLoadOp slab, unsigned kDim,
                                 int64_t extent, int64_t step) {
  RankedTensorType type = slab.getResult().getType();
  SmallVector<int64_t> shape(type.getShape());
  shape[kDim] = extent;
  SmallVector<int64_t> offsets(slab.getOffsets());
  offsets[kDim] += step * extent;
  auto part = RankedTensorType::getChecked([&] { return slab.emitOpError(); }, shape,
                                           type.getElementType(), type.getEncoding());
  if (!part)
    return failure();
  return LocalLoadOp::create(builder, slab.getLoc(), part, slab.getSource(), slab.getSlot(),
                             builder.getDenseI64ArrayAttr(offsets))
      .getResult();
}

// %a = local_load; %b = local_load; %d = matmul %a, %b, %c
//   →  %a0, %b0;  %a1, %b1;  %d0 = matmul %a0, %b0, %c;  %a2, %b2;  %d1 = matmul %a1, %b1, %d0; …
static LogicalResult splitMatmul(MatmulOp matmul) {
  auto lhs = matmul.getLhs().getDefiningOp<LocalLoadOp>();
  auto rhs = matmul.getRhs().getDefiningOp<LocalLoadOp>();
  auto fragment = dyn_cast_or_null<FragmentAttr>(matmul.getAcc().getType().getEncoding());
  if (!lhs || !rhs || !fragment)
    return matmul.emitOpError()
           << "expects operands from tcc.local_load, and fragments (L3.4): run "
              "tcc-assign-fragments first";
  int64_t atomK = fragment.getShape()[2];
  int64_t slabK = lhs.getResult().getType().getDimSize(1);
  if (slabK % atomK != 0)
    return matmul.emitOpError() << "expects a slab of a multiple of the atom's k of " << atomK
                                << ", found " << slabK;
  int64_t steps = slabK / atomK;
  if (steps == 1)
    return success();

  OpBuilder builder(matmul);
  auto load = [&](int64_t step) -> FailureOr<StepOperands> {
    FailureOr<Value> a = loadStep(builder, lhs, 1, atomK, step);
    FailureOr<Value> b = loadStep(builder, rhs, 0, atomK, step);
    if (failed(a) || failed(b))
      return failure();
    return StepOperands{*a, *b};
  };
  FailureOr<StepOperands> current = load(0);
  Value acc = matmul.getAcc();
  for (int64_t step = 0; step < steps && succeeded(current); ++step) {
    // The next step's loads come first: they take longer than a matmul and run beside it.
    FailureOr<StepOperands> next = step + 1 < steps ? load(step + 1) : current;
    acc = MatmulOp::create(builder, matmul.getLoc(), current->lhs, current->rhs, acc);
    current = next;
  }
  if (failed(current))
    return failure();
  matmul.getResult().replaceAllUsesWith(acc);
  matmul.erase();
  for (LocalLoadOp slab : {lhs, rhs})
    if (slab->use_empty())
      slab.erase();
  return success();
}

static LogicalResult splitKernel(func::FuncOp kernel) {
  FailureOr<MatmulLoop> program = findMatmulLoop(kernel);
  if (failed(program))
    return failure();
  for (MatmulOp matmul : program->matmuls) {
    // An atom that reads shared memory takes the slab as it is.
    if (isa<SharedType>(matmul.getLhs().getType()) && isa<SharedType>(matmul.getRhs().getType()))
      continue;
    if (failed(splitMatmul(matmul)))
      return failure();
  }
  return success();
}

namespace {

struct SplitSlabsPass : mlir::tcc::impl::SplitSlabsPassBase<SplitSlabsPass> {
  void runOnOperation() override {
    if (failed(transformKernels(getOperation(), getArgument(), Level::L3g, splitKernel)))
      signalPassFailure();
  }
};

} // namespace
