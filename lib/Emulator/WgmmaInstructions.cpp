//===- WgmmaInstructions.cpp - wgmma.mma_async and its groups -------------===//
//
// PTX ISA "Asynchronous warpgroup level matrix instructions". Each warp computes the 16 rows of D
// that it holds; what the four warps of a warpgroup must have in common is compared in a log.
//
//===----------------------------------------------------------------------===//

#include "FloatDecode.h"
#include "Machine.h"
#include "MatrixProduct.h"
#include "WgmmaOperand.h"
#include "WgmmaState.h"

#include "llvm/Support/FormatVariadic.h"

using namespace tcc::emulator;
using llvm::formatv;

namespace {

constexpr unsigned WarpRows = 16;
/// Every wgmma reads 32 bytes of K: two chunks of a row.
constexpr unsigned DepthBytes = 32;
constexpr unsigned ChunkBytes = 16;

//===----------------------------------------------------------------------===//
// What an instruction computes. aux: N, Flags.
//===----------------------------------------------------------------------===//

enum Flags : uint32_t {
  RegisterA = 1,
  NegateA = 2,
  NegateB = 4,
  TransposeA = 8,
  TransposeB = 16,
  Saturate = 32
};

MatrixType typeA(const Instruction &inst) { return *matrixType(inst.types[1]); }
MatrixType typeB(const Instruction &inst) { return *matrixType(inst.types[2]); }
bool isFloatProduct(const Instruction &inst) { return inst.types[0] != Type::S32; }

MatrixProduct productOf(const Instruction &inst) {
  MatrixProduct product;
  product.m = WarpRows;
  product.n = inst.aux[0];
  product.a = typeA(inst);
  product.b = typeB(inst);
  product.k = DepthBytes * 8 / bitWidth(product.a);
  product.c = product.d = inst.types[0];
  bool isHalf = product.d == Type::F16;
  product.rule.result = isHalf ? BlockResult::F16 : BlockResult::F32;
  if (isFloat8(product.a)) {
    product.rule.fractionBits = 13;
    product.rule.result = isHalf ? BlockResult::F16 : BlockResult::E8M13;
  }
  product.negateA = inst.aux[1] & NegateA;
  product.negateB = inst.aux[1] & NegateB;
  product.saturate = inst.aux[1] & Saturate;
  return product;
}

/// Elements of the matrix in a chunk; b1 counts in words.
unsigned elementWidth(MatrixType type) { return type == MatrixType::B1 ? 32 : bitWidth(type); }

const FragmentMap &accumulatorMap(unsigned n) {
  static const std::vector<FragmentMap> maps = [] {
    std::vector<FragmentMap> list(33);
    for (unsigned i = 1; i < list.size(); ++i)
      list[i] = FragmentMap(mmaLayoutC(WarpRows, 8 * i));
    return list;
  }();
  return maps[n / 8];
}

const FragmentMap &registerMapA(unsigned width) {
  static const FragmentMap bytes(mmaLayoutA(WarpRows, 32, 4)), halves(mmaLayoutA(WarpRows, 16, 2)),
      words(mmaLayoutA(WarpRows, 8, 1));
  return width == 8 ? bytes : width == 16 ? halves : words;
}

WgmmaState &stateOf(Warp &warp) {
  std::unique_ptr<WgmmaState> &state = warp.execution().wgmma;
  if (!state)
    state = std::make_unique<WgmmaState>(warp.machine().program().rowCount,
                                         warp.cta().cluster().sync.addAgent());
  return *state;
}

//===----------------------------------------------------------------------===//
// Operands in shared memory
//===----------------------------------------------------------------------===//

/// Calls `visit(address, first element, elements are rows)` for each 16-byte chunk of an operand.
template <typename Visit>
void forEachChunk(const WgmmaOperand &operand, unsigned firstRow, unsigned rows, unsigned depth,
                  Visit visit) {
  if (operand.isMNMajor()) {
    for (unsigned group = firstRow / 8; group < (firstRow + rows) / 8; ++group)
      for (unsigned k = 0; k < depth; ++k)
        visit(operand.chunkOfGroup(group, k), group * 8 - firstRow, k);
    return;
  }
  for (unsigned row = firstRow; row < firstRow + rows; ++row)
    for (unsigned part = 0; part < DepthBytes / ChunkBytes; ++part)
      visit(operand.chunkOfRow(row, part), row - firstRow, part * (depth / 2));
}

/// Reads rows of an operand, N x K or 16 x K, into the low bits of words.
void readOperand(SharedMemory &shared, const WgmmaOperand &operand, MatrixType type,
                 unsigned firstRow, unsigned rows, llvm::MutableArrayRef<uint32_t> matrix) {
  unsigned width = elementWidth(type), depth = DepthBytes * 8 / width;
  unsigned perChunk = ChunkBytes * 8 / width;
  size_t step = operand.isMNMajor() ? depth : 1;
  forEachChunk(operand, firstRow, rows, depth, [&](uint64_t address, unsigned row, unsigned k) {
    const uint8_t *bytes = shared.data(address);
    uint32_t *out = &matrix[size_t(row) * depth + k];
    for (unsigned i = 0; i < perChunk; ++i, out += step) {
      uint32_t element = 0;
      std::memcpy(&element, bytes + i * width / 8, width / 8);
      *out = element;
    }
  });
}

/// Bounds, races and proxy fences of the bytes that a wgmma will read. False after a fault.
bool noteOperand(Warp &warp, const Instruction &inst, const WgmmaOperand &operand, char name,
                 unsigned firstRow, unsigned rows) {
  SharedMemory &shared = warp.cta().shared();
  WgmmaState &state = stateOf(warp);
  SharedAccess access;
  access.agent = warp.execution().agent;
  // Whoever overwrites the bytes must have heard of a wait for this wgmma.
  access.record = shared.sync().record(
      AccessRecord{state.agent, uint32_t(state.executed + 1), inst.index, AccessRecord::Async});
  bool ok = true;
  std::optional<SharedConflict> conflict;
  unsigned depth = DepthBytes * 8 / elementWidth(typeA(inst));
  forEachChunk(operand, firstRow, rows, depth, [&](uint64_t address, unsigned, unsigned) {
    if (!ok)
      return;
    if (!shared.contains(address, ChunkBytes)) {
      warp.fault(FindingKind::OutOfBounds, inst, 0,
                 formatv("matrix {0}'s descriptor reaches shared address {1:x}: the block's shared "
                         "memory is [{2:x}, {3:x})",
                         name, address, kSharedBase, shared.sizeEnd())
                     .str());
      ok = false;
      return;
    }
    std::optional<SharedConflict> found = shared.noteRead(address, ChunkBytes, access);
    if (found && !conflict)
      conflict = found;
  });
  if (conflict)
    warp.reportConflict(inst, 0, *conflict, /*isRead=*/true);
  return ok;
}

//===----------------------------------------------------------------------===//
// Issue and completion
//===----------------------------------------------------------------------===//

/// The value of an operand that must be the same in all lanes.
uint64_t uniformValue(Warp &warp, const Instruction &inst, const Operand &operand,
                      llvm::StringRef name) {
  const Row &row = warp.read(operand);
  for (unsigned lane : warp.lanes()) {
    if (row[lane] != row[0]) {
      warp.report(FindingKind::Unspecified, inst, lane,
                  name + " must be the same in all lanes, lane 0 has 0x" +
                      llvm::Twine::utohexstr(row[0]) + ", lane " + llvm::Twine(lane) + " 0x" +
                      llvm::Twine::utohexstr(row[lane]));
      break;
    }
  }
  return row[0];
}

bool checkMachine(Warp &warp, const Instruction &inst) {
  // The feature set of sm_90a alone has wgmma: it isn't carried on to later generations.
  if (!warp.machine().chip().archSpecific || warp.chip() != 90) {
    warp.fault(FindingKind::Unsupported, inst, 0,
               "wgmma needs sm_90a, the emulated chip is " + warp.machine().chip().name);
    return false;
  }
  uint32_t warps = warp.machine().shape().warpsPerCta;
  if (warp.index() / kWarpgroupWarps >= warps / kWarpgroupWarps) {
    warp.fault(FindingKind::Divergence, inst, 0,
               formatv("a warpgroup is four warps from a multiple of four: warp {0} of {1} has no "
                       "whole warpgroup",
                       warp.index(), warps)
                   .str());
    return false;
  }
  return true;
}

/// Remembers what is over when the wgmma that is being issued is.
void noteBefore(Warp &warp, WgmmaState &state, bool registerA) {
  const Execution &exec = warp.execution();
  WgmmaState::Before before = state.before.empty() ? WgmmaState::Before() : state.before.back();
  before.parityWaits = exec.parityWaits;
  if (registerA) {
    VectorClock &happened = warp.cta().cluster().sync.clocks(exec.agent).happened;
    before.loads = happened[exec.agent];
    happened.raise(exec.agent, before.loads + 1);
  }
  state.before.push_back(before);
}

void issue(Warp &warp, const Instruction &inst) {
  if (!checkMachine(warp, inst))
    return;
  WgmmaState &state = stateOf(warp);
  PendingWgmma wgmma;
  wgmma.instruction = &inst;
  uint32_t scale = warp.readPredicate(inst.operands[3]);
  if (scale != 0 && scale != ~0u)
    warp.report(FindingKind::Unspecified, inst, llvm::countr_one(scale),
                "scale-d must be the same in all lanes");
  wgmma.scaleD = scale & 1;

  unsigned firstRow = warp.index() % kWarpgroupWarps * WarpRows;
  bool registerA = inst.aux[1] & RegisterA;
  if (!registerA) {
    wgmma.descriptorA = uniformValue(warp, inst, inst.operands[1], "the descriptor of A");
    WgmmaOperand a(wgmma.descriptorA, inst.aux[1] & TransposeA);
    if (!a.isWellFormed())
      warp.report(FindingKind::Unspecified, inst, 0,
                  "reserved bits of A's descriptor are set: 0x" +
                      llvm::Twine::utohexstr(wgmma.descriptorA));
    if (!noteOperand(warp, inst, a, 'A', firstRow, WarpRows))
      return;
  }
  wgmma.descriptorB = uniformValue(warp, inst, inst.operands[2], "the descriptor of B");
  WgmmaOperand b(wgmma.descriptorB, inst.aux[1] & TransposeB);
  if (!b.isWellFormed())
    warp.report(FindingKind::Unspecified, inst, 0,
                "reserved bits of B's descriptor are set: 0x" +
                    llvm::Twine::utohexstr(wgmma.descriptorB));
  if (!noteOperand(warp, inst, b, 'B', 0, inst.aux[0]))
    return;

  if (registerA)
    state.claimRegisters(warp, inst, 1, /*isRead=*/false);
  state.claimRegisters(warp, inst, 0, wgmma.scaleD);
  logInWarpgroup(warp, wgmma, state.executed);
  ++state.executed;
  warp.countMmaFlops(inst, productOf(inst).flops());
  noteBefore(warp, state, registerA);
  state.pending.push_back(wgmma);
  warp.machine().noteProgress();
}

void perform(Warp &warp, const PendingWgmma &wgmma) {
  const Instruction &inst = *wgmma.instruction;
  MatrixProduct product = productOf(inst);
  SharedMemory &shared = warp.cta().shared();
  unsigned width = elementWidth(product.a), depth = DepthBytes * 8 / width;
  // Kept between calls: 256 columns of 32 elements are too much for the stack of a handler.
  static thread_local std::vector<uint32_t> a, b, c, d;
  a.resize(WarpRows * depth);
  b.resize(product.n * depth);
  c.resize(WarpRows * product.n);
  d.resize(WarpRows * product.n);
  if (inst.aux[1] & RegisterA)
    gather(warp, Warp::elements(inst.operands[1]), registerMapA(width), width, a);
  else
    readOperand(shared, WgmmaOperand(wgmma.descriptorA, inst.aux[1] & TransposeA), product.a,
                warp.index() % kWarpgroupWarps * WarpRows, WarpRows, a);
  readOperand(shared, WgmmaOperand(wgmma.descriptorB, inst.aux[1] & TransposeB), product.b, 0,
              product.n, b);
  const FragmentMap &map = accumulatorMap(product.n);
  unsigned accumulatorWidth = bitWidth(product.d);
  llvm::ArrayRef<Operand> registers = Warp::elements(inst.operands[0]);
  if (wgmma.scaleD)
    gather(warp, registers, map, accumulatorWidth, c);
  multiply(product, a, b, wgmma.scaleD ? llvm::ArrayRef<uint32_t>(c) : llvm::ArrayRef<uint32_t>(),
           d);
  scatter(warp, registers, map, accumulatorWidth, d);
  for (const Operand &element : registers)
    if (element.isRegister())
      warp.setDefined(element.slot, ~0u);
}

//===----------------------------------------------------------------------===//
// Fence and groups
//===----------------------------------------------------------------------===//

void fence(Warp &warp, const Instruction &inst) {
  if (!checkMachine(warp, inst))
    return;
  std::vector<uint8_t> &touched = stateOf(warp).touched;
  std::fill(touched.begin(), touched.end(), 0);
}

void commitGroup(Warp &warp, const Instruction &inst) {
  if (!checkMachine(warp, inst))
    return;
  WgmmaState &state = stateOf(warp);
  state.groupEnds.push_back(state.executed);
}

/// A wgmma is one operation of four warps: it completes, and has read its operands, for all of
/// them together, so that one warp's wait is enough to reuse the operands' shared memory.
void waitGroup(Warp &warp, const Instruction &inst) {
  if (!checkMachine(warp, inst))
    return;
  uint64_t allowed = uint64_t(inst.operands[0].immediate);
  WgmmaState &state = stateOf(warp);
  if (allowed >= state.groupEnds.size())
    return;
  uint64_t finished = state.groupEnds[state.groupEnds.size() - 1 - allowed];
  auto &warps = warp.cta().warps();
  auto group = llvm::ArrayRef(warps).slice(warp.index() / kWarpgroupWarps * kWarpgroupWarps,
                                           kWarpgroupWarps);
  for (const std::unique_ptr<Warp> &other : group) {
    const WgmmaState *theirs = other->execution().wgmma.get();
    if (theirs && theirs->executed >= finished)
      continue;
    // The others have not issued it yet: try again later.
    Execution &exec = warp.execution();
    exec.current->wait = {Wait::Kind::Dependency, inst.index, 0, 0};
    exec.next = inst.index;
    exec.endsTurn = true;
    return;
  }
  warp.execution().current->wait = {};
  SyncDomain &sync = warp.cta().cluster().sync;
  for (const std::unique_ptr<Warp> &other : group) {
    WgmmaState &theirs = *other->execution().wgmma;
    while (theirs.performed < finished) {
      perform(*other, theirs.pending.front());
      theirs.pending.pop_front();
      ++theirs.performed;
    }
    Clocks &clocks = sync.clocks(warp.execution().agent);
    clocks.happened.raise(theirs.agent, uint32_t(finished));
    if (!finished)
      continue;
    const WgmmaState::Before &before = theirs.before[finished - 1];
    clocks.executed.raise(other->execution().agent, before.loads);
    if (before.parityWaits)
      clocks.executed.raise(other->execution().waitAgent, before.parityWaits);
  }
  state.waitedFor = std::max(state.waitedFor, finished);
}

//===----------------------------------------------------------------------===//
// Decoding
//===----------------------------------------------------------------------===//

/// N and K of "m64nNkK"; zero where it is something else.
std::pair<unsigned, unsigned> parseShape(llvm::StringRef text) {
  unsigned n = 0, k = 0;
  if (!text.consume_front("m64n") || text.consumeInteger(10, n) || !text.consume_front("k") ||
      text.consumeInteger(10, k) || !text.empty())
    return {0, 0};
  return {n, k};
}

bool isValidN(unsigned n, bool isInteger) {
  if (n == 0 || n > 256 || n % 8 != 0)
    return false;
  return !isInteger || n == 8 || n == 24 || n % 16 == 0;
}

bool typesGoTogether(Type d, MatrixType a, MatrixType b) {
  switch (a) {
  case MatrixType::F16:
    return b == a && (d == Type::F16 || d == Type::F32);
  case MatrixType::BF16:
  case MatrixType::TF32:
    return b == a && d == Type::F32;
  case MatrixType::E4M3:
  case MatrixType::E5M2:
    return isFloat8(b) && (d == Type::F16 || d == Type::F32);
  case MatrixType::S8:
  case MatrixType::U8:
    return (b == MatrixType::S8 || b == MatrixType::U8) && d == Type::S32;
  case MatrixType::B1:
    return b == a && d == Type::S32;
  default:
    return false;
  }
}

/// The immediates after scale-d: scale-a, scale-b (1 or -1), then the transposes (0 or 1).
llvm::Error decodeImmediates(const Modifiers &modifiers, Instruction &inst) {
  bool registerA = inst.aux[1] & RegisterA;
  bool hasTransposes = typeA(inst) == MatrixType::F16 || typeA(inst) == MatrixType::BF16;
  size_t expected = !isFloatProduct(inst) ? 4 : !hasTransposes ? 6 : registerA ? 7 : 8;
  if (llvm::Error error = checkOperandCount(modifiers, inst, expected, expected))
    return error;
  for (size_t i = 4; i < expected; ++i) {
    const Operand &operand = inst.operands[i];
    bool isScale = i < 6;
    int32_t value = int32_t(operand.immediate);
    if (!operand.isImmediate() || (isScale ? value != 1 && value != -1 : value != 0 && value != 1))
      return modifiers.error(isScale ? "imm-scale-a and imm-scale-b are 1 or -1"
                                     : "imm-trans-a and imm-trans-b are 0 or 1");
    if (isScale && value == -1)
      inst.aux[1] |= i == 4 ? NegateA : NegateB;
    if (!isScale && value == 1)
      inst.aux[1] |= i == 6 && !registerA ? TransposeA : TransposeB;
  }
  return llvm::Error::success();
}

llvm::Error decodeMultiply(const Modifiers &modifiers, Instruction &inst) {
  inst.convergence = Convergence::FullWarp;
  inst.managesDefinedness = true;
  llvm::ArrayRef<llvm::StringRef> parts = modifiers.all();
  if (parts.size() < 6 || parts[0] != "sync" || parts[1] != "aligned" || inst.types.size() != 3 ||
      inst.operands.size() < 4)
    return modifiers.error("expected .sync.aligned, a shape m64nNkK, the types of d, a, b, and at "
                           "least the operands d, a, b, scale-d");
  auto [n, k] = parseShape(parts[2]);
  std::optional<MatrixType> a = matrixType(inst.types[1]), b = matrixType(inst.types[2]);
  if (!a || !b || !typesGoTogether(inst.types[0], *a, *b))
    return modifiers.error("no wgmma has these types: d is f32 (or f16) for f16, e4m3, e5m2, f32 "
                           "for bf16, tf32, and s32 for s8, u8, b1");
  unsigned depth = DepthBytes * 8 / bitWidth(*a);
  if (!isValidN(n, inst.types[0] == Type::S32) || k != depth)
    return modifiers.error("the shape must be m64nNk" + llvm::Twine(depth) +
                           " with N a multiple of 8 up to 256 (integers: 8, 24, and multiples of "
                           "16)");
  inst.aux[0] = n;
  inst.aux[1] = modifiers.has("satfinite") * Saturate | inst.operands[1].isVector() * RegisterA;
  unsigned registersD = bitWidth(inst.types[0]) == 16 ? n / 4 : n / 2;
  if (llvm::Error error = checkRegisters(modifiers, inst.operands[0], "d", registersD))
    return error;
  if (inst.aux[1] & RegisterA)
    if (llvm::Error error = checkRegisters(modifiers, inst.operands[1], "a", 4))
      return error;
  inst.handler = issue;
  return decodeImmediates(modifiers, inst);
}

llvm::Error decodeFence(const Modifiers &modifiers, Instruction &inst) {
  inst.convergence = Convergence::FullWarp;
  inst.destinations = 0;
  inst.handler = fence;
  return checkOperandCount(modifiers, inst, 0, 0);
}

llvm::Error decodeCommit(const Modifiers &modifiers, Instruction &inst) {
  inst.convergence = Convergence::FullWarp;
  inst.destinations = 0;
  inst.handler = commitGroup;
  return checkOperandCount(modifiers, inst, 0, 0);
}

llvm::Error decodeWait(const Modifiers &modifiers, Instruction &inst) {
  inst.convergence = Convergence::FullWarp;
  inst.destinations = 0;
  inst.handler = waitGroup;
  if (inst.operands.size() != 1 || !inst.operands[0].isImmediate())
    return modifiers.error("expected the number of groups that may stay unfinished");
  return llvm::Error::success();
}

} // namespace

bool tcc::emulator::isWgmmaMultiply(const Instruction &inst) { return inst.handler == issue; }

void tcc::emulator::registerWgmmaInstructions(InstructionTable &table) {
  table.add("wgmma.mma_async", decodeMultiply);
  table.add("wgmma.fence", decodeFence);
  table.add("wgmma.commit_group", decodeCommit);
  table.add("wgmma.wait_group", decodeWait);
}
