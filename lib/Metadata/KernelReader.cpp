//===- KernelReader.cpp - One kernel's JSON object to a Kernel ------------===//

#include "tcc/Metadata/Header.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/Twine.h"
#include <limits>

using namespace llvm;

namespace tcc::metadata {
namespace {

/// A JSON value and where it stands. The first error of a whole read is kept.
struct Cursor {
  const json::Value &value;
  std::string path;
  std::string &error;

  bool fail(const Twine &message) const {
    if (error.empty())
      error = (path + ": " + message).str();
    return false;
  }
};

bool read(Cursor at, std::string &out) {
  std::optional<StringRef> text = at.value.getAsString();
  if (!text)
    return at.fail("expected a string");
  out = text->str();
  return true;
}

bool read(Cursor at, int64_t &out) {
  std::optional<int64_t> integer = at.value.getAsInteger();
  if (!integer)
    return at.fail("expected an integer");
  out = *integer;
  return true;
}

bool read(Cursor at, unsigned &out) {
  std::optional<int64_t> integer = at.value.getAsInteger();
  if (!integer || *integer < 0 || *integer > std::numeric_limits<unsigned>::max())
    return at.fail("expected a non-negative integer");
  out = *integer;
  return true;
}

bool read(Cursor at, double &out) {
  std::optional<double> number = at.value.getAsNumber();
  // JSON has no infinities; the reference of a row maximum starts from one.
  if (std::optional<StringRef> text = at.value.getAsString())
    number = StringSwitch<std::optional<double>>(*text)
                 .Case("inf", std::numeric_limits<double>::infinity())
                 .Case("-inf", -std::numeric_limits<double>::infinity())
                 .Case("nan", std::numeric_limits<double>::quiet_NaN())
                 .Default(std::nullopt);
  if (!number)
    return at.fail("expected a number, \"inf\", \"-inf\" or \"nan\"");
  out = *number;
  return true;
}

bool read(Cursor at, bool &out) {
  std::optional<bool> truth = at.value.getAsBoolean();
  if (!truth)
    return at.fail("expected true or false");
  out = *truth;
  return true;
}

bool read(Cursor at, json::Object &out) {
  const json::Object *object = at.value.getAsObject();
  if (!object)
    return at.fail("expected an object");
  out = *object;
  return true;
}

bool read(Cursor at, Expr &out) {
  if (std::optional<int64_t> integer = at.value.getAsInteger()) {
    out = *integer;
    return true;
  }
  std::optional<StringRef> text = at.value.getAsString();
  if (!text)
    return at.fail("expected an integer or an expression");
  Expected<Expr> expr = Expr::parse(*text);
  if (!expr)
    return at.fail(toString(expr.takeError()));
  out = *expr;
  return true;
}

bool read(Cursor at, ElementType &out) {
  std::optional<StringRef> text = at.value.getAsString();
  std::optional<ElementType> type = text ? parseElementType(*text) : std::nullopt;
  if (!type)
    return at.fail("expected an element type such as \"f16\"");
  out = *type;
  return true;
}

bool read(Cursor at, RefOp &out) {
  std::optional<StringRef> text = at.value.getAsString();
  std::optional<RefOp> op = text ? parseRefOp(*text) : std::nullopt;
  if (!op)
    return at.fail("expected an operator such as \"matmul\"" +
                   (text ? ", found \"" + *text + "\"" : Twine()));
  out = *op;
  return true;
}

bool read(Cursor at, Direction &out) {
  StringRef text = at.value.getAsString().value_or("");
  if (!is_contained({"in", "out", "inout"}, text))
    return at.fail("expected \"in\", \"out\" or \"inout\"");
  out = text == "in" ? Direction::In : text == "out" ? Direction::Out : Direction::InOut;
  return true;
}

// The structs below are read by the templates that follow.
bool read(Cursor at, Argument &out);
bool read(Cursor at, TensorMap &out);
bool read(Cursor at, RefNode &out);
bool read(Cursor at, RefOutput &out);
bool read(Cursor at, NumericContract &out);

template <typename T> bool read(Cursor at, SmallVectorImpl<T> &out) {
  const json::Array *array = at.value.getAsArray();
  if (!array)
    return at.fail("expected a list");
  for (auto [index, element] : enumerate(*array))
    if (!read({element, (at.path + "[" + Twine(index) + "]").str(), at.error}, out.emplace_back()))
      return false;
  return true;
}

template <typename T, size_t n> bool read(Cursor at, std::array<T, n> &out) {
  const json::Array *array = at.value.getAsArray();
  if (!array || array->size() != n)
    return at.fail("expected a list of " + Twine(n));
  for (size_t i = 0; i < n; ++i)
    if (!read({(*array)[i], (at.path + "[" + Twine(i) + "]").str(), at.error}, out[i]))
      return false;
  return true;
}

/// The fields of one object. Unknown fields are refused, so that a misspelt precondition isn't
/// silently no precondition.
class Fields {
public:
  explicit Fields(Cursor at) : at(at), object(at.value.getAsObject()) {
    if (!object)
      at.fail("expected an object");
  }

  template <typename T> Fields &required(StringRef key, T &out) {
    if (!readField(key, out) && at.error.empty())
      at.fail("the field '" + key + "' is missing");
    return *this;
  }

