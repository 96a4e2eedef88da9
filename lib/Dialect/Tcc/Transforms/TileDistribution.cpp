//===- TileDistribution.cpp - Which thread holds which element of a tile ----------------===//

#include "TileDistribution.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "tcc/Dialect/Tcc/IR/TccOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::tcc;

int64_t Coordinate::getAlignment(int64_t limit) const {
  int64_t alignment = limit;
  while (alignment > 1 && (offset % alignment != 0 || (base && multiple % alignment != 0) ||
                           (warp && warpMultiple % alignment != 0)))
    alignment /= 2;
  return alignment;
}

//===----------------------------------------------------------------------===//
// I32Builder
//===----------------------------------------------------------------------===//

Value I32Builder::getOrCreate(const Key &key, function_ref<Value()> make) {
  MapKey mapKey(key.kind.getAsOpaquePointer(), key.lhs, key.rhs, key.detail);
  Value value = known.lookup(mapKey);
  if (value && value.getParentRegion()->isAncestor(builder.getInsertionBlock()->getParent()))
    return value;
  value = make();
  known[mapKey] = value;
  return value;
}

Value I32Builder::constant(int64_t value) {
  return getOrCreate({TypeID::get<IntegerType>(), {}, {}, value}, [&]() -> Value {
    return arith::ConstantIntOp::create(builder, loc, value, 32);
  });
}

Value I32Builder::add(Value lhs, Value rhs) {
  if (!lhs || !rhs)
    return lhs ? lhs : rhs;
  return getOrCreate<arith::AddIOp>(lhs, rhs);
}

Value I32Builder::add(Value lhs, int64_t rhs) { return rhs == 0 ? lhs : add(lhs, constant(rhs)); }

Value I32Builder::sub(Value lhs, Value rhs) { return getOrCreate<arith::SubIOp>(lhs, rhs); }

Value I32Builder::mul(Value lhs, int64_t rhs) {
  if (!lhs || rhs == 1)
    return lhs;
  return getOrCreate<arith::MulIOp>(lhs, constant(rhs));
}

Value I32Builder::div(Value lhs, int64_t rhs) {
  if (!lhs || rhs == 1)
    return lhs;
  if (llvm::isPowerOf2_64(rhs))
    return getOrCreate<arith::ShRUIOp>(lhs, constant(llvm::Log2_64(rhs)));
  return getOrCreate<arith::DivUIOp>(lhs, constant(rhs));
}

Value I32Builder::rem(Value lhs, int64_t rhs) {
  if (!lhs || rhs == 1)
    return Value();
  if (llvm::isPowerOf2_64(rhs))
    return bitAnd(lhs, rhs - 1);
  return getOrCreate<arith::RemUIOp>(lhs, constant(rhs));
}

Value I32Builder::bitAnd(Value lhs, int64_t rhs) {
  return lhs ? getOrCreate<arith::AndIOp>(lhs, constant(rhs)) : Value();
}

Value I32Builder::bitXor(Value lhs, Value rhs) {
  if (!lhs || !rhs)
    return lhs ? lhs : rhs;
  return getOrCreate<arith::XOrIOp>(lhs, rhs);
}

Value I32Builder::bitXor(Value lhs, int64_t rhs) {
  return rhs == 0 ? lhs : bitXor(lhs, constant(rhs));
}

Value I32Builder::min(Value lhs, Value rhs) { return getOrCreate<arith::MinSIOp>(lhs, rhs); }

Value I32Builder::max(Value lhs, Value rhs) { return getOrCreate<arith::MaxSIOp>(lhs, rhs); }

Value I32Builder::less(Value lhs, Value rhs) {
  return getOrCreate({TypeID::get<arith::CmpIOp>(), lhs, rhs}, [&]() -> Value {
    return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, lhs, rhs);
  });
}

Value I32Builder::threadId() {
  Value id = getOrCreate({TypeID::get<gpu::ThreadIdOp>()}, [&]() -> Value {
    Value index = gpu::ThreadIdOp::create(builder, loc, gpu::Dimension::x);
    return arith::IndexCastOp::create(builder, loc, builder.getI32Type(), index);
  });
  // A group of consumers has a tile of its own, and its threads are numbered from 0.
  Operation *parent = builder.getInsertionBlock()->getParentOp();
  auto roles = dyn_cast<WarpSpecializeOp>(parent);
  if (!roles)
    roles = parent->getParentOfType<WarpSpecializeOp>();
  return roles && roles.getGroups() > 1 ? rem(id, roles.getGroupThreads()) : id;
}

Value I32Builder::lane() { return rem(threadId(), 32); }

Value I32Builder::warp() { return div(threadId(), 32); }

Value I32Builder::materialize(const Coordinate &coordinate) {
  Value dynamic = add(coordinate.warp, coordinate.base);
  return dynamic ? add(dynamic, coordinate.offset) : constant(coordinate.offset);
}

//===----------------------------------------------------------------------===//
// Registers
//===----------------------------------------------------------------------===//

