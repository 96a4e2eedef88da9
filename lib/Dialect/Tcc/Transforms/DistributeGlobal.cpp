//===- DistributeGlobal.cpp - A thread's accesses to global memory ----------------------===//

#include "DistributePatterns.h"
#include "GlobalAddressing.h"
#include "Kernel.h"
#include "SharedAddressing.h"
#include "TileAccess.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "tcc/Dialect/Tcc/IR/TccOps.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::tcc;

static Value conjunction(I32Builder &b, Value lhs, Value rhs) {
  if (!lhs || !rhs)
    return lhs ? lhs : rhs;
  return b.getOrCreate<arith::AndIOp>(lhs, rhs);
}

/// Runs `body` in an scf.if on `condition`, or as it is if there is none.
static void emitIf(I32Builder &b, Value condition, function_ref<void()> body) {
  if (!condition)
    return body();
  OpBuilder::InsertionGuard guard(b.builder);
  auto ifOp = scf::IfOp::create(b.builder, b.loc, condition);
  b.builder.setInsertionPointToStart(ifOp.thenBlock());
  body();
}

/// The value of `body` where `condition` holds, else zero.
static Value emitIfElseZero(I32Builder &b, Value condition, Type type, function_ref<Value()> body) {
  if (!condition)
    return body();
  OpBuilder::InsertionGuard guard(b.builder);
  auto ifOp = scf::IfOp::create(b.builder, b.loc, type, condition, /*withElseRegion=*/true);
  b.builder.setInsertionPointToStart(ifOp.thenBlock());
  scf::YieldOp::create(b.builder, b.loc, body());
  b.builder.setInsertionPointToStart(ifOp.elseBlock());
  Value zero = arith::ConstantOp::create(b.builder, b.loc, b.builder.getZeroAttr(type));
  scf::YieldOp::create(b.builder, b.loc, zero);
  return ifOp.getResult(0);
}

/// Whether an access needs no comparison of its coordinates: the tile is inside the matrix along
/// every dimension that isn't clamped.
static Value emitIsInside(I32Builder &b, GlobalAddressing &addressing) {
  Value inside;
  for (unsigned dim = 0; dim < addressing.getRank(); ++dim)
    if (!addressing.isClamped(dim))
      inside = conjunction(b, inside, addressing.isWhole(dim));
  return inside;
}

/// Whether one element is inside the matrix, along the dimensions that aren't clamped.
static Value emitIsElementInside(I32Builder &b, GlobalAddressing &addressing,
                                 ArrayRef<Coordinate> coordinates) {
  Value inside;
  for (auto [dim, coordinate] : llvm::enumerate(coordinates))
    if (!addressing.isClamped(dim))
      inside =
          conjunction(b, inside, b.less(b.materialize(coordinate), addressing.getRemaining(dim)));
  return inside;
}

/// The coordinates of the accesses' element `i`.
static SmallVector<Coordinate, 2> getElementCoordinates(const TileAccess &access, unsigned unitDim,
                                                        int64_t i) {
  SmallVector<Coordinate, 2> coordinates = access.first;
  coordinates[unitDim].offset += i;
  return coordinates;
}

static int64_t getMaxWidth(std::optional<int64_t> bytes, int64_t elementBytes) {
  return std::max<int64_t>(1, bytes.value_or(elementBytes) / elementBytes);
}

namespace {

/// tcc.load %A[%m, %k] : memref<…> -> tensor<…>
///   →  if the tile is inside the matrix: a vector load for each access
///      else: a load of each element that is inside, zero for the others
struct DistributeLoad : OpConversionPattern<LoadOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(LoadOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    auto distribution = *TileDistribution::get(op.getType());
    unsigned unitDim = *getUnitStrideDim(op.getSource().getType());
    I32Builder b(rewriter, op.getLoc());
    GlobalAddressing addressing(b, op.getSource(), flatten(adaptor.getOffsets()),
                                op.getType().getShape(), unitDim, op.getClamp());
    int64_t maxWidth = getMaxWidth(op.getBytes(), addressing.getElementBytes());
    SmallVector<TileAccess> accesses =
        getTileAccesses(distribution, distribution.getPositions(b), unitDim, maxWidth);
    Value inside = emitIsInside(b, addressing);
    SmallVector<Value> registers;
    int64_t step = getRegistersPerBranch(distribution);
    for (int64_t first = 0; first < distribution.getNumRegisters(); first += step)
      llvm::append_range(registers,
                         loadRegisters(b, addressing, distribution, accesses, inside, first, step));
    rewriter.replaceOpWithMultiple(op, {registers});
    return success();
  }

