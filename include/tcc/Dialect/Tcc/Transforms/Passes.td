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
      func.func @gemm_align4(…) …
      func.func @gemm_align2(…) attributes {tcc.preconditions = [], …} { … }
    }
    ```

    Tensors in the signature become row-major memrefs, results become arguments.
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

#endif // TCC_DIALECT_TCC_TRANSFORMS_PASSES_TD
