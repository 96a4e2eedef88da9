//===- Emulator.cpp - Modules, devices, launches ----------------*- C++ -*-===//

#include "tcc/Emulator/Emulator.h"
#include "AddressSpace.h"
#include "Decode.h"
#include "Machine.h"
#include "Syntax.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

#include <cstring>

using namespace tcc::emulator;
using llvm::Error;
using llvm::Expected;
using llvm::formatv;
using llvm::StringRef;

namespace tcc::emulator {
class DeviceState {
public:
  GlobalMemory memory;

  Expected<const LoadedModule *> load(std::shared_ptr<const ParsedModule> module);

private:
  Expected<uint64_t> place(const Variable &variable);
  Error relocate(const ParsedModule &module, const LoadedModule &loaded, const Variable &variable,
                 uint64_t address);

  struct Entry {
    std::shared_ptr<const ParsedModule> module; // kept alive: the address is the key
    LoadedModule loaded;
  };
  std::map<const ParsedModule *, Entry> modules;
};
} // namespace tcc::emulator

//===----------------------------------------------------------------------===//
// Module
//===----------------------------------------------------------------------===//

Expected<Module> Module::parse(StringRef text, StringRef name) {
  Expected<std::shared_ptr<ParsedModule>> parsed = parseModule(text, name);
  if (!parsed)
    return parsed.takeError();
  for (KernelInfo &kernel : (*parsed)->kernels)
    kernel.staticSharedBytes =
        staticSharedBytes(**parsed, (*parsed)->functionIndex.lookup(kernel.name));
  Module module;
  module.parsed = std::move(*parsed);
  return module;
}

StringRef Module::target() const { return parsed->target; }
const std::vector<KernelInfo> &Module::kernels() const { return parsed->kernels; }

