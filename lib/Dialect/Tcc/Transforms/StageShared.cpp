//===- StageShared.cpp - Operands through shared memory (L1 to L2) --------===//

#include "EpilogueSlices.h"
#include "Kernel.h"
#include "Target.h"
#include "tcc/Dialect/Tcc/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::tcc {
#define GEN_PASS_DEF_STAGESHAREDPASS
#include "tcc/Dialect/Tcc/Transforms/Passes.h.inc"
} // namespace mlir::tcc

using namespace mlir;
using namespace mlir::tcc;

/// The widest access up to `alignment` bytes that runs along `extent` elements without a rest.
static int64_t getAccessBytes(int64_t alignment, int64_t extent, Type element) {
  int64_t elementBytes = getElementBytes(element);
  int64_t bytes = std::min<int64_t>(alignment, 16);
  while (bytes > elementBytes && extent * elementBytes % bytes != 0)
    bytes /= 2;
  return std::max(bytes, elementBytes);
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

/// Some copies are only there for wider rows.
static LogicalResult checkTransport(LoadOp load, Transport transport, Operand operand,
                                    int64_t bytes) {
  int64_t least = transport == Transport::CpAsync ? 4 : transport == Transport::Tma ? 16 : 1;
  if (bytes >= least)
    return success();
  return load.emitOpError() << "can't be copied by " << stringifyTransport(transport)
                            << ", which moves at least " << least
                            << " bytes: the schedule aligns the rows of operand '"
                            << stringifyOperand(operand) << "' so that " << bytes
                            << " bytes can be moved at once; use transport = register";
}

// %a = tcc.load %A[…]   →   tcc.copy <transport> %A[…], %sa;  %a = tcc.local_load %sa
static LogicalResult stageOperand(OpOperand &use, Operand operand, ScheduleAttr schedule,
                                  Block *allocBlock) {
  auto matmul = cast<MatmulOp>(use.getOwner());
  auto load = use.get().getDefiningOp<LoadOp>();
  if (!load || load->getBlock() != matmul->getBlock())
    return matmul.emitOpError() << "expects operand '" << stringifyOperand(operand)
                                << "' to be a tcc.load in the same loop (L1.3)";
  FailureOr<unsigned> contiguous = requireUnitStrideDim(load, load.getSource().getType());
  if (failed(contiguous))
    return failure();
  RankedTensorType tile = load.getResult().getType();
  int64_t bytes = getAccessBytes(schedule.getAlignmentOf(operand), tile.getDimSize(*contiguous),
                                 tile.getElementType());
  if (failed(checkTransport(load, schedule.getTransport(), operand, bytes)))
    return failure();

  OpBuilder builder = OpBuilder::atBlockBegin(allocBlock);
  auto bufferType = SharedType::get(builder.getContext(), tile.getShape(), tile.getElementType(),
                                    /*stages=*/1, /*layout=*/{});
  // Keep the buffers in the order of the operands.
  while (isa<AllocSharedOp>(*builder.getInsertionPoint()))
    builder.setInsertionPointAfter(&*builder.getInsertionPoint());
  Value buffer = AllocSharedOp::create(builder, load.getLoc(), bufferType);

  builder.setInsertionPointAfter(load);
  // TMA always brings zeros.
  IntegerAttr clamp;
  if (schedule.getTransport() != Transport::Tma)
    clamp = builder.getI64IntegerAttr(operand == Operand::A ? 0 : 1);
  auto copy = CopyOp::create(builder, load.getLoc(), schedule.getTransport(), load.getSource(),
                             load.getOffsets(), buffer, /*slot=*/Value(), bytes, clamp);
  // Blocks with the same rows of A lie along N, those with the same columns of B along M.
  unsigned along = operand == Operand::A ? 1 : 0;
  if ((along == 1 ? schedule.getClusterN() : schedule.getClusterM()) > 1)
    copy.setMulticast(along);
  if (schedule.getMma() == MmaFamily::Wgmma) {
    use.set(buffer);
  } else {
    builder.setInsertionPoint(matmul);
    use.set(LocalLoadOp::create(builder, load.getLoc(), tile, buffer, Value(),
                                builder.getDenseI64ArrayAttr({0, 0})));
  }
  if (load->use_empty())
    load.erase();
  return success();
}

//===----------------------------------------------------------------------===//
// The epilogue's accesses
//===----------------------------------------------------------------------===//

/// Elements that a thread holds next to each other in a row when it stores. In an accumulator
/// fragment that is 2 (PTX ISA, "Matrix Fragments for mma.m16n8k16"; wgmma's D repeats it); rows
/// from the staging buffer are dealt in 16 bytes of the wider of staged and stored elements.
static int64_t getEpilogueVector(Epilogue epilogue, Type stored) {
  if (epilogue != Epilogue::Shared)
    return 2;
  constexpr int64_t stagedBytes = 4;
  return 16 / std::max(stagedBytes, getElementBytes(stored));
}

/// Writes `bytes` on the stores after the loop, and on loads of the matrix that is stored. The
/// schedule knows the alignment of C alone: with several outputs, each gets single elements.
static LogicalResult setEpilogueBytes(MatmulLoop &program, ScheduleAttr schedule) {
  Block *body = program.loop->getBlock();
  SmallPtrSet<Value, 2> outputs;
  for (auto store : body->getOps<StoreOp>())
    outputs.insert(store.getDest());

  auto widthFor = [&](Operation *op, MemRefType matrix,
                      RankedTensorType tile) -> FailureOr<IntegerAttr> {
    FailureOr<unsigned> contiguous = requireUnitStrideDim(op, matrix);
    if (failed(contiguous))
      return failure();
    Type element = tile.getElementType();
    if (!element.isIntOrFloat())
      return op->emitOpError() << "expects integers or floating-point numbers, found " << element;
    int64_t bytes = getElementBytes(element);
    if (outputs.size() == 1 && tile.getRank() == 2 && *contiguous == 1) {
      int64_t vector = getEpilogueVector(schedule.getEpilogue(), element);
      bytes = getAccessBytes(std::min(schedule.getAlignmentOf(Operand::C), vector * bytes),
                             tile.getDimSize(1), element);
    }
    return IntegerAttr::get(IntegerType::get(op->getContext(), 64), bytes);
  };
  for (Operation &op : *body) {
    if (auto store = dyn_cast<StoreOp>(op)) {
      FailureOr<IntegerAttr> bytes =
          widthFor(store, store.getDest().getType(), store.getValue().getType());
      if (failed(bytes))
        return failure();
      store.setBytesAttr(*bytes);
    } else if (auto load = dyn_cast<LoadOp>(op)) {
      FailureOr<IntegerAttr> bytes =
          widthFor(load, load.getSource().getType(), load.getResult().getType());
      if (failed(bytes))
        return failure();
      if (outputs.contains(load.getSource()))
        load.setBytesAttr(*bytes);
    }
  }
  return success();
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

static LogicalResult checkEpilogue(func::FuncOp kernel, ScheduleAttr schedule) {
  if (schedule.getMma() == MmaFamily::Wmma && schedule.getEpilogue() == Epilogue::Direct)
    return kernel.emitError() << "the positions of elements in a wmma fragment are unspecified "
                                 "(PTX ISA, wmma): expects epilogue = shared in the schedule, "
                                 "found epilogue = direct";
  return success();
}

static LogicalResult stageKernel(func::FuncOp kernel) {
  FailureOr<ScheduleAttr> schedule = getSchedule(kernel);
  if (failed(schedule) || failed(checkEpilogue(kernel, *schedule)))
    return failure();
  FailureOr<MatmulLoop> program = findMatmulLoop(kernel);
  if (failed(program))
    return failure();
  if (program->matmuls.size() != 1)
    return program->matmuls[1].emitOpError() << "is a second matmul; expects one (L1.3)";
  auto forall = dyn_cast<scf::ForallOp>(program->loop->getParentOp());
  if (!forall)
    return program->loop.emitOpError() << "expects to stand in an scf.forall over tiles (L1.1)";

  MatmulOp matmul = program->matmuls.front();
  FailureOr<FragmentAttr> fragment =
      getFragment(kernel, *schedule, Operand::C, getElementTypeOrSelf(matmul.getLhs()));
  if (failed(fragment) ||
      failed(stageOperand(matmul.getLhsMutable(), Operand::A, *schedule, forall.getBody())) ||
      failed(stageOperand(matmul.getRhsMutable(), Operand::B, *schedule, forall.getBody())) ||
      failed(setEpilogueBytes(*program, *schedule)))
    return failure();
  bool isSliced = schedule->getEpilogue() != Epilogue::Direct || schedule->getSplitK() > 1 ||
                  hasEpilogueWork(*program);
  if (isSliced &&
      failed(sliceEpilogue(*program, *schedule, *fragment, forall.getBody())))
    return failure();
  setLevel(kernel, Level::L2);
  return success();
}

namespace {

struct StageSharedPass : mlir::tcc::impl::StageSharedPassBase<StageSharedPass> {
  void runOnOperation() override {
    if (failed(transformKernels(getOperation(), getArgument(), Level::L1, stageKernel)))
      signalPassFailure();
  }
};

} // namespace
