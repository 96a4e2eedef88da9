//===- WmmaInstructions.cpp - wmma.load, wmma.store, wmma.mma -------------===//
//
// PTX ISA "Matrix multiply-accumulate operation using wmma instructions". Which lane holds which
// element is not specified. On sm_90 it is what an H200 does; on earlier chips the elements are
// dealt at random, differently for each shape, type, role and operand layout, so that a kernel
// that relies on a mapping gives wrong results.
//
//===----------------------------------------------------------------------===//

#include "FloatDecode.h"
#include "MatrixProduct.h"
#include "TensorCoreModel.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/StringSwitch.h"

using namespace tcc::emulator;

namespace {

//===----------------------------------------------------------------------===//
// Fragments
//===----------------------------------------------------------------------===//

struct ShapeRow {
  llvm::StringLiteral name;
  WmmaShape shape;
  unsigned m, n, k;
};

constexpr ShapeRow shapes[] = {
    {"m16n16k16", WmmaShape::M16N16K16, 16, 16, 16}, {"m8n32k16", WmmaShape::M8N32K16, 8, 32, 16},
    {"m32n8k16", WmmaShape::M32N8K16, 32, 8, 16},    {"m16n16k8", WmmaShape::M16N16K8, 16, 16, 8},
    {"m8n8k32", WmmaShape::M8N8K32, 8, 8, 32},       {"m8n8k128", WmmaShape::M8N8K128, 8, 8, 128},
    {"m8n8k4", WmmaShape::M8N8K4, 8, 8, 4},
};

const ShapeRow *findShape(const Modifiers &modifiers) {
  for (const ShapeRow &row : shapes)
    if (modifiers.has(row.name))
      return &row;
  return nullptr;
}

std::optional<WmmaElement> elementOf(Type type) {
  switch (type) {
  case Type::F16:
    return WmmaElement::F16;
  case Type::BF16:
    return WmmaElement::BF16;
  case Type::TF32:
    return WmmaElement::TF32;
  case Type::F64:
    return WmmaElement::F64;
  case Type::F32:
    return WmmaElement::F32;
  case Type::S32:
    return WmmaElement::S32;
  case Type::S8:
  case Type::U8:
    return WmmaElement::Int8;
  case Type::S4:
  case Type::U4:
    return WmmaElement::Int4;
  case Type::B1:
    return WmmaElement::Bit;
  default:
    return std::nullopt;
  }
}

/// A fragment's kind, packed into one word of Instruction::aux.
struct FragmentKind {
  WmmaShape shape;
  WmmaRole role;
  WmmaElement element;
  /// The operand's layout in memory is .col. Accumulators have one mapping for both.
  bool isColumn;

