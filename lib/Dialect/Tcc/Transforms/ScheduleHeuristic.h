//===- ScheduleHeuristic.h - A schedule where the user gave none ----------===//

#ifndef TCC_LIB_DIALECT_TCC_TRANSFORMS_SCHEDULEHEURISTIC_H
#define TCC_LIB_DIALECT_TCC_TRANSFORMS_SCHEDULEHEURISTIC_H

#include "ScheduleLegality.h"
#include <optional>

namespace mlir::tcc {

/// The newest instruction family that the chip has for the element type and that `block`, where
/// given, suits: wgmma, mma_sync, wmma. Fails if there is none.
llvm::Expected<MmaFamily> chooseFamily(MLIRContext *context, const ScheduleContext &facts,
                                       std::optional<std::array<int64_t, 3>> block);

/// The transport to prefer: tma for wgmma, else cp_async where the chip has it.
Transport chooseTransport(const ::tcc::arch::Chip &chip, MmaFamily family);

/// The fastest legal schedule by a simple cost model: from a short list of tiles, the one with the
/// least waves * tile area / efficiency, where a wave is one tile on each multiprocessor. Sizes
/// that are not known count as 4096. `block`, where given, is fixed (a hand-written tile program).
/// With transport `tma` the search and the model are those of ScheduleSearch.h, which tell `why`.
llvm::Expected<ScheduleAttr> chooseSchedule(MLIRContext *context, const ScheduleContext &facts,
                                            MmaFamily family, Transport transport,
                                            std::optional<std::array<int64_t, 3>> block = {},
                                            std::string *why = nullptr);

/// "block 128x256x64, 2x4 warps of mma_sync m16n8k16 …, 147456 of 166912 bytes …": for remarks.
std::string explainSchedule(const ScheduleContext &context, ScheduleAttr schedule);

} // namespace mlir::tcc

#endif // TCC_LIB_DIALECT_TCC_TRANSFORMS_SCHEDULEHEURISTIC_H
