//===- ScheduleLegality.cpp - What a chip can hold of a schedule ----------===//

#include "ScheduleLegality.h"

#include "Target.h"
#include "tcc/Dialect/Tcc/IR/TccOps.h"
#include "tcc/Support/SharedLayout.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace mlir;
using namespace mlir::tcc;
namespace arch = ::tcc::arch;
namespace support = ::tcc::support;
using llvm::createStringError;
using llvm::formatv;

llvm::Expected<const arch::MmaAtom *> mlir::tcc::findAtom(const ScheduleContext &context,
                                                          MmaFamily family) {
  arch::ElementType element =
      context.elementType.isBF16() ? arch::ElementType::BF16 : arch::ElementType::F16;
  const arch::Chip &chip = *context.chip;
  arch::MmaFamily archFamily = toArch(family);
  const arch::MmaAtom *atom = chip.findAtom(archFamily, element, arch::ElementType::F32);
  if (!atom)
    return createStringError(formatv("{0} has no {1} for {2}; it is there on {3}", chip.name(),
                                     arch::name(archFamily), arch::name(element),
                                     arch::chipsWithAtom(archFamily, element)));
  // sm_75 has m16n8k8 alone, for which fragments and ldmatrix patterns are not written.
  if (archFamily == arch::MmaFamily::MmaSync && atom->k != 16)
    return createStringError(formatv("{0} has no mma_sync m16n8k16 for {1}, which the mma_sync "
                                     "backend is built on; use wmma",
                                     chip.name(), arch::name(element)));
  return atom;
}

//===----------------------------------------------------------------------===//
// Predictions
//===----------------------------------------------------------------------===//

int64_t mlir::tcc::getEpilogueChunk(const ScheduleFields &fields, int64_t elementBytes) {
  if (fields.chunk)
    return fields.chunk;
  constexpr int64_t lineBytes = 128, chunkRows = 32;
  int64_t extent = fields.block[fields.getAtomNDim()];
  int64_t chunk = std::gcd(extent, fields.swapped ? chunkRows : lineBytes / elementBytes);
  // Blocks that share a tile divide its slices: there should be one for each.
  constexpr int64_t atomStep = 8;
  while (extent / chunk < fields.splitK && chunk % (2 * atomStep) == 0)
    chunk /= 2;
  return chunk;
}

std::pair<int64_t, int64_t> mlir::tcc::getEpilogueSlice(const ScheduleFields &fields,
                                                        int64_t elementBytes) {
  std::array<int64_t, 2> slice = {fields.block[0], fields.block[1]};
  unsigned nDim = fields.getAtomNDim(), mDim = 1 - nDim;
  constexpr int64_t warpRows = 16; // PTX ISA, "Register Fragments for wgmma.mma_async"
  // A warp that has all of the atoms' columns can be cut between any 8.
  bool isCut = fields.warps[nDim] == 1 && fields.epilogue != Epilogue::Shared;
  if (isCut)
    slice[nDim] = getEpilogueChunk(fields, elementBytes);
  if (!isCut || fields.epilogue == Epilogue::Direct)
    slice[mDim] = warpRows * fields.warps[mDim];
  return {slice[0], slice[1]};
}

int64_t mlir::tcc::getShareElements(const ScheduleFields &fields, int64_t elementBytes) {
  auto [rows, columns] = getEpilogueSlice(fields, elementBytes);
  int64_t slices = std::max<int64_t>(1, fields.block[0] * fields.block[1] / (rows * columns));
  return llvm::divideCeil(slices, fields.splitK) * rows * columns;
}

int64_t mlir::tcc::countExchangeParts(ArrayRef<int64_t> bufferBytes, int64_t partBytes) {
  int64_t parts = 0;
  for (int64_t bytes : bufferBytes)
    parts += bytes / partBytes;
  return parts;
}

int64_t mlir::tcc::getColumnParts(const ScheduleFields &fields) {
  return fields.swapped ? 1 : fields.warps[1];
}