  uint32_t pack() const {
    return uint32_t(shape) | uint32_t(role) << 8 | uint32_t(element) << 16 |
           uint32_t(isColumn) << 24;
  }
  static FragmentKind unpack(uint32_t word) {
    return {WmmaShape(word & 0xff), WmmaRole(word >> 8 & 0xff), WmmaElement(word >> 16 & 0xff),
            (word >> 24 & 1) != 0};
  }
};

/// The mapping of sm_90, in whose order memory is accessed on every chip.
const FragmentMap &hopperMap(FragmentKind kind) {
  static thread_local llvm::DenseMap<const FragmentLayout *, std::unique_ptr<FragmentMap>> cache;
  const FragmentLayout *layout = wmmaLayout(kind.shape, kind.role, kind.element);
  std::unique_ptr<FragmentMap> &map = cache[layout];
  if (!map)
    map = std::make_unique<FragmentMap>(*layout);
  return *map;
}

const FragmentMap &registerMap(const Warp &warp, FragmentKind kind) {
  const FragmentMap &hopper = hopperMap(kind);
  if (warp.chip() >= 90)
    return hopper;
  if (kind.role == WmmaRole::Accumulator)
    kind.isColumn = false;
  static thread_local llvm::DenseMap<std::pair<uint64_t, uint32_t>, std::unique_ptr<FragmentMap>>
      cache;
  std::unique_ptr<FragmentMap> &map = cache[{warp.seed(), kind.pack()}];
  if (!map)
    map = std::make_unique<FragmentMap>(
        hopper.permuted(warp.seed() * 0x9e3779b97f4a7c15 + kind.pack()));
  return *map;
}

/// Bits of an element of the map; b1 counts in words.
unsigned elementBits(WmmaElement element) {
  switch (element) {
  case WmmaElement::F16:
  case WmmaElement::BF16:
    return 16;
  case WmmaElement::Int8:
    return 8;
  case WmmaElement::Int4:
    return 4;
  case WmmaElement::F64:
    return 64;
  default:
    return 32;
  }
}

unsigned registerCount(FragmentKind kind) {
  unsigned bits = elementBits(kind.element);
  unsigned values = wmmaLayout(kind.shape, kind.role, kind.element)->values;
  return bits >= 32 ? values : values * bits / 32;
}

unsigned firstChip(FragmentKind kind) {
  switch (kind.element) {
  case WmmaElement::BF16:
  case WmmaElement::TF32:
  case WmmaElement::F64:
    return 80;
  case WmmaElement::Int4:
  case WmmaElement::Bit:
    return 75;
  case WmmaElement::Int8:
  case WmmaElement::S32:
    return 72;
  default:
    return kind.shape == WmmaShape::M16N16K8 ? 80 : 70;
  }
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// The matrix of a fragment in memory, and how the lanes share the work of moving it.
class MatrixAccess {
public:
  MatrixAccess(const Instruction &inst, FragmentKind kind, uint64_t base, uint64_t stride)
      : inst(inst), map(hopperMap(kind)), bits(elementBits(kind.element)), base(base),
        stride(stride) {
    isBit = kind.element == WmmaElement::Bit;
    // A map's row is a column of B: .col is the contiguous order for B as .row is for the others.
    contiguousRows = (kind.role == WmmaRole::B) == kind.isColumn;
  }

  /// Elements (words for b1) in the order of the map.
  bool load(Warp &warp, llvm::MutableArrayRef<uint64_t> matrix) {
    for (unsigned value = 0; value < map.valuesPerLane();) {
      unsigned count = piece(value);
      if (count == 0) { // A repeated value.
        ++value;
        continue;
      }
      if (!warp.load(inst, inst.space, addresses, ~0u, bytesOf(count), buffer, sizeof(buffer[0])))
        return false;
      for (unsigned lane = 0; lane < kLanes; ++lane)
        for (unsigned i = 0; i < count; ++i)
          matrix[map.lane(lane)[value + i]] = get(lane, i);
      value += count;
    }
    return true;
  }

  bool store(Warp &warp, llvm::ArrayRef<uint64_t> matrix) {
    for (unsigned value = 0; value < map.valuesPerLane();) {
      unsigned count = std::max(piece(value), 1u);
      for (unsigned lane = 0; lane < kLanes; ++lane)
        for (unsigned i = 0; i < count; ++i)
          put(lane, i, matrix[map.lane(lane)[value + i]]);
      if (!warp.store(inst, inst.space, addresses, ~0u, bytesOf(count), buffer, sizeof(buffer[0])))
        return false;
      value += count;
    }
    return true;
  }

private:
  unsigned bytesOf(unsigned count) const { return count * bits / 8; }

  uint64_t bitAddress(unsigned lane, unsigned value) const {
    unsigned place = map.lane(lane)[value];
    unsigned row = place / map.columns(), column = place % map.columns();
    uint64_t major = contiguousRows ? row : column, minor = contiguousRows ? column : row;
    if (isBit)
      return base * 8 + major * stride + minor * 32;
    return base * 8 + (major * stride + minor) * bits;
  }

  /// The number of values from `value` on that every lane finds side by side, at most 16 bytes, a
  /// power of two; their addresses go to `addresses`. Zero for a value that is held before.
  unsigned piece(unsigned value) {
    for (unsigned before = 0; before < value; ++before)
      if (map.lane(0)[before] == map.lane(0)[value])
        return 0;
    unsigned count = 1;
    while (count * 2 * bits <= 128 && value + count * 2 <= map.valuesPerLane() &&
           isContiguous(value, count * 2))
      count *= 2;
    for (unsigned lane = 0; lane < kLanes; ++lane)
      addresses[lane] = bitAddress(lane, value) / 8;
    return count;
  }

  bool isContiguous(unsigned value, unsigned count) const {
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      uint64_t first = bitAddress(lane, value);
      if (first % (uint64_t(count) * bits) != 0)
        return false;
      for (unsigned i = 1; i < count; ++i)
        if (bitAddress(lane, value + i) != first + uint64_t(i) * bits)
          return false;
    }
    return true;
  }

  uint64_t get(unsigned lane, unsigned index) const {
    unsigned at = index * bits;
    uint64_t word = buffer[lane][at / 64] >> (at % 64);
    return bits == 64 ? word : word & ((uint64_t(1) << bits) - 1);
  }

  void put(unsigned lane, unsigned index, uint64_t value) {
    unsigned at = index * bits;
    if (at % 64 == 0)
      buffer[lane][at / 64] = 0;
    buffer[lane][at / 64] |= value << (at % 64);
  }

  const Instruction &inst;
  const FragmentMap &map;
  unsigned bits;
  uint64_t base, stride;
  bool isBit = false, contiguousRows = false;
  uint64_t addresses[kLanes];
  std::array<uint64_t, 2> buffer[kLanes];
};

/// The base address and stride, which all lanes must agree on. Reports what the ISA demands:
/// a base aligned to 32 bytes, rows (or columns) that start at multiples of 16 bytes, or of their
/// own length where that is less.
std::pair<uint64_t, uint64_t> baseAndStride(Warp &warp, const Instruction &inst, FragmentKind kind,
                                            const Operand &address, const Operand *strideOperand) {
  uint64_t bases[kLanes];
  warp.addresses(address, bases);
  unsigned first = *warp.lanes().begin();
  bool contiguousRows = (kind.role == WmmaRole::B) == kind.isColumn;
  const FragmentMap &map = hopperMap(kind);
  unsigned bits = kind.element == WmmaElement::Bit ? 1 : elementBits(kind.element);
  uint64_t least = contiguousRows ? map.columns() : map.rows();
  if (kind.element == WmmaElement::Bit)
    least *= 32;
  uint64_t stride = strideOperand ? uint32_t(warp.read(*strideOperand)[first]) : least;
  for (unsigned lane : warp.lanes()) {
    bool sameStride = !strideOperand || uint32_t(warp.read(*strideOperand)[lane]) == stride;
    if (bases[lane] != bases[first] || !sameStride) {
      warp.report(FindingKind::Unspecified, inst, lane,
                  "all lanes must give one address and stride, lane " + llvm::Twine(lane) +
                      " differs from lane " + llvm::Twine(first));
      break;
    }
  }
  if (bases[first] % 32 != 0)
    warp.report(FindingKind::Misaligned, inst, first,
                "the address must be aligned to 32 bytes, found 0x" +
                    llvm::Twine::utohexstr(bases[first]));
  uint64_t rowBits = std::min<uint64_t>(least * bits, 128);
  if (stride * bits % rowBits != 0)
    warp.report(FindingKind::Misaligned, inst, first,
                "the stride must be a multiple of " + llvm::Twine(rowBits / 8) + " bytes, found " +
                    llvm::Twine(stride) + " elements of " + llvm::Twine(bits) + " bits");
  if (stride < least)
    warp.report(FindingKind::Unspecified, inst, first,
                "the stride must be at least the matrix's " + llvm::Twine(least) +
                    " elements, found " + llvm::Twine(stride));
  return {bases[first], stride};
}

//===----------------------------------------------------------------------===//
// Handlers. aux[0..3]: the kinds of d, a, b, c (load and store: of the fragment, in aux[0]).
//===----------------------------------------------------------------------===//

void loadFragment(Warp &warp, const Instruction &inst) {
  FragmentKind kind = FragmentKind::unpack(inst.aux[0]);
  if (!requireChip(warp, inst, firstChip(kind)))
    return;
  auto [base, stride] = baseAndStride(warp, inst, kind, inst.operands[1],
                                      inst.operands.size() > 2 ? &inst.operands[2] : nullptr);
  const FragmentMap &map = registerMap(warp, kind);
  std::array<uint64_t, 512> matrix;
  if (!MatrixAccess(inst, kind, base, stride).load(warp, matrix))
    return;
  llvm::ArrayRef<Operand> registers = Warp::elements(inst.operands[0]);
  if (kind.element == WmmaElement::F64)
    return scatter64(warp, registers, map, matrix);
  std::array<uint32_t, 512> narrow;
  for (unsigned i = 0; i < map.size(); ++i)
    narrow[i] = uint32_t(matrix[i]);
  scatter(warp, registers, map, elementBits(kind.element), narrow);
}

void storeFragment(Warp &warp, const Instruction &inst) {
  FragmentKind kind = FragmentKind::unpack(inst.aux[0]);
  if (!requireChip(warp, inst, firstChip(kind)))
    return;
  auto [base, stride] = baseAndStride(warp, inst, kind, inst.operands[0],
                                      inst.operands.size() > 2 ? &inst.operands[2] : nullptr);
  const FragmentMap &map = registerMap(warp, kind);
  llvm::ArrayRef<Operand> registers = Warp::elements(inst.operands[1]);
  std::array<uint64_t, 512> matrix;
  if (kind.element == WmmaElement::F64) {
    gather64(warp, registers, map, matrix);
  } else {
    std::array<uint32_t, 512> narrow;
    gather(warp, registers, map, elementBits(kind.element), narrow);
    for (unsigned i = 0; i < map.size(); ++i)
      matrix[i] = narrow[i];
  }
  MatrixAccess(inst, kind, base, stride).store(warp, matrix);
}

enum Flags : uint32_t { Saturate = 1, Xor = 2 };

void multiplyAccumulate(Warp &warp, const Instruction &inst) {
  FragmentKind kinds[4];
  for (unsigned i = 0; i < 4; ++i)
    kinds[i] = FragmentKind::unpack(inst.aux[i]);
  if (!requireChip(warp, inst, firstChip(kinds[1])))
    return;
  const ShapeRow &shape = *static_cast<const ShapeRow *>(inst.table);
  MatrixProduct product;
  product.m = shape.m;
  product.n = shape.n;
  product.k = shape.k;
  // f16 operands are implied: the two types are D's and C's.
  bool implied = inst.types.size() == 2;
  product.d = inst.types.front();
  product.c = inst.types.back();
  product.a = implied ? MatrixType::F16 : *matrixType(inst.types[1]);
  product.b = implied ? MatrixType::F16 : *matrixType(inst.types[2]);
  product.rule = blockRule(tensorCoreModel(warp.chip()), MatrixInstruction::Wmma, product.a,
                           product.k, product.d == Type::F16);
  product.saturate = inst.aux[4] & Saturate;
  product.bitXor = inst.aux[4] & Xor;
  product.rounding = Rounding(inst.aux[5]);
  multiplyFragments(warp, inst, product,
                    {registerMap(warp, kinds[1]), registerMap(warp, kinds[2]),
                     registerMap(warp, kinds[3]), registerMap(warp, kinds[0])});
}

//===----------------------------------------------------------------------===//
// Decoding
//===----------------------------------------------------------------------===//

llvm::Error decodeMove(const Modifiers &modifiers, Instruction &inst, WmmaRole role, bool isLoad) {
  inst.convergence = Convergence::FullWarp;
  if (llvm::Error error = checkOperandCount(modifiers, inst, 2, 3))
    return error;
  const ShapeRow *shape = findShape(modifiers);
  llvm::StringRef layout = modifiers.oneOf({"row", "col"});
  std::optional<WmmaElement> element = elementOf(inst.type);
  if (!shape || layout.empty() || !element || !wmmaLayout(shape->shape, role, *element))
    return modifiers.error("no such wmma fragment: the shape, role and type do not go together");
  FragmentKind kind = {shape->shape, role, *element, layout == "col"};
  if (elementBits(*element) < 8 || *element == WmmaElement::Bit)
    if ((role == WmmaRole::B) != kind.isColumn)
      return modifiers.error("operands of less than 8 bits are .row for A and .col for B");
  inst.destinations = isLoad ? 1 : 0;
  inst.space = parseSpace(modifiers);
  inst.aux[0] = kind.pack();
  inst.handler = isLoad ? loadFragment : storeFragment;
  return checkRegisters(modifiers, inst.operands[isLoad ? 0 : 1], "r", registerCount(kind));
}

llvm::Error decodeLoad(const Modifiers &modifiers, Instruction &inst) {
  llvm::StringRef role = modifiers.oneOf({"a", "b", "c"});
  if (role.empty())
    return modifiers.error("expected .a, .b or .c");
  return decodeMove(modifiers, inst,
                    role == "a"   ? WmmaRole::A
                    : role == "b" ? WmmaRole::B
                                  : WmmaRole::Accumulator,
                    true);
}

llvm::Error decodeStore(const Modifiers &modifiers, Instruction &inst) {
  if (!modifiers.has("d"))
    return modifiers.error("expected .d");
  return decodeMove(modifiers, inst, WmmaRole::Accumulator, false);
}

bool goesWith(WmmaElement operand, WmmaElement accumulator) {
  switch (operand) {
  case WmmaElement::F16:
    return accumulator == WmmaElement::F16 || accumulator == WmmaElement::F32;
  case WmmaElement::BF16:
  case WmmaElement::TF32:
    return accumulator == WmmaElement::F32;
  case WmmaElement::F64:
    return accumulator == WmmaElement::F64;
  default:
    return accumulator == WmmaElement::S32;
  }
}

llvm::Error decodeMultiply(const Modifiers &modifiers, Instruction &inst) {
  inst.convergence = Convergence::FullWarp;
  if (llvm::Error error = checkOperandCount(modifiers, inst, 4, 4))
    return error;
  const ShapeRow *shape = findShape(modifiers);
  llvm::SmallVector<llvm::StringRef, 2> layouts;
  for (llvm::StringRef part : modifiers.all())
    if (part == "row" || part == "col")
      layouts.push_back(part);
  size_t types = inst.types.size();
  if (!shape || layouts.size() != 2 || (types != 2 && types != 4))
    return modifiers.error("expected two layouts, a shape, and the types of d, a, b, c (of d and "
                           "c for f16 operands)");
  Type operandA = types == 2 ? Type::F16 : inst.types[1];
  Type operandB = types == 2 ? Type::F16 : inst.types[2];
  if (operandA != operandB)
    return modifiers.error("operands a and b must have one type");
  std::optional<WmmaElement> d = elementOf(inst.types.front()), c = elementOf(inst.types.back()),
                             operand = elementOf(operandA);
  if (!d || !c || !operand || !goesWith(*operand, *d) || !goesWith(*operand, *c))
    return modifiers.error("these operand types do not go with these accumulator types");
  FragmentKind kinds[4] = {{shape->shape, WmmaRole::Accumulator, *d, false},
                           {shape->shape, WmmaRole::A, *operand, layouts[0] == "col"},
                           {shape->shape, WmmaRole::B, *operand, layouts[1] == "col"},
                           {shape->shape, WmmaRole::Accumulator, *c, false}};
  constexpr llvm::StringLiteral names[] = {"d", "a", "b", "c"};
  for (unsigned i = 0; i < 4; ++i) {
    if (!wmmaLayout(kinds[i].shape, kinds[i].role, kinds[i].element))
      return modifiers.error("this shape and these types do not go together");
    if (llvm::Error error =
            checkRegisters(modifiers, inst.operands[i], names[i], registerCount(kinds[i])))
      return error;
    inst.aux[i] = kinds[i].pack();
  }
  inst.aux[4] = modifiers.has("satfinite") * Saturate | modifiers.has("xor") * Xor;
  inst.aux[5] = uint32_t(parseFloatModifiers(modifiers).rounding);
  inst.table = shape;
  inst.handler = multiplyAccumulate;
  return llvm::Error::success();
}

} // namespace

void tcc::emulator::registerWmmaInstructions(InstructionTable &table) {
  table.add("wmma.load", decodeLoad);
  table.add("wmma.store", decodeStore);
  table.add("wmma.mma", decodeMultiply);
}
