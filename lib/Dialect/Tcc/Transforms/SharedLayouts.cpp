//===- SharedLayouts.cpp - Buffers in terms of lib/Support ----------------===//

#include "SharedLayouts.h"

#include "Kernel.h"

using namespace mlir;
using namespace mlir::tcc;
namespace support = ::tcc::support;

support::SharedTile mlir::tcc::getSharedTile(SharedType type, unsigned contiguous) {
  return {{type.getShape()[0], type.getShape()[1]},
          contiguous,
          static_cast<unsigned>(getElementBytes(type.getElementType()))};
}

support::SharedLayout mlir::tcc::toSupport(SharedLayoutAttr layout) {
  if (layout.getSpan() != 0)
    return support::SharedLayout::inBlocks(layout.getSpan());
  if (layout.getPad() != 0)
    return support::SharedLayout::padded(layout.getPad());
  return support::SharedLayout::dense();
}

support::SharedConsumer mlir::tcc::getConsumer(AllocSharedOp alloc, MmaFamily family) {
  bool isOperand = llvm::any_of(alloc->getUsers(), llvm::IsaPred<CopyOp>);
  if (llvm::any_of(alloc->getUsers(), llvm::IsaPred<BulkStoreOp>))
    return support::SharedConsumer::BulkStore;
  switch (family) {
  case MmaFamily::Wmma:
    return support::SharedConsumer::Wmma;
  case MmaFamily::MmaSync:
    return isOperand ? support::SharedConsumer::LdMatrix : support::SharedConsumer::Epilogue;
  case MmaFamily::Wgmma:
    break;
  }
  return isOperand ? support::SharedConsumer::Wgmma : support::SharedConsumer::Epilogue;
}

LogicalResult mlir::tcc::checkSharedLayout(AllocSharedOp alloc, const support::SharedTile &tile,
                                           const support::SharedLayout &layout,
                                           support::SharedConsumer consumer) {
  if (llvm::Error error = support::checkLayout(tile, layout))
    return alloc.emitOpError() << llvm::toString(std::move(error)) << " (L3.1)";
  if (consumer == support::SharedConsumer::Wmma && layout.span())
    return alloc.emitOpError() << "is " << layout.str()
                               << ", but wmma reads and writes by a leading dimension: expects a "
                                  "layout that is dense or padded (L3.1)";
  if (consumer == support::SharedConsumer::Wgmma && !layout.swizzleSpan())
    return alloc.emitOpError() << "is " << layout.str()
                               << ", but wgmma's descriptors expect a swizzled layout (L3.1)";
  if (consumer == support::SharedConsumer::BulkStore && !layout.span())
    return alloc.emitOpError() << "is " << layout.str()
                               << ", but TMA stores boxes: expects a layout with 'span' (L3.1)";
  return success();
}

int64_t mlir::tcc::getNumBarriers(CreatePipelineOp pipeline) {
  int64_t turns = 0;
  for (Operation *user : pipeline->getUsers())
    if (isa<TurnWaitOp, TurnPassOp>(user))
      turns = user->getParentOfType<WarpSpecializeOp>().getGroups();
  return pipeline.getType().getStages() * 2 + turns;
}

SharedMemoryPlan mlir::tcc::planSharedMemory(func::FuncOp kernel) {
  SharedMemoryPlan plan;
  kernel.walk([&](AllocSharedOp alloc) {
    SharedType type = alloc.getType();
    int64_t offset = llvm::alignTo(plan.totalBytes, type.getAlignment());
    plan.buffers.push_back({alloc, offset});
    plan.totalBytes = offset + type.getStageBytes() * type.getStages();
  });
  kernel.walk([&](CreatePipelineOp pipeline) {
    PipelineType type = pipeline.getType();
    if (type.getTransport() != Transport::Tma)
      return;
    int64_t offset = llvm::alignTo(plan.totalBytes, 8);
    plan.barriers.push_back({pipeline, offset});
    plan.totalBytes = offset + getNumBarriers(pipeline) * 8;
  });
  kernel.walk([&](ClusterReduceOp) {
    plan.totalBytes = llvm::alignTo(plan.totalBytes, 8) + ClusterReduceOp::kBarrierBytes;
  });
  return plan;
}
