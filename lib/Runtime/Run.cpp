//===- Run.cpp - One program from PTX to checked results ------------------===//

#include "tcc/Runtime/Run.h"
#include "ArgumentSet.h"
#include "MatmulCall.h"
#include "tcc/Metadata/Header.h"
#include "tcc/Runtime/Npy.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include <cmath>

using namespace llvm;
using namespace tcc::metadata;

namespace tcc::runtime {
namespace {

/// An .npy file and what it holds.
struct LoadedFile {
  std::unique_ptr<MemoryBuffer> buffer;
  NpyArray array;
};

Error inFile(StringRef path, Error error) {
  return createStringError("'" + path + "': " + toString(std::move(error)));
}

Expected<LoadedFile> loadFile(StringRef path) {
  ErrorOr<std::unique_ptr<MemoryBuffer>> buffer =
      MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!buffer)
    return createStringError("'" + path + "': " + buffer.getError().message());
  Expected<NpyArray> array = parseNpy((*buffer)->getBuffer());
  if (!array)
    return inFile(path, array.takeError());
  return LoadedFile{std::move(*buffer), std::move(*array)};
}

class Runner {
public:
  Runner(StringRef ptx, StringRef name, const RunOptions &options)
      : ptx(ptx), name(name), options(options) {}

  Expected<RunResult> run();

private:
  Error prepare();
  Error loadFiles();
  Error checkFileArguments(const FileMap &files, StringRef option, bool mustBeOutput);
  Error openAndLoad();
  Error runDataSet(Fill fill, bool isFirst);
  Error fillInputs(ArgumentSet &arguments, Fill fill);
  Expected<LaunchPlan> plan(ArgumentSet &arguments);
  Error checkOutputs(ArgumentSet &arguments, Fill fill, bool isFirst);
  Expected<CheckResult> checkOutput(ArgumentSet &arguments, StringRef argument,
                                    const HostTensor &after, Fill fill);
  Error writeOutput(StringRef argument, const HostTensor &after);
  Error time();

  const Kernel &kernel() const { return program.getFirst(); }
  bool isOutput(size_t argument) const {
    return kernel().arguments[argument].direction != Direction::In;
  }
  bool allInputsFromFiles() const {
    return all_of(kernel().arguments, [&](const Argument &argument) {
      return argument.direction == Direction::Out || options.inputs.count(argument.name);
    });
  }
  const RefOutput *findReference(StringRef argument) const {
    if (!kernel().reference)
      return nullptr;
    for (const RefOutput &output : kernel().reference->outputs)
      if (output.argument == argument)
        return &output;
    return nullptr;
  }

  StringRef ptx, name;
  const RunOptions &options;
  std::vector<Kernel> kernels;
  Program program;
  Problem problem;
  std::map<std::string, LoadedFile> files; // by argument: inputs, and "expected:" + argument
  std::unique_ptr<Device> device;
  std::unique_ptr<DeviceModule> module;
  RunResult result;
};

} // namespace

//===----------------------------------------------------------------------===//
// Before the launch
//===----------------------------------------------------------------------===//

Error Runner::checkFileArguments(const FileMap &map, StringRef option, bool mustBeOutput) {
  for (const auto &[argument, path] : map) {
    const Argument *found = kernel().findArgument(argument);
    if (!found || (mustBeOutput && found->direction == Direction::In))
      return createStringError("--" + option + " " + argument + "=" + path + ": '" + kernel().name +
                               "' has no " + (mustBeOutput ? "output" : "argument") + " '" +
                               argument + "'");
    if (!mustBeOutput && found->direction == Direction::Out)
      return createStringError("--" + option + " " + argument + "=" + path + ": '" + argument +
                               "' is only written by '" + kernel().name + "'");
  }
  return Error::success();
}

Error Runner::loadFiles() {
  if (Error error = checkFileArguments(options.inputs, "input", false))
    return error;
  if (Error error = checkFileArguments(options.outputs, "output", true))
    return error;
  if (Error error = checkFileArguments(options.expected, "expect", true))
    return error;
  auto load = [&](const FileMap &map, const std::string &prefix) -> Error {
    for (const auto &[argument, path] : map) {
      Expected<LoadedFile> file = loadFile(path);
      if (!file)
        return file.takeError();
      files.emplace(prefix + argument, std::move(*file));
    }
    return Error::success();
  };
  if (Error error = load(options.inputs, ""))
    return error;
  return load(options.expected, "expected:");
}

