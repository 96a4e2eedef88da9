//===- RoleLowering.cpp - Roles as branches -----------------------------------------------===//

#include "RoleLowering.h"
#include "ScheduleLegality.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::tcc;

static constexpr int64_t threadsPerWarpgroup = 128;

Value RoleLowering::getGroup(I32Builder &b) {
  if (roles.getGroups() == 1)
    return b.constant(0);
  Value index = gpu::ThreadIdOp::create(rewriter, b.loc, gpu::Dimension::x);
  Value thread = arith::IndexCastOp::create(rewriter, b.loc, rewriter.getI32Type(), index);
  return b.div(thread, roles.getGroupThreads());
}

void RoleLowering::lower(ConsumerGroupOp op) {
  I32Builder b(rewriter, op.getLoc());
  op.replaceAllUsesWith(getGroup(b));
}

/// Barrier 0 is the block's.
void RoleLowering::lower(GroupBarrierOp op) {
  I32Builder b(rewriter, op.getLoc());
  NVVM::BarrierOp::create(rewriter, op.getLoc(), TypeRange(), b.add(getGroup(b), 1),
                          b.constant(roles.getGroupThreads()), NVVM::BarrierReductionAttr(),
                          /*reductionPredicate=*/Value());
}

/// Moves a role's ops to where the rewriter stands.
void RoleLowering::moveRole(Region &role) {
  Block &body = role.front();
  rewriter.eraseOp(body.getTerminator());
  rewriter.inlineBlockBefore(&body, rewriter.getInsertionBlock(), rewriter.getInsertionPoint());
}

/// Before `branch`, or whatever else touches what the grid ahead may still write or read.
void RoleLowering::waitForGridAhead(Operation *branch) {
  OpBuilder::InsertionGuard guard(rewriter);
  auto isFirst = [&](Operation &op) {
    auto access = op.walk([](GlobalAddressOp) { return WalkResult::interrupt(); });
    return &op == branch || access.wasInterrupted();
  };
  rewriter.setInsertionPoint(&*llvm::find_if(*branch->getBlock(), isFirst));
  NVVM::GriddepcontrolOp::create(rewriter, branch->getLoc(), NVVM::GridDepActionKind::wait);
}

/// tcc.warp_specialize  →  if (warp < consumers) { consumer } else if (first thread) { producer }
void RoleLowering::lower(WarpSpecializeOp op) {
  Location loc = op.getLoc();
  I32Builder b(rewriter, loc);
  Value thread = b.threadId();
  int64_t consumerThreads = op.getConsumers() * 32;
  Value isConsumer = b.less(thread, b.constant(consumerThreads));
  auto branch = scf::IfOp::create(rewriter, loc, isConsumer, /*withElseRegion=*/true);

  // The producer's registers go to the consumers. With one warpgroup of them a thread has enough
  // from the start.
  int64_t warpgroups = consumerThreads / threadsPerWarpgroup;
  int64_t consumerRegisters = std::min<int64_t>(
      240, getConsumerRegisters(warpgroups, chip.limits().registersPerMultiprocessor));
  auto setRegisters = [&](int64_t count, NVVM::SetMaxRegisterAction action) {
    if (warpgroups > 1 && !isOneWarp)
      NVVM::SetMaxRegisterOp::create(rewriter, loc, count, action);
  };

  if (isDependentLaunch)
    waitForGridAhead(branch);
  rewriter.setInsertionPointToStart(branch.thenBlock());
  setRegisters(consumerRegisters, NVVM::SetMaxRegisterAction::increase);
  moveRole(op.getConsumer());
  rewriter.setInsertionPointToStart(branch.elseBlock());
  setRegisters(producerRegisters, NVVM::SetMaxRegisterAction::decrease);
  Value isProducer = arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::eq, thread,
                                           b.constant(consumerThreads));
  auto producer = scf::IfOp::create(rewriter, loc, isProducer);
  rewriter.setInsertionPointToStart(producer.thenBlock());
  auto tails = op.getProducer().getOps<ProducerTailOp>();
  Operation *tail = tails.empty() ? nullptr : (*tails.begin()).getOperation();
  moveRole(op.getProducer());
  // The next grid gets what multiprocessors have left. One thread says it for the block (PTX ISA,
  // griddepcontrol: repeated invocations have no effect past the first).
  if (tail)
    rewriter.setInsertionPoint(tail);
  if (isDependentLaunch)
    NVVM::GriddepcontrolOp::create(rewriter, loc, NVVM::GridDepActionKind::launch_dependents);
}
