//===- TileAccess.cpp - The memory accesses that move a tile's registers ----------------===//

#include "TileAccess.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::tcc;

/// The accesses of one register, as wide as its own elements allow.
static void addRegisterAccesses(const TileDistribution &distribution,
                                const RegisterPosition &position, int64_t reg, unsigned unitDim,
                                int64_t maxWidth, SmallVectorImpl<TileAccess> &accesses) {
  int64_t length = distribution.getVectorLength();
  std::optional<unsigned> vectorDim = distribution.getVectorDim();
  if (!vectorDim) { // one element, in every place of the register
    TileAccess access{position.coordinates, {}, position.owned};
    access.elements.push_back({reg, 0});
    accesses.push_back(access);
    return;
  }
  int64_t width = 1;
  if (*vectorDim == unitDim) {
    width = position.coordinates[unitDim].getAlignment(maxWidth);
    while (length % width != 0)
      width /= 2;
  }
  for (int64_t start = 0; start < length; start += width) {
    TileAccess access{position.coordinates, {}, position.owned};
    access.first[*vectorDim].offset += start;
    for (int64_t i = 0; i < width; ++i)
      access.elements.push_back({reg, start + i});
    accesses.push_back(access);
  }
}

/// True if `next` continues `access` in memory, and both together are aligned to their width.
static bool continues(const TileAccess &access, const TileAccess &next, unsigned unitDim,
                      int64_t maxWidth) {
  int64_t width = access.getWidth();
  if (next.getWidth() != width || 2 * width > maxWidth || access.owned != next.owned ||
      access.first[unitDim].getAlignment(2 * width) != 2 * width)
    return false;
  SmallVector<Coordinate, 2> expected = access.first;
  expected[unitDim].offset += width;
  return expected == next.first;
}

SmallVector<TileAccess> mlir::tcc::getTileAccesses(const TileDistribution &distribution,
                                                   ArrayRef<RegisterPosition> positions,
                                                   unsigned unitDim, int64_t maxWidth) {
  SmallVector<TileAccess> accesses;
  for (auto [reg, position] : llvm::enumerate(positions))
    addRegisterAccesses(distribution, position, reg, unitDim, maxWidth, accesses);
  // Fragments hold neighbours in registers that follow each other: join them, twice as wide each
  // time.
  for (bool changed = true; changed;) {
    changed = false;
    SmallVector<TileAccess> joined;
    for (TileAccess &access : accesses) {
      if (!joined.empty() && continues(joined.back(), access, unitDim, maxWidth)) {
        llvm::append_range(joined.back().elements, access.elements);
        changed = true;
        continue;
      }
      joined.push_back(access);
    }
    accesses = std::move(joined);
  }
  return accesses;
}

TileAssembler::TileAssembler(const TileDistribution &distribution)
    : distribution(distribution), whole(distribution.getNumRegisters()),
      elements(distribution.getNumRegisters(), SmallVector<Value>(distribution.getVectorLength())) {
}

void TileAssembler::set(OpBuilder &builder, Location loc, const TileAccess &access, Value value) {
  int64_t width = access.getWidth();
  if (width == distribution.getVectorLength() &&
      value.getType() == distribution.getRegisterType()) {
    whole[access.elements.front().reg] = value;
    return;
  }
  for (auto [i, element] : llvm::enumerate(access.elements)) {
    Value scalar =
        isa<VectorType>(value.getType())
            ? vector::ExtractOp::create(builder, loc, value, static_cast<int64_t>(i)).getResult()
            : value;
    elements[element.reg][element.index] = scalar;
    if (!distribution.getVectorDim())
      llvm::fill(elements[element.reg], scalar);
  }
}

SmallVector<Value> TileAssembler::getRegisters(OpBuilder &builder, Location loc, int64_t first,
                                               int64_t count) {
  auto vector = dyn_cast<VectorType>(distribution.getRegisterType());
  SmallVector<Value> registers;
  for (int64_t reg = first; reg < first + count; ++reg) {
    ArrayRef<Value> parts = elements[reg];
    if (whole[reg])
      registers.push_back(whole[reg]);
    else if (!vector)
      registers.push_back(parts.front());
    else if (llvm::all_equal(parts))
      registers.push_back(vector::BroadcastOp::create(builder, loc, vector, parts.front()));
    else
      registers.push_back(vector::FromElementsOp::create(builder, loc, vector, parts));
  }
  return registers;
}

Value mlir::tcc::getElement(OpBuilder &builder, Location loc, ValueRange registers,
                            TileAccess::Element element) {
  Value value = registers[element.reg];
  if (!isa<VectorType>(value.getType()))
    return value;
  return vector::ExtractOp::create(builder, loc, value, element.index);
}

Value mlir::tcc::getAccessValue(OpBuilder &builder, Location loc,
                                const TileDistribution &distribution, const TileAccess &access,
                                ValueRange registers) {
  int64_t width = access.getWidth();
  if (width == 1)
    return getElement(builder, loc, registers, access.elements.front());
  Value first = registers[access.elements.front().reg];
  auto type = VectorType::get({width}, distribution.getType().getElementType());
  if (first.getType() == type)
    return first;
  SmallVector<Value> scalars;
  for (TileAccess::Element element : access.elements)
    scalars.push_back(getElement(builder, loc, registers, element));
  return vector::FromElementsOp::create(builder, loc, type, scalars);
}
