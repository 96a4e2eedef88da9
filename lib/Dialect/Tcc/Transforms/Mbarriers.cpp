//===- Mbarriers.cpp - Code around mbarriers ------------------------------===//

#include "Mbarriers.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace mlir::tcc;

TypedValue<SharedType> mlir::tcc::allocMbarriers(OpBuilder &builder, Location loc, int64_t count) {
  MLIRContext *context = builder.getContext();
  auto layout = SharedLayoutAttr::get(context, /*contiguous=*/1, /*span=*/0, /*pad=*/0);
  return AllocSharedOp::create(
      builder, loc,
      SharedType::get(context, {1, count}, builder.getI64Type(), /*stages=*/1, layout));
}

Value mlir::tcc::getMbarrier(I32Builder &b, TypedValue<SharedType> barriers, Value offset) {
  auto type = LLVM::LLVMPointerType::get(b.builder.getContext(), 3);
  return SharedAddressOp::create(b.builder, b.loc, type, barriers, /*slot=*/Value(), offset);
}

scf::IfOp mlir::tcc::createFirstThreadBranch(I32Builder &b) {
  Value isFirst = arith::CmpIOp::create(b.builder, b.loc, arith::CmpIPredicate::eq, b.threadId(),
                                        b.constant(0));
  return scf::IfOp::create(b.builder, b.loc, isFirst);
}

void mlir::tcc::initMbarrier(I32Builder &b, Value barrier, int64_t arrivals) {
  NVVM::MBarrierInitOp::create(b.builder, b.loc, barrier, b.constant(arrivals),
                               /*predicate=*/Value());
}

/// while (!try_wait(barrier, phase)) {}
void mlir::tcc::waitForPhase(I32Builder &b, Value barrier, Value phase) {
  OpBuilder::InsertionGuard guard(b.builder);
  auto loop = scf::WhileOp::create(b.builder, b.loc, TypeRange(), ValueRange());
  b.builder.createBlock(&loop.getBefore());
  Value done = NVVM::MBarrierTryWaitOp::create(b.builder, b.loc, b.builder.getI1Type(), barrier,
                                               phase, /*ticks=*/Value());
  Value again = arith::XOrIOp::create(b.builder, b.loc, done,
                                      arith::ConstantIntOp::create(b.builder, b.loc, 1, 1));
  scf::ConditionOp::create(b.builder, b.loc, again, ValueRange());
  b.builder.createBlock(&loop.getAfter());
  scf::YieldOp::create(b.builder, b.loc);
}
