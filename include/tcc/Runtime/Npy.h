//===- Npy.h - NumPy's .npy files -------------------------------*- C++ -*-===//
//
// Format versions 1 to 3 (NEP 1), little-endian. NumPy has no bf16: `<V2` and `|V2` (as ml_dtypes
// writes bf16) and `<u2` are taken as an argument's raw 16 bits; bf16 is written as `<V2`, the fp8
// types as `|V1`.
//
//===----------------------------------------------------------------------===//

#ifndef TCC_RUNTIME_NPY_H
#define TCC_RUNTIME_NPY_H

#include "tcc/Runtime/Tensor.h"
#include "llvm/Support/raw_ostream.h"

namespace tcc::runtime {

/// What a file holds; `data` points into the text that was parsed.
struct NpyArray {
  std::string descr; // "<f2"
  bool fortranOrder = false;
  Shape shape;
  llvm::ArrayRef<uint8_t> data;
};

/// Parses the bytes of a file. Fails on anything malformed, truncated, or not little-endian.
llvm::Expected<NpyArray> parseNpy(llvm::StringRef file);

/// Copies the array into the tensor's elements. Fails where shape or element type differ.
llvm::Error copyNpy(const NpyArray &array, HostTensor &tensor);

/// Writes the tensor's elements in C order.
void writeNpy(llvm::raw_ostream &os, const HostTensor &tensor);

} // namespace tcc::runtime

#endif // TCC_RUNTIME_NPY_H
