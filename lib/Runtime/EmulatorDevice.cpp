//===- EmulatorDevice.cpp - The PTX emulator as a device ------------------===//

#include "tcc/Emulator/Emulator.h"
#include "tcc/Runtime/Device.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <cstring>

using namespace llvm;

namespace tcc::runtime {
namespace {

using EmulatedMap = emulator::TensorMapDescriptor;

Expected<EmulatedMap::ElementType> mapElementType(ElementType type) {
  switch (type) {
  case ElementType::F16:
    return EmulatedMap::ElementType::F16;
  case ElementType::BF16:
    return EmulatedMap::ElementType::BF16;
  case ElementType::F32:
    return EmulatedMap::ElementType::F32;
  case ElementType::TF32:
    return EmulatedMap::ElementType::TF32;
  case ElementType::F64:
    return EmulatedMap::ElementType::F64;
  case ElementType::F8E4M3FN:
  case ElementType::F8E5M2:
  case ElementType::I8:
  case ElementType::UI8:
    return EmulatedMap::ElementType::U8;
  case ElementType::I32:
    return EmulatedMap::ElementType::S32;
  case ElementType::I64:
    return EmulatedMap::ElementType::S64;
  case ElementType::I1:
    break;
  }
  return createStringError("no tensor map of " + getName(type) + " elements");
}

Error appendTensorMap(const TensorMapDescriptor &map, SmallVectorImpl<uint8_t> &out) {
  Expected<EmulatedMap::ElementType> type = mapElementType(map.type);
  if (!type)
    return type.takeError();
  EmulatedMap result;
  result.elementType = *type;
  result.base = map.base;
  result.dims.assign(map.dims.begin(), map.dims.end());
  result.strides.assign(map.strideBytes.begin(), map.strideBytes.end());
  result.box.assign(map.box.begin(), map.box.end());
  result.elementStrides.assign(map.elementStrides.begin(), map.elementStrides.end());
  result.swizzle = map.swizzle == 32    ? EmulatedMap::Swizzle::B32
                   : map.swizzle == 64  ? EmulatedMap::Swizzle::B64
                   : map.swizzle == 128 ? EmulatedMap::Swizzle::B128
                                        : EmulatedMap::Swizzle::None;
  result.fill = map.oobFillNaN ? EmulatedMap::Fill::NaN : EmulatedMap::Fill::Zeros;
  auto bytes = emulator::encodeTensorMap(result);
  if (!bytes)
    return bytes.takeError();
  out.append(bytes->begin(), bytes->end());
  return Error::success();
}

/// Lays the parameters out as the entry declares them.
Expected<std::vector<uint8_t>> packParameters(const LaunchPlan &plan,
                                              const emulator::KernelInfo &info) {
  if (info.parameters.size() != plan.parameters.size())
    return createStringError("'" + plan.entry + "' has " + Twine(info.parameters.size()) +
                             " parameters, its header describes " + Twine(plan.parameters.size()));
  std::vector<uint8_t> packed(info.parameterBytes, 0);
  for (auto [index, declared, given] : enumerate(info.parameters, plan.parameters)) {
    SmallVector<uint8_t, emulator::kTensorMapBytes> bytes;
    if (given.tensorMap) {
      if (Error error = appendTensorMap(*given.tensorMap, bytes))
        return createStringError("'" + plan.entry + "', parameter " + Twine(index) + ": " +
                                 toString(std::move(error)));
    } else {
      bytes.resize(sizeof(uint64_t));
      std::memcpy(bytes.data(), &given.value, sizeof(uint64_t));
    }
    if (declared.size != bytes.size())
      return createStringError("'" + plan.entry + "', parameter " + Twine(index) +
                               ": the PTX has " + Twine(declared.size) +
                               " bytes, the header describes " + Twine(bytes.size()));
    std::memcpy(packed.data() + declared.offset, bytes.data(), bytes.size());
  }
  return packed;
}

emulator::Dim3 toDim3(const std::array<uint32_t, 3> &extents) {
  return {extents[0], extents[1], extents[2]};
}

StringRef describe(emulator::LaunchStatus status) {
  switch (status) {
  case emulator::LaunchStatus::Completed:
    break;
  case emulator::LaunchStatus::Faulted:
    return "faulted";
  case emulator::LaunchStatus::Deadlocked:
    return "deadlocked";
  case emulator::LaunchStatus::StepLimit:
    return "reached the step limit (--max-steps)";
  }
  return "";
}

class EmulatorModule : public DeviceModule {
public:
  EmulatorModule(emulator::Device &device, emulator::Module module, emulator::LaunchOptions options)
      : device(device), module(std::move(module)), options(std::move(options)) {}