/// Bytes of a buffer in the layout that its consumer prefers, up to where the next may start.
static llvm::Expected<int64_t> bufferBytes(int64_t rows, int64_t columns, unsigned contiguous,
                                           unsigned elementBytes, support::SharedConsumer consumer,
                                           int64_t parts = 1) {
  support::SharedTile tile{{rows, columns}, contiguous, elementBytes};
  llvm::Expected<support::LayoutChoice> choice = support::chooseLayout(tile, consumer, parts);
  if (!choice)
    return choice.takeError();
  return llvm::alignTo(support::sizeBytes(tile, choice->layout),
                       support::requiredAlignment(choice->layout));
}

/// Bytes of the buffers that the epilogue goes through, of all consumer groups.
static llvm::Expected<int64_t> stagingBytes(const ScheduleContext &context,
                                            const arch::MmaAtom &atom, ScheduleAttr schedule) {
  if (schedule.getEpilogue() == Epilogue::Direct)
    return 0;
  int64_t total = 0;
  if (schedule.getEpilogue() == Epilogue::Tma) {
    ScheduleFields fields = schedule.getFields();
    auto [rows, columns] = getEpilogueSlice(fields, *llvm::max_element(context.outputBytes));
    for (int64_t bytes : context.outputBytes) {
      llvm::Expected<int64_t> staging =
          bufferBytes(rows, columns, 1, bytes, support::SharedConsumer::BulkStore,
                      getColumnParts(fields));
      if (!staging)
        return staging.takeError();
      total += *staging;
    }
    return total * schedule.getNumGroups();
  }
  auto consumer = schedule.getMma() == MmaFamily::Wmma ? support::SharedConsumer::Wmma
                                                       : support::SharedConsumer::Epilogue;
  int64_t warpgroupWarps = schedule.getMma() == MmaFamily::Wgmma ? 4 : 1;
  llvm::Expected<int64_t> staging = bufferBytes(atom.m * schedule.getWarpsM() / warpgroupWarps,
                                                schedule.getBlockN(), 1, 4, consumer);
  if (!staging)
    return staging.takeError();
  return *staging * schedule.getNumGroups();
}

/// Bytes of a stage of A and of B.
static llvm::Expected<std::pair<int64_t, int64_t>> operandBytes(const ScheduleContext &context,
                                                                ScheduleAttr schedule) {
  auto consumer = support::SharedConsumer::LdMatrix;
  if (schedule.getMma() == MmaFamily::Wmma)
    consumer = support::SharedConsumer::Wmma;
  else if (schedule.getMma() == MmaFamily::Wgmma)
    consumer = support::SharedConsumer::Wgmma;
  llvm::Expected<int64_t> lhs =
      bufferBytes(schedule.getBlockM(), schedule.getBlockK(), context.lhsContiguous, 2, consumer);
  if (!lhs)
    return lhs.takeError();
  llvm::Expected<int64_t> rhs =
      bufferBytes(schedule.getBlockK(), schedule.getBlockN(), context.rhsContiguous, 2, consumer);
  if (!rhs)
    return rhs.takeError();
  return std::pair(*lhs, *rhs);
}

llvm::Expected<SharedBytes> mlir::tcc::predictSharedBytes(const ScheduleContext &context,
                                                          const arch::MmaAtom &atom,
                                                          ScheduleAttr schedule) {
  auto operands = operandBytes(context, schedule);
  if (!operands)
    return operands.takeError();
  SharedBytes bytes{operands->first + operands->second, schedule.getStages(), 0};
  // A full and an empty mbarrier for each stage, of 8 bytes, and one for each group's turn.
  if (schedule.getTransport() == Transport::Tma)
    bytes.other = 16 * schedule.getStages() + 8 * (schedule.getNumGroups() - 1) * 2;
  if (schedule.getSplitK() > 1)
    bytes.other += ClusterReduceOp::kBarrierBytes;
  llvm::Expected<int64_t> staging = stagingBytes(context, atom, schedule);
  if (!staging)
    return staging.takeError();
  bytes.other += *staging;
  return bytes;
}

