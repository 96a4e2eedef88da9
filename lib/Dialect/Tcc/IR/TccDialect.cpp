//===- TccDialect.cpp - The tile-matmul dialect -----------------------------------------===//

#include "tcc/Dialect/Tcc/IR/TccDialect.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "tcc/Dialect/Tcc/IR/TccOps.h"

using namespace mlir;
using namespace mlir::tcc;

#include "tcc/Dialect/Tcc/IR/TccDialect.cpp.inc"

void TccDialect::initialize() {
  registerAttributes();
  registerTypes();
  addOperations<
#define GET_OP_LIST
#include "tcc/Dialect/Tcc/IR/TccOps.cpp.inc"
      >();
}

/// True for an array whose elements are all strings.
static bool isStringArray(Attribute attribute) {
  auto array = dyn_cast<ArrayAttr>(attribute);
  return array && llvm::all_of(array, [](Attribute element) { return isa<StringAttr>(element); });
}

LogicalResult TccDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  StringRef name = attribute.getName();
  Attribute value = attribute.getValue();
  auto expect = [&](bool holds, StringRef what) -> LogicalResult {
    if (holds)
      return success();
    return op->emitOpError() << "attribute '" << name << "' must be " << what << ", found "
                             << value;
  };
  if (name == kScheduleAttr)
    return expect(isa<ScheduleAttr>(value), "a #tcc.schedule");
  if (name == kLevelAttr || name == kKernelAttr || name == kVariantAttr || name == kMetadataAttr)
    return expect(isa<StringAttr>(value), "a string");
  if (name == kPreconditionsAttr)
    return expect(isStringArray(value), "an array of strings");
  if (name == kGridAttr)
    return expect(isStringArray(value) && cast<ArrayAttr>(value).size() == 3,
                  "an array of three strings");
  if (name == kReferenceAttr || name == kTensorMapsAttr)
    return expect(isa<ArrayAttr>(value), "an array of dictionaries");
  if (name == kNonEmptyAttr)
    return expect(isa<UnitAttr>(value), "a unit attribute");
  if (name == kBlockAttr || name == kSharedBytesAttr)
    return expect(isa<IntegerAttr>(value), "an integer");
  return op->emitOpError() << "has the unknown attribute '" << name
                           << "'; the tcc dialect's attributes are listed in docs/IR.md";
}

LogicalResult TccDialect::verifyRegionArgAttribute(Operation *op, unsigned regionIndex,
                                                   unsigned argIndex, NamedAttribute attribute) {
  StringRef name = attribute.getName();
  Attribute value = attribute.getValue();
  auto fail = [&](StringRef what) {
    return op->emitOpError() << "argument " << argIndex << ": attribute '" << name
                             << "' must be " << what << ", found " << value;
  };
  if (name == kNameAttr) {
    auto string = dyn_cast<StringAttr>(value);
    return string && !string.empty() ? success() : fail("a non-empty string");
  }
  if (name == kDirectionAttr) {
    auto string = dyn_cast<StringAttr>(value);
    bool known = string && llvm::is_contained({"in", "out", "inout"}, string.getValue());
    return known ? success() : fail("\"in\", \"out\" or \"inout\"");
  }
  if (name == kDimsAttr) {
    if (!isStringArray(value))
      return fail("an array of strings, one name a dimension");
    Type type = op->getRegion(regionIndex).getArgument(argIndex).getType();
    auto shaped = dyn_cast<ShapedType>(type);
    if (shaped && shaped.getRank() != static_cast<int64_t>(cast<ArrayAttr>(value).size()))
      return op->emitOpError() << "argument " << argIndex << ": '" << name << "' names "
                               << cast<ArrayAttr>(value).size() << " dimensions, but " << type
                               << " has " << shaped.getRank();
    return success();
  }
  return op->emitOpError() << "argument " << argIndex << " has the unknown attribute '" << name
                           << "'; known: tcc.name, tcc.dims, tcc.direction";
}
