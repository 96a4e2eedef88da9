//===- TccTileOps.td - Ops on tiles and shared buffers -----------*- tablegen -*-===//

#ifndef TCC_DIALECT_TCC_IR_TCCTILEOPS_TD
#define TCC_DIALECT_TCC_IR_TCCTILEOPS_TD

include "tcc/Dialect/Tcc/IR/TccOpBase.td"

//===----------------------------------------------------------------------===//
// Tiles and global memory
//===----------------------------------------------------------------------===//

def Tcc_LoadOp : Tcc_Op<"load"> {
  let summary = "Load a tile from a matrix; elements outside are zero";
  let description = [{
    Reads the tile whose first element is at `offsets`. Elements outside the
    matrix are zero: an edge tile needs no special case. Offsets are not
    negative.

    `bytes` is the width of an access: rows of the matrix are aligned to it
    (absent: one element). `clamp` is as for `tcc.copy`.

    1. The tile has the matrix's rank and element type.
    2. There is one offset for each dimension.
    3. `bytes` is 1, 2, 4, 8 or 16, and no less than an element.

    ```mlir
    %a = tcc.load %A[%m, %k] : memref<?x?xf16> -> tensor<128x64xf16>
    ```
  }];
  let arguments = (ins Arg<Tcc_Matrix, "", [MemRead]>:$source, Variadic<Index>:$offsets,
                       OptionalAttr<I64Attr>:$bytes, OptionalAttr<I64Attr>:$clamp);
  let results = (outs Tcc_Tile:$result);
  let assemblyFormat = [{
    $source `[` $offsets `]` attr-dict `:` type($source) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Tcc_StoreOp : Tcc_Op<"store"> {
  let summary = "Store a tile to a matrix; elements outside are dropped";
  let description = [{
    Writes the tile to the part of the matrix that begins at `offsets`.
    Elements outside the matrix are dropped. `bytes` is as for `tcc.load`.

    1. The tile has the matrix's rank and element type.
    2. There is one offset for each dimension.
    3. `bytes` is 1, 2, 4, 8 or 16, and no less than an element.

    ```mlir
    tcc.store %c, %C[%m, %n] : tensor<128x256xf32>, memref<?x?xf32>
    ```
  }];
  let arguments = (ins Tcc_Tile:$value, Arg<Tcc_Matrix, "", [MemWrite]>:$dest,
                       Variadic<Index>:$offsets, OptionalAttr<I64Attr>:$bytes);
  let assemblyFormat = [{
    $value `,` $dest `[` $offsets `]` attr-dict `:` type($value) `,` type($dest)
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Arithmetic and distribution
//===----------------------------------------------------------------------===//

def Tcc_MatmulOp : Tcc_Op<"matmul",
    [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>, AlwaysSpeculatable,
     AllTypesMatch<["acc", "result"]>]> {
  let summary = "Multiply two tiles and add an accumulator tile";
  let description = [{
    `result = lhs * rhs + acc` in the accumulator's type. An operand is a tile
    in registers or, for atoms that read shared memory, a shared buffer, at
    `slot` if it has several stages.

    1. lhs is MxK, rhs is KxN, acc is MxN.
    2. lhs and rhs have the same element type: f16 or bf16.
    3. The accumulator is f32.
    4. Either no operand has an encoding, or each has that of its role: the
       lhs `a`, the rhs `b`, the accumulator `c` of one atom and warp grid.
    5. `slot` is given if and only if an operand is a buffer of several stages.
    6. `pending` is for operands in shared memory.

    With `pending`, that many of the last matmuls may be unfinished after this
    one, itself included: their result is for the next `tcc.matmul` and for
    `tcc.matmul_wait` alone.

    ```mlir
    %d = tcc.matmul %a, %b, %c : tensor<128x64xf16>, tensor<64x256xf16>, tensor<128x256xf32>
    ```
  }];
  let arguments = (ins AnyTypeOf<[Tcc_Tile, Tcc_SharedType]>:$lhs,
                       AnyTypeOf<[Tcc_Tile, Tcc_SharedType]>:$rhs, Tcc_Tile:$acc,
                       Optional<I32>:$slot, DefaultValuedAttr<I64Attr, "0">:$pending);
  let results = (outs Tcc_Tile:$result);
  let builders = [OpBuilder<(ins "Value":$lhs, "Value":$rhs, "Value":$acc), [{
    build($_builder, $_state, acc.getType(), lhs, rhs, acc, /*slot=*/Value(), /*pending=*/0);
  }]>];
  let assemblyFormat = [{
    $lhs `,` $rhs `,` $acc (`slot` $slot^)? attr-dict `:` type($lhs) `,` type($rhs) `,` type($acc)
  }];
  let hasVerifier = 1;
}

def Tcc_MatmulWaitOp : Tcc_Op<"matmul_wait", [MemoryEffects<[MemRead, MemWrite]>,
                                                AllTypesMatch<["acc", "result"]>]> {
  let summary = "Wait for the matmuls that made an accumulator";
  let description = [{
    ```mlir
    %1 = tcc.matmul_wait %0 : tensor<128x192xf32, #frag_c>
    ```
  }];
  let arguments = (ins Tcc_Tile:$acc);
  let results = (outs Tcc_Tile:$result);
  let assemblyFormat = "$acc attr-dict `:` type($acc)";
}

def Tcc_ClusterReduceOp : Tcc_Op<"cluster_reduce",
    [SingleBlock, NoTerminator, MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Add up what the blocks of a cluster have of one tile";
  let description = [{
    Every block of the cluster has a part of the sum in `acc`. The block of rank
    i runs region i, whose argument is the whole sum: regions divide the work
    that follows. Parts are added by rank, in every block.

    What a region uses of its argument, the other blocks send to the block that
    runs it, into `buffers`, whose contents are lost: no thread of the block may
    still read them, nor a copy be on its way there.

    1. There is a region for each of at least two blocks.
    2. A region's argument has the accumulator's type.
    3. There is at least one buffer.

    ```mlir
    tcc.cluster_reduce %acc through %sa, %sb : tensor<128x64xf32>, !tcc.shared<…>, !tcc.shared<…> {
    ^bb0(%sum: tensor<128x64xf32>):
      … the first slices …
    }, {
    ^bb0(%sum: tensor<128x64xf32>):
      … the others …
    }
    ```
  }];
  let arguments = (ins Tcc_Tile:$acc, Variadic<Tcc_SharedType>:$buffers);
  let regions = (region VariadicRegion<SizedRegion<1>>:$shares);
  let assemblyFormat = [{
    $acc `through` $buffers attr-dict `:` type($acc) `,` type($buffers) $shares
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Of shared memory, for two mbarriers.
    static constexpr int64_t kBarrierBytes = 16;
  }];
}

def Tcc_ConvertLayoutOp : Tcc_Op<"convert_layout", [Pure]> {
  let summary = "Give a tile another distribution over threads";
  let description = [{
    The same tile with another encoding. Folds away when the encodings are
    equal, and into another conversion.

    1. Operand and result have the same shape and element type.

    ```mlir
    %1 = tcc.convert_layout %0 : tensor<32x64xf32, #frag> -> tensor<32x64xf32, #blocked>
    ```
  }];
  let arguments = (ins Tcc_Tile:$source);
  let results = (outs Tcc_Tile:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
  let hasFolder = 1;
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Shared buffers
//===----------------------------------------------------------------------===//

def Tcc_AllocSharedOp : Tcc_Op<"alloc_shared"> {
  let summary = "A buffer in shared memory, for the life of the block";
  let description = [{
    ```mlir
    %sa = tcc.alloc_shared : !tcc.shared<128x64xf16>
    ```
  }];
  let results = (outs Res<Tcc_SharedType, "", [MemAlloc]>:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}

def Tcc_CopyOp : Tcc_Op<"copy", [AttrSizedOperandSegments]> {
  let summary = "Copy a tile from global to shared memory";
  let description = [{
    Like a `tcc.load` whose result lands in a shared buffer. `transport` says
    by which instructions, `bytes` how many bytes one of them moves (1, 2, 4, 8
    or 16; for `tma` 16): the matrix's rows must be aligned to that. An
    asynchronous transport completes at the `tcc.consumer_wait` of the pipeline
    that guards the buffer.

    `clamp`, if given, is a dimension along which elements outside the matrix
    need not be zero but may be any element of the matrix: they reach only
    rows or columns of the result that no store keeps.

    `multicast`, for `tma`, is the dimension of the cluster along which blocks
    have this tile in common: each brings its share to all of them.

    1. The buffer has the matrix's rank and element type.
    2. `slot` is given if and only if the buffer has several stages.
    3. `cp_async` moves 4, 8 or 16 bytes (PTX ISA, cp.async).
    4. `multicast` is 0 or 1, and for `tma` alone.

    ```mlir
    tcc.copy cp_async %A[%m, %k], %sa slot %i {bytes = 16, clamp = 0}
      : memref<?x?xf16>, !tcc.shared<128x64xf16, stages = 3, #layout>
    ```
  }];
  let arguments = (ins Tcc_TransportAttr:$transport,
                       Arg<Tcc_Matrix, "", [MemRead]>:$source, Variadic<Index>:$offsets,
                       Arg<Tcc_SharedType, "", [MemWrite]>:$dest, Optional<I32>:$slot,
                       I64Attr:$bytes, OptionalAttr<I64Attr>:$clamp,
                       OptionalAttr<I64Attr>:$multicast);
  let builders = [OpBuilder<(ins "Transport":$transport, "Value":$source, "ValueRange":$offsets,
                                 "Value":$dest, "Value":$slot, "int64_t":$bytes,
                                 "IntegerAttr":$clamp), [{
    build($_builder, $_state, transport, source, offsets, dest, slot, bytes, clamp,
          /*multicast=*/IntegerAttr());
  }]>];
  let assemblyFormat = [{
    $transport $source `[` $offsets `]` `,` $dest (`slot` $slot^)? attr-dict
    `:` type($source) `,` type($dest)
  }];
  let hasVerifier = 1;
}

def Tcc_LocalLoadOp : Tcc_Op<"local_load"> {
  let summary = "Read a tile, or a part of it, from a shared buffer into registers";
  let description = [{
    1. The tile at `offsets` (default zero) lies inside the buffer.
    2. Tile and buffer have the same element type.
    3. `slot` is given if and only if the buffer has several stages.

    ```mlir
    %a = tcc.local_load %sa slot %i at [0, 16]
      : !tcc.shared<128x64xf16, stages = 3, #layout> -> tensor<128x16xf16, #frag_a>
    ```
  }];
  let arguments = (ins Arg<Tcc_SharedType, "", [MemRead]>:$source, Optional<I32>:$slot,
                       DefaultValuedOptionalAttr<DenseI64ArrayAttr, "{0, 0}">:$offsets);
  let results = (outs Tcc_Tile:$result);
  let assemblyFormat = [{
    $source (`slot` $slot^)? (`at` $offsets^)? attr-dict `:` type($source) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Tcc_LocalStoreOp : Tcc_Op<"local_store"> {
  let summary = "Write a tile from registers to a shared buffer";
  let description = [{
    1. Tile and buffer have the same shape and element type.
    2. `slot` is given if and only if the buffer has several stages.

    ```mlir
    tcc.local_store %t, %s : tensor<32x256xf32, #frag_c>, !tcc.shared<32x256xf32, #layout>
    ```
  }];
  let arguments = (ins Tcc_Tile:$value, Arg<Tcc_SharedType, "", [MemWrite]>:$dest,
                       Optional<I32>:$slot);
  let assemblyFormat = [{
    $value `,` $dest (`slot` $slot^)? attr-dict `:` type($value) `,` type($dest)
  }];
  let hasVerifier = 1;
}

def Tcc_BulkStoreOp : Tcc_Op<"bulk_store", [AttrSizedOperandSegments]> {
  let summary = "Copy a shared buffer to a matrix by TMA";
  let description = [{
    Elements outside the matrix are dropped. The copy is asynchronous: the
    buffer may be written again after a `tcc.bulk_wait`. Until
    `tcc-insert-barriers` the ops follow each other in program order.

    1. Buffer and matrix have the same rank and element type.
    2. `slot` is given if and only if the buffer has several stages.

    ```mlir
    tcc.bulk_store %sc slot %g, %C[%m, %n] : !tcc.shared<128x32xbf16, stages = 2, #layout>, memref<?x?xbf16>
    ```
  }];
  let arguments = (ins Arg<Tcc_SharedType, "", [MemRead]>:$source, Optional<I32>:$slot,
                       Arg<Tcc_Matrix, "", [MemWrite]>:$dest, Variadic<Index>:$offsets);
  let assemblyFormat = [{
    $source (`slot` $slot^)? `,` $dest `[` $offsets `]` attr-dict
    `:` type($source) `,` type($dest)
  }];
  let hasVerifier = 1;
}

def Tcc_BulkWaitOp : Tcc_Op<"bulk_wait", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Wait for the bulk stores of this consumer group";
  let description = [{
    With `read`, until they have read their buffers; without, until they have
    written the matrix too.

    ```mlir
    tcc.bulk_wait read
    ```
  }];
  let arguments = (ins UnitAttr:$read);
  let assemblyFormat = "(`read` $read^)? attr-dict";
}

#endif // TCC_DIALECT_TCC_IR_TCCTILEOPS_TD
