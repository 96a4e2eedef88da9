//===- ScheduleLegality.cpp - What a chip can hold of a schedule ----------===//

#include "ScheduleLegality.h"

#include "Target.h"
#include "tcc/Support/SharedLayout.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

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

/// Bytes of a buffer in the layout that its consumer prefers, up to where the next may start.
static llvm::Expected<int64_t> bufferBytes(int64_t rows, int64_t columns, unsigned contiguous,
                                           unsigned elementBytes,
                                           support::SharedConsumer consumer) {
  support::SharedTile tile{{rows, columns}, contiguous, elementBytes};
  llvm::Expected<support::LayoutChoice> choice = support::chooseLayout(tile, consumer);
  if (!choice)
    return choice.takeError();
  return llvm::alignTo(support::sizeBytes(tile, choice->layout),
                       support::requiredAlignment(choice->layout));
}

llvm::Expected<SharedBytes> mlir::tcc::predictSharedBytes(const ScheduleContext &context,
                                                          const arch::MmaAtom &atom,
                                                          ScheduleAttr schedule) {
  bool isWmma = schedule.getMma() == MmaFamily::Wmma;
  auto consumer = isWmma                                  ? support::SharedConsumer::Wmma
                  : schedule.getMma() == MmaFamily::Wgmma ? support::SharedConsumer::Wgmma
                                                          : support::SharedConsumer::LdMatrix;
  llvm::Expected<int64_t> lhs =
      bufferBytes(schedule.getBlockM(), schedule.getBlockK(), context.lhsContiguous, 2, consumer);
  if (!lhs)
    return lhs.takeError();
  llvm::Expected<int64_t> rhs =
      bufferBytes(schedule.getBlockK(), schedule.getBlockN(), context.rhsContiguous, 2, consumer);
  if (!rhs)
    return rhs.takeError();
  SharedBytes bytes{*lhs + *rhs, schedule.getStages(), 0};
  // A full and an empty mbarrier for each stage, of 8 bytes.
  if (schedule.getTransport() == Transport::Tma)
    bytes.other = 16 * schedule.getStages();
  if (schedule.getEpilogue() != Epilogue::Direct) {
    auto staging = isWmma ? support::SharedConsumer::Wmma : support::SharedConsumer::Epilogue;
    llvm::Expected<int64_t> epilogue =
        bufferBytes(atom.m * schedule.getWarpsM(), schedule.getBlockN(), 1, 4, staging);
    if (!epilogue)
      return epilogue.takeError();
    bytes.other += *epilogue;
  }
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
    count.other = 40; // operands stay in shared memory
    break;
  }
  if (schedule.getTransport() == Transport::Register)
    count.inFlight =
        llvm::divideCeil((schedule.getBlockM() + schedule.getBlockN()) * schedule.getBlockK() / 2,
                         schedule.getNumThreads());
  return count;
}

