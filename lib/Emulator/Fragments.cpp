//===- Fragments.cpp - Which lane holds which matrix element --------------===//

#include "Fragments.h"

using namespace tcc::emulator;

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

static constexpr FragmentStep row(unsigned n) { return {uint8_t(n), 0}; }
static constexpr FragmentStep column(unsigned n) { return {0, uint8_t(n)}; }
/// A bit that moves nothing: the value is held more than once.
static constexpr FragmentStep repeat = {0, 0};

/// Lanes 4g + t hold row g, columns from t * width.
static constexpr std::array<FragmentStep, 5> rowsOfFour(unsigned width) {
  return {column(width), column(2 * width), row(1), row(2), row(4)};
}

//===----------------------------------------------------------------------===//
// mma.sync (PTX ISA "Matrix Fragments for mma.m16n8k16 ..." and its sisters)
//===----------------------------------------------------------------------===//

FragmentLayout tcc::emulator::mmaLayoutA(unsigned m, unsigned k, unsigned perRegister) {
  FragmentLayout layout = {m, k, m * k / 32, rowsOfFour(perRegister), {}};
  unsigned bit = 0;
  for (unsigned step = 1; step < perRegister; step *= 2)
    layout.value[bit++] = column(step);
  if (m == 16)
    layout.value[bit++] = row(8);
  for (unsigned step = 4 * perRegister; step < k; step *= 2)
    layout.value[bit++] = column(step);
  return layout;
}

FragmentLayout tcc::emulator::mmaLayoutB(unsigned n, unsigned k, unsigned perRegister) {
  return mmaLayoutA(n, k, perRegister); // By columns B looks like an A of eight rows.
}

FragmentLayout tcc::emulator::mmaLayoutC(unsigned m, unsigned n) {
  FragmentLayout layout = {m, n, m * n / 32, rowsOfFour(2), {}};
  unsigned bit = 0;
  layout.value[bit++] = column(1);
  if (m == 16)
    layout.value[bit++] = row(8);
  for (unsigned step = 8; step < n; step *= 2)
    layout.value[bit++] = column(step);
  return layout;
}

const FragmentLayout tcc::emulator::mmaM8N8K4ByRow = {
    32, 4, 4, {row(1), row(2), row(8), row(16), row(4)}, {column(1), column(2)}};
const FragmentLayout tcc::emulator::mmaM8N8K4ByColumn = {
    32, 4, 4, {column(1), column(2), row(8), row(16), row(4)}, {row(1), row(2)}};
const FragmentLayout tcc::emulator::mmaM8N8K4HalfC = {
    32, 8, 8, {row(1), row(2), row(8), row(16), row(4)}, {column(1), column(2), column(4)}};
const FragmentLayout tcc::emulator::mmaM8N8K4FloatC = {
    32, 8, 8, {row(1), column(2), row(8), row(16), row(4)}, {column(1), row(2), column(4)}};

const FragmentLayout tcc::emulator::matrix8x8 = {8, 8, 2, rowsOfFour(2), {column(1)}};

//===----------------------------------------------------------------------===//
// wmma: opaque in the ISA, this is sm_90's
//===----------------------------------------------------------------------===//

namespace {
struct WmmaEntry {
  WmmaShape shape;
  WmmaRole role;
  WmmaElement element;
  FragmentLayout layout;
};
} // namespace

/// Lanes 4g + t hold column g, rows 2t and 2t + 1.
static constexpr std::array<FragmentStep, 5> transposed = {row(2), row(4), column(1), column(2),
                                                           column(4)};

