//===- Compare.h - Results against a vector's expectation -------*- C++ -*-===//

#ifndef TCC_TOOLS_TCC_PTX_VECTORS_COMPARE_H
#define TCC_TOOLS_TCC_PTX_VECTORS_COMPARE_H

#include "VectorFile.h"

namespace tcc {

/// Empty where `found` is what the vector expects of a buffer, else the first difference. Exact,
/// but for vectors of approximate functions, which may differ by as much as hardware may from the
/// exact value plus our own rounding.
std::string compareBuffer(const VectorFile &vector, llvm::ArrayRef<uint8_t> expected,
                          llvm::ArrayRef<uint8_t> found);

} // namespace tcc

#endif // TCC_TOOLS_TCC_PTX_VECTORS_COMPARE_H
