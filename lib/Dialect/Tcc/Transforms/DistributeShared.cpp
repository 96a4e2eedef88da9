//===- DistributeShared.cpp - A thread's accesses to shared memory ----------------------===//

#include "DistributePatterns.h"
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

namespace {

/// Where a warp's share of a fragment begins: the first atom's row and column.
struct AtomGrid {
  AtomGrid(I32Builder &b, FragmentAttr fragment, ArrayRef<int64_t> shape) {
    std::tie(unitRows, unitColumns) = fragment.getUnit();
    std::tie(rows, columns) = fragment.getAtomsPerWarp(shape);
    std::tie(height, width) = fragment.getAtomExtents();
    if (fragment.getMma() == MmaFamily::Wgmma)
      height = 16; // of the 64 rows of a warpgroup's atom
    auto [warpM, warpN] = getWarpPlace(b, fragment);
    if (fragment.getOperand() != Operand::B) {
      row.warpMultiple = height;
      row.warpBound = unitRows;
      row.warp = b.mul(warpM, row.warpMultiple);
    }
    if (fragment.getOperand() != Operand::A) {
      column.warpMultiple = columns * width;
      column.warpBound = shape[1];
      column.warp = b.mul(warpN, column.warpMultiple);
    }
  }

  Coordinate getRow(int64_t i) const { return row.plus(i * unitRows); }
  Coordinate getColumn(int64_t j) const { return column.plus(j * width); }

  int64_t unitRows, unitColumns; // of all warps together
  int64_t rows, columns;         // atoms of a warp
  int64_t height, width;         // of a warp's part of an atom
  Coordinate row, column;
};

/// tcc.local_load of operand a or b of mma.sync  →  nvvm.ldmatrix
///
/// An atom's registers are 8x8 matrices whose rows run along K: a has four (M and K halves, M
/// faster), b two (K halves). ldmatrix reads 8 rows of 16 bytes a matrix, at the addresses that 8
/// lanes give; where the buffer's contiguous dimension isn't K it transposes (PTX ISA, ldmatrix).
class LdMatrixEmitter {
public:
  LdMatrixEmitter(I32Builder &b, SharedAddressing &addressing, RankedTensorType tile)
      : b(b), addressing(addressing), fragment(cast<FragmentAttr>(tile.getEncoding())),
        grid(b, fragment, tile.getShape()),
        registerType(VectorType::get({2}, tile.getElementType())) {}

  /// `first` is the tile's place in the buffer.
  SmallVector<Value> emit(ArrayRef<int64_t> first) {
    bool isA = fragment.getOperand() == Operand::A;
    unsigned kDim = isA ? 1 : 0;
    bool transposed = addressing.getContiguous() != kDim;
    addLanes(isA, transposed);
    grid.row.offset += first[0];
    grid.column.offset += first[1];

    SmallVector<Value> registers(grid.rows * grid.columns * (isA ? 4 : 2));
    for (int64_t i = 0; i < grid.rows; ++i)
      for (int64_t j = 0; j < grid.columns; j += isA ? 1 : 2) {
        int64_t reg = (i * grid.columns + j) * (isA ? 4 : 2);
        int64_t count = isA || j + 1 < grid.columns ? 4 : 2;
        emitLoad(grid.getRow(i), grid.getColumn(j), count, transposed,
                 MutableArrayRef(registers).slice(reg, count));
      }
    return registers;
  }

private:
  /// Adds the row that each lane addresses: lane 8i + l gives row l of matrix i.
  void addLanes(bool isA, bool transposed) {
    Value lane = b.lane();
    Value row = b.bitAnd(lane, 7);
    Value low = b.mul(b.bitAnd(b.div(lane, 8), 1), 8); // second of a pair of matrices
    Value high = b.mul(b.div(lane, 16), 8);            // second pair of matrices
    // a: low is M, high is K; b: low is K, high is N (the next atom).
    Value alongRows = low, alongColumns = high;
    // Lines of the buffer run along its contiguous dimension; lanes address lines.
    bool linesAreRows = isA != transposed;
    if (linesAreRows) {
      grid.row.base = b.add(alongRows, row), grid.row.bound = 16;
      grid.column.base = alongColumns, grid.column.bound = 16, grid.column.multiple = 8;
    } else {
      grid.row.base = alongRows, grid.row.bound = 16, grid.row.multiple = 8;
      grid.column.base = b.add(alongColumns, row), grid.column.bound = 16;
    }
  }

