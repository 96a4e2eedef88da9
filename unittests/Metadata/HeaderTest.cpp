//===- HeaderTest.cpp - Writing and reading the PTX header ----------------===//

#include "tcc/Metadata/Header.h"
#include "gtest/gtest.h"

using namespace llvm;
using namespace tcc::metadata;

/// gemm with a bias, a tensor map and a precondition: every field is used.
static Kernel makeKernel() {
  Kernel kernel;
  kernel.compiler = "tcc 0.1";
  kernel.name = "gemm";
  kernel.entry = "gemm_0";
  kernel.variant = "tma";
  kernel.target = "sm_90a";
  Expr m = Expr::symbol("M"), n = Expr::symbol("N"), k = Expr::symbol("K");
  kernel.arguments.push_back(
      {"A", ElementType::F16, {m, k}, {Expr::symbol("A.stride0"), 1}, Direction::In});
  kernel.arguments.push_back({"B", ElementType::F16, {k, n}, {n, 1}, Direction::In});
  kernel.arguments.push_back({"bias", ElementType::F32, {n}, {1}, Direction::In});
  kernel.arguments.push_back(
      {"C", ElementType::F32, {m, n}, {Expr::symbol("C.stride0"), 1}, Direction::Out});
  kernel.grid = {Expr::min(Expr::symbol("sm_count"), Expr::ceilDiv(m, 128)), 1, 1};
  kernel.block = {384, 1, 1};
  kernel.cluster = {2, 1, 1};
  kernel.dynamicSharedBytes = 200000;
  kernel.workspaceBytes = m * 4;
  kernel.dependentLaunch = true;
  kernel.tensorMaps.push_back({"A", ElementType::F16, {1, 0}, {64, 128}, {1, 1}, 128, 256});
  kernel.preconditions.push_back(cantFail(Expr::parse("A.ptr % 16 == 0")));
  kernel.schedule["stages"] = 4;
  kernel.numerics.emplace();
  Reference &reference = kernel.reference.emplace();
  unsigned a = reference.addInput("A", {"M", "K"}, ElementType::F16);
  unsigned b = reference.addInput("B", {"K", "N"}, ElementType::F16);
  unsigned product = reference.addMatmul(a, b, {"M", "N"}, ElementType::F32);
  unsigned bias = reference.addInput("bias", {"N"}, ElementType::F32);
  unsigned zero = reference.addConstant(0.0, ElementType::F32);
  unsigned sum =
      reference.addElementwise(RefOp::AddF, {product, bias}, {"M", "N"}, ElementType::F32);
  unsigned positive = reference.addCmpF("ogt", sum, zero, {"M", "N"});
  unsigned relu =
      reference.addElementwise(RefOp::Select, {positive, sum, zero}, {"M", "N"}, ElementType::F32);
  unsigned tanh = reference.addElementwise(RefOp::Tanh, {relu}, {"M", "N"}, ElementType::F32);
  reference.nodes[tanh].approximate = true;
  reference.addOutput("C", tanh);
  return kernel;
}

static std::string write(ArrayRef<Kernel> kernels) {
  std::string text;
  raw_string_ostream os(text);
  if (Error error = writeHeader(os, kernels))
    return toString(std::move(error));
  return text;
}

static std::string readError(StringRef ptx) {
  Expected<std::vector<Kernel>> kernels = readHeader(ptx);
  return kernels ? "" : toString(kernels.takeError());
}

static std::string replaced(std::string text, StringRef from, StringRef to) {
  size_t at = text.find(from.str());
  EXPECT_NE(at, std::string::npos) << from.str();
  return at == std::string::npos ? text : text.replace(at, from.size(), to.str());
}