  template <typename T> Fields &optional(StringRef key, T &out) {
    readField(key, out);
    return *this;
  }

  bool has(StringRef key) const { return object && object->get(key); }

  bool finish() {
    if (object && at.error.empty())
      for (const auto &field : *object)
        if (!is_contained(known, StringRef(field.first)))
          at.fail("unknown field '" + StringRef(field.first) + "'");
    return at.error.empty();
  }

private:
  template <typename T> bool readField(StringRef key, T &out) {
    known.push_back(key);
    const json::Value *value = object ? object->get(key) : nullptr;
    return value && read({*value, at.path + "." + key.str(), at.error}, out);
  }

  Cursor at;
  const json::Object *object;
  SmallVector<StringRef> known;
};

bool read(Cursor at, Argument &out) {
  return Fields(at)
      .required("name", out.name)
      .required("type", out.type)
      .required("shape", out.shape)
      .required("strides", out.strides)
      .required("direction", out.direction)
      .finish();
}

bool read(Cursor at, TensorMap &out) {
  std::string fill = "zero";
  Fields fields(at);
  fields.required("argument", out.argument)
      .required("type", out.type)
      .required("dims", out.dims)
      .required("box", out.box)
      .optional("elementStrides", out.elementStrides)
      .optional("swizzle", out.swizzle)
      .optional("l2Promotion", out.l2Promotion)
      .optional("oobFill", fill);
  if (!fields.has("elementStrides"))
    out.elementStrides.assign(out.dims.size(), 1);
  if (fill != "zero" && fill != "nan")
    at.fail("oobFill is \"" + fill + "\", expected \"zero\" or \"nan\"");
  out.oobFillNaN = fill == "nan";
  return fields.finish();
}

bool read(Cursor at, RefNode &out) {
  Fields fields(at);
  unsigned id; // checked against the position by readReference
  fields.required("id", id).required("op", out.op).required("type", out.type);
  fields.optional("dims", out.dims).optional("operands", out.operands);
  fields.optional("approximate", out.approximate);
  if (out.op == RefOp::Input)
    fields.required("argument", out.argument);
  if (out.op == RefOp::Constant)
    fields.required("value", out.value);
  if (out.op == RefOp::CmpF)
    fields.required("predicate", out.predicate);
  return fields.finish();
}

bool read(Cursor at, RefOutput &out) {
  return Fields(at).required("argument", out.argument).required("node", out.node).finish();
}

bool read(Cursor at, NumericContract &out) {
  return Fields(at)
      .required("lhs", out.lhs)
      .required("rhs", out.rhs)
      .required("accumulator", out.accumulator)
      .required("output", out.output)
      .optional("rounding", out.rounding)
      .finish();
}

/// The nodes' ids are for the reader's eye, and must count from 0.
bool checkIds(const json::Value &nodes, std::string &error) {
  for (auto [index, node] : enumerate(*nodes.getAsArray()))
    if (node.getAsObject()->getInteger("id") != int64_t(index))
      return Cursor{node, ("kernel.reference[" + Twine(index) + "]").str(), error}.fail(
          "expected the id " + Twine(index));
  return true;
}

bool readReference(Fields &fields, const json::Object &object, Kernel &out, std::string &error) {
  if (!fields.has("reference") && !fields.has("outputs"))
    return true;
  SmallVector<RefNode, 0> nodes;
  out.reference.emplace();
  fields.required("reference", nodes).required("outputs", out.reference->outputs);
  out.reference->nodes.assign(nodes.begin(), nodes.end());
  return error.empty() && checkIds(*object.get("reference"), error);
}

bool readKernel(Cursor at, Kernel &out) {
  Fields fields(at);
  int64_t schema = schemaVersion;
  fields.required("schema", schema);
  if (schema < 1 || schema > schemaVersion)
    return at.fail("schema " + Twine(schema) + ", this build reads up to schema " +
                   Twine(schemaVersion));
  fields.optional("compiler", out.compiler)
      .required("name", out.name)
      .required("entry", out.entry)
      .optional("variant", out.variant)
      .optional("target", out.target)
      .required("arguments", out.arguments)
      .required("grid", out.grid)
      .required("block", out.block)
      .optional("cluster", out.cluster)
      .optional("dynamicSharedBytes", out.dynamicSharedBytes)
      .optional("workspaceBytes", out.workspaceBytes)
      .optional("dependentLaunch", out.dependentLaunch)
      .optional("tensorMaps", out.tensorMaps)
      .optional("preconditions", out.preconditions)
      .optional("schedule", out.schedule);
  if (fields.has("numerics"))
    fields.required("numerics", out.numerics.emplace());
  if (const json::Object *object = at.value.getAsObject())
    readReference(fields, *object, out, at.error);
  return fields.finish();
}

} // namespace

Expected<Kernel> readKernel(StringRef json) {
  Expected<json::Value> value = json::parse(json);
  if (!value)
    return createStringError("malformed tcc header: " + toString(value.takeError()));
  Kernel kernel;
  std::string error;
  if (!readKernel(Cursor{*value, "kernel", error}, kernel))
    return createStringError("malformed tcc header: " + error);
  return kernel;
}

} // namespace tcc::metadata