  void emitLoad(const Coordinate &row, const Coordinate &column, int64_t count, bool transposed,
                MutableArrayRef<Value> results) {
    MLIRContext *context = b.builder.getContext();
    auto i32 = b.builder.getI32Type();
    auto type = LLVM::LLVMStructType::getLiteral(context, SmallVector<Type>(count, i32));
    auto load = NVVM::LdMatrixOp::create(
        b.builder, b.loc, type, addressing.getPointer(row, column), count,
        transposed ? NVVM::MMALayout::col : NVVM::MMALayout::row,
        NVVM::LdStMatrixShapeAttr::get(context, 8, 8), NVVM::LdStMatrixEltType::B16);
    for (auto [i, result] : llvm::enumerate(results)) {
      Value word = LLVM::ExtractValueOp::create(b.builder, b.loc, load, i);
      result = LLVM::BitcastOp::create(b.builder, b.loc, registerType, word);
    }
  }

  I32Builder &b;
  SharedAddressing &addressing;
  FragmentAttr fragment;
  AtomGrid grid;
  Type registerType;
};

/// tcc.local_load of operand a or b of wmma  →  tcc.wmma_load for each atom
SmallVector<Value> emitWmmaLoads(I32Builder &b, SharedAddressing &addressing,
                                 const TileDistribution &distribution, ArrayRef<int64_t> first) {
  auto fragment = cast<FragmentAttr>(distribution.getType().getEncoding());
  AtomGrid grid(b, fragment, distribution.getType().getShape());
  grid.row.offset += first[0];
  grid.column.offset += first[1];
  int64_t perAtom = distribution.getNumRegisters() / (grid.rows * grid.columns);
  SmallVector<Type> types(perAtom, distribution.getRegisterType());
  SmallVector<Value> registers;
  for (int64_t i = 0; i < grid.rows; ++i)
    for (int64_t j = 0; j < grid.columns; ++j) {
      Value pointer = addressing.getPointer(grid.getRow(i), grid.getColumn(j));
      auto load = WmmaLoadOp::create(b.builder, b.loc, types, fragment.getOperand(),
                                     fragment.getShape(), pointer, addressing.getLeadingDimension(),
                                     addressing.getContiguous() == 1);
      llvm::append_range(registers, load.getResults());
    }
  return registers;
}

/// Runs `body` where the access is the thread's.
void emitIfOwned(I32Builder &b, const TileAccess &access, function_ref<void()> body) {
  if (!access.owned)
    return body();
  OpBuilder::InsertionGuard guard(b.builder);
  auto ifOp = scf::IfOp::create(b.builder, b.loc, access.owned);
  b.builder.setInsertionPointToStart(ifOp.thenBlock());
  body();
}

/// The accesses to a tile that begins at `first` in a buffer, 16 bytes wide at most (PTX ISA,
/// ld.shared.v4).
SmallVector<TileAccess> getSharedAccesses(I32Builder &b, const SharedAddressing &addressing,
                                          const TileDistribution &distribution,
                                          ArrayRef<int64_t> first) {
  SmallVector<RegisterPosition> positions = distribution.getPositions(b);
  for (RegisterPosition &position : positions)
    for (auto [coordinate, offset] : llvm::zip_equal(position.coordinates, first))
      coordinate.offset += offset;
  int64_t maxWidth = std::max<int64_t>(1, 16 / addressing.getElementBytes());
  return getTileAccesses(distribution, positions, addressing.getContiguous(), maxWidth);
}

struct DistributeLocalLoad : OpConversionPattern<LocalLoadOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(LocalLoadOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    auto distribution = *TileDistribution::get(op.getType());
    I32Builder b(rewriter, op.getLoc());
    SharedAddressing addressing(b, op.getSource(), getOptional(adaptor.getSlot()));
    SmallVector<int64_t> first(op.getOffsets());
    auto fragment = dyn_cast<FragmentAttr>(op.getType().getEncoding());
    SmallVector<Value> registers;
    if (distribution.isOpaque())
      registers = emitWmmaLoads(b, addressing, distribution, first);
    else if (fragment && fragment.getOperand() != Operand::C)
      registers = LdMatrixEmitter(b, addressing, op.getType()).emit(first);
    else
      registers = emitLoads(b, addressing, distribution, first);
    rewriter.replaceOpWithMultiple(op, {registers});
    return success();
  }

