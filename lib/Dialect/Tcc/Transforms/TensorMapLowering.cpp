//===- TensorMapLowering.cpp - Tensor maps as parameters ----------------------------------===//

#include "TensorMapLowering.h"
#include "Kernel.h"
#include "MatrixArgument.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace mlir::tcc;

FailureOr<Value> TensorMapLowering::getTensorMap(Operation *user, TypedValue<MemRefType> source,
                                                 ArrayRef<int64_t> box, int64_t span,
                                                 unsigned unitDim) {
  FailureOr<MatrixArgument> matrix = findMatrixArgument(user, source);
  if (failed(matrix))
    return failure();
  auto name =
      kernel.getArgAttrOfType<StringAttr>(matrix->argument.getArgNumber(), TccDialect::kNameAttr);
  if (!name)
    return kernel.emitOpError() << "has argument " << matrix->argument.getArgNumber()
                                << " without '" << TccDialect::kNameAttr
                                << "'; tcc-select-target sets it",
           failure();
  // A tensor map's dimension 0 is the inner one.
  unsigned inner = unitDim, outer = 1 - unitDim;
  auto named = [&](StringRef key, Attribute value) { return NamedAttribute(key, value); };
  Type element = source.getType().getElementType();
  Attribute map = rewriter.getDictionaryAttr(
      {named("argument", name), named("type", TypeAttr::get(element)),
       named("dims", rewriter.getI64ArrayAttr({matrix->dims[inner], matrix->dims[outer]})),
       named("box", rewriter.getI64ArrayAttr({box[inner], box[outer]})),
       named("swizzle", rewriter.getI64IntegerAttr(span)),
       named("l2Promotion", rewriter.getI64IntegerAttr(128))});
  for (auto [known, parameter] : tensorMaps)
    if (known == map)
      return parameter;

  unsigned index = kernel.getNumArguments();
  auto bytes = LLVM::LLVMArrayType::get(rewriter.getI8Type(), 128);
  // PTX ISA, "Tensor-map": 128 bytes, aligned to 64, in .param, .const or .global memory.
  auto attributes = rewriter.getDictionaryAttr(
      {named(LLVM::LLVMDialect::getByValAttrName(), TypeAttr::get(bytes)),
       named(LLVM::LLVMDialect::getAlignAttrName(), rewriter.getI64IntegerAttr(64))});
  if (failed(kernel.insertArgument(index, LLVM::LLVMPointerType::get(rewriter.getContext()),
                                   attributes, user->getLoc())))
    return failure();
  tensorMaps.push_back({map, kernel.getArgument(index)});
  return kernel.getArgument(index);
}

SmallVector<Value> TensorMapLowering::getCoordinates(Location loc, ValueRange offsets,
                                                     unsigned unitDim) {
  SmallVector<Value> coordinates;
  for (unsigned dim : {unitDim, 1 - unitDim})
    coordinates.push_back(
        arith::IndexCastOp::create(rewriter, loc, rewriter.getI32Type(), offsets[dim]));
  return coordinates;
}

LogicalResult TensorMapLowering::lower(TmaStoreOp op) {
  FailureOr<unsigned> unitDim = requireUnitStrideDim(op, op.getDest().getType());
  if (failed(unitDim))
    return failure();
  FailureOr<Value> map = getTensorMap(op, op.getDest(), op.getBox(), op.getSpan(), *unitDim);
  if (failed(map))
    return failure();
  NVVM::CpAsyncBulkTensorSharedCTAToGlobalOp::create(
      rewriter, op.getLoc(), *map, op.getSource(),
      getCoordinates(op.getLoc(), op.getOffsets(), *unitDim), /*l2CacheHint=*/Value(),
      NVVM::TMAStoreMode::TILE, /*predicate=*/Value());
  return success();
}

LogicalResult TensorMapLowering::lower(TmaLoadOp op, Value full) {
  FailureOr<unsigned> unitDim = requireUnitStrideDim(op, op.getSource().getType());
  if (failed(unitDim))
    return failure();
  FailureOr<Value> map = getTensorMap(op, op.getSource(), op.getBox(), op.getSpan(), *unitDim);
  if (failed(map))
    return failure();
  Location loc = op.getLoc();
  SmallVector<Value> coordinates = getCoordinates(loc, op.getOffsets(), *unitDim);
  auto clusterPointer = LLVM::LLVMPointerType::get(rewriter.getContext(), 7);
  Value dest = LLVM::AddrSpaceCastOp::create(rewriter, loc, clusterPointer, op.getDest());
  NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp::create(
      rewriter, loc, dest, *map, coordinates, full, /*im2colOffsets=*/ValueRange(),
      op.getMulticast(), /*l2CacheHint=*/Value(), NVVM::TMALoadMode::TILE, /*isCTAOnly=*/false,
      /*group=*/nullptr, /*predicate=*/Value());
  return success();
}

void TensorMapLowering::finish(Block *firstThread) {
  if (tensorMaps.empty())
    return;
  SmallVector<Attribute> maps;
  for (auto [map, parameter] : tensorMaps) {
    maps.push_back(map);
    // The first copy would wait for its map to come from memory.
    if (!firstThread) // stores without a pipeline
      continue;
    rewriter.setInsertionPointToStart(firstThread);
    // For a generic address LLVM 22 prefetches twice.
    NVVM::PrefetchOp::create(rewriter, kernel.getLoc(), /*cacheLevel=*/nullptr,
                             /*evictPriority=*/nullptr, parameter, /*predicate=*/Value(),
                             /*tensormap=*/rewriter.getUnitAttr(), /*uniform=*/nullptr,
                             /*in_param_space=*/rewriter.getUnitAttr());
  }
  kernel->setAttr(TccDialect::kTensorMapsAttr, rewriter.getArrayAttr(maps));
}
