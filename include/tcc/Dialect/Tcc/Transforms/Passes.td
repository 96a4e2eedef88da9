//===- Passes.td - Passes from level to level of a kernel ------*- tablegen -*-===//
//
// In the order in which the pipelines run them. Every pass walks all kernels (func.func) under the
// op that it runs on, and refuses a kernel that is not on the level it expects (docs/IR.md).
//
//===----------------------------------------------------------------------===//

#ifndef TCC_DIALECT_TCC_TRANSFORMS_PASSES_TD
#define TCC_DIALECT_TCC_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def SelectTargetPass : Pass<"tcc-select-target", "::mlir::ModuleOp"> {
  let summary = "Give each kernel a chip, a schedule and variants (L0 -> L0t, L1 -> L1)";
  let description = [{
    Moves every function of the module into a `gpu.module` for `chip`. The
    function is L0 (linalg on memrefs or tensors) or a hand-written tile program
    (L1); what it computes, and from which arguments, is found by a symbolic walk
    through it, so that the form in which it is written doesn't matter. Anything
    that can't become a kernel is refused here, where it stands.

    The schedule is the function's `tcc.schedule`, checked against the chip, or
    the fastest by a simple cost model, which a remark `Schedule` explains. The
    block tile of a tile program is what its loops step by.

    The kernel is copied into variants by the alignment of the matrices' rows,
    widest first, each with the preconditions under which it may be launched; the
    last has none. A chip that has cp.async uses it down to rows aligned to 4
    bytes, and registers below.

    ```mlir
    func.func @gemm(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf32>) { … }
    ```
    becomes, with `chip=sm_80`
    ```mlir
    gpu.module @gemm [#nvvm.target<chip = "sm_80">] {
      func.func @gemm(%A: memref<?x?xf16> {tcc.name = "A", tcc.dims = ["M", "K"], tcc.direction = "in"}, …)
        attributes {tcc.level = "L0t", tcc.kernel = "gemm", tcc.variant = "align16",
                    tcc.preconditions = ["A.ptr % 16 == 0", "A.stride0 * 2 % 16 == 0", …],
                    tcc.schedule = #tcc.schedule<block = [128, 256, 64], warps = [2, 4], mma = mma_sync,
                                                 transport = cp_async, stages = 3, alignment = [16, 16, 16]>,
                    tcc.reference = […]} { … }
      func.func @gemm_align16_narrow_store(…) …
      func.func @gemm_align8(…) …
      func.func @gemm_align4(…) …
      func.func @gemm_align2(…) attributes {tcc.preconditions = [], …} { … }
    }
    ```

    Tensors in the signature become row-major memrefs. A result is written to the
    argument that is its destination (`outs`), else to a new last argument.
    An output that is narrower than f32 is accumulated in f32, the old C included,
    and rounded once; the remark `NumericContract` says so.
  }];
  let options = [
    Option<"chip", "chip", "std::string", /*default=*/"\"\"",
           "The chip to compile for: sm_70, sm_80, sm_90a, …">,
    Option<"backend", "backend", "std::string", /*default=*/"\"auto\"",
           "The instruction family: auto, wmma, mma_sync or wgmma">
  ];
  let dependentDialects = ["::mlir::bufferization::BufferizationDialect", "::mlir::gpu::GPUDialect",
                           "::mlir::memref::MemRefDialect", "::mlir::NVVM::NVVMDialect",
                           "::mlir::tcc::TccDialect"];
}

