//===- tcc-ptx-vectors.cpp - Runs a folder of PTX test vectors --*- C++ -*-===//

#include "Vector.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/WithColor.h"

using namespace tcc::vectors;
namespace cl = llvm::cl;

static cl::OptionCategory category("tcc-ptx-vectors options");
static cl::list<std::string> inputs(cl::Positional, cl::OneOrMore, cl::cat(category),
                                    cl::desc("<folder or file>..."));
static cl::opt<std::string> chip("chip", cl::init("sm_90a"), cl::cat(category),
                                 cl::desc("Chip to emulate where a vector does not say"));
static cl::opt<uint64_t> seed("seed", cl::init(0), cl::cat(category),
                              cl::desc("Vary the warp schedule (0: a fixed order)"));
static cl::opt<bool> listSkipped("list-skipped", cl::cat(category),
                                 cl::desc("Print the vectors that are skipped, and why"));

/// The .ptx files below `path`, sorted.
static llvm::Error collect(llvm::StringRef path, std::vector<std::string> &files) {
  if (!llvm::sys::fs::is_directory(path)) {
    files.push_back(path.str());
    return llvm::Error::success();
  }
  std::error_code code;
  for (llvm::sys::fs::recursive_directory_iterator it(path, code), end; it != end && !code;
       it.increment(code))
    if (llvm::sys::path::extension(it->path()) == ".ptx")
      files.push_back(it->path());
  llvm::sort(files);
  return llvm::errorCodeToError(code);
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  cl::HideUnrelatedOptions(category);
  cl::ParseCommandLineOptions(argc, argv, "Runs PTX test vectors on the emulator\n");
  std::vector<std::string> files;
  for (const std::string &input : inputs) {
    if (llvm::Error e = collect(input, files)) {
      llvm::WithColor::error() << input << ": " << llvm::toString(std::move(e)) << '\n';
      return 2;
    }
  }
  if (files.empty()) {
    llvm::WithColor::error() << "no .ptx file in " << llvm::join(inputs, ", ") << '\n';
    return 2;
  }
  unsigned counts[3] = {};
  for (const std::string &file : files) {
    auto buffer = llvm::MemoryBuffer::getFile(file);
    Outcome outcome;
    if (!buffer)
      outcome = {Outcome::Kind::Failed, buffer.getError().message()};
    else
      outcome = runVector((*buffer)->getBuffer(), file, chip, seed);
    ++counts[unsigned(outcome.kind)];
    if (outcome.kind == Outcome::Kind::Failed)
      llvm::outs() << "FAIL " << file << ": " << outcome.message << '\n';
    else if (outcome.kind == Outcome::Kind::Skipped && listSkipped)
      llvm::outs() << "SKIP " << file << ": " << outcome.message << '\n';
  }
  llvm::outs() << counts[0] << " passed, " << counts[1] << " failed, " << counts[2] << " skipped\n";
  return counts[1] ? 1 : 0;
}
