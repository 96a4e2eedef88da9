//===- VectorFile.cpp - A kernel with its inputs and outputs --------------===//

#include "VectorFile.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/Base64.h"
#include "llvm/Support/JSON.h"

using namespace tcc;
using namespace tcc::emulator;
namespace json = llvm::json;
using Map = TensorMapDescriptor;

static llvm::Error invalid(const llvm::Twine &message) {
  return llvm::createStringError("vector: " + message);
}

/// A list of non-negative numbers.
template <typename T>
static llvm::Error readNumbers(const json::Object &object, llvm::StringRef key,
                               std::vector<T> &numbers) {
  const json::Array *list = object.getArray(key);
  if (!list)
    return invalid("'" + key + "' must be a list");
  for (const json::Value &value : *list) {
    std::optional<uint64_t> number = value.getAsUINT64();
    if (!number)
      return invalid("'" + key + "' must hold numbers");
    numbers.push_back(T(*number));
  }
  return llvm::Error::success();
}

static llvm::Error readDim(const json::Object &object, llvm::StringRef key, Dim3 &dim) {
  std::vector<uint32_t> numbers;
  if (llvm::Error error = readNumbers(object, key, numbers))
    return error;
  if (numbers.size() != 3)
    return invalid("'" + key + "' must hold three numbers");
  dim = {numbers[0], numbers[1], numbers[2]};
  return llvm::Error::success();
}

static llvm::Error readBase64(const json::Object &object, llvm::StringRef key,
                              std::vector<uint8_t> &bytes) {
  std::vector<char> decoded;
  if (llvm::Error error = llvm::decodeBase64(*object.getString(key), decoded))
    return error;
  bytes.assign(decoded.begin(), decoded.end());
  return llvm::Error::success();
}

static llvm::Error readBuffer(const json::Object &object, VectorArgument &argument) {
  argument.kind = VectorArgument::Kind::Buffer;
  argument.bytes = uint64_t(object.getInteger("bytes").value_or(0));
  argument.fill = uint8_t(object.getInteger("fill").value_or(0xcd));
  if (object.getString("data"))
    if (llvm::Error error = readBase64(object, "data", argument.data))
      return error;
  if (object.getString("expect"))
    if (llvm::Error error = readBase64(object, "expect", argument.expected.emplace()))
      return error;
  if (argument.data.size() > argument.bytes ||
      (argument.expected && argument.expected->size() != argument.bytes))
    return invalid("the data or the expectation of a buffer has another size than 'bytes'");
  return llvm::Error::success();
}

static llvm::Error readScalar(const json::Object &object, VectorArgument &argument) {
  llvm::StringRef type = object.getString("type").value_or("");
  const json::Value *value = object.get("value");
  unsigned bits = 0;
  if (!value || type.drop_front(type.empty() ? 0 : 1).ltrim('f').getAsInteger(10, bits) ||
      (bits != 8 && bits != 16 && bits != 32 && bits != 64))
    return invalid("a scalar has a type like u32 and a value");
  uint64_t number = 0;
  if (std::optional<uint64_t> positive = value->getAsUINT64())
    number = *positive;
  else if (std::optional<int64_t> negative = value->getAsInteger())
    number = uint64_t(*negative);
  else
    return invalid("the value of a scalar must be a number, of a float its bits");
  for (unsigned i = 0; i < bits / 8; ++i)
    argument.data.push_back(uint8_t(number >> (8 * i)));
  return llvm::Error::success();
}

static std::optional<Map::ElementType> parseElementType(llvm::StringRef name) {
  return llvm::StringSwitch<std::optional<Map::ElementType>>(name)
      .Case("u8", Map::ElementType::U8)
      .Case("u16", Map::ElementType::U16)
      .Case("u32", Map::ElementType::U32)
      .Case("s32", Map::ElementType::S32)
      .Case("u64", Map::ElementType::U64)
      .Case("s64", Map::ElementType::S64)
      .Case("f16", Map::ElementType::F16)
      .Case("f32", Map::ElementType::F32)
      .Case("f64", Map::ElementType::F64)
      .Case("bf16", Map::ElementType::BF16)
      .Case("f32_ftz", Map::ElementType::F32FTZ)
      .Case("tf32", Map::ElementType::TF32)
      .Case("tf32_ftz", Map::ElementType::TF32FTZ)
      .Default(std::nullopt);
}

