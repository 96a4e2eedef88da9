//===- DistributeTiles.cpp - Work on tiles becomes work on registers --------------------===//

#include "DistributePatterns.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "tcc/Dialect/Tcc/IR/TccOps.h"
#include "llvm/ADT/TypeSwitch.h"
#include <tuple>

using namespace mlir;
using namespace mlir::tcc;

/// The distribution of a tile whose registers are known (the pass has checked all of them).
static TileDistribution getDistribution(Value tile) {
  return *TileDistribution::get(cast<RankedTensorType>(tile.getType()));
}

SmallVector<int64_t> mlir::tcc::getSliceRegisters(tensor::ExtractSliceOp op) {
  RankedTensorType source = op.getSourceType(), result = op.getType();
  auto fragment = cast<FragmentAttr>(source.getEncoding());
  unsigned columnDim = fragment.getColumnDim(), rowDim = 1 - columnDim;
  ArrayRef<int64_t> offsets = op.getStaticOffsets();
  auto [unitM, unitN] = fragment.getUnit();
  int64_t unitRows = rowDim == 0 ? unitM : unitN;
  auto [rows, columns] =
      cast<FragmentAttr>(result.getEncoding()).getAtomsPerWarp(result.getShape());
  int64_t perAtom = getDistribution(op).getNumRegisters() / (rows * columns);
  // In a warp's row of atoms, registers follow the columns.
  int64_t perRow = getDistribution(op.getSource()).getNumRegisters() /
                   fragment.getAtomsPerWarp(source.getShape()).first;
  int64_t firstColumn = perRow * offsets[columnDim] / source.getDimSize(columnDim);
  int64_t firstRow = offsets[rowDim] / unitRows;
  SmallVector<int64_t> registers;
  for (int64_t i = 0; i < rows; ++i)
    llvm::append_range(registers, llvm::seq((i + firstRow) * perRow + firstColumn,
                                            (i + firstRow) * perRow + firstColumn +
                                                columns * perAtom));
  return registers;
}

namespace {

/// %r = arith.addf %x, %y : tensor<…>  →  one arith.addf for each register
struct DistributeElementwise : ConversionPattern {
  DistributeElementwise(const TypeConverter &converter, MLIRContext *context)
      : ConversionPattern(converter, MatchAnyOpTypeTag(), /*benefit=*/1, context) {}

  LogicalResult matchAndRewrite(Operation *op, ArrayRef<ValueRange> operands,
                                ConversionPatternRewriter &rewriter) const override {
    if (!op->hasTrait<OpTrait::Elementwise>() || op->getNumResults() != 1)
      return rewriter.notifyMatchFailure(op, "not elementwise with one result");
    auto tile = dyn_cast<RankedTensorType>(op->getResult(0).getType());
    if (!tile)
      return rewriter.notifyMatchFailure(op, "the result is not a tile");
    TileDistribution distribution = getDistribution(op->getResult(0));
    size_t count = distribution.getNumRegisters();
    SmallVector<Value> results;
    for (size_t i = 0; i < count; ++i) {
      OperationState state(op->getLoc(), op->getName());
      for (auto [value, registers] : llvm::zip_equal(op->getOperands(), operands))
        state.operands.push_back(registers[isa<RankedTensorType>(value.getType()) ? i : 0]);
      state.addTypes(distribution.getRegisterType());
      state.addAttributes(op->getAttrs());
      results.push_back(rewriter.create(state)->getResult(0));
    }
    rewriter.replaceOpWithMultiple(op, {results});
    return success();
  }
};

/// arith.constant dense<c> : tensor<…>  →  one constant, in every register
struct DistributeConstant : OpConversionPattern<arith::ConstantOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(arith::ConstantOp op, OneToNOpAdaptor,
                                ConversionPatternRewriter &rewriter) const override {
    if (!isa<RankedTensorType>(op.getType()))
      return rewriter.notifyMatchFailure(op, "not a tile");
    TileDistribution distribution = getDistribution(op);
    Type type = distribution.getRegisterType();
    auto value = cast<SplatElementsAttr>(op.getValue()).getSplatValue<TypedAttr>();
    if (auto vector = dyn_cast<VectorType>(type))
      value = DenseElementsAttr::get(vector, Attribute(value));
    Value constant = arith::ConstantOp::create(rewriter, op.getLoc(), type, value);
    SmallVector<Value> registers(distribution.getNumRegisters(), constant);
    rewriter.replaceOpWithMultiple(op, {registers});
    return success();
  }
};

/// tensor.splat %x : tensor<…>  →  %x in every register
struct DistributeSplat : OpConversionPattern<tensor::SplatOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(tensor::SplatOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    TileDistribution distribution = getDistribution(op);
    Value value = adaptor.getInput().front();
    if (auto vector = dyn_cast<VectorType>(distribution.getRegisterType()))
      value = vector::BroadcastOp::create(rewriter, op.getLoc(), vector, value);
    SmallVector<Value> registers(distribution.getNumRegisters(), value);
    rewriter.replaceOpWithMultiple(op, {registers});
    return success();
  }
};

