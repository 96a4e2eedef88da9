//===- RunVector.cpp - Launching a vector and judging it --------*- C++ -*-===//

#include "Compare.h"

#include "llvm/Support/FormatVariadic.h"

#include <cstring>

using namespace tcc::vectors;
using namespace tcc::emulator;
using llvm::Error;
using llvm::Expected;
using llvm::formatv;
using llvm::StringRef;

static Outcome failed(const llvm::Twine &message) { return {Outcome::Kind::Failed, message.str()}; }

/// The bytes that an argument adds to its parameter.
static Expected<std::vector<uint8_t>> parameterBytes(const Argument &argument, uint64_t address,
                                                     llvm::ArrayRef<uint64_t> addresses) {
  std::vector<uint8_t> bytes = argument.data;
  if (argument.kind == Argument::Kind::Buffer) {
    bytes.resize(8);
    std::memcpy(bytes.data(), &address, 8);
  } else if (argument.kind == Argument::Kind::TensorMap) {
    if (argument.buffer >= addresses.size())
      return llvm::createStringError("a tensor map names an argument that does not exist");
    TensorMapDescriptor map = argument.map;
    map.base = addresses[argument.buffer] + argument.offset;
    auto encoded = encodeTensorMap(map);
    if (!encoded)
      return encoded.takeError();
    bytes.assign(encoded->begin(), encoded->end());
  }
  return bytes;
}

static llvm::Error layOutParameters(const KernelInfo &kernel, Vector &vector,
                                    llvm::ArrayRef<uint64_t> addresses) {
  std::vector<std::vector<uint8_t>> values;
  for (auto [argument, address] : llvm::zip(vector.arguments, addresses)) {
    if (argument.isHidden)
      continue;
    Expected<std::vector<uint8_t>> bytes = parameterBytes(argument, address, addresses);
    if (!bytes)
      return bytes.takeError();
    if (argument.isAppended && !values.empty())
      values.back().insert(values.back().end(), bytes->begin(), bytes->end());
    else
      values.push_back(std::move(*bytes));
  }
  if (kernel.parameters.size() != values.size())
    return llvm::createStringError(formatv("the kernel has {0} parameters, the comment block {1}",
                                           kernel.parameters.size(), values.size())
                                       .str());
  vector.config.parameters.assign(kernel.parameterBytes, 0);
  for (auto [parameter, bytes] : llvm::zip(kernel.parameters, values)) {
    if (bytes.size() != parameter.size)
      return llvm::createStringError(formatv("parameter '{0}' has {1} bytes, the argument {2}",
                                             parameter.name, parameter.size, bytes.size())
                                         .str());
    std::memcpy(vector.config.parameters.data() + parameter.offset, bytes.data(), bytes.size());
  }
  return llvm::Error::success();
}

/// Allocates and fills the buffers and lays out the parameters; the address of each argument's
/// buffer, 0 if it has none.
static Expected<std::vector<uint64_t>> prepare(Device &device, const KernelInfo &kernel,
                                               Vector &vector) {
  std::vector<uint64_t> addresses(vector.arguments.size());
  for (auto [argument, address] : llvm::zip(vector.arguments, addresses)) {
    if (argument.kind != Argument::Kind::Buffer)
      continue;
    Expected<uint64_t> allocated = device.allocate(argument.bytes);
    if (!allocated)
      return allocated.takeError();
    address = *allocated;
    if (argument.isInitialized)
      if (Error e = device.copyIn(address, argument.data))
        return std::move(e);
  }
  if (Error e = layOutParameters(kernel, vector, addresses))
    return std::move(e);
  return addresses;
}

/// Whether the findings are those that the vector asks for; nothing when they are and results are
/// to be compared.
static std::optional<Outcome> judgeFindings(const Vector &vector, const LaunchResult &result) {
  for (const Finding &finding : result.findings)
    if (finding.kind == FindingKind::Unsupported &&
        (!vector.expectedFinding || vector.expectedFinding->kind != "unsupported"))
      return Outcome{Outcome::Kind::Skipped, finding.str()};
  if (vector.expectedFinding) {
    const ExpectedFinding &expected = *vector.expectedFinding;
    bool seen = false;
    for (const Finding &finding : result.findings) {
      if (toString(finding.kind) != expected.kind)
        return failed("unexpected finding: " + finding.str());
      seen |= (!expected.line || *expected.line == finding.line) &&
              StringRef(finding.str()).contains(expected.message);
    }
    if (seen)
      return Outcome{};
    return failed(
        "expected a finding '" + expected.kind + "' with '" + expected.message + "'" +
        (result.findings.empty() ? ", found none" : ", found: " + result.findings.front().str()));
  }
  if (vector.expectsFault) {
    if (result.status == LaunchStatus::Faulted)
      return Outcome{};
    return failed("expected a fault, the kernel ran to its end");
  }
  if (!result.findings.empty())
    return failed(result.findings.front().str());
  if (result.status != LaunchStatus::Completed)
    return failed("the kernel did not complete");
  return std::nullopt;
}

Outcome tcc::vectors::runVector(StringRef text, StringRef name, StringRef chip, uint64_t seed) {
  Expected<Vector> vector = parseVector(text);
  if (!vector)
    return failed(llvm::toString(vector.takeError()));
  if (vector->options.chip.empty())
    vector->options.chip = chip.str();
  vector->options.seed = seed;
  Expected<Module> module = Module::parse(text, name);
  if (!module)
    return failed(llvm::toString(module.takeError()));
  const KernelInfo *kernel = module->findKernel(vector->config.kernel);
  if (!kernel)
    return failed("no kernel '" + vector->config.kernel + "'");
  Device device;
  Expected<std::vector<uint64_t>> addresses = prepare(device, *kernel, *vector);
  if (!addresses)
    return failed(llvm::toString(addresses.takeError()));
  Expected<LaunchResult> result = device.launch(*module, vector->config, vector->options);
  if (!result)
    return failed(llvm::toString(result.takeError()));
  if (std::optional<Outcome> outcome = judgeFindings(*vector, *result))
    return *outcome;
  for (size_t i = 0; i < addresses->size(); ++i) {
    const Argument &argument = vector->arguments[i];
    if (!argument.isCompared)
      continue;
    std::vector<uint8_t> found(argument.bytes);
    if (Error e = device.copyOut((*addresses)[i], found))
      return failed(llvm::toString(std::move(e)));
    std::string difference = compareBuffer(*vector, argument.expected, found);
    if (!difference.empty())
      return failed("argument " + llvm::Twine(i) + ", " + difference);
  }
  return {};
}
