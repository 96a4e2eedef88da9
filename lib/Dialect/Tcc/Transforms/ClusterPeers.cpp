//===- ClusterPeers.cpp - Blocks that fill each other's slots -----------------------------===//

#include "ClusterPeers.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace mlir::tcc;

ClusterPeers::ClusterPeers(ScheduleAttr schedule) {
  if (!schedule)
    return;
  m = schedule.getClusterM();
  n = schedule.getClusterN();
}

void ClusterPeers::meetInitialised(OpBuilder &builder, Location loc) const {
  if (size() == 1) {
    gpu::BarrierOp::create(builder, loc);
    return;
  }
  // The fence has released the initialisation (PTX ISA, "membar / fence": its example), and an
  // arrival that releases waits for all of the thread's accesses to memory: hundreds of cycles.
  UnitAttr aligned = builder.getUnitAttr();
  NVVM::ClusterArriveRelaxedOp::create(builder, loc, aligned);
  NVVM::ClusterWaitOp::create(builder, loc, aligned);
}

Value ClusterPeers::getRank(I32Builder &b) const {
  // The register, and not the thread's number, from which LLVM would know in the branch that takes
  // the first lanes that the bound is idle, drop it, and then let all lanes compute: a block that
  // isn't there must not be named.
  Value lane = NVVM::LaneIdOp::create(b.builder, b.loc, b.builder.getI32Type());
  lane = b.min(lane, b.constant(size() - 1));
  if (m == 1 || n == 1)
    return lane;
  Value rank = NVVM::BlockInClusterIdXOp::create(b.builder, b.loc, b.builder.getI32Type());
  Value rankM = b.rem(rank, m), rankN = b.div(rank, m);
  Value inRow = b.add(b.mul(lane, m), rankM);
  Value other = b.sub(lane, b.constant(n));
  Value isBehind = arith::CmpIOp::create(b.builder, b.loc, arith::CmpIPredicate::sge, other, rankM);
  Value skip = arith::ExtUIOp::create(b.builder, b.loc, b.builder.getI32Type(), isBehind);
  Value inColumn = b.add(b.add(other, skip), b.mul(rankN, m));
  return arith::SelectOp::create(b.builder, b.loc, b.less(lane, b.constant(n)), inRow,
                                 inColumn);
}
