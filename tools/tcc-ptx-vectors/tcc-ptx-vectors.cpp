//===- tcc-ptx-vectors.cpp - Run recorded kernels on the emulator ---------===//
//
// tcc-ptx-vectors DIR: runs every vector (VectorFile.h) below a folder, prints each failure, and
// ends with "N passed, N failed, N skipped".
//
//===----------------------------------------------------------------------===//

#include "Compare.h"
#include "VectorFile.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace tcc;
using namespace tcc::emulator;
namespace cl = llvm::cl;

static cl::list<std::string> inputs(cl::Positional, cl::OneOrMore,
                                    cl::desc("<folders and .ptx files>"));
static cl::opt<std::string> chip("chip", cl::init("sm_90a"), cl::desc("The chip to emulate"));
static cl::opt<uint64_t> seed("seed", cl::init(0), cl::desc("Varies the schedule of warps"));
static cl::list<std::string> skipped("skip", cl::CommaSeparated,
                                     cl::desc("Families to count as skipped"));

static llvm::Error failure(const llvm::Twine &message) { return llvm::createStringError(message); }

/// Allocates the buffers and lays out the parameters. Addresses of buffers go to `addresses`.
static llvm::Error prepare(Device &device, const KernelInfo &kernel, VectorFile &vector,
                           std::vector<uint64_t> &addresses) {
  if (kernel.parameters.size() != vector.arguments.size())
    return failure("the kernel has " + llvm::Twine(kernel.parameters.size()) +
                   " parameters, the vector " + llvm::Twine(vector.arguments.size()));
  for (VectorArgument &argument : vector.arguments) {
    uint64_t &address = addresses.emplace_back(0);
    if (argument.kind != VectorArgument::Kind::Buffer)
      continue;
    llvm::Expected<uint64_t> allocated = device.allocate(argument.bytes);
    if (!allocated)
      return allocated.takeError();
    address = *allocated;
    if (llvm::Error error = device.fill(address, argument.fill, argument.bytes))
      return error;
    if (llvm::Error error = device.copyIn(address, argument.data))
      return error;
  }
  vector.launch.parameters.resize(kernel.parameterBytes);
  for (auto [index, argument] : llvm::enumerate(vector.arguments)) {
    std::vector<uint8_t> bytes = argument.data;
    if (argument.kind == VectorArgument::Kind::Buffer) {
      bytes.resize(8);
      memcpy(bytes.data(), &addresses[index], 8);
    } else if (argument.kind == VectorArgument::Kind::TensorMap) {
      if (argument.buffer >= addresses.size())
        return failure("a tensor map names argument " + llvm::Twine(argument.buffer));
      argument.map.base = addresses[argument.buffer];
      auto encoded = encodeTensorMap(argument.map);
      if (!encoded)
        return encoded.takeError();
      bytes.assign(encoded->begin(), encoded->end());
    }
    const KernelParameter &parameter = kernel.parameters[index];
    if (bytes.size() != parameter.size)
      return failure("parameter " + parameter.name + " has " + llvm::Twine(parameter.size) +
                     " bytes, the vector's argument " + llvm::Twine(bytes.size()));
    llvm::copy(bytes, vector.launch.parameters.begin() + parameter.offset);
  }
  return llvm::Error::success();
}

static llvm::Error checkResult(Device &device, const VectorFile &vector, const LaunchResult &result,
                               const std::vector<uint64_t> &addresses) {
  if (vector.expectsError) {
    if (result.status == LaunchStatus::Faulted)
      return llvm::Error::success();
    return failure("the kernel should have been stopped");
  }
  if (!result.findings.empty())
    return failure(result.findings.front().str());
  if (result.status != LaunchStatus::Completed)
    return failure("the kernel did not end");
  for (auto [index, argument] : llvm::enumerate(vector.arguments)) {
    if (!argument.expected)
      continue;
    std::vector<uint8_t> found(argument.bytes);
    if (llvm::Error error = device.copyOut(addresses[index], found))
      return error;
    std::string difference = compareBuffer(vector, *argument.expected, found);
    if (!difference.empty())
      return failure("argument " + llvm::Twine(index) + ", " + difference);
  }
  return llvm::Error::success();
}

static llvm::Error run(VectorFile &vector, llvm::StringRef name) {
  llvm::Expected<Module> module = Module::parse(vector.text, name);
  if (!module)
    return module.takeError();
  const KernelInfo *kernel = module->findKernel(vector.launch.kernel);
  if (!kernel)
    return failure("there is no entry '" + vector.launch.kernel + "'");
  Device device;
  std::vector<uint64_t> addresses;
  if (llvm::Error error = prepare(device, *kernel, vector, addresses))
    return error;
  LaunchOptions options;
  options.chip = chip;
  options.seed = seed;
  llvm::Expected<LaunchResult> result = device.launch(*module, vector.launch, options);
  if (!result)
    return result.takeError();
  return checkResult(device, vector, *result, addresses);
}

static std::vector<std::string> collectFiles() {
  std::vector<std::string> files;
  for (const std::string &input : inputs) {
    if (!llvm::sys::fs::is_directory(input)) {
      files.push_back(input);
      continue;
    }
    std::error_code error;
    for (llvm::sys::fs::recursive_directory_iterator it(input, error), end; it != end && !error;
         it.increment(error))
      if (llvm::sys::path::extension(it->path()) == ".ptx")
        files.push_back(it->path());
  }
  llvm::sort(files);
  return files;
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  cl::ParseCommandLineOptions(argc, argv, "Runs recorded PTX kernels on the emulator\n");
  unsigned passed = 0, failed = 0, skippedCount = 0;
  for (const std::string &file : collectFiles()) {
    auto buffer = llvm::MemoryBuffer::getFile(file);
    llvm::Expected<VectorFile> vector =
        buffer ? parseVectorFile((*buffer)->getBuffer())
               : llvm::Expected<VectorFile>(llvm::errorCodeToError(buffer.getError()));
    if (vector && llvm::is_contained(skipped, vector->family)) {
      ++skippedCount;
      continue;
    }
    llvm::Error error = vector ? run(*vector, file) : vector.takeError();
    if (!error) {
      ++passed;
      continue;
    }
    ++failed;
    llvm::outs() << "FAIL " << file << ": " << llvm::toString(std::move(error)) << '\n';
  }
  llvm::outs() << passed << " passed, " << failed << " failed, " << skippedCount << " skipped\n";
  return failed != 0;
}
