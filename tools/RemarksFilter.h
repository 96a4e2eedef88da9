//===- RemarksFilter.h - Checks the regexes of --remarks-filter -*- C++ -*-===//
//
// MLIR ignores a regex that is none, and one that matches no category says nothing.
//
//===----------------------------------------------------------------------===//

#ifndef TCC_TOOLS_REMARKSFILTER_H
#define TCC_TOOLS_REMARKSFILTER_H

#include "tcc/Dialect/Tcc/Transforms/RemarkCategories.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/LogicalResult.h"
#include "llvm/Support/Regex.h"
#include "llvm/Support/WithColor.h"

namespace mlir::tcc {

/// Fails, and says why, if `filter`, the value of `option`, is no regex. Warns if it matches the
/// whole name of none of tcc's categories; empty filters are not given.
inline llvm::LogicalResult checkRemarksFilter(llvm::StringRef option, llvm::StringRef filter) {
  if (filter.empty())
    return llvm::success();
  std::string error;
  llvm::Regex whole(("^(" + filter + ")$").str());
  if (!llvm::Regex(filter).isValid(error) || !whole.isValid(error)) {
    llvm::WithColor::error() << "--" << option << "='" << filter << "' is no regular expression: "
                             << error << '\n';
    return llvm::failure();
  }
  if (llvm::none_of(kRemarkCategories, [&](llvm::StringRef name) { return whole.match(name); }))
    llvm::WithColor::warning() << "--" << option << "='" << filter
                               << "' matches no whole name of a pass with remarks; those of tcc "
                                  "are "
                               << llvm::join(llvm::ArrayRef(kRemarkCategories), " and ") << '\n';
  return llvm::success();
}

} // namespace mlir::tcc

#endif // TCC_TOOLS_REMARKSFILTER_H
