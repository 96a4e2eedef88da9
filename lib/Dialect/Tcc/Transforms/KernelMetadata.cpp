//===- KernelMetadata.cpp - A kernel's description for the launcher ---------------------===//

#include "KernelMetadata.h"
#include "Kernel.h"
#include "Target.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "tcc/Dialect/Tcc/IR/TccOps.h"
#include "tcc/Metadata/Header.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cmath>

using namespace mlir;
using namespace mlir::tcc;
namespace json = llvm::json;

static std::string spell(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

/// Attributes of the kinds that tcc's discardable attributes are made of, as JSON.
static json::Value toJSON(Attribute attribute) {
  return llvm::TypeSwitch<Attribute, json::Value>(attribute)
      .Case([](BoolAttr value) { return json::Value(value.getValue()); })
      .Case([](IntegerAttr value) { return json::Value(value.getInt()); })
      .Case([](FloatAttr value) {
        double number = value.getValueAsDouble();
        if (std::isnan(number))
          return json::Value("nan");
        if (std::isinf(number))
          return json::Value(number < 0 ? "-inf" : "inf");
        return json::Value(number);
      })
      .Case([](StringAttr value) { return json::Value(value.getValue()); })
      .Case([](TypeAttr value) { return json::Value(spell(value.getValue())); })
      .Case([](ArrayAttr values) {
        json::Array array;
        for (Attribute value : values)
          array.push_back(toJSON(value));
        return json::Value(std::move(array));
      })
      .Case([](DictionaryAttr fields) {
        json::Object object;
        for (NamedAttribute field : fields)
          object[field.getName().getValue()] = toJSON(field.getValue());
        return json::Value(std::move(object));
      })
      .Default([](Attribute other) {
        std::string text;
        llvm::raw_string_ostream(text) << other;
        return json::Value(text);
      });
}

static json::Object toJSON(ScheduleAttr schedule) {
  json::Object object{
      {"block", json::Array(schedule.getBlock())},
      {"warps", json::Array(schedule.getWarps())},
      {"mma", stringifyMmaFamily(schedule.getMma())},
      {"transport", stringifyTransport(schedule.getTransport())},
      {"stages", schedule.getStages()},
      {"epilogue", stringifyEpilogue(schedule.getEpilogue())},
      {"roles", stringifyRoles(schedule.getRoles())},
      {"raster", schedule.getRaster()},
      {"persistent", schedule.getPersistent()},
  };
  if (!schedule.getAlignment().empty())
    object["alignment"] = json::Array(schedule.getAlignment());
  if (!schedule.getCluster().empty())
    object["cluster"] = json::Array(schedule.getCluster());
  if (schedule.getPending())
    object["pending"] = schedule.getPending();
  if (schedule.getChunk())
    object["chunk"] = schedule.getChunk();
  if (schedule.getSwapped())
    object["swapped"] = true;
  if (schedule.getDependentLaunch())
    object["dependent_launch"] = true;
  if (schedule.getSplitK() != 1)
    object["split_k"] = schedule.getSplitK();
  if (schedule.getProducerWarps() != 4)
    object["producer_warps"] = schedule.getProducerWarps();
  return object;
}

namespace {

class MetadataBuilder {
public:
  explicit MetadataBuilder(func::FuncOp kernel) : kernel(kernel) {}

  FailureOr<json::Object> build();

private:
  LogicalResult addArguments(json::Object &object);
  FailureOr<json::Object> buildArgument(unsigned index);
  /// The strides as the launcher sees them: integers, symbols, or what an identity layout implies.
  json::Array buildStrides(MemRefType type, StringRef name, ArrayAttr dims);
  void addReference(json::Object &object);
  void addNumerics(json::Object &object);

  template <typename AttrT> FailureOr<AttrT> require(StringRef name, StringRef maker) {
    if (auto attribute = kernel->getAttrOfType<AttrT>(name))
      return attribute;
    return kernel.emitOpError() << "expects the attribute '" << name << "', which " << maker
                                << " sets",
           failure();
  }

  func::FuncOp kernel;
};

} // namespace

json::Array MetadataBuilder::buildStrides(MemRefType type, StringRef name, ArrayAttr dims) {
  json::Array result;
  for (auto [dim, stride] : llvm::enumerate(getStrides(type))) {
    if (!ShapedType::isDynamic(stride)) {
      result.push_back(stride);
      continue;
    }
    if (!type.getLayout().isIdentity()) {
      result.push_back(::tcc::metadata::getStrideSymbol(name, dim));
      continue;
    }
    std::string product;
    for (unsigned inner = dim + 1; inner < type.getRank(); ++inner) {
      product += product.empty() ? "" : " * ";
      product += type.isDynamicDim(inner) ? cast<StringAttr>(dims[inner]).getValue().str()
                                          : std::to_string(type.getDimSize(inner));
    }
    result.push_back(product);
  }
  return result;
}

FailureOr<json::Object> MetadataBuilder::buildArgument(unsigned index) {
  auto name = kernel.getArgAttrOfType<StringAttr>(index, TccDialect::kNameAttr);
  auto dims = kernel.getArgAttrOfType<ArrayAttr>(index, TccDialect::kDimsAttr);
  auto direction = kernel.getArgAttrOfType<StringAttr>(index, TccDialect::kDirectionAttr);
  auto type = cast<MemRefType>(kernel.getArgumentTypes()[index]);
  if (!name || !dims || !direction)
    return kernel.emitOpError() << "has argument " << index << " without '" << TccDialect::kNameAttr
                                << "', '" << TccDialect::kDimsAttr << "' or '"
                                << TccDialect::kDirectionAttr << "'; tcc-select-target sets them",
           failure();
  if (static_cast<int64_t>(dims.size()) != type.getRank())
    return kernel.emitOpError() << "has argument '" << name.getValue() << "' of rank "
                                << type.getRank() << " with " << dims.size() << " names in '"
                                << TccDialect::kDimsAttr << "'",
           failure();
  json::Array shape;
  for (auto [size, dim] : llvm::zip_equal(type.getShape(), dims))
    shape.push_back(ShapedType::isDynamic(size) ? toJSON(dim) : json::Value(size));
  return json::Object{{"name", name.getValue()},
                      {"type", spell(type.getElementType())},
                      {"shape", std::move(shape)},
                      {"strides", buildStrides(type, name, dims)},
                      {"direction", direction.getValue()}};
}

LogicalResult MetadataBuilder::addArguments(json::Object &object) {
  json::Array arguments;
  for (unsigned i = 0; i < kernel.getNumArguments(); ++i) {
    if (!isa<MemRefType>(kernel.getArgumentTypes()[i])) // a tensor map
      continue;
    FailureOr<json::Object> argument = buildArgument(i);
    if (failed(argument))
      return failure();
    arguments.push_back(std::move(*argument));
  }
  object["arguments"] = std::move(arguments);
  return success();
}

/// `tcc.reference` lists nodes, then outputs; the header keeps them apart.
void MetadataBuilder::addReference(json::Object &object) {
  auto reference = kernel->getAttrOfType<ArrayAttr>(TccDialect::kReferenceAttr);
  if (!reference)
    return;
  json::Array nodes, outputs;
  for (Attribute node : reference) {
    json::Value value = toJSON(node);
    json::Object *fields = value.getAsObject();
    if (fields && fields->getString("op") == "output") {
      fields->erase("op");
      outputs.push_back(std::move(value));
    } else {
      nodes.push_back(std::move(value));
    }
  }
  object["reference"] = std::move(nodes);
  object["outputs"] = std::move(outputs);
}

/// The arithmetic is that of the kernel's atoms; the output's type that of what it writes.
void MetadataBuilder::addNumerics(json::Object &object) {
  Type element;
  kernel.walk([&](Operation *op) {
    if (auto mma = dyn_cast<MmaOp>(op))
      element = getElementTypeOrSelf(mma.getA().front().getType());
    else if (auto wgmma = dyn_cast<WgmmaOp>(op))
      element = wgmma.getElementType();
    return element ? WalkResult::interrupt() : WalkResult::advance();
  });
  if (!element)
    return;
  for (unsigned i = 0; i < kernel.getNumArguments(); ++i) {
    auto direction = kernel.getArgAttrOfType<StringAttr>(i, TccDialect::kDirectionAttr);
    if (!direction || direction.getValue() == "in")
      continue;
    object["numerics"] = json::Object{
        {"lhs", spell(element)},
        {"rhs", spell(element)},
        {"accumulator", "f32"},
        {"output", spell(cast<MemRefType>(kernel.getArgumentTypes()[i]).getElementType())}};
    return;
  }
}

FailureOr<json::Object> MetadataBuilder::build() {
  FailureOr<StringAttr> name, variant;
  FailureOr<ArrayAttr> conditions, grid;
  FailureOr<ScheduleAttr> schedule;
  FailureOr<IntegerAttr> block, shared;
  auto get = [&](auto &attribute, StringRef key, StringRef maker) {
    attribute = require<std::decay_t<decltype(*attribute)>>(key, maker);
    return succeeded(attribute);
  };
  if (!get(name, TccDialect::kKernelAttr, "tcc-select-target") ||
      !get(variant, TccDialect::kVariantAttr, "tcc-select-target") ||
      !get(conditions, TccDialect::kPreconditionsAttr, "tcc-select-target") ||
      !get(schedule, TccDialect::kScheduleAttr, "tcc-select-target") ||
      !get(grid, TccDialect::kGridAttr, "tcc-map-grid") ||
      !get(block, TccDialect::kBlockAttr, "tcc-map-grid") ||
      !get(shared, TccDialect::kSharedBytesAttr, "tcc-finalize-kernel"))
    return failure();
  FailureOr<const ::tcc::arch::Chip *> chip = getChip(kernel);
  if (failed(chip))
    return failure();

  json::Object object{
      {"schema", ::tcc::metadata::schemaVersion},
      {"compiler", "tcc " TCC_VERSION},
      {"name", name->getValue()},
      {"entry", kernel.getName()},
      {"variant", variant->getValue()},
      {"target", (*chip)->name()},
      {"grid", toJSON(*grid)},
      {"block", json::Array{block->getInt(), 1, 1}},
      {"dynamicSharedBytes", shared->getInt()},
      {"preconditions", toJSON(*conditions)},
      {"schedule", toJSON(*schedule)},
  };
  if (!schedule->getCluster().empty() || schedule->getSplitK() > 1)
    object["cluster"] = json::Array{schedule->getClusterBlocks(), 1, 1};
  if (schedule->getDependentLaunch())
    object["dependentLaunch"] = true;
  if (failed(addArguments(object)))
    return failure();
  if (auto maps = kernel->getAttrOfType<ArrayAttr>(TccDialect::kTensorMapsAttr))
    object["tensorMaps"] = toJSON(maps);
  addReference(object);
  addNumerics(object);
  return object;
}

FailureOr<std::string> mlir::tcc::buildMetadata(func::FuncOp kernel) {
  FailureOr<json::Object> object = MetadataBuilder(kernel).build();
  if (failed(object))
    return failure();
  std::string text;
  llvm::raw_string_ostream(text) << json::Value(std::move(*object));
  // Reading it back checks every field, expressions included.
  auto metadata = ::tcc::metadata::readKernel(text);
  if (!metadata)
    return kernel.emitOpError() << "has attributes that don't describe a kernel: "
                                << llvm::toString(metadata.takeError()),
           failure();
  if (llvm::Error error = metadata->verify())
    return kernel.emitOpError() << "has attributes that don't describe a kernel: "
                                << llvm::toString(std::move(error)),
           failure();
  return ::tcc::metadata::writeKernel(*metadata);
}