  /// The registers of a fragment are loaded a row of its atoms at a time, so that arithmetic on a
  /// row can use them up before the next row's arrive.
  static int64_t getRegistersPerBranch(const TileDistribution &distribution) {
    int64_t count = distribution.getNumRegisters();
    auto fragment = dyn_cast<FragmentAttr>(distribution.getType().getEncoding());
    return fragment ? count / fragment.getAtomsPerWarp(distribution.getType().getShape()).first
                    : count;
  }

  /// `count` registers from `first` on.
  static SmallVector<Value> loadRegisters(I32Builder &b, GlobalAddressing &addressing,
                                          const TileDistribution &distribution,
                                          ArrayRef<TileAccess> accesses, Value inside,
                                          int64_t first, int64_t count) {
    auto isBefore = [&](int64_t reg) {
      return [=](const TileAccess &access) { return access.elements.front().reg < reg; };
    };
    accesses = accesses.drop_while(isBefore(first)).take_while(isBefore(first + count));
    SmallVector<Type> types(count, distribution.getRegisterType());
    auto ifOp = scf::IfOp::create(b.builder, b.loc, types, inside, /*withElseRegion=*/true);
    auto fill = [&](Block *block, auto load) {
      OpBuilder::InsertionGuard guard(b.builder);
      b.builder.setInsertionPointToStart(block);
      TileAssembler assembler(distribution);
      load(b, addressing, distribution, accesses, assembler);
      scf::YieldOp::create(b.builder, b.loc,
                           assembler.getRegisters(b.builder, b.loc, first, count));
    };
    fill(ifOp.thenBlock(), loadVectors);
    fill(ifOp.elseBlock(), loadElements);
    return ifOp.getResults();
  }

  /// Calls `load` once for each place in memory.
  static void loadOnce(I32Builder &b, const TileDistribution &distribution,
                       ArrayRef<TileAccess> accesses, TileAssembler &assembler,
                       function_ref<Value(const TileAccess &)> load) {
    SmallVector<std::pair<const TileAccess *, Value>> loaded;
    for (const TileAccess &access : accesses) {
      auto *known = llvm::find_if(loaded, [&](auto &entry) {
        return entry.first->first == access.first && entry.first->owned == access.owned &&
               entry.first->getWidth() == access.getWidth();
      });
      Value value = known != loaded.end() ? known->second : load(access);
      if (known == loaded.end() && distribution.getType().getRank() == 1)
        loaded.push_back({&access, value});
      assembler.set(b.builder, b.loc, access, value);
    }
  }

  static void loadVectors(I32Builder &b, GlobalAddressing &addressing,
                          const TileDistribution &distribution, ArrayRef<TileAccess> accesses,
                          TileAssembler &assembler) {
    Type element = distribution.getType().getElementType();
    loadOnce(b, distribution, accesses, assembler, [&](const TileAccess &access) {
      int64_t width = access.getWidth();
      Type type = width == 1 ? element : VectorType::get({width}, element);
      return emitIfElseZero(b, access.owned, type, [&]() -> Value {
        return LLVM::LoadOp::create(b.builder, b.loc, type, addressing.getPointer(access.first),
                                    width * addressing.getElementBytes());
      });
    });
  }

  static void loadElements(I32Builder &b, GlobalAddressing &addressing,
                           const TileDistribution &distribution, ArrayRef<TileAccess> accesses,
                           TileAssembler &assembler) {
    Type element = distribution.getType().getElementType();
    loadOnce(b, distribution, accesses, assembler, [&](const TileAccess &access) {
      SmallVector<Value> values;
      for (int64_t i = 0; i < access.getWidth(); ++i) {
        auto coordinates = getElementCoordinates(access, addressing.getUnitDim(), i);
        Value inside =
            conjunction(b, access.owned, emitIsElementInside(b, addressing, coordinates));
        // Before the branch: elements of a row have most of their addresses in common.
        Value pointer = addressing.getPointer(coordinates);
        values.push_back(emitIfElseZero(b, inside, element, [&]() -> Value {
          return LLVM::LoadOp::create(b.builder, b.loc, element, pointer,
                                      addressing.getElementBytes());
        }));
      }
      return joinElements(b, values);
    });
  }

