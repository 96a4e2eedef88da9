//===- IntegerMath.cpp - Integer and logic operations on one value -*- C++ -*-===//

#include "IntegerMath.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"

using namespace tcc::emulator;

static uint64_t saturated(int64_t value, IntegerShape shape) {
  if (!shape.saturate)
    return value;
  return std::clamp<int64_t>(value, -(int64_t(1) << 31), (int64_t(1) << 31) - 1);
}

static uint64_t add(uint64_t a, uint64_t b, uint64_t, IntegerShape s) {
  return saturated(extend(a, s) + uint64_t(extend(b, s)), s);
}
static uint64_t subtract(uint64_t a, uint64_t b, uint64_t, IntegerShape s) {
  return saturated(extend(a, s) - uint64_t(extend(b, s)), s);
}
static uint64_t multiplyLow(uint64_t a, uint64_t b, uint64_t, IntegerShape s) {
  return uint64_t(extend(a, s)) * uint64_t(extend(b, s));
}
static uint64_t multiplyHighOnly(uint64_t a, uint64_t b, uint64_t, IntegerShape s) {
  return multiplyHigh(a, b, s);
}
static uint64_t multiplyAddLow(uint64_t a, uint64_t b, uint64_t c, IntegerShape s) {
  return multiplyLow(a, b, 0, s) + c;
}
static uint64_t multiplyAddHigh(uint64_t a, uint64_t b, uint64_t c, IntegerShape s) {
  uint64_t high = multiplyHigh(a, b, s);
  if (!s.saturate)
    return high + c;
  return saturated(signExtend(high, s.bits) + signExtend(c, s.bits), s);
}

static uint64_t multiply24(uint64_t a, uint64_t b, bool high, IntegerShape s) {
  IntegerShape narrow = s;
  narrow.bits = 24;
  uint64_t product = uint64_t(extend(a, narrow)) * uint64_t(extend(b, narrow));
  return high ? zeroExtend(product >> 16, 32) : product; // 48 bits: the high 32
}
static uint64_t multiply24Low(uint64_t a, uint64_t b, uint64_t, IntegerShape s) {
  return multiply24(a, b, false, s);
}
static uint64_t multiply24High(uint64_t a, uint64_t b, uint64_t, IntegerShape s) {
  return multiply24(a, b, true, s);
}
static uint64_t multiplyAdd24Low(uint64_t a, uint64_t b, uint64_t c, IntegerShape s) {
  return multiply24(a, b, false, s) + c;
}
static uint64_t multiplyAdd24High(uint64_t a, uint64_t b, uint64_t c, IntegerShape s) {
  uint64_t high = multiply24(a, b, true, s);
  return s.saturate ? saturated(signExtend(high, 32) + signExtend(c, 32), s) : high + c;
}

static uint64_t sumOfAbsoluteDifferences(uint64_t a, uint64_t b, uint64_t c, IntegerShape s) {
  bool less =
      s.isSigned ? extend(a, s) < extend(b, s) : zeroExtend(a, s.bits) < zeroExtend(b, s.bits);
  return c + (less ? b - a : a - b);
}

// Division by zero is unspecified; the hardware's unsigned result is all ones.
static uint64_t divide(uint64_t a, uint64_t b, uint64_t, IntegerShape s) {
  if (!zeroExtend(b, s.bits))
    return ~uint64_t(0);
  if (!s.isSigned)
    return zeroExtend(a, s.bits) / zeroExtend(b, s.bits);
  int64_t divisor = extend(b, s);
  return divisor == -1 ? -uint64_t(extend(a, s)) : uint64_t(extend(a, s) / divisor);
}
static uint64_t remainder(uint64_t a, uint64_t b, uint64_t, IntegerShape s) {
  if (!zeroExtend(b, s.bits))
    return a;
  if (!s.isSigned)
    return zeroExtend(a, s.bits) % zeroExtend(b, s.bits);
  int64_t divisor = extend(b, s);
  return divisor == -1 ? 0 : uint64_t(extend(a, s) % divisor);
}

static uint64_t absolute(uint64_t a, uint64_t, uint64_t, IntegerShape s) {
  int64_t value = signExtend(a, s.bits);
  return value < 0 ? -uint64_t(value) : uint64_t(value);
}
static uint64_t negate(uint64_t a, uint64_t, uint64_t, IntegerShape) { return -a; }

