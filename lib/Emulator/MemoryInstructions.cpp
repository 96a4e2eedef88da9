//===- MemoryInstructions.cpp - ld, st, cvta and cache hints ----*- C++ -*-===//

#include "AddressSpace.h"
#include "InstructionTable.h"
#include "IntegerMath.h"
#include "Machine.h"

#include <cstring>

using namespace tcc::emulator;
using llvm::Error;
using llvm::StringRef;

Space tcc::emulator::parseSpace(const Modifiers &modifiers) {
  static constexpr std::pair<StringRef, Space> kSpaces[] = {
      {"global", Space::Global},      {"shared", Space::Shared},
      {"shared::cta", Space::Shared}, {"shared::cluster", Space::SharedCluster},
      {"local", Space::Local},        {"const", Space::Const},
      {"param", Space::Param},        {"param::entry", Space::Param},
      {"param::func", Space::Param}};
  for (auto [name, space] : kSpaces)
    if (modifiers.has(name))
      return space;
  return Space::Generic;
}

AccessStrength tcc::emulator::parseStrength(const Modifiers &modifiers, bool isLoad) {
  if (modifiers.has("acq_rel"))
    return isLoad ? AccessStrength::Acquire : AccessStrength::Release;
  if (modifiers.has("acquire"))
    return isLoad ? AccessStrength::Acquire : AccessStrength::Strong;
  if (modifiers.has("release"))
    return isLoad ? AccessStrength::Strong : AccessStrength::Release;
  if (modifiers.has("relaxed") || modifiers.has("volatile") || modifiers.has("mmio"))
    return AccessStrength::Strong;
  return AccessStrength::Weak;
}

