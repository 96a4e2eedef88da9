//===- SplitK.cpp - Blocks of a cluster divide a tile's K -----------------===//
//
// Every block multiplies as many slabs; the last ones may lie beyond K, where TMA brings zeros: the
// loops run at least once, as they do without a cluster, and all blocks come to the same barriers.
// What follows the loop is divided, too: adding up a tile of S blocks moves S - 1 parts of it, and
// if one block did that and stored the tile, the path between multiprocessors would be used by one.
//
//===----------------------------------------------------------------------===//

#include "SplitK.h"
#include "Kernel.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace mlir::tcc;

namespace {

/// Deals the ops after a loop to the blocks: slices of the accumulator in turn, and what is made of
/// a slice with it.
class SliceOwners {
public:
  SliceOwners(OpResult acc, int64_t blocks) : acc(acc), blocks(blocks) {}

  /// Looks at the next op in program order; an error if it needs slices of two blocks.
  LogicalResult visit(Operation *op);
  /// False for an op of another block. Those of none are for all that need them.
  bool mayBe(Operation *op, int64_t block) const {
    auto owner = owners.find(op);
    return owner == owners.end() || owner->second == block;
  }

private:
  std::optional<int64_t> getOwner(Value value) const {
    auto owner = values.find(value);
    return owner == values.end() ? std::nullopt : std::optional(owner->second);
  }

  OpResult acc;
  int64_t blocks;
  /// By the slices' offsets.
  llvm::DenseMap<Attribute, int64_t> sliceOwners;
  llvm::DenseMap<Operation *, int64_t> owners;
  /// Of tiles, and of what a staging buffer holds.
  llvm::DenseMap<Value, int64_t> values;
};

} // namespace

LogicalResult SliceOwners::visit(Operation *op) {
  auto store = dyn_cast<LocalStoreOp>(op);
  std::optional<int64_t> owner;
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op); slice && slice.getSource() == acc) {
    // Of several outputs one block has the same slice.
    Attribute place = slice.getStaticOffsetsAttr();
    owner = sliceOwners.try_emplace(place, sliceOwners.size() % blocks).first->second;
  }
  SmallVector<Value> operands(op->getOperands());
  if (store) // its buffer holds another slice so far
    operands = {store.getValue()};
  for (Value operand : operands) {
    std::optional<int64_t> other = operand == acc && !owner ? 0 : getOwner(operand);
    if (owner && other && *owner != *other)
      return op->emitOpError() << "needs slices of the accumulator that two blocks of the cluster "
                                  "have: expects each slice to be stored by itself";
    if (other)
      owner = other;
  }
  // A store of what no product is part of is the first block's.
  if (!owner && isa<StoreOp, LocalStoreOp, BulkStoreOp>(op))
    owner = 0;
  if (!owner)
    return success();
  owners[op] = *owner;
  if (store)
    values[store.getDest()] = *owner;
  for (Value result : op->getResults())
    values[result] = *owner;
  return success();
}

// scf.for %k = %lower to %upper step %s
//   →   scf.for %k = %lower + %rank * %part to %lower + (%rank + 1) * %part step %s
static void divideSlabs(scf::ForOp loop, int64_t blocks) {
  OpBuilder builder(loop);
  Location loc = loop.getLoc();
  Value rank = gpu::ClusterBlockIdOp::create(builder, loc, gpu::Dimension::x);
  Value count = arith::ConstantIndexOp::create(builder, loc, blocks);
  Value extent =
      builder.createOrFold<arith::SubIOp>(loc, loop.getUpperBound(), loop.getLowerBound());
  Value round = builder.createOrFold<arith::MulIOp>(loc, loop.getStep(), count);
  Value slabs = builder.createOrFold<arith::CeilDivUIOp>(loc, extent, round);
  Value part = builder.createOrFold<arith::MulIOp>(loc, slabs, loop.getStep());
  Value ahead = arith::MulIOp::create(builder, loc, rank, part);
  Value first = builder.createOrFold<arith::AddIOp>(loc, loop.getLowerBound(), ahead);
  loop.setLowerBound(first);
  loop.setUpperBound(arith::AddIOp::create(builder, loc, first, part));
}

/// Fills a block's region with its part of `ops`.
static void buildShare(Region &share, OpResult acc, ArrayRef<Operation *> ops,
                       function_ref<bool(Operation *)> isIncluded) {
  Block &body = share.emplaceBlock();
  IRMapping mapping;
  mapping.map(acc, body.addArgument(acc.getType(), acc.getLoc()));
  OpBuilder builder = OpBuilder::atBlockEnd(&body);
  for (Operation *op : ops)
    if (isIncluded(op))
      builder.clone(*op, mapping);
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(body)))
    if (isOpTriviallyDead(&op))
      op.erase();
}

LogicalResult mlir::tcc::splitK(func::FuncOp kernel, int64_t blocks) {
  FailureOr<MatmulLoop> program = findMatmulLoop(kernel);
  if (failed(program))
    return failure();
  scf::ForOp loop = program->loop;
  OpResult acc = program->getResult();
  MatmulOp matmul = program->matmuls.front();
  SmallVector<Value> buffers;
  for (Value operand : {matmul.getLhs(), matmul.getRhs()})
    if (isa<SharedType>(operand.getType()))
      buffers.push_back(operand);
  if (buffers.empty())
    return matmul.emitOpError() << "expects operands in shared memory, where split_k = " << blocks
                                << " exchanges parts of the sum";

  SliceOwners owners(acc, blocks);
  SmallVector<Operation *> ops;
  for (Operation *op = loop->getNextNode(); !op->hasTrait<OpTrait::IsTerminator>();
       op = op->getNextNode()) {
    if (failed(owners.visit(op)))
      return failure();
    ops.push_back(op);
  }
  divideSlabs(loop, blocks);
  OpBuilder builder(kernel.getContext());
  builder.setInsertionPointAfter(loop);
  auto reduce = ClusterReduceOp::create(builder, loop.getLoc(), acc, buffers, blocks);
  for (auto [rank, share] : llvm::enumerate(reduce.getShares()))
    buildShare(share, acc, ops,
               [&, rank = rank](Operation *op) { return owners.mayBe(op, rank); });
  for (Operation *op : llvm::reverse(ops))
    op->erase();
  return success();
}
