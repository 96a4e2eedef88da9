//===- SelectTarget.cpp - A chip, a schedule and variants for each kernel -===//

#include "Kernel.h"
#include "NearestSchedule.h"
#include "Problem.h"
#include "ScheduleCost.h"
#include "ScheduleHeuristic.h"
#include "SelectTargetVariants.h"
#include "UnusedChoices.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "tcc/Dialect/Tcc/IR/TccDialect.h"
#include "tcc/Dialect/Tcc/Transforms/Passes.h"
#include "tcc/Dialect/Tcc/Transforms/RemarkCategories.h"
#include "llvm/Support/FormatVariadic.h"

namespace mlir::tcc {
#define GEN_PASS_DEF_SELECTTARGETPASS
#include "tcc/Dialect/Tcc/Transforms/Passes.h.inc"
} // namespace mlir::tcc

using namespace mlir;
using namespace mlir::tcc;
namespace arch = ::tcc::arch;

//===----------------------------------------------------------------------===//
// The signature: memrefs only
//===----------------------------------------------------------------------===//

/// The argument whose memref a result may be written to: the one at the start of its chain of
/// destinations (outs), if it has the result's type and no other result took it.
static BlockArgument destinationArgument(OpResult result, ArrayRef<Value> taken) {
  Value value = result;
  while (auto op = value.getDefiningOp<DestinationStyleOpInterface>())
    value = op.getTiedOpOperand(cast<OpResult>(value))->get();
  auto toTensor = value.getDefiningOp<bufferization::ToTensorOp>();
  if (!toTensor || value.getType() != result.getType() ||
      llvm::is_contained(taken, toTensor.getBuffer()))
    return {};
  return dyn_cast<BlockArgument>(toTensor.getBuffer());
}

/// Turns tensors in the signature into row-major memrefs. A result is written to the argument that
/// is its destination, else to a new argument at the end:
///
///   func(%a: tensor<?x?xf16>) -> tensor<?x?xf32> { … return %r }
///   func(%m: memref<?x?xf16>, %out: memref<?x?xf32>) {
///     %a = bufferization.to_tensor %m restrict
///     … bufferization.materialize_in_destination %r in restrict writable %out }
static LogicalResult replaceTensors(func::FuncOp func) {
  if (!func.getBody().hasOneBlock())
    return emitError(func.getLoc(),
                     "a kernel's body is one block of linalg ops, without control flow");
  Block &body = func.getBody().front();
  OpBuilder builder = OpBuilder::atBlockBegin(&body);
  auto memrefOf = [](RankedTensorType type) {
    return MemRefType::get(type.getShape(), type.getElementType());
  };
  for (BlockArgument argument : func.getArguments()) {
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    if (!type)
      continue;
    argument.setType(memrefOf(type));
    auto tensor = bufferization::ToTensorOp::create(builder, argument.getLoc(), type, argument,
                                                    /*restrict=*/true);
    argument.replaceAllUsesExcept(tensor, tensor);
  }
  Operation *terminator = body.getTerminator();
  builder.setInsertionPoint(terminator);
  SmallVector<Value> taken;
  SmallVector<DictionaryAttr> argAttrs;
  func.getAllArgAttrs(argAttrs);
  for (Value result : terminator->getOperands()) {
    auto type = dyn_cast<RankedTensorType>(result.getType());
    if (!type)
      return terminator->emitError("a kernel returns tensors of rank 2, not ") << result.getType();
    auto opResult = dyn_cast<OpResult>(result);
    BlockArgument out = opResult ? destinationArgument(opResult, taken) : BlockArgument();
    if (!out) {
      out = body.addArgument(memrefOf(type), terminator->getLoc());
      argAttrs.push_back(DictionaryAttr::get(func.getContext()));
    }
    taken.push_back(out);
    auto materialize = bufferization::MaterializeInDestinationOp::create(
        builder, terminator->getLoc(), /*result=*/Type(), result, out);
    materialize.setRestrict(true);
    materialize.setWritable(true);
  }
  terminator->setOperands({});
  func.setType(FunctionType::get(func.getContext(), body.getArgumentTypes(), {}));
  func.setResAttrsAttr(nullptr);
  func.setAllArgAttrs(argAttrs);
  return success();
}

