//===- TccAttrs.cpp - Layouts and distributions -----------------------------------------===//

#include "tcc/Dialect/Tcc/IR/TccAttrs.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "tcc/Dialect/Tcc/IR/TccDialect.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::tcc;

#include "tcc/Dialect/Tcc/IR/TccEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "tcc/Dialect/Tcc/IR/TccAttrs.cpp.inc"

void TccDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "tcc/Dialect/Tcc/IR/TccAttrs.cpp.inc"
      >();
}

bool mlir::tcc::isDistribution(Attribute encoding) {
  return isa_and_nonnull<FragmentAttr, BlockedAttr, SliceAttr>(encoding);
}

//===----------------------------------------------------------------------===//
// SharedLayoutAttr
//===----------------------------------------------------------------------===//

LogicalResult SharedLayoutAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                       int64_t contiguous, int64_t span, int64_t pad) {
  if (contiguous != 0 && contiguous != 1)
    return emitError() << "'contiguous' is a dimension, 0 or 1, found " << contiguous;
  bool isOddMultiple = span > 0 && span % 32 == 16;
  if (!llvm::is_contained({0, 32, 64, 128}, span) && !isOddMultiple)
    return emitError() << "'span' is 0, 32, 64, 128 or an odd multiple of 16 bytes, found " << span;
  if (span != 0 && pad != 0)
    return emitError() << "a layout is in blocks or padded, not both";
  if (pad < 0)
    return emitError() << "'pad' is not negative, found " << pad;
  // One element of padding, as tutorials have it, breaks ldmatrix's rows and wmma's ldm.
  if (pad % 16 != 0)
    return emitError() << "'pad' of " << pad << " bytes breaks the alignment of rows that ldmatrix "
                       << "and wmma need: use a multiple of 16 bytes";
  return success();
}

//===----------------------------------------------------------------------===//
// FragmentAttr
//===----------------------------------------------------------------------===//

LogicalResult FragmentAttr::verify(function_ref<InFlightDiagnostic()> emitError, MmaFamily mma,
                                   Operand operand, ArrayRef<int64_t> shape,
                                   ArrayRef<int64_t> warps, bool transposed) {
  auto positive = [](int64_t value) { return value > 0; };
  if (shape.size() != 3 || !llvm::all_of(shape, positive))
    return emitError() << "'shape' is the atom's m, n and k, found [" << shape << "]";
  if (warps.size() != 2 || !llvm::all_of(warps, positive))
    return emitError() << "'warps' is the number of warps along M and N, found [" << warps << "]";
  if (transposed && (mma != MmaFamily::Wgmma || operand != Operand::C))
    return emitError() << "'transposed' is for accumulators of wgmma, found operand '"
                       << stringifyOperand(operand) << "' of " << stringifyMmaFamily(mma);
  return success();
}

FragmentAttr FragmentAttr::getTranspose() const {
  return get(getContext(), getMma(), getOperand(), getShape(), getWarps(), !getTransposed());
}

std::pair<int64_t, int64_t> FragmentAttr::getAtomExtents() const {
  ArrayRef<int64_t> mnk = getShape();
  if (getTransposed())
    return {mnk[1], mnk[0]};
  switch (getOperand()) {
  case Operand::A:
    return {mnk[0], mnk[2]};
  case Operand::B:
    return {mnk[2], mnk[1]};
  case Operand::C:
    break;
  }
  return {mnk[0], mnk[1]};
}

/// A wgmma atom is multiplied by the four warps of a warpgroup together (PTX ISA, wgmma).
static int64_t getWarpsPerAtom(MmaFamily family) { return family == MmaFamily::Wgmma ? 4 : 1; }

std::pair<int64_t, int64_t> FragmentAttr::getUnit() const {
  if (getTransposed()) {
    auto [columns, rows] = getTranspose().getUnit();
    return {rows, columns};
  }
  auto [rows, columns] = getAtomExtents();
  if (getOperand() != Operand::B)
    rows *= getWarps()[0] / getWarpsPerAtom(getMma());
  if (getOperand() != Operand::A)
    columns *= getWarps()[1];
  return {rows, columns};
}

