//===- Kernel.cpp - What every pass on kernels needs ----------------------===//

#include "Kernel.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "tcc/Dialect/Tcc/IR/TccDialect.h"

using namespace mlir;
using namespace mlir::tcc;

namespace {

/// A level's spelling and the pass that completes it.
struct LevelInfo {
  StringRef name;
  StringRef maker;
};

} // namespace

static constexpr LevelInfo levels[] = {
    {"L0", ""},
    {"L0t", "tcc-select-target"},
    {"L1", "tcc-tile"},
    {"L2", "tcc-stage-shared"},
    {"L3", "tcc-layout-shared and tcc-assign-fragments"},
    {"L3g", "tcc-map-grid"},
    {"L4", "tcc-pipeline, tcc-split-slabs and tcc-insert-barriers"},
    {"L4d", "tcc-distribute, tcc-lower-pipeline and tcc-finalize-kernel"},
    {"L5", "convert-tcc-to-nvvm"},
};

static const LevelInfo &getInfo(Level level) { return levels[static_cast<unsigned>(level)]; }

StringRef mlir::tcc::stringifyLevel(Level level) { return getInfo(level).name; }

FailureOr<Level> mlir::tcc::getLevel(func::FuncOp kernel) {
  auto attribute = kernel->getAttrOfType<StringAttr>(TccDialect::kLevelAttr);
  if (!attribute)
    return Level::L0;
  // L0 is never written down.
  for (unsigned i = 1; i < std::size(levels); ++i)
    if (attribute.getValue() == levels[i].name)
      return static_cast<Level>(i);
  InFlightDiagnostic error = kernel.emitError()
                             << "unknown level '" << attribute.getValue() << "'; known: ";
  llvm::interleaveComma(ArrayRef(levels).drop_front(), error,
                        [&](const LevelInfo &info) { error << info.name; });
  return error;
}

void mlir::tcc::setLevel(func::FuncOp kernel, Level level) {
  kernel->setAttr(TccDialect::kLevelAttr,
                  StringAttr::get(kernel.getContext(), stringifyLevel(level)));
}

FailureOr<ScheduleAttr> mlir::tcc::getSchedule(func::FuncOp kernel) {
  if (auto schedule = kernel->getAttrOfType<ScheduleAttr>(TccDialect::kScheduleAttr))
    return schedule;
  return kernel.emitError() << "expects the attribute '" << TccDialect::kScheduleAttr
                            << "': write one, or run tcc-select-target first";
}

static LogicalResult checkLevel(func::FuncOp kernel, StringRef pass, Level expected) {
  FailureOr<Level> found = getLevel(kernel);
  if (failed(found))
    return failure();
  if (*found == expected && !llvm::hasSingleElement(kernel.getBody()))
    return kernel.emitError() << "expects a body of one block, found control flow between blocks";
  if (*found == expected)
    return success();
  InFlightDiagnostic error = kernel.emitError()
                             << pass << " expects a kernel on level " << stringifyLevel(expected)
                             << ", found " << stringifyLevel(*found);
  if (*found < expected)
    return error << ": run " << getInfo(expected).maker << " first";
  return error << ", which is past it";
}

LogicalResult mlir::tcc::transformKernels(Operation *root, StringRef pass, Level expected,
                                          function_ref<LogicalResult(func::FuncOp)> transform) {
  SmallVector<func::FuncOp> kernels;
  root->walk([&](func::FuncOp function) {
    if (!function.isDeclaration())
      kernels.push_back(function);
  });
  for (func::FuncOp kernel : kernels)
    if (failed(checkLevel(kernel, pass, expected)))
      return failure();
  for (func::FuncOp kernel : kernels)
    if (failed(transform(kernel)))
      return failure();
  return success();
}

FailureOr<MatmulLoop> mlir::tcc::findMatmulLoop(func::FuncOp kernel) {
  MatmulLoop found;
  WalkResult walk = kernel.walk([&](MatmulOp matmul) -> WalkResult {
    auto loop = dyn_cast<scf::ForOp>(matmul->getParentOp());
    if (!loop)
      return matmul.emitOpError() << "expects to stand in the body of an scf.for over K (L1.3)";
    if (found.loop && found.loop != loop) {
      InFlightDiagnostic error = matmul.emitOpError()
                                 << "expects all matmuls of a kernel in one loop (L1.3)";
      error.attachNote(found.loop.getLoc()) << "another loop with a matmul is here";
      return error;
    }
    found.loop = loop;
    found.matmuls.push_back(matmul);
    return WalkResult::advance();
  });
  if (walk.wasInterrupted())
    return failure();
  if (found.matmuls.empty())
    return kernel.emitError() << "expects a loop over K with a tcc.matmul (L1.3)";

  auto acc = dyn_cast<BlockArgument>(found.matmuls.front().getAcc());
  if (!acc || acc.getOwner() != found.loop.getBody() || acc == found.loop.getInductionVar())
    return found.matmuls.front().emitOpError()
           << "expects an iteration argument of the loop as accumulator (L1.3)";
  found.accIndex = acc.getArgNumber() - found.loop.getNumInductionVars();
  Operation *yield = found.loop.getBody()->getTerminator();
  if (yield->getOperand(found.accIndex) != found.matmuls.back().getResult())
    return yield->emitOpError() << "expects to yield the matmul's result as accumulator (L1.3)";
  return found;
}

SmallVector<int64_t> mlir::tcc::getStrides(MemRefType matrix) {
  SmallVector<int64_t> strides = matrix.getStridesAndOffset().first;
  int64_t product = 1;
  for (unsigned dim = strides.size(); matrix.getLayout().isIdentity() && dim-- > 0;) {
    if (ShapedType::isDynamic(strides[dim]) && !ShapedType::isDynamic(product))
      strides[dim] = product;
    bool isKnown = !ShapedType::isDynamic(product) && !matrix.isDynamicDim(dim);
    product = isKnown ? product * matrix.getDimSize(dim) : ShapedType::kDynamic;
  }
  return strides;
}

std::optional<unsigned> mlir::tcc::getUnitStrideDim(MemRefType matrix) {
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(matrix.getStridesAndOffset(strides, offset)))
    return std::nullopt;
  for (unsigned dim = strides.size(); dim-- > 0;)
    if (strides[dim] == 1)
      return dim;
  return std::nullopt;
}

FailureOr<unsigned> mlir::tcc::requireUnitStrideDim(Operation *user, MemRefType matrix) {
  if (std::optional<unsigned> dim = getUnitStrideDim(matrix))
    return *dim;
  return user->emitOpError() << "expects a matrix with a stride that is statically 1, found "
                             << matrix << " (L0.2)";
}

LogicalResult mlir::tcc::checkRounding(Operation *op) {
  auto rounding = dyn_cast<arith::ArithRoundingModeInterface>(op);
  arith::RoundingModeAttr mode = rounding ? rounding.getRoundingModeAttr() : nullptr;
  if (!mode || mode.getValue() == arith::RoundingMode::to_nearest_even)
    return success();
  return op->emitOpError("rounds ") << stringifyRoundingMode(mode.getValue())
                                    << "; accepted is to_nearest_even, the default";
}

int64_t mlir::tcc::getElementBytes(Type elementType) {
  return llvm::divideCeil(elementType.getIntOrFloatBitWidth(), 8);
}
