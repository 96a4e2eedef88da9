//===- LowerTmaPipeline.cpp - Pipelines on mbarriers, and roles -------------------------===//
//
// A slot has two barriers. `full` counts one arrival, the producer's, and the bytes that TMA
// brings; `empty` counts an arrival of every consumer warp. Both sides wait for the phase that
// their state names: the producer for the other one, since all slots start empty (PTX ISA,
// "Parallel Synchronization and Communication Instructions: mbarrier").
//
//===------------------------------------------------------------------------------------===//

#include "LowerTmaPipeline.h"
#include "Kernel.h"
#include "MatrixArgument.h"
#include "TileDistribution.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/PatternMatch.h"
#include "tcc/Dialect/Tcc/IR/TccOps.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::tcc;

static constexpr int64_t barrierBytes = 8;
static constexpr int64_t threadsPerWarpgroup = 128;

namespace {

/// The barriers of a pipeline: a buffer of `stages` full ones, then as many empty ones.
class SlotBarriers {
public:
  SlotBarriers(TypedValue<SharedType> barriers, int64_t stages)
      : barriers(barriers), stages(stages) {}

  Value getFull(I32Builder &b, Value slot) const {
    return getPointer(b, b.mul(slot, barrierBytes));
  }
  Value getEmpty(I32Builder &b, Value slot) const {
    return getPointer(b, b.add(b.mul(slot, barrierBytes), stages * barrierBytes));
  }

private:
  Value getPointer(I32Builder &b, Value offset) const {
    auto type = LLVM::LLVMPointerType::get(b.builder.getContext(), 3);
    return SharedAddressOp::create(b.builder, b.loc, type, barriers, /*slot=*/Value(), offset);
  }

  TypedValue<SharedType> barriers;
  int64_t stages;
};

class TmaPipelineLowering {
public:
  explicit TmaPipelineLowering(func::FuncOp kernel)
      : kernel(kernel), rewriter(kernel.getContext()) {}

  LogicalResult run();

private:
  LogicalResult findConsumers();
  void createBarriers(CreatePipelineOp op);
  LogicalResult lower(Operation *step);
  void lower(ConsumerWaitOp op);
  void lower(ConsumerReleaseOp op);
  void lower(ProducerAcquireOp op);
  LogicalResult lower(TmaLoadOp op);
  void lower(WarpSpecializeOp op);

  /// The kernel's parameter for a tensor map of `box` elements of the matrix.
  FailureOr<Value> getTensorMap(TmaLoadOp op, unsigned unitDim);
  void waitForPhase(I32Builder &b, Value barrier, Value phase);
  void moveRole(Region &role);

  func::FuncOp kernel;
  IRRewriter rewriter;
  int64_t consumerWarps = 0;
  llvm::DenseMap<Value, SlotBarriers> barriers;
  SmallVector<std::pair<Attribute, Value>> tensorMaps;
};

} // namespace

LogicalResult TmaPipelineLowering::findConsumers() {
  WarpSpecializeOp roles;
  kernel.walk([&](WarpSpecializeOp op) {
    roles = op;
    return WalkResult::interrupt();
  });
  if (roles) {
    consumerWarps = roles.getConsumers();
    return success();
  }
  return kernel.emitOpError() << "has a pipeline of transport 'tma' without a tcc.warp_specialize: "
                              << "TMA needs a producer";
}

