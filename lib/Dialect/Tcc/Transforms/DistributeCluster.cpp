//===- DistributeCluster.cpp - Sums over the blocks of a cluster ------------------------===//
//
// All blocks spread the tile over their threads in the same way: what a thread lacks is in the same
// registers of the thread of its number in the other blocks. They lie in shared memory as vectors
// of four, a vector of all threads after the other, so that neither writes nor reads have bank
// conflicts.
//
//===------------------------------------------------------------------------------------===//

#include "DistributePatterns.h"
#include "ScheduleLegality.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::tcc;

static constexpr int64_t vectorLength = 4, vectorBytes = 16;

/// Threads that have the tile: the consumers.
static int64_t getThreads(ClusterReduceOp op) {
  return op->getParentOfType<WarpSpecializeOp>().getGroupThreads();
}

static int64_t getVectors(Value buffer, int64_t threads) {
  auto type = cast<SharedType>(buffer.getType());
  return getExchangeVectors(type.getStageBytes() * type.getStages(), threads);
}

namespace {

/// The places of a thread's vectors in the buffers, in this block and in others.
class Exchange {
public:
  Exchange(I32Builder &b, ClusterReduceOp op) : b(b), threads(getThreads(op)) {
    auto type = LLVM::LLVMPointerType::get(b.builder.getContext(), 3);
    Value offset = b.mul(b.threadId(), vectorBytes);
    for (Value buffer : op.getBuffers()) {
      auto shared = cast<TypedValue<SharedType>>(buffer);
      Value slot = shared.getType().getStages() > 1 ? b.constant(0) : Value();
      own.push_back(SharedAddressOp::create(b.builder, b.loc, type, shared, slot, offset));
      vectors.push_back(getVectors(buffer, threads));
    }
  }

  /// The thread's first vector in each buffer of block `rank`.
  SmallVector<Value> getPeer(int64_t rank) {
    auto type = LLVM::LLVMPointerType::get(b.builder.getContext(), 7);
    return llvm::map_to_vector(own, [&](Value pointer) -> Value {
      return NVVM::MapaOp::create(b.builder, b.loc, type, pointer, b.constant(rank));
    });
  }

  void store(int64_t vector, ValueRange registers) {
    Value value = vector::FromElementsOp::create(b.builder, b.loc, getVectorType(), registers);
    LLVM::StoreOp::create(b.builder, b.loc, value, getPointer(own, vector), vectorBytes);
  }

  Value load(ArrayRef<Value> block, int64_t vector) {
    return LLVM::LoadOp::create(b.builder, b.loc, getVectorType(), getPointer(block, vector),
                                vectorBytes);
  }

private:
  VectorType getVectorType() { return VectorType::get(vectorLength, b.builder.getF32Type()); }

  Value getPointer(ArrayRef<Value> block, int64_t vector) {
    unsigned buffer = 0;
    while (vector >= vectors[buffer])
      vector -= vectors[buffer++];
    return LLVM::GEPOp::create(b.builder, b.loc, block[buffer].getType(), b.builder.getI8Type(),
                               block[buffer],
                               LLVM::GEPArg(static_cast<int32_t>(vector * threads * vectorBytes)));
  }