Error Runner::prepare() {
  Expected<std::vector<Kernel>> read = readHeader(ptx);
  if (!read)
    return inFile(name, read.takeError());
  kernels = std::move(*read);
  Expected<Program> selected = selectProgram(kernels, options.kernel);
  if (!selected)
    return inFile(name, selected.takeError());
  program = std::move(*selected);
  result.kernel = program.name.str();
  if (Error error = loadFiles())
    return error;
  ProblemOptions choices = options.problem;
  for (const auto &[argument, path] : options.inputs)
    if (Error error = inferSizes(kernel(), argument, files.at(argument).array.shape, choices.sizes))
      return inFile(path, std::move(error));
  Expected<Problem> bound = bindProblem(kernel(), choices);
  if (!bound)
    return bound.takeError();
  problem = std::move(*bound);
  for (const std::string &symbol : kernel().getSizeSymbols())
    result.sizes.push_back({symbol, problem.symbols.lookup(symbol)});
  if (options.check && !kernel().reference && options.expected.empty())
    return createStringError("--check: '" + kernel().name +
                             "' has no reference (hand-written tile programs have none); give the "
                             "expected result by --expect NAME=file.npy");
  return Error::success();
}

Error Runner::openAndLoad() {
  std::string note;
  Expected<std::unique_ptr<Device>> opened = openDevice(options.device, note);
  if (!opened)
    return opened.takeError();
  device = std::move(*opened);
  if (!note.empty())
    result.notes.push_back(note);
  Expected<std::unique_ptr<DeviceModule>> loaded = device->load(ptx, name);
  if (!loaded)
    return loaded.takeError();
  module = std::move(*loaded);
  result.device = device->getInfo();
  return Error::success();
}

Error Runner::fillInputs(ArgumentSet &arguments, Fill fill) {
  for (auto [i, argument] : enumerate(kernel().arguments)) {
    if (argument.direction == Direction::Out)
      continue;
    auto file = files.find(argument.name);
    if (file == files.end())
      fillElements(arguments.getHost(i), fill, options.seed, argument.name);
    else if (Error error = copyNpy(file->second.array, arguments.getHost(i)))
      return inFile(options.inputs.at(argument.name), std::move(error));
  }
  return Error::success();
}

Expected<LaunchPlan> Runner::plan(ArgumentSet &arguments) {
  Expected<Selection> selection =
      selectVariant(program, problem, arguments.getSymbols(), options.variant);
  if (!selection)
    return selection.takeError();
  const Kernel &chosen = *selection->kernel;
  result.variant = chosen.variant.empty() ? chosen.entry : chosen.variant;
  result.rejected = selection->rejected;
  Expected<uint64_t> workspace = arguments.prepareWorkspace(chosen);
  if (!workspace)
    return workspace.takeError();
  return planLaunch(chosen, problem, arguments.getSymbols(), *workspace);
}

//===----------------------------------------------------------------------===//
// Launch and check
//===----------------------------------------------------------------------===//

Error Runner::writeOutput(StringRef argument, const HostTensor &after) {
  auto path = options.outputs.find(argument.str());
  if (path == options.outputs.end())
    return Error::success();
  // Through a temporary file, so that a failed run leaves nothing half-written.
  return llvm::writeToOutput(path->second, [&](raw_ostream &os) -> Error {
    writeNpy(os, after);
    return Error::success();
  });
}

Expected<CheckResult> Runner::checkOutput(ArgumentSet &arguments, StringRef argument,
                                          const HostTensor &after, Fill fill) {
  auto expected = files.find("expected:" + argument.str());
  if (expected != files.end()) {
    Expected<HostTensor> values = HostTensor::create(
        makeDenseLayout(after.getLayout().type, after.getLayout().shape), /*guard=*/0);
    if (!values)
      return values.takeError();
    if (Error error = copyNpy(expected->second.array, *values))
      return inFile(options.expected.at(argument.str()), std::move(error));
    return checkAgainstExpected(argument, *values, after, options.tolerance);
  }
  const RefOutput *reference = findReference(argument);
  StringMap<const HostTensor *> inputs = arguments.getHostByName(kernel());
  auto check = [&](EvaluationMode mode) {
    return checkAgainstReference(*kernel().reference, *reference, problem.dims, inputs, after, mode,
                                 options.seed);
  };
  // Every other fill holds integers, whose sums are exact unless they grow too large.
  if (fill != Fill::Normal && isExactlyDefined(*kernel().reference, reference->node))
    if (std::optional<CheckResult> exact = check(EvaluationMode::Exact))
      return *exact;
  return *check(EvaluationMode::Bounded);
}

Error Runner::checkOutputs(ArgumentSet &arguments, Fill fill, bool isFirst) {
  DataSetResult &set = result.dataSets.emplace_back();
  set.name = allInputsFromFiles() ? "file" : getName(fill).str();
  for (auto [i, argument] : enumerate(kernel().arguments)) {
    if (!isOutput(i))
      continue;
    Expected<HostTensor> after = arguments.download(i);
    if (!after)
      return after.takeError();
    if (isFirst)
      if (Error error = writeOutput(argument.name, *after))
        return error;
    bool isExpected = options.expected.count(argument.name);
    CheckResult checked;
    checked.argument = argument.name;
    if ((options.check && findReference(argument.name)) || isExpected) {
      Expected<CheckResult> compared = checkOutput(arguments, argument.name, *after, fill);
      if (!compared)
        return compared.takeError();
      checked = std::move(*compared);
    }
    checkStrayWrites(arguments.getHost(i), *after, checked);
    checked.fingerprint = fingerprint(*after);
    set.checks.push_back(std::move(checked));
  }
  return Error::success();
}

