//===- HeaderWriter.cpp - Writing the PTX header --------------------------===//

#include "tcc/Metadata/Header.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <cmath>

using namespace llvm;

namespace tcc::metadata {
namespace {

/// Compact JSON of one field; json::OStream keeps the order in which attributes are written.
std::string compact(function_ref<void(json::OStream &)> write) {
  std::string text;
  raw_string_ostream os(text);
  json::OStream json(os);
  write(json);
  return text;
}

json::Value toJSON(const Expr &expr) {
  if (expr.isConstant())
    return expr.getConstant();
  return expr.str();
}

json::Value toJSON(const std::string &text) { return text; }
json::Value toJSON(int64_t value) { return value; }
json::Value toJSON(unsigned value) { return value; }

template <typename Range> void writeList(json::OStream &json, StringRef key, const Range &values) {
  json.attributeArray(key, [&] {
    for (const auto &value : values)
      json.value(toJSON(value));
  });
}

/// JSON has no infinities and no NaN.
json::Value numberOrName(double value) {
  if (std::isnan(value))
    return "nan";
  if (std::isinf(value))
    return value < 0 ? "-inf" : "inf";
  return value;
}

StringRef spell(Direction direction) {
  switch (direction) {
  case Direction::In:
    return "in";
  case Direction::Out:
    return "out";
  case Direction::InOut:
    return "inout";
  }
  return "";
}

void writeArgument(json::OStream &json, const Argument &argument) {
  json.object([&] {
    json.attribute("name", argument.name);
    json.attribute("type", getName(argument.type));
    writeList(json, "shape", argument.shape);
    writeList(json, "strides", argument.strides);
    json.attribute("direction", spell(argument.direction));
  });
}

void writeTensorMap(json::OStream &json, const TensorMap &map) {
  json.object([&] {
    json.attribute("argument", map.argument);
    json.attribute("type", getName(map.type));
    writeList(json, "dims", map.dims);
    writeList(json, "box", map.box);
    writeList(json, "elementStrides", map.elementStrides);
    json.attribute("swizzle", map.swizzle);
    json.attribute("l2Promotion", map.l2Promotion);
    json.attribute("oobFill", map.oobFillNaN ? "nan" : "zero");
  });
}

void writeNode(json::OStream &json, unsigned id, const RefNode &node) {
  json.object([&] {
    json.attribute("id", id);
    json.attribute("op", getName(node.op));
    if (!node.operands.empty())
      writeList(json, "operands", node.operands);
    if (node.op == RefOp::Input)
      json.attribute("argument", node.argument);
    if (node.op == RefOp::Constant)
      json.attribute("value", numberOrName(node.value));
    if (node.op == RefOp::CmpF)
      json.attribute("predicate", node.predicate);
    if (node.approximate)
      json.attribute("approximate", true);
    writeList(json, "dims", node.dims);
    json.attribute("type", getName(node.type));
  });
}

void writeNumerics(json::OStream &json, const NumericContract &numerics) {
  json.object([&] {
    json.attribute("lhs", getName(numerics.lhs));
    json.attribute("rhs", getName(numerics.rhs));
    json.attribute("accumulator", getName(numerics.accumulator));
    json.attribute("output", getName(numerics.output));
    json.attribute("rounding", numerics.rounding);
  });
}

/// Lays the fields out for people: one field a line, and one line for each element of the lists
/// that hold objects.
class KernelWriter {
public:
  void field(StringRef key, const json::Value &value) {
    begin(key) << compact([&](json::OStream &json) { json.value(value); });
  }

  template <typename Range> void list(StringRef key, const Range &values) {
    begin(key) << compact([&](json::OStream &json) {
      json.array([&] {
        for (const auto &value : values)
          json.value(toJSON(value));
      });
    });
  }

  void object(StringRef key, function_ref<void(json::OStream &)> write) {
    begin(key) << compact(write);
  }

  void objects(StringRef key, size_t count, function_ref<void(json::OStream &, size_t)> write,
               StringRef indent = "  ") {
    begin(key) << "[";
    for (size_t i = 0; i < count; ++i)
      os << (i ? ",\n" : "\n") << indent << "  "
         << compact([&](json::OStream &json) { write(json, i); });
    os << "]";
  }

  std::string finish() {
    os << "\n}";
    return text;
  }

private:
  raw_ostream &begin(StringRef key) {
    os << (text.empty() ? "{\n" : ",\n") << "  \"" << key << "\": ";
    return os;
  }

  std::string text;
  raw_string_ostream os{text};
};

} // namespace

std::string writeKernel(const Kernel &kernel) {
  KernelWriter writer;
  writer.field("schema", schemaVersion);
  writer.field("compiler", kernel.compiler);
  writer.field("name", kernel.name);
  writer.field("entry", kernel.entry);
  writer.field("variant", kernel.variant);
  writer.field("target", kernel.target);
  writer.objects("arguments", kernel.arguments.size(),
                 [&](json::OStream &json, size_t i) { writeArgument(json, kernel.arguments[i]); });
  writer.list("grid", kernel.grid);
  writer.list("block", kernel.block);
  writer.list("cluster", kernel.cluster);
  writer.field("dynamicSharedBytes", kernel.dynamicSharedBytes);
  writer.field("workspaceBytes", toJSON(kernel.workspaceBytes));
  if (kernel.dependentLaunch)
    writer.field("dependentLaunch", true);
  writer.objects("tensorMaps", kernel.tensorMaps.size(), [&](json::OStream &json, size_t i) {
    writeTensorMap(json, kernel.tensorMaps[i]);
  });
  writer.list("preconditions", kernel.preconditions);
  writer.field("schedule", json::Object(kernel.schedule));
  if (kernel.numerics)
    writer.object("numerics", [&](json::OStream &json) { writeNumerics(json, *kernel.numerics); });
  if (const std::optional<Reference> &reference = kernel.reference) {
    writer.objects("reference", reference->nodes.size(),
                   [&](json::OStream &json, size_t i) { writeNode(json, i, reference->nodes[i]); });
    writer.objects("outputs", reference->outputs.size(), [&](json::OStream &json, size_t i) {
      json.object([&] {
        json.attribute("argument", reference->outputs[i].argument);
        json.attribute("node", reference->outputs[i].node);
      });
    });
  }
  return writer.finish();
}

Error writeHeader(raw_ostream &os, ArrayRef<Kernel> kernels) {
  for (const Kernel &kernel : kernels)
    if (Error error = kernel.verify())
      return error;
  os << "// tcc-metadata begin: schema " << schemaVersion << ", " << kernels.size() << " kernel"
     << (kernels.size() == 1 ? "" : "s") << "\n";
  for (const Kernel &kernel : kernels) {
    std::string text = writeKernel(kernel);
    for (StringRef line : split(text, '\n'))
      os << "// " << line << "\n";
  }
  os << "// tcc-metadata end\n";
  return Error::success();
}

} // namespace tcc::metadata
