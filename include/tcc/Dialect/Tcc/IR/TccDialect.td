//===- TccDialect.td - The tile-matmul dialect -------------------*- tablegen -*-===//

#ifndef TCC_DIALECT_TCC_IR_TCCDIALECT_TD
#define TCC_DIALECT_TCC_IR_TCCDIALECT_TD

include "mlir/IR/DialectBase.td"

def Tcc_Dialect : Dialect {
  let name = "tcc";
  let cppNamespace = "::mlir::tcc";
  let summary = "Tile matmul programs on their way to Tensor Cores";
  let description = [{
    A tile is a builtin `tensor` value; elementwise work on tiles is upstream
    `arith` and `math`. The dialect adds what upstream lacks: loads and stores
    of tiles with edges, the tile matmul, shared-memory buffers with layouts,
    the distribution of a tile over threads (as the tensor's encoding),
    pipelines between producers and consumers, and, on the last level but one,
    the Tensor Core atoms on a thread's registers.

    The levels that a kernel passes through and their invariants are in
    docs/IR.md.

    Discardable attributes of a kernel (`func.func`):

    | attribute           | type            | meaning                                               |
    |---------------------|-----------------|-------------------------------------------------------|
    | `tcc.level`         | StringAttr      | the level that the kernel claims to be on             |
    | `tcc.schedule`      | `#tcc.schedule` | how the kernel is built                               |
    | `tcc.kernel`        | StringAttr      | the logical kernel; its variants share it             |
    | `tcc.variant`       | StringAttr      | the variant's label                                   |
    | `tcc.preconditions` | ArrayAttr       | strings: expressions over sizes, strides, pointers    |
    | `tcc.reference`     | ArrayAttr       | the operator DAG that the kernel computes             |
    | `tcc.grid`          | ArrayAttr       | three strings: expressions over the sizes             |
    | `tcc.block`         | IntegerAttr     | threads of a block                                    |
    | `tcc.shared_bytes`  | IntegerAttr     | dynamic shared memory, all buffers together           |
    | `tcc.tensor_maps`   | ArrayAttr       | tensor maps, in the order of their parameters         |
    | `tcc.metadata`      | StringAttr      | the JSON object of the PTX header                     |

    of a loop: `tcc.non_empty`, a unit attribute: it runs at least once, and
    tcc-lower-pipeline tests at its end alone;

    and of an argument: `tcc.name`, `tcc.dims` (one name a dimension),
    `tcc.direction` ("in", "out", "inout").
  }];
  let dependentDialects = ["::mlir::tensor::TensorDialect"];
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let extraClassDeclaration = [{
    static constexpr llvm::StringLiteral kLevelAttr = "tcc.level";
    static constexpr llvm::StringLiteral kScheduleAttr = "tcc.schedule";
    static constexpr llvm::StringLiteral kKernelAttr = "tcc.kernel";
    static constexpr llvm::StringLiteral kVariantAttr = "tcc.variant";
    static constexpr llvm::StringLiteral kPreconditionsAttr = "tcc.preconditions";
    static constexpr llvm::StringLiteral kReferenceAttr = "tcc.reference";
    static constexpr llvm::StringLiteral kGridAttr = "tcc.grid";
    static constexpr llvm::StringLiteral kBlockAttr = "tcc.block";
    static constexpr llvm::StringLiteral kSharedBytesAttr = "tcc.shared_bytes";
    static constexpr llvm::StringLiteral kTensorMapsAttr = "tcc.tensor_maps";
    static constexpr llvm::StringLiteral kMetadataAttr = "tcc.metadata";
    static constexpr llvm::StringLiteral kNonEmptyAttr = "tcc.non_empty";
    static constexpr llvm::StringLiteral kNameAttr = "tcc.name";
    static constexpr llvm::StringLiteral kDimsAttr = "tcc.dims";
    static constexpr llvm::StringLiteral kDirectionAttr = "tcc.direction";

    void registerAttributes();
    void registerTypes();
  }];
}

#endif // TCC_DIALECT_TCC_IR_TCCDIALECT_TD
