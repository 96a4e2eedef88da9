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

//===----------------------------------------------------------------------===//
// Hopper: tensor maps and warpgroup multiplications
//===----------------------------------------------------------------------===//

def Tcc_TmaLoadOp : Tcc_Op<"tma_load", [AttrSizedOperandSegments]> {
  let summary = "Copy a box of a matrix to shared memory by TMA";
  let description = [{
    One thread starts the copy of the box of `box` elements at `offsets`
    (in the matrix's dimensions) to `dest`, swizzled with `span` (0, 32, 64 or
    128 bytes). Elements outside the matrix are zero. The bytes are counted on
    the full barrier of the pipeline's slot. `multicast` (i16) has a bit for each
    block of the cluster that gets the box, at the same place of its shared
    memory, and counts it; absent, this block alone does. `tcc-finalize-kernel`
    makes the tensor map a parameter (PTX ISA, cp.async.bulk.tensor).

    1. The matrix has rank 2; there are two offsets and two extents, each extent
       from 1 to 256.

    ```mlir
    tcc.tma_load %A[%m, %k] box [128, 64], %dest, %p[%slot] {span = 128}
      : memref<?x?xf16>, !llvm.ptr<3>, !tcc.pipeline<tma, stages = 4>
    ```
  }];
  let arguments = (ins Arg<Tcc_Matrix, "", [MemRead]>:$source, Variadic<Index>:$offsets,
                       DenseI64ArrayAttr:$box, Arg<Tcc_SharedPointer, "", [MemWrite]>:$dest,
                       Tcc_PipelineType:$pipeline, I32:$slot, I64Attr:$span,
                       Optional<I16>:$multicast);
  let assemblyFormat = [{
    $source `[` $offsets `]` `box` $box `,` $dest `,` $pipeline `[` $slot `]`
    (`multicast` $multicast^)? attr-dict
    `:` type($source) `,` type($dest) `,` type($pipeline)
  }];
  let hasVerifier = 1;
}

def Tcc_TmaStoreOp : Tcc_Op<"tma_store"> {
  let summary = "Copy a box of shared memory to a matrix by TMA";
  let description = [{
    One thread starts the copy of a box as `tcc.tma_load` would have brought it
    and commits it to its bulk group. Elements outside the matrix are dropped
    (PTX ISA, cp.async.bulk.tensor).

    1. The matrix has rank 2; there are two offsets and two extents, each extent
       from 1 to 256.

    ```mlir
    tcc.tma_store %src, %C[%m, %n] box [128, 32] {span = 64} : !llvm.ptr<3>, memref<?x?xbf16>
    ```
  }];
  let arguments = (ins Arg<Tcc_SharedPointer, "", [MemRead]>:$source,
                       Arg<Tcc_Matrix, "", [MemWrite]>:$dest, Variadic<Index>:$offsets,
                       DenseI64ArrayAttr:$box, I64Attr:$span);
  let assemblyFormat = [{
    $source `,` $dest `[` $offsets `]` `box` $box attr-dict `:` type($source) `,` type($dest)
  }];
  let hasVerifier = 1;
}

def Tcc_MatrixDescriptorOp : Tcc_Op<"matrix_descriptor", [Pure]> {
  let summary = "The wgmma descriptor of a matrix in shared memory";
  let description = [{
    `leading` and `stride` are the byte offsets of the canonical layout, `span`
    its swizzle (PTX ISA, "Matrix descriptor format").

    1. `span` is 0, 32, 64 or 128; the offsets are multiples of 16 below 2^18.

    ```mlir
    %d = tcc.matrix_descriptor %p {leading = 16, stride = 1024, span = 128} : !llvm.ptr<3>
    ```
  }];
  let arguments = (ins Tcc_SharedPointer:$source, I64Attr:$leading, I64Attr:$stride,
                       I64Attr:$span);
  let results = (outs I64:$result);
  let assemblyFormat = "$source attr-dict `:` type($source)";
  let hasVerifier = 1;
}

def Tcc_WgmmaOp : Tcc_Op<"wgmma", [MemoryEffects<[MemRead]>, AllTypesMatch<["acc", "results"]>]> {
  let summary = "One asynchronous multiplication of a warpgroup, operands in shared memory";
  let description = [{
    D = A * B + D on the atom `shape` = [64, n, 16]. The results may be used by
    further `tcc.wgmma` and by `tcc.wgmma_wait` alone until the latter
    (PTX ISA, wgmma.mma_async).

    1. m is 64, k is 16, n a multiple of 8 from 8 to 256.
    2. A thread holds n / 2 accumulators.

    ```mlir
    %d:128 = tcc.wgmma [64, 256, 16] bf16 %da, %db acc(%c… : f32, …) {rowMajorA = true, rowMajorB = false}
    ```
  }];
  let arguments = (ins DenseI64ArrayAttr:$shape, TypeAttr:$elementType, I64:$a, I64:$b,
                       Variadic<F32>:$acc, DefaultValuedAttr<BoolAttr, "true">:$rowMajorA,
                       DefaultValuedAttr<BoolAttr, "false">:$rowMajorB);
  let results = (outs Variadic<F32>:$results);
  let assemblyFormat = [{
    $shape $elementType $a `,` $b `acc` `(` $acc `:` type($acc) `)` attr-dict
  }];
  let hasVerifier = 1;
}

def Tcc_WgmmaWaitOp : Tcc_Op<"wgmma_wait",
    [MemoryEffects<[MemRead, MemWrite]>, AllTypesMatch<["acc", "results"]>]> {
  let summary = "Wait for a warpgroup's multiplications";
  let description = [{
    After it at most `pending` committed groups are unfinished. The results are
    the accumulators, which now may be used: the dependence holds the uses back
    (wgmma.wait_group itself carries none).

    ```mlir
    %d:128 = tcc.wgmma_wait 0 (%c… : f32, …)
    ```
  }];
  let arguments = (ins I64Attr:$pending, Variadic<F32>:$acc);
  let results = (outs Variadic<F32>:$results);
  let assemblyFormat = "$pending `(` $acc `:` type($acc) `)` attr-dict";
}

def Tcc_WgmmaFenceOp : Tcc_Op<"wgmma_fence",
    [MemoryEffects<[MemRead, MemWrite]>, AllTypesMatch<["acc", "results"]>]> {
  let summary = "Order a warpgroup's accesses to accumulators before its multiplications";
  let description = [{
    Stands before the first `tcc.wgmma` that reads registers written otherwise.
    The results are the accumulators: the dependence makes what initialises them
    come first (wgmma.fence itself carries none).

    ```mlir
    %d:128 = tcc.wgmma_fence (%c… : f32, …)
    ```
  }];
  let arguments = (ins Variadic<F32>:$acc);
  let results = (outs Variadic<F32>:$results);
  let assemblyFormat = "`(` $acc `:` type($acc) `)` attr-dict";
}

#endif // TCC_DIALECT_TCC_IR_TCCTHREADOPS_TD
