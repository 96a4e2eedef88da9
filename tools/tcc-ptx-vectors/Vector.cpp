//===- Vector.cpp - Reading the comment block of a test vector --*- C++ -*-===//

#include "Vector.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/Base64.h"

#include <cstring>

using namespace tcc::vectors;
using namespace tcc::emulator;
using llvm::Error;
using llvm::Expected;
using llvm::StringRef;

static Error malformed(const llvm::Twine &message) {
  return llvm::createStringError("comment block: " + message.str());
}

static Expected<std::vector<uint8_t>> decodeData(StringRef base64) {
  std::vector<char> decoded;
  if (Error e = llvm::decodeBase64(base64, decoded))
    return std::move(e);
  return std::vector<uint8_t>(decoded.begin(), decoded.end());
}

static std::optional<Dim3> parseDim(const llvm::json::Array *array) {
  if (!array || array->size() != 3)
    return std::nullopt;
  uint32_t values[3];
  for (unsigned i = 0; i < 3; ++i)
    values[i] = uint32_t((*array)[i].getAsInteger().value_or(0));
  return Dim3{values[0], values[1], values[2]};
}

/// Bytes as base64, or as a list of numbers of the buffer's "type".
static Expected<std::vector<uint8_t>> parseBytes(const llvm::json::Object &object,
                                                 const llvm::json::Value &value) {
  if (std::optional<StringRef> base64 = value.getAsString())
    return decodeData(*base64);
  const llvm::json::Array *list = value.getAsArray();
  StringRef type = object.getString("type").value_or("u32");
  unsigned bits = 0;
  if (!list || type.drop_front(!type.empty()).getAsInteger(10, bits) ||
      (bits != 8 && bits != 16 && bits != 32 && bits != 64))
    return malformed("a buffer's data is base64, or a list and a type such as u32 or f32");
  std::vector<uint8_t> bytes;
  for (const llvm::json::Value &element : *list) {
    uint64_t word = 0;
    if (type == "f32")
      word = llvm::bit_cast<uint32_t>(float(element.getAsNumber().value_or(0)));
    else if (type == "f64")
      word = llvm::bit_cast<uint64_t>(element.getAsNumber().value_or(0));
    else if (std::optional<uint64_t> number = element.getAsUINT64())
      word = *number;
    else
      word = uint64_t(element.getAsInteger().value_or(0));
    for (unsigned i = 0; i < bits / 8; ++i)
      bytes.push_back(uint8_t(word >> (8 * i)));
  }
  return bytes;
}

static Expected<Argument> parseBuffer(const llvm::json::Object &object) {
  Argument argument;
  argument.kind = Argument::Kind::Buffer;
  argument.bytes = uint64_t(object.getInteger("bytes").value_or(0));
  for (auto [key, target] : {std::pair("data", &argument.data), {"expect", &argument.expected}}) {
    const llvm::json::Value *value = object.get(key);
    if (!value)
      continue;
    Expected<std::vector<uint8_t>> bytes = parseBytes(object, *value);
    if (!bytes)
      return bytes.takeError();
    if (!object.getInteger("bytes"))
      argument.bytes = bytes->size();
    if (bytes->size() != argument.bytes)
      return malformed(llvm::Twine(key) + " has " + llvm::Twine(bytes->size()) + " bytes, not " +
                       llvm::Twine(argument.bytes));
    *target = std::move(*bytes);
  }
  argument.isCompared = object.get("expect") != nullptr;
  std::optional<int64_t> fill = object.getInteger("fill");
  if (argument.data.empty() && fill)
    argument.data.assign(argument.bytes, uint8_t(*fill));
  argument.isInitialized = !argument.data.empty() || argument.bytes == 0;
  return argument;
}

static Expected<Argument> parseScalar(const llvm::json::Object &object) {
  static constexpr std::pair<StringRef, unsigned> kSizes[] = {
      {"u8", 1},  {"s8", 1},  {"b8", 1},  {"u16", 2}, {"s16", 2},
      {"b16", 2}, {"f16", 2}, {"u32", 4}, {"s32", 4}, {"b32", 4},
      {"f32", 4}, {"u64", 8}, {"s64", 8}, {"b64", 8}, {"f64", 8}};
  StringRef type = object.getString("type").value_or("");
  const llvm::json::Value *value = object.get("value");
  for (auto [name, size] : kSizes) {
    if (name != type || !value)
      continue;
    uint64_t bits = 0;
    if (std::optional<uint64_t> integer = value->getAsUINT64())
      bits = *integer;
    else if (std::optional<int64_t> negative = value->getAsInteger())
      bits = uint64_t(*negative);
    else
      break;
    Argument argument;
    argument.data.resize(size);
    std::memcpy(argument.data.data(), &bits, size);
    return argument;
  }
  return malformed("a scalar needs a type such as u32 and a value");
}

