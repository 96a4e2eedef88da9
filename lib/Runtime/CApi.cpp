//===- CApi.cpp - C interface to tcc's runtime ----------------------------===//

#include "tcc-c/Runtime.h"
#include "tcc/Metadata/Header.h"
#include "tcc/Runtime/Device.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include <cstdlib>
#include <cstring>

using namespace llvm;
using namespace tcc::metadata;
using namespace tcc::runtime;

struct TccDevice {
  std::unique_ptr<Device> device;
};

struct TccProgram {
  Device &device;
  std::vector<Kernel> kernels;
  Program program;
  std::unique_ptr<DeviceModule> module;
  DeviceBuffer workspace;
  std::string variant;
};

/// Hands an error out; true where there is one.
static bool report(Error problem, char **error) {
  if (!problem)
    return false;
  std::string message = toString(std::move(problem));
  if (error)
    *error = strdup(message.c_str());
  return true;
}

void tccFreeMessage(char *message) { std::free(message); }

TccDevice *tccOpenDevice(const char *backend, char **error) {
  std::optional<Backend> kind = StringSwitch<std::optional<Backend>>(backend)
                                    .Case("auto", Backend::Auto)
                                    .Case("cuda", Backend::CUDA)
                                    .Case("emulator", Backend::Emulator)
                                    .Default(std::nullopt);
  if (!kind) {
    report(
        createStringError("no backend '" + Twine(backend) + "', expected auto, cuda or emulator"),
        error);
    return nullptr;
  }
  DeviceOptions options;
  options.backend = *kind;
  std::string note;
  Expected<std::unique_ptr<Device>> device = openDevice(options, note);
  if (!device) {
    report(device.takeError(), error);
    return nullptr;
  }
  return new TccDevice{std::move(*device)};
}

void tccCloseDevice(TccDevice *device) { delete device; }

uint64_t tccAllocate(TccDevice *device, size_t bytes, char **error) {
  Expected<uint64_t> address = device->device->allocate(std::max<size_t>(bytes, 1));
  if (!address) {
    report(address.takeError(), error);
    return 0;
  }
  return *address;
}

void tccFree(TccDevice *device, uint64_t address) { device->device->free(address); }

int tccCopyIn(TccDevice *device, uint64_t address, const void *source, size_t bytes, char **error) {
  ArrayRef<uint8_t> data(static_cast<const uint8_t *>(source), bytes);
  return report(device->device->copyIn(address, data), error) ? -1 : 0;
}

int tccCopyOut(TccDevice *device, void *target, uint64_t address, size_t bytes, char **error) {
  MutableArrayRef<uint8_t> data(static_cast<uint8_t *>(target), bytes);
  return report(device->device->copyOut(address, data), error) ? -1 : 0;
}

static Expected<std::unique_ptr<TccProgram>> loadProgram(Device &device, StringRef ptx,
                                                         StringRef name) {
  auto loaded = std::make_unique<TccProgram>(TccProgram{device, {}, {}, nullptr, {}, {}});
  Expected<std::vector<Kernel>> kernels = readHeader(ptx);
  if (!kernels)
    return kernels.takeError();
  loaded->kernels = std::move(*kernels);
  Expected<Program> program = selectProgram(loaded->kernels, name);
  if (!program)
    return program.takeError();
  loaded->program = std::move(*program);
  Expected<std::unique_ptr<DeviceModule>> module = device.load(ptx, loaded->program.name);
  if (!module)
    return module.takeError();
  loaded->module = std::move(*module);
  return loaded;
}

TccProgram *tccLoadProgram(TccDevice *device, const char *ptx, size_t length, const char *name,
                           char **error) {
  Expected<std::unique_ptr<TccProgram>> program =
      loadProgram(*device->device, StringRef(ptx, length), name ? name : "");
  if (!program) {
    report(program.takeError(), error);
    return nullptr;
  }
  return program->release();
}

void tccUnloadProgram(TccProgram *program) { delete program; }

size_t tccGetArgumentCount(const TccProgram *program) {
  return program->program.getFirst().arguments.size();
}

const char *tccGetArgumentName(const TccProgram *program, size_t argument) {
  const Kernel &kernel = program->program.getFirst();
  return argument < kernel.arguments.size() ? kernel.arguments[argument].name.c_str() : nullptr;
}

static Error launch(TccProgram &program, ArrayRef<TccMatrix> matrices) {
  const Kernel &kernel = program.program.getFirst();
  SmallVector<TensorLayout, 4> layouts;
  for (const TccMatrix &matrix : matrices)
    layouts.push_back({ElementType::F32, Shape(ArrayRef(matrix.sizes, matrix.rank)),
                       Shape(ArrayRef(matrix.strides, matrix.rank))});
  Expected<Problem> problem = bindLayouts(kernel, layouts);
  if (!problem)
    return problem.takeError();
  SymbolTable symbols = problem->symbols;
  symbols["sm_count"] = program.device.getInfo().smCount;
  for (auto [argument, matrix] : zip(kernel.arguments, matrices))
    symbols[argument.name + ".ptr"] = matrix.address;
  Expected<Selection> selection = selectVariant(program.program, *problem, symbols, "");
  if (!selection)
    return selection.takeError();
  const Kernel &chosen = *selection->kernel;
  program.variant = chosen.variant.empty() ? chosen.entry : chosen.variant;
  Expected<uint64_t> workspace =
      prepareWorkspace(chosen, symbols, program.device, program.workspace);
  if (!workspace)
    return workspace.takeError();
  Expected<LaunchPlan> plan = planLaunch(chosen, *problem, symbols, *workspace);
  if (!plan)
    return plan.takeError();
  if (Error error = program.module->launch(*plan))
    return error;
  std::vector<std::string> findings = program.module->getReport().findings;
  if (findings.empty())
    return Error::success();
  return createStringError("'" + chosen.entry + "' ran to its end, but: " + join(findings, "; "));
}

int tccLaunch(TccProgram *program, const TccMatrix *matrices, size_t count, char **error) {
  return report(launch(*program, ArrayRef(matrices, count)), error) ? -1 : 0;
}

const char *tccGetVariant(const TccProgram *program) {
  return program->variant.empty() ? nullptr : program->variant.c_str();
}