RegisterCount mlir::tcc::predictRegisters(const arch::MmaAtom &atom, ScheduleAttr schedule) {
  int64_t rows = schedule.getBlockM() / schedule.getWarpsM();
  int64_t columns = schedule.getBlockN() / schedule.getWarpsN();
  // A step of k holds one fragment of each operand: 16-bit elements over 32 lanes.
  int64_t step = (rows + columns) * atom.k / 2 / 32;
  RegisterCount count{rows * columns / 32, 0, 0, 0};
  switch (schedule.getMma()) {
  case MmaFamily::Wmma:
    count.fragments = step;
    count.other = 32;
    break;
  case MmaFamily::MmaSync:
    // The loop loads a step ahead. Measured with warps of 64 x 64: 242 to 254.
    count.fragments = 2 * step;
    count.other = 40;
    break;
  case MmaFamily::Wgmma:
    // Operands stay in shared memory. Narrow loads have pointers and conditions of their own:
    // measured with accumulators of 128, they spill.
    count.other = schedule.getTransport() == Transport::Register ? 104 : 40;
    break;
  }
  if (schedule.getTransport() == Transport::Register)
    count.inFlight =
        llvm::divideCeil((schedule.getBlockM() + schedule.getBlockN()) * schedule.getBlockK() / 2,
                         schedule.getNumThreads());
  return count;
}

/// Registers are handed out to warps in units of 8 a thread.
static int64_t getRegistersPerThread(int64_t available, int64_t threads) {
  constexpr int64_t unit = 8;
  return available / threads / unit * unit;
}

int64_t mlir::tcc::getConsumerRegisters(int64_t consumers, int64_t available) {
  constexpr int64_t threads = 128; // of a warpgroup
  // The pool is what the block got at its start (PTX ISA, setmaxnreg).
  int64_t warpgroups = consumers + 1;
  int64_t pool = getRegistersPerThread(available, warpgroups * threads) * warpgroups * threads;
  return getRegistersPerThread(pool - producerRegisters * threads, consumers * threads);
}

