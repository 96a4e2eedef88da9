//===- Feature.h - Instruction families besides the matrix ones -----------===//

#ifndef TCC_ARCH_FEATURE_H
#define TCC_ARCH_FEATURE_H

#include "llvm/ADT/StringRef.h"

namespace tcc::arch {

/// Families of instructions that some chips or PTX versions lack. Matrix instructions are atoms
/// (MmaAtom.h), their helpers are here.
enum class Feature {
  CpAsync,
  LdMatrix,
  MovMatrix,
  StMatrix,
  MBarrier,
  MBarrierTryWait,
  MBarrierExpectTx,
  Tma,
  TmaMulticast,
  FenceProxyAsync,
  ElectSync,
  Cluster,
  SetMaxRegisters,
  Wgmma,
  GridDependency,
  ConvertToBf16,
  ConvertFromBf16,
  ConvertToTf32,
  ConvertFp8,
  TanhApprox,
  Ex2ApproxF16,
  ReduceSync,
};

/// A row of the feature table.
struct FeatureInfo {
  Feature feature;
  /// The PTX instruction that stands for the family, for messages: "cp.async".
  llvm::StringRef instruction;
  /// The lowest PTX ISA version that has it, as major * 10 + minor.
  unsigned ptxVersion;
};

const FeatureInfo &info(Feature feature);

} // namespace tcc::arch

#endif // TCC_ARCH_FEATURE_H