static Expected<Argument> parseTensorMap(const llvm::json::Object &object) {
  static constexpr StringRef kTypes[] = {"u8",  "u16", "u32",  "s32",     "u64",  "s64",     "f16",
                                         "f32", "f64", "bf16", "f32_ftz", "tf32", "tf32_ftz"};
  static constexpr StringRef kSwizzles[] = {"none", "32B", "64B", "128B"};
  Argument argument;
  argument.kind = Argument::Kind::TensorMap;
  TensorMapDescriptor &map = argument.map;
  auto indexOf = [](llvm::ArrayRef<StringRef> names, StringRef name) {
    return size_t(llvm::find(names, name) - names.begin());
  };
  size_t type = indexOf(kTypes, object.getString("dtype").value_or(""));
  size_t swizzle = indexOf(kSwizzles, object.getString("swizzle").value_or("none"));
  if (type == std::size(kTypes) || swizzle == std::size(kSwizzles))
    return malformed("unknown element type or swizzle of a tensor map");
  map.elementType = TensorMapDescriptor::ElementType(type);
  map.swizzle = TensorMapDescriptor::Swizzle(swizzle);
  map.fill = object.getString("oob").value_or("zero") == "nan" ? TensorMapDescriptor::Fill::NaN
                                                               : TensorMapDescriptor::Fill::Zeros;
  map.interleave = TensorMapDescriptor::Interleave(object.getInteger("interleave").value_or(0) & 3);
  auto read = [&](StringRef key, auto &list) {
    if (const llvm::json::Array *array = object.getArray(key))
      for (const llvm::json::Value &value : *array)
        list.push_back(value.getAsInteger().value_or(0));
  };
  read("dims", map.dims);
  read("strides", map.strides);
  read("box", map.box);
  read("element_strides", map.elementStrides);
  argument.buffer = uint64_t(object.getInteger("buffer").value_or(0));
  argument.offset = uint64_t(object.getInteger("offset").value_or(0));
  return argument;
}

static Expected<Argument> parseKind(const llvm::json::Object &object) {
  StringRef kind = object.getString("kind").value_or("");
  if (kind == "buffer")
    return parseBuffer(object);
  if (kind == "scalar")
    return parseScalar(object);
  if (kind == "tensormap")
    return parseTensorMap(object);
  if (kind == "bytes") {
    std::string bytes;
    if (!llvm::tryGetFromHex(object.getString("hex").value_or(""), bytes))
      return malformed("expected hexadecimal digits");
    Argument argument;
    argument.data.assign(bytes.begin(), bytes.end());
    return argument;
  }
  return malformed("unknown argument kind '" + kind + "'");
}

static Expected<Argument> parseArgument(const llvm::json::Object &object) {
  Expected<Argument> argument = parseKind(object);
  if (argument) {
    argument->isHidden = object.getBoolean("hidden").value_or(false);
    argument->isAppended = object.getBoolean("append").value_or(false);
  }
  return argument;
}

static Error parseHead(const llvm::json::Object &object, Vector &vector) {
  std::optional<Dim3> grid = parseDim(object.getArray("grid"));
  std::optional<Dim3> block = parseDim(object.getArray("block"));
  if (!grid || !block)
    return malformed("expected grid and block of three numbers each");
  vector.config.kernel = object.getString("kernel").value_or("k").str();
  vector.config.grid = *grid;
  vector.config.block = *block;
  vector.config.cluster = parseDim(object.getArray("cluster"));
  vector.config.dynamicSharedBytes = uint64_t(object.getInteger("dynamic_shared").value_or(0));
  vector.compare = object.getString("compare").value_or("exact").str();
  vector.expectsFault = object.getString("family").value_or("") == "fault" ||
                        object.getString("expect_error").has_value();
  StringRef operations = object.getString("notes").value_or("").split("ops: ").second;
  while (!operations.empty()) {
    StringRef operation;
    std::tie(operation, operations) = operations.split(" | ");
    vector.operations.push_back(operation.str());
  }
  vector.options.chip = object.getString("chip").value_or("").str();
  if (std::optional<int64_t> steps = object.getInteger("max_steps"))
    vector.options.maxSteps = uint64_t(*steps);
  if (const llvm::json::Object *finding = object.getObject("expect_finding")) {
    ExpectedFinding &expected = vector.expectedFinding.emplace();
    expected.kind = finding->getString("kind").value_or("").str();
    expected.message = finding->getString("message").value_or("").str();
  }
  return Error::success();
}

/// The line with the comment `//< finding`.
static std::optional<uint64_t> markedLine(StringRef text) {
  uint64_t number = 0;
  while (!text.empty()) {
    StringRef line;
    std::tie(line, text) = text.split('\n');
    ++number;
    if (line.contains("//< finding"))
      return number;
  }
  return std::nullopt;
}

Expected<Vector> tcc::vectors::parseVector(StringRef text) {
  Vector vector;
  bool hasHead = false;
  for (StringRef rest = text; rest.starts_with("//");) {
    StringRef line;
    std::tie(line, rest) = rest.split('\n');
    bool isArgument = line.consume_front("//!arg");
    if (!isArgument && !line.consume_front("//!"))
      continue;
    Expected<llvm::json::Value> json = llvm::json::parse(line.trim());
    if (!json)
      return json.takeError();
    const llvm::json::Object *object = json->getAsObject();
    if (!object)
      return malformed("expected a JSON object");
    if (isArgument) {
      Expected<Argument> argument = parseArgument(*object);
      if (!argument)
        return argument.takeError();
      vector.arguments.push_back(std::move(*argument));
      continue;
    }
    hasHead = true;
    if (Error e = parseHead(*object, vector))
      return std::move(e);
  }
  if (vector.expectedFinding)
    vector.expectedFinding->line = markedLine(text);
  if (!hasHead)
    return malformed("expected a line //! {...} that describes the launch");
  return vector;
}