static uint64_t minMax(uint64_t a, uint64_t b, bool wantMax, IntegerShape s) {
  bool less =
      s.isSigned ? extend(a, s) < extend(b, s) : zeroExtend(a, s.bits) < zeroExtend(b, s.bits);
  uint64_t result = less == wantMax ? b : a;
  return s.relu && signExtend(result, s.bits) < 0 ? 0 : result;
}
static uint64_t minimum(uint64_t a, uint64_t b, uint64_t, IntegerShape s) {
  return minMax(a, b, false, s);
}
static uint64_t maximum(uint64_t a, uint64_t b, uint64_t, IntegerShape s) {
  return minMax(a, b, true, s);
}

static uint64_t bitAnd(uint64_t a, uint64_t b, uint64_t, IntegerShape) { return a & b; }
static uint64_t bitOr(uint64_t a, uint64_t b, uint64_t, IntegerShape) { return a | b; }
static uint64_t bitXor(uint64_t a, uint64_t b, uint64_t, IntegerShape) { return a ^ b; }
static uint64_t bitNot(uint64_t a, uint64_t, uint64_t, IntegerShape) { return ~a; }
static uint64_t logicalNot(uint64_t a, uint64_t, uint64_t, IntegerShape s) {
  return zeroExtend(a, s.bits) == 0;
}

static uint64_t shiftLeft(uint64_t a, uint64_t b, uint64_t, IntegerShape s) {
  uint32_t amount = uint32_t(b);
  return amount >= s.bits ? 0 : a << amount;
}
static uint64_t shiftRight(uint64_t a, uint64_t b, uint64_t, IntegerShape s) {
  uint32_t amount = std::min<uint32_t>(uint32_t(b), s.bits);
  if (s.isSigned)
    return uint64_t(signExtend(a, s.bits) >> std::min<uint32_t>(amount, 63));
  return amount >= s.bits ? 0 : zeroExtend(a, s.bits) >> amount;
}
/// shf.l and shf.r on {b, a}, `mode` bit 0: right, bit 1: wrap.
static uint64_t funnelShift(uint64_t a, uint64_t b, uint64_t c, IntegerShape s) {
  uint32_t amount = s.mode & 2 ? uint32_t(c) & 31 : std::min<uint32_t>(uint32_t(c), 32);
  uint64_t both = zeroExtend(b, 32) << 32 | zeroExtend(a, 32);
  return s.mode & 1 ? both >> amount : both << amount >> 32;
}

static uint64_t population(uint64_t a, uint64_t, uint64_t, IntegerShape s) {
  return llvm::popcount(zeroExtend(a, s.bits));
}
static uint64_t leadingZeros(uint64_t a, uint64_t, uint64_t, IntegerShape s) {
  return llvm::countl_zero(zeroExtend(a, s.bits)) - (64 - s.bits);
}
static uint64_t reverse(uint64_t a, uint64_t, uint64_t, IntegerShape s) {
  return llvm::reverseBits(a) >> (64 - s.bits);
}
/// `mode` 1: .shiftamt.
static uint64_t findBit(uint64_t a, uint64_t, uint64_t, IntegerShape s) {
  int64_t value = extend(a, s);
  uint64_t bits = zeroExtend(s.isSigned && value < 0 ? ~a : a, s.bits);
  if (!bits)
    return UINT32_MAX;
  unsigned position = 63 - llvm::countl_zero(bits);
  return s.mode ? s.bits - 1 - position : position;
}
static uint64_t findNth(uint64_t mask, uint64_t base, uint64_t c, IntegerShape) {
  int32_t offset = int32_t(c);
  if (offset == 0)
    return base < 32 && (mask >> base & 1) ? base : UINT32_MAX;
  int64_t count = (offset < 0 ? -int64_t(offset) : offset) - 1;
  for (int64_t position = uint32_t(base);
       position >= 0 && position<32; position += offset> 0 ? 1 : -1)
    if ((mask >> position & 1) && count-- == 0)
      return position;
  return UINT32_MAX;
}

// The ISA takes 8 bits of position and length. The hardware does so for 32-bit fields; the code for
// 64-bit ones uses all 32 bits.
static uint64_t fieldOperand(uint64_t value, IntegerShape s) {
  return s.bits == 64 ? uint32_t(value) : value & 0xff;
}

