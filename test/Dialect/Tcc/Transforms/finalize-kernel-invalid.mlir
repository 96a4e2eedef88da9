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

// -----

gpu.module @m [#nvvm.target<chip = "sm_80">] {
// expected-error@+1 {{is a kernel, which returns nothing}}
func.func @result(%x: memref<4xf32>) -> memref<4xf32> attributes {tcc.level = "L4d"} {
  return %x : memref<4xf32>
}
}

// -----

gpu.module @m [#nvvm.target<chip = "sm_80">] {
// expected-error@+1 {{has argument 0 of type 'memref<4x4xf32, affine_map<(d0, d1) -> (d0 floordiv 2, d1)>>', whose layout has no strides}}
func.func @no_strides(%x: memref<4x4xf32, affine_map<(i, j) -> (i floordiv 2, j)>>)
    attributes {tcc.level = "L4d"} {
  return
}
}

// -----

gpu.module @m [#nvvm.target<chip = "sm_80">] {
func.func @dimension_of_a_value(
    %A: memref<?xf32> {tcc.name = "A", tcc.dims = ["M"], tcc.direction = "in"})
    attributes {tcc.level = "L4d", tcc.kernel = "k", tcc.variant = "v", tcc.preconditions = [],
      tcc.block = 32 : i64, tcc.grid = ["1", "1", "1"],
      tcc.schedule = #tcc.schedule<block = [16, 8, 16], warps = [1, 1], mma = mma_sync,
                                   transport = cp_async, stages = 2>} {
  %i = gpu.thread_id x
  // expected-error@+1 {{asks for a dimension that is not a constant within the matrix's 1 dimensions}}
  %0 = memref.dim %A, %i : memref<?xf32>
  return
}
}

// -----

gpu.module @m [#nvvm.target<chip = "sm_80">] {
func.func @part_of_a_matrix(
    %A: memref<8xf32> {tcc.name = "A", tcc.dims = ["M"], tcc.direction = "in"})
    attributes {tcc.level = "L4d", tcc.kernel = "k", tcc.variant = "v", tcc.preconditions = [],
      tcc.block = 32 : i64, tcc.grid = ["1", "1", "1"],
      tcc.schedule = #tcc.schedule<block = [16, 8, 16], warps = [1, 1], mma = mma_sync,
                                   transport = cp_async, stages = 2>} {
  %c0 = arith.constant 0 : index
  %part = memref.subview %A[0] [4] [1] : memref<8xf32> to memref<4xf32, strided<[1]>>
  // expected-error@+1 {{accesses a matrix that is neither an argument of the kernel nor a memref.transpose or memref.cast of one}}
  %0 = tcc.global_address %part[%c0] : memref<4xf32, strided<[1]>> -> !llvm.ptr<1>
  return
}
}
