//===- SpecialRegisters.h - %tid and its relatives --------------*- C++ -*-===//

#ifndef TCC_LIB_EMULATOR_SPECIALREGISTERS_H
#define TCC_LIB_EMULATOR_SPECIALREGISTERS_H

#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <optional>

namespace tcc::emulator {

/// Special registers (PTX ISA 10). Those with dimensions take three consecutive values, x first.
enum class SpecialRegister : uint8_t {
  TidX,
  TidY,
  TidZ,
  NtidX,
  NtidY,
  NtidZ,
  CtaidX,
  CtaidY,
  CtaidZ,
  NctaidX,
  NctaidY,
  NctaidZ,
  ClusteridX,
  ClusteridY,
  ClusteridZ,
  NclusteridX,
  NclusteridY,
  NclusteridZ,
  ClusterCtaidX,
  ClusterCtaidY,
  ClusterCtaidZ,
  ClusterNctaidX,
  ClusterNctaidY,
  ClusterNctaidZ,
  ClusterCtarank,
  ClusterNctarank,
  IsExplicitCluster,
  Laneid,
  Warpid,
  Nwarpid,
  Smid,
  Nsmid,
  Gridid,
  LanemaskEq,
  LanemaskLe,
  LanemaskLt,
  LanemaskGe,
  LanemaskGt,
  Clock,
  ClockHi,
  Clock64,
  GlobaltimerLo,
  GlobaltimerHi,
  Globaltimer,
  DynamicSmemSize,
  TotalSmemSize,
  AggrSmemSize,
  ReservedSmemOffset,
  CurrentGraphExec,
  Zero, // %w components, environment and performance registers
};
constexpr unsigned kSpecialRegisters = unsigned(SpecialRegister::Zero) + 1;

/// The register that `name` ("%tid") with `component` ("x", or empty) names.
std::optional<SpecialRegister> parseSpecialRegister(llvm::StringRef name,
                                                    llvm::StringRef component);
/// Whether `name` is a special register at all.
bool isSpecialRegister(llvm::StringRef name);
/// Whether the value changes while a warp runs.
bool isVolatile(SpecialRegister special);
unsigned bitWidth(SpecialRegister special);

} // namespace tcc::emulator

#endif // TCC_LIB_EMULATOR_SPECIALREGISTERS_H
