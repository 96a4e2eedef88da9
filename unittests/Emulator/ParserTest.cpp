//===- ParserTest.cpp - What parses, and where errors point ----------------===//

#include "tcc/Emulator/Emulator.h"

#include "gtest/gtest.h"

using namespace tcc::emulator;

namespace {

constexpr llvm::StringLiteral kHead = ".version 8.0\n.target sm_80\n.address_size 64\n";

/// The error of parsing `text` after the usual head (so its first line is line 4), or "" when it
/// parses.
std::string parseError(llvm::StringRef text) {
  llvm::Expected<Module> module = Module::parse((kHead + text).str(), "t.ptx");
  if (module)
    return "";
  return llvm::toString(module.takeError());
}

std::string bodyError(llvm::StringRef body) {
  return parseError((".entry k() {\n" + body + "\n}\n").str());
}

TEST(Parser, acceptsWhatCompilersEmit) {
  EXPECT_EQ(parseError(R"(
.file 1 "a.cu"
.extern .func (.param .b32 r) vprintf (.param .b64 a, .param .b64 b);
.global .align 4 .b8 msg[5] = {104, 105, 0};
.global .align 8 .u64 table[2] = {msg, generic(msg)+1};
.const .align 16 .b8 lut[] = {0x1U, 077, 0b11, 0xff};
.global .f32 pi = 0f40490FDB;
.global .v4 .f32 quad[2];
.extern .shared .align 1024 .b8 dyn[];
.weak .global .align 4 .u32 w;
.func (.reg .b32 out) callee (.reg .b32 in, .param .align 8 .b8 s[16]) .noreturn { mov.b32 out, in; ret; }
.visible .entry k(.param .u64 .ptr .global .align 16 a, .param .align 64 .b8 map[128])
.reqntid 128, 1, 1
.minnctapersm 2
.maxnreg 168
.reqnctapercluster 2, 1, 1
.explicitcluster
{
  .pragma "nounroll";
  .reg .pred %p<3>;
  .reg .b32 %r<10>, x;
  .reg .v4 .f32 v;
  .local .align 16 .b8 depot[64];
  .loc 1 10 5
  .loc 1 11 5, function_name $L__info_string0, inlined_at 1 3 7
  { .reg .b32 %r; mov.u32 %r, WARP_SZ; }
  mov.f32 v.x, 0f3F800000;
  mov.b64 {%r1, %r2}, 0xFFFFFFFFFFFFFFFF;
  setp.eq.and.s32 %p1|%p2, %r1, -1, !%p0;
  @!%p1 bra.uni DONE;
  ld.global.v2.b32 {%r3, _}, [a+-8];
  st.shared.b32 [dyn+4*2], (1+2)*4;
  call (x), callee, (%r1, depot), proto;
proto: .callprototype (.reg .b32 _) _ (.reg .b32 _, .param .align 8 .b8 _[16]);
list: .branchtargets DONE, DONE;
  brx.idx %r1, list;
  /* block
     comment */
DONE: // label
  ret;
}
.alias other, callee;
.section .debug_str
{
$L__info_string0:
.b8 99
.b8 0
}
)"),
            "");
}

TEST(Parser, pointsAtTheToken) {
  EXPECT_EQ(bodyError("  .reg .b32 %r<2>;\n  mov.b32 %r0, %r2;"),
            "t.ptx:6:16: error: register '%r2' is not declared");
  EXPECT_EQ(bodyError("  bra NOWHERE;"),
            "t.ptx:5:7: error: 'NOWHERE' is neither declared nor a label");
  EXPECT_EQ(bodyError("  mov.b32 , 1;"), "t.ptx:5:11: error: expected an operand, found ','");
  EXPECT_EQ(parseError(".entry k("),
            "t.ptx:4:10: error: expected .param or .reg, found the end of the text");
}

TEST(Parser, refusesMalformedDeclarations) {
  EXPECT_EQ(parseError(".global .align 3 .b32 x;"),
            "t.ptx:4:18: error: an alignment is a power of two, found 3");
  EXPECT_EQ(parseError(".global .b8 x[2] = {1, 2, 3};"),
            "t.ptx:4:13: error: more initial values than 'x' holds");
  EXPECT_EQ(parseError(".global .b8 x[0x100000000][16];"),
            "t.ptx:4:28: error: a variable has at most 2^32 bytes");
  EXPECT_EQ(parseError(".global .b32 x;\n.global .b32 x;"),
            "t.ptx:5:14: error: 'x' is defined twice");
  EXPECT_EQ(bodyError("  .reg .b32 a, a;"), "t.ptx:5:16: error: 'a' is declared twice");
  EXPECT_EQ(bodyError("L:\nL: ret;"), "t.ptx:6:1: error: label 'L' is defined twice");
}

TEST(Parser, refusesMalformedTokens) {
  EXPECT_EQ(bodyError("  /* no end"), "t.ptx:5:3: error: comment without an end");
  EXPECT_EQ(bodyError("  .pragma \"no end;"), "t.ptx:5:11: error: string without an end");
  EXPECT_EQ(bodyError("  .reg .f32 f; mov.f32 f, 0f12;"),
            "t.ptx:5:27: error: expected 8 hexadecimal digits after 0f");
  EXPECT_EQ(bodyError("  .reg .b32 r; mov.b32 r, 99999999999999999999;"),
            "t.ptx:5:27: error: malformed integer literal, or one beyond 64 bits");
}

TEST(Parser, boundsNesting) {
  EXPECT_EQ(bodyError(std::string(300, '{')), "t.ptx:5:256: error: scopes are nested too deeply");
  std::string deep = "  .reg .b32 r; mov.b32 r, " + std::string(100, '(') + "1;";
  EXPECT_NE(bodyError(deep).find("nested too deeply"), std::string::npos);
  EXPECT_NE(bodyError("  mov.b32 " + std::string(100, '{') + ";").find("nested too deeply"),
            std::string::npos);
}

TEST(Parser, needsATarget) {
  llvm::Expected<Module> module = Module::parse(".version 8.0\n", "t.ptx");
  ASSERT_FALSE(bool(module));
  EXPECT_EQ(llvm::toString(module.takeError()), "t.ptx:2:1: error: expected a .target directive");
}

TEST(Parser, scopesShadowNamesAndLabels) {
  EXPECT_EQ(bodyError(R"(
  .reg .b32 a;
  { .reg .b64 a; mov.b64 a, 1; bra L; L: }
  { bra L; L: }
  mov.b32 a, 1;
)"),
            "");
}

TEST(Parser, describesKernels) {
  llvm::Expected<Module> module = Module::parse((kHead + R"(
.shared .align 16 .b8 used[48];
.shared .align 16 .b8 unused[64];
.entry first(.param .u8 a, .param .u64 b, .param .align 64 .b8 c[128])
.reqntid 64, 2
.reqnctapercluster 2
{ .shared .b32 own; .reg .b32 r; ld.shared.b32 r, [used]; ret; }
.entry second() .maxntid 256 { ret; }
)")
                                                    .str(),
                                                "t.ptx");
  ASSERT_TRUE(bool(module)) << llvm::toString(module.takeError());
  EXPECT_EQ(module->target(), "sm_80");
  ASSERT_EQ(module->kernels().size(), 2u);
  const KernelInfo *first = module->findKernel("first");
  ASSERT_NE(first, nullptr);
  ASSERT_EQ(first->parameters.size(), 3u);
  EXPECT_EQ(first->parameters[1].offset, 8u);
  EXPECT_EQ(first->parameters[2].offset, 64u);
  EXPECT_EQ(first->parameterBytes, 192u);
  EXPECT_EQ(first->staticSharedBytes, 52u);
  EXPECT_EQ(first->requiredBlock->y, 2u);
  EXPECT_EQ(first->requiredCluster->x, 2u);
  EXPECT_EQ(module->findKernel("second")->maximumBlock->x, 256u);
  EXPECT_EQ(module->findKernel("third"), nullptr);
}

} // namespace
