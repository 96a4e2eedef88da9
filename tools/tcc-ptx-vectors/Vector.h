//===- Vector.h - A self-describing PTX test --------------------*- C++ -*-===//
//
// A test vector is PTX text after a block of comments:
//
//   //! {"kernel", "grid", "block", "cluster", "dynamic_shared", "compare", ...}   the launch
//   //!arg {...}                                                   one per kernel parameter
//
// A buffer's "data" and "expect" are base64, or lists of numbers of the buffer's "type". With
// "hidden" it is no parameter: tensor maps refer to it. An argument with "append" is the rest of
// the parameter before it, which holds an array.
//
// `compare` is "exact", or "ulp:f32" and the like for approximate functions. Family "fault" and
// "expect_error" want a fault. "expect_finding": {"kind", "message"} wants a finding of that kind
// with that text in it (the message is optional), at the line with the comment `//< finding` if
// there is one, and no finding of another kind. Without them any finding is a failure.
//
//===----------------------------------------------------------------------===//

#ifndef TCC_TOOLS_TCC_PTX_VECTORS_VECTOR_H
#define TCC_TOOLS_TCC_PTX_VECTORS_VECTOR_H

#include "tcc/Emulator/Emulator.h"

#include "llvm/Support/JSON.h"

namespace tcc::vectors {

struct Argument {
  enum class Kind { Buffer, Bytes, TensorMap } kind = Kind::Bytes;
  /// Buffer: what it holds at first (empty: `fill`), and what it must hold at the end (if
  /// `isCompared`). Bytes: the parameter's own bytes.
  std::vector<uint8_t> data;
  std::vector<uint8_t> expected;
  uint64_t bytes = 0;
  bool isCompared = false;
  /// Neither data nor fill: the buffer starts uninitialised.
  bool isInitialized = true;
  emulator::TensorMapDescriptor map;
  /// TensorMap: the argument that holds the tensor, and where in it the tensor begins.
  uint64_t buffer = 0;
  uint64_t offset = 0;
  bool isHidden = false;
  bool isAppended = false;
};

struct ExpectedFinding {
  std::string kind;
  std::optional<uint64_t> line;
  std::string message;
};

struct Vector {
  emulator::LaunchConfig config;
  emulator::LaunchOptions options;
  std::vector<Argument> arguments;
  std::string compare = "exact";
  /// For results of several operations, one after the other: what the notes say they are.
  std::vector<std::string> operations;
  bool expectsFault = false;
  std::optional<ExpectedFinding> expectedFinding;
};

/// Reads the comment block.
llvm::Expected<Vector> parseVector(llvm::StringRef text);

struct Outcome {
  enum class Kind { Passed, Failed, Skipped } kind = Kind::Passed;
  std::string message;
};

/// Runs a vector. Skipped: the emulator does not know an instruction yet.
Outcome runVector(llvm::StringRef text, llvm::StringRef name, llvm::StringRef chip, uint64_t seed);

} // namespace tcc::vectors

#endif // TCC_TOOLS_TCC_PTX_VECTORS_VECTOR_H