int64_t mlir::tcc::registerLimit(const arch::Chip &chip, ScheduleAttr schedule) {
  const arch::Limits &limits = chip.limits();
  int64_t threads = schedule.getNumThreads(), available = limits.registersPerMultiprocessor;
  if (schedule.getRoles() != Roles::Uniform && schedule.getNumMmaWarps() > 4) {
    // The producer's warpgroup gives its registers, all but 40, to the consumers (setmaxnreg).
    threads = schedule.getNumMmaWarps() * 32;
    available -= 128 * 40;
  }
  // Registers are handed out to warps in units of 8 a thread.
  return std::min(limits.registersPerThread, available / threads / 8 * 8);
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

static llvm::Error checkTiles(const arch::MmaAtom &atom, ScheduleAttr schedule) {
  auto split = [&](unsigned extent, int64_t warps, StringRef along) -> std::string {
    return formatv("{0} of {1}, times {2} warps along {3}", extent, atom.str(), warps, along);
  };
  int64_t warpsM = schedule.getWarpsM();
  std::string splitM = split(atom.m, warpsM, "M");
  if (schedule.getMma() == MmaFamily::Wgmma) {
    if (warpsM % 4)
      return createStringError(
          formatv("wgmma is performed by warpgroups of four warps along M; {0} "
                  "warps aren't a multiple of 4",
                  warpsM));
    warpsM /= 4;
    splitM = formatv("{0} of {1}, times {2} warpgroups along M", atom.m, atom.str(), warpsM);
  }
  if (llvm::Error error = checkMultiple("block M", schedule.getBlockM(), atom.m * warpsM, splitM))
    return error;
  if (llvm::Error error =
          checkMultiple("block N", schedule.getBlockN(), atom.nStep * schedule.getWarpsN(),
                        split(atom.nStep, schedule.getWarpsN(), "N")))
    return error;
  int64_t warpN = schedule.getBlockN() / schedule.getWarpsN();
  if (schedule.getMma() == MmaFamily::Wgmma && warpN > atom.n)
    return createStringError(
        formatv("a warpgroup multiplies {0} columns, but one wgmma has at most "
                "{1}; use block N = {2}",
                warpN, atom.n, atom.n * schedule.getWarpsN()));
  return checkMultiple("block K", schedule.getBlockK(), atom.k, formatv("k of {0}", atom.str()));
}

static ScheduleAttr withTiles(ScheduleAttr schedule, ArrayRef<int64_t> block,
                              ArrayRef<int64_t> warps) {
  return ScheduleAttr::get(schedule.getContext(), block, warps, schedule.getMma(),
                           schedule.getTransport(), schedule.getStages(), schedule.getEpilogue(),
                           schedule.getRoles(), schedule.getAlignment(), schedule.getRaster(),
                           schedule.getPersistent(), schedule.getCluster());
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

static llvm::Error checkStructure(const arch::MmaAtom &atom, ScheduleAttr schedule) {
  if (schedule.getMma() == MmaFamily::Wmma && schedule.getEpilogue() != Epilogue::Shared)
    return createStringError("wmma's fragments are opaque (PTX ISA), so that its results go "
                             "through shared memory: use epilogue = shared");
  if (schedule.getEpilogue() == Epilogue::Tma)
    return createStringError("this build doesn't store by TMA; use epilogue = direct or shared");
  if (schedule.getPersistent())
    return createStringError("this build computes one tile in each block; leave persistent out");
  if (llvm::any_of(schedule.getCluster(), [](int64_t blocks) { return blocks != 1; }))
    return createStringError("this build has no clusters; leave cluster out");
  if (schedule.getTransport() != Transport::Tma) {
    if (schedule.getRoles() != Roles::Uniform)
      return createStringError("warp roles belong to transport tma; with cp_async and register, "
                               "roles is uniform");
    return llvm::Error::success();
  }
  if (schedule.getRoles() != Roles::Cooperative)
    return createStringError(
        "one thread issues what transport tma copies: use roles = cooperative");
  if (schedule.getEpilogue() != Epilogue::Direct)
    return createStringError("with roles = cooperative, use epilogue = direct");
  return llvm::Error::success();
}

/// The nearest schedule whose buffers fit: fewer stages first, then smaller blocks.
static std::string suggestShared(const ScheduleContext &context, const arch::MmaAtom &atom,
                                 ScheduleAttr schedule, const SharedBytes &bytes) {
  int64_t limit = context.chip->limits().sharedBytesPerBlock;
  int64_t stages = (limit - bytes.other) / bytes.perStage;
  if (stages >= 2)
    return formatv("stages = {0} fits", stages);
  int64_t m = schedule.getBlockM(), n = schedule.getBlockN(), k = schedule.getBlockK();
  constexpr std::array<int64_t, 3> divisors[] = {{1, 1, 2}, {1, 2, 1}, {2, 1, 1}, {1, 2, 2},
                                                 {2, 2, 1}, {2, 2, 2}, {2, 4, 2}, {4, 4, 2}};
  for (auto [lessM, lessN, lessK] : divisors) {
    ScheduleAttr candidate =
        withTiles(schedule, {m / lessM, n / lessN, k / lessK}, schedule.getWarps());
    if (llvm::Error error = checkTiles(atom, candidate)) {
      llvm::consumeError(std::move(error));
      continue;
    }
    llvm::Expected<SharedBytes> smaller = predictSharedBytes(context, atom, candidate);
    if (!smaller)
      llvm::consumeError(smaller.takeError());
    else if (smaller->total() <= limit)
      return formatv("block = [{0}, {1}, {2}] fits", m / lessM, n / lessN, k / lessK);
  }
  return "use a smaller block and fewer stages";
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
                                   "{4} allows {5} a block; {6}",
                                   bytes->total(), bytes->stages, bytes->perStage, bytes->other,
                                   context.chip->name(), limit,
                                   suggestShared(context, atom, schedule, *bytes)));
}