static llvm::Error readTensorMap(const json::Object &object, VectorArgument &argument) {
  argument.kind = VectorArgument::Kind::TensorMap;
  Map &map = argument.map;
  if (llvm::Error error = readNumbers(object, "dims", map.dims))
    return error;
  if (llvm::Error error = readNumbers(object, "strides", map.strides))
    return error;
  if (llvm::Error error = readNumbers(object, "box", map.box))
    return error;
  if (llvm::Error error = readNumbers(object, "element_strides", map.elementStrides))
    return error;
  auto type = parseElementType(object.getString("dtype").value_or(""));
  auto swizzle =
      llvm::StringSwitch<std::optional<Map::Swizzle>>(object.getString("swizzle").value_or(""))
          .Case("none", Map::Swizzle::None)
          .Case("32B", Map::Swizzle::B32)
          .Case("64B", Map::Swizzle::B64)
          .Case("128B", Map::Swizzle::B128)
          .Default(std::nullopt);
  std::optional<int64_t> buffer = object.getInteger("buffer");
  if (!type || !swizzle || !buffer)
    return invalid("a tensor map needs a known dtype and swizzle, and a buffer");
  map.elementType = *type;
  map.swizzle = *swizzle;
  map.interleave = Map::Interleave(object.getInteger("interleave").value_or(0));
  map.fill = object.getString("oob") == "nan" ? Map::Fill::NaN : Map::Fill::Zeros;
  argument.buffer = uint64_t(*buffer);
  return llvm::Error::success();
}

static llvm::Error readArgument(const json::Object &object, VectorArgument &argument) {
  llvm::StringRef kind = object.getString("kind").value_or("");
  if (kind == "buffer")
    return readBuffer(object, argument);
  if (kind == "scalar")
    return readScalar(object, argument);
  if (kind == "tensormap")
    return readTensorMap(object, argument);
  if (kind == "bytes") {
    std::string bytes;
    if (!llvm::tryGetFromHex(object.getString("hex").value_or(""), bytes))
      return invalid("'hex' must hold hexadecimal digits");
    argument.data.assign(bytes.begin(), bytes.end());
    return llvm::Error::success();
  }
  return invalid("no such kind of argument: '" + kind + "'");
}

static llvm::Error readHeader(const json::Object &object, VectorFile &vector) {
  vector.launch.kernel = object.getString("kernel").value_or("k").str();
  if (llvm::Error error = readDim(object, "grid", vector.launch.grid))
    return error;
  if (llvm::Error error = readDim(object, "block", vector.launch.block))
    return error;
  if (object.getArray("cluster"))
    if (llvm::Error error = readDim(object, "cluster", vector.launch.cluster.emplace()))
      return error;
  vector.launch.dynamicSharedBytes = uint64_t(object.getInteger("dynamic_shared").value_or(0));
  vector.family = object.getString("family").value_or("").str();
  vector.compare = object.getString("compare").value_or("exact").str();
  vector.expectsError = object.getString("expect_error").has_value();
  llvm::StringRef notes = object.getString("notes").value_or("");
  llvm::StringRef list = notes.split("ops: ").second;
  while (!list.empty()) {
    llvm::StringRef operation;
    std::tie(operation, list) = list.split(" | ");
    vector.operations.push_back(operation.str());
  }
  return llvm::Error::success();
}

llvm::Expected<VectorFile> tcc::parseVectorFile(llvm::StringRef text) {
  VectorFile vector;
  vector.text = text.str();
  bool hasHeader = false;
  while (!text.empty()) {
    llvm::StringRef line;
    std::tie(line, text) = text.split('\n');
    bool isArgument = line.consume_front("//!arg");
    if (!isArgument && !line.consume_front("//!"))
      break;
    llvm::Expected<json::Value> value = json::parse(line);
    if (!value)
      return value.takeError();
    const json::Object *object = value->getAsObject();
    if (!object)
      return invalid("a comment with //! holds one JSON object");
    llvm::Error error = isArgument ? readArgument(*object, vector.arguments.emplace_back())
                                   : readHeader(*object, vector);
    if (error)
      return error;
    hasHeader |= !isArgument;
  }
  if (!hasHeader)
    return invalid("the file begins without a line '//! {...}'");
  return vector;
}