/// Where one argument knows a size and another has it dynamic, both shall know it: the arguments'
/// types are all that later passes look at.
static void refineSizes(func::FuncOp func, const Problem &problem) {
  Block &body = func.getBody().front();
  OpBuilder builder = OpBuilder::atBlockBegin(&body);
  for (BlockArgument argument : func.getArguments()) {
    auto type = cast<MemRefType>(argument.getType());
    SmallVector<int64_t> shape(type.getShape());
    for (auto [dim, axis] : llvm::enumerate(problem.dimAxes[argument.getArgNumber()]))
      if (axis && !ShapedType::isDynamic(problem.sizes[unsigned(*axis)]))
        shape[dim] = problem.sizes[unsigned(*axis)];
    if (llvm::equal(shape, type.getShape()))
      continue;
    argument.setType(MemRefType::get(shape, type.getElementType(), type.getLayout()));
    auto cast = memref::CastOp::create(builder, argument.getLoc(), type, argument);
    argument.replaceAllUsesExcept(cast, cast);
  }
  func.setType(FunctionType::get(func.getContext(), body.getArgumentTypes(), {}));
}

//===----------------------------------------------------------------------===//
// One kernel
//===----------------------------------------------------------------------===//

namespace {
/// Puts one function into a gpu.module of its own, in as many variants as it needs.
class KernelTargeter {
public:
  KernelTargeter(func::FuncOp func, const arch::Chip &chip, std::optional<MmaFamily> family)
      : func(func), chip(chip), family(family) {}
  LogicalResult run();

private:
  LogicalResult analyze();
  LogicalResult selectSchedule();
  void explain(const std::string &why);
  FailureOr<ScheduleAttr> scheduleOf(const Variant &variant);
  void nameArguments();
  LogicalResult emitVariants();
  LogicalResult failTile(llvm::Error error);
  LogicalResult fail(Location loc, llvm::Error error) {
    return emitError(loc, llvm::toString(std::move(error)));
  }

  func::FuncOp func;
  const arch::Chip &chip;
  std::optional<MmaFamily> family;
  std::optional<Problem> problem;
  /// The tile of a hand-written program.
  std::optional<std::array<int64_t, 3>> block;
  ScheduleContext context;
  ScheduleAttr schedule;
  bool isUserSchedule = false;
};
} // namespace

LogicalResult KernelTargeter::analyze() {
  bool isTileProgram = !func.getOps<scf::ForallOp>().empty();
  FailureOr<Problem> analyzed = failure();
  if (isTileProgram) {
    analyzed = Problem::analyzeTiles(func, block.emplace());
  } else {
    if (failed(replaceTensors(func)))
      return failure();
    analyzed = Problem::analyze(func);
  }
  if (failed(analyzed))
    return failure();
  problem = std::move(*analyzed);
  if (!isTileProgram)
    refineSizes(func, *problem);

  auto matrix = [&](unsigned argument) {
    return cast<MemRefType>(func.getArgument(argument).getType());
  };
  MemRefType lhs = matrix(problem->lhs.argument), rhs = matrix(problem->rhs.argument);
  unsigned lhsContiguous = *getUnitStrideDim(lhs), rhsContiguous = *getUnitStrideDim(rhs);
  context = {&chip, lhs.getElementType(), lhsContiguous ^ unsigned(problem->lhs.transposed),
             rhsContiguous ^ unsigned(problem->rhs.transposed), problem->sizes, /*outputBytes=*/{}};
  auto pitch = [&](MemRefType type) {
    int64_t stride = getStrides(type)[1 - *getUnitStrideDim(type)];
    return ShapedType::isDynamic(stride) ? stride : stride * getElementBytes(type.getElementType());
  };
  context.lhsPitch = pitch(lhs);
  context.rhsPitch = pitch(rhs);
  for (const Problem::Output &output : problem->outputs)
    context.outputBytes.push_back(getElementBytes(matrix(output.argument).getElementType()));
  return success();
}

/// No schedule fits the tile of a hand-written program: says which one nearby does.
LogicalResult KernelTargeter::failTile(llvm::Error error) {
  if (!block)
    return fail(func.getLoc(), std::move(error));
  ScheduleFields fields;
  fields.block.assign(block->begin(), block->end());
  fields.warps = {1, 1};
  fields.mma = *family;
  fields.transport = chooseTransport(chip, *family);
  if (fields.transport == Transport::Tma)
    fields.roles = Roles::Cooperative;
  if (*family == MmaFamily::Wmma)
    fields.epilogue = Epilogue::Shared;
  return emitError(func.getLoc()) << llvm::toString(std::move(error)) << "; "
                                  << describeNearestSchedule(
                                         context, ScheduleAttr::get(func.getContext(), fields),
                                         /*blockIsFixed=*/false);
}

