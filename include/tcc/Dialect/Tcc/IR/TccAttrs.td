//===- TccAttrs.td - Attributes of the tcc dialect ---------------*- tablegen -*-===//

#ifndef TCC_DIALECT_TCC_IR_TCCATTRS_TD
#define TCC_DIALECT_TCC_IR_TCCATTRS_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/TensorEncoding.td"
include "tcc/Dialect/Tcc/IR/TccDialect.td"
include "tcc/Dialect/Tcc/IR/TccEnums.td"

class Tcc_Attr<string name, string attrMnemonic, list<Trait> traits = []>
    : AttrDef<Tcc_Dialect, name, traits> {
  let mnemonic = attrMnemonic;
}

//===----------------------------------------------------------------------===//
// Enumerations as attributes of ops
//===----------------------------------------------------------------------===//

def Tcc_TransportAttr : EnumAttr<Tcc_Dialect, Tcc_Transport, "transport">;
def Tcc_MmaFamilyAttr : EnumAttr<Tcc_Dialect, Tcc_MmaFamily, "mma_family">;
def Tcc_OperandAttr : EnumAttr<Tcc_Dialect, Tcc_Operand, "operand">;

//===----------------------------------------------------------------------===//
// Schedule
//===----------------------------------------------------------------------===//

def Tcc_ScheduleAttr : Tcc_Attr<"Schedule", "schedule"> {
  let summary = "How a kernel is built";
  let description = [{
    Every structural choice of a kernel. A user writes it on the function as
    `tcc.schedule`; `tcc-select-target` checks it against the chip, or chooses
    one and says why in a remark. All passes read it and none guesses.

    - `block`: M, N and K of the tile that a thread block computes.
    - `warps`: how many warps (for `wgmma`: consumer warps, a multiple of 4)
      divide the tile along M and N.
    - `mma`: the instruction family.
    - `transport`, `stages`: how operand tiles reach shared memory, and how
      many of them are there at a time.
    - `epilogue`: how the accumulator reaches global memory.
    - `roles`: `uniform`, or a producer with `cooperative` or `ping_pong`
      consumers.
    - `alignment`: bytes to which every row of A, B and C in global memory is
      aligned; copies and stores are at most that wide. A variant's
      preconditions promise it.
    - `raster`: number of tiles along M that are visited before the next
      column of tiles, for reuse in the L2 cache; 1 is plain order. Neighbours
      share what they fetch, those in groups of the same height most.
    - `persistent`: a block computes several tiles, one after the other.
    - `cluster`: blocks of a cluster along M and N. Each brings a share of the
      rows of A (columns of B) that they have in common and multicasts it.
    - `pending`: how many slabs' multiplications may be unfinished when the
      next slab is waited for (wgmma): 0 or 1.
    - `chunk`: columns (rows if `swapped`) that go through the staging buffer at
      a time, for `epilogue = tma` of tiles whose columns (rows) warps don't split;
      0 stands for a line of 128 bytes (32 rows).
    - `swapped`: wgmma multiplies Bᵀ and Aᵀ, so that its m runs along N and its n
      along M. The block's M is then any multiple of 8 and N one of 64; warpgroups
      are four warps along N.
    - `dependent_launch`: the kernel may be launched before the one ahead of it in
      the stream has ended (CUDA's programmatic dependent launch): it waits for
      that one's results before it reads or writes global memory, and lets the
      next one start when it has issued its last copies.
    - `split_k`: blocks of a cluster that share one tile and divide its K; each sums
      its part, and they add the parts up through each other's shared memory, in
      the same order every time.
    - `producer_warps`: the producer's warps, of which one thread issues the copies:
      4, a warpgroup whose registers more than one warpgroup of consumers get
      (setmaxnreg), or 1.

    With `roles = ping_pong`, `block` and `warps` are one consumer group's: two
    groups take tiles in turn, so that one multiplies while the other stores.

    Example:

    ```mlir
    #tcc.schedule<block = [128, 256, 64], warps = [2, 4], mma = mma_sync,
                  transport = cp_async, stages = 3>
    ```
  }];
  let parameters = (ins
    ArrayRefParameter<"int64_t">:$block,
    ArrayRefParameter<"int64_t">:$warps,
    "MmaFamily":$mma,
    "Transport":$transport,
    "int64_t":$stages,
    DefaultValuedParameter<"Epilogue", "Epilogue::Direct">:$epilogue,
    DefaultValuedParameter<"Roles", "Roles::Uniform">:$roles,
    OptionalArrayRefParameter<"int64_t">:$alignment,
    DefaultValuedParameter<"int64_t", "1">:$raster,
    DefaultValuedParameter<"bool", "false">:$persistent,
    OptionalArrayRefParameter<"int64_t">:$cluster,
    DefaultValuedParameter<"int64_t", "0">:$pending,
    DefaultValuedParameter<"int64_t", "0">:$chunk,
    DefaultValuedParameter<"bool", "false">:$swapped,
    DefaultValuedParameter<"bool", "false">:$dependentLaunch,
    DefaultValuedParameter<"int64_t", "1">:$splitK,
    DefaultValuedParameter<"int64_t", "4">:$producerWarps
  );
  let builders = [AttrBuilder<(ins "const ScheduleFields &":$fields), [{
    return $_get($_ctxt, ArrayRef<int64_t>(fields.block), ArrayRef<int64_t>(fields.warps),
                 fields.mma, fields.transport, fields.stages, fields.epilogue, fields.roles,
                 ArrayRef<int64_t>(fields.alignment), fields.raster, fields.persistent,
                 ArrayRef<int64_t>(fields.cluster), fields.pending, fields.chunk, fields.swapped,
                 fields.dependentLaunch, fields.splitK, fields.producerWarps);
  }]>];
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    int64_t getBlockM() const { return getBlock()[0]; }
    int64_t getBlockN() const { return getBlock()[1]; }
    int64_t getBlockK() const { return getBlock()[2]; }
    int64_t getWarpsM() const { return getWarps()[0]; }
    int64_t getWarpsN() const { return getWarps()[1]; }
    /// Blocks of a cluster along M and N; 1 if there are no clusters.
    int64_t getClusterM() const { return getCluster().empty() ? 1 : getCluster()[0]; }
    int64_t getClusterN() const { return getCluster().empty() ? 1 : getCluster()[1]; }
    /// Blocks of a cluster, whether they have tiles of their own or share one.
    int64_t getClusterBlocks() const { return getClusterM() * getClusterN() * getSplitK(); }
    /// Warps that share a tile.
    int64_t getNumTileWarps() const { return getWarpsM() * getWarpsN(); }
    /// Groups of warps that take tiles in turn.
    int64_t getNumGroups() const { return getRoles() == Roles::PingPong ? 2 : 1; }
    /// Warps that multiply; a producer comes on top.
    int64_t getNumMmaWarps() const { return getNumTileWarps() * getNumGroups(); }
    /// The dimension of the tile (0 for M, 1 for N) along which wgmma's n runs: a
    /// warpgroup has all of it, or a contiguous part.
    unsigned getAtomNDim() const { return getSwapped() ? 0 : 1; }
    /// All of it, to be changed and made an attribute again.
    ScheduleFields getFields() const;
    /// Threads of a block, a specialised producer's among them.
    int64_t getNumThreads() const {
      return (getNumMmaWarps() + (getRoles() == Roles::Uniform ? 0 : getProducerWarps())) * 32;
    }
    /// Whether consumers get registers of the producer's (PTX ISA, setmaxnreg: all
    /// warps of a warpgroup ask). One warpgroup of them has enough from the start.
    bool movesRegisters() const {
      return getRoles() != Roles::Uniform && getProducerWarps() == 4 && getNumMmaWarps() > 4;
    }
    /// Bytes to which the rows of an operand are aligned in global memory; 2 if
    /// nothing is known.
    int64_t getAlignmentOf(Operand operand) const;
  }];
}

