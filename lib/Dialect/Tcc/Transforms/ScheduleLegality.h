//===- ScheduleLegality.h - What a chip can hold of a schedule ------------===//

#ifndef TCC_LIB_DIALECT_TCC_TRANSFORMS_SCHEDULELEGALITY_H
#define TCC_LIB_DIALECT_TCC_TRANSFORMS_SCHEDULELEGALITY_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Diagnostics.h"
#include "tcc/Arch/Chip.h"
#include "tcc/Dialect/Tcc/IR/TccAttrs.h"
#include "tcc/Dialect/Tcc/IR/TccScheduleFields.h"
#include <array>
#include <string>

namespace mlir::tcc {

/// What a schedule is judged against.
struct ScheduleContext {
  const ::tcc::arch::Chip *chip;
  /// Of A and B.
  Type elementType;
  /// The contiguous dimension of A (M x K) and B (K x N).
  unsigned lhsContiguous, rhsContiguous;
  /// M, N, K; ShapedType::kDynamic where not known.
  std::array<int64_t, 3> sizes;
  /// Bytes of an element of each output.
  SmallVector<int64_t, 1> outputBytes;
  /// Bytes from one row of A (column, if those are contiguous) to the next, and of B; kDynamic
  /// where not known.
  int64_t lhsPitch = ShapedType::kDynamic, rhsPitch = ShapedType::kDynamic;

  /// False if rows of an output are known not to be multiples of 16 bytes: TMA stores whole pieces
  /// of them, and the last one would reach into the padding.
  bool hasTmaRows() const {
    return ShapedType::isDynamic(sizes[1]) || llvm::all_of(outputBytes, [&](int64_t bytes) {
             return sizes[1] * bytes % 16 == 0;
           });
  }
};

/// Blocks of a cluster that every chip with clusters takes (PTX ISA, "Cluster of Cooperative Thread
/// Arrays": portable).
inline constexpr int64_t maxClusterBlocks = 8;

/// Rows of tiles in a group where nothing asks for another number: blocks that run together then
/// share rows of A and columns of B in the L2 cache.
inline constexpr int64_t usualRaster = 8;

/// Columns that a slice of the epilogue has where it has all rows: the schedule's `chunk`, or as
/// many as fit a line of 128 bytes with elements of `elementBytes` and divide the block's; with
/// `split_k` fewer, so that each block has a slice. With swapped operands rows, where it has all
/// columns.
int64_t getEpilogueChunk(const ScheduleFields &fields, int64_t elementBytes);

/// Rows and columns of a slice of wgmma's accumulator that the epilogue works on at a time. Of
/// `epilogue = tma` all rows of some columns, or, where warps split the columns between them, the
/// rows that the warps have at once of all columns; of `shared` the latter; of `direct` those rows
/// of some columns. With swapped operands the other way round. `elementBytes` is the widest
/// output's.
std::pair<int64_t, int64_t> getEpilogueSlice(const ScheduleFields &fields, int64_t elementBytes);

/// Runs of a tile's columns that different warps have.
int64_t getColumnParts(const ScheduleFields &fields);

/// The atom that a schedule builds its tiles from, or an error that says which chips, types and
/// families there are.
llvm::Expected<const ::tcc::arch::MmaAtom *> findAtom(const ScheduleContext &context,
                                                      MmaFamily family);

/// Bytes of shared memory: the operands' buffers with all their stages, the epilogue's staging
/// buffer and the pipeline's barriers. Layouts are those that tcc-layout-shared chooses.
struct SharedBytes {
  int64_t perStage, stages, other;
  int64_t total() const { return perStage * stages + other; }
};
llvm::Expected<SharedBytes> predictSharedBytes(const ScheduleContext &context,
                                               const ::tcc::arch::MmaAtom &atom,
                                               ScheduleAttr schedule);

/// Elements of a tile that a block stores at most: with `split_k` as many slices as the others or
/// one more. `elementBytes` is the widest output's.
int64_t getShareElements(const ScheduleFields &fields, int64_t elementBytes);

/// Parts of a sum, each of `partBytes`, for which there is room in buffers of so many bytes: what
/// blocks send each other with `split_k`. A part lies in one buffer.
int64_t countExchangeParts(ArrayRef<int64_t> bufferBytes, int64_t partBytes);

/// Registers of a thread: accumulators, operand fragments, operand tiles in flight (transport
/// `register`), and an allowance for addresses.
struct RegisterCount {
  int64_t accumulators, fragments, inFlight, other;
  int64_t total() const { return accumulators + fragments + inFlight + other; }
};
RegisterCount predictRegisters(const ::tcc::arch::MmaAtom &atom, ScheduleAttr schedule);

/// Registers of a thread of the producer's warpgroup, which gives the others to the consumers.
constexpr int64_t producerRegisters = 40;
/// Registers of a thread of `consumers` warpgroups that have a producer's besides (setmaxnreg), of
/// `available` ones of the multiprocessor.
int64_t getConsumerRegisters(int64_t consumers, int64_t available);

/// Registers that a thread that multiplies may have, so that one block fits a multiprocessor.
int64_t registerLimit(const ::tcc::arch::Chip &chip, ScheduleAttr schedule);

/// Fails with what is wrong, both numbers where there is a limit, and the nearest legal choice.
llvm::Error checkSchedule(const ScheduleContext &context, ScheduleAttr schedule);

/// The same without the reason.
bool isLegal(const ScheduleContext &context, ScheduleAttr schedule);

} // namespace mlir::tcc

#endif // TCC_LIB_DIALECT_TCC_TRANSFORMS_SCHEDULELEGALITY_H
