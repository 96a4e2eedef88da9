//===- TccScheduleFields.h - The choices that make up a schedule ------------------------===//

#ifndef TCC_DIALECT_TCC_IR_TCCSCHEDULEFIELDS_H
#define TCC_DIALECT_TCC_IR_TCCSCHEDULEFIELDS_H

#include "mlir/Support/LLVM.h"
#include "tcc/Dialect/Tcc/IR/TccEnums.h"

namespace mlir::tcc {

/// The parameters of `#tcc.schedule`, which TccAttrs.td explains, to be changed one by one. Empty
/// lists stand for what the attribute leaves out.
struct ScheduleFields {
  SmallVector<int64_t, 3> block;
  SmallVector<int64_t, 2> warps;
  MmaFamily mma = MmaFamily::MmaSync;
  Transport transport = Transport::Register;
  int64_t stages = 2;
  Epilogue epilogue = Epilogue::Direct;
  Roles roles = Roles::Uniform;
  SmallVector<int64_t, 3> alignment;
  int64_t raster = 1;
  bool persistent = false;
  SmallVector<int64_t, 2> cluster;
  int64_t pending = 0;
  int64_t chunk = 0;
  bool swapped = false;
  bool dependentLaunch = false;
  int64_t splitK = 1;
  int64_t producerWarps = 4;

  /// As ScheduleAttr::getAtomNDim.
  unsigned getAtomNDim() const { return swapped ? 0 : 1; }
};

} // namespace mlir::tcc

#endif // TCC_DIALECT_TCC_IR_TCCSCHEDULEFIELDS_H