std::optional<AtomRegisters> mlir::tcc::getAtomRegisters(FragmentAttr fragment, Type elementType) {
  ArrayRef<int64_t> mnk = fragment.getShape();
  bool isAccumulator = fragment.getOperand() == Operand::C;
  if (fragment.getMma() == MmaFamily::MmaSync && mnk == ArrayRef<int64_t>{16, 8, 16}) {
    if (isAccumulator)
      return AtomRegisters{4, 1};
    if (elementType.isF16() || elementType.isBF16())
      return AtomRegisters{fragment.getOperand() == Operand::A ? 4 : 2, 2};
  }
  if (fragment.getMma() == MmaFamily::Wgmma && isAccumulator && mnk[0] == 64 && mnk[2] == 16 &&
      mnk[1] % 8 == 0)
    return AtomRegisters{mnk[1] / 2, 1};
  if (fragment.getMma() == MmaFamily::Wmma && mnk == ArrayRef<int64_t>{16, 16, 16}) {
    if (isAccumulator)
      return AtomRegisters{8, 1};
    // PTX ISA, "Matrix Fragments for WMMA": a .f16 fragment has 8 registers, a .bf16 one 4.
    if (elementType.isF16())
      return AtomRegisters{8, 2};
    if (elementType.isBF16())
      return AtomRegisters{4, 2};
  }
  return std::nullopt;
}

FailureOr<TileDistribution> TileDistribution::get(RankedTensorType type, std::string *reason) {
  auto fail = [&](StringRef why) -> LogicalResult {
    if (reason)
      *reason = why.str();
    return failure();
  };
  TileDistribution result(type);
  Attribute encoding = type.getEncoding();
  ArrayRef<int64_t> shape = type.getShape();
  SmallVector<int64_t> parentShape(shape);
  auto slice = dyn_cast_or_null<SliceAttr>(encoding);
  if (slice) {
    parentShape.insert(parentShape.begin() + slice.getDim(), slice.getSize());
    encoding = slice.getParent();
  }

  // A slice loses a dimension; registers that run along it repeat one element.
  auto setVectorDim = [&](unsigned dim) {
    if (!slice)
      result.vectorDim = dim;
    else if (dim != slice.getDim())
      result.vectorDim = 0;
  };
  if (auto blocked = dyn_cast_or_null<BlockedAttr>(encoding)) {
    result.numRegisters = blocked.getVectorsPerThread(parentShape);
    result.vectorLength = blocked.getVector();
    result.isVector = true;
    setVectorDim(blocked.getContiguous());
    return result;
  }

  auto fragment = dyn_cast_or_null<FragmentAttr>(encoding);
  if (!fragment)
    return fail("it has no distribution over threads; tcc-assign-fragments gives it one");
  std::optional<AtomRegisters> registers = getAtomRegisters(fragment, type.getElementType());
  if (!registers)
    return fail("the atom's registers are not known; known are mma_sync [16, 8, 16] and wmma "
                "[16, 16, 16] with operands of f16 or bf16, and accumulators of wgmma "
                "[64, n, 16]");
  auto [atomRows, atomColumns] = fragment.getAtomsPerWarp(parentShape);
  result.numRegisters = atomRows * atomColumns * registers->count;
  result.vectorLength = registers->elements;
  result.isVector = registers->elements > 1;
  result.opaque = fragment.isOpaque();
  if (result.isVector)
    setVectorDim(fragment.getOperand() == Operand::A ? 1 : 0);
  if (slice && result.opaque)
    return fail("which rows and columns a thread holds is unspecified for wmma (PTX ISA, \"Matrix "
                "Fragments for WMMA\"); take the tile through shared memory first");
  return result;
}

Type TileDistribution::getRegisterType() const {
  Type element = type.getElementType();
  return isVector ? VectorType::get({vectorLength}, element) : element;
}

//===----------------------------------------------------------------------===//
// Positions
//===----------------------------------------------------------------------===//

std::pair<Value, Value> mlir::tcc::getWarpPlace(I32Builder &b, FragmentAttr fragment,
                                                Value warp) {
  int64_t warpsM = fragment.getWarps()[0];
  int64_t warpsN = fragment.getWarps()[1];
  if (!warp)
    warp = b.warp();
  Value m = warpsM > 1 ? (warpsN > 1 ? b.rem(warp, warpsM) : warp) : Value();
  Value n = warpsN > 1 ? b.div(warp, warpsM) : Value();
  return {m, n};
}