LogicalResult KernelTargeter::selectSchedule() {
  schedule = func->getAttrOfType<ScheduleAttr>(TccDialect::kScheduleAttr);
  isUserSchedule = bool(schedule);
  if (schedule) {
    if (family && *family != schedule.getMma())
      return emitError(func.getLoc(), "backend ")
             << stringifyMmaFamily(*family)
             << " was asked for, but the kernel's schedule says mma = "
             << stringifyMmaFamily(schedule.getMma());
    if (block && schedule.getBlock() != ArrayRef<int64_t>(*block))
      return emitError(func.getLoc(), "the schedule's block is [")
             << schedule.getBlock() << "], but the tile program steps by ["
             << ArrayRef<int64_t>(*block) << "]";
    if (llvm::Error error = checkSchedule(context, schedule))
      return emitError(func.getLoc())
             << llvm::toString(std::move(error)) << "; "
             << describeNearestSchedule(context, schedule, /*blockIsFixed=*/bool(block));
    bool isPredicted = schedule.getTransport() == Transport::Tma && chip.throughput().mmaFlops > 0;
    explain(isPredicted ? "; predicted " + predictCost(context, schedule.getFields()).str() : "");
    return success();
  }
  if (!family) {
    llvm::Expected<MmaFamily> preferred = chooseFamily(func.getContext(), context, block);
    if (!preferred)
      return fail(problem->matmulLoc, preferred.takeError());
    family = *preferred;
  } else if (llvm::Expected<const arch::MmaAtom *> atom = findAtom(context, *family); !atom) {
    return fail(problem->matmulLoc, atom.takeError());
  }
  std::string why;
  llvm::Expected<ScheduleAttr> chosen =
      chooseSchedule(func.getContext(), context, *family, chooseTransport(chip, *family), block,
                     &why);
  if (!chosen)
    return failTile(chosen.takeError());
  schedule = *chosen;
  explain(why);
  return success();
}

/// A remark with what the schedule takes and `why` it is there.
void KernelTargeter::explain(const std::string &why) {
  remark::passed(func.getLoc(), remark::RemarkOpts::name("Schedule").category(kSelectTargetRemarks))
      << explainSchedule(context, schedule) + why;
}

/// The kernel's schedule, bent to the variant's transport.
FailureOr<ScheduleAttr> KernelTargeter::scheduleOf(const Variant &variant) {
  ScheduleAttr base = schedule;
  if (variant.transport != schedule.getTransport()) {
    ScheduleFields fields = schedule.getFields();
    fields.transport = variant.transport;
    fields.stages = std::min<int64_t>(fields.stages, 2);
    fields.alignment.clear();
    base = ScheduleAttr::get(func.getContext(), fields);
    if (llvm::Error error = checkSchedule(context, base)) {
      llvm::consumeError(std::move(error));
      llvm::Expected<ScheduleAttr> chosen =
          chooseSchedule(func.getContext(), context, schedule.getMma(), variant.transport, block);
      if (!chosen)
        return fail(func.getLoc(), chosen.takeError());
      base = *chosen;
    }
    remark::missed(func.getLoc(),
                   remark::RemarkOpts::name("Variant").category(kSelectTargetRemarks))
        << llvm::formatv("variant {0} for rows that {1} can't copy: {2}", variant.label,
                         stringifyTransport(schedule.getTransport()),
                         explainSchedule(context, base))
               .str();
  }
  ScheduleFields fields = base.getFields();
  fields.alignment.assign(variant.alignment.begin(), variant.alignment.end());
  // TMA stores rows that are aligned to 16 bytes.
  if (fields.epilogue == Epilogue::Tma && variant.alignment[2] < 16) {
    fields.epilogue = Epilogue::Direct;
    fields.chunk = 0;
  }
  return ScheduleAttr::get(func.getContext(), fields);
}

