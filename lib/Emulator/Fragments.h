//===- Fragments.h - Which lane holds which matrix element ------*- C++ -*-===//
//
// A matrix operand of a warp-wide instruction is spread over the lanes' registers. Every layout of
// the PTX ISA is linear: the place of an element is the sum of one step for each bit that is set in
// the lane number and in the number of the value within the lane. A layout is therefore a short
// list of steps, and the tables in Fragments.cpp can be read against the figures of the ISA.
//
// A is given as M x K, B by columns as N x K, C and D as M x N.
//
//===----------------------------------------------------------------------===//

#ifndef TCC_LIB_EMULATOR_FRAGMENTS_H
#define TCC_LIB_EMULATOR_FRAGMENTS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <array>
#include <cstdint>

namespace tcc::emulator {

struct FragmentStep {
  uint8_t row = 0, column = 0;
};

/// A linear layout. Values are numbered through the registers, low element of a register first.
struct FragmentLayout {
  unsigned rows, columns, values;
  std::array<FragmentStep, 5> lane;
  std::array<FragmentStep, 8> value;
};

/// A layout with every place worked out: the index row * columns + column of each value.
class FragmentMap {
public:
  FragmentMap() = default;
  explicit FragmentMap(const FragmentLayout &layout);

  unsigned rows() const { return rowCount; }
  unsigned columns() const { return columnCount; }
  unsigned size() const { return rowCount * columnCount; }
  unsigned valuesPerLane() const { return values; }
  /// The places of a lane's values.
  llvm::ArrayRef<uint16_t> lane(unsigned lane) const {
    return llvm::ArrayRef<uint16_t>(places).slice(lane * values, values);
  }
  /// The same fragment with its values dealt to the lanes at random (reproducibly).
  FragmentMap permuted(uint64_t seed) const;

private:
  unsigned rowCount = 0, columnCount = 0, values = 0;
  llvm::SmallVector<uint16_t, 0> places;
};

/// \name mma.sync and wgmma
/// `perRegister` elements fit a register: 1 for f64, which has 64-bit registers, and for b1, whose
/// elements count as words of 32 bits. A warp of a wgmma holds the rows of an m16 fragment, for A
/// in registers as for D.
/// @{
FragmentLayout mmaLayoutA(unsigned m, unsigned k, unsigned perRegister);
FragmentLayout mmaLayoutB(unsigned n, unsigned k, unsigned perRegister);
FragmentLayout mmaLayoutC(unsigned m, unsigned n);
/// @}

/// \name mma.m8n8k4 on f16
/// Four independent products: number q (lanes with (lane%16)/4 == q) holds rows 8q to 8q+7.
/// @{
extern const FragmentLayout mmaM8N8K4ByRow;    // A .row, B .col
extern const FragmentLayout mmaM8N8K4ByColumn; // A .col, B .row
extern const FragmentLayout mmaM8N8K4HalfC;
extern const FragmentLayout mmaM8N8K4FloatC;
/// @}

/// An 8x8 matrix of 16-bit elements as ldmatrix, stmatrix and movmatrix hold it.
extern const FragmentLayout matrix8x8;

/// \name wmma on sm_90
/// @{
enum class WmmaRole : uint8_t { A, B, Accumulator };
enum class WmmaShape : uint8_t {
  M16N16K16,
  M8N32K16,
  M32N8K16,
  M16N16K8,
  M8N8K32,
  M8N8K128,
  M8N8K4
};
/// The element types whose fragments differ: f16 fragments hold every element twice where bf16's
/// hold it once.
enum class WmmaElement : uint8_t { F16, BF16, TF32, F64, Int8, Int4, Bit, F32, S32 };
/// Null for a combination that the ISA does not have.
const FragmentLayout *wmmaLayout(WmmaShape shape, WmmaRole role, WmmaElement element);
/// @}

} // namespace tcc::emulator

#endif // TCC_LIB_EMULATOR_FRAGMENTS_H
