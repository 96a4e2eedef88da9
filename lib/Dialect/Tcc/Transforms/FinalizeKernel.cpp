//===- FinalizeKernel.cpp - Parameters, shared memory, metadata -------------------------===//

#include "Kernel.h"
#include "KernelMetadata.h"
#include "MatrixArgument.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/PatternMatch.h"
#include "tcc/Dialect/Tcc/Transforms/Passes.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::tcc {
#define GEN_PASS_DEF_FINALIZEKERNELPASS
#include "tcc/Dialect/Tcc/Transforms/Passes.h.inc"
} // namespace mlir::tcc

using namespace mlir;
using namespace mlir::tcc;

/// Dynamic shared memory of all kernels of a module; each uses it from the start.
static constexpr StringLiteral sharedSymbol = "tcc_shared";
/// Enough for every layout (8 lines of 128 bytes).
static constexpr int64_t sharedAlignment = 1024;

namespace {

/// The kernel parameters that a matrix became: sizes and strides are index values, constant where
/// the type says so.
struct MatrixParameters {
  Value pointer;
  SmallVector<Value, 2> sizes;
  SmallVector<Value, 2> strides;
};

class KernelFinalizer {
public:
  explicit KernelFinalizer(func::FuncOp kernel) : kernel(kernel), rewriter(kernel.getContext()) {}

  LogicalResult run();

private:
  LogicalResult verifyArguments();
  /// A parameter that tcc-lower-pipeline made.
  bool isTensorMap(unsigned index) {
    return kernel.getArgAttr(index, LLVM::LLVMDialect::getByValAttrName()) != nullptr;
  }
  void replaceArguments();
  /// The parameters behind a matrix: an argument, transposed or cast; an error at `user` else.
  FailureOr<MatrixParameters> findParameters(Operation *user, Value matrix);
  LogicalResult lower(memref::DimOp op);
  LogicalResult lower(GlobalAddressOp op);
  void placeBuffers();
  void lower(SharedAddressOp op);
  LogicalResult eraseMatrices();

  Value constantIndex(Location loc, int64_t value) {
    return arith::ConstantIndexOp::create(rewriter, loc, value);
  }

  func::FuncOp kernel;
  IRRewriter rewriter;
  SmallVector<BlockArgument> oldArguments;
  SmallVector<DictionaryAttr> attributes; // of the new arguments
  llvm::DenseMap<Value, MatrixParameters> parameters;
  llvm::DenseMap<Value, int64_t> bufferOffsets;
  LLVM::GlobalOp sharedMemory;
};

} // namespace

//===----------------------------------------------------------------------===//
// Parameters
//===----------------------------------------------------------------------===//

LogicalResult KernelFinalizer::verifyArguments() {
  if (!kernel.getFunctionType().getResults().empty())
    return kernel.emitOpError() << "is a kernel, which returns nothing";
  for (auto [i, type] : llvm::enumerate(kernel.getArgumentTypes())) {
    auto matrix = dyn_cast<MemRefType>(type);
    if (isTensorMap(i))
      continue;
    if (!matrix)
      return kernel.emitOpError() << "has argument " << i << " of type " << type
                                  << "; kernels take memrefs only";
    SmallVector<int64_t> strides;
    int64_t offset;
    if (failed(matrix.getStridesAndOffset(strides, offset)))
      return kernel.emitOpError() << "has argument " << i << " of type " << type
                                  << ", whose layout has no strides";
  }
  return success();
}

/// memref<?x?xf16, strided<[?, 1]>>  →  !llvm.ptr<1>, i64, i64, i64: pointer, sizes, stride
void KernelFinalizer::replaceArguments() {
  Block &entry = kernel.getBody().front();
  rewriter.setInsertionPointToStart(&entry);
  oldArguments.assign(entry.args_begin(), entry.args_end());
  for (BlockArgument matrix : oldArguments) {
    Location loc = matrix.getLoc();
    auto type = dyn_cast<MemRefType>(matrix.getType());
    if (!type)
      continue;
    MatrixParameters &result = parameters[matrix];
    result.pointer = entry.addArgument(LLVM::LLVMPointerType::get(rewriter.getContext(), 1), loc);
    auto resolve = [&](int64_t value) -> Value {
      if (!ShapedType::isDynamic(value))
        return constantIndex(loc, value);
      Value argument = entry.addArgument(rewriter.getI64Type(), loc);
      return arith::IndexCastOp::create(rewriter, loc, rewriter.getIndexType(), argument);
    };
    for (int64_t size : type.getShape())
      result.sizes.push_back(resolve(size));
    for (int64_t stride : getStrides(type))
      result.strides.push_back(resolve(stride));
  }
  attributes.assign(entry.getNumArguments() - oldArguments.size(), rewriter.getDictionaryAttr({}));
  // Tensor maps come last.
  for (BlockArgument map : oldArguments) {
    if (isa<MemRefType>(map.getType()))
      continue;
    rewriter.replaceAllUsesWith(map, entry.addArgument(map.getType(), map.getLoc()));
    attributes.push_back(kernel.getArgAttrDict(map.getArgNumber()));
  }
}

