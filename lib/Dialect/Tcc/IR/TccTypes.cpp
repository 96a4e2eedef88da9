//===- TccTypes.cpp - Types of the tcc dialect ------------------------------------------===//

#include "tcc/Dialect/Tcc/IR/TccTypes.h"

#include "mlir/Dialect/LLVMIR/LLVMTypes.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "tcc/Dialect/Tcc/IR/TccDialect.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::tcc;

#define GET_TYPEDEF_CLASSES
#include "tcc/Dialect/Tcc/IR/TccTypes.cpp.inc"

void TccDialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "tcc/Dialect/Tcc/IR/TccTypes.cpp.inc"
      >();
}

bool mlir::tcc::isPointerInSpace(Type type, unsigned space) {
  auto pointer = dyn_cast<LLVM::LLVMPointerType>(type);
  return pointer && pointer.getAddressSpace() == space;
}

//===----------------------------------------------------------------------===//
// SharedType: `<` shape x element (`,` `stages` `=` n)? (`,` layout)? `>`
//===----------------------------------------------------------------------===//

Type SharedType::parse(AsmParser &parser) {
  SmallVector<int64_t> shape;
  Type elementType;
  int64_t stages = 1;
  SharedLayoutAttr layout;
  SMLoc location = parser.getCurrentLocation();
  if (parser.parseLess() || parser.parseDimensionList(shape, /*allowDynamic=*/false) ||
      parser.parseType(elementType))
    return {};
  bool hasStages = false;
  while (succeeded(parser.parseOptionalComma())) {
    if (succeeded(parser.parseOptionalKeyword("stages"))) {
      if (hasStages || layout)
        return parser.emitError(location, "'stages' stands once, before the layout"), Type();
      hasStages = true;
      if (parser.parseEqual() || parser.parseInteger(stages))
        return {};
      continue;
    }
    if (layout)
      return parser.emitError(location, "a shared buffer has one layout"), Type();
    if (parser.parseAttribute(layout))
      return {};
  }
  if (parser.parseGreater())
    return {};
  return getChecked([&] { return parser.emitError(location); }, parser.getContext(), shape,
                    elementType, stages, layout);
}

void SharedType::print(AsmPrinter &printer) const {
  printer << "<";
  for (int64_t extent : getShape())
    printer << extent << "x";
  printer << getElementType();
  if (getStages() != 1)
    printer << ", stages = " << getStages();
  if (getLayout())
    printer << ", " << getLayout();
  printer << ">";
}

LogicalResult SharedType::verify(function_ref<InFlightDiagnostic()> emitError,
                                 ArrayRef<int64_t> shape, Type elementType, int64_t stages,
                                 SharedLayoutAttr layout) {
  if (shape.size() != 2)
    return emitError() << "a shared buffer has two dimensions, found " << shape.size();
  if (llvm::any_of(shape, [](int64_t extent) { return extent <= 0; }))
    return emitError() << "a shared buffer's extents are positive";
  // 2^18 bytes is more than any chip's shared memory; larger products could overflow.
  constexpr int64_t maxExtent = 1 << 18;
  if (llvm::any_of(shape, [](int64_t extent) { return extent > maxExtent; }) || stages > maxExtent)
    return emitError() << "a shared buffer's extents and stages are at most " << maxExtent;
  if (stages < 1)
    return emitError() << "a shared buffer has at least one stage, found " << stages;
  if (!elementType.isIntOrFloat() || elementType.getIntOrFloatBitWidth() % 8 != 0)
    return emitError() << "a shared buffer's element is an integer or float of whole bytes, found "
                       << elementType;
  if (!layout)
    return success();
  int64_t innerBytes = shape[layout.getContiguous()] * elementType.getIntOrFloatBitWidth() / 8;
  if (layout.getSpan() != 0 && innerBytes % layout.getSpan() != 0)
    return emitError() << "blocks of " << layout.getSpan() << " bytes need rows of a multiple of "
                       << "that, found " << innerBytes << " bytes along dimension "
                       << layout.getContiguous();
  return success();
}

int64_t SharedType::getStageBytes() const {
  SharedLayoutAttr layout = getLayout();
  unsigned contiguous = layout ? layout.getContiguous() : 1;
  int64_t rowBytes = getShape()[contiguous] * getElementType().getIntOrFloatBitWidth() / 8;
  if (layout)
    rowBytes += layout.getPad();
  return rowBytes * getShape()[1 - contiguous];
}

int64_t SharedType::getAlignment() const {
  SharedLayoutAttr layout = getLayout();
  if (!layout || layout.getSpan() == 0)
    return 16;
  // A swizzle XORs address bits: its pattern repeats every 8 rows of a span. Other blocks are boxes
  // of TMA (PTX ISA, cp.async.bulk.tensor: 128 bytes).
  return layout.isSwizzled() ? 8 * layout.getSpan() : 128;
}

SharedType SharedType::withLayout(SharedLayoutAttr layout) const {
  return SharedType::get(getContext(), getShape(), getElementType(), getStages(), layout);
}

SharedType SharedType::withStages(int64_t stages) const {
  return SharedType::get(getContext(), getShape(), getElementType(), stages, getLayout());
}

//===----------------------------------------------------------------------===//
// PipelineType
//===----------------------------------------------------------------------===//

LogicalResult PipelineType::verify(function_ref<InFlightDiagnostic()> emitError, Transport,
                                   int64_t stages) {
  if (stages < 1)
    return emitError() << "a pipeline has at least one stage, found " << stages;
  return success();
}
