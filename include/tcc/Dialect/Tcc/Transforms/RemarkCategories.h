//===- RemarkCategories.h - Which remarks tcc's passes give -----*- C++ -*-===//

#ifndef TCC_DIALECT_TCC_TRANSFORMS_REMARKCATEGORIES_H
#define TCC_DIALECT_TCC_TRANSFORMS_REMARKCATEGORIES_H

#include "llvm/ADT/StringRef.h"

namespace mlir::tcc {

/// A pass that explains its decisions does so under its own name.
inline constexpr llvm::StringLiteral kSelectTargetRemarks = "tcc-select-target";
inline constexpr llvm::StringLiteral kLayoutSharedRemarks = "tcc-layout-shared";

inline constexpr llvm::StringLiteral kRemarkCategories[] = {kSelectTargetRemarks,
                                                            kLayoutSharedRemarks};

} // namespace mlir::tcc

#endif // TCC_DIALECT_TCC_TRANSFORMS_REMARKCATEGORIES_H