  static Value joinElements(I32Builder &b, ArrayRef<Value> values) {
    if (values.size() == 1)
      return values.front();
    auto type = VectorType::get({static_cast<int64_t>(values.size())}, values.front().getType());
    return vector::FromElementsOp::create(b.builder, b.loc, type, values);
  }
};

/// tcc.store %t, %C[%m, %n] : tensor<…>, memref<…>
///   →  if the tile is inside the matrix: a vector store for each access
///      else: a store of each element that is inside
struct DistributeStore : OpConversionPattern<StoreOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(StoreOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    RankedTensorType type = op.getValue().getType();
    auto distribution = *TileDistribution::get(type);
    unsigned unitDim = *getUnitStrideDim(op.getDest().getType());
    I32Builder b(rewriter, op.getLoc());
    GlobalAddressing addressing(b, op.getDest(), flatten(adaptor.getOffsets()), type.getShape(),
                                unitDim, std::nullopt);
    int64_t maxWidth = getMaxWidth(op.getBytes(), addressing.getElementBytes());
    SmallVector<TileAccess> accesses =
        getTileAccesses(distribution, distribution.getPositions(b), unitDim, maxWidth);
    ValueRange registers = adaptor.getValue();

    Value inside = emitIsInside(b, addressing);
    auto ifOp = scf::IfOp::create(rewriter, op.getLoc(), inside, /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPointToStart(ifOp.thenBlock());
    for (const TileAccess &access : accesses)
      emitIf(b, access.owned, [&] {
        Value value = getAccessValue(rewriter, op.getLoc(), distribution, access, registers);
        LLVM::StoreOp::create(rewriter, op.getLoc(), value, addressing.getPointer(access.first),
                              access.getWidth() * addressing.getElementBytes());
      });
    rewriter.setInsertionPointToStart(ifOp.elseBlock());
    for (const TileAccess &access : accesses)
      storeElements(b, addressing, access, registers);
    rewriter.eraseOp(op);
    return success();
  }

  static void storeElements(I32Builder &b, GlobalAddressing &addressing, const TileAccess &access,
                            ValueRange registers) {
    for (auto [i, element] : llvm::enumerate(access.elements)) {
      auto coordinates = getElementCoordinates(access, addressing.getUnitDim(), i);
      Value inside = conjunction(b, access.owned, emitIsElementInside(b, addressing, coordinates));
      Value pointer = addressing.getPointer(coordinates);
      emitIf(b, inside, [&, element = element] {
        Value value = getElement(b.builder, b.loc, registers, element);
        LLVM::StoreOp::create(b.builder, b.loc, value, pointer, addressing.getElementBytes());
      });
    }
  }
};