namespace {

constexpr unsigned kMaxAccessBytes = 32;

/// Hints for the caches, which the emulator does not model, and scopes.
constexpr StringRef kHints[] = {"weak",
                                "volatile",
                                "relaxed",
                                "acquire",
                                "release",
                                "mmio",
                                "cta",
                                "cluster",
                                "gpu",
                                "sys",
                                "global",
                                "shared",
                                "shared::cta",
                                "shared::cluster",
                                "local",
                                "const",
                                "param",
                                "param::entry",
                                "param::func",
                                "ca",
                                "cg",
                                "cs",
                                "lu",
                                "cv",
                                "wb",
                                "wt",
                                "nc",
                                "v2",
                                "v4",
                                "v8",
                                "unified",
                                "L1::evict_normal",
                                "L1::evict_unchanged",
                                "L1::evict_first",
                                "L1::evict_last",
                                "L1::no_allocate",
                                "L2::evict_normal",
                                "L2::evict_first",
                                "L2::evict_last",
                                "L2::cache_hint",
                                "L2::64B",
                                "L2::128B",
                                "L2::256B"};

// aux[0]: bytes of an element; aux[1]: AccessStrength; aux[2]: sign-extend from this many bits, or
// 0.
void executeLoad(Warp &warp, const Instruction &inst) {
  uint64_t address[kLanes];
  warp.addresses(inst.operands[1], address);
  llvm::ArrayRef<Operand> elements = Warp::elements(inst.operands[0]);
  unsigned bytes = inst.aux[0];
  uint8_t data[kLanes][kMaxAccessBytes];
  if (!warp.load(inst, inst.space, address, warp.active(), bytes * elements.size(), data,
                 kMaxAccessBytes, AccessStrength(inst.aux[1])))
    return;
  for (size_t i = 0; i < elements.size(); ++i) {
    Row &d = warp.write(elements[i]);
    for (unsigned lane : warp.lanes()) {
      uint64_t value = 0;
      std::memcpy(&value, data[lane] + i * bytes, std::min(bytes, 8u));
      d[lane] = inst.aux[2] ? zeroExtend(uint64_t(signExtend(value, inst.aux[2])), elements[i].bits)
                            : value;
    }
    if (bytes == 16 && elements[i].isRegister())
      for (unsigned lane : warp.lanes())
        std::memcpy(&warp.writeRow(elements[i].slot + 1)[lane], data[lane] + i * bytes + 8, 8);
  }
}

void executeStore(Warp &warp, const Instruction &inst) {
  uint64_t address[kLanes];
  warp.addresses(inst.operands[0], address);
  llvm::ArrayRef<Operand> elements = Warp::elements(inst.operands[1]);
  unsigned bytes = inst.aux[0];
  uint8_t data[kLanes][kMaxAccessBytes];
  for (size_t i = 0; i < elements.size(); ++i) {
    const Row &value = warp.read(elements[i]);
    for (unsigned lane : warp.lanes())
      std::memcpy(data[lane] + i * bytes, &value[lane], std::min(bytes, 8u));
    if (bytes == 16 && elements[i].isRegister())
      for (unsigned lane : warp.lanes())
        std::memcpy(data[lane] + i * bytes + 8, &warp.readRow(elements[i].slot + 1)[lane], 8);
  }
  warp.store(inst, inst.space, address, warp.active(), bytes * elements.size(), data,
             kMaxAccessBytes, AccessStrength(inst.aux[1]));
}

Error decodeAccess(const Modifiers &modifiers, Instruction &inst, bool isLoad) {
  if (Error e = modifiers.checkKnown(kHints))
    return e;
  // A cache policy may follow.
  if (inst.operands.size() != 2 && inst.operands.size() != 3)
    return modifiers.error("expected 2 operands");
  if (inst.types.size() != 1 || bitWidth(inst.type) < 8)
    return modifiers.error("expected one type of at least 8 bits");
  const Operand &place = inst.operands[isLoad ? 1 : 0];
  if (place.kind != Operand::Kind::Address)
    return modifiers.error("expected an address in brackets");
  size_t count = modifiers.has("v2") ? 2 : modifiers.has("v4") ? 4 : modifiers.has("v8") ? 8 : 1;
  if (Warp::elements(inst.operands[isLoad ? 0 : 1]).size() != count)
    return modifiers.error("expected a vector of " + llvm::Twine(count) + " registers");
  // Parameters of functions lie on the stack, and so do their addresses.
  if (inst.space == Space::Param && place.space == Space::Local)
    inst.space = Space::Local;
  inst.aux[0] = bitWidth(inst.type) / 8;
  inst.aux[1] = uint32_t(parseStrength(modifiers, isLoad));
  inst.aux[2] = isLoad && isSigned(inst.type) ? bitWidth(inst.type) : 0;
  if (inst.aux[0] * count > kMaxAccessBytes)
    return modifiers.error("more than 32 bytes");
  inst.destinations = isLoad ? 1 : 0;
  inst.readBits = std::min(64u, bitWidth(inst.type));
  inst.handler = isLoad ? executeLoad : executeStore;
  return Error::success();
}

Error decodeLoad(const Modifiers &modifiers, Instruction &inst) {
  return decodeAccess(modifiers, inst, /*isLoad=*/true);
}
Error decodeStore(const Modifiers &modifiers, Instruction &inst) {
  return decodeAccess(modifiers, inst, /*isLoad=*/false);
}

//===----------------------------------------------------------------------===//
// Addresses
//===----------------------------------------------------------------------===//

uint64_t windowOf(Space space) {
  switch (space) {
  case Space::Shared:
  case Space::SharedCluster:
    return kSharedWindow;
  case Space::Local:
    return kLocalWindow;
  case Space::Param:
    return kParamWindow;
  default:
    return 0;
  }
}

// aux[0]: 1 for cvta.to.
void executeConvertAddress(Warp &warp, const Instruction &inst) {
  const Operand &source = inst.operands[1];
  // The address of a function's parameter is a stack address.
  Space space =
      inst.space == Space::Param && source.space == Space::Local ? Space::Local : inst.space;
  uint64_t window = windowOf(space);
  const Row &a = warp.read(source);
  Row &d = warp.write(inst.operands[0]);
  for (unsigned lane : warp.lanes()) {
    if (inst.aux[0]) {
      d[lane] = zeroExtend(a[lane] - window, bitWidth(inst.type));
      continue;
    }
    bool isStack = space == Space::Param && a[lane] < kKernelParameterTag;
    d[lane] = a[lane] + (isStack ? kLocalWindow : window);
  }
}

Error decodeConvertAddress(const Modifiers &modifiers, Instruction &inst) {
  if (inst.operands.size() != 2)
    return modifiers.error("expected 2 operands");
  inst.aux[0] = modifiers.has("to");
  if (inst.space == Space::Generic)
    return modifiers.error("expected a state space");
  inst.handler = executeConvertAddress;
  return Error::success();
}

void executeIsSpace(Warp &warp, const Instruction &inst) {
  const Row &a = warp.read(inst.operands[1]);
  uint32_t result = 0;
  uint64_t ownShared = kSharedWindow + warp.cta().sharedBase();
  for (unsigned lane : warp.lanes()) {
    bool shared = isInWindow(a[lane], kSharedWindow), local = isInWindow(a[lane], kLocalWindow),
         param = isInWindow(a[lane], kParamWindow);
    bool is = inst.space == Space::SharedCluster ? shared
              : inst.space == Space::Shared      ? a[lane] - ownShared <= kSharedOffsetMask
              : inst.space == Space::Local       ? local
              : inst.space == Space::Param       ? param
                                                 : !shared && !local && !param;
    result |= uint32_t(is) << lane;
  }
  warp.writePredicate(inst.operands[0], result);
}

Error decodeIsSpace(const Modifiers &modifiers, Instruction &inst) {
  if (inst.operands.size() != 2)
    return modifiers.error("expected 2 operands");
  inst.handler = executeIsSpace;
  return Error::success();
}

//===----------------------------------------------------------------------===//
// Caches
//===----------------------------------------------------------------------===//

void executeNothing(Warp &, const Instruction &) {}

Error decodeHint(const Modifiers &, Instruction &inst) {
  inst.destinations = 0;
  inst.handler = executeNothing;
  return Error::success();
}

void executeCreatePolicy(Warp &warp, const Instruction &inst) {
  // Policies are opaque.
  Row &d = warp.write(inst.operands[0]);
  for (unsigned lane : warp.lanes())
    d[lane] = uint64_t(0x12f0) << 48;
}

Error decodeCreatePolicy(const Modifiers &modifiers, Instruction &inst) {
  if (inst.operands.empty())
    return modifiers.error("expected a destination");
  inst.handler = executeCreatePolicy;
  return Error::success();
}

} // namespace

void tcc::emulator::registerMemoryInstructions(InstructionTable &table) {
  table.add("ld", decodeLoad);
  table.add("ldu", decodeLoad);
  table.add("st", decodeStore);
  table.add("cvta", decodeConvertAddress);
  table.add("isspacep", decodeIsSpace);
  for (StringRef name : {"prefetch", "prefetchu", "applypriority", "discard"})
    table.add(name, decodeHint);
  table.add("createpolicy", decodeCreatePolicy);
}
