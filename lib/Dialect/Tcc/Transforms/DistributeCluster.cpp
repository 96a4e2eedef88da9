//===- DistributeCluster.cpp - Sums over the blocks of a cluster ------------------------===//
//
// All blocks spread the tile over their threads in the same way: what a thread lacks is in the same
// registers of the thread of its number in the other blocks. They send it as vectors of four, a
// vector of all threads after the other, so that neither writes nor reads have bank conflicts; one
// part of each other block after the other.
//
// Sending costs one way between multiprocessors, where reading would cost two for every few vectors
// that a thread has registers for. A barrier of the cluster that releases what was written would
// take as long as all that: st.async tells the receiver's mbarrier (PTX ISA, "st.async").
//
//===------------------------------------------------------------------------------------===//

#include "DistributePatterns.h"
#include "Mbarriers.h"
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

static SmallVector<int64_t> getBufferBytes(ClusterReduceOp op) {
  return llvm::map_to_vector(op.getBuffers(), [](Value buffer) {
    auto type = cast<SharedType>(buffer.getType());
    return type.getStageBytes() * type.getStages();
  });
}

/// The vectors of the accumulator that a region needs: those of its slices, or all.
static SmallVector<int64_t> findNeeded(Region &share, int64_t numRegisters) {
  BitVector isNeeded(numRegisters / vectorLength);
  for (Operation *user : share.getArgument(0).getUsers()) {
    auto slice = dyn_cast<tensor::ExtractSliceOp>(user);
    if (!slice) {
      isNeeded.set();
      break;
    }
    for (int64_t number : getSliceRegisters(slice))
      isNeeded.set(number / vectorLength);
  }
  return SmallVector<int64_t>(isNeeded.set_bits());
}

namespace {

/// What blocks send each other, and where it arrives.
class Exchange {
public:
  Exchange(ClusterReduceOp op, int64_t numRegisters)
      : op(op), threads(getThreads(op)), blocks(op.getShares().size()),
        bufferBytes(getBufferBytes(op)) {
    for (Region &share : op.getShares())
      vectors.push_back(findNeeded(share, numRegisters));
  }

  int64_t getNumBlocks() const { return blocks; }
  /// Those that block `rank` adds up.
  ArrayRef<int64_t> getVectors(int64_t rank) const { return vectors[rank]; }
  /// Bytes that another block sends to block `rank`.
  int64_t getPartBytes(int64_t rank) const {
    return vectors[rank].size() * threads * vectorBytes;
  }
  bool hasRoom(int64_t rank) const {
    return vectors[rank].empty() ||
           countExchangeParts(bufferBytes, getPartBytes(rank)) >= blocks - 1;
  }

  /// Makes the barriers, before the roles part ways: one that says that all others may be sent to,
  /// and one that counts what they send. No block waits for another before the exchange.
  void createBarriers(OpBuilder &builder);
  Value getReady(I32Builder &b) { return getMbarrier(b, barriers, b.constant(0)); }
  Value getFilled(I32Builder &b) { return getMbarrier(b, barriers, b.constant(mbarrierBytes)); }

  /// The first vector of part `part` of what is sent to block `rank`, in this block.
  Value getPart(I32Builder &b, int64_t rank, int64_t part);
  /// Vector number `index` of the part at `pointer`.
  Value getVector(I32Builder &b, Value pointer, int64_t index) {
    return LLVM::GEPOp::create(b.builder, b.loc, pointer.getType(), b.builder.getI8Type(), pointer,
                               LLVM::GEPArg(static_cast<int32_t>(index * threads * vectorBytes)));
  }

private:
  ClusterReduceOp op;
  int64_t threads, blocks;
  SmallVector<int64_t> bufferBytes;
  SmallVector<SmallVector<int64_t>> vectors;
  TypedValue<SharedType> barriers;
};

} // namespace

void Exchange::createBarriers(OpBuilder &builder) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(op->getParentOfType<WarpSpecializeOp>());
  Location loc = op.getLoc();
  I32Builder b(builder, loc);
  barriers = allocMbarriers(builder, loc, ClusterReduceOp::kBarrierBytes / mbarrierBytes);
  scf::IfOp branch = createFirstThreadBranch(b);
  {
    OpBuilder::InsertionGuard inner(builder);
    builder.setInsertionPointToStart(branch.thenBlock());
    I32Builder first(builder, loc);
    initMbarrier(first, getReady(first), blocks - 1);
    initMbarrier(first, getFilled(first), 1);
    NVVM::FenceMbarrierInitOp::create(builder, loc);
  }
  NVVM::ClusterArriveRelaxedOp::create(builder, loc, /*aligned=*/builder.getUnitAttr());
}

