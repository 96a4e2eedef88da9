//===- tcc-run.cpp - Runs self-describing PTX -----------------------------===//
//
// Exit codes: 0 all is well, 1 the run or a check failed, 2 the command line is wrong.
//
//===----------------------------------------------------------------------===//

#include "tcc/Runtime/Run.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/WithColor.h"

using namespace llvm;
using namespace tcc::runtime;

static cl::OptionCategory category("tcc-run options");
#define OPTION(type, variable, name, ...)                                                          \
  static cl::opt<type> variable(name, cl::cat(category), __VA_ARGS__)
#define LIST(variable, name, ...)                                                                  \
  static cl::list<std::string> variable(name, cl::cat(category), __VA_ARGS__)

static cl::opt<std::string> inputFile(cl::Positional, cl::desc("<PTX file, - for stdin>"),
                                      cl::init("-"), cl::cat(category));

// What to run
OPTION(std::string, kernelName, "kernel", cl::desc("The kernel, where the PTX has several"));
OPTION(std::string, variantLabel, "variant", cl::desc("This variant, not the first that fits"));
LIST(sizes, "size", cl::desc("Sizes, as M=4096,N=4096"));
LIST(leading, "ld", cl::desc("Leading dimensions in elements, as A=1008"));
LIST(offsets, "offset", cl::desc("Elements before an argument's first, as A=1"));

// Data
LIST(inputs, "input", cl::desc("Values of an argument, as A=a.npy"));
LIST(outputs, "output", cl::desc("Where an output goes, as C=c.npy"));
LIST(expected, "expect", cl::desc("What an output should be, as C=c.npy"));
OPTION(double, tolerance, "tolerance", cl::init(0),
       cl::desc("Absolute tolerance of --expect (default 0: equality)"));
OPTION(std::string, fillName, "init", cl::init("normal"),
       cl::desc("Values of other inputs: normal, integer, ones, iota"));
OPTION(uint64_t, seed, "seed", cl::init(1), cl::desc("Seed of the random values"));

// Checks and measurements
OPTION(bool, check, "check", cl::desc("Compare with the PTX's reference, in float64"));
OPTION(bool, timed, "time", cl::desc("Measure a launch, as the median of --repeat times"));
OPTION(unsigned, repeats, "repeat", cl::init(20), cl::desc("Measurements of --time"));
OPTION(unsigned, batch, "batch", cl::init(1), cl::desc("Back-to-back launches of a measurement"));
OPTION(std::string, versus, "vs", cl::desc("With --time: a library to measure in turn, cublaslt"));
OPTION(bool, printJSON, "json", cl::desc("Print the results as JSON"));

// Devices
static cl::opt<Backend>
    backend("device", cl::cat(category), cl::init(Backend::Auto), cl::desc("Where to run:"),
            cl::values(clEnumValN(Backend::Auto, "auto", "a GPU, or the emulator without one"),
                       clEnumValN(Backend::CUDA, "cuda", "a GPU, by the CUDA driver"),
                       clEnumValN(Backend::Emulator, "emulator", "the PTX emulator")));
OPTION(double, timeout, "timeout", cl::init(60),
       cl::desc("Seconds after which a kernel on the GPU counts as hung"));
OPTION(std::string, chip, "chip", cl::desc("Emulated chip (default: the PTX's .target)"));
OPTION(unsigned, smCount, "sm-count", cl::init(16), cl::desc("Emulated multiprocessors"));
OPTION(uint64_t, scheduleSeed, "schedule-seed", cl::init(0),
       cl::desc("Vary the emulated warps' order (0: fixed)"));
OPTION(uint64_t, maxSteps, "max-steps", cl::init(uint64_t(1) << 32),
       cl::desc("Emulated warp instructions per launch"));
OPTION(std::string, report, "report", cl::desc("Emulator: print counts, as text or json"));
OPTION(bool, trace, "trace", cl::desc("Emulator: print what warp 0 of block 0 executes"));

static int fail(Error error, int exitCode) {
  bool hung = error.isA<HungKernelError>();
  outs().flush();
  WithColor::error(errs(), "tcc-run") << toString(std::move(error)) << "\n";
  if (hung) // the driver's own cleanup would wait for the kernel
    sys::Process::Exit(exitCode, /*NoCleanup=*/true);
  return exitCode;
}

static Expected<RunOptions> readOptions() {
  RunOptions options;
  options.kernel = kernelName;
  options.variant = variantLabel;
  auto readAll = [](const cl::list<std::string> &list, auto &out, auto parse) -> Error {
    for (const std::string &text : list)
      if (Error error = parse(list.ArgStr, text, out))
        return error;
    return Error::success();
  };
  Error errors[] = {readAll(sizes, options.problem.sizes, parseIntegers),
                    readAll(leading, options.problem.leadingDimensions, parseIntegers),
                    readAll(offsets, options.problem.offsets, parseIntegers),
                    readAll(inputs, options.inputs, parseFile),
                    readAll(outputs, options.outputs, parseFile),
                    readAll(expected, options.expected, parseFile)};
  Error joined = Error::success();
  for (Error &error : errors)
    joined = joinErrors(std::move(joined), std::move(error));
  if (joined)
    return std::move(joined);
  std::optional<Fill> parsedFill = parseFill(fillName);
  if (!parsedFill)
    return createStringError("--init: expected normal, integer, ones or iota, found '" + fillName +
                             "'");
  if (!report.empty() && report != "text" && report != "json")
    return createStringError("--report: expected text or json, found '" + report + "'");
  if (!versus.empty() && (versus != "cublaslt" || !timed))
    return createStringError("--vs: expected --time --vs=cublaslt");
  if (repeats == 0 || batch == 0)
    return createStringError("--repeat and --batch must be at least 1");
  options.fill = *parsedFill;
  options.tolerance = tolerance;
  options.seed = seed;
  options.check = check;
  options.time = timed;
  options.versusCublasLt = !versus.empty();
  options.counts = {/*warmup=*/5, repeats, batch};
  options.device = {backend,  timeout,         chip, smCount, scheduleSeed,
                    maxSteps, !report.empty(), trace};
  return options;
}

static void print(const RunResult &result) {
  if (printJSON)
    outs() << formatv("{0:2}", toJSON(result)) << "\n";
  else
    printResult(outs(), result);
  if (report == "text")
    outs() << result.report.text;
  else if (report == "json" && !printJSON)
    outs() << formatv("{0:2}", result.report.json) << "\n";
  outs() << result.report.trace;
}

int main(int argc, char **argv) {
  InitLLVM init(argc, argv);
  cl::HideUnrelatedOptions(category);
  constexpr StringLiteral overview = "Runs PTX with a tcc header, on a GPU or on the emulator\n";
  if (!cl::ParseCommandLineOptions(argc, argv, overview, &errs()))
    return 2;
  Expected<RunOptions> options = readOptions();
  if (!options)
    return fail(options.takeError(), 2);
  ErrorOr<std::unique_ptr<MemoryBuffer>> ptx = MemoryBuffer::getFileOrSTDIN(inputFile);
  if (!ptx)
    return fail(createStringError("'" + inputFile + "': " + ptx.getError().message()), 2);
  Expected<RunResult> result = run((*ptx)->getBuffer(), (*ptx)->getBufferIdentifier(), *options);
  if (!result)
    return fail(result.takeError(), 1);
  print(*result);
  return result->passed() ? 0 : 1;
}