def TilePass : Pass<"tcc-tile"> {
  let summary = "Turn linalg on matrices into a program on tiles (L0t -> L1)";
  let description = [{
    Writes the kernel anew from what it computes: a loop over output tiles, in it
    a loop over K that loads and multiplies tiles, then the elementwise work on
    tiles of the result, and the store. Temporaries vanish. The tile is the
    schedule's block. Kernels that are on L1 already are left alone.

    ```mlir
    linalg.fill ins(%zero : f32) outs(%C : memref<?x?xf32>)
    linalg.matmul ins(%A, %B : memref<?x?xf16>, memref<?x?xf16>) outs(%C : memref<?x?xf32>)
    ```
    becomes
    ```mlir
    scf.forall (%m, %n) = (0, 0) to (%M, %N) step (128, 256) {
      %acc = scf.for %k = %c0 to %K step %c64 iter_args(%c = %zero) -> (tensor<128x256xf32>) {
        %a = tcc.load %A[%m, %k] : memref<?x?xf16> -> tensor<128x64xf16>
        %b = tcc.load %B[%k, %n] : memref<?x?xf16> -> tensor<64x256xf16>
        %d = tcc.matmul %a, %b, %c : tensor<128x64xf16>, tensor<64x256xf16>, tensor<128x256xf32>
        scf.yield %d : tensor<128x256xf32>
      }
      tcc.store %acc, %C[%m, %n] : tensor<128x256xf32>, memref<?x?xf32>
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
                           "::mlir::tensor::TensorDialect", "::mlir::tcc::TccDialect"];
}

def StageSharedPass : Pass<"tcc-stage-shared"> {
  let summary = "Bring operands through shared memory and choose the epilogue's path (L1 -> L2)";
  let description = [{
    Every operand tile of the matmul gets a shared buffer, a copy into it by the
    schedule's transport, and a load from it. A copy moves as many bytes at once
    as the schedule's alignment of that operand promises, 16 at most, and clamps
    along the dimension that is not contracted: what lies outside the matrix
    there reaches no element that is stored.

    ```mlir
    %a = tcc.load %A[%m, %k] : memref<?x?xf16> -> tensor<128x64xf16>
    %d = tcc.matmul %a, %b, %c : …
    ```
    becomes
    ```mlir
    %sa = tcc.alloc_shared : !tcc.shared<128x64xf16>         // at the top of the tile
    tcc.copy cp_async %A[%m, %k], %sa {bytes = 16, clamp = 0} : …
    %a = tcc.local_load %sa : !tcc.shared<128x64xf16> -> tensor<128x64xf16>
    %d = tcc.matmul %a, %b, %c : …
    ```

    An atom that reads shared memory (wgmma) takes the buffers themselves.

    With `epilogue = shared` everything after the loop is done on slices of as
    many rows as one row of atoms has, each brought from the accumulator's
    distribution into rows through a staging buffer:

    ```mlir
    %bias = tcc.load %v[%n] : memref<?xf32> -> tensor<256xf32>
    %bb = linalg.broadcast ins(%bias) outs(%e) dimensions = [0]
    %r = arith.addf %acc, %bb : tensor<128x256xf32>
    tcc.store %r, %C[%m, %n] : tensor<128x256xf32>, memref<?x?xf32>
    ```
    becomes
    ```mlir
    %bias = tcc.load %v[%n] : memref<?xf32> -> tensor<256xf32>    // once: it has no rows
    %s0 = tensor.extract_slice %acc[0, 0] [32, 256] [1, 1] : …
    tcc.local_store %s0, %sc : tensor<32x256xf32>, !tcc.shared<32x256xf32>
    %t0 = tcc.local_load %sc : !tcc.shared<32x256xf32> -> tensor<32x256xf32>
    %b0 = linalg.broadcast ins(%bias) outs(%e0) dimensions = [0]
    %r0 = arith.addf %t0, %b0 : tensor<32x256xf32>
    tcc.store %r0, %C[%m, %n] {bytes = 16} : tensor<32x256xf32>, memref<?x?xf32>
    …                                                             // rows 32, 64, 96
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect", "::mlir::tcc::TccDialect"];
}

def LayoutSharedPass : Pass<"tcc-layout-shared"> {
  let summary = "Choose where elements lie in shared memory (L2)";
  let description = [{
    Gives every shared buffer without one a layout. The contiguous dimension of
    an operand's buffer is its matrix's, so that copies move whole runs; a
    staging buffer has rows. Among the layouts that the reader of the buffer
    allows (ldmatrix any, wmma none in blocks, wgmma swizzled ones only) the one
    with the fewest bank conflicts is taken; what TMA stores is in the widest
    blocks that the lines allow. A remark `SharedLayout` names the layout and the
    conflicts that are left. A layout that is there already is checked and kept.

    ```mlir
    %sa = tcc.alloc_shared : !tcc.shared<128x64xf16>
    %sc = tcc.alloc_shared : !tcc.shared<32x256xf32>
    ```
    becomes, for mma_sync,
    ```mlir
    %sa = tcc.alloc_shared : !tcc.shared<128x64xf16, #tcc.layout<contiguous = 1, span = 128>>
    %sc = tcc.alloc_shared : !tcc.shared<32x256xf32, #tcc.layout<contiguous = 1, pad = 32>>
    ```
  }];
  let dependentDialects = ["::mlir::tcc::TccDialect"];
}

def AssignFragmentsPass : Pass<"tcc-assign-fragments"> {
  let summary = "Distribute every tile over threads (L2 -> L3)";
  let description = [{
    Writes a distribution into the type of every tile. The matmul's operands and
    accumulator get the fragments of the chip's atom; tiles read from a staging
    buffer are dealt by rows. From there encodings spread through elementwise ops
    and slices to what is stored, and back into constants, `tensor.empty`, loads
    from global memory and broadcasts. Where two meet, `tcc.convert_layout`
    stands.

    ```mlir
    %d = tcc.matmul %a, %b, %c : tensor<128x64xf16>, tensor<64x256xf16>, tensor<128x256xf32>
    …
    %bias = tcc.load %v[%n] : memref<?xf32> -> tensor<256xf32>
    %bb = linalg.broadcast ins(%bias) outs(%e) dimensions = [0]
    %r = arith.addf %acc, %bb : tensor<128x256xf32>
    ```
    becomes
    ```mlir
    #a = #tcc.fragment<mma_sync, a, shape = [16, 8, 16], warps = [2, 4]>   // #b, #c likewise
    %d = tcc.matmul %a, %b, %c : tensor<128x64xf16, #a>, tensor<64x256xf16, #b>, tensor<128x256xf32, #c>
    …
    %bias = tcc.load %v[%n] : memref<?xf32> -> tensor<256xf32, #tcc.slice<dim = 0, size = 128, parent = #c>>
    %bb = linalg.broadcast ins(%bias) outs(%e) dimensions = [0]
    %r = arith.addf %acc, %bb : tensor<128x256xf32, #c>
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::tensor::TensorDialect",
                           "::mlir::tcc::TccDialect"];
}

def MapGridPass : Pass<"tcc-map-grid"> {
  let summary = "Give each output tile to a block (L3 -> L3g)";
  let description = [{
    The tile loop becomes one block a tile, on a grid of one dimension; with
    `persistent` a loop in which a block takes every gridDim-th tile. Tiles are
    numbered in groups of `raster` along M: a group is finished column by column
    before the next begins. Writes `tcc.grid` (expressions over the names of
    sizes) and `tcc.block`.

    ```mlir
    scf.forall (%m, %n) = (0, 0) to (%M, %N) step (128, 256) { … }
    ```
    becomes, with `raster = 1`,
    ```mlir
    // tcc.grid = ["ceildiv(M, 128) * ceildiv(N, 256)", "1", "1"], tcc.block = 256
    %tilesN = arith.ceildivui %N, %c256 : index
    %t = gpu.block_id x
    %i = arith.divui %t, %tilesN : index
    %j = arith.remui %t, %tilesN : index
    %m = arith.muli %i, %c128 : index
    %n = arith.muli %j, %c256 : index
    …
    ```
    and with `persistent = true`
    ```mlir
    // tcc.grid = ["min(ceildiv(M, 128) * ceildiv(N, 256), sm_count)", "1", "1"]
    scf.for %t = %block_id to %tiles step %grid_dim { … }
    ```
    With `split_k = S` a cluster of S blocks has a tile: they divide the loop over
    K by rank, and a `tcc.cluster_reduce` the slices that follow it.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::gpu::GPUDialect",
                           "::mlir::scf::SCFDialect"];
}

def PipelinePass : Pass<"tcc-pipeline"> {
  let summary = "Let copies run ahead of the matmuls (L3g)";
  let description = [{
    The operands' buffers get the schedule's stages, guarded by a pipeline.
    Copies of slabs past K bring zeros, so K may be anything, 0 included. Writes
    `tcc.shared_bytes` and refuses what the chip can't hold.

    ```mlir
    %acc = scf.for %k = %c0 to %K step %c64 iter_args(%c = %zero) -> (…) {
      tcc.copy cp_async %A[%m, %k], %sa {bytes = 16, clamp = 0} : …
      tcc.copy cp_async %B[%k, %n], %sb {bytes = 16, clamp = 1} : …
      %a = tcc.local_load %sa : …
      %b = tcc.local_load %sb : …
      %d = tcc.matmul %a, %b, %c : …
      scf.yield %d : …
    }
    ```
    becomes, with 3 stages,
    ```mlir
    %p = tcc.create_pipeline %sa, %sb : … -> !tcc.pipeline<cp_async, stages = 3>
    …                                                     // slots 0 and 1 are filled
    %r:5 = scf.for %k = %c0 to %K step %c64
        iter_args(%c = %zero, %rd = %c0_i32, %rp = %c0_i32, %wr = %c2_i32, %wp = %c0_i32) -> (…) {
      tcc.consumer_wait %p[%rd, %rp] {pending = 1} : …
      %k2 = arith.addi %k, %c128 : index
      tcc.producer_acquire %p[%wr, %wp] : …
      tcc.copy cp_async %A[%m, %k2], %sa slot %wr {bytes = 16, clamp = 0} : …
      tcc.copy cp_async %B[%k2, %n], %sb slot %wr {bytes = 16, clamp = 1} : …
      tcc.producer_commit %p[%wr, %wp] : …
      %a = tcc.local_load %sa slot %rd : …
      %b = tcc.local_load %sb slot %rd : …
      %d = tcc.matmul %a, %b, %c : …
      tcc.consumer_release %p[%rd, %rp] : …
      %rd1, %rp1 = tcc.advance %p[%rd, %rp] : …
      %wr1, %wp1 = tcc.advance %p[%wr, %wp] : …
      scf.yield %d, %rd1, %rp1, %wr1, %wp1 : …
    }
    tcc.drain %p : …
    ```

    With transport `register` (2 stages) a copy is cut in two: a `tcc.load` into a
    `#tcc.blocked` tile after the wait, and a `tcc.local_store` into the other
    slot after the matmul.

    With `roles = cooperative` and transport `tma` the copies become the loops of
    a producer, and everything else the consumers'; in a persistent kernel both
    have the loop over tiles, and slot and phase go from tile to tile:
    ```mlir
    tcc.warp_specialize consumers = 8 producer {
      scf.for %t = … iter_args(%s = %c0_i32, %ph = %c0_i32) -> (i32, i32) {
        …                                                 // where the tile is
        %r:2 = scf.for %k = … iter_args(%wr = %s, %wp = %ph) -> (i32, i32) {
          tcc.producer_acquire %p[%wr, %wp] : …
          tcc.copy tma %A[%m, %k], %sa slot %wr {bytes = 16} : …
          tcc.copy tma %B[%k, %n], %sb slot %wr {bytes = 16} : …
          tcc.producer_commit %p[%wr, %wp] : …
          …
        }
        scf.yield %r#0, %r#1 : i32, i32
      }
    } consumer {
      scf.for %t = … iter_args(%s = %c0_i32, %ph = %c0_i32) -> (i32, i32) {
        …
        %r:3 = scf.for %k = … iter_args(%c = %zero, %rd = %s, %rp = %ph) -> (…) {
          tcc.consumer_wait %p[%rd, %rp] : …
          %d = tcc.matmul %sa, %sb, %c slot %rd : …
          tcc.consumer_release %p[%rd, %rp] : …
          …
        }
        tcc.store %r#0, %C[%m, %n] {bytes = 8} : …
        scf.yield %r#1, %r#2 : i32, i32
      }
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::tcc::TccDialect"];
}

def SplitSlabsPass : Pass<"tcc-split-slabs"> {
  let summary = "Cut the matmul of a slab into steps of one atom's K (L3g)";
  let description = [{
    Each step loads its own part of the slab, one step ahead of the matmul that
    uses it. Matmuls that read shared memory themselves stay whole.

    ```mlir
    %a = tcc.local_load %sa slot %rd : … -> tensor<128x64xf16, #a>
    %b = tcc.local_load %sb slot %rd : … -> tensor<64x256xf16, #b>
    %d = tcc.matmul %a, %b, %c : …
    ```
    becomes
    ```mlir
    %a0 = tcc.local_load %sa slot %rd at [0, 0] : … -> tensor<128x16xf16, #a>
    %b0 = tcc.local_load %sb slot %rd at [0, 0] : … -> tensor<16x256xf16, #b>
    %a1 = tcc.local_load %sa slot %rd at [0, 16] : … -> tensor<128x16xf16, #a>
    %b1 = tcc.local_load %sb slot %rd at [16, 0] : … -> tensor<16x256xf16, #b>
    %d0 = tcc.matmul %a0, %b0, %c : …
    …
    ```
  }];
  let dependentDialects = ["::mlir::tcc::TccDialect"];
}

def InsertBarriersPass : Pass<"tcc-insert-barriers"> {
  let summary = "Order accesses to buffers that no pipeline guards (L3g -> L4)";
  let description = [{
    Puts a `gpu.barrier` between a write to such a buffer and a read of it, and
    between the read and the next write, across the iterations of loops too;
    none where a barrier or a pipeline's wait stands already. In a role it is a
    `tcc.group_barrier`. A buffer that a `tcc.bulk_store` reads takes a fence of
    the proxies before it and a `tcc.bulk_wait` before the next write.

    ```mlir
    tcc.local_store %s0, %sc : …
    %t0 = tcc.local_load %sc : …
    …
    tcc.local_store %s1, %sc : …
    ```
    becomes
    ```mlir
    tcc.local_store %s0, %sc : …
    gpu.barrier
    %t0 = tcc.local_load %sc : …
    …
    gpu.barrier
    tcc.local_store %s1, %sc : …
    ```
  }];
  let dependentDialects = ["::mlir::gpu::GPUDialect", "::mlir::NVVM::NVVMDialect",
                           "::mlir::tcc::TccDialect"];
}

def DistributePass : Pass<"tcc-distribute"> {
  let summary = "Turn tiles into one thread's registers (L4 -> L4d)";
  let description = [{
    Every tile becomes the registers that its encoding gives a thread (docs/IR.md
    has the table): elementwise ops become one op a register, matmuls become
    atoms, loads and stores become accesses with addresses. Warps are numbered
    along M first.

    Loads and stores of global memory are vectors where the tile is inside the
    matrix, and single elements where it crosses an edge; asynchronous copies say
    how many of their bytes are inside.

    ```mlir
    tcc.copy cp_async %A[%m, %k], %sa slot %wr {bytes = 16, clamp = 0} : …
    %a = tcc.local_load %sa slot %rd at [0, 16] : … -> tensor<128x16xf16, #a>
    %d = tcc.matmul %a, %b, %c : …
    ```
    becomes
    ```mlir
    nvvm.cp.async.shared.global %dst, %src, 16, cache = cg, %bytes : …   // once a chunk
    %a:4 = nvvm.ldmatrix %p {num = 4, …}                                 // once an atom
    %d:4 = tcc.mma mma_sync [16, 8, 16] a(%a#0, … : …) b(…) c(…) -> …    // once an atom
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::gpu::GPUDialect",
                           "::mlir::LLVM::LLVMDialect", "::mlir::memref::MemRefDialect",
                           "::mlir::NVVM::NVVMDialect", "::mlir::scf::SCFDialect",
                           "::mlir::ub::UBDialect", "::mlir::vector::VectorDialect",
                           "::mlir::tcc::TccDialect"];
}

def LowerPipelinePass : Pass<"tcc-lower-pipeline"> {
  let summary = "Turn pipelines into groups of copies and barriers (L4d)";
  let description = [{
    What stands behind a pipeline is its transport's: cp.async groups and
    barriers of the block (`cp_async`), barriers alone (`register`), a full and an
    empty mbarrier a slot (`tma`). With `tma`, roles become branches, and tensor
    maps parameters, which `tcc.tensor_maps` describes.

    ```mlir
    tcc.consumer_wait %p[%rd, %rp] {pending = 1} : !tcc.pipeline<cp_async, stages = 3>
    tcc.producer_acquire %p[%wr, %wp] : …
    tcc.producer_commit %p[%wr, %wp] : …
    tcc.consumer_release %p[%rd, %rp] : …
    %rd1, %rp1 = tcc.advance %p[%rd, %rp] : …
    ```
    becomes
    ```mlir
    nvvm.cp.async.wait.group 1          // this thread's copies to the slot have landed
    gpu.barrier                         // everybody's have, and earlier slots are read
    nvvm.cp.async.commit.group
    %n = arith.addi %rd, %c1_i32        // 0 after the last slot, with the other phase
    …
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::gpu::GPUDialect",
                           "::mlir::LLVM::LLVMDialect", "::mlir::NVVM::NVVMDialect",
                           "::mlir::scf::SCFDialect"];
}

def FinalizeKernelPass : Pass<"tcc-finalize-kernel"> {
  let summary = "Give a kernel its parameters, shared memory and metadata (L4d)";
  let description = [{
    Every matrix argument becomes a pointer to its element (0, 0), then its
    dynamic sizes, then its dynamic strides as i64; the indices of addresses are
    multiplied out. Shared buffers get their places in the block's dynamic shared
    memory, and `tcc.shared_bytes` says how much that is. `tcc.metadata` becomes
    the JSON object by which a launcher knows all this (docs/Metadata.md).

    ```mlir
    func.func @gemm(%A: memref<?x?xf16, strided<[?, 1]>> {tcc.name = "A", …}, …) {
      %sb = tcc.alloc_shared : !tcc.shared<64x256xf16, stages = 3, #tcc.layout<…>>
      %p = tcc.global_address %A[%m, %k] : … -> !llvm.ptr<1>
      %q = tcc.shared_address %sb slot %s offset %o : … -> !llvm.ptr<3>
    ```
    becomes
    ```mlir
    llvm.mlir.global external @tcc_shared() {addr_space = 3 : i32, alignment = 1024 : i64} : …
    func.func @gemm(%A: !llvm.ptr<1>, %A_size0: i64, %A_size1: i64, %A_stride0: i64, …)
        attributes {tcc.shared_bytes = 147456, tcc.metadata = "{…}", …} {
      %r = llvm.getelementptr %A[%m_times_stride0] : …, f16
      %p = llvm.getelementptr %r[%k] : …, f16
      %q = llvm.getelementptr %tcc_shared[…] : …, i8      // %o + 49152 + %s * 32768
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::LLVM::LLVMDialect"];
}

def VerifyLevelPass : Pass<"tcc-verify-level"> {
  let summary = "Check the invariants of the level that each kernel claims to be on";
  let description = [{
    Checks the numbered invariants of docs/IR.md that cross op boundaries, for the
    level in `tcc.level`; what concerns one op alone is that op's verifier. The
    error ends with the invariant's number. Changes nothing.

    ```mlir
    func.func @gemm(…) attributes {tcc.level = "L3", …} {
      %sa = tcc.alloc_shared : !tcc.shared<128x64xf16>
      // error: 'tcc.alloc_shared' op expects a layout (L3.1)
    ```
  }];
}

#endif // TCC_DIALECT_TCC_TRANSFORMS_PASSES_TD