/// tcc.copy cp_async %A[%m, %k], %sa slot %s {bytes = 16}
///   →  cp.async of 16 bytes for each of the thread's chunks; bytes outside the matrix become zero
struct DistributeCopy : OpConversionPattern<CopyOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(CopyOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    if (op.getTransport() != Transport::CpAsync)
      return rewriter.notifyMatchFailure(op, "not by cp.async");
    SharedType buffer = op.getDest().getType();
    unsigned unitDim = *getUnitStrideDim(op.getSource().getType());
    FailureOr<int64_t> threads = requireThreads(op);
    if (failed(threads))
      return rewriter.notifyMatchFailure(op, "the number of threads is unknown");

    I32Builder b(rewriter, op.getLoc());
    GlobalAddressing source(b, op.getSource(), flatten(adaptor.getOffsets()), buffer.getShape(),
                            unitDim, op.getClamp());
    SharedAddressing dest(b, op.getDest(), getOptional(adaptor.getSlot()));
    auto chunks = BlockedAttr::get(op.getContext(), op.getBytes() / source.getElementBytes(),
                                   unitDim, *threads);
    auto modifier =
        op.getBytes() == 16 ? NVVM::LoadCacheModifierKind::CG : NVVM::LoadCacheModifierKind::CA;
    for (const RegisterPosition &chunk : getBlockedPositions(b, chunks, buffer.getShape())) {
      emitIf(b, chunk.owned, [&] {
        Value bytes = getSourceBytes(b, source, chunk.coordinates, op.getBytes());
        NVVM::CpAsyncOp::create(rewriter, op.getLoc(),
                                dest.getPointer(chunk.coordinates[0], chunk.coordinates[1]),
                                source.getPointer(chunk.coordinates), op.getBytes(), modifier,
                                bytes);
      });
    }
    rewriter.eraseOp(op);
    return success();
  }

  /// How many bytes of a chunk are in the matrix: the others become zero (PTX ISA, cp.async,
  /// src-size).
  static Value getSourceBytes(I32Builder &b, GlobalAddressing &source,
                              ArrayRef<Coordinate> coordinates, int64_t bytes) {
    unsigned inner = source.getUnitDim(), outer = 1 - inner;
    Value left = b.sub(source.getRemaining(inner), b.materialize(coordinates[inner]));
    left = b.mul(left, source.getElementBytes());
    left = b.max(b.min(left, b.constant(bytes)), b.constant(0));
    if (source.isClamped(outer))
      return left;
    Value inside = b.less(b.materialize(coordinates[outer]), source.getRemaining(outer));
    return arith::SelectOp::create(b.builder, b.loc, inside, left, b.constant(0));
  }
};

} // namespace

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

static LogicalResult verify(LoadOp op) {
  if (failed(requireUnitStrideDim(op, op.getSource().getType())))
    return failure();
  if (TileDistribution::get(op.getType())->isOpaque())
    return op.emitOpError() << "can't fill a wmma fragment element by element: which elements a "
                            << "thread holds is unspecified; go through shared memory";
  return success();
}

static LogicalResult verify(StoreOp op) {
  if (failed(requireUnitStrideDim(op, op.getDest().getType())))
    return failure();
  if (TileDistribution::get(op.getValue().getType())->isOpaque())
    return op.emitOpError() << "can't store a wmma fragment element by element: which elements a "
                            << "thread holds is unspecified; go through shared memory "
                            << "(epilogue = shared)";
  if (op.getValue().getType().getRank() == 1)
    return op.emitOpError() << "can't store a slice: several threads hold each element";
  return success();
}

static LogicalResult verify(CopyOp op) {
  if (op.getTransport() == Transport::Tma)
    return verifyTmaCopy(op);
  if (op.getTransport() == Transport::Register)
    return op.emitOpError()
           << "with transport 'register' can't be distributed; tcc-pipeline splits copies through "
           << "registers into a tcc.load and a tcc.local_store";
  SharedType buffer = op.getDest().getType();
  FailureOr<unsigned> unitDim = requireUnitStrideDim(op, op.getSource().getType());
  if (failed(unitDim) || failed(requireThreads(op)) || failed(requireLayout(op, buffer)))
    return failure();
  if (buffer.getLayout().getContiguous() != *unitDim)
    return op.emitOpError() << "copies runs along dimension " << *unitDim << " of the matrix, but "
                            << "the buffer's layout is contiguous along dimension "
                            << buffer.getLayout().getContiguous();
  int64_t rowBytes =
      buffer.getShape()[*unitDim] * buffer.getElementType().getIntOrFloatBitWidth() / 8;
  if (rowBytes % op.getBytes() != 0)
    return op.emitOpError() << "in pieces of " << op.getBytes() << " bytes does not divide the "
                            << "buffer's rows of " << rowBytes << " bytes";
  return success();
}

LogicalResult mlir::tcc::verifyGlobalAccess(Operation *op) {
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case<LoadOp, StoreOp, CopyOp>([](auto access) { return verify(access); })
      .Case<BulkStoreOp>(verifyBulkStore)
      .Default(success());
}

void mlir::tcc::populateDistributeGlobalPatterns(const TypeConverter &converter,
                                                 RewritePatternSet &patterns) {
  patterns.add<DistributeLoad, DistributeStore, DistributeCopy>(converter, patterns.getContext());
}