Value Exchange::getPart(I32Builder &b, int64_t rank, int64_t part) {
  int64_t partBytes = getPartBytes(rank);
  unsigned buffer = 0;
  for (; part >= bufferBytes[buffer] / partBytes; ++buffer)
    part -= bufferBytes[buffer] / partBytes;
  auto shared = cast<TypedValue<SharedType>>(op.getBuffers()[buffer]);
  Value slot = shared.getType().getStages() > 1 ? b.constant(0) : Value();
  auto type = LLVM::LLVMPointerType::get(b.builder.getContext(), 3);
  return SharedAddressOp::create(b.builder, b.loc, type, shared, slot,
                                 b.add(b.mul(b.threadId(), vectorBytes), part * partBytes));
}

namespace {

/// tcc.cluster_reduce %acc through %sa, %sb { share 0 }, …
///   →  barrier of the consumers; tell all others that this block's slots are free; wait for
///      theirs;
///      if (rank == 0) { send the others what their shares need of %acc;
///                       wait for what they send and add it; share 0 } …
///
/// No block ends while another may still access its shared memory: it has heard from all others
/// before it sends, and waits for all that is sent to it.
struct DistributeClusterReduce : OpConversionPattern<ClusterReduceOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(ClusterReduceOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    I32Builder b(rewriter, loc);
    ValueRange acc = adaptor.getAcc();
    Exchange exchange(op, acc.size());
    exchange.createBarriers(rewriter);
    // Other warps may still multiply what lies there.
    GroupBarrierOp::create(rewriter, loc);
    // All blocks have arrived since long: their barriers are initialised.
    NVVM::ClusterWaitOp::create(rewriter, loc, /*aligned=*/rewriter.getUnitAttr());
    Value rank = NVVM::BlockInClusterIdXOp::create(rewriter, loc, rewriter.getI32Type());
    announce(b, exchange, rank);
    waitForPhase(b, exchange.getReady(b), b.constant(0));
    for (auto [number, share] : llvm::enumerate(op.getShares())) {
      OpBuilder::InsertionGuard guard(rewriter);
      Value isThis = arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::eq, rank,
                                           b.constant(number));
      auto ifOp = scf::IfOp::create(rewriter, loc, isThis);
      FailureOr<Block *> body = rewriter.convertRegionTypes(&share, *getTypeConverter());
      if (failed(body))
        return rewriter.notifyMatchFailure(op, "the sum has no registers");
      rewriter.setInsertionPointToStart(ifOp.thenBlock());
      send(rewriter, loc, exchange, acc, number);
      SmallVector<Value> sum = receive(rewriter, loc, exchange, acc, number);
      rewriter.inlineBlockBefore(*body, ifOp.thenBlock()->getTerminator(), sum);
    }
    rewriter.eraseOp(op);
    return success();
  }

  static Value mapTo(I32Builder &b, Value pointer, Value rank) {
    auto type = LLVM::LLVMPointerType::get(b.builder.getContext(), 7);
    return NVVM::MapaOp::create(b.builder, b.loc, type, pointer, rank);
  }

  /// Thread i of the consumers tells block i.
  static void announce(I32Builder &b, Exchange &exchange, Value rank) {
    Value thread = b.threadId();
    Value isPeer = b.less(thread, b.constant(exchange.getNumBlocks()));
    Value isOther =
        arith::CmpIOp::create(b.builder, b.loc, arith::CmpIPredicate::ne, thread, rank);
    auto ifOp = scf::IfOp::create(b.builder, b.loc,
                                  arith::AndIOp::create(b.builder, b.loc, isPeer, isOther));
    OpBuilder::InsertionGuard guard(b.builder);
    b.builder.setInsertionPointToStart(ifOp.thenBlock());
    I32Builder inner(b.builder, b.loc);
    NVVM::MBarrierArriveOp::create(b.builder, b.loc, /*res=*/Type(),
                                   mapTo(inner, exchange.getReady(inner), thread),
                                   /*count=*/Value());
  }

  /// What block `rank` sends: to the next block first, so that they don't all send to one at a
  /// time.
  static void send(OpBuilder &builder, Location loc, Exchange &exchange, ValueRange acc,
                   int64_t rank) {
    I32Builder b(builder, loc);
    for (int64_t next = 1, blocks = exchange.getNumBlocks(); next < blocks; ++next) {
      int64_t receiver = (rank + next) % blocks;
      ArrayRef<int64_t> vectors = exchange.getVectors(receiver);
      if (vectors.empty())
        continue;
      // The receiver has no part of its own there.
      int64_t part = rank < receiver ? rank : rank - 1;
      Value target = mapTo(b, exchange.getPart(b, receiver, part), b.constant(receiver));
      Value barrier = mapTo(b, exchange.getFilled(b), b.constant(receiver));
      for (auto [index, vector] : llvm::enumerate(vectors))
        storeAsync(b, exchange.getVector(b, target, index),
                   acc.slice(vector * vectorLength, vectorLength), barrier);
    }
  }

  static void storeAsync(I32Builder &b, Value target, ValueRange registers, Value barrier) {
    SmallVector<Value> operands = {target};
    llvm::append_range(operands, registers);
    operands.push_back(barrier);
    LLVM::InlineAsmOp::create(b.builder, b.loc, /*resultTypes=*/TypeRange(), operands,
                              "st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.f32 "
                              "[$0], {$1, $2, $3, $4}, [$5];",
                              "r,f,f,f,f,r,~{memory}", /*has_side_effects=*/true,
                              /*is_align_stack=*/false, LLVM::TailCallKind::None,
                              LLVM::AsmDialectAttr(), /*operand_attrs=*/ArrayAttr());
  }

  /// The registers of `acc`, those that block `rank` needs added up: in the order of ranks,
  /// wherever that is done.
  static SmallVector<Value> receive(OpBuilder &builder, Location loc, Exchange &exchange,
                                    ValueRange acc, int64_t rank) {
    SmallVector<Value> sum(acc);
    ArrayRef<int64_t> vectors = exchange.getVectors(rank);
    if (vectors.empty())
      return sum;
    I32Builder b(builder, loc);
    int64_t others = exchange.getNumBlocks() - 1;
    expect(b, exchange, others * exchange.getPartBytes(rank));
    waitForPhase(b, exchange.getFilled(b), b.constant(0));
    SmallVector<Value> parts;
    for (int64_t part = 0; part < others; ++part)
      parts.push_back(exchange.getPart(b, rank, part));
    auto type = VectorType::get(vectorLength, builder.getF32Type());
    for (auto [index, vector] : llvm::enumerate(vectors)) {
      SmallVector<Value> loaded;
      for (Value part : parts)
        loaded.push_back(LLVM::LoadOp::create(builder, loc, type,
                                              exchange.getVector(b, part, index), vectorBytes));
      for (int64_t j = 0; j < vectorLength; ++j) {
        SmallVector<Value> terms = llvm::map_to_vector(loaded, [&](Value value) -> Value {
          return vector::ExtractOp::create(builder, loc, value, j);
        });
        Value &element = sum[vector * vectorLength + j];
        terms.insert(terms.begin() + rank, element);
        element = terms.front();
        for (Value term : ArrayRef(terms).drop_front())
          element = arith::AddFOp::create(builder, loc, element, term);
      }
    }
    return sum;
  }

  static void expect(I32Builder &b, Exchange &exchange, int64_t bytes) {
    scf::IfOp ifOp = createFirstThreadBranch(b);
    OpBuilder::InsertionGuard guard(b.builder);
    b.builder.setInsertionPointToStart(ifOp.thenBlock());
    I32Builder inner(b.builder, b.loc);
    NVVM::MBarrierArriveExpectTxOp::create(b.builder, b.loc, b.builder.getI64Type(),
                                           exchange.getFilled(inner), inner.constant(bytes),
                                           NVVM::MemScopeKind::CTA, /*relaxed=*/false,
                                           /*predicate=*/Value());
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
  for (Region &share : op.getShares())
    for (Operation *user : share.getArgument(0).getUsers())
      if (isa<tensor::ExtractSliceOp>(user) && failed(verifyTileOp(user)))
        return failure();
  Exchange exchange(op, TileDistribution::get(acc)->getNumRegisters());
  for (int64_t rank = 0; rank < exchange.getNumBlocks(); ++rank)
    if (!exchange.hasRoom(rank))
      return op.emitOpError() << "sends " << exchange.getNumBlocks() - 1 << " parts of "
                              << exchange.getPartBytes(rank) << " bytes to the block of rank "
                              << rank << ", but its buffers have room for fewer";
  return success();
}

void mlir::tcc::populateDistributeClusterPatterns(const TypeConverter &converter,
                                                  RewritePatternSet &patterns) {
  patterns.add<DistributeClusterReduce>(converter, patterns.getContext());
}