/// tensor.empty : tensor<…>  →  poison: only a broadcast names it, as its destination
struct DistributeEmpty : OpConversionPattern<tensor::EmptyOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(tensor::EmptyOp op, OneToNOpAdaptor,
                                ConversionPatternRewriter &rewriter) const override {
    TileDistribution distribution = getDistribution(op);
    Value poison = ub::PoisonOp::create(rewriter, op.getLoc(), distribution.getRegisterType());
    SmallVector<Value> registers(distribution.getNumRegisters(), poison);
    rewriter.replaceOpWithMultiple(op, {registers});
    return success();
  }
};

/// linalg.broadcast of a slice of the result's distribution  →  the same registers
struct DistributeBroadcast : OpConversionPattern<linalg::BroadcastOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(linalg::BroadcastOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithMultiple(op, {adaptor.getInput()});
    return success();
  }
};

/// tensor.extract_slice of a fragment  →  the registers of the atoms inside
struct DistributeExtractSlice : OpConversionPattern<tensor::ExtractSliceOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(tensor::ExtractSliceOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    SmallVector<Value> registers;
    for (int64_t number : getSliceRegisters(op))
      registers.push_back(adaptor.getSource()[number]);
    rewriter.replaceOpWithMultiple(op, {registers});
    return success();
  }
};

/// tcc.convert_layout between distributions with the same registers  →  nothing
struct DistributeConvertLayout : OpConversionPattern<ConvertLayoutOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(ConvertLayoutOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithMultiple(op, {adaptor.getSource()});
    return success();
  }
};

/// tcc.matmul on fragments  →  tcc.mma for each atom
struct DistributeMatmul : OpConversionPattern<MatmulOp> {
  DistributeMatmul(const TypeConverter &converter, MLIRContext *context, const WmmaMajorMap &majors)
      : OpConversionPattern(converter, context), majors(majors) {}

  LogicalResult matchAndRewrite(MatmulOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    auto lhs = dyn_cast<RankedTensorType>(op.getLhs().getType());
    if (!lhs)
      return rewriter.notifyMatchFailure(op, "operands are in shared memory");
    auto fragment = cast<FragmentAttr>(op.getAcc().getType().getEncoding());
    int64_t rows, steps;
    std::tie(rows, steps) =
        cast<FragmentAttr>(lhs.getEncoding()).getAtomsPerWarp(lhs.getShape());
    int64_t columns = fragment.getAtomsPerWarp(op.getAcc().getType().getShape()).second;
    WmmaMajors major = {true, false};
    if (auto it = majors.find(op); it != majors.end())
      major = it->second;

    ValueRange a = adaptor.getLhs(), b = adaptor.getRhs();
    SmallVector<Value> acc(adaptor.getAcc());
    int64_t perA = a.size() / (rows * steps), perB = b.size() / (steps * columns),
            perC = acc.size() / (rows * columns);
    auto multiply = [&](int64_t i, int64_t j, int64_t k) {
      auto c = MutableArrayRef(acc).slice((i * columns + j) * perC, perC);
      auto mma = MmaOp::create(
          rewriter, op.getLoc(), SmallVector<Type>(perC, rewriter.getF32Type()), fragment.getMma(),
          fragment.getShape(), a.slice((i * steps + k) * perA, perA),
          b.slice((k * columns + j) * perB, perB), ValueRange(c), major.rowMajorA, major.rowMajorB);
      llvm::copy(mma.getResults(), c.begin());
    };
    // All rows for one column of atoms, in turns down and up: B's registers are used in a row and
    // A's last ones again at once. Measured faster than other orders on tensor cores that read
    // their operands from registers (docs/Performance.md).
    for (int64_t k = 0; k < steps; ++k)
      for (int64_t j = 0; j < columns; ++j)
        for (int64_t i = 0; i < rows; ++i)
          multiply(j % 2 == 0 ? i : rows - 1 - i, j, k);
    rewriter.replaceOpWithMultiple(op, {acc});
    return success();
  }

  const WmmaMajorMap &majors;
};

} // namespace

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

static LogicalResult verify(arith::ConstantOp op) {
  if (isa<SplatElementsAttr>(op.getValue()))
    return success();
  return op.emitOpError() << "is a tile of different constants; supported are tiles of one";
}

static LogicalResult verify(linalg::BroadcastOp op) {
  auto input = cast<RankedTensorType>(op.getInput().getType());
  auto result = cast<RankedTensorType>(op->getResult(0).getType());
  auto slice = dyn_cast_or_null<SliceAttr>(input.getEncoding());
  if (slice && op.getDimensions() == ArrayRef<int64_t>{slice.getDim()} &&
      slice.getParent() == result.getEncoding() &&
      slice.getSize() == result.getDimSize(slice.getDim()))
    return success();
  return op.emitOpError() << "expects the result's slice along the dimension of the broadcast, "
                          << "found " << input << " for " << result;
}

