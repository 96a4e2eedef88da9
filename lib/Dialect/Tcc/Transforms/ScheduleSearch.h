//===- ScheduleSearch.h - The best schedule of wgmma and TMA --------------===//

#ifndef TCC_LIB_DIALECT_TCC_TRANSFORMS_SCHEDULESEARCH_H
#define TCC_LIB_DIALECT_TCC_TRANSFORMS_SCHEDULESEARCH_H

#include "ScheduleLegality.h"
#include <optional>

namespace mlir::tcc {

/// The legal schedule of wgmma and TMA with the least predicted cost, its tile fixed to `block` if
/// that is given; none if there is no legal one. `why`, if given, is told the prediction and the
/// runner-up's.
std::optional<ScheduleAttr> searchTmaSchedule(MLIRContext *context, const ScheduleContext &facts,
                                              std::optional<std::array<int64_t, 3>> block,
                                              std::string *why);

} // namespace mlir::tcc

#endif // TCC_LIB_DIALECT_TCC_TRANSFORMS_SCHEDULESEARCH_H
