//===- TccOpBase.td - Common definitions of tcc ops --------------*- tablegen -*-===//

#ifndef TCC_DIALECT_TCC_IR_TCCOPBASE_TD
#define TCC_DIALECT_TCC_IR_TCCOPBASE_TD

include "mlir/IR/OpBase.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "tcc/Dialect/Tcc/IR/TccTypes.td"

class Tcc_Op<string opMnemonic, list<Trait> traits = []>
    : Op<Tcc_Dialect, opMnemonic, traits>;

// A tile: a tensor of static shape and rank 1 or 2.
def Tcc_Tile : Type<
    And<[CPred<"::llvm::isa<::mlir::RankedTensorType>($_self)">,
         CPred<"::llvm::cast<::mlir::RankedTensorType>($_self).hasStaticShape()">,
         CPred<"::llvm::cast<::mlir::RankedTensorType>($_self).getRank() >= 1">,
         CPred<"::llvm::cast<::mlir::RankedTensorType>($_self).getRank() <= 2">]>,
    "tile: a tensor of static shape and rank 1 or 2", "::mlir::RankedTensorType">;

// A matrix or vector in global memory.
def Tcc_Matrix : Type<
    And<[CPred<"::llvm::isa<::mlir::MemRefType>($_self)">,
         CPred<"::llvm::cast<::mlir::MemRefType>($_self).getRank() >= 1">,
         CPred<"::llvm::cast<::mlir::MemRefType>($_self).getRank() <= 2">]>,
    "matrix: a memref of rank 1 or 2", "::mlir::MemRefType">;

def Tcc_GlobalPointer : Type<
    CPred<"::mlir::tcc::isPointerInSpace($_self, 1)">, "LLVM pointer to global memory">;
def Tcc_SharedPointer : Type<
    CPred<"::mlir::tcc::isPointerInSpace($_self, 3)">, "LLVM pointer to shared memory">;

#endif // TCC_DIALECT_TCC_IR_TCCOPBASE_TD
