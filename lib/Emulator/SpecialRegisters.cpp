//===- SpecialRegisters.cpp - %tid and its relatives ------------*- C++ -*-===//

#include "SpecialRegisters.h"

#include "llvm/ADT/STLExtras.h"

using namespace tcc::emulator;

namespace {
struct Name {
  llvm::StringLiteral name;
  SpecialRegister first;
  bool hasDimensions;
};
} // namespace

static constexpr Name kNames[] = {
    {"%tid", SpecialRegister::TidX, true},
    {"%ntid", SpecialRegister::NtidX, true},
    {"%ctaid", SpecialRegister::CtaidX, true},
    {"%nctaid", SpecialRegister::NctaidX, true},
    {"%clusterid", SpecialRegister::ClusteridX, true},
    {"%nclusterid", SpecialRegister::NclusteridX, true},
    {"%cluster_ctaid", SpecialRegister::ClusterCtaidX, true},
    {"%cluster_nctaid", SpecialRegister::ClusterNctaidX, true},
    {"%cluster_ctarank", SpecialRegister::ClusterCtarank, false},
    {"%cluster_nctarank", SpecialRegister::ClusterNctarank, false},
    {"%is_explicit_cluster", SpecialRegister::IsExplicitCluster, false},
    {"%laneid", SpecialRegister::Laneid, false},
    {"%warpid", SpecialRegister::Warpid, false},
    {"%nwarpid", SpecialRegister::Nwarpid, false},
    {"%smid", SpecialRegister::Smid, false},
    {"%nsmid", SpecialRegister::Nsmid, false},
    {"%gridid", SpecialRegister::Gridid, false},
    {"%lanemask_eq", SpecialRegister::LanemaskEq, false},
    {"%lanemask_le", SpecialRegister::LanemaskLe, false},
    {"%lanemask_lt", SpecialRegister::LanemaskLt, false},
    {"%lanemask_ge", SpecialRegister::LanemaskGe, false},
    {"%lanemask_gt", SpecialRegister::LanemaskGt, false},
    {"%clock", SpecialRegister::Clock, false},
    {"%clock_hi", SpecialRegister::ClockHi, false},
    {"%clock64", SpecialRegister::Clock64, false},
    {"%globaltimer_lo", SpecialRegister::GlobaltimerLo, false},
    {"%globaltimer_hi", SpecialRegister::GlobaltimerHi, false},
    {"%globaltimer", SpecialRegister::Globaltimer, false},
    {"%dynamic_smem_size", SpecialRegister::DynamicSmemSize, false},
    {"%total_smem_size", SpecialRegister::TotalSmemSize, false},
    {"%aggr_smem_size", SpecialRegister::AggrSmemSize, false},
    {"%current_graph_exec", SpecialRegister::CurrentGraphExec, false},
    {"%reserved_smem_offset_begin", SpecialRegister::Zero, false},
    {"%reserved_smem_offset_cap", SpecialRegister::ReservedSmemOffset, false},
    {"%reserved_smem_offset_end", SpecialRegister::ReservedSmemOffset, false},
    {"%reserved_smem_offset_0", SpecialRegister::Zero, false},
    {"%reserved_smem_offset_1", SpecialRegister::Zero, false},
};

static bool isCounter(llvm::StringRef name, llvm::StringRef prefix, unsigned count) {
  unsigned index;
  name.consume_back("_64");
  return name.consume_front(prefix) && !name.getAsInteger(10, index) && index < count;
}

bool tcc::emulator::isSpecialRegister(llvm::StringRef name) {
  return llvm::any_of(kNames, [&](const Name &entry) { return entry.name == name; }) ||
         isCounter(name, "%envreg", 32) || isCounter(name, "%pm", 8);
}

std::optional<SpecialRegister> tcc::emulator::parseSpecialRegister(llvm::StringRef name,
                                                                   llvm::StringRef component) {
  const auto *entry = llvm::find_if(kNames, [&](const Name &n) { return n.name == name; });
  if (entry == std::end(kNames)) {
    if (component.empty() && isSpecialRegister(name))
      return SpecialRegister::Zero;
    return std::nullopt;
  }
  if (!entry->hasDimensions)
    return component.empty() ? std::optional(entry->first) : std::nullopt;
  if (component == "w")
    return SpecialRegister::Zero;
  size_t dimension = llvm::StringRef("xyz").find(component);
  if (component.size() != 1 || dimension == llvm::StringRef::npos)
    return std::nullopt;
  return SpecialRegister(unsigned(entry->first) + dimension);
}

bool tcc::emulator::isVolatile(SpecialRegister special) {
  return special >= SpecialRegister::Clock && special <= SpecialRegister::Globaltimer;
}

unsigned tcc::emulator::bitWidth(SpecialRegister special) {
  switch (special) {
  case SpecialRegister::Gridid:
  case SpecialRegister::Clock64:
  case SpecialRegister::Globaltimer:
  case SpecialRegister::CurrentGraphExec:
    return 64;
  case SpecialRegister::IsExplicitCluster:
    return 1;
  default:
    return 32;
  }
}
