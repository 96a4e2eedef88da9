//===- VectorFile.h - A kernel with its inputs and outputs ------*- C++ -*-===//
//
// A test vector is a PTX file that describes its own launch. Before the PTX stands a block of
// comments, one JSON object each:
//
//   //! {"kernel": "k", "grid": [1,1,1], "block": [32,1,1], "cluster": null, "dynamic_shared": 0,
//        "compare": "exact", "family": "...", "notes": "...", "expect_error": "..."}
//   //!arg {"kind": "buffer", "dir": "in", "bytes": 4, "data": "base64", "expect": "base64"}
//   //!arg {"kind": "scalar", "type": "u32", "value": 1}
//   //!arg {"kind": "bytes", "hex": "00ff"}
//   //!arg {"kind": "tensormap", "dtype": "f16", "dims": [...], "strides": [...], "box": [...],
//           "element_strides": [...], "swizzle": "128B", "oob": "zero", "buffer": 1}
//
// An `out` buffer is filled with the byte `fill` (0xCD by default) and compared whole. With
// `expect_error` the kernel must be stopped.
//
//===----------------------------------------------------------------------===//

#ifndef TCC_TOOLS_TCC_PTX_VECTORS_VECTORFILE_H
#define TCC_TOOLS_TCC_PTX_VECTORS_VECTORFILE_H

#include "tcc/Emulator/Emulator.h"

namespace tcc {

struct VectorArgument {
  enum class Kind { Buffer, Value, TensorMap } kind = Kind::Value;
  /// Buffer: its size, initial bytes (shorter: the rest is filled) and what must be there after.
  uint64_t bytes = 0;
  std::vector<uint8_t> data;
  std::optional<std::vector<uint8_t>> expected;
  uint8_t fill = 0xcd;
  /// TensorMap: everything but the address, which is that of the argument `buffer`.
  emulator::TensorMapDescriptor map;
  uint64_t buffer = 0;
};

struct VectorFile {
  std::string text;
  std::string family;
  /// "exact" or "ulp:f32", "ulp:f16x2", ...
  std::string compare = "exact";
  /// The instructions whose results lie one after another in the output, where the notes list them.
  std::vector<std::string> operations;
  bool expectsError = false;
  emulator::LaunchConfig launch;
  std::vector<VectorArgument> arguments;
};

/// Parses the comments of a vector. An error names what is wrong with which line.
llvm::Expected<VectorFile> parseVectorFile(llvm::StringRef text);

} // namespace tcc

#endif // TCC_TOOLS_TCC_PTX_VECTORS_VECTORFILE_H