TEST(Header, RoundTrip) {
  std::string text = write({makeKernel(), makeKernel()});
  Expected<std::vector<Kernel>> kernels = readHeader("// by hand\n" + text + ".version 8.0\n");
  ASSERT_TRUE(bool(kernels)) << toString(kernels.takeError());
  ASSERT_EQ(kernels->size(), 2u);
  EXPECT_EQ(write(*kernels), text);
  const Kernel &kernel = kernels->front();
  EXPECT_EQ(kernel.arguments[1].strides[0].str(), "N");
  EXPECT_EQ(kernel.tensorMaps[0].l2Promotion, 256u);
  EXPECT_TRUE(kernel.dependentLaunch);
  EXPECT_TRUE(kernel.reference->nodes.back().approximate);
  EXPECT_FALSE(kernel.reference->nodes.front().approximate);
  EXPECT_EQ(kernel.reference->nodes[6].predicate, "ogt");
  EXPECT_EQ(kernel.schedule.getInteger("stages"), 4);
  EXPECT_EQ(kernel.getSizeSymbols(), (SmallVector<std::string>{"M", "K", "N"}));
}

TEST(Header, IsOneFieldPerLine) {
  std::string text = write({makeKernel()});
  EXPECT_NE(text.find("// tcc-metadata begin: schema 1, 1 kernel\n// {\n//   \"schema\": 1,\n"),
            std::string::npos);
  EXPECT_NE(text.find("\n//   \"grid\": [\"min(sm_count, ceildiv(M, 128))\",1,1],\n"),
            std::string::npos);
  EXPECT_NE(text.find("\n//     {\"name\":\"A\",\"type\":\"f16\",\"shape\":[\"M\",\"K\"],"
                      "\"strides\":[\"A.stride0\",1],\"direction\":\"in\"},\n"),
            std::string::npos);
}

TEST(Header, ReadsCarriageReturns) {
  std::string text = write({makeKernel()}), dos;
  for (char c : text)
    dos += c == '\n' ? std::string("\r\n") : std::string(1, c);
  EXPECT_EQ(readError(dos), "");
}

TEST(Header, Missing) {
  EXPECT_NE(readError(".version 8.0\n").find("no tcc header"), std::string::npos);
  EXPECT_NE(readError("").find("no tcc header"), std::string::npos);
}

TEST(Header, Truncated) {
  std::string text = write({makeKernel()});
  // Cut anywhere, it is an error and no crash.
  for (size_t length = 0; length + 1 < text.size(); length += 7)
    EXPECT_NE(readError(StringRef(text).take_front(length)), "") << length;
  EXPECT_NE(readError(replaced(text, "// tcc-metadata end", "")).find("truncated tcc header"),
            std::string::npos);
  EXPECT_NE(readError(replaced(text, "1 kernel", "2 kernels")).find("promises 2 kernels, found 1"),
            std::string::npos);
}

TEST(Header, NewerSchema) {
  std::string text = write({makeKernel()});
  EXPECT_EQ(readError(replaced(text, "schema 1", "schema 7")),
            "the tcc header has schema 7, this build reads up to schema 1; use the tcc-run of "
            "the compiler that wrote it");
  EXPECT_NE(readError(replaced(text, "\"schema\": 1", "\"schema\": 7"))
                .find("schema 7, this build reads up to schema 1"),
            std::string::npos);
}

TEST(Header, MalformedFields) {
  std::string text = write({makeKernel()});
  auto error = [&](StringRef from, StringRef to) { return readError(replaced(text, from, to)); };
  EXPECT_EQ(error("\"type\":\"f16\"", "\"type\":\"f17\""),
            "malformed tcc header: kernel.arguments[0].type: expected an element type such as "
            "\"f16\"");
  EXPECT_EQ(error("\"grid\"", "\"gird\""),
            "malformed tcc header: kernel: the field 'grid' is missing");
  EXPECT_EQ(error("\"preconditions\"", "\"precondition\""),
            "malformed tcc header: kernel: unknown field 'precondition'");
  EXPECT_EQ(error("A.ptr % 16", "A.ptr % "),
            "malformed tcc header: kernel.preconditions[0]: expression 'A.ptr %  == 0', column "
            "10: expected an integer, a symbol, '-' or '('");
  EXPECT_EQ(error("\"op\":\"matmul\"", "\"op\":\"matmull\""),
            "malformed tcc header: kernel.reference[2].op: expected an operator such as "
            "\"matmul\", found \"matmull\"");
  EXPECT_EQ(error("\"id\":3", "\"id\":4"),
            "malformed tcc header: kernel.reference[3]: expected the id 3");
}

