//===- Warp.cpp - Registers and active lanes of one warp --------*- C++ -*-===//

#include "Warp.h"
#include "Execution.h"
#include "Machine.h"

using namespace tcc::emulator;

Warp::Warp(Machine &machine, Cta &cta, uint32_t index)
    : warpIndex(index), owner(&machine), block(&cta), exec(std::make_unique<Execution>()) {
  const Program &program = machine.program();
  const LaunchShape &shape = machine.shape();
  registers.resize(program.rowCount);
  definedRows.resize(program.rowCount);
  predicates.resize(program.predicateCount);
  definedPredicates.resize(program.predicateCount);
  constants = &program.constants;
  uint64_t first = uint64_t(index) * kLanes;
  uint64_t threads = std::min<uint64_t>(kLanes, shape.block.count() - first);
  exec->lanes = exec->live = threads == kLanes ? ~0u : (1u << threads) - 1;
  exec->agent = cta.rank() * shape.warpsPerCta + index;
  Group &group = exec->groups.emplace_back();
  group.mask = exec->lanes;

  registers[program.sharedBaseRow].fill(cta.sharedBase());
  definedRows[program.sharedBaseRow] = ~0u;
  const FunctionCode &entry = program.functions.front();
  registers[entry.frameRow].fill(kLocalBase);
  definedRows[entry.frameRow] = ~0u;
  for (unsigned lane : LaneRange(exec->lanes))
    growStack(*this, lane, kLocalBase + entry.frameBytes);
  initializeSpecialRegisters();
}

Warp::~Warp() = default;

unsigned Warp::chip() const { return owner->chip().version; }
uint64_t Warp::seed() const { return owner->options().seed; }

const Row &Warp::read(const Operand &operand) const {
  switch (operand.kind) {
  case Operand::Kind::Register:
    return registers[operand.slot];
  case Operand::Kind::Immediate:
    return (*constants)[operand.slot];
  case Operand::Kind::Predicate: {
    Row &row = scratch[nextScratch++ % scratch.size()];
    uint32_t bits = readPredicate(operand);
    for (unsigned lane = 0; lane < kLanes; ++lane)
      row[lane] = bits >> lane & 1;
    return row;
  }
  default: {
    Row &row = scratch[nextScratch++ % scratch.size()];
    uint64_t base = uint64_t(operand.immediate);
    for (unsigned lane = 0; lane < kLanes; ++lane)
      row[lane] = operand.slot == kNoSlot ? base : registers[operand.slot][lane] + base;
    return row;
  }
  }
}

Row &Warp::write(const Operand &operand) {
  if (operand.kind == Operand::Kind::Register)
    return registers[operand.slot];
  return scratch[nextScratch++ % scratch.size()];
}

uint32_t Warp::readPredicate(const Operand &operand) const {
  uint32_t bits = 0;
  if (operand.kind == Operand::Kind::Predicate)
    bits = predicates[operand.slot];
  else if (operand.kind == Operand::Kind::Immediate)
    bits = operand.immediate ? ~0u : 0;
  else if (operand.kind == Operand::Kind::Register)
    for (unsigned lane = 0; lane < kLanes; ++lane)
      bits |= uint32_t(registers[operand.slot][lane] != 0) << lane;
  return operand.negated ? ~bits : bits;
}

void Warp::writePredicate(const Operand &operand, uint32_t values, uint32_t mask) {
  if (operand.kind == Operand::Kind::Predicate)
    predicates[operand.slot] = (predicates[operand.slot] & ~mask) | (values & mask);
}

llvm::ArrayRef<Operand> Warp::elements(const Operand &operand) {
  if (operand.kind == Operand::Kind::Vector || operand.kind == Operand::Kind::Pair)
    return operand.elements;
  return operand;
}

void Warp::addresses(const Operand &operand, uint64_t (&out)[kLanes]) const {
  uint64_t offset = uint64_t(operand.immediate);
  if (operand.kind != Operand::Kind::Address) {
    const Row &row = read(operand);
    for (unsigned lane = 0; lane < kLanes; ++lane)
      out[lane] = row[lane];
    return;
  }
  if (operand.slot == kNoSlot) {
    for (unsigned lane = 0; lane < kLanes; ++lane)
      out[lane] = offset;
    return;
  }
  // 32-bit address registers wrap at 32 bits.
  uint64_t mask = operand.bits && operand.bits < 64 ? UINT32_MAX : UINT64_MAX;
  const Row &base = registers[operand.slot];
  for (unsigned lane = 0; lane < kLanes; ++lane)
    out[lane] = (base[lane] + offset) & mask;
}