Error Runner::runDataSet(Fill fill, bool isFirst) {
  Expected<ArgumentSet> arguments = ArgumentSet::create(*device, kernel(), problem);
  if (!arguments)
    return arguments.takeError();
  if (Error error = fillInputs(*arguments, fill))
    return error;
  if (Error error = arguments->upload())
    return error;
  Expected<LaunchPlan> planned = plan(*arguments);
  if (!planned)
    return planned.takeError();
  result.plan = std::move(*planned);
  if (problem.empty || result.plan.isEmpty()) {
    if (isFirst)
      result.notes.push_back("the output has no element, nothing was launched");
  } else {
    if (Error error = module->launch(result.plan))
      return error;
    result.launched = true;
    result.report = module->getReport();
    for (const std::string &finding : result.report.findings)
      if (!is_contained(result.findings, finding))
        result.findings.push_back(finding);
  }
  return checkOutputs(*arguments, fill, isFirst);
}

//===----------------------------------------------------------------------===//
// Timing
//===----------------------------------------------------------------------===//

/// Enough copies of the arguments that one launch's are out of L2 when their turn comes again.
static unsigned getInputSets(const DeviceInfo &info, uint64_t bytesPerSet) {
  constexpr unsigned mostSets = 128;
  if (info.l2Bytes == 0 || bytesPerSet == 0)
    return 1;
  return std::clamp<uint64_t>(2 * info.l2Bytes / bytesPerSet + 1, 2, mostSets);
}

Error Runner::time() {
  uint64_t bytes = 0;
  for (const TensorLayout &layout : problem.layouts)
    bytes += layout.getSpan() * getByteSize(layout.type);
  std::vector<ArgumentSet> sets;
  std::vector<LaunchPlan> plans;
  std::vector<MatmulCall> calls;
  TimingResult timing;
  timing.inputSets = getInputSets(result.device, bytes);
  for (unsigned i = 0; i < timing.inputSets; ++i) {
    Expected<ArgumentSet> set = ArgumentSet::create(*device, kernel(), problem);
    if (!set)
      return set.takeError();
    if (sets.empty()) {
      if (Error error = fillInputs(*set, options.fill))
        return error;
    } else {
      set->copyHostFrom(sets.front());
    }
    if (Error error = set->upload())
      return error;
    Expected<LaunchPlan> planned = plan(*set);
    if (!planned)
      return planned.takeError();
    plans.push_back(std::move(*planned));
    if (options.versusCublasLt) {
      Expected<MatmulCall> call = describeMatmul(kernel(), problem, set->getSymbols());
      if (!call)
        return call.takeError();
      calls.push_back(*call);
    }
    sets.push_back(std::move(*set));
  }
  timing.wallTime = result.device.backend != "cuda";
  TimingCounts counts = options.counts;
  if (timing.wallTime) {
    counts.warmup = 0;
    counts.repeats = std::min(counts.repeats, 3u);
  }
  timing.batch = counts.batch;
  if (options.versusCublasLt) {
    Expected<VersusTimes> times = module->timeVersusCublasLt(plans, calls, counts);
    if (!times)
      return times.takeError();
    timing.milliseconds = std::move(times->own);
    timing.peerMilliseconds = std::move(times->peer);
    timing.smClockMHz = times->smClockMHz;
  } else {
    Expected<LaunchTimes> times = module->time(plans, counts);
    if (!times)
      return times.takeError();
    timing.milliseconds = std::move(times->milliseconds);
    timing.smClockMHz = times->smClockMHz;
  }
  sort(timing.milliseconds);
  sort(timing.peerMilliseconds);
  if (kernel().reference && timing.getMedian() > 0)
    timing.teraflops =
        2 * countMultiplyAdds(*kernel().reference, problem.dims) / (timing.getMedian() * 1e9);
  result.timing = std::move(timing);
  return Error::success();
}

Expected<RunResult> Runner::run() {
  if (Error error = prepare())
    return std::move(error);
  if (Error error = openAndLoad())
    return std::move(error);
  if (Error error = runDataSet(options.fill, /*isFirst=*/true))
    return std::move(error);
  // Small integers show what rounding would hide: their results are exact.
  bool integersToo = options.check && options.fill != Fill::Integers && !allInputsFromFiles() &&
                     options.expected.empty();
  if (integersToo)
    if (Error error = runDataSet(Fill::Integers, /*isFirst=*/false))
      return std::move(error);
  if (options.time && result.launched)
    if (Error error = time())
      return std::move(error);
  return std::move(result);
}

bool RunResult::passed() const {
  return findings.empty() && all_of(dataSets, [](const DataSetResult &set) {
           return all_of(set.checks, [](const CheckResult &check) { return check.passed(); });
         });
}

Expected<RunResult> run(StringRef ptx, StringRef name, const RunOptions &options) {
  return Runner(ptx, name, options).run();
}

} // namespace tcc::runtime
