//===- LaunchTest.cpp - Devices, launches, what they refuse and report -----===//

#include "tcc/Emulator/Emulator.h"

#include "gtest/gtest.h"

#include <cstring>

using namespace tcc::emulator;

namespace {

Module parse(llvm::StringRef text, llvm::StringRef target = "sm_80") {
  return llvm::cantFail(Module::parse(
      (".version 8.0\n.target " + target + "\n.address_size 64\n" + text).str(), "t.ptx"));
}

std::string launchError(const Module &module, const LaunchConfig &config,
                        const LaunchOptions &options = {}) {
  Device device;
  llvm::Expected<LaunchResult> result = device.launch(module, config, options);
  if (result)
    return "";
  return llvm::toString(result.takeError());
}

LaunchConfig configure(llvm::StringRef kernel, Dim3 grid = {}, Dim3 block = {}) {
  LaunchConfig config;
  config.kernel = kernel.str();
  config.grid = grid;
  config.block = block;
  return config;
}

void setPointer(LaunchConfig &config, uint64_t address) {
  config.parameters.resize(8);
  std::memcpy(config.parameters.data(), &address, 8);
}

TEST(Launch, refusesWhatADriverRefuses) {
  Module module = parse(R"(
.entry plain() { ret; }
.entry fixed() .reqntid 64 { ret; }
.entry bounded() .maxntid 64 { ret; }
.entry takes(.param .u64 a) { ret; }
)");
  EXPECT_EQ(launchError(module, configure("none")),
            "the module has no kernel 'none'; it has plain, fixed, bounded, takes");
  EXPECT_EQ(launchError(module, configure("plain", {0, 1, 1})),
            "launch of 'plain': grid (0,1,1) of blocks (1,1,1) is empty");
  EXPECT_NE(launchError(module, configure("plain", {}, {1025, 1, 1})).find("at most 1024"),
            std::string::npos);
  EXPECT_NE(launchError(module, configure("plain", {}, {32, 32, 2})).find("1024 in all"),
            std::string::npos);
  EXPECT_NE(launchError(module, configure("plain", {1, 70000, 1})).find("65535"),
            std::string::npos);
  EXPECT_EQ(launchError(module, configure("fixed", {}, {32, 1, 1})),
            "launch of 'fixed': the kernel requires blocks of (64,1,1), found (32,1,1)");
  EXPECT_NE(launchError(module, configure("bounded", {}, {65, 1, 1})).find("at most 64 threads"),
            std::string::npos);
  EXPECT_EQ(launchError(module, configure("takes")),
            "launch of 'takes': the kernel takes 8 bytes of parameters, found 0");
}

TEST(Launch, knowsTheChipsLimits) {
  Module module = parse(".entry k() { ret; }");
  LaunchConfig config = configure("k", {2, 1, 1});
  config.dynamicSharedBytes = 100 * 1024;
  LaunchOptions options;
  EXPECT_EQ(launchError(module, config, options), "");
  options.chip = "sm_86";
  EXPECT_NE(launchError(module, config, options).find("sm_86 allows 101376 in a block"),
            std::string::npos);
  options.chip = "sm_1";
  EXPECT_NE(launchError(module, config, options).find("does not know the chip 'sm_1'"),
            std::string::npos);
  config.dynamicSharedBytes = 0;
  config.cluster = Dim3{2, 1, 1};
  options.chip = "sm_80";
  EXPECT_NE(launchError(module, config, options).find("sm_80 supports 1 to 1"), std::string::npos);
  options.chip = "sm_90";
  EXPECT_EQ(launchError(module, config, options), "");
  config.grid.x = 3;
  EXPECT_NE(launchError(module, config, options).find("no multiple of the cluster"),
            std::string::npos);
}

TEST(Launch, refusesUnlinkedModules) {
  Module module = parse(".extern .global .b32 elsewhere;\n.entry k() { ret; }");
  EXPECT_NE(launchError(module, configure("k")).find("'elsewhere' (line 4) is external"),
            std::string::npos);
}

TEST(Device, memoryIsAlignedBoundedAndTracked) {
  Device device;
  uint64_t a = llvm::cantFail(device.allocate(100)), b = llvm::cantFail(device.allocate(1));
  EXPECT_EQ(a % 256, 0u);
  EXPECT_GE(b - a, 4096u);
  EXPECT_EQ(llvm::cantFail(device.uninitializedBytes(a, 100)), 100u);
  std::vector<uint8_t> bytes = {1, 2, 3};
  llvm::cantFail(device.copyIn(a + 10, bytes));
  EXPECT_EQ(llvm::cantFail(device.uninitializedBytes(a, 100)), 97u);
  llvm::cantFail(device.fill(a, 9, 10));
  std::vector<uint8_t> out(4);
  llvm::cantFail(device.copyOut(a + 9, out));
  EXPECT_EQ(out, (std::vector<uint8_t>{9, 1, 2, 3}));
  EXPECT_NE(llvm::toString(device.copyIn(a + 98, bytes)).find("ends 1 bytes before"),
            std::string::npos);
  llvm::cantFail(device.free(a));
  EXPECT_NE(llvm::toString(device.free(a)).find("no allocation begins there"), std::string::npos);
  llvm::Expected<uint64_t> huge = device.allocate(uint64_t(1) << 40);
  ASSERT_FALSE(bool(huge));
  EXPECT_NE(llvm::toString(huge.takeError()).find("16 GiB"), std::string::npos);
}

TEST(Device, findsSymbols) {
  Module module = parse(".global .u32 g[2] = {7, 8};\n.shared .b32 s;\n.entry k() { ret; }");
  Device device;
  uint64_t address = llvm::cantFail(device.symbolAddress(module, "g"));
  std::vector<uint8_t> bytes(8);
  llvm::cantFail(device.copyOut(address, bytes));
  EXPECT_EQ(bytes[4], 8);
  EXPECT_FALSE(bool(llvm::errorToBool(device.symbolAddress(module, "g").takeError())));
  EXPECT_TRUE(llvm::errorToBool(device.symbolAddress(module, "s").takeError()));
}

const char *kStrided = R"(
.shared .align 4 .b8 s[8192];
.entry k(.param .u64 a) {
  .reg .b32 t, o, x;
  .reg .b64 p, q;
  mov.u32 t, %tid.x;
  ld.param.u64 p, [a];
  mul.wide.u32 q, t, 64;
  add.u64 p, p, q;
  ld.global.b32 x, [p];
  mov.u32 o, s;
  mad.lo.u32 o, t, 128, o;
  st.shared.b32 [o], x;
  ret;
})";