void TmaPipelineLowering::createBarriers(CreatePipelineOp op) {
  MLIRContext *context = kernel.getContext();
  I32Builder b(rewriter, op.getLoc());
  int64_t stages = op.getType().getStages();
  auto layout = SharedLayoutAttr::get(context, /*contiguous=*/1, /*span=*/0, /*pad=*/0);
  auto type = SharedType::get(context, {1, 2 * stages}, rewriter.getI64Type(), 1, layout);
  SlotBarriers slots(AllocSharedOp::create(rewriter, op.getLoc(), type), stages);
  barriers.insert({op, slots});

  Value isFirst = arith::CmpIOp::create(rewriter, op.getLoc(), arith::CmpIPredicate::eq,
                                        b.threadId(), b.constant(0));
  auto ifOp = scf::IfOp::create(rewriter, op.getLoc(), isFirst);
  {
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPointToStart(ifOp.thenBlock());
    for (int64_t i = 0; i < stages; ++i) {
      NVVM::MBarrierInitOp::create(rewriter, op.getLoc(), slots.getFull(b, b.constant(i)),
                                   b.constant(1), /*predicate=*/Value());
      NVVM::MBarrierInitOp::create(rewriter, op.getLoc(), slots.getEmpty(b, b.constant(i)),
                                   b.constant(consumerWarps), /*predicate=*/Value());
    }
    // TMA, too, must see the barriers initialised (PTX ISA, fence.mbarrier_init).
    NVVM::FenceMbarrierInitOp::create(rewriter, op.getLoc());
  }
  gpu::BarrierOp::create(rewriter, op.getLoc());
}

/// while (!try_wait(barrier, phase)) {}
void TmaPipelineLowering::waitForPhase(I32Builder &b, Value barrier, Value phase) {
  OpBuilder::InsertionGuard guard(rewriter);
  auto loop = scf::WhileOp::create(rewriter, b.loc, TypeRange(), ValueRange());
  rewriter.createBlock(&loop.getBefore());
  Value done = NVVM::MBarrierTryWaitOp::create(rewriter, b.loc, rewriter.getI1Type(), barrier,
                                               phase, /*ticks=*/Value());
  Value again = arith::XOrIOp::create(rewriter, b.loc, done,
                                      arith::ConstantIntOp::create(rewriter, b.loc, 1, 1));
  scf::ConditionOp::create(rewriter, b.loc, again, ValueRange());
  rewriter.createBlock(&loop.getAfter());
  scf::YieldOp::create(rewriter, b.loc);
}

void TmaPipelineLowering::lower(ConsumerWaitOp op) {
  I32Builder b(rewriter, op.getLoc());
  const SlotBarriers &slots = barriers.find(op.getPipeline())->second;
  waitForPhase(b, slots.getFull(b, op.getSlot()), op.getPhase());
}

/// One arrival a warp: its lanes have all finished reading, the multiplications are waited for.
void TmaPipelineLowering::lower(ConsumerReleaseOp op) {
  I32Builder b(rewriter, op.getLoc());
  const SlotBarriers &slots = barriers.find(op.getPipeline())->second;
  Value isFirst = arith::CmpIOp::create(rewriter, op.getLoc(), arith::CmpIPredicate::eq, b.lane(),
                                        b.constant(0));
  auto ifOp = scf::IfOp::create(rewriter, op.getLoc(), isFirst);
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointToStart(ifOp.thenBlock());
  NVVM::MBarrierArriveOp::create(rewriter, op.getLoc(), rewriter.getI64Type(),
                                 slots.getEmpty(b, op.getSlot()), /*count=*/Value());
}

void TmaPipelineLowering::lower(ProducerAcquireOp op) {
  I32Builder b(rewriter, op.getLoc());
  const SlotBarriers &slots = barriers.find(op.getPipeline())->second;
  waitForPhase(b, slots.getEmpty(b, op.getSlot()), b.bitXor(op.getPhase(), 1));
  int64_t bytes = 0;
  for (Value buffer : op.getPipeline().getDefiningOp<CreatePipelineOp>().getBuffers())
    bytes += cast<SharedType>(buffer.getType()).getStageBytes();
  NVVM::MBarrierArriveExpectTxOp::create(rewriter, op.getLoc(), rewriter.getI64Type(),
                                         slots.getFull(b, op.getSlot()), b.constant(bytes),
                                         NVVM::MemScopeKind::CTA, /*relaxed=*/false,
                                         /*predicate=*/Value());
}

