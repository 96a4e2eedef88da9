//===- Fill.h - Data for arguments ------------------------------*- C++ -*-===//

#ifndef TCC_RUNTIME_FILL_H
#define TCC_RUNTIME_FILL_H

#include "tcc/Runtime/Tensor.h"
#include <optional>

namespace tcc::runtime {

enum class Fill : uint8_t {
  Normal,   // standard normal; integer types: as Integers
  Integers, // -3 … 3 (unsigned types: 0 … 3), few enough for sums that f32 holds exactly
  Ones,
  Iota, // the row-major index modulo 256 (8-bit floats: modulo 16)
};

llvm::StringRef getName(Fill fill);
std::optional<Fill> parseFill(llvm::StringRef name);

/// Fills the elements; padding and guards keep their bytes. The values depend on the seed, the
/// argument's name and the element's index alone, not on strides or threads.
void fillElements(HostTensor &tensor, Fill fill, uint64_t seed, llvm::StringRef name);

/// Fills every byte, padding and guards included, so that reads outside the elements give NaN and
/// elements that a kernel doesn't write are seen.
void poison(HostTensor &tensor);

} // namespace tcc::runtime

#endif // TCC_RUNTIME_FILL_H