//===----------------------------------------------------------------------===//
// Layouts of shared buffers
//===----------------------------------------------------------------------===//

def Tcc_SharedLayoutAttr : Tcc_Attr<"SharedLayout", "layout"> {
  let summary = "Where an element of a shared buffer lies";
  let description = [{
    Maps (row, column) of a two-dimensional tile to a byte offset. `contiguous`
    is the dimension whose neighbours are adjacent in memory (the inner one).

    - `span = 0`: rows of the inner dimension follow each other, `pad` bytes
      apart. `pad` must keep rows aligned to 16 bytes (ldmatrix's rows, and
      wmma's leading dimension: PTX ISA, wmma.load and ldmatrix).
    - `span = 32 | 64 | 128`: the inner dimension is cut in blocks of `span`
      bytes; a block holds all rows, `span` bytes each; blocks follow each
      other. Within a block, 16-byte chunks are permuted: bits 4.. of the byte
      address are XORed with bits 7.. (1, 2 or 3 of them). This is the layout
      that TMA writes and wgmma reads (PTX ISA, "Shared Memory Matrix Layout").
    - any other odd multiple of 16 as `span`: the same blocks without the XOR,
      which TMA stores as boxes that are not swizzled. Eight rows' chunks at the
      same place lie in different banks all the same.

    Examples: `#tcc.layout<contiguous = 1, span = 128>`,
    `#tcc.layout<contiguous = 1, span = 176>`,
    `#tcc.layout<contiguous = 1, pad = 16>`, `#tcc.layout<contiguous = 0>`.
  }];
  let parameters = (ins
    "int64_t":$contiguous,
    DefaultValuedParameter<"int64_t", "0">:$span,
    DefaultValuedParameter<"int64_t", "0">:$pad
  );
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// True if `span` is one of the hardware's swizzles.
    bool isSwizzled() const { return getSpan() != 0 && getSpan() % 32 == 0; }
  }];
}

