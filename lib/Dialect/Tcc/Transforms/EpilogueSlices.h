//===- EpilogueSlices.h - The epilogue through shared memory ----*- C++ -*-===//

#ifndef TCC_LIB_DIALECT_TCC_TRANSFORMS_EPILOGUESLICES_H
#define TCC_LIB_DIALECT_TCC_TRANSFORMS_EPILOGUESLICES_H

#include "Kernel.h"

namespace mlir::tcc {

/// True if more than a store follows the loop, in an order that slices keep: no tile is loaded
/// after a store.
bool hasEpilogueWork(MatmulLoop &program);

/// Replaces everything after the loop by the same on slices of the tile, which go through staging
/// buffers allocated at the top of `allocBlock`:
///  - epilogue = direct: nothing does; a slice is small, so that what it loads and computes fits
///    the registers beside the accumulator;
///  - epilogue = shared: the accumulator does, in slices of whole rows, as few as its `fragment`
///    can be cut into; elementwise work is done on what is read back;
///  - epilogue = tma: what is stored does, in slices of the schedule's `chunk` of columns;
///    elementwise work is done on fragments.
/// An error at the op that can't be sliced.
LogicalResult sliceEpilogue(MatmulLoop &program, ScheduleAttr schedule, FragmentAttr fragment,
                            Block *allocBlock);

} // namespace mlir::tcc

#endif // TCC_LIB_DIALECT_TCC_TRANSFORMS_EPILOGUESLICES_H