/// Columns of an accumulator of wgmma are the fragment of a narrower atom.
static bool isPartOf(FragmentAttr part, FragmentAttr whole) {
  if (part == whole)
    return true;
  return part && part.getMma() == MmaFamily::Wgmma && whole.getMma() == MmaFamily::Wgmma &&
         part.getOperand() == Operand::C && whole.getOperand() == Operand::C &&
         part.getWarps() == whole.getWarps() && whole.getWarps()[1] == 1 &&
         part.getTransposed() == whole.getTransposed();
}

static LogicalResult verify(tensor::ExtractSliceOp op) {
  RankedTensorType source = op.getSourceType(), result = op.getType();
  auto fragment = dyn_cast_or_null<FragmentAttr>(source.getEncoding());
  if (!fragment || !isPartOf(dyn_cast<FragmentAttr>(result.getEncoding()), fragment) ||
      result.getRank() != 2)
    return op.emitOpError() << "slices tiles of one fragment only, found " << source << " and "
                            << result;
  ArrayRef<int64_t> offsets = op.getStaticOffsets();
  if (ShapedType::isDynamicShape(offsets) || !op.hasUnitStride())
    return op.emitOpError() << "of a tile needs constant offsets and strides of 1";
  // A warp owns a run of the atoms' columns: a slice of fewer has other owners, unless there is one
  // warp along them.
  auto part = cast<FragmentAttr>(result.getEncoding());
  auto [unitRows, unitColumns] = part.getUnit();
  unsigned columnDim = part.getColumnDim();
  bool isAllColumns = result.getDimSize(columnDim) == source.getDimSize(columnDim);
  auto [atomRows, atomColumns] = part.getAtomExtents();
  bool isOneWarp = columnDim == 1 ? unitColumns == atomColumns : unitRows == atomRows;
  if (offsets[0] % unitRows == 0 && offsets[1] % unitColumns == 0 && (isAllColumns || isOneWarp))
    return success();
  return op.emitOpError() << "is not made of atoms that each warp has in both tiles: "
                          << (columnDim == 1 ? "rows" : "columns") << " begin at multiples of "
                          << (columnDim == 1 ? unitRows : unitColumns) << ", and all "
                          << (columnDim == 1 ? "columns" : "rows") << " are taken";
}

static LogicalResult verify(ConvertLayoutOp op) {
  if (op.getSource().getType() == op.getType())
    return success();
  return op.emitOpError() << "moves elements between threads, which needs a shared buffer: from "
                          << op.getSource().getType().getEncoding() << " to "
                          << op.getType().getEncoding()
                          << "; store the tile with tcc.local_store and load it back";
}

static LogicalResult verify(MatmulOp op) {
  if (isa<RankedTensorType>(op.getLhs().getType()) && isa<RankedTensorType>(op.getRhs().getType()))
    return success();
  return verifyWarpgroupMatmul(op);
}

/// Work on tiles that is neither arithmetic nor one of the ops above.
static LogicalResult verifyOther(Operation *op) {
  auto isTile = [](Type type) { return isa<RankedTensorType>(type); };
  if (llvm::none_of(op->getResultTypes(), isTile) ||
      isa<LoadOp, LocalLoadOp, MatmulWaitOp, tensor::EmptyOp, tensor::SplatOp, scf::ForOp,
          scf::IfOp>(op))
    return success();
  if (!op->hasTrait<OpTrait::Elementwise>() || op->getNumResults() != 1)
    return op->emitOpError() << "can't be distributed over threads: it is not elementwise with one "
                             << "result";
  Attribute encoding = cast<RankedTensorType>(op->getResult(0).getType()).getEncoding();
  for (Type type : op->getOperandTypes())
    if (isTile(type) && cast<RankedTensorType>(type).getEncoding() != encoding)
      return op->emitOpError() << "expects one distribution of all operands and the result (L3.3)";
  return success();
}

LogicalResult mlir::tcc::verifyTileOp(Operation *op) {
  if (auto constant = dyn_cast<arith::ConstantOp>(op);
      constant && !isa<RankedTensorType>(constant.getType()))
    return success();
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case<arith::ConstantOp, linalg::BroadcastOp, tensor::ExtractSliceOp, ConvertLayoutOp,
            MatmulOp>([](auto known) { return verify(known); })
      .Case([](ClusterReduceOp reduce) { return verifyClusterReduce(reduce); })
      .Default(verifyOther);
}

void mlir::tcc::populateDistributeTilePatterns(const TypeConverter &converter,
                                               RewritePatternSet &patterns,
                                               const WmmaMajorMap &majors) {
  MLIRContext *context = patterns.getContext();
  patterns.add<DistributeElementwise, DistributeConstant, DistributeSplat, DistributeEmpty,
               DistributeBroadcast, DistributeExtractSlice, DistributeConvertLayout>(converter,
                                                                                     context);
  patterns.add<DistributeMatmul>(converter, context, majors);
}