SmallVector<RegisterPosition> mlir::tcc::getBlockedPositions(I32Builder &b, BlockedAttr blocked,
                                                             ArrayRef<int64_t> shape) {
  unsigned inner = blocked.getContiguous();
  int64_t vector = blocked.getVector();
  int64_t perLine = shape[inner] / vector;
  int64_t lines = shape[1 - inner];
  int64_t threads = blocked.getThreads();
  int64_t total = lines * perLine;
  int64_t passes = blocked.getVectorsPerThread(shape);
  Value thread = b.threadId();

  SmallVector<RegisterPosition> positions;
  auto addPosition = [&](Coordinate line, Coordinate element, int64_t pass) {
    RegisterPosition position;
    position.coordinates.resize(2);
    position.coordinates[inner] = element;
    position.coordinates[1 - inner] = line;
    if ((pass + 1) * threads > total)
      position.owned = b.less(b.add(thread, pass * threads), b.constant(total));
    positions.push_back(position);
  };

  if (threads % perLine == 0) { // whole lines a pass
    int64_t linesPerPass = threads / perLine;
    Value line = b.div(thread, perLine);
    Value element = b.mul(b.rem(thread, perLine), vector);
    for (int64_t pass = 0; pass < passes; ++pass)
      addPosition({line, pass * linesPerPass, 1, linesPerPass},
                  {element, 0, vector, perLine * vector}, pass);
    return positions;
  }
  if (perLine % threads == 0) { // whole passes a line
    int64_t passesPerLine = perLine / threads;
    Value element = b.mul(thread, vector);
    for (int64_t pass = 0; pass < passes; ++pass)
      addPosition({Value(), pass / passesPerLine},
                  {element, pass % passesPerLine * threads * vector, vector, threads * vector},
                  pass);
    return positions;
  }
  for (int64_t pass = 0; pass < passes; ++pass) {
    Value index = b.add(thread, pass * threads);
    addPosition({b.div(index, perLine), 0, 1, lines},
                {b.mul(b.rem(index, perLine), vector), 0, vector, perLine * vector}, pass);
  }
  return positions;
}

/// PTX ISA, "Matrix Fragments for mma.m16n8k16": lane 4g + t holds rows g and g + 8 of A and C; of
/// A the columns 2t, 2t + 1 (+ 8), of B the rows 2t, 2t + 1 (+ 8) of column g, of C the columns 2t
/// and 2t + 1. An accumulator of wgmma repeats C's along N, 16 rows a warp ("Register Fragments
/// for wgmma.mma_async.m64nNk16"): the rows of warp w begin at 16w, as for mma.sync.
static SmallVector<RegisterPosition> getMmaPositions(I32Builder &b, FragmentAttr fragment,
                                                     ArrayRef<int64_t> shape) {
  if (fragment.getTransposed()) {
    SmallVector<RegisterPosition> positions =
        getMmaPositions(b, fragment.getTranspose(), {shape[1], shape[0]});
    for (RegisterPosition &position : positions)
      std::swap(position.coordinates[0], position.coordinates[1]);
    return positions;
  }
  constexpr int64_t warpRows = 16;
  auto [unitRows, unitColumns] = fragment.getUnit();
  auto [atomRows, atomColumns] = fragment.getAtomsPerWarp(shape);
  int64_t atomWidth = fragment.getAtomExtents().second;
  auto [warpM, warpN] = getWarpPlace(b, fragment);
  Value lane = b.lane();
  Value group = b.div(lane, 4);
  Value pair = b.mul(b.rem(lane, 4), 2);
  Operand operand = fragment.getOperand();

  Coordinate row, column;
  if (operand == Operand::B)
    row = {pair, 0, 2, 8};
  else
    row = {group, 0, 1, 8, b.mul(warpM, warpRows), warpRows, unitRows};
  int64_t warpColumns = atomColumns * atomWidth;
  if (operand == Operand::A)
    column = {pair, 0, 2, 8};
  else if (operand == Operand::B)
    column = {group, 0, 1, 8, b.mul(warpN, warpColumns), warpColumns, shape[1]};
  else
    column = {pair, 0, 2, 8, b.mul(warpN, warpColumns), warpColumns, shape[1]};

  SmallVector<RegisterPosition> positions;
  for (int64_t i = 0; i < atomRows; ++i)
    for (int64_t j = 0; j < atomColumns; ++j) {
      Coordinate atomRow = row.plus(i * unitRows), atomColumn = column.plus(j * atomWidth);
      if (operand == Operand::A)
        for (int64_t r = 0; r < 4; ++r)
          positions.push_back({{atomRow.plus(8 * (r & 1)), atomColumn.plus(8 * (r >> 1))}, {}});
      else if (operand == Operand::B)
        for (int64_t r : {0, 1})
          positions.push_back({{atomRow.plus(8 * r), atomColumn}, {}});
      else
        for (int64_t r = 0; r < atomWidth / 2; ++r)
          positions.push_back(
              {{atomRow.plus(8 * (r >> 1 & 1)), atomColumn.plus(8 * (r >> 2) + (r & 1))}, {}});
    }
  return positions;
}

SmallVector<RegisterPosition> TileDistribution::getPositions(I32Builder &b) const {
  Attribute encoding = type.getEncoding();
  SmallVector<int64_t> shape(type.getShape());
  auto slice = dyn_cast<SliceAttr>(encoding);
  if (slice) {
    shape.insert(shape.begin() + slice.getDim(), slice.getSize());
    encoding = slice.getParent();
  }
  SmallVector<RegisterPosition> positions;
  if (auto blocked = dyn_cast<BlockedAttr>(encoding))
    positions = getBlockedPositions(b, blocked, shape);
  else
    positions = getMmaPositions(b, cast<FragmentAttr>(encoding), shape);
  if (slice)
    for (RegisterPosition &position : positions)
      position.coordinates.erase(position.coordinates.begin() + slice.getDim());
  return positions;
}
