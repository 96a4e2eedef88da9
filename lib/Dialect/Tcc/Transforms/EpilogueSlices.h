//===- EpilogueSlices.h - The epilogue through shared memory ----*- C++ -*-===//

#ifndef TCC_LIB_DIALECT_TCC_TRANSFORMS_EPILOGUESLICES_H
#define TCC_LIB_DIALECT_TCC_TRANSFORMS_EPILOGUESLICES_H

#include "Kernel.h"

namespace mlir::tcc {

/// Replaces everything after the loop by the same on slices of whole rows that go through one
/// staging buffer, allocated at the top of `allocBlock`. `fragment` is the accumulator's: a slice
/// has the fewest rows that it can be cut into. An error at the op that can't be sliced.
LogicalResult sliceEpilogue(MatmulLoop &program, FragmentAttr fragment, Block *allocBlock);

} // namespace mlir::tcc

#endif // TCC_LIB_DIALECT_TCC_TRANSFORMS_EPILOGUESLICES_H