  /// Blocked tiles, and accumulators of mma.sync.
  static SmallVector<Value> emitLoads(I32Builder &b, SharedAddressing &addressing,
                                      const TileDistribution &distribution,
                                      ArrayRef<int64_t> first) {
    Type element = distribution.getType().getElementType();
    TileAssembler assembler(distribution);
    for (const TileAccess &access : getSharedAccesses(b, addressing, distribution, first)) {
      int64_t width = access.getWidth();
      Type type = width == 1 ? element : VectorType::get({width}, element);
      // A thread that doesn't own the last pass reads there all the same: the buffer's own bytes
      // if it clamps its address, which costs less than a branch.
      Coordinate row = access.first[0], column = access.first[1];
      Value pointer = addressing.getPointer(row, column);
      if (access.owned)
        pointer = selectFirst(b, addressing, access.owned, pointer);
      Value value = LLVM::LoadOp::create(b.builder, b.loc, type, pointer,
                                         width * addressing.getElementBytes());
      assembler.set(b.builder, b.loc, access, value);
    }
    return assembler.getRegisters(b.builder, b.loc, 0, distribution.getNumRegisters());
  }

  static Value selectFirst(I32Builder &b, SharedAddressing &addressing, Value owned,
                           Value pointer) {
    Value first = addressing.getPointer(Coordinate(), Coordinate());
    return LLVM::SelectOp::create(b.builder, b.loc, owned, pointer, first);
  }
};