static uint64_t extractField(uint64_t a, uint64_t b, uint64_t c, IntegerShape s) {
  uint64_t position = fieldOperand(b, s), length = fieldOperand(c, s);
  if (length == 0)
    return 0;
  uint64_t signPosition = std::min<uint64_t>(position + length - 1, s.bits - 1);
  bool sign = s.isSigned && (a >> signPosition & 1);
  uint64_t field = position >= s.bits ? 0 : zeroExtend(a, s.bits) >> position;
  uint64_t present = position >= s.bits ? 0 : std::min<uint64_t>(length, s.bits - position);
  field = present ? zeroExtend(field, present) : 0;
  return sign && present < 64 ? field | ~uint64_t(0) << present : field;
}

uint64_t tcc::emulator::insertField(uint64_t field, uint64_t into, uint64_t position,
                                    uint64_t length, unsigned bits) {
  IntegerShape shape;
  shape.bits = bits;
  position = fieldOperand(position, shape);
  length = std::min<uint64_t>(fieldOperand(length, shape), 64);
  if (position >= bits || length == 0)
    return into;
  uint64_t mask = zeroExtend(~uint64_t(0), length) << position;
  return (into & ~mask) | (field << position & mask);
}
static uint64_t extendSize(uint64_t a, uint64_t b, uint64_t, IntegerShape s) {
  unsigned length = b & 31;
  bool tooLarge = s.mode == 0 && uint32_t(b) >= 32;
  uint32_t mask = tooLarge ? 0 : ~0u << length;
  bool sign = s.isSigned && length && !tooLarge && (a >> (length - 1) & 1);
  return (uint32_t(a) & ~mask) | (sign ? mask : 0);
}
static uint64_t makeMask(uint64_t a, uint64_t b, uint64_t, IntegerShape s) {
  unsigned position = a & 31, length = b & 31, sum = position + length;
  uint32_t low = ~0u << position;
  uint32_t high = sum < 32 ? ~0u << sum : 0;
  bool clamp = s.mode == 0;
  if (clamp && uint32_t(a) >= 32)
    low = 0;
  if (sum >= 32 || (clamp && (uint32_t(a) >= 32 || uint32_t(b) >= 32)))
    high = 0;
  else if (length == 0)
    high = ~0u;
  return low & ~high;
}

static uint64_t permute(uint64_t a, uint64_t b, uint64_t c, IntegerShape s) {
  uint64_t bytes = zeroExtend(b, 32) << 32 | zeroExtend(a, 32);
  unsigned selector = c & 3;
  uint32_t result = 0;
  for (unsigned i = 0; i < 4; ++i) {
    unsigned index = 0;
    bool replicateSign = false;
    switch (PermuteMode(s.mode)) {
    case PermuteMode::Index:
      index = c >> (4 * i) & 7;
      replicateSign = c >> (4 * i) & 8;
      break;
    case PermuteMode::F4E:
      index = selector + i;
      break;
    case PermuteMode::B4E:
      index = (selector - i) & 7;
      break;
    case PermuteMode::RC8:
      index = selector;
      break;
    case PermuteMode::ECL:
      index = std::max(i, selector);
      break;
    case PermuteMode::ECR:
      index = std::min(i, selector);
      break;
    case PermuteMode::RC16:
      index = (selector & 1) * 2 + (i & 1);
      break;
    }
    uint32_t byte = bytes >> (8 * index) & 0xff;
    if (replicateSign)
      byte = byte & 0x80 ? 0xff : 0;
    result |= byte << (8 * i);
  }
  return result;
}

/// dp4a (mode 0) and dp2a (mode 1: lo, 2: hi; 4 is added for signed b, `isSigned` is a's).
static uint64_t dotProduct(uint64_t a, uint64_t b, uint64_t c, IntegerShape s) {
  unsigned half = s.mode & 3;
  bool isBSigned = s.mode & 4;
  auto element = [](uint64_t value, unsigned index, unsigned bits, bool isSigned) {
    IntegerShape shape;
    shape.bits = bits;
    shape.isSigned = isSigned;
    return extend(value >> (index * bits), shape);
  };
  uint64_t sum = c;
  for (unsigned i = 0; i < (half ? 2u : 4u); ++i)
    sum +=
        element(a, i, half ? 16 : 8, s.isSigned) * element(b, half == 2 ? i + 2 : i, 8, isBSigned);
  return sum;
}