// clang-format off
static constexpr WmmaEntry wmmaLayouts[] = {
  // m16n16k16
  {WmmaShape::M16N16K16, WmmaRole::A, WmmaElement::F16,
   {16, 16, 16, rowsOfFour(2), {column(1), row(8), column(8), repeat}}},
  {WmmaShape::M16N16K16, WmmaRole::A, WmmaElement::BF16,
   {16, 16, 8, rowsOfFour(2), {column(1), row(8), column(8)}}},
  {WmmaShape::M16N16K16, WmmaRole::A, WmmaElement::Int8,
   {16, 16, 8, rowsOfFour(4), {column(1), column(2), row(8)}}},
  {WmmaShape::M16N16K16, WmmaRole::B, WmmaElement::F16,
   {16, 16, 16, rowsOfFour(2), {column(1), column(8), row(8), repeat}}},
  {WmmaShape::M16N16K16, WmmaRole::B, WmmaElement::BF16,
   {16, 16, 8, rowsOfFour(2), {column(1), column(8), row(8)}}},
  {WmmaShape::M16N16K16, WmmaRole::B, WmmaElement::Int8,
   {16, 16, 8, rowsOfFour(4), {column(1), column(2), row(8)}}},
  {WmmaShape::M16N16K16, WmmaRole::Accumulator, WmmaElement::F32,
   {16, 16, 8, rowsOfFour(2), {column(1), row(8), column(8)}}},
  // m32n8k16
  {WmmaShape::M32N8K16, WmmaRole::A, WmmaElement::F16,
   {32, 16, 16, rowsOfFour(2), {column(1), row(8), column(8), row(16)}}},
  {WmmaShape::M32N8K16, WmmaRole::A, WmmaElement::BF16,
   {32, 16, 16, rowsOfFour(2), {column(1), row(8), column(8), row(16)}}},
  {WmmaShape::M32N8K16, WmmaRole::A, WmmaElement::Int8,
   {32, 16, 16, rowsOfFour(4), {column(1), column(2), row(8), row(16)}}},
  {WmmaShape::M32N8K16, WmmaRole::B, WmmaElement::F16,
   {8, 16, 16, rowsOfFour(2), {column(1), column(8), repeat, repeat}}},
  {WmmaShape::M32N8K16, WmmaRole::B, WmmaElement::BF16,
   {8, 16, 4, rowsOfFour(2), {column(1), column(8)}}},
  {WmmaShape::M32N8K16, WmmaRole::B, WmmaElement::Int8,
   {8, 16, 4, rowsOfFour(4), {column(1), column(2)}}},
  {WmmaShape::M32N8K16, WmmaRole::Accumulator, WmmaElement::F32,
   {32, 8, 8, rowsOfFour(2), {column(1), row(8), row(16)}}},
  // m8n32k16, the transpose
  {WmmaShape::M8N32K16, WmmaRole::A, WmmaElement::F16,
   {8, 16, 16, rowsOfFour(2), {column(1), column(8), repeat, repeat}}},
  {WmmaShape::M8N32K16, WmmaRole::A, WmmaElement::BF16,
   {8, 16, 4, rowsOfFour(2), {column(1), column(8)}}},
  {WmmaShape::M8N32K16, WmmaRole::A, WmmaElement::Int8,
   {8, 16, 4, rowsOfFour(4), {column(1), column(2)}}},
  {WmmaShape::M8N32K16, WmmaRole::B, WmmaElement::F16,
   {32, 16, 16, rowsOfFour(2), {column(1), row(8), column(8), row(16)}}},
  {WmmaShape::M8N32K16, WmmaRole::B, WmmaElement::BF16,
   {32, 16, 16, rowsOfFour(2), {column(1), row(8), column(8), row(16)}}},
  {WmmaShape::M8N32K16, WmmaRole::B, WmmaElement::Int8,
   {32, 16, 16, rowsOfFour(4), {column(1), column(2), row(8), row(16)}}},
  {WmmaShape::M8N32K16, WmmaRole::Accumulator, WmmaElement::F32,
   {8, 32, 8, transposed, {row(1), column(8), column(16)}}},
  // tf32
  {WmmaShape::M16N16K8, WmmaRole::A, WmmaElement::TF32,
   {16, 8, 4, rowsOfFour(1), {row(8), column(4)}}},
  {WmmaShape::M16N16K8, WmmaRole::B, WmmaElement::TF32,
   {16, 8, 4, rowsOfFour(1), {column(4), row(8)}}},
  {WmmaShape::M16N16K8, WmmaRole::Accumulator, WmmaElement::F32,
   {16, 16, 8, rowsOfFour(2), {column(1), row(8), column(8)}}},
  // s4, u4
  {WmmaShape::M8N8K32, WmmaRole::A, WmmaElement::Int4,
   {8, 32, 8, rowsOfFour(8), {column(1), column(2), column(4)}}},
  {WmmaShape::M8N8K32, WmmaRole::B, WmmaElement::Int4,
   {8, 32, 8, rowsOfFour(8), {column(1), column(2), column(4)}}},
  {WmmaShape::M8N8K32, WmmaRole::Accumulator, WmmaElement::S32,
   {8, 8, 2, rowsOfFour(2), {column(1)}}},
  // b1, counted in words of 32 bits
  {WmmaShape::M8N8K128, WmmaRole::A, WmmaElement::Bit, {8, 4, 1, rowsOfFour(1), {}}},
  {WmmaShape::M8N8K128, WmmaRole::B, WmmaElement::Bit, {8, 4, 1, rowsOfFour(1), {}}},
  {WmmaShape::M8N8K128, WmmaRole::Accumulator, WmmaElement::S32,
   {8, 8, 2, rowsOfFour(2), {column(1)}}},
  // f64
  {WmmaShape::M8N8K4, WmmaRole::A, WmmaElement::F64, {8, 4, 1, rowsOfFour(1), {}}},
  {WmmaShape::M8N8K4, WmmaRole::B, WmmaElement::F64, {8, 4, 1, rowsOfFour(1), {}}},
  {WmmaShape::M8N8K4, WmmaRole::Accumulator, WmmaElement::F64,
   {8, 8, 2, rowsOfFour(2), {column(1)}}},
};
// clang-format on

