//===- RoleLowering.h - Roles as branches ---------------------------*- C++ -*-===//

#ifndef TCC_LIB_DIALECT_TCC_TRANSFORMS_ROLELOWERING_H
#define TCC_LIB_DIALECT_TCC_TRANSFORMS_ROLELOWERING_H

#include "TileDistribution.h"

#include "mlir/IR/PatternMatch.h"
#include "tcc/Arch/Chip.h"
#include "tcc/Dialect/Tcc/IR/TccOps.h"

namespace mlir::tcc {

/// Lowers `roles` and what is there in its consumers alone.
class RoleLowering {
public:
  /// `schedule` may be null.
  RoleLowering(WarpSpecializeOp roles, ScheduleAttr schedule, const ::tcc::arch::Chip &chip,
               RewriterBase &rewriter)
      : roles(roles), chip(chip), rewriter(rewriter),
        isDependentLaunch(schedule && schedule.getDependentLaunch()),
        isOneWarp(schedule && schedule.getProducerWarps() == 1) {}

  void lower(ConsumerGroupOp op);
  void lower(GroupBarrierOp op);
  void lower(WarpSpecializeOp op);

private:
  /// The consumer group that runs.
  Value getGroup(I32Builder &b);
  void moveRole(Region &role);
  void waitForGridAhead(Operation *branch);

  WarpSpecializeOp roles;
  const ::tcc::arch::Chip &chip;
  RewriterBase &rewriter;
  bool isDependentLaunch;
  /// The producer has no warpgroup, whose registers it could give away.
  bool isOneWarp;
};

} // namespace mlir::tcc

#endif // TCC_LIB_DIALECT_TCC_TRANSFORMS_ROLELOWERING_H
