//===- Header.h - The comment block at the head of the PTX ------*- C++ -*-===//
//
//   // tcc-metadata begin: schema 1, 2 kernels
//   // {
//   //   "schema": 1,
//   //   "name": "gemm",
//   //   …
//   // }
//   // {
//   //   …
//   // }
//   // tcc-metadata end
//   .version 8.0
//   …
//
//===----------------------------------------------------------------------===//

#ifndef TCC_METADATA_HEADER_H
#define TCC_METADATA_HEADER_H

#include "tcc/Metadata/Kernel.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/raw_ostream.h"
#include <vector>

namespace tcc::metadata {

/// Writes the comment block, which ends with a newline. Fails, having written nothing, where a
/// kernel doesn't verify.
llvm::Error writeHeader(llvm::raw_ostream &os, llvm::ArrayRef<Kernel> kernels);

/// Reads the comment block of a PTX text; what stands before and after it is not looked at. The
/// kernels are verified. Fails on a missing, truncated, malformed or newer header.
llvm::Expected<std::vector<Kernel>> readHeader(llvm::StringRef ptx);

/// One kernel as its JSON object, one field a line, and back; not verified.
std::string writeKernel(const Kernel &kernel);
llvm::Expected<Kernel> readKernel(llvm::StringRef json);

} // namespace tcc::metadata

#endif // TCC_METADATA_HEADER_H
