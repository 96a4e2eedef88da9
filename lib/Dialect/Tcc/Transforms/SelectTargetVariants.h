//===- SelectTargetVariants.h - Variants of a kernel by alignment ---------===//

#ifndef TCC_LIB_DIALECT_TCC_TRANSFORMS_SELECTTARGETVARIANTS_H
#define TCC_LIB_DIALECT_TCC_TRANSFORMS_SELECTTARGETVARIANTS_H

#include "Problem.h"
#include "tcc/Dialect/Tcc/IR/TccAttrs.h"

namespace mlir::tcc {

/// One way to reach the matrices in global memory, and what must hold for it.
struct Variant {
  /// "align16".
  std::string label;
  /// Bytes to which rows of A, B and C are aligned.
  std::array<int64_t, 3> alignment;
  Transport transport;
  /// Expressions of the PTX header: "A.ptr % 16 == 0".
  SmallVector<std::string> preconditions;
};

/// The variants of a kernel, widest accesses first; the last has no preconditions. Those that
/// static strides rule out are not among them, nor those that differ from a wider one only where
/// the wider one always holds. `atMost` caps the alignments, if not empty.
SmallVector<Variant> enumerateVariants(func::FuncOp func, const Problem &problem,
                                       ScheduleAttr schedule);

} // namespace mlir::tcc

#endif // TCC_LIB_DIALECT_TCC_TRANSFORMS_SELECTTARGETVARIANTS_H
