//===- Chip.h - What a chip can do ----------------------------------------===//
//
// The only place that knows chips. It answers questions and gives out no number of capability to
// compare: `chip.has(Feature::CpAsync)`, `chip.limits().sharedBytesPerBlock`, `chip.mmaAtoms()`.
// docs/Arch.md says how to add a generation.
//
//===----------------------------------------------------------------------===//

#ifndef TCC_ARCH_CHIP_H
#define TCC_ARCH_CHIP_H

#include "tcc/Arch/Feature.h"
#include "tcc/Arch/MmaAtom.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include <optional>
#include <vector>

namespace tcc::arch {

struct ChipDescription;

/// Resources of a chip.
struct Limits {
  /// Shared memory that one block may have, opt-in included (CUDA C++ Programming Guide, "Technical
  /// Specifications per Compute Capability").
  int64_t sharedBytesPerBlock;
  /// Shared memory of a multiprocessor; each resident block costs 1 KiB more than it asks for from
  /// sm_80 on.
  int64_t sharedBytesPerMultiprocessor;
  int64_t registersPerThread = 255;
  int64_t registersPerMultiprocessor = 65536;
  int64_t threadsPerBlock = 1024;
  /// Of the largest common product, for cost models and sizes of grids: never for correctness.
  int64_t typicalMultiprocessors;
};

/// What a cost model needs of one multiprocessor, in its cycles; zero where nothing was measured.
struct Throughput {
  /// Multiplications and additions of the tensor cores on 16-bit elements.
  double mmaFlops = 0;
  /// Cycles in which 128 bytes of a row arrive in shared memory by TMA, whoever fetched them.
  double cyclesPerRow = 0;
  /// Cycles in which TMA fetches 128 bytes that lie across two lines of the L2 cache.
  double cyclesPerUnalignedRow = 0;
  /// Bytes that the device's memory gives all multiprocessors together.
  double memoryBytes = 0;
  /// Clusters of 1, 2, … 8 blocks, a block a multiprocessor, that run at a time: a cluster's blocks
  /// are on one GPC, whose multiprocessors they seldom divide. Persistent grids have no more.
  std::array<int64_t, 8> residentClusters = {};
  /// GPCs, among which multiprocessors are divided, and the cycles in which one of them fetches 128
  /// bytes from the L2 cache. What several of its multiprocessors fetch at about the same time
  /// comes once, unless it is multicast or lies across two lines. Plain grids fill one GPC after
  /// the other, clusters are dealt out to them in turn (measured: docs/Performance.md).
  int64_t gpcs = 0;
  double cyclesPerGpcRow = 0;
};

/// One chip of the registry. Objects live as long as the program.
class Chip {
public:
  explicit Chip(const ChipDescription &description);

  /// "sm_80": the `.target` of PTX.
  llvm::StringRef name() const;
  /// The lowest PTX ISA version that knows this target, as major * 10 + minor.
  unsigned ptxVersion() const;
  const Limits &limits() const;
  const Throughput &throughput() const;

  bool has(Feature feature) const;
  /// An error that names the instruction, this chip, and the chips that have it.
  llvm::Error require(Feature feature) const;

  bool hasAsyncCopy() const { return has(Feature::CpAsync); }
  bool hasLdMatrix() const { return has(Feature::LdMatrix); }
  bool hasTma() const { return has(Feature::Tma); }
  bool hasWgmma() const { return has(Feature::Wgmma); }
  bool hasBf16() const;
  bool hasWmma(ElementType type) const { return hasFamily(MmaFamily::Wmma, type); }
  bool hasMmaSync(ElementType type) const { return hasFamily(MmaFamily::MmaSync, type); }

  /// All matrix instructions of this chip, larger shapes of a family first.
  llvm::ArrayRef<MmaAtom> mmaAtoms() const { return atoms; }
  /// The first atom of the family with these element types, the one to prefer; none if the chip
  /// lacks it.
  const MmaAtom *findAtom(MmaFamily family, ElementType type, ElementType accumulator) const;

private:
  bool hasFamily(MmaFamily family, ElementType type) const;

  const ChipDescription &description;
  std::vector<MmaAtom> atoms;
};

/// The chip called `name`, or an error that lists the known ones.
llvm::Expected<const Chip *> lookupChip(llvm::StringRef name);

/// All chips, older ones first.
llvm::ArrayRef<Chip> knownChips();

/// "sm_80, sm_86 and sm_87": the chips that have an atom of the family with this element type.
std::string chipsWithAtom(MmaFamily family, ElementType type);

} // namespace tcc::arch

#endif // TCC_ARCH_CHIP_H