void Warp::report(FindingKind kind, const Instruction &inst, unsigned lane,
                  const llvm::Twine &message) {
  owner->addFinding(kind, inst, *this, lane, message);
}

void Warp::fault(FindingKind kind, const Instruction &inst, unsigned lane,
                 const llvm::Twine &message) {
  owner->addFinding(kind, inst, *this, lane, message);
  owner->stop(LaunchStatus::Faulted);
}

void Warp::countMmaFlops(const Instruction &inst, uint64_t flops) {
  owner->counters(inst).mmaFlops += flops;
}

static Dim3 delinearize(uint64_t linear, Dim3 shape) {
  return {uint32_t(linear % shape.x), uint32_t(linear / shape.x % shape.y),
          uint32_t(linear / (uint64_t(shape.x) * shape.y))};
}

void Warp::initializeSpecialRegisters() {
  const Program &program = owner->program();
  const LaunchShape &shape = owner->shape();
  Dim3 ctaId = block->id();
  Dim3 cluster = shape.cluster;
  Dim3 clusterId = {ctaId.x / cluster.x, ctaId.y / cluster.y, ctaId.z / cluster.z};
  Dim3 clusters = {shape.grid.x / cluster.x, shape.grid.y / cluster.y, shape.grid.z / cluster.z};
  Dim3 inCluster = {ctaId.x % cluster.x, ctaId.y % cluster.y, ctaId.z % cluster.z};
  auto pick = [](Dim3 dim, SpecialRegister which, SpecialRegister first) -> uint64_t {
    unsigned component = unsigned(which) - unsigned(first);
    return component == 0 ? dim.x : component == 1 ? dim.y : dim.z;
  };
  using SR = SpecialRegister;
  for (auto [row, which] : program.specialRows) {
    definedRows[row] = ~0u;
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      uint64_t value = 0;
      if (which <= SR::TidZ)
        value =
            pick(delinearize(uint64_t(warpIndex) * kLanes + lane, shape.block), which, SR::TidX);
      else if (which <= SR::NtidZ)
        value = pick(shape.block, which, SR::NtidX);
      else if (which <= SR::CtaidZ)
        value = pick(ctaId, which, SR::CtaidX);
      else if (which <= SR::NctaidZ)
        value = pick(shape.grid, which, SR::NctaidX);
      else if (which <= SR::ClusteridZ)
        value = pick(clusterId, which, SR::ClusteridX);
      else if (which <= SR::NclusteridZ)
        value = pick(clusters, which, SR::NclusteridX);
      else if (which <= SR::ClusterCtaidZ)
        value = pick(inCluster, which, SR::ClusterCtaidX);
      else if (which <= SR::ClusterNctaidZ)
        value = pick(cluster, which, SR::ClusterNctaidX);
      else
        switch (which) {
        case SR::ClusterCtarank:
          value = block->rank();
          break;
        case SR::ClusterNctarank:
          value = cluster.count();
          break;
        case SR::Laneid:
          value = lane;
          break;
        case SR::Warpid:
          value = warpIndex;
          break;
        case SR::Nwarpid:
          value = 64;
          break;
        case SR::Smid:
          value = 0;
          break;
        case SR::Nsmid:
          value = 1;
          break;
        case SR::LanemaskEq:
          value = 1u << lane;
          break;
        case SR::LanemaskLt:
          value = (1u << lane) - 1;
          break;
        case SR::LanemaskLe:
          value = ((1u << lane) - 1) | 1u << lane;
          break;
        case SR::LanemaskGt:
          value = uint32_t(~(((1u << lane) - 1) | 1u << lane));
          break;
        case SR::LanemaskGe:
          value = uint32_t(~((1u << lane) - 1));
          break;
        case SR::DynamicSmemSize:
          value = shape.dynamicSharedBytes;
          break;
        case SR::TotalSmemSize:
        case SR::AggrSmemSize:
          value = shape.sharedEnd - kSharedBase;
          break;
        case SR::ReservedSmemOffset:
          value = kSharedBase;
          break;
        default:
          break;
        }
      registers[row][lane] = value;
    }
  }
  if (program.explicitClusterPredicate != kNoSlot) {
    predicates[program.explicitClusterPredicate] = shape.explicitCluster ? ~0u : 0;
    definedPredicates[program.explicitClusterPredicate] = ~0u;
  }
}