uint64_t tcc::emulator::multiplyHigh(uint64_t a, uint64_t b, IntegerShape s) {
  if (s.bits < 64)
    return uint64_t(extend(a, s)) * uint64_t(extend(b, s)) >> s.bits;
  if (s.isSigned)
    return uint64_t((__int128(int64_t(a)) * int64_t(b)) >> 64);
  return uint64_t((static_cast<unsigned __int128>(a) * b) >> 64);
}

static constexpr IntegerOperation kOperations[] = {
    {"add", add, 2},
    {"sub", subtract, 2},
    {"mul.lo", multiplyLow, 2},
    {"mul.hi", multiplyHighOnly, 2},
    {"mad.lo", multiplyAddLow, 3},
    {"mad.hi", multiplyAddHigh, 3},
    {"mul24.lo", multiply24Low, 2},
    {"mul24.hi", multiply24High, 2},
    {"mad24.lo", multiplyAdd24Low, 3},
    {"mad24.hi", multiplyAdd24High, 3},
    {"sad", sumOfAbsoluteDifferences, 3},
    {"div", divide, 2},
    {"rem", remainder, 2},
    {"abs", absolute, 1},
    {"neg", negate, 1},
    {"min", minimum, 2},
    {"max", maximum, 2},
    {"and", bitAnd, 2},
    {"or", bitOr, 2},
    {"xor", bitXor, 2},
    {"not", bitNot, 1},
    {"cnot", logicalNot, 1},
    {"shl", shiftLeft, 2},
    {"shr", shiftRight, 2},
    {"shf", funnelShift, 3},
    {"popc", population, 1},
    {"clz", leadingZeros, 1},
    {"brev", reverse, 1},
    {"bfind", findBit, 1},
    {"fns", findNth, 3},
    {"bfe", extractField, 3},
    {"szext", extendSize, 2},
    {"bmsk", makeMask, 2},
    {"prmt", permute, 3},
    {"dp4a", dotProduct, 3},
    {"dp2a", dotProduct, 3},
};

const IntegerOperation *tcc::emulator::findIntegerOperation(llvm::StringRef name) {
  const auto *entry =
      llvm::find_if(kOperations, [&](const IntegerOperation &op) { return op.name == name; });
  return entry == std::end(kOperations) ? nullptr : entry;
}

std::optional<IntegerCompare> tcc::emulator::parseIntegerCompare(llvm::StringRef name,
                                                                 bool &forcesUnsigned) {
  struct Entry {
    llvm::StringLiteral name;
    IntegerCompare compare;
    bool isUnsigned;
  };
  static constexpr Entry kEntries[] = {
      {"eq", IntegerCompare::Eq, false}, {"ne", IntegerCompare::Ne, false},
      {"lt", IntegerCompare::Lt, false}, {"le", IntegerCompare::Le, false},
      {"gt", IntegerCompare::Gt, false}, {"ge", IntegerCompare::Ge, false},
      {"lo", IntegerCompare::Lt, true},  {"ls", IntegerCompare::Le, true},
      {"hi", IntegerCompare::Gt, true},  {"hs", IntegerCompare::Ge, true}};
  for (const Entry &entry : kEntries)
    if (entry.name == name) {
      forcesUnsigned = entry.isUnsigned;
      return entry.compare;
    }
  return std::nullopt;
}

bool tcc::emulator::compare(IntegerCompare predicate, uint64_t a, uint64_t b, IntegerShape s) {
  uint64_t x = zeroExtend(a, s.bits), y = zeroExtend(b, s.bits);
  bool less = s.isSigned ? extend(a, s) < extend(b, s) : x < y;
  switch (predicate) {
  case IntegerCompare::Eq:
    return x == y;
  case IntegerCompare::Ne:
    return x != y;
  case IntegerCompare::Lt:
    return less;
  case IntegerCompare::Le:
    return less || x == y;
  case IntegerCompare::Gt:
    return !less && x != y;
  case IntegerCompare::Ge:
    return !less;
  }
  return false;
}