/// The nearest schedule whose registers fit: more warps first, then smaller blocks.
static std::string suggestRegisters(const arch::Chip &chip, const arch::MmaAtom &atom,
                                    ScheduleAttr schedule) {
  auto fits = [&](ScheduleAttr candidate) {
    if (llvm::Error error = checkTiles(atom, candidate)) {
      llvm::consumeError(std::move(error));
      return false;
    }
    return candidate.getNumThreads() <= chip.limits().threadsPerBlock &&
           predictRegisters(atom, candidate).total() <= registerLimit(chip, candidate);
  };
  int64_t m = schedule.getBlockM(), n = schedule.getBlockN(), k = schedule.getBlockK();
  int64_t warpsM = schedule.getWarpsM(), warpsN = schedule.getWarpsN();
  for (auto [moreM, moreN] : {std::pair(1, 2), {2, 1}, {2, 2}})
    if (fits(withTiles(schedule, {m, n, k}, {warpsM * moreM, warpsN * moreN})))
      return formatv("warps = [{0}, {1}] fits", warpsM * moreM, warpsN * moreN);
  for (auto [lessM, lessN] : {std::pair(1, 2), {2, 1}, {2, 2}, {2, 4}, {4, 2}, {4, 4}})
    if (fits(withTiles(schedule, {m / lessM, n / lessN, k}, {warpsM, warpsN})))
      return formatv("block = [{0}, {1}, {2}] fits", m / lessM, n / lessN, k);
  return "use a smaller block";
}

static llvm::Error checkRegisters(const arch::Chip &chip, const arch::MmaAtom &atom,
                                  ScheduleAttr schedule) {
  RegisterCount count = predictRegisters(atom, schedule);
  int64_t limit = registerLimit(chip, schedule);
  if (count.total() <= limit)
    return llvm::Error::success();
  return createStringError(formatv(
      "needs about {0} registers a thread ({1} accumulators, {2} of operands, {3} in flight, {4} "
      "others), but {5} allows {6} with {7} threads; {8}",
      count.total(), count.accumulators, count.fragments, count.inFlight, count.other, chip.name(),
      limit, schedule.getNumThreads(), suggestRegisters(chip, atom, schedule)));
}

llvm::Error mlir::tcc::checkSchedule(const ScheduleContext &context, ScheduleAttr schedule) {
  llvm::Expected<const arch::MmaAtom *> atom = findAtom(context, schedule.getMma());
  if (!atom)
    return atom.takeError();
  if (llvm::Error error = checkThreads(*context.chip, schedule))
    return error;
  if (llvm::Error error = checkTransport(*context.chip, schedule))
    return error;
  if (llvm::Error error = checkStructure(**atom, schedule))
    return error;
  if (llvm::Error error = checkTiles(**atom, schedule))
    return error;
  if (llvm::Error error = checkShared(context, **atom, schedule))
    return error;
  return checkRegisters(*context.chip, **atom, schedule);
}