  Error launch(const LaunchPlan &plan) override {
    if (plan.isEmpty())
      return Error::success();
    const emulator::KernelInfo *info = module.findKernel(plan.entry);
    if (!info)
      return createStringError("the PTX has no entry '" + plan.entry +
                               "', which its header describes");
    Expected<std::vector<uint8_t>> parameters = packParameters(plan, *info);
    if (!parameters)
      return parameters.takeError();
    emulator::LaunchConfig config;
    config.kernel = plan.entry;
    config.grid = toDim3(plan.grid);
    config.block = toDim3(plan.block);
    config.cluster = toDim3(plan.cluster);
    config.dynamicSharedBytes = plan.dynamicSharedBytes;
    config.parameters = std::move(*parameters);
    Expected<emulator::LaunchResult> launched = device.launch(module, config, options);
    if (!launched)
      return launched.takeError();
    result = std::move(*launched);
    bool completed = result.status == emulator::LaunchStatus::Completed;
    return completed ? Error::success() : describeFailure(plan);
  }

  LaunchReport getReport() const override {
    LaunchReport report;
    raw_string_ostream os(report.text);
    result.report.print(os);
    report.json = result.report.toJSON();
    report.trace = result.trace;
    for (const emulator::Finding &finding : result.findings)
      report.findings.push_back(finding.str());
    return report;
  }

private:
  Error describeFailure(const LaunchPlan &plan) const {
    std::string message =
        ("'" + plan.entry + "' " + describe(result.status) + " with " +
         Twine(result.findings.size()) + " finding" + (result.findings.size() == 1 ? "" : "s"))
            .str();
    for (const emulator::Finding &finding : result.findings)
      message += "\n  " + finding.str();
    return createStringError(message);
  }

  emulator::Device &device;
  emulator::Module module;
  emulator::LaunchOptions options;
  emulator::LaunchResult result;
};

class EmulatorDevice : public Device {
public:
  EmulatorDevice(const DeviceOptions &options) {
    info.backend = "emulator";
    info.name = "tcc emulator";
    info.chip = options.chip;
    info.smCount = options.smCount;
    launchOptions.chip = options.chip;
    launchOptions.seed = options.seed;
    launchOptions.maxSteps = options.maxSteps;
    launchOptions.collectReport = options.collectReport;
    if (options.trace)
      launchOptions.trace.emplace();
  }

  const DeviceInfo &getInfo() const override { return info; }
  bool detectsOutOfBounds() const override { return true; }
  Expected<uint64_t> allocate(uint64_t bytes) override { return device.allocate(bytes); }
  void free(uint64_t address) override { cantFail(device.free(address)); }
  Error copyIn(uint64_t address, ArrayRef<uint8_t> bytes) override {
    return device.copyIn(address, bytes);
  }
  Error copyOut(uint64_t address, MutableArrayRef<uint8_t> bytes) override {
    return device.copyOut(address, bytes);
  }
  Error fill(uint64_t address, uint8_t value, uint64_t bytes) override {
    return device.fill(address, value, bytes);
  }

  Expected<std::unique_ptr<DeviceModule>> load(StringRef ptx, StringRef name) override {
    Expected<emulator::Module> module = emulator::Module::parse(ptx, name);
    if (!module)
      return module.takeError();
    if (info.chip.empty())
      info.chip = module->target().str();
    return std::make_unique<EmulatorModule>(device, std::move(*module), launchOptions);
  }

private:
  emulator::Device device;
  emulator::LaunchOptions launchOptions;
  DeviceInfo info;
};

} // namespace

Expected<std::unique_ptr<Device>> openEmulatorDevice(const DeviceOptions &options) {
  ArrayRef<StringRef> chips = emulator::supportedChips();
  if (!options.chip.empty() && !is_contained(chips, options.chip))
    return createStringError("the emulator has no chip '" + options.chip + "', it has " +
                             join(chips, ", "));
  if (options.smCount == 0)
    return createStringError("--sm-count must be at least 1");
  return std::make_unique<EmulatorDevice>(options);
}

} // namespace tcc::runtime