TEST(Report, countsConflictsAndSectors) {
  Module module = parse(kStrided);
  Device device;
  uint64_t a = llvm::cantFail(device.allocate(2048));
  llvm::cantFail(device.fill(a, 1, 2048));
  LaunchConfig config = configure("k", {}, {32, 1, 1});
  setPointer(config, a);
  LaunchResult result = llvm::cantFail(device.launch(module, config));
  EXPECT_TRUE(result.clean());
  const InstructionReport *load = nullptr, *store = nullptr;
  for (const InstructionReport &inst : result.report.instructions) {
    if (llvm::StringRef(inst.text).starts_with("ld.global"))
      load = &inst;
    if (llvm::StringRef(inst.text).starts_with("st.shared"))
      store = &inst;
  }
  ASSERT_TRUE(load && store);
  EXPECT_EQ(load->globalSectors, 32u);
  EXPECT_EQ(load->minimumSectors, 4u);
  EXPECT_EQ(store->worstConflict, 32.0);
  EXPECT_EQ(result.report.globalBytesRead, 128u);
  EXPECT_EQ(result.report.sharedBytesWritten, 128u);
  std::string text;
  llvm::raw_string_ostream os(text);
  result.report.print(os);
  EXPECT_NE(text.find("[bank conflicts: worst 32.00, mean 32.00]"), std::string::npos);
  EXPECT_NE(text.find("[sectors 32, minimum 4]"), std::string::npos);
  llvm::json::Value json = result.report.toJSON();
  EXPECT_EQ(json.getAsObject()->getInteger("global_bytes_read"), 128);
}

TEST(Trace, showsOneWarp) {
  Module module = parse(kStrided);
  Device device;
  uint64_t a = llvm::cantFail(device.allocate(4096));
  llvm::cantFail(device.fill(a, 1, 4096));
  LaunchConfig config = configure("k", {}, {64, 1, 1});
  setPointer(config, a);
  LaunchOptions options;
  options.trace = LaunchOptions::TraceSelection{0, 1};
  LaunchResult result = llvm::cantFail(device.launch(module, config, options));
  llvm::StringRef trace = result.trace;
  EXPECT_TRUE(trace.contains("mov.u32 t, %tid.x  // lane 0: 0x00000020")) << result.trace;
  EXPECT_EQ(trace.count('\n'), 9u);
}

TEST(Launch, findingsSayWhere) {
  Module module = parse(kStrided);
  Device device;
  uint64_t a = llvm::cantFail(device.allocate(400));
  llvm::cantFail(device.fill(a, 1, 400));
  LaunchConfig config = configure("k", {}, {8, 4, 1});
  setPointer(config, a);
  LaunchResult result = llvm::cantFail(device.launch(module, config));
  EXPECT_EQ(result.status, LaunchStatus::Faulted);
  ASSERT_EQ(result.findings.size(), 1u);
  const Finding &finding = result.findings[0];
  EXPECT_EQ(finding.kind, FindingKind::OutOfBounds);
  EXPECT_EQ(finding.line, 13u);
  EXPECT_EQ(finding.thread, (std::array<uint32_t, 3>{7, 0, 0}));
  EXPECT_EQ(finding.instruction, "ld.global.b32 x, [p]");
  EXPECT_NE(finding.str().find("k:13: out-of-bounds: load of 4 bytes"), std::string::npos);
}

TEST(Launch, schedulesVaryReproducibly) {
  // Each warp notes when it came: the order depends on the seed alone.
  Module module = parse(R"(
.global .u32 next;
.entry k(.param .u64 a) {
  .reg .b32 t, x;
  .reg .b64 p, q;
  ld.param.u64 p, [a];
  atom.global.add.u32 x, [next], 1;
  mov.u32 t, %tid.x;
  mul.wide.u32 q, t, 4;
  add.u64 p, p, q;
  st.global.b32 [p], x;
  ret;
})");
  auto run = [&](uint64_t seed) {
    Device device;
    uint64_t a = llvm::cantFail(device.allocate(4096));
    LaunchConfig config = configure("k", {}, {1024, 1, 1});
    setPointer(config, a);
    LaunchOptions options;
    options.seed = seed;
    EXPECT_TRUE(llvm::cantFail(device.launch(module, config, options)).clean());
    std::vector<uint8_t> order(4096);
    llvm::cantFail(device.copyOut(a, order));
    return order;
  };
  EXPECT_EQ(run(1), run(1));
  EXPECT_NE(run(1), run(2));
  EXPECT_EQ(run(0), run(0));
}

} // namespace