//===----------------------------------------------------------------------===//
// Distributions of tiles over threads
//===----------------------------------------------------------------------===//

def Tcc_FragmentAttr : Tcc_Attr<"Fragment", "fragment",
    [DeclareAttrInterfaceMethods<VerifiableTensorEncoding>]> {
  let summary = "A tile spread over warps as operands of an MMA atom";
  let description = [{
    The tile is a grid of atoms of `shape` = [m, n, k] (operand `a` uses m and
    k, `b` k and n, `c` m and n). Atoms are dealt to `warps` = [along M, along
    N]: along M in turn (atom row i belongs to warp i mod warps[0]), along N in
    contiguous runs. Dealing rows in turn keeps any multiple of m * warps[0]
    rows a legal tile, which the epilogue uses to go through shared memory in
    slices. Operand `a` is replicated along N's warps, `b` along M's.

    With `transposed`, which accumulators of wgmma may be, the tile is the
    transpose of that: its rows are the atoms' columns. `shape` and `warps` are
    still the atom's, along its m first.

    The registers of a thread hold its atoms row by row; within an atom, as the
    instruction defines (PTX ISA, "Matrix Fragments for mma"). For `wmma` the
    order inside an atom is opaque: position-independent arithmetic between
    tiles of the same encoding is all that is allowed.

    Example: `#tcc.fragment<mma_sync, c, shape = [16, 8, 16], warps = [2, 4]>`
  }];
  let parameters = (ins
    "MmaFamily":$mma,
    "Operand":$operand,
    ArrayRefParameter<"int64_t">:$shape,
    ArrayRefParameter<"int64_t">:$warps,
    DefaultValuedParameter<"bool", "false">:$transposed
  );
  let assemblyFormat = [{
    `<` $mma `,` $operand `,` `shape` `=` `[` $shape `]` `,` `warps` `=` `[` $warps `]`
        (`,` `transposed` `=` $transposed^)? `>`
  }];
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// True if the position of a register in the tile is not known (wmma).
    bool isOpaque() const { return getMma() == MmaFamily::Wmma; }
    /// Rows and columns of the tile that an atom covers.
    std::pair<int64_t, int64_t> getAtomExtents() const;
    /// Rows and columns of the smallest legal tile.
    std::pair<int64_t, int64_t> getUnit() const;
    /// Atoms of a tile of the given extents that one warp owns, along the atoms' own
    /// rows and columns.
    std::pair<int64_t, int64_t> getAtomsPerWarp(ArrayRef<int64_t> tileShape) const;
    /// The dimension of the tile along which the atom's columns run.
    unsigned getColumnDim() const { return getTransposed() ? 0 : 1; }
    /// The fragment of the transposed tile.
    FragmentAttr getTranspose() const;
  }];
}

def Tcc_BlockedAttr : Tcc_Attr<"Blocked", "blocked",
    [DeclareAttrInterfaceMethods<VerifiableTensorEncoding>]> {
  let summary = "A tile spread over threads in vectors along one dimension";
  let description = [{
    The tile is cut in vectors of `vector` elements along dimension
    `contiguous`; vectors are numbered with that dimension fastest; vector v
    belongs to thread v mod `threads`. Neighbouring threads thus touch
    neighbouring memory. Threads past the end of the tile in the last pass own
    nothing there.

    Example: `#tcc.blocked<vector = 4, contiguous = 1, threads = 256>`
  }];
  let parameters = (ins
    "int64_t":$vector,
    "int64_t":$contiguous,
    "int64_t":$threads
  );
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Vectors of a tile that one thread owns, rounded up.
    int64_t getVectorsPerThread(ArrayRef<int64_t> tileShape) const;
  }];
}

def Tcc_SliceAttr : Tcc_Attr<"Slice", "slice",
    [DeclareAttrInterfaceMethods<VerifiableTensorEncoding>]> {
  let summary = "A row or column tile spread as a matrix tile is";
  let description = [{
    The distribution of a one-dimensional tile that is to be broadcast along
    `dim` of a matrix tile with distribution `parent` and `size` elements along
    `dim`: a thread owns, register for register, the element at the remaining
    coordinate.

    Example: `#tcc.slice<dim = 0, size = 128, parent = #tcc.fragment<…>>` for a
    bias per column of a tile of 128 rows.
  }];
  let parameters = (ins "int64_t":$dim, "int64_t":$size, "Attribute":$parent);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

#endif // TCC_DIALECT_TCC_IR_TCCATTRS_TD