std::pair<int64_t, int64_t> FragmentAttr::getAtomsPerWarp(ArrayRef<int64_t> tileShape) const {
  auto [rows, columns] = getUnit();
  int64_t alongRows = tileShape[0] / rows, alongColumns = tileShape[1] / columns;
  if (getTransposed())
    return {alongColumns, alongRows};
  return {alongRows, alongColumns};
}

LogicalResult FragmentAttr::verifyEncoding(ArrayRef<int64_t> shape, Type elementType,
                                           function_ref<InFlightDiagnostic()> emitError) const {
  if (shape.size() != 2)
    return emitError() << "a fragment is a tile of two dimensions, found " << shape.size();
  if (getMma() == MmaFamily::Wgmma && getWarps()[0] % 4 != 0)
    return emitError() << "wgmma needs whole warpgroups along " << (getTransposed() ? 'N' : 'M')
                       << ", found " << getWarps()[0] << " warps";
  auto [rows, columns] = getUnit();
  if (shape[0] % rows != 0 || shape[1] % columns != 0)
    return emitError() << "a tile of " << shape[0] << "x" << shape[1]
                       << " elements can't be built from atoms of " << getAtomExtents().first << "x"
                       << getAtomExtents().second << " on " << getWarps()[0] << "x" << getWarps()[1]
                       << " warps: its extents must be multiples of " << rows << "x" << columns;
  return success();
}

//===----------------------------------------------------------------------===//
// BlockedAttr
//===----------------------------------------------------------------------===//

LogicalResult BlockedAttr::verify(function_ref<InFlightDiagnostic()> emitError, int64_t vector,
                                  int64_t contiguous, int64_t threads) {
  if (vector < 1 || threads < 1)
    return emitError() << "'vector' and 'threads' are positive, found " << vector << " and "
                       << threads;
  if (contiguous != 0 && contiguous != 1)
    return emitError() << "'contiguous' is a dimension, 0 or 1, found " << contiguous;
  return success();
}

int64_t BlockedAttr::getVectorsPerThread(ArrayRef<int64_t> tileShape) const {
  int64_t vectors = tileShape[0] * tileShape[1] / getVector();
  return (vectors + getThreads() - 1) / getThreads();
}

LogicalResult BlockedAttr::verifyEncoding(ArrayRef<int64_t> shape, Type elementType,
                                          function_ref<InFlightDiagnostic()> emitError) const {
  if (shape.size() != 2)
    return emitError() << "a blocked tile has two dimensions, found " << shape.size();
  if (shape[getContiguous()] % getVector() != 0)
    return emitError() << "vectors of " << getVector() << " elements don't divide the extent "
                       << shape[getContiguous()] << " of dimension " << getContiguous();
  return success();
}

//===----------------------------------------------------------------------===//
// SliceAttr
//===----------------------------------------------------------------------===//

LogicalResult SliceAttr::verify(function_ref<InFlightDiagnostic()> emitError, int64_t dim,
                                int64_t size, Attribute parent) {
  if (dim != 0 && dim != 1)
    return emitError() << "'dim' is a dimension, 0 or 1, found " << dim;
  if (size < 1)
    return emitError() << "'size' is positive, found " << size;
  if (!isa<FragmentAttr, BlockedAttr>(parent))
    return emitError() << "'parent' is a #tcc.fragment or #tcc.blocked, found " << parent;
  return success();
}

LogicalResult SliceAttr::verifyEncoding(ArrayRef<int64_t> shape, Type elementType,
                                        function_ref<InFlightDiagnostic()> emitError) const {
  if (shape.size() != 1)
    return emitError() << "a slice is a tile of one dimension, found " << shape.size();
  SmallVector<int64_t, 2> parentShape(shape);
  parentShape.insert(parentShape.begin() + getDim(), getSize());
  return cast<VerifiableTensorEncoding>(getParent())
      .verifyEncoding(parentShape, elementType, emitError);
}