FailureOr<MatrixParameters> KernelFinalizer::findParameters(Operation *user, Value matrix) {
  FailureOr<MatrixArgument> source = findMatrixArgument(user, matrix);
  if (failed(source))
    return failure();
  const MatrixParameters &argument = parameters.find(source->argument)->second;
  MatrixParameters result{argument.pointer, {}, {}};
  for (unsigned dim : source->dims) {
    result.sizes.push_back(argument.sizes[dim]);
    result.strides.push_back(argument.strides[dim]);
  }
  return result;
}

/// memref.dim %A, 1  →  the size's parameter
LogicalResult KernelFinalizer::lower(memref::DimOp op) {
  FailureOr<MatrixParameters> matrix = findParameters(op, op.getSource());
  if (failed(matrix))
    return failure();
  std::optional<int64_t> dim = op.getConstantIndex();
  if (!dim || *dim < 0 || *dim >= static_cast<int64_t>(matrix->sizes.size()))
    return op.emitOpError() << "asks for a dimension that is not a constant within the matrix's "
                            << matrix->sizes.size() << " dimensions";
  rewriter.replaceOp(op, matrix->sizes[*dim]);
  return success();
}

/// An index as a sum, the second part constant; the first is the whole if it isn't a sum. Not in a
/// loop: the parts of all rows would stay in registers beside it.
static std::pair<Value, Value> splitIndex(GlobalAddressOp op, Value index) {
  auto add = index.getDefiningOp<arith::AddIOp>();
  if (add && !op->getParentOfType<scf::ForOp>() && matchPattern(add.getRhs(), m_Constant()))
    return {add.getLhs(), add.getRhs()};
  return {index, Value()};
}

/// tcc.global_address %A[%i + 8, %j]  →  pointer + %i * stride0 + 8 * stride0 + %j * stride1, the
/// unit stride last: the row is the part that a loop over K leaves alone. Rows that differ by a
/// constant share all but one multiple of the stride.
LogicalResult KernelFinalizer::lower(GlobalAddressOp op) {
  FailureOr<MatrixParameters> matrix = findParameters(op, op.getSource());
  if (failed(matrix))
    return failure();
  Location loc = op.getLoc();
  Type element = op.getSource().getType().getElementType();
  auto type = cast<LLVM::LLVMPointerType>(op.getType());
  Value pointer = matrix->pointer;
  auto advance = [&](Value index) {
    Value offset = arith::IndexCastOp::create(rewriter, loc, rewriter.getI64Type(), index);
    pointer = LLVM::GEPOp::create(rewriter, loc, type, element, pointer, offset);
  };
  std::optional<unsigned> unitDim = getUnitStrideDim(op.getSource().getType());
  for (auto [dim, index] : llvm::enumerate(op.getIndices()))
    if (dim != unitDim) {
      auto [base, constant] = splitIndex(op, index);
      advance(arith::MulIOp::create(rewriter, loc, base, matrix->strides[dim]));
      if (constant)
        advance(arith::MulIOp::create(rewriter, loc, constant, matrix->strides[dim]));
    }
  if (unitDim)
    advance(op.getIndices()[*unitDim]);
  rewriter.replaceOp(op, pointer);
  return success();
}

LogicalResult KernelFinalizer::eraseMatrices() {
  SmallVector<Operation *> views;
  kernel.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (isa<memref::TransposeOp, memref::CastOp>(op))
      views.push_back(op);
  });
  for (Operation *view : llvm::reverse(views))
    if (view->use_empty())
      rewriter.eraseOp(view);

  Block &entry = kernel.getBody().front();
  for (BlockArgument matrix : oldArguments)
    if (!matrix.use_empty())
      return matrix.getUsers().begin()->emitOpError()
             << "uses a matrix in a way that a kernel's parameters can't replace; supported are "
             << "memref.dim, memref.transpose, memref.cast and tcc.global_address";
  entry.eraseArguments(0, oldArguments.size());
  kernel.removeArgAttrsAttr();
  kernel.setType(rewriter.getFunctionType(entry.getArgumentTypes(), {}));
  kernel.setAllArgAttrs(attributes);
  return success();
}

//===----------------------------------------------------------------------===//
// Shared memory
//===----------------------------------------------------------------------===//