int64_t mlir::tcc::registerLimit(const arch::Chip &chip, ScheduleAttr schedule) {
  const arch::Limits &limits = chip.limits();
  int64_t available = limits.registersPerMultiprocessor;
  if (schedule.movesRegisters())
    return std::min(limits.registersPerThread,
                    getConsumerRegisters(schedule.getNumMmaWarps() / 4, available));
  return std::min(limits.registersPerThread,
                  getRegistersPerThread(available, schedule.getNumThreads()));
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

static llvm::Error checkMultiple(StringRef what, int64_t value, int64_t unit, std::string why) {
  if (value % unit == 0)
    return llvm::Error::success();
  int64_t below = value / unit * unit, above = below + unit;
  std::string nearest = below ? std::string(formatv("{0} and {1} are", below, above))
                              : std::string(formatv("{0} is", above));
  return createStringError(formatv("{0} = {1} isn't a multiple of {2} ({3}); {4} the nearest", what,
                                   value, unit, why, nearest));
}

/// The atom's m runs along M of the tile and its n along N, or the other way round if operands are
/// swapped.
static llvm::Error checkTiles(const arch::MmaAtom &atom, ScheduleAttr schedule) {
  constexpr StringRef names[] = {"M", "N"};
  unsigned nDim = schedule.getAtomNDim(), mDim = 1 - nDim;
  auto split = [&](unsigned extent, int64_t warps, StringRef along) -> std::string {
    return formatv("{0} of {1}, times {2} warps along {3}", extent, atom.str(), warps, along);
  };
  auto check = [&](unsigned dim, int64_t unit, std::string why) {
    return checkMultiple(("block " + names[dim]).str(), schedule.getBlock()[dim], unit,
                         std::move(why));
  };
  int64_t warpsM = schedule.getWarps()[mDim], warpsN = schedule.getWarps()[nDim];
  std::string splitM = split(atom.m, warpsM, names[mDim]);
  if (schedule.getMma() == MmaFamily::Wgmma) {
    if (warpsM % 4)
      return createStringError(
          formatv("wgmma is performed by warpgroups of four warps along {0}{1}; {2} warps aren't a "
                  "multiple of 4",
                  names[mDim], schedule.getSwapped() ? " where operands are swapped" : "", warpsM));
    warpsM /= 4;
    splitM = formatv("{0} of {1}, times {2} warpgroups along {3}", atom.m, atom.str(), warpsM,
                     names[mDim]);
  }
  if (llvm::Error error = check(mDim, atom.m * warpsM, splitM))
    return error;
  if (llvm::Error error =
          check(nDim, atom.nStep * warpsN, split(atom.nStep, warpsN, names[nDim])))
    return error;
  int64_t warpN = schedule.getBlock()[nDim] / warpsN;
  if (schedule.getMma() == MmaFamily::Wgmma && warpN > atom.n)
    return createStringError(
        formatv("a warpgroup multiplies {0} {1}, but one wgmma has at most {2}; use block {3} = "
                "{4}",
                warpN, nDim == 0 ? "rows" : "columns", atom.n, names[nDim], atom.n * warpsN));
  return checkMultiple("block K", schedule.getBlockK(), atom.k, formatv("k of {0}", atom.str()));
}

/// Columns of a B that is contiguous along N lie in blocks as wide as its swizzle: an atom, whose n
/// they are, reads whole ones. Rows of an A that is contiguous along M do if operands are swapped.
static llvm::Error checkColumns(const ScheduleContext &context, ScheduleAttr schedule) {
  unsigned nDim = schedule.getAtomNDim();
  bool isContiguous = nDim == 1 ? context.rhsContiguous == 1 : context.lhsContiguous == 0;
  if (schedule.getMma() != MmaFamily::Wgmma || !isContiguous)
    return llvm::Error::success();
  constexpr unsigned elementBytes = 2;
  support::SharedTile tile{{schedule.getBlockK(), schedule.getBlock()[nDim]}, 1, elementBytes};
  llvm::Expected<support::LayoutChoice> choice =
      support::chooseLayout(tile, support::SharedConsumer::Wgmma);
  if (!choice)
    return choice.takeError();
  int64_t blockColumns = choice->layout.span() / elementBytes;
  int64_t warpN = schedule.getBlock()[nDim] / schedule.getWarps()[nDim];
  if (blockColumns == 0 || warpN % blockColumns == 0)
    return llvm::Error::success();
  if (nDim == 0)
    return createStringError(
        formatv("a warpgroup multiplies {0} rows, but those of A, which is contiguous along M, lie "
                "in blocks of {1}; use warps = [1, {2}]",
                warpN, blockColumns, schedule.getNumTileWarps()));
  return createStringError(formatv(
      "a warpgroup multiplies {0} columns, but those of B, which is contiguous along N, lie "
      "in blocks of {1}; use warps = [{2}, 1], or swapped operands",
      warpN, blockColumns, schedule.getNumTileWarps()));
}

static llvm::Error checkThreads(const arch::Chip &chip, ScheduleAttr schedule) {
  int64_t limit = chip.limits().threadsPerBlock;
  if (schedule.getNumThreads() <= limit)
    return llvm::Error::success();
  return createStringError(formatv("{0} x {1} warps are {2} threads, but {3} allows {4} a block; "
                                   "use {5} warps or fewer",
                                   schedule.getWarpsM(), schedule.getWarpsN(),
                                   schedule.getNumThreads(), chip.name(), limit, limit / 32));
}

static llvm::Error checkTransport(const arch::Chip &chip, ScheduleAttr schedule) {
  if (schedule.getTransport() == Transport::Tma) {
    if (llvm::Error error = chip.require(arch::Feature::Tma))
      return createStringError("transport tma: " + llvm::toString(std::move(error)));
    if (schedule.getMma() != MmaFamily::Wgmma)
      return createStringError("transport tma feeds wgmma; with mma_sync and wmma, use cp_async");
  }
  if (schedule.getTransport() == Transport::CpAsync)
    if (llvm::Error error = chip.require(arch::Feature::CpAsync))
      return createStringError("transport cp_async: " + llvm::toString(std::move(error)) +
                               "; use transport register");
  if (schedule.getTransport() == Transport::Register && schedule.getStages() != 2)
    return createStringError(
        formatv("transport register holds one tile in registers while another is multiplied: "
                "stages is 2, not {0}",
                schedule.getStages()));
  if (schedule.getStages() < 2)
    return createStringError(
        "with one stage nothing is copied while tiles are multiplied; stages is "
        "2 or more");
  return llvm::Error::success();
}

/// What needs a producer, and thus transport tma.
static llvm::Error checkUniform(ScheduleAttr schedule) {
  auto needsTma = [&](StringRef what) {
    return createStringError(formatv("{0} belongs to transport tma; with {1}, {2}", what,
                                     stringifyTransport(schedule.getTransport()), "leave it out"));
  };
  if (schedule.getRoles() != Roles::Uniform)
    return createStringError("warp roles belong to transport tma; with cp_async and register, "
                             "roles is uniform");
  if (schedule.getEpilogue() == Epilogue::Tma)
    return createStringError("epilogue = tma belongs to transport tma; with cp_async and register, "
                             "use epilogue = direct or shared");
  if (schedule.getPersistent())
    return needsTma("persistent");
  if (schedule.getClusterM() * schedule.getClusterN() > 1)
    return needsTma("cluster");
  if (schedule.getPending())
    return needsTma("pending");
  if (schedule.getDependentLaunch())
    return needsTma("dependent_launch");
  if (schedule.getSplitK() > 1)
    return needsTma("split_k");
  if (schedule.getProducerWarps() != 4)
    return needsTma("producer_warps");
  return llvm::Error::success();
}

static llvm::Error checkPingPong(ScheduleAttr schedule) {
  if (!schedule.getPersistent())
    return createStringError("with roles = ping_pong two groups take a block's tiles in turn: use "
                             "persistent = true");
  if (schedule.getNumTileWarps() == 4)
    return llvm::Error::success();
  return createStringError(formatv("with roles = ping_pong each of two warpgroups has a tile of "
                                   "its own: use warps = [{0}], not [{1}, {2}]",
                                   schedule.getSwapped() ? "1, 4" : "4, 1", schedule.getWarpsM(),
                                   schedule.getWarpsN()));
}

static llvm::Error checkTmaEpilogue(const ScheduleContext &context, ScheduleAttr schedule) {
  unsigned nDim = schedule.getAtomNDim();
  StringRef cut = nDim == 1 ? "columns" : "rows", whole = nDim == 1 ? "rows" : "columns";
  bool isSplit = schedule.getWarps()[nDim] != 1;
  if (isSplit && schedule.getChunk())
    return createStringError(
        formatv("with warps = [{0}, {1}], which split the {2}, epilogue = tma stores {3} of all of "
                "them; leave chunk out, or use warps = [{4}]",
                schedule.getWarpsM(), schedule.getWarpsN(), cut, whole,
                nDim == 1 ? formatv("{0}, 1", schedule.getNumTileWarps()).str()
                          : formatv("1, {0}", schedule.getNumTileWarps()).str()));
  if (!schedule.getAlignment().empty() && schedule.getAlignmentOf(Operand::C) < 16)
    return createStringError(formatv("epilogue = tma stores rows that are aligned to 16 bytes, but "
                                     "the schedule's alignment of C is {0}; use epilogue = direct",
                                     schedule.getAlignmentOf(Operand::C)));
  if (!context.hasTmaRows())
    return createStringError(formatv("epilogue = tma stores rows of a multiple of 16 bytes, and N "
                                     "= {0} elements aren't; use epilogue = direct",
                                     context.sizes[1]));
  // What warps have of a split side is a multiple of the atom's step, 8, as it is of the other.
  constexpr int64_t step = 8;
  int64_t chunk = getEpilogueChunk(schedule.getFields(), *llvm::max_element(context.outputBytes));
  if (isSplit || chunk % step == 0)
    return llvm::Error::success();
  return createStringError(formatv(
      "epilogue = tma stores multiples of {0} {1}, as wgmma has them, but a chunk has {2}; use a "
      "chunk that is a multiple of {0} and divides block {3} = {4}, or epilogue = direct",
      step, cut, chunk, nDim == 1 ? "N" : "M", schedule.getBlock()[nDim]));
}

/// Blocks with a tile of an operand in common bring shares of it: boxes, which begin at multiples
/// of 128 bytes (PTX ISA, cp.async.bulk.tensor).
static llvm::Error checkCluster(const ScheduleContext &context, ScheduleAttr schedule) {
  int64_t clusterM = schedule.getClusterM(), clusterN = schedule.getClusterN();
  if (clusterM * clusterN > maxClusterBlocks)
    return createStringError(
        formatv("a cluster has at most {0} blocks, not {1} x {2}", maxClusterBlocks, clusterM,
                clusterN));
  struct Shared {
    StringRef name;
    bool isKMajor;
    int64_t extent, blocks;
  };
  Shared shared[] = {
      {"A", context.lhsContiguous == 1, schedule.getBlockM(), clusterN},
      {"B", context.rhsContiguous == 0, schedule.getBlockN(), clusterM}};
  constexpr int64_t boxAlignment = 128;
  for (const Shared &operand : shared) {
    int64_t lines = operand.isKMajor ? operand.extent : schedule.getBlockK();
    int64_t inner = operand.isKMajor ? schedule.getBlockK() : operand.extent;
    // The widest swizzle that divides a line, as tcc-layout-shared chooses it.
    int64_t span = std::gcd(inner * 2, boxAlignment), unit = boxAlignment / span;
    if (lines % (unit * operand.blocks))
      return createStringError(formatv(
          "{0} blocks of a cluster share {1} lines of {2}, which isn't a multiple of {3}; use a "
          "cluster of {4}",
          operand.blocks, lines, operand.name, unit * operand.blocks,
          std::gcd(lines / unit, operand.blocks)));
  }
  return llvm::Error::success();
}

/// Blocks that divide K are a cluster of their own, and send each other parts of the sum, into the
/// stages' memory.
static llvm::Error checkSplitK(const ScheduleContext &context, ScheduleAttr schedule) {
  int64_t blocks = schedule.getSplitK();
  if (blocks == 1)
    return llvm::Error::success();
  if (blocks > maxClusterBlocks)
    return createStringError(
        formatv("split_k is the number of blocks of a cluster, which has at most {0}, not {1}",
                maxClusterBlocks, blocks));
  if (schedule.getClusterM() * schedule.getClusterN() > 1)
    return createStringError(
        formatv("with split_k = {0} the blocks of a cluster share one tile; leave cluster = [{1}, "
                "{2}] out",
                blocks, schedule.getClusterM(), schedule.getClusterN()));
  if (schedule.getPersistent())
    return createStringError(formatv("split_k = {0} is for tiles fewer than multiprocessors, of "
                                     "which each block has a part of one; leave persistent out",
                                     blocks));
  auto operands = operandBytes(context, schedule);
  if (!operands)
    return operands.takeError();
  int64_t stages = schedule.getStages();
  int64_t partBytes =
      getShareElements(schedule.getFields(), *llvm::max_element(context.outputBytes)) * 4;
  int64_t room =
      countExchangeParts({operands->first * stages, operands->second * stages}, partBytes);
  if (blocks - 1 <= room)
    return llvm::Error::success();
  return createStringError(
      formatv("split_k = {0} brings a block {1} parts of {2} bytes in the memory of its stages, "
              "but {3} stages have room for {4}; use more stages or a smaller block",
              blocks, blocks - 1, partBytes, stages, room));
}

/// Swapped operands are a matter of wgmma, whose m and n have different units.
static llvm::Error checkSwapped(ScheduleAttr schedule) {
  if (!schedule.getSwapped())
    return llvm::Error::success();
  if (schedule.getMma() != MmaFamily::Wgmma)
    return createStringError(formatv("swapped operands belong to wgmma; with {0}, leave it out",
                                     stringifyMmaFamily(schedule.getMma())));
  if (schedule.getEpilogue() == Epilogue::Shared)
    return createStringError("epilogue = shared goes through rows of the tile, which swapped "
                             "operands spread over a warp's registers; use epilogue = tma or "
                             "direct");
  return llvm::Error::success();
}

static llvm::Error checkStructure(const ScheduleContext &context, ScheduleAttr schedule) {
  if (schedule.getMma() == MmaFamily::Wmma && schedule.getEpilogue() != Epilogue::Shared)
    return createStringError("wmma's fragments are opaque (PTX ISA), so that its results go "
                             "through shared memory: use epilogue = shared");
  if (schedule.getChunk() && schedule.getEpilogue() != Epilogue::Tma)
    return createStringError(formatv("chunk belongs to epilogue = tma; with {0}, leave it out",
                                     stringifyEpilogue(schedule.getEpilogue())));
  if (llvm::Error error = checkSwapped(schedule))
    return error;
  if (schedule.getTransport() != Transport::Tma)
    return checkUniform(schedule);
  if (schedule.getRoles() == Roles::Uniform)
    return createStringError("one thread issues what transport tma copies: use roles = "
                             "cooperative or ping_pong");
  if (schedule.getRoles() == Roles::PingPong)
    if (llvm::Error error = checkPingPong(schedule))
      return error;
  if (schedule.getProducerWarps() != 1 && schedule.getProducerWarps() != 4)
    return createStringError(formatv("the producer is one warp, or the 4 of a warpgroup whose "
                                     "registers go to the consumers: producer_warps is 1 or 4, "
                                     "not {0}",
                                     schedule.getProducerWarps()));
  if (schedule.getPending() > 1)
    return createStringError(formatv("a slot is given back at most one slab late: pending is 0 or "
                                     "1, not {0}",
                                     schedule.getPending()));
  if (schedule.getEpilogue() == Epilogue::Tma)
    if (llvm::Error error = checkTmaEpilogue(context, schedule))
      return error;
  if (llvm::Error error = checkSplitK(context, schedule))
    return error;
  return checkCluster(context, schedule);
}

static llvm::Error checkShared(const ScheduleContext &context, const arch::MmaAtom &atom,
                               ScheduleAttr schedule) {
  llvm::Expected<SharedBytes> bytes = predictSharedBytes(context, atom, schedule);
  if (!bytes)
    return bytes.takeError();
  int64_t limit = context.chip->limits().sharedBytesPerBlock;
  if (bytes->total() <= limit)
    return llvm::Error::success();
  return createStringError(formatv("needs {0} bytes of shared memory ({1} stages of {2} bytes, {3} "
                                   "for epilogue and barriers), but "
                                   "{4} allows {5} a block",
                                   bytes->total(), bytes->stages, bytes->perStage, bytes->other,
                                   context.chip->name(), limit));
}

static llvm::Error checkRegisters(const arch::Chip &chip, const arch::MmaAtom &atom,
                                  ScheduleAttr schedule) {
  RegisterCount count = predictRegisters(atom, schedule);
  int64_t limit = registerLimit(chip, schedule);
  if (count.total() <= limit)
    return llvm::Error::success();
  return createStringError(formatv(
      "needs about {0} registers a thread ({1} accumulators, {2} of operands, {3} in flight, {4} "
      "others), but {5} allows {6} with {7} threads",
      count.total(), count.accumulators, count.fragments, count.inFlight, count.other, chip.name(),
      limit, schedule.getNumThreads()));
}

llvm::Error mlir::tcc::checkSchedule(const ScheduleContext &context, ScheduleAttr schedule) {
  llvm::Expected<const arch::MmaAtom *> atom = findAtom(context, schedule.getMma());
  if (!atom)
    return atom.takeError();
  if (llvm::Error error = checkThreads(*context.chip, schedule))
    return error;
  if (llvm::Error error = checkTransport(*context.chip, schedule))
    return error;
  if (llvm::Error error = checkStructure(context, schedule))
    return error;
  if (llvm::Error error = checkTiles(**atom, schedule))
    return error;
  if (llvm::Error error = checkColumns(context, schedule))
    return error;
  if (llvm::Error error = checkShared(context, **atom, schedule))
    return error;
  return checkRegisters(*context.chip, **atom, schedule);
}

bool mlir::tcc::isLegal(const ScheduleContext &context, ScheduleAttr schedule) {
  llvm::Error error = checkSchedule(context, schedule);
  bool legal = !error;
  llvm::consumeError(std::move(error));
  return legal;
}