FailureOr<Value> TmaPipelineLowering::getTensorMap(TmaLoadOp op, unsigned unitDim) {
  FailureOr<MatrixArgument> matrix = findMatrixArgument(op, op.getSource());
  if (failed(matrix))
    return failure();
  auto name =
      kernel.getArgAttrOfType<StringAttr>(matrix->argument.getArgNumber(), TccDialect::kNameAttr);
  if (!name)
    return kernel.emitOpError() << "has argument " << matrix->argument.getArgNumber()
                                << " without '" << TccDialect::kNameAttr
                                << "'; tcc-select-target sets it",
           failure();
  // A tensor map's dimension 0 is the inner one.
  unsigned inner = unitDim, outer = 1 - unitDim;
  auto named = [&](StringRef key, Attribute value) { return NamedAttribute(key, value); };
  Type element = op.getSource().getType().getElementType();
  Attribute map = rewriter.getDictionaryAttr(
      {named("argument", name), named("type", TypeAttr::get(element)),
       named("dims", rewriter.getI64ArrayAttr({matrix->dims[inner], matrix->dims[outer]})),
       named("box", rewriter.getI64ArrayAttr({op.getBox()[inner], op.getBox()[outer]})),
       named("swizzle", rewriter.getI64IntegerAttr(op.getSpan())),
       named("l2Promotion", rewriter.getI64IntegerAttr(128))});
  for (auto [known, parameter] : tensorMaps)
    if (known == map)
      return parameter;

  unsigned index = kernel.getNumArguments();
  auto bytes = LLVM::LLVMArrayType::get(rewriter.getI8Type(), 128);
  // PTX ISA, "Tensor-map": 128 bytes, aligned to 64, in .param, .const or .global memory.
  auto attributes = rewriter.getDictionaryAttr(
      {named(LLVM::LLVMDialect::getByValAttrName(), TypeAttr::get(bytes)),
       named(LLVM::LLVMDialect::getAlignAttrName(), rewriter.getI64IntegerAttr(64))});
  if (failed(kernel.insertArgument(index, LLVM::LLVMPointerType::get(rewriter.getContext()),
                                   attributes, op.getLoc())))
    return failure();
  tensorMaps.push_back({map, kernel.getArgument(index)});
  return kernel.getArgument(index);
}

LogicalResult TmaPipelineLowering::lower(TmaLoadOp op) {
  FailureOr<unsigned> unitDim = requireUnitStrideDim(op, op.getSource().getType());
  if (failed(unitDim))
    return failure();
  FailureOr<Value> map = getTensorMap(op, *unitDim);
  if (failed(map))
    return failure();
  Location loc = op.getLoc();
  I32Builder b(rewriter, loc);
  SmallVector<Value> coordinates;
  for (unsigned dim : {*unitDim, 1 - *unitDim})
    coordinates.push_back(
        arith::IndexCastOp::create(rewriter, loc, rewriter.getI32Type(), op.getOffsets()[dim]));
  auto clusterPointer = LLVM::LLVMPointerType::get(rewriter.getContext(), 7);
  Value dest = LLVM::AddrSpaceCastOp::create(rewriter, loc, clusterPointer, op.getDest());
  const SlotBarriers &slots = barriers.find(op.getPipeline())->second;
  NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp::create(
      rewriter, loc, dest, *map, coordinates, slots.getFull(b, op.getSlot()),
      /*im2colOffsets=*/ValueRange(), /*multicastMask=*/Value(), /*l2CacheHint=*/Value(),
      NVVM::TMALoadMode::TILE, /*isCTAOnly=*/false, /*group=*/nullptr, /*predicate=*/Value());
  return success();
}

/// Moves a role's ops to where the rewriter stands.
void TmaPipelineLowering::moveRole(Region &role) {
  Block &body = role.front();
  rewriter.eraseOp(body.getTerminator());
  rewriter.inlineBlockBefore(&body, rewriter.getInsertionBlock(), rewriter.getInsertionPoint());
}