struct DistributeLocalStore : OpConversionPattern<LocalStoreOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(LocalStoreOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    auto distribution = *TileDistribution::get(op.getValue().getType());
    I32Builder b(rewriter, op.getLoc());
    SharedAddressing addressing(b, op.getDest(), getOptional(adaptor.getSlot()));
    if (distribution.isOpaque()) {
      emitWmmaStores(b, addressing, distribution, adaptor.getValue());
      rewriter.eraseOp(op);
      return success();
    }
    if (canStoreMatrices(op)) {
      emitMatrixStores(b, addressing, op.getValue().getType(), adaptor.getValue());
      rewriter.eraseOp(op);
      return success();
    }
    for (const TileAccess &access : getSharedAccesses(b, addressing, distribution, {0, 0}))
      emitIfOwned(b, access, [&] {
        Value value =
            getAccessValue(rewriter, op.getLoc(), distribution, access, adaptor.getValue());
        LLVM::StoreOp::create(rewriter, op.getLoc(), value,
                              addressing.getPointer(access.first[0], access.first[1]),
                              access.getWidth() * addressing.getElementBytes());
      });
    rewriter.eraseOp(op);
    return success();
  }

  /// Accumulators of wgmma, narrowed to 16 bits, into rows: sm_90a, which has wgmma, has stmatrix.
  static bool canStoreMatrices(LocalStoreOp op) {
    RankedTensorType tile = op.getValue().getType();
    auto fragment = dyn_cast<FragmentAttr>(tile.getEncoding());
    return fragment && fragment.getMma() == MmaFamily::Wgmma &&
           tile.getElementType().getIntOrFloatBitWidth() == 16 &&
           op.getDest().getType().getLayout().getContiguous() == 1;
  }

  /// Two elements side by side; if both were just narrowed, narrowed at once, which is one
  /// instruction (PTX ISA, cvt.rn.f16x2.f32).
  static Value makePair(I32Builder &b, VectorType pairType, Value low, Value high) {
    auto narrowLow = low.getDefiningOp<arith::TruncFOp>();
    auto narrowHigh = high.getDefiningOp<arith::TruncFOp>();
    if (!narrowLow || !narrowHigh || !narrowLow.getIn().getType().isF32() ||
        !narrowHigh.getIn().getType().isF32())
      return vector::FromElementsOp::create(b.builder, b.loc, pairType, ValueRange{low, high});
    Value wide = vector::FromElementsOp::create(
        b.builder, b.loc, VectorType::get({2}, b.builder.getF32Type()),
        ValueRange{narrowLow.getIn(), narrowHigh.getIn()});
    return arith::TruncFOp::create(b.builder, b.loc, pairType, wide);
  }

  /// The place in a warp's 16 x 16 elements of an accumulator of the matrix line whose address the
  /// running lane gives: lane 8i + l that of line l of matrix i. The first two of four matrices lie
  /// below each other. Their lines are rows, or columns if stmatrix transposes (PTX ISA, stmatrix).
  static void addStoringLanes(I32Builder &b, bool transposes, Coordinate &row,
                              Coordinate &column) {
    Value lane = b.lane();
    if (!transposes) {
      row.base = b.rem(lane, 16), row.bound = 16;
      column.base = b.mul(b.div(lane, 16), 8);
      column.bound = 16, column.multiple = 8;
      return;
    }
    row.base = b.mul(b.bitAnd(b.div(lane, 8), 1), 8);
    row.bound = 16, row.multiple = 8;
    column.base = b.add(b.mul(b.div(lane, 16), 8), b.bitAnd(lane, 7));
    column.bound = 16;
  }

  /// A warp's 16 rows of an accumulator, 16 columns at a time, or 8 at the end of a block of the
  /// buffer: registers 2i and 2i + 1 are its part of matrix i of four. A transposed tile has the
  /// rows that the atoms have as columns.
  static void emitMatrixStores(I32Builder &b, SharedAddressing &addressing, RankedTensorType tile,
                               ValueRange registers) {
    auto fragment = cast<FragmentAttr>(tile.getEncoding());
    bool transposes = fragment.getTransposed();
    SmallVector<int64_t> shape(tile.getShape());
    if (transposes) {
      fragment = fragment.getTranspose();
      std::swap(shape[0], shape[1]);
    }
    AtomGrid grid(b, fragment, shape);
    addStoringLanes(b, transposes, grid.row, grid.column);
    auto pairType = VectorType::get({2}, tile.getElementType());
    auto getPair = [&](int64_t reg) -> Value {
      Value pair = makePair(b, pairType, registers[reg], registers[reg + 1]);
      return LLVM::BitcastOp::create(b.builder, b.loc, b.builder.getI32Type(), pair);
    };
    int64_t perRow = registers.size() / grid.rows;
    // The atoms' columns run along a block's line, or across lines if transposed.
    std::optional<int64_t> blockColumns = addressing.getBlockExtent();
    int64_t perBlock = blockColumns && !transposes ? *blockColumns / 2 : perRow;
    for (int64_t i = 0; i < grid.rows; ++i)
      for (int64_t r = 0, count = 0; r < perRow; r += 2 * count) {
        count = std::min<int64_t>({4, (perRow - r) / 2, (perBlock - r % perBlock) / 2});
        Coordinate column = grid.column.plus(r * 2);
        if (count == 2)
          column.bound = 8; // the second half's addresses aren't used
        SmallVector<Value> matrices;
        for (int64_t matrix = 0; matrix < count; ++matrix)
          matrices.push_back(getPair(i * perRow + r + 2 * matrix));
        Coordinate row = grid.getRow(i);
        NVVM::StMatrixOp::create(
            b.builder, b.loc,
            transposes ? addressing.getPointer(column, row) : addressing.getPointer(row, column),
            matrices, transposes ? NVVM::MMALayout::col : NVVM::MMALayout::row,
            NVVM::LdStMatrixShapeAttr::get(b.builder.getContext(), 8, 8),
            NVVM::LdStMatrixEltType::B16);
      }
  }

  static void emitWmmaStores(I32Builder &b, SharedAddressing &addressing,
                             const TileDistribution &distribution, ValueRange registers) {
    auto fragment = cast<FragmentAttr>(distribution.getType().getEncoding());
    AtomGrid grid(b, fragment, distribution.getType().getShape());
    int64_t perAtom = distribution.getNumRegisters() / (grid.rows * grid.columns);
    for (int64_t i = 0; i < grid.rows; ++i)
      for (int64_t j = 0; j < grid.columns; ++j)
        WmmaStoreOp::create(b.builder, b.loc, fragment.getShape(),
                            addressing.getPointer(grid.getRow(i), grid.getColumn(j)),
                            addressing.getLeadingDimension(),
                            registers.slice((i * grid.columns + j) * perAtom, perAtom));
  }
};

} // namespace

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