/// The module's symbol for dynamic shared memory. External and of no size: its extent is the
/// launch's (an internal one would be allocated statically, next to it).
static LLVM::GlobalOp getSharedMemory(func::FuncOp kernel) {
  Operation *module = kernel->getParentOp();
  if (auto *known = SymbolTable::lookupSymbolIn(module, sharedSymbol))
    if (auto global = dyn_cast<LLVM::GlobalOp>(known))
      return global;
  OpBuilder builder = OpBuilder::atBlockBegin(&module->getRegion(0).front());
  auto type = LLVM::LLVMArrayType::get(builder.getI8Type(), 0);
  return LLVM::GlobalOp::create(builder, kernel.getLoc(), type, /*isConstant=*/false,
                                LLVM::Linkage::External, sharedSymbol, /*value=*/Attribute(),
                                sharedAlignment, /*addrSpace=*/3);
}

/// Buffers follow each other in program order, each at its alignment.
void KernelFinalizer::placeBuffers() {
  int64_t end = 0;
  kernel.walk([&](AllocSharedOp op) {
    SharedType type = op.getType();
    int64_t start = llvm::alignTo(end, type.getAlignment());
    bufferOffsets[op] = start;
    end = start + type.getStageBytes() * type.getStages();
  });
  kernel->setAttr(TccDialect::kSharedBytesAttr, rewriter.getI64IntegerAttr(end));
  if (end > 0)
    sharedMemory = getSharedMemory(kernel);
}

/// tcc.shared_address %b slot %s offset %o  →  tcc_shared + (%o + start) + %s * stage
///
/// In this order a loop over slots leaves the first sum alone.
void KernelFinalizer::lower(SharedAddressOp op) {
  Location loc = op.getLoc();
  auto constant = [&](int64_t value) {
    return arith::ConstantIntOp::create(rewriter, loc, value, 32).getResult();
  };
  auto type = cast<LLVM::LLVMPointerType>(op.getType());
  auto advance = [&](Value pointer, LLVM::GEPArg offset) -> Value {
    return LLVM::GEPOp::create(rewriter, loc, type, rewriter.getI8Type(), pointer, offset);
  };
  Value pointer = LLVM::AddressOfOp::create(rewriter, loc, sharedMemory);
  pointer = advance(pointer, op.getOffset());
  if (int64_t start = bufferOffsets.lookup(op.getBuffer()))
    pointer = advance(pointer, static_cast<int32_t>(start));
  if (Value slot = op.getSlot())
    pointer =
        advance(pointer, arith::MulIOp::create(rewriter, loc, slot,
                                               constant(op.getBuffer().getType().getStageBytes()))
                             .getResult());
  rewriter.replaceOp(op, pointer);
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

LogicalResult KernelFinalizer::run() {
  if (kernel->hasAttr(TccDialect::kMetadataAttr)) // it is finalized
    return success();
  if (failed(verifyArguments()))
    return failure();
  placeBuffers();
  FailureOr<std::string> metadata = buildMetadata(kernel);
  if (failed(metadata))
    return failure();
  replaceArguments();

  SmallVector<Operation *> ops;
  kernel.walk([&](Operation *op) {
    if (isa<memref::DimOp, GlobalAddressOp, SharedAddressOp>(op))
      ops.push_back(op);
  });
  for (Operation *op : ops) {
    rewriter.setInsertionPoint(op);
    LogicalResult result =
        llvm::TypeSwitch<Operation *, LogicalResult>(op)
            .Case<memref::DimOp, GlobalAddressOp>([&](auto matched) { return lower(matched); })
            .Case<SharedAddressOp>([&](auto matched) { return lower(matched), success(); })
            .Default(success());
    if (failed(result))
      return failure();
  }

  for (auto [buffer, offset] : bufferOffsets) {
    if (!buffer.use_empty())
      return buffer.getUsers().begin()->emitOpError()
             << "uses a shared buffer by other means than tcc.shared_address; run tcc-distribute "
             << "and tcc-lower-pipeline first";
    rewriter.eraseOp(buffer.getDefiningOp());
  }
  if (failed(eraseMatrices()))
    return failure();
  kernel->setAttr(TccDialect::kMetadataAttr, rewriter.getStringAttr(*metadata));
  return success();
}

namespace {

struct FinalizeKernelPass : mlir::tcc::impl::FinalizeKernelPassBase<FinalizeKernelPass> {
  using FinalizeKernelPassBase::FinalizeKernelPassBase;

  void runOnOperation() override {
    auto finalize = [](func::FuncOp kernel) { return KernelFinalizer(kernel).run(); };
    if (failed(transformKernels(getOperation(), getArgument(), Level::L4d, finalize)))
      signalPassFailure();
  }
};

} // namespace
