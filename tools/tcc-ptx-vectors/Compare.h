//===- Compare.h - Results against a vector's expectation -------*- C++ -*-===//

#ifndef TCC_TOOLS_TCC_PTX_VECTORS_COMPARE_H
#define TCC_TOOLS_TCC_PTX_VECTORS_COMPARE_H

#include "Vector.h"

namespace tcc::vectors {

/// Empty where `found` is what the vector expects of a buffer, else the first difference. Exact,
/// but for vectors of approximate functions, which may differ by as much as hardware may from the
/// exact value plus our own rounding.
std::string compareBuffer(const Vector &vector, llvm::ArrayRef<uint8_t> expected,
                          llvm::ArrayRef<uint8_t> found);

} // namespace tcc::vectors

#endif // TCC_TOOLS_TCC_PTX_VECTORS_COMPARE_H