/// tcc.warp_specialize  →  if (warp < consumers) { consumer } else if (first thread) { producer }
void TmaPipelineLowering::lower(WarpSpecializeOp op) {
  Location loc = op.getLoc();
  I32Builder b(rewriter, loc);
  Value thread = b.threadId();
  int64_t consumerThreads = op.getConsumers() * 32;
  Value isConsumer = b.less(thread, b.constant(consumerThreads));
  auto roles = scf::IfOp::create(rewriter, loc, isConsumer, /*withElseRegion=*/true);

  // The producer's registers go to the consumers. With one warpgroup of them a thread has enough
  // from the start (PTX ISA, setmaxnreg: counts are multiples of 8; 65536 registers a block).
  constexpr int64_t producerRegisters = 40, registersPerLane = 65536 / threadsPerWarpgroup;
  int64_t warpgroups = consumerThreads / threadsPerWarpgroup;
  int64_t consumerRegisters =
      std::min<int64_t>(240, (registersPerLane - producerRegisters) / warpgroups / 8 * 8);
  auto setRegisters = [&](int64_t count, NVVM::SetMaxRegisterAction action) {
    if (warpgroups > 1)
      NVVM::SetMaxRegisterOp::create(rewriter, loc, count, action);
  };

  rewriter.setInsertionPointToStart(roles.thenBlock());
  setRegisters(consumerRegisters, NVVM::SetMaxRegisterAction::increase);
  moveRole(op.getConsumer());
  rewriter.setInsertionPointToStart(roles.elseBlock());
  setRegisters(producerRegisters, NVVM::SetMaxRegisterAction::decrease);
  Value isProducer = arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::eq, thread,
                                           b.constant(consumerThreads));
  auto producer = scf::IfOp::create(rewriter, loc, isProducer);
  rewriter.setInsertionPointToStart(producer.thenBlock());
  moveRole(op.getProducer());
}

LogicalResult TmaPipelineLowering::lower(Operation *step) {
  rewriter.setInsertionPoint(step);
  LogicalResult result =
      llvm::TypeSwitch<Operation *, LogicalResult>(step)
          .Case<ConsumerWaitOp, ConsumerReleaseOp, ProducerAcquireOp, WarpSpecializeOp>(
              [&](auto op) { return lower(op), success(); })
          .Case<TmaLoadOp>([&](auto op) { return lower(op); })
          .Default(success()); // producer_commit, drain: the barriers say it
  if (succeeded(result))
    rewriter.eraseOp(step);
  return result;
}

LogicalResult TmaPipelineLowering::run() {
  SmallVector<CreatePipelineOp> pipelines;
  SmallVector<Operation *> steps, roles;
  kernel.walk([&](Operation *op) {
    if (auto pipeline = dyn_cast<CreatePipelineOp>(op)) {
      if (pipeline.getType().getTransport() == Transport::Tma)
        pipelines.push_back(pipeline);
    } else if (isa<WarpSpecializeOp>(op)) {
      roles.push_back(op);
    } else if (isa<ConsumerWaitOp, ConsumerReleaseOp, ProducerAcquireOp, ProducerCommitOp, DrainOp,
                   TmaLoadOp>(op)) {
      for (Value operand : op->getOperands())
        if (auto type = dyn_cast<PipelineType>(operand.getType());
            type && type.getTransport() == Transport::Tma)
          steps.push_back(op);
    }
  });
  if (pipelines.empty() && roles.empty())
    return success();
  if (failed(findConsumers()))
    return failure();
  for (CreatePipelineOp pipeline : pipelines) {
    rewriter.setInsertionPointAfter(pipeline);
    createBarriers(pipeline);
  }
  llvm::append_range(steps, roles);
  for (Operation *step : steps)
    if (failed(lower(step)))
      return failure();
  SmallVector<Attribute> maps;
  for (auto [map, parameter] : tensorMaps)
    maps.push_back(map);
  if (!maps.empty())
    kernel->setAttr(kTensorMapsAttr, rewriter.getArrayAttr(maps));
  return success();
}

LogicalResult mlir::tcc::lowerTmaPipelines(func::FuncOp kernel) {
  return TmaPipelineLowering(kernel).run();
}
