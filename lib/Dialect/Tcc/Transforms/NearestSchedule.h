//===- NearestSchedule.h - What to change in a schedule that is refused ---===//

#ifndef TCC_LIB_DIALECT_TCC_TRANSFORMS_NEARESTSCHEDULE_H
#define TCC_LIB_DIALECT_TCC_TRANSFORMS_NEARESTSCHEDULE_H

#include "ScheduleLegality.h"

namespace mlir::tcc {

/// "nearest legal: stages = 3": the fields that differ in the legal schedule that is the fewest
/// choices away from `schedule`, which checkSchedule refuses. Where two choices aren't enough, the
/// heuristic's schedule; "none is legal" if there is none. With `blockIsFixed` (a hand-written tile
/// program) the block stays.
std::string describeNearestSchedule(const ScheduleContext &context, ScheduleAttr schedule,
                                    bool blockIsFixed);

/// "transport = register, stages = 2": the fields in which `to` differs, but for the alignment, as
/// #tcc.schedule spells them.
std::string describeChanges(const ScheduleFields &from, const ScheduleFields &to);

} // namespace mlir::tcc

#endif // TCC_LIB_DIALECT_TCC_TRANSFORMS_NEARESTSCHEDULE_H
