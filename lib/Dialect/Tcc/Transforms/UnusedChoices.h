//===- UnusedChoices.h - What of a written schedule no variant can use ----===//

#ifndef TCC_LIB_DIALECT_TCC_TRANSFORMS_UNUSEDCHOICES_H
#define TCC_LIB_DIALECT_TCC_TRANSFORMS_UNUSEDCHOICES_H

#include "Problem.h"
#include "tcc/Dialect/Tcc/IR/TccAttrs.h"

namespace mlir::tcc {

/// Warns of the transport and the epilogue of a `written` schedule that none of the variants has
/// (`used` are their schedules, the first variant's first): what is used instead, and, as notes at
/// the matrices, what rules the choice out. That some variants have others is in their nature.
void warnOfUnusedChoices(func::FuncOp func, const Problem &problem, ScheduleAttr written,
                         ArrayRef<ScheduleAttr> used);

} // namespace mlir::tcc

#endif // TCC_LIB_DIALECT_TCC_TRANSFORMS_UNUSEDCHOICES_H