/// Changes one thing in the kernel and returns what verify() says.
static std::string verifyError(function_ref<void(Kernel &)> change) {
  Kernel kernel = makeKernel();
  change(kernel);
  Error error = kernel.verify();
  return error ? toString(std::move(error)) : "";
}

TEST(Kernel, Verifies) {
  EXPECT_EQ(verifyError([](Kernel &) {}), "");
  EXPECT_EQ(verifyError([](Kernel &k) { k.arguments[1].name = "A"; }),
            "kernel 'gemm_0': argument 'A': the name stands twice");
  EXPECT_EQ(verifyError([](Kernel &k) { k.arguments[0].strides.pop_back(); }),
            "kernel 'gemm_0': argument 'A': expected one stride per dimension, found 1 for 2 "
            "dimensions");
  EXPECT_EQ(verifyError([](Kernel &k) { k.grid[0] = Expr::symbol("Q"); }),
            "kernel 'gemm_0': grid: 'Q' uses the unknown symbol 'Q'");
  EXPECT_EQ(verifyError([](Kernel &k) { k.block[1] = 0; }),
            "kernel 'gemm_0': block: an extent is 0, expected 1 to 1024");
  EXPECT_EQ(verifyError([](Kernel &k) {
              k.block = {64, 32, 1};
            }),
            "kernel 'gemm_0': block: the extents' product is 2048, expected at most 1024");
  EXPECT_EQ(verifyError([](Kernel &k) { k.dynamicSharedBytes = int64_t(1) << 40; }),
            "kernel 'gemm_0': dynamicSharedBytes is 1099511627776, expected 0 to 1 MiB");
  EXPECT_EQ(verifyError([](Kernel &k) { k.arguments[0].type = ElementType::BF16; }),
            "kernel 'gemm_0': reference node 0: type f16 for 'A', which is of bf16");
  EXPECT_EQ(verifyError([](Kernel &k) { k.arguments[3].type = ElementType::F16; }),
            "kernel 'gemm_0': reference output 'C' has 2 dimensions of f16, its node has 2 of "
            "f32");
  EXPECT_EQ(verifyError([](Kernel &k) { k.tensorMaps[0].box[0] = 512; }),
            "kernel 'gemm_0': tensor map 0: a box extent is 512, expected 1 to 256");
  EXPECT_EQ(verifyError([](Kernel &k) {
              k.tensorMaps[0].dims = {1, 1};
            }),
            "kernel 'gemm_0': tensor map 0: dims must be distinct dimensions of 'A'");
  EXPECT_EQ(verifyError([](Kernel &k) { k.tensorMaps[0].swizzle = 48; }),
            "kernel 'gemm_0': tensor map 0: swizzle is 48, expected 0, 32, 64 or 128 bytes");
  EXPECT_EQ(verifyError([](Kernel &k) { k.arguments[3].direction = Direction::In; }),
            "kernel 'gemm_0': reference output 'C' is no out or inout argument");
}

TEST(Reference, Verifies) {
  auto nodeError = [](unsigned id, function_ref<void(RefNode &)> change) {
    return verifyError([&](Kernel &k) { change(k.reference->nodes[id]); });
  };
  EXPECT_EQ(nodeError(5, [](RefNode &n) { n.operands.push_back(0); }),
            "kernel 'gemm_0': reference node 5 (addf): expected 2 to 2 operands, found 3");
  EXPECT_EQ(nodeError(5, [](RefNode &n) { n.operands[1] = 7; }),
            "kernel 'gemm_0': reference node 5 (addf): operand 7 doesn't come before the node");
  EXPECT_EQ(nodeError(5, [](RefNode &n) { n.dims = {"M"}; }),
            "kernel 'gemm_0': reference node 5 (addf): operand 0 has the dimension 'N', which "
            "the result lacks");
  EXPECT_EQ(nodeError(2,
                      [](RefNode &n) {
                        n.dims = {"M", "Q"};
                      }),
            "kernel 'gemm_0': reference node 2 (matmul): no operand has the result's dimension "
            "'Q'");
  EXPECT_EQ(nodeError(6, [](RefNode &n) { n.predicate = "gt"; }),
            "kernel 'gemm_0': reference node 6 (cmpf): unknown predicate 'gt', expected one of "
            "arith.cmpf: oeq, ogt, une, …");
}
