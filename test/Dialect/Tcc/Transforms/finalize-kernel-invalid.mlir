// RUN: tcc-opt %s --tcc-finalize-kernel -split-input-file -verify-diagnostics

gpu.module @m [#nvvm.target<chip = "sm_80">] {
// expected-error@+1 {{has argument 1 of type 'f32'; kernels take memrefs only}}
func.func @scalar(%A: memref<4xf32>, %x: f32) attributes {tcc.level = "L4d"} {
  return
}
}

// -----

gpu.module @m [#nvvm.target<chip = "sm_80">] {
// expected-error@+1 {{expects the attribute 'tcc.kernel', which tcc-select-target sets}}
func.func @no_name(%A: memref<4xf32>) attributes {tcc.level = "L4d"} {
  return
}
}

// -----

gpu.module @m [#nvvm.target<chip = "sm_80">] {
// expected-error@+1 {{has argument 0 without 'tcc.name', 'tcc.dims' or 'tcc.direction'; tcc-select-target sets them}}
func.func @no_names(%A: memref<4xf32>)
    attributes {tcc.level = "L4d", tcc.kernel = "k", tcc.variant = "v", tcc.preconditions = [],
      tcc.block = 32 : i64, tcc.grid = ["1", "1", "1"],
      tcc.schedule = #tcc.schedule<block = [16, 8, 16], warps = [1, 1], mma = mma_sync,
                                   transport = cp_async, stages = 2>} {
  return
}
}

// -----

gpu.module @m [#nvvm.target<chip = "sm_80">] {
// expected-error@+1 {{has attributes that don't describe a kernel: kernel 'unknown_size': grid: 'ceildiv(Q, 16)' uses the unknown symbol 'Q'}}
func.func @unknown_size(
    %A: memref<?xf32> {tcc.name = "A", tcc.dims = ["M"], tcc.direction = "in"})
    attributes {tcc.level = "L4d", tcc.kernel = "k", tcc.variant = "v", tcc.preconditions = [],
      tcc.block = 32 : i64, tcc.grid = ["ceildiv(Q, 16)", "1", "1"],
      tcc.schedule = #tcc.schedule<block = [16, 8, 16], warps = [1, 1], mma = mma_sync,
                                   transport = cp_async, stages = 2>} {
  return
}
}

// -----

gpu.module @m [#nvvm.target<chip = "sm_80">] {
func.func @other_use(
    %A: memref<4xf32> {tcc.name = "A", tcc.dims = ["M"], tcc.direction = "in"})
    attributes {tcc.level = "L4d", tcc.kernel = "k", tcc.variant = "v", tcc.preconditions = [],
      tcc.block = 32 : i64, tcc.grid = ["1", "1", "1"],
      tcc.schedule = #tcc.schedule<block = [16, 8, 16], warps = [1, 1], mma = mma_sync,
                                   transport = cp_async, stages = 2>} {
  %c0 = arith.constant 0 : index
  // expected-error@+1 {{uses a matrix in a way that a kernel's parameters can't replace; supported are memref.dim, memref.transpose, memref.cast and tcc.global_address}}
  %0 = memref.load %A[%c0] : memref<4xf32>
  return
}
}

// -----

gpu.module @m [#nvvm.target<chip = "sm_80">] {
func.func @undistributed()
    attributes {tcc.level = "L4d", tcc.kernel = "k", tcc.variant = "v", tcc.preconditions = [],
      tcc.block = 32 : i64, tcc.grid = ["1", "1", "1"],
      tcc.schedule = #tcc.schedule<block = [16, 8, 16], warps = [1, 1], mma = mma_sync,
                                   transport = cp_async, stages = 2>} {
  %s = tcc.alloc_shared : !tcc.shared<16x16xf16, stages = 2, #tcc.layout<contiguous = 1>>
  // expected-error@+1 {{uses a shared buffer by other means than tcc.shared_address; run tcc-distribute and tcc-lower-pipeline first}}
  %p = tcc.create_pipeline %s : !tcc.shared<16x16xf16, stages = 2, #tcc.layout<contiguous = 1>>
    -> !tcc.pipeline<cp_async, stages = 2>
  return
}
}