const FragmentLayout *tcc::emulator::wmmaLayout(WmmaShape shape, WmmaRole role,
                                                WmmaElement element) {
  // f16 and s32 accumulators of a shape hold the elements that its f32 accumulator does.
  bool accumulator = role == WmmaRole::Accumulator;
  for (const WmmaEntry &entry : wmmaLayouts)
    if (entry.shape == shape && entry.role == role &&
        (entry.element == element ||
         (accumulator && bool(entry.element == WmmaElement::F32) &&
          (element == WmmaElement::F16 || element == WmmaElement::S32))))
      return &entry.layout;
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Maps
//===----------------------------------------------------------------------===//

FragmentMap::FragmentMap(const FragmentLayout &layout)
    : rowCount(layout.rows), columnCount(layout.columns), values(layout.values) {
  for (unsigned lane = 0; lane < 32; ++lane) {
    for (unsigned value = 0; value < values; ++value) {
      unsigned row = 0, column = 0;
      auto add = [&](unsigned number, llvm::ArrayRef<FragmentStep> steps) {
        for (unsigned bit = 0; bit < steps.size(); ++bit) {
          if (number >> bit & 1) {
            row += steps[bit].row;
            column += steps[bit].column;
          }
        }
      };
      add(lane, layout.lane);
      add(value, layout.value);
      places.push_back(uint16_t(row * columnCount + column));
    }
  }
}

FragmentMap FragmentMap::permuted(uint64_t seed) const {
  FragmentMap result = *this;
  // Fisher-Yates on splitmix64: the same on every host, unlike std::shuffle.
  for (size_t i = result.places.size(); i > 1; --i) {
    seed += 0x9e3779b97f4a7c15;
    uint64_t z = seed;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    z ^= z >> 31;
    std::swap(result.places[i - 1], result.places[z % i]);
  }
  return result;
}
