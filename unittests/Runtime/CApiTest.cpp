//===- CApiTest.cpp - The C interface, on the emulator --------------------===//

#include "tcc-c/Runtime.h"
#include "llvm/ADT/StringRef.h"
#include "gtest/gtest.h"

extern "C" size_t tccUseHeaderFromC(const TccProgram *program);

/// Doubles every element of a row of N.
static const char *ptx = R"(
// tcc-metadata begin: schema 1, 1 kernel
// {"schema": 1, "name": "double", "entry": "double", "variant": "plain",
//  "arguments": [
//    {"name":"x","type":"f32","shape":["N"],"strides":[1],"direction":"inout"}],
//  "grid": ["N",1,1], "block": [1,1,1], "preconditions": ["N <= 8"]}
// tcc-metadata end
.version 6.3
.target sm_70
.address_size 64
.visible .entry double(.param .u64 x, .param .u64 size)
{
  .reg .f32 %x;
  .reg .u32 %block;
  .reg .u64 %address, %offset;
  mov.u32 %block, %ctaid.x;
  mul.wide.u32 %offset, %block, 4;
  ld.param.u64 %address, [x];
  add.u64 %address, %address, %offset;
  ld.global.f32 %x, [%address];
  add.f32 %x, %x, %x;
  st.global.f32 [%address], %x;
  ret;
}
)";

namespace {

class CApi : public ::testing::Test {
protected:
  void SetUp() override {
    device = tccOpenDevice("emulator", &error);
    ASSERT_TRUE(device);
    program = tccLoadProgram(device, ptx, llvm::StringRef(ptx).size(), nullptr, &error);
    ASSERT_TRUE(program) << error;
  }
  void TearDown() override {
    tccFreeMessage(error);
    tccUnloadProgram(program);
    tccCloseDevice(device);
  }

  TccDevice *device = nullptr;
  TccProgram *program = nullptr;
  char *error = nullptr;
};

} // namespace

TEST_F(CApi, Launch) {
  EXPECT_EQ(tccUseHeaderFromC(program), 1u);
  EXPECT_STREQ(tccGetArgumentName(program, 0), "x");
  EXPECT_EQ(tccGetArgumentName(program, 1), nullptr);
  EXPECT_EQ(tccGetVariant(program), nullptr);
  float values[4] = {1, 2, 3, 4};
  uint64_t address = tccAllocate(device, sizeof(values), &error);
  ASSERT_NE(address, 0u);
  ASSERT_EQ(tccCopyIn(device, address, values, sizeof(values), &error), 0);
  int64_t size = 4, stride = 1;
  TccMatrix x = {address, &size, &stride, 1};
  ASSERT_EQ(tccLaunch(program, &x, 1, &error), 0) << error;
  ASSERT_EQ(tccCopyOut(device, values, address, sizeof(values), &error), 0);
  EXPECT_EQ(values[3], 8);
  EXPECT_STREQ(tccGetVariant(program), "plain");
  tccFree(device, address);
}

TEST_F(CApi, LaunchErrors) {
  int64_t size = 9, stride = 1;
  TccMatrix x = {4096, &size, &stride, 1};
  EXPECT_EQ(tccLaunch(program, &x, 1, &error), -1);
  EXPECT_STREQ(error, "no variant of 'double' can be launched here\n"
                      "  plain: needs N <= 8 (N = 9)");
  EXPECT_EQ(tccLaunch(program, &x, 0, nullptr), -1);
}

TEST(CApiErrors, Open) {
  char *error = nullptr;
  EXPECT_EQ(tccOpenDevice("vulkan", &error), nullptr);
  EXPECT_STREQ(error, "no backend 'vulkan', expected auto, cuda or emulator");
  tccFreeMessage(error);
}
