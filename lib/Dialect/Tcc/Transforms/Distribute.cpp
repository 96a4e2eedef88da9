//===- Distribute.cpp - Tiles become one thread's registers (L4 -> L4d) -----------------===//

#include "DistributePatterns.h"
#include "Kernel.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/Transforms/Patterns.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "tcc/Dialect/Tcc/IR/TccOps.h"
#include "tcc/Dialect/Tcc/Transforms/Passes.h"

namespace mlir::tcc {
#define GEN_PASS_DEF_DISTRIBUTEPASS
#include "tcc/Dialect/Tcc/Transforms/Passes.h.inc"
} // namespace mlir::tcc

using namespace mlir;
using namespace mlir::tcc;

FailureOr<int64_t> mlir::tcc::requireThreads(Operation *op) {
  auto kernel = op->getParentOfType<func::FuncOp>();
  auto threads = kernel ? kernel->getAttrOfType<IntegerAttr>(TccDialect::kBlockAttr) : nullptr;
  if (!threads)
    return op->emitOpError() << "needs the number of threads of the block, '"
                             << TccDialect::kBlockAttr << "' on the kernel; tcc-map-grid sets it",
           failure();
  return threads.getInt();
}

LogicalResult mlir::tcc::requireLayout(Operation *op, SharedType buffer) {
  if (buffer.getLayout())
    return success();
  return op->emitOpError() << "needs a shared buffer with a layout, found " << buffer
                           << "; tcc-layout-shared gives it one";
}

/// Every tile must have registers before anything asks for them.
static LogicalResult verifyTiles(Operation *op) {
  for (Type type : op->getResultTypes()) {
    auto tile = dyn_cast<RankedTensorType>(type);
    std::string reason;
    if (tile && failed(TileDistribution::get(tile, &reason)))
      return op->emitOpError() << "has the tile " << tile
                               << ", which can't be distributed over threads: " << reason;
  }
  return success();
}

static LogicalResult verifyOps(func::FuncOp kernel) {
  auto verifyAll = [&](function_ref<LogicalResult(Operation *)> verify) {
    return failure(kernel
                       .walk([&](Operation *op) {
                         return failed(verify(op)) ? WalkResult::interrupt()
                                                   : WalkResult::advance();
                       })
                       .wasInterrupted());
  };
  if (failed(verifyAll(verifyTiles)))
    return failure();
  return verifyAll([](Operation *op) {
    return failure(failed(verifyTileOp(op)) || failed(verifyGlobalAccess(op)) ||
                   failed(verifySharedAccess(op)));
  });
}

/// The buffer that an operand of a matmul was read from; loops may carry the tile.
static LocalLoadOp findLocalLoad(Value tile) {
  llvm::SmallPtrSet<Value, 4> seen;
  while (seen.insert(tile).second) {
    if (auto load = tile.getDefiningOp<LocalLoadOp>())
      return load;
    auto argument = dyn_cast<BlockArgument>(tile);
    auto loop = argument ? dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp()) : nullptr;
    if (!loop || argument == loop.getInductionVar())
      return {};
    tile = loop.getTiedLoopInit(argument)->get();
  }
  return {};
}

/// Records the majors of the operands of all wmma matmuls; an error at one whose operand isn't read
/// from shared memory.
static LogicalResult collectWmmaMajors(func::FuncOp kernel, WmmaMajorMap &majors) {
  auto walk = kernel.walk([&](MatmulOp op) -> WalkResult {
    auto fragment = dyn_cast_or_null<FragmentAttr>(op.getAcc().getType().getEncoding());
    if (!fragment || fragment.getMma() != MmaFamily::Wmma)
      return WalkResult::advance();
    LocalLoadOp lhs = findLocalLoad(op.getLhs()), rhs = findLocalLoad(op.getRhs());
    if (!lhs || !rhs)
      return op.emitOpError() << "by wmma needs operands from tcc.local_load: wmma.mma states "
                              << "the order in which they were loaded";
    auto isRowMajor = [](LocalLoadOp load) {
      SharedLayoutAttr layout = load.getSource().getType().getLayout();
      return !layout || layout.getContiguous() == 1;
    };
    majors[op] = {isRowMajor(lhs), isRowMajor(rhs)};
    return WalkResult::advance();
  });
  return failure(walk.wasInterrupted());
}