static LogicalResult verify(LocalLoadOp op) {
  if (failed(requireLayout(op, op.getSource().getType())))
    return failure();
  auto fragment = dyn_cast<FragmentAttr>(op.getType().getEncoding());
  bool isOperand = fragment && fragment.getOperand() != Operand::C;
  if (isOperand && !fragment.isOpaque()) {
    for (int64_t offset : op.getOffsets())
      if (offset % 8 != 0)
        return op.emitOpError() << "reads operands of mma.sync with ldmatrix, whose rows begin at "
                                << "multiples of 8 elements, found offset " << offset;
    return success();
  }
  if (!fragment || !fragment.isOpaque())
    return success();
  if (!isOperand)
    return op.emitOpError() << "can't load an accumulator of wmma; it starts as a constant";
  if (op.getSource().getType().getLayout().getSpan() != 0)
    return op.emitOpError() << "reads by wmma.load, which takes a leading dimension: the buffer's "
                            << "layout can't be swizzled, use padding";
  for (int64_t offset : op.getOffsets())
    if (offset % 16 != 0)
      return op.emitOpError() << "reads wmma fragments at multiples of 16 elements (PTX ISA, "
                              << "wmma.load: 32-byte alignment), found offset " << offset;
  return success();
}

static LogicalResult verify(LocalStoreOp op) {
  if (failed(requireLayout(op, op.getDest().getType())))
    return failure();
  RankedTensorType tile = op.getValue().getType();
  auto fragment = dyn_cast<FragmentAttr>(tile.getEncoding());
  if (!fragment || !fragment.isOpaque())
    return success();
  if (fragment.getOperand() != Operand::C || !tile.getElementType().isF32())
    return op.emitOpError() << "stores wmma accumulators of f32 only, found " << tile;
  SharedLayoutAttr layout = op.getDest().getType().getLayout();
  if (layout.getContiguous() != 1 || layout.getSpan() != 0)
    return op.emitOpError() << "stores by wmma.store, row-major with a leading dimension: the "
                            << "buffer's layout must be contiguous along dimension 1 without a "
                            << "swizzle";
  return success();
}

LogicalResult mlir::tcc::verifySharedAccess(Operation *op) {
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case<LocalLoadOp, LocalStoreOp>([](auto access) { return verify(access); })
      .Default(success());
}

void mlir::tcc::populateDistributeSharedPatterns(const TypeConverter &converter,
                                                 RewritePatternSet &patterns) {
  patterns.add<DistributeLocalLoad, DistributeLocalStore>(converter, patterns.getContext());
}
