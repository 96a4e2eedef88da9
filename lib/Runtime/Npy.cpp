//===- Npy.cpp - NumPy's .npy files ---------------------------------------===//

#include "tcc/Runtime/Npy.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/MathExtras.h"
#include <cstring>
#include <optional>

using namespace llvm;

namespace tcc::runtime {

static constexpr StringLiteral magic("\x93NUMPY");

//===----------------------------------------------------------------------===//
// The header: a Python dictionary
//===----------------------------------------------------------------------===//

namespace {

/// `{'descr': '<f2', 'fortran_order': False, 'shape': (4, 8), }`
class HeaderParser {
public:
  HeaderParser(StringRef text, NpyArray &out) : rest(text), out(out) {}

  Error parse() {
    if (!consume("{"))
      return error("expected '{'");
    while (!consume("}")) {
      std::optional<StringRef> key = parseString();
      if (!key || !consume(":"))
        return error("expected a key and ':'");
      if (Error problem = parseValue(*key))
        return problem;
      consume(",");
    }
    if (!hasDescr || !hasOrder || !hasShape)
      return error("expected the keys 'descr', 'fortran_order' and 'shape'");
    return Error::success();
  }

private:
  Error error(const Twine &what) { return createStringError("malformed .npy header: " + what); }

  bool consume(StringRef token) {
    rest = rest.ltrim();
    return rest.consume_front(token);
  }

  std::optional<StringRef> parseString() {
    for (StringRef quote : {"'", "\""}) {
      if (!consume(quote))
        continue;
      size_t end = rest.find(quote);
      if (end == StringRef::npos)
        return std::nullopt;
      StringRef text = rest.take_front(end);
      rest = rest.drop_front(end + 1);
      return text;
    }
    return std::nullopt;
  }

  Error parseValue(StringRef key) {
    if (key == "descr") {
      std::optional<StringRef> text = parseString();
      if (!text)
        return error("'descr' must be a simple type such as '<f2'");
      out.descr = text->str();
      hasDescr = true;
    } else if (key == "fortran_order") {
      out.fortranOrder = consume("True");
      if (!out.fortranOrder && !consume("False"))
        return error("'fortran_order' must be True or False");
      hasOrder = true;
    } else if (key == "shape") {
      hasShape = true;
      return parseShape();
    } else {
      return error("unknown key '" + key + "'");
    }
    return Error::success();
  }

  Error parseShape() {
    if (!consume("("))
      return error("'shape' must be a tuple");
    out.shape.clear();
    while (!consume(")")) {
      rest = rest.ltrim();
      int64_t size;
      if (rest.consumeInteger(10, size) || size < 0)
        return error("a size must be an integer from 0 up");
      out.shape.push_back(size);
      if (!consume(",") && !rest.ltrim().starts_with(")"))
        return error("expected ',' or ')' in 'shape'");
    }
    return Error::success();
  }

