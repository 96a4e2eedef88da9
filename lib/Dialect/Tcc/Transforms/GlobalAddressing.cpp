//===- GlobalAddressing.cpp - A tile's place in a matrix --------------------------------===//

#include "GlobalAddressing.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "tcc/Dialect/Tcc/IR/TccOps.h"

using namespace mlir;
using namespace mlir::tcc;

GlobalAddressing::GlobalAddressing(I32Builder &b, TypedValue<MemRefType> matrix, ValueRange offsets,
                                   ArrayRef<int64_t> shape, unsigned unitDim,
                                   std::optional<int64_t> clampDim)
    : b(b), matrix(matrix), offsets(offsets), shape(shape), unitDim(unitDim),
      clampDim(clampDim == static_cast<int64_t>(unitDim) ? std::nullopt : clampDim),
      elementBytes(matrix.getType().getElementType().getIntOrFloatBitWidth() / 8),
      remaining(shape.size()) {
  for (unsigned dim = 0; dim < shape.size(); ++dim)
    remaining[dim] = computeRemaining(dim);
}

Value GlobalAddressing::computeRemaining(unsigned dim) {
  auto constant = [&](int64_t value) {
    return arith::ConstantIndexOp::create(b.builder, b.loc, value).getResult();
  };
  MemRefType type = matrix.getType();
  Value size = type.isDynamicDim(dim)
                   ? memref::DimOp::create(b.builder, b.loc, matrix, dim).getResult()
                   : constant(type.getDimSize(dim));
  Value left = arith::SubIOp::create(b.builder, b.loc, size, offsets[dim]);
  left = arith::MinSIOp::create(b.builder, b.loc, left, constant(shape[dim]));
  left = arith::MaxSIOp::create(b.builder, b.loc, left, constant(0));
  return arith::IndexCastOp::create(b.builder, b.loc, b.builder.getI32Type(), left);
}

Value GlobalAddressing::isWhole(unsigned dim) {
  return arith::CmpIOp::create(b.builder, b.loc, arith::CmpIPredicate::eq, getRemaining(dim),
                               b.constant(shape[dim]));
}

Value GlobalAddressing::getIndex(unsigned dim, const Coordinate &coordinate) {
  Type indexType = b.builder.getIndexType();
  Coordinate rest = coordinate;
  if (!isClamped(dim))
    rest.offset = 0;
  Value local = b.materialize(rest);
  if (isClamped(dim)) {
    Value last = b.sub(getRemaining(dim), b.constant(1));
    local = b.max(b.min(local, last), b.constant(0));
  }
  Value index = b.getOrCreate({TypeID::get<arith::IndexCastUIOp>(), local, {}}, [&]() -> Value {
    return arith::IndexCastUIOp::create(b.builder, b.loc, indexType, local);
  });
  index = b.getOrCreate<arith::AddIOp>(offsets[dim], index);
  if (rest.offset == coordinate.offset)
    return index;
  // Last, so that accesses some lines apart have the rest in common.
  Value offset =
      b.getOrCreate({TypeID::get<IndexType>(), {}, {}, coordinate.offset}, [&]() -> Value {
        return arith::ConstantIndexOp::create(b.builder, b.loc, coordinate.offset);
      });
  return b.getOrCreate<arith::AddIOp>(index, offset);
}

Value GlobalAddressing::getPointer(ArrayRef<Coordinate> coordinates) {
  // A constant step along the unit stride is an immediate of the access.
  int64_t immediate = 0;
  SmallVector<Value> indices;
  for (auto [dim, coordinate] : llvm::enumerate(coordinates)) {
    Coordinate rest = coordinate;
    if (dim == unitDim) {
      immediate = rest.offset * elementBytes;
      rest.offset = 0;
    }
    indices.push_back(getIndex(dim, rest));
  }
  auto type = LLVM::LLVMPointerType::get(b.builder.getContext(), 1);
  Value second = indices.size() > 1 ? indices[1] : Value();
  auto id = reinterpret_cast<intptr_t>(matrix.getAsOpaquePointer());
  Value pointer =
      b.getOrCreate({TypeID::get<GlobalAddressOp>(), indices[0], second, id}, [&]() -> Value {
        return GlobalAddressOp::create(b.builder, b.loc, type, matrix, indices);
      });
  if (immediate == 0)
    return pointer;
  return LLVM::GEPOp::create(b.builder, b.loc, type, b.builder.getI8Type(), pointer,
                             LLVM::GEPArg(static_cast<int32_t>(immediate)));
}
