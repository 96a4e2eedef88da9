//===- NpyTest.cpp - NumPy's .npy files -----------------------------------===//

#include "tcc/Runtime/Npy.h"
#include "tcc/Runtime/Element.h"
#include "gtest/gtest.h"

using namespace llvm;
using namespace tcc::runtime;

/// A version 1 file.
static std::string makeFile(std::string header, StringRef data) {
  std::string file = "\x93NUMPY";
  file += '\x01';
  file += '\x00';
  file += char(header.size() & 0xff);
  file += char(header.size() >> 8);
  return file + header + data.str();
}

static std::string parseError(StringRef file) {
  Expected<NpyArray> array = parseNpy(file);
  return array ? "" : toString(array.takeError());
}

static const char *simple = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }\n";

TEST(Npy, RoundTripWithPadding) {
  for (ElementType type : {ElementType::F16, ElementType::BF16, ElementType::F32, ElementType::F64,
                           ElementType::I8, ElementType::I32}) {
    HostTensor tensor = cantFail(HostTensor::create({type, {2, 3}, {5, 1}, 1}, 0));
    for (int64_t i = 0; i < 6; ++i)
      encode(type, i + 1, tensor.getElement(i / 3 * 5 + i % 3));
    std::string text;
    raw_string_ostream os(text);
    writeNpy(os, tensor);
    // NEP 1: the data start at a multiple of 64 bytes.
    EXPECT_EQ((text.size() - 6 * getByteSize(type)) % 64, 0u);
    HostTensor back = cantFail(HostTensor::create({type, {2, 3}, {1, 2}}, 0));
    Expected<NpyArray> array = parseNpy(text);
    ASSERT_TRUE(bool(array)) << toString(array.takeError());
    ASSERT_FALSE(bool(copyNpy(*array, back)));
    for (int64_t i = 0; i < 6; ++i)
      EXPECT_EQ(decode(type, back.getElement(i / 3 + i % 3 * 2)), i + 1);
  }
}

TEST(Npy, FortranOrder) {
  HostTensor tensor = cantFail(HostTensor::create(makeDenseLayout(ElementType::I8, {2, 2}), 0));
  std::string file =
      makeFile("{'descr': '|i1', 'fortran_order': True, 'shape': (2, 2)}", "\x01\x02\x03\x04");
  NpyArray array = cantFail(parseNpy(file));
  ASSERT_FALSE(bool(copyNpy(array, tensor)));
  EXPECT_EQ(*tensor.getElement(1), 3); // element (0, 1)
  EXPECT_EQ(*tensor.getElement(2), 2); // element (1, 0)
}

TEST(Npy, Malformed) {
  std::string good = makeFile(simple, "12345678");
  EXPECT_EQ(parseError(good), "");
  EXPECT_EQ(parseError("PK\x03\x04"),
            "not a .npy file: it doesn't begin with \\x93NUMPY and a version");
  EXPECT_EQ(parseError(""), "not a .npy file: it doesn't begin with \\x93NUMPY and a version");
  EXPECT_EQ(parseError(makeFile(simple, "1234")),
            "truncated .npy: its shape and type need 8 bytes of data, found 4");
  EXPECT_EQ(parseError(makeFile(simple, "123456789")),
            "overlong .npy: its shape and type need 8 bytes of data, found 9");
  // Cut anywhere, it is an error and no crash.
  for (size_t length = 0; length < good.size(); ++length)
    EXPECT_NE(parseError(StringRef(good).take_front(length)), "") << length;
}

TEST(Npy, HostileHeaders) {
  auto error = [](StringRef header) { return parseError(makeFile(header.str(), "")); };
  EXPECT_EQ(error("[]"), "malformed .npy header: expected '{'");
  EXPECT_EQ(error("{'descr': '<f4'}"),
            "malformed .npy header: expected the keys 'descr', 'fortran_order' and 'shape'");
  EXPECT_EQ(error("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': ()}"),
            "malformed .npy header: 'descr' must be a simple type such as '<f2'");
  EXPECT_EQ(error("{'descr': '<f4', 'fortran_order': 1, 'shape': ()}"),
            "malformed .npy header: 'fortran_order' must be True or False");
  EXPECT_EQ(error("{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}"),
            "malformed .npy header: a size must be an integer from 0 up");
  EXPECT_EQ(error("{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904, 4)}"),
            ".npy whose shape doesn't fit in 64 bits");
  EXPECT_EQ(error("{'descr': '>f4', 'fortran_order': False, 'shape': (0,)}"),
            ".npy of big-endian type '>f4', expected little-endian");
  EXPECT_EQ(error("{'descr': '', 'fortran_order': False, 'shape': (0,)}"),
            ".npy of unsupported type ''");
  EXPECT_EQ(error("{'descr': '<f4', 'order': False}"),
            "malformed .npy header: unknown key 'order'");
}

TEST(Npy, WrongShapeOrType) {
  std::string file = makeFile(simple, "12345678");
  NpyArray array = cantFail(parseNpy(file));
  auto errorOf = [&](ElementType type, Shape shape) {
    HostTensor tensor = cantFail(HostTensor::create(makeDenseLayout(type, shape), 0));
    Error error = copyNpy(array, tensor);
    return error ? toString(std::move(error)) : "";
  };
  EXPECT_EQ(errorOf(ElementType::F32, {2}), "");
  EXPECT_EQ(errorOf(ElementType::F32, {2, 1}), "expected the shape (2, 1), found (2,)");
  EXPECT_EQ(errorOf(ElementType::F16, {2}), "expected elements of type f16 ('<f2'), found '<f4'");
  EXPECT_EQ(errorOf(ElementType::BF16, {2}),
            "expected elements of type bf16 ('<V2', '|V2', '<u2'), found '<f4'");
}
