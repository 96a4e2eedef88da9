//===- TccThreadOps.td - Ops on one thread's registers -----------*- tablegen -*-===//
//
// What a thread does once tiles are distributed. Where an NVVM or LLVM op says
// the same (ldmatrix, cp.async, plain loads and stores), that op is used.
//
//===----------------------------------------------------------------------===//

#ifndef TCC_DIALECT_TCC_IR_TCCTHREADOPS_TD
#define TCC_DIALECT_TCC_IR_TCCTHREADOPS_TD

include "tcc/Dialect/Tcc/IR/TccOpBase.td"

def Tcc_GlobalAddressOp : Tcc_Op<"global_address", [Pure]> {
  let summary = "The address of an element of a matrix";
  let description = [{
    The matrix's pointer plus the indices times its strides. The indices may
    point outside the matrix; the address is then not to be used.

    ```mlir
    %p = tcc.global_address %A[%i, %j] : memref<?x?xf16> -> !llvm.ptr<1>
    ```
  }];
  let arguments = (ins Tcc_Matrix:$source, Variadic<Index>:$indices);
  let results = (outs Tcc_GlobalPointer:$result);
  let assemblyFormat = "$source `[` $indices `]` attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
}

def Tcc_SharedAddressOp : Tcc_Op<"shared_address", [Pure]> {
  let summary = "The address of a byte of a shared buffer";
  let description = [{
    The buffer's start, plus `slot` stages, plus `offset` bytes.

    ```mlir
    %p = tcc.shared_address %sa slot %i offset %o : !tcc.shared<…> -> !llvm.ptr<3>
    ```
  }];
  let arguments = (ins Tcc_SharedType:$buffer, Optional<I32>:$slot, I32:$offset);
  let results = (outs Tcc_SharedPointer:$result);
  let assemblyFormat = [{
    $buffer (`slot` $slot^)? `offset` $offset attr-dict `:` type($buffer) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Tcc_MmaOp : Tcc_Op<"mma", [Pure, AttrSizedOperandSegments]> {
  let summary = "One Tensor Core multiplication on a warp's registers";
  let description = [{
    D = A * B + C on one atom. Registers are as the instruction defines them:
    pairs of 16-bit elements as `vector<2xT>`, accumulators as f32. `rowMajorA`
    and `rowMajorB` are the layouts that wmma's fragments were loaded with
    (mma.sync has one form: A row-major, B column-major).

    1. The numbers and types of the registers are those of the atom
       (docs/IR.md has the table).

    ```mlir
    %d:4 = tcc.mma mma_sync [16, 8, 16] a(%a0, %a1, %a2, %a3 : …) b(%b0, %b1 : …) c(%c0, %c1, %c2, %c3 : …)
      -> f32, f32, f32, f32
    ```
  }];
  let arguments = (ins Tcc_MmaFamilyAttr:$family, DenseI64ArrayAttr:$shape,
                       Variadic<AnyType>:$a, Variadic<AnyType>:$b, Variadic<F32>:$c,
                       DefaultValuedAttr<BoolAttr, "true">:$rowMajorA,
                       DefaultValuedAttr<BoolAttr, "false">:$rowMajorB);
  let results = (outs Variadic<F32>:$results);
  let assemblyFormat = [{
    $family $shape `a` `(` $a `:` type($a) `)` `b` `(` $b `:` type($b) `)`
    `c` `(` $c `:` type($c) `)` attr-dict `->` type($results)
  }];
  let hasVerifier = 1;
}

def Tcc_WmmaLoadOp : Tcc_Op<"wmma_load", [MemoryEffects<[MemRead]>]> {
  let summary = "Load a wmma fragment of A or B from shared memory";
  let description = [{
    `stride` is the leading dimension in elements; times the element's size it
    is a multiple of 16 bytes (PTX ISA, wmma.load). `elementType` is f16 or
    bf16.

    ```mlir
    %a:8 = tcc.wmma_load a [16, 16, 16] %p, 40 {rowMajor = true} : vector<2xf16>, …
    ```
  }];
  let arguments = (ins Tcc_OperandAttr:$operand, DenseI64ArrayAttr:$shape,
                       Tcc_SharedPointer:$source, I64Attr:$stride, BoolAttr:$rowMajor);
  let results = (outs Variadic<AnyType>:$results);
  let assemblyFormat = [{
    $operand $shape $source `,` $stride attr-dict `:` type($source) `->` type($results)
  }];
  let hasVerifier = 1;
}

def Tcc_WmmaStoreOp : Tcc_Op<"wmma_store", [MemoryEffects<[MemWrite]>]> {
  let summary = "Store a wmma accumulator fragment to shared memory, row-major";
  let description = [{
    `stride` as for `tcc.wmma_load`.

    ```mlir
    tcc.wmma_store [16, 16, 16] %p, 264, %c0, … : !llvm.ptr<3>, f32, …
    ```
  }];
  let arguments = (ins DenseI64ArrayAttr:$shape, Tcc_SharedPointer:$dest, I64Attr:$stride,
                       Variadic<F32>:$values);
  let assemblyFormat = [{
    $shape $dest `,` $stride `,` $values attr-dict `:` type($dest) `,` type($values)
  }];
  let hasVerifier = 1;
}

#endif // TCC_DIALECT_TCC_IR_TCCTHREADOPS_TD