  I32Builder &b;
  int64_t threads;
  SmallVector<Value, 2> own;
  SmallVector<int64_t, 2> vectors;
};

/// tcc.cluster_reduce %acc through %sa, %sb { share 0 }, …
///   →  barrier of the consumers; write %acc; arrive at the cluster's barrier and wait;
///      if (rank == 0) { read the others' and add; arrive; share 0 } …
///
/// Where the roles end, tcc-lower-pipeline waits for the second barrier, and lets the producer's
/// warps pass both.
struct DistributeClusterReduce : OpConversionPattern<ClusterReduceOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(ClusterReduceOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    I32Builder b(rewriter, loc);
    ValueRange acc = adaptor.getAcc();
    // Other warps may still multiply what lies there.
    GroupBarrierOp::create(rewriter, loc);
    Exchange exchange(b, op);
    for (int64_t i = 0, end = acc.size() / vectorLength; i < end; ++i)
      exchange.store(i, acc.slice(i * vectorLength, vectorLength));
    UnitAttr aligned = rewriter.getUnitAttr();
    NVVM::ClusterArriveOp::create(rewriter, loc, aligned);
    NVVM::ClusterWaitOp::create(rewriter, loc, aligned);
    Value rank = NVVM::BlockInClusterIdXOp::create(rewriter, loc, rewriter.getI32Type());
    for (auto [number, share] : llvm::enumerate(op.getShares())) {
      OpBuilder::InsertionGuard guard(rewriter);
      Value isThis = arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::eq, rank,
                                           b.constant(number));
      auto ifOp = scf::IfOp::create(rewriter, loc, isThis);
      bool isUsed = !share.getArgument(0).use_empty(); // a block may have no slice
      FailureOr<Block *> body = rewriter.convertRegionTypes(&share, *getTypeConverter());
      if (failed(body))
        return rewriter.notifyMatchFailure(op, "the sum has no registers");
      rewriter.setInsertionPointToStart(ifOp.thenBlock());
      SmallVector<Value> sum(acc);
      if (isUsed)
        sum = getSum(b, exchange, acc, number, op.getShares().size());
      NVVM::ClusterArriveOp::create(rewriter, loc, aligned);
      rewriter.inlineBlockBefore(*body, ifOp.thenBlock()->getTerminator(), sum);
    }
    rewriter.eraseOp(op);
    return success();
  }

  /// The sum of all blocks' registers in block `rank`: in the order of ranks, wherever it is made.
  /// Every block begins to read at the next one's, so that they don't all ask the same at a time.
  static SmallVector<Value> getSum(I32Builder &b, Exchange &exchange, ValueRange acc, int64_t rank,
                                   int64_t blocks) {
    SmallVector<SmallVector<Value>> peers(blocks);
    for (int64_t next = 1; next < blocks; ++next)
      peers[(rank + next) % blocks] = exchange.getPeer((rank + next) % blocks);
    SmallVector<Value> sum;
    for (int64_t i = 0, end = acc.size() / vectorLength; i < end; ++i) {
      SmallVector<Value> parts(blocks); // null for this block's
      for (int64_t next = 1; next < blocks; ++next) {
        int64_t block = (rank + next) % blocks;
        parts[block] = exchange.load(peers[block], i);
      }
      for (int64_t j = 0; j < vectorLength; ++j)
        sum.push_back(addParts(b, parts, j, acc[i * vectorLength + j]));
    }
    return sum;
  }

  /// The sum of element `index` of each part, `own` where one is null.
  static Value addParts(I32Builder &b, ArrayRef<Value> parts, int64_t index, Value own) {
    Value sum;
    for (Value part : parts) {
      Value element =
          part ? vector::ExtractOp::create(b.builder, b.loc, part, index).getResult() : own;
      sum = sum ? arith::AddFOp::create(b.builder, b.loc, sum, element).getResult() : element;
    }
    return sum;
  }
};

} // namespace

LogicalResult mlir::tcc::verifyClusterReduce(ClusterReduceOp op) {
  auto roles = op->getParentOfType<WarpSpecializeOp>();
  if (!roles || !roles.getConsumer().isAncestor(op->getParentRegion()) || roles.getGroups() != 1)
    return op.emitOpError() << "expects to stand in the region 'consumer' of a "
                               "tcc.warp_specialize with one group";
  RankedTensorType acc = op.getAcc().getType();
  auto fragment = dyn_cast_or_null<FragmentAttr>(acc.getEncoding());
  if (!fragment || fragment.getMma() != MmaFamily::Wgmma || !acc.getElementType().isF32())
    return op.emitOpError() << "expects an f32 accumulator of wgmma, found " << acc;
  int64_t threads = getThreads(op), room = 0;
  for (Value buffer : op.getBuffers())
    room += getVectors(buffer, threads) * vectorBytes * threads;
  int64_t needed = acc.getNumElements() * 4;
  if (needed <= room)
    return success();
  return op.emitOpError() << "exchanges " << needed << " bytes, but its buffers have room for "
                          << room;
}

void mlir::tcc::populateDistributeClusterPatterns(const TypeConverter &converter,
                                                  RewritePatternSet &patterns) {
  patterns.add<DistributeClusterReduce>(converter, patterns.getContext());
}