namespace {

/// Patterns emit an op for all registers of a tile, then the next op: as many intermediate values
/// as there are registers would be alive. This moves arithmetic up to where its last operand is
/// made, so that a register's chain of ops is done before the next register's begins.
class RegisterOrder {
public:
  explicit RegisterOrder(Block &block) : block(block) {}

  void run() {
    SmallVector<Operation *> ops = llvm::map_to_vector(block, [](Operation &op) { return &op; });
    for (Operation *op : ops) {
      last = op;
      if (placed.insert(op).second)
        placeUsers(op);
    }
  }

private:
  static bool isArithmetic(Operation *op) {
    return isa<arith::ArithDialect, math::MathDialect>(op->getDialect()) &&
           !op->hasTrait<OpTrait::ConstantLike>() && op->getNumResults() == 1 &&
           isa<FloatType>(getElementTypeOrSelf(op->getResult(0).getType()));
  }

  /// Whether `value` is made before `last`.
  bool isAvailable(Value value) const {
    Operation *op = value.getDefiningOp();
    return !op || op->getBlock() != &block || placed.contains(op);
  }

  void placeUsers(Operation *op) {
    for (Value result : op->getResults())
      for (Operation *user : SmallVector<Operation *>(result.getUsers())) {
        if (user->getBlock() != &block || !isArithmetic(user) || placed.contains(user) ||
            !llvm::all_of(user->getOperands(), [&](Value v) { return isAvailable(v); }))
          continue;
        user->moveAfter(last);
        last = user;
        placed.insert(user);
        placeUsers(user);
      }
  }

  Block &block;
  llvm::SmallPtrSet<Operation *, 32> placed;
  Operation *last = nullptr;
};

} // namespace

static LogicalResult distribute(func::FuncOp kernel) {
  WmmaMajorMap majors;
  if (failed(verifyOps(kernel)) || failed(collectWmmaMajors(kernel, majors)))
    return failure();

  TypeConverter converter;
  converter.addConversion([](Type type) { return type; });
  converter.addConversion([](RankedTensorType tile, SmallVectorImpl<Type> &types) {
    FailureOr<TileDistribution> distribution = TileDistribution::get(tile);
    if (failed(distribution))
      return failure();
    types.append(distribution->getNumRegisters(), distribution->getRegisterType());
    return success();
  });

  MLIRContext *context = kernel.getContext();
  ConversionTarget target(*context);
  target.markUnknownOpDynamicallyLegal([&](Operation *op) { return converter.isLegal(op); });
  target.addIllegalOp<LoadOp, StoreOp, CopyOp, LocalLoadOp, LocalStoreOp, MatmulOp,
                      ConvertLayoutOp, MatmulWaitOp, BulkStoreOp, BulkWaitOp, ClusterReduceOp>();
  RewritePatternSet patterns(context);
  populateDistributeTilePatterns(converter, patterns, majors);
  populateDistributeGlobalPatterns(converter, patterns);
  populateDistributeSharedPatterns(converter, patterns);
  populateDistributeHopperPatterns(converter, patterns);
  populateDistributeClusterPatterns(converter, patterns);
  scf::populateSCFStructuralTypeConversionsAndLegality(converter, patterns, target);
  if (failed(applyFullConversion(kernel, target, std::move(patterns))))
    return failure();
  kernel.walk([](Block *block) { RegisterOrder(*block).run(); });
  setLevel(kernel, Level::L4d);
  return success();
}

namespace {

struct DistributePass : mlir::tcc::impl::DistributePassBase<DistributePass> {
  using DistributePassBase::DistributePassBase;

  void runOnOperation() override {
    if (failed(transformKernels(getOperation(), getArgument(), Level::L4, distribute)))
      signalPassFailure();
  }
};

} // namespace
