//===- Features.cpp - The table of instruction families -------------------===//

#include "Generations.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/ErrorHandling.h"

using namespace tcc::arch;

namespace {
struct FeatureRow {
  FeatureInfo info;
  Availability available;
};
} // namespace

constexpr auto onwardsArchSpecific = Availability::Kind::OnwardsArchSpecific;
constexpr auto onlyArchSpecific = Availability::Kind::OnlyArchSpecific;

// "PTX ISA Notes" and "Target ISA Notes" of each instruction in the PTX ISA.
static constexpr FeatureRow table[] = {
    {{Feature::CpAsync, "cp.async", 70}, {80}},
    {{Feature::LdMatrix, "ldmatrix", 65}, {75}},
    {{Feature::MovMatrix, "movmatrix", 78}, {75}},
    {{Feature::StMatrix, "stmatrix", 78}, {90}},
    {{Feature::MBarrier, "mbarrier", 70}, {80}},
    {{Feature::MBarrierTryWait, "mbarrier.try_wait", 78}, {90}},
    {{Feature::MBarrierExpectTx, "mbarrier.arrive.expect_tx", 80}, {90}},
    {{Feature::Tma, "cp.async.bulk.tensor", 80}, {90}},
    {{Feature::TmaMulticast, "cp.async.bulk.tensor.multicast::cluster", 80}, {90}},
    {{Feature::FenceProxyAsync, "fence.proxy.async", 80}, {90}},
    {{Feature::ElectSync, "elect.sync", 80}, {90}},
    {{Feature::Cluster, "barrier.cluster", 78}, {90}},
    {{Feature::SetMaxRegisters, "setmaxnreg", 80}, {90, onwardsArchSpecific}},
    {{Feature::Wgmma, "wgmma.mma_async", 80}, {90, onlyArchSpecific}},
    {{Feature::GridDependency, "griddepcontrol", 78}, {90}},
    {{Feature::ConvertToBf16, "cvt.rn.bf16x2.f32", 70}, {80}},
    {{Feature::ConvertFromBf16, "cvt.f32.bf16", 78}, {90}},
    {{Feature::ConvertToTf32, "cvt.rna.tf32.f32", 70}, {80}},
    {{Feature::ConvertFp8, "cvt.rn.satfinite.e4m3x2.f32", 81}, {89}},
    {{Feature::TanhApprox, "tanh.approx.f32", 70}, {75}},
    {{Feature::Ex2ApproxF16, "ex2.approx.f16", 70}, {75}},
    {{Feature::ReduceSync, "redux.sync", 70}, {80}},
};

static const FeatureRow &row(Feature feature) {
  const auto *found =
      llvm::find_if(table, [&](const FeatureRow &row) { return row.info.feature == feature; });
  if (found == std::end(table))
    llvm_unreachable("every feature has a row");
  return *found;
}

const FeatureInfo &tcc::arch::info(Feature feature) { return row(feature).info; }

Availability tcc::arch::availability(Feature feature) { return row(feature).available; }