const KernelInfo *Module::findKernel(StringRef name) const {
  for (const KernelInfo &kernel : parsed->kernels)
    if (kernel.name == name)
      return &kernel;
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Loading
//===----------------------------------------------------------------------===//

Expected<uint64_t> DeviceState::place(const Variable &variable) {
  if (variable.space != Space::Global && variable.space != Space::Const)
    return 0;
  if (variable.isExtern)
    return llvm::createStringError(
        formatv("variable '{0}' (line {1}) is external; the emulator links no modules",
                variable.name, variable.location.line)
            .str());
  Expected<uint64_t> address = memory.allocate(variable.size);
  if (!address)
    return address.takeError();
  // Without an initial value, variables are zero (PTX ISA 5.4.4).
  Allocation *allocation = memory.find(*address, variable.size);
  if (allocation && variable.size)
    std::memset(allocation->defined.get(), 1, variable.size);
  if (allocation && !variable.initializer.empty())
    std::memcpy(allocation->data.get(), variable.initializer.data(), variable.initializer.size());
  return address;
}

Error DeviceState::relocate(const ParsedModule &module, const LoadedModule &loaded,
                            const Variable &variable, uint64_t address) {
  for (const Relocation &relocation : variable.relocations) {
    auto symbol = module.variableIndex.find(relocation.symbol);
    auto function = module.functionIndex.find(relocation.symbol);
    uint64_t value = relocation.addend;
    if (symbol != module.variableIndex.end())
      value += loaded.variables[symbol->second];
    else if (function != module.functionIndex.end())
      value += kFunctionTag + function->second;
    else
      return llvm::createStringError(formatv("the initial value of '{0}' (line {1}) names '{2}', "
                                             "which the module does not declare",
                                             variable.name, variable.location.line,
                                             relocation.symbol)
                                         .str());
    Allocation *allocation = memory.find(address, variable.size);
    std::memcpy(allocation->data.get() + relocation.offset, &value,
                std::min<unsigned>(relocation.bytes, 8));
  }
  return Error::success();
}

Expected<const LoadedModule *> DeviceState::load(std::shared_ptr<const ParsedModule> module) {
  auto known = modules.find(module.get());
  if (known != modules.end())
    return &known->second.loaded;
  Entry entry;
  entry.module = module;
  for (const Variable &variable : module->variables) {
    Expected<uint64_t> address = place(variable);
    if (!address)
      return address.takeError();
    entry.loaded.variables.push_back(*address);
  }
  for (const ParsedFunction &function : module->functions) {
    std::vector<uint64_t> &addresses = entry.loaded.functionVariables.emplace_back();
    for (const Variable &variable : function.variables) {
      Expected<uint64_t> address = place(variable);
      if (!address)
        return address.takeError();
      addresses.push_back(*address);
    }
  }
  for (size_t i = 0; i < module->variables.size(); ++i)
    if (Error e = relocate(*module, entry.loaded, module->variables[i], entry.loaded.variables[i]))
      return std::move(e);
  for (size_t i = 0; i < module->variables.size(); ++i)
    if (module->variables[i].space == Space::Const && module->variables[i].size)
      memory.find(entry.loaded.variables[i], 1)->isReadOnly = true;
  return &(modules[module.get()] = std::move(entry)).loaded;
}

//===----------------------------------------------------------------------===//
// Device
//===----------------------------------------------------------------------===//

Device::Device() : state(std::make_unique<DeviceState>()) {}
Device::~Device() = default;
Device::Device(Device &&) = default;
Device &Device::operator=(Device &&) = default;

Expected<uint64_t> Device::allocate(uint64_t bytes) { return state->memory.allocate(bytes); }
Error Device::free(uint64_t address) { return state->memory.free(address); }

static Error noAllocation(const GlobalMemory &memory, const char *what, uint64_t address,
                          uint64_t bytes) {
  return llvm::createStringError(formatv("{0} of {1} bytes at {2:x}: {3}", what, bytes, address,
                                         memory.describeMiss(address, bytes))
                                     .str());
}

Error Device::copyIn(uint64_t address, llvm::ArrayRef<uint8_t> bytes) {
  Allocation *allocation = state->memory.find(address, bytes.size());
  if (!allocation)
    return noAllocation(state->memory, "copy to the device", address, bytes.size());
  if (bytes.empty())
    return Error::success();
  std::memcpy(allocation->data.get() + (address - allocation->base), bytes.data(), bytes.size());
  std::memset(allocation->defined.get() + (address - allocation->base), 1, bytes.size());
  return Error::success();
}

Error Device::copyOut(uint64_t address, llvm::MutableArrayRef<uint8_t> bytes) const {
  const Allocation *allocation =
      static_cast<const GlobalMemory &>(state->memory).find(address, bytes.size());
  if (!allocation)
    return noAllocation(state->memory, "copy from the device", address, bytes.size());
  if (!bytes.empty())
    std::memcpy(bytes.data(), allocation->data.get() + (address - allocation->base), bytes.size());
  return Error::success();
}

Error Device::fill(uint64_t address, uint8_t value, uint64_t bytes) {
  Allocation *allocation = state->memory.find(address, bytes);
  if (!allocation)
    return noAllocation(state->memory, "fill", address, bytes);
  std::memset(allocation->data.get() + (address - allocation->base), value, bytes);
  std::memset(allocation->defined.get() + (address - allocation->base), 1, bytes);
  return Error::success();
}

Expected<uint64_t> Device::uninitializedBytes(uint64_t address, uint64_t bytes) const {
  const Allocation *allocation =
      static_cast<const GlobalMemory &>(state->memory).find(address, bytes);
  if (!allocation)
    return noAllocation(state->memory, "query", address, bytes);
  const uint8_t *first = allocation->defined.get() + (address - allocation->base);
  return uint64_t(std::count(first, first + bytes, 0));
}

Expected<uint64_t> Device::symbolAddress(const Module &module, StringRef name) {
  Expected<const LoadedModule *> loaded = state->load(module.parsed);
  if (!loaded)
    return loaded.takeError();
  auto variable = module.parsed->variableIndex.find(name);
  if (variable == module.parsed->variableIndex.end() || !(*loaded)->variables[variable->second])
    return llvm::createStringError(
        formatv("the module has no .global or .const variable '{0}'", name).str());
  return (*loaded)->variables[variable->second];
}

//===----------------------------------------------------------------------===//
// Launch
//===----------------------------------------------------------------------===//

static std::string str(Dim3 dim) { return formatv("({0},{1},{2})", dim.x, dim.y, dim.z).str(); }
static bool same(Dim3 a, Dim3 b) { return a.x == b.x && a.y == b.y && a.z == b.z; }

static Error checkShapes(const KernelInfo &info, const LaunchConfig &config) {
  Dim3 block = config.block, grid = config.grid;
  auto fail = [&](const llvm::Twine &message) {
    return llvm::createStringError(("launch of '" + info.name + "': " + message).str());
  };
  if (!block.count() || !grid.count())
    return fail("grid " + str(grid) + " of blocks " + str(block) + " is empty");
  if (block.x > 1024 || block.y > 1024 || block.z > 64 || block.count() > kMaxThreadsPerBlock)
    return fail("a block has at most 1024 x 1024 x 64 threads, and 1024 in all; found " +
                str(block));
  if (grid.x > INT32_MAX || grid.y > 65535 || grid.z > 65535)
    return fail("a grid has at most 2147483647 x 65535 x 65535 blocks, found " + str(grid));
  if (info.requiredBlock && !same(*info.requiredBlock, block))
    return fail("the kernel requires blocks of " + str(*info.requiredBlock) + ", found " +
                str(block));
  if (info.maximumBlock && block.count() > info.maximumBlock->count())
    return fail("the kernel allows blocks of at most " + llvm::Twine(info.maximumBlock->count()) +
                " threads, found " + str(block));
  if (config.parameters.size() < info.parameterBytes)
    return fail("the kernel takes " + llvm::Twine(info.parameterBytes) +
                " bytes of parameters, found " + llvm::Twine(config.parameters.size()));
  return Error::success();
}

static Expected<Dim3> checkCluster(const KernelInfo &info, const LaunchConfig &config,
                                   const ChipLimits &chip) {
  auto fail = [&](const llvm::Twine &message) {
    return llvm::createStringError(("launch of '" + info.name + "': " + message).str());
  };
  Dim3 cluster = config.cluster.value_or(info.requiredCluster.value_or(Dim3()));
  if (info.requiredCluster && !same(*info.requiredCluster, cluster))
    return fail("the kernel requires clusters of " + str(*info.requiredCluster) + ", found " +
                str(cluster));
  if (!cluster.count() || cluster.count() > chip.maxClusterBlocks)
    return fail("clusters of " + str(cluster) + " blocks: " + chip.name + " supports 1 to " +
                llvm::Twine(chip.maxClusterBlocks));
  if (config.grid.x % cluster.x || config.grid.y % cluster.y || config.grid.z % cluster.z)
    return fail("the grid " + str(config.grid) + " is no multiple of the cluster " + str(cluster));
  return cluster;
}

static Expected<const ChipLimits *> selectChip(StringRef chosen, StringRef target) {
  StringRef name = chosen.empty() ? target : chosen;
  if (const ChipLimits *chip = findChip(name))
    return chip;
  return llvm::createStringError(
      formatv("the emulator does not know the chip '{0}'{1}; it emulates {2}", name,
              chosen.empty() ? " of .target (another can be chosen to emulate)" : "",
              llvm::join(supportedChips(), ", "))
          .str());
}

/// How many registers a thread starts with where setmaxnreg is used: what .maxnreg says, else what
/// the declared block size leaves, which is what ptxas gives such kernels. 0 where neither is
/// declared: ptxas ignores setmaxnreg then.
static uint32_t registersAtLaunch(const ParsedFunction &entry) {
  uint64_t registers = entry.maximumRegisters;
  std::optional<Dim3> block = entry.requiredBlock ? entry.requiredBlock : entry.maximumBlock;
  if (!registers && block && block->count()) {
    uint64_t threads = llvm::alignTo(block->count(), kLanes);
    registers =
        kRegistersPerMultiprocessor / (threads * std::max<uint64_t>(1, entry.minimumBlocks));
    registers = llvm::alignDown(registers, kRegisterUnit);
  }
  return uint32_t(
      std::min<uint64_t>(llvm::alignTo(registers, kRegisterUnit), kMaxRegistersPerThread));
}

Expected<LaunchResult> Device::launch(const Module &module, const LaunchConfig &config,
                                      const LaunchOptions &options) {
  const ParsedModule &parsed = *module.parsed;
  const KernelInfo *info = module.findKernel(config.kernel);
  if (!info) {
    std::vector<StringRef> names;
    for (const KernelInfo &kernel : module.kernels())
      names.push_back(kernel.name);
    return llvm::createStringError(formatv("the module has no kernel '{0}'; it has {1}",
                                           config.kernel,
                                           names.empty() ? "none" : llvm::join(names, ", "))
                                       .str());
  }
  Expected<const ChipLimits *> chip = selectChip(options.chip, module.target());
  if (!chip)
    return chip.takeError();
  if (Error e = checkShapes(*info, config))
    return std::move(e);
  Expected<Dim3> cluster = checkCluster(*info, config, **chip);
  if (!cluster)
    return cluster.takeError();
  Expected<const LoadedModule *> loaded = state->load(module.parsed);
  if (!loaded)
    return loaded.takeError();

  uint32_t entry = parsed.functionIndex.lookup(config.kernel);
  Program program = decodeProgram(parsed, entry, **loaded);
  LaunchShape shape;
  shape.grid = config.grid;
  shape.block = config.block;
  shape.cluster = *cluster;
  shape.explicitCluster = config.cluster || info->requiredCluster;
  shape.warpsPerCta = (config.block.count() + kLanes - 1) / kLanes;
  shape.dynamicSharedBytes = config.dynamicSharedBytes;
  shape.registersPerThread = registersAtLaunch(parsed.functions[entry]);
  shape.sharedEnd = config.dynamicSharedBytes
                        ? program.dynamicSharedBegin + config.dynamicSharedBytes
                        : program.staticSharedEnd;
  if (config.dynamicSharedBytes > (*chip)->maxSharedBytes ||
      shape.sharedEnd - kSharedBase > (*chip)->maxSharedBytes)
    return llvm::createStringError(
        formatv("launch of '{0}': {1} bytes of shared memory ({2} static, {3} dynamic): {4} allows "
                "{5} in a block",
                config.kernel, shape.sharedEnd - kSharedBase, program.staticSharedEnd - kSharedBase,
                config.dynamicSharedBytes, (*chip)->name, (*chip)->maxSharedBytes)
            .str());
  LaunchResult result;
  Machine(state->memory, program, shape, config, options, **chip, result).run();
  return result;
}
