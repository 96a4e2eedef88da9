//===- Mbarriers.cpp - Code around mbarriers ------------------------------===//

#include "Mbarriers.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::tcc;

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
