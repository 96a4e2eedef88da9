//===- WgmmaOperand.cpp - Matrices in shared memory for wgmma -------------===//

#include "WgmmaOperand.h"
#include "TensorMap.h"

using namespace tcc::emulator;

/// Shared addresses have 18 bits in a descriptor.
static constexpr uint64_t AddressMask = (uint64_t(1) << 18) - 1;

WgmmaOperand::WgmmaOperand(uint64_t descriptor, bool mnMajor) : mnMajor(mnMajor) {
  auto field = [&](unsigned low, unsigned bits) {
    return descriptor >> low & ((uint64_t(1) << bits) - 1);
  };
  start = field(0, 14) << 4;
  leading = field(16, 14) << 4;
  stride = field(32, 14) << 4;
  baseOffset = unsigned(field(49, 3));
  constexpr unsigned spans[] = {0, 128, 64, 32};
  span = spans[field(62, 2)];
  wellFormed = !field(14, 2) && !field(30, 2) && !field(46, 3) && !field(52, 10);
}

uint64_t WgmmaOperand::finish(uint64_t offset) const {
  return swizzleAddress((start + offset) & AddressMask, span, baseOffset);
}

uint64_t WgmmaOperand::chunkOfRow(unsigned row, unsigned part) const {
  uint64_t group = uint64_t(row / 8) * stride;
  if (span == 0)
    return finish(group + part * leading + row % 8 * 16);
  return finish(group + row % 8 * span + part * 16);
}

uint64_t WgmmaOperand::chunkOfGroup(unsigned group, unsigned k) const {
  if (span == 0)
    return finish(group * stride + k / 8 * leading + k % 8 * 16);
  // An atom is a span of rows wide and eight k high.
  unsigned groupsPerAtom = span / 16;
  return finish(group / groupsPerAtom * leading + k / 8 * stride + k % 8 * span +
                group % groupsPerAtom * 16);
}