  StringRef rest;
  NpyArray &out;
  bool hasDescr = false, hasOrder = false, hasShape = false;
};

} // namespace

/// The size at the end of a type string such as "<f2".
static std::optional<unsigned> parseItemSize(StringRef descr) {
  unsigned bytes;
  if (descr.size() < 3 || descr.drop_front(2).getAsInteger(10, bytes) || bytes == 0 || bytes > 16)
    return std::nullopt;
  return bytes;
}

static Error setData(StringRef payload, NpyArray &array) {
  std::optional<unsigned> itemSize = parseItemSize(array.descr);
  if (!itemSize)
    return createStringError(".npy of unsupported type '" + array.descr + "'");
  if (array.descr.front() == '>')
    return createStringError(".npy of big-endian type '" + array.descr +
                             "', expected little-endian");
  int64_t bytes = *itemSize;
  for (int64_t size : array.shape)
    if (MulOverflow(bytes, size, bytes))
      return createStringError(".npy whose shape doesn't fit in 64 bits");
  if (int64_t(payload.size()) != bytes)
    return createStringError((int64_t(payload.size()) < bytes ? "truncated" : "overlong") +
                             Twine(" .npy") + ": its shape and type need " + Twine(bytes) +
                             " bytes of data, found " + Twine(payload.size()));
  array.data = arrayRefFromStringRef(payload);
  return Error::success();
}

Expected<NpyArray> parseNpy(StringRef file) {
  if (!file.starts_with(magic) || file.size() < magic.size() + 4)
    return createStringError("not a .npy file: it doesn't begin with \\x93NUMPY and a version");
  unsigned major = static_cast<uint8_t>(file[magic.size()]);
  if (major < 1 || major > 3)
    return createStringError(".npy of format version " + Twine(major) + ", expected 1 to 3");
  // Version 1 has a 16-bit header length, later ones have 32 bits.
  const char *field = file.data() + magic.size() + 2;
  size_t start = magic.size() + (major == 1 ? 4 : 6);
  if (file.size() < start)
    return createStringError("truncated .npy header");
  size_t length = major == 1 ? support::endian::read16le(field) : support::endian::read32le(field);
  if (file.size() - start < length)
    return createStringError("truncated .npy header: expected " + Twine(length) + " bytes, found " +
                             Twine(file.size() - start));
  NpyArray array;
  if (Error error = HeaderParser(file.substr(start, length), array).parse())
    return std::move(error);
  if (Error error = setData(file.drop_front(start + length), array))
    return std::move(error);
  return array;
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

/// The type strings under which an element type is accepted; the first is the one written.
static ArrayRef<StringLiteral> getDescrs(ElementType type) {
  static constexpr StringLiteral f16[] = {"<f2"};
  static constexpr StringLiteral bf16[] = {"<V2", "|V2", "<u2"};
  static constexpr StringLiteral f32[] = {"<f4"};
  static constexpr StringLiteral f64[] = {"<f8"};
  static constexpr StringLiteral fp8[] = {"|V1", "<V1", "|u1"};
  static constexpr StringLiteral i1[] = {"|b1"};
  static constexpr StringLiteral i8[] = {"|i1"};
  static constexpr StringLiteral ui8[] = {"|u1"};
  static constexpr StringLiteral i32[] = {"<i4"};
  static constexpr StringLiteral i64[] = {"<i8"};
  switch (type) {
  case ElementType::F16:
    return f16;
  case ElementType::BF16:
    return bf16;
  case ElementType::F32:
  case ElementType::TF32:
    return f32;
  case ElementType::F64:
    return f64;
  case ElementType::F8E4M3FN:
  case ElementType::F8E5M2:
    return fp8;
  case ElementType::I1:
    return i1;
  case ElementType::I8:
    return i8;
  case ElementType::UI8:
    return ui8;
  case ElementType::I32:
    return i32;
  case ElementType::I64:
    return i64;
  }
  return {};
}

/// Visits the elements in C order (or Fortran order) of their indices.
static void forEachInOrder(const TensorLayout &layout, bool fortranOrder,
                           function_ref<void(int64_t)> visit) {
  if (is_contained(layout.shape, 0))
    return;
  size_t rank = layout.shape.size();
  Shape index(rank, 0);
  while (true) {
    visit(layout.getElementOffset(index));
    size_t step = 0;
    for (; step < rank; ++step) {
      size_t dim = fortranOrder ? step : rank - 1 - step;
      if (++index[dim] < layout.shape[dim])
        break;
      index[dim] = 0;
    }
    if (step == rank)
      return;
  }
}

static std::string formatShape(ArrayRef<int64_t> shape) {
  return "(" + join(map_range(shape, [](int64_t size) { return std::to_string(size); }), ", ") +
         (shape.size() == 1 ? ",)" : ")");
}

Error copyNpy(const NpyArray &array, HostTensor &tensor) {
  const TensorLayout &layout = tensor.getLayout();
  ArrayRef<StringLiteral> descrs = getDescrs(layout.type);
  if (!is_contained(descrs, array.descr))
    return createStringError("expected elements of type " + getName(layout.type) + " ('" +
                             join(descrs, "', '") + "'), found '" + array.descr + "'");
  if (array.shape != layout.shape)
    return createStringError("expected the shape " + formatShape(layout.shape) + ", found " +
                             formatShape(array.shape));
  unsigned bytes = getByteSize(layout.type);
  const uint8_t *source = array.data.data();
  forEachInOrder(layout, array.fortranOrder, [&](int64_t offset) {
    std::memcpy(tensor.getElement(offset), source, bytes);
    source += bytes;
  });
  return Error::success();
}

void writeNpy(raw_ostream &os, const HostTensor &tensor) {
  const TensorLayout &layout = tensor.getLayout();
  std::string header = ("{'descr': '" + getDescrs(layout.type).front() +
                        "', 'fortran_order': False, 'shape': " + formatShape(layout.shape) + ", }")
                           .str();
  // The data must start at a multiple of 64 bytes (NEP 1); the header ends with a newline.
  size_t unpadded = magic.size() + 4 + header.size() + 1;
  header.append(alignTo(unpadded, 64) - unpadded, ' ');
  header += '\n';
  char length[2];
  support::endian::write16le(length, header.size());
  os << magic << '\x01' << '\x00' << StringRef(length, 2) << header;
  unsigned bytes = getByteSize(layout.type);
  forEachInOrder(layout, /*fortranOrder=*/false, [&](int64_t offset) {
    os.write(reinterpret_cast<const char *>(tensor.getElement(offset)), bytes);
  });
}

} // namespace tcc::runtime