void KernelTargeter::nameArguments() {
  Builder builder(func.getContext());
  for (unsigned i = 0; i < func.getNumArguments(); ++i) {
    SmallVector<StringRef> dims(problem->dimNames[i].begin(), problem->dimNames[i].end());
    func.setArgAttr(i, TccDialect::kNameAttr, builder.getStringAttr(problem->argumentNames[i]));
    func.setArgAttr(i, TccDialect::kDimsAttr, builder.getStrArrayAttr(dims));
    func.setArgAttr(i, TccDialect::kDirectionAttr, builder.getStringAttr(problem->directions[i]));
  }
}

LogicalResult KernelTargeter::emitVariants() {
  OpBuilder builder(func);
  auto target = NVVM::NVVMTargetAttr::get(func.getContext(), /*optLevel=*/2, "nvptx64-nvidia-cuda",
                                          chip.name());
  auto gpuModule = gpu::GPUModuleOp::create(builder, func.getLoc(), func.getName(),
                                            builder.getArrayAttr({target}));
  builder.setInsertionPointToStart(gpuModule.getBody());
  SmallVector<Variant> variants = enumerateVariants(func, *problem, schedule);
  SmallVector<ScheduleAttr> schedules;
  for (const Variant &variant : variants) {
    FailureOr<ScheduleAttr> variantSchedule = scheduleOf(variant);
    if (failed(variantSchedule))
      return failure();
    schedules.push_back(*variantSchedule);
  }
  if (isUserSchedule)
    warnOfUnusedChoices(func, *problem, schedule, schedules);
  bool isFirst = true;
  for (auto [variant, variantSchedule] : llvm::zip_equal(variants, schedules)) {
    auto kernel = cast<func::FuncOp>(builder.clone(*func));
    kernel.setPublic();
    if (!isFirst)
      kernel.setName(llvm::formatv("{0}_{1}", func.getName(), variant.label).str());
    isFirst = false;
    setLevel(kernel, block ? Level::L1 : Level::L0t);
    kernel->setAttr(TccDialect::kKernelAttr, builder.getStringAttr(func.getName()));
    kernel->setAttr(TccDialect::kVariantAttr, builder.getStringAttr(variant.label));
    SmallVector<StringRef> preconditions(variant.preconditions.begin(),
                                         variant.preconditions.end());
    kernel->setAttr(TccDialect::kPreconditionsAttr, builder.getStrArrayAttr(preconditions));
    kernel->setAttr(TccDialect::kScheduleAttr, variantSchedule);
    if (!block)
      kernel->setAttr(TccDialect::kReferenceAttr, problem->buildReference(func));
  }
  func.erase();
  return success();
}

LogicalResult KernelTargeter::run() {
  FailureOr<Level> level = getLevel(func);
  if (failed(level))
    return failure();
  if (*level != Level::L0 && *level != Level::L1)
    return emitError(func.getLoc(), "is on level ")
           << stringifyLevel(*level)
           << " by its tcc.level, but kernels without a chip are linalg on matrices, which has no "
              "level, or a tile program, L1";
  if (failed(analyze()) || failed(selectSchedule()))
    return failure();
  if (problem->roundsToNarrow)
    remark::analysis(problem->matmulLoc,
                     remark::RemarkOpts::name("NumericContract").category(kSelectTargetRemarks))
        << "accumulates in f32 and rounds once to C's type";
  nameArguments();
  return emitVariants();
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {
struct SelectTargetPass : public mlir::tcc::impl::SelectTargetPassBase<SelectTargetPass> {
  using SelectTargetPassBase::SelectTargetPassBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    llvm::Expected<const arch::Chip *> found = arch::lookupChip(chip);
    if (!found) {
      emitError(module.getLoc(), llvm::toString(found.takeError()))
          << (chip.empty() ? "; say --chip=sm_80 to tcc-translate, chip=sm_80 to the pass" : "");
      return signalPassFailure();
    }
    std::optional<MmaFamily> family = symbolizeMmaFamily(backend);
    if (!family && backend != "auto") {
      emitError(module.getLoc()) << "unknown backend '" << backend
                         << "'; known are auto, wmma, mma_sync and wgmma";
      return signalPassFailure();
    }
    for (ModuleOp nested : module.getOps<ModuleOp>()) {
      nested.emitError("a module in the module; put its kernels beside the others");
      return signalPassFailure();
    }
    for (func::FuncOp func : llvm::make_early_inc_range(module.getOps<func::FuncOp>()))
      if (!func.isDeclaration() && failed(KernelTargeter(func, **found, family).run()))
        return signalPassFailure();
  }
};
} // namespace
