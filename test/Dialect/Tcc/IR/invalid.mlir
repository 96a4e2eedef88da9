// RUN: tcc-opt %s -split-input-file -verify-diagnostics

// Tiles and matrices.

func.func @load_of_another_rank(%A: memref<?x?xf16>, %i: index) {
  // expected-error @+1 {{expects tile and matrix of the same rank, found a tile of rank 1 and a matrix of rank 2}}
  %0 = tcc.load %A[%i, %i] : memref<?x?xf16> -> tensor<64xf16>
  return
}

// -----

func.func @load_of_another_type(%A: memref<?x?xf16>, %i: index) {
  // expected-error @+1 {{expects tile and matrix of the same element type, found 'f32' and 'f16'}}
  %0 = tcc.load %A[%i, %i] : memref<?x?xf16> -> tensor<64x64xf32>
  return
}

// -----

func.func @load_with_one_offset(%A: memref<?x?xf16>, %i: index) {
  // expected-error @+1 {{expects one offset for each of the matrix's 2 dimensions, found 1}}
  %0 = tcc.load %A[%i] : memref<?x?xf16> -> tensor<64x64xf16>
  return
}

// -----

func.func @load_of_odd_width(%A: memref<?x?xf16>, %i: index) {
  // expected-error @+1 {{'bytes' is 1, 2, 4, 8 or 16, found 3}}
  %0 = tcc.load %A[%i, %i] {bytes = 3} : memref<?x?xf16> -> tensor<64x64xf16>
  return
}

// -----

func.func @load_of_half_an_element(%A: memref<?x?xf16>, %i: index) {
  // expected-error @+1 {{'bytes' is at least the 2 bytes of 'f16', found 1}}
  %0 = tcc.load %A[%i, %i] {bytes = 1} : memref<?x?xf16> -> tensor<64x64xf16>
  return
}

// -----

func.func @load_clamped_nowhere(%A: memref<?x?xf16>, %i: index) {
  // expected-error @+1 {{'clamp' is a dimension below 2, found 2}}
  %0 = tcc.load %A[%i, %i] {clamp = 2} : memref<?x?xf16> -> tensor<64x64xf16>
  return
}

// -----

func.func @store_of_another_type(%C: memref<?x?xf32>, %t: tensor<64x64xf16>, %i: index) {
  // expected-error @+1 {{expects tile and matrix of the same element type, found 'f16' and 'f32'}}
  tcc.store %t, %C[%i, %i] : tensor<64x64xf16>, memref<?x?xf32>
  return
}

// -----

// Matmul.

func.func @matmul_of_different_k(%a: tensor<64x32xf16>, %b: tensor<64x64xf16>, %c: tensor<64x64xf32>) {
  // expected-error @+1 {{expects equal K, found 32 columns of the left and 64 rows of the right operand}}
  %0 = tcc.matmul %a, %b, %c : tensor<64x32xf16>, tensor<64x64xf16>, tensor<64x64xf32>
  return
}

// -----

func.func @matmul_into_another_shape(%a: tensor<64x64xf16>, %b: tensor<64x64xf16>, %c: tensor<64x32xf32>) {
  // expected-error @+1 {{expects an accumulator of 64x64, found 64x32}}
  %0 = tcc.matmul %a, %b, %c : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x32xf32>
  return
}

// -----

func.func @matmul_of_two_types(%a: tensor<64x64xf16>, %b: tensor<64x64xbf16>, %c: tensor<64x64xf32>) {
  // expected-error @+1 {{expects operands of one element type, found 'f16' and 'bf16'}}
  %0 = tcc.matmul %a, %b, %c : tensor<64x64xf16>, tensor<64x64xbf16>, tensor<64x64xf32>
  return
}

// -----

func.func @matmul_of_floats(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>, %c: tensor<64x64xf32>) {
  // expected-error @+1 {{expects operands of f16 or bf16, found 'f32'}}
  %0 = tcc.matmul %a, %b, %c : tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>
  return
}

// -----

func.func @matmul_with_a_narrow_accumulator(%a: tensor<64x64xf16>, %b: tensor<64x64xf16>, %c: tensor<64x64xf16>) {
  // expected-error @+1 {{expects an accumulator of f32, found 'f16'}}
  %0 = tcc.matmul %a, %b, %c : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf16>
  return
}

// -----

#fb = #tcc.fragment<mma_sync, b, shape = [16, 8, 16], warps = [1, 1]>
#fc = #tcc.fragment<mma_sync, c, shape = [16, 8, 16], warps = [1, 1]>
func.func @matmul_with_swapped_roles(%a: tensor<64x64xf16, #fb>, %b: tensor<64x64xf16, #fb>, %c: tensor<64x64xf32, #fc>) {
  // expected-error @+1 {{expects the left operand to have the fragment of operand 'a' of the accumulator's atom and warps}}
  %0 = tcc.matmul %a, %b, %c : tensor<64x64xf16, #fb>, tensor<64x64xf16, #fb>, tensor<64x64xf32, #fc>
  return
}

// -----

// Distributions and layouts.

#fa = #tcc.fragment<mma_sync, a, shape = [16, 8, 16], warps = [4, 1]>
// expected-error @+1 {{can't be built from atoms of 16x16 on 4x1 warps: its extents must be multiples of 64x16}}
func.func @tile_smaller_than_its_warps(%a: tensor<32x64xf16, #fa>) { return }

// -----

// expected-error @+1 {{'shape' is the atom's m, n and k, found [16, 8]}}
func.func private @fragment_of_two_extents(tensor<32x64xf16, #tcc.fragment<mma_sync, a, shape = [16, 8], warps = [1, 1]>>)

// -----

// expected-error @+1 {{'warps' is the number of warps along M and N, found [2]}}
func.func private @fragment_of_one_warp_count(tensor<32x64xf16, #tcc.fragment<mma_sync, a, shape = [16, 8, 16], warps = [2]>>)

// -----

// expected-error @+1 {{wgmma needs whole warpgroups along M, found 2 warps}}
func.func private @half_a_warpgroup(tensor<128x64xf32, #tcc.fragment<wgmma, c, shape = [64, 64, 16], warps = [2, 1]>>)

// -----

// expected-error @+1 {{a fragment is a tile of two dimensions, found 1}}
func.func private @fragment_of_a_row(tensor<64xf16, #tcc.fragment<mma_sync, a, shape = [16, 8, 16], warps = [1, 1]>>)

// -----

// expected-error @+1 {{vectors of 8 elements don't divide the extent 12 of dimension 1}}
func.func private @vectors_that_do_not_fit(tensor<8x12xf32, #tcc.blocked<vector = 8, contiguous = 1, threads = 32>>)

// -----

// expected-error @+1 {{'parent' is a #tcc.fragment or #tcc.blocked}}
func.func private @slice_of_a_layout(tensor<8xf32, #tcc.slice<dim = 0, size = 8, parent = #tcc.layout<contiguous = 1>>>)

// -----

// expected-error @+1 {{'span' is 0, 32, 64, 128 or an odd multiple of 16 bytes, found 96}}
func.func private @even_span(!tcc.shared<64x96xf16, #tcc.layout<contiguous = 1, span = 96>>)

// -----

// expected-error @+1 {{'span' is 0, 32, 64, 128 or an odd multiple of 16 bytes, found -16}}
func.func private @negative_span(!tcc.shared<64x96xf16, #tcc.layout<contiguous = 1, span = -16>>)

// -----

// expected-error @+1 {{'pad' of 2 bytes breaks the alignment of rows that ldmatrix and wmma need: use a multiple of 16 bytes}}
func.func private @padding_of_one_element(!tcc.shared<64x64xf16, #tcc.layout<contiguous = 1, pad = 2>>)

// -----

// expected-error @+1 {{a layout is in blocks or padded, not both}}
func.func private @padded_and_swizzled(!tcc.shared<64x64xf16, #tcc.layout<contiguous = 1, span = 128, pad = 16>>)

// -----

// expected-error @+1 {{blocks of 128 bytes need rows of a multiple of that, found 64 bytes along dimension 1}}
func.func private @swizzle_wider_than_a_row(!tcc.shared<64x32xf16, #tcc.layout<contiguous = 1, span = 128>>)

// -----

// expected-error @+1 {{a shared buffer has two dimensions, found 1}}
func.func private @buffer_of_one_dimension(!tcc.shared<64xf16>)

// -----

// expected-error @+1 {{a shared buffer has at least one stage, found 0}}
func.func private @buffer_of_no_stage(!tcc.shared<64x64xf16, stages = 0>)

// -----

// Schedules.

// expected-error @+1 {{a schedule needs block, warps, mma, transport and stages}}
func.func private @schedule_without_warps() attributes {tcc.schedule = #tcc.schedule<block = [64, 64, 32], mma = wmma, transport = register, stages = 2>}

// -----

// expected-error @+1 {{expected wmma, mma_sync or wgmma, found 'tensor'}}
func.func private @unknown_family() attributes {tcc.schedule = #tcc.schedule<block = [64, 64, 32], warps = [1, 1], mma = tensor, transport = register, stages = 2>}

// -----

// expected-error @+1 {{unknown schedule field 'tile'}}
func.func private @unknown_field() attributes {tcc.schedule = #tcc.schedule<tile = [64, 64, 32]>}

// -----

// expected-error @+1 {{schedule field 'stages' stands twice}}
func.func private @field_twice() attributes {tcc.schedule = #tcc.schedule<stages = 2, stages = 3>}

// -----

// expected-error @+1 {{'block' is M, N and K of the tile, each from 1 to 65536, found [64, 64]}}
func.func private @block_without_k() attributes {tcc.schedule = #tcc.schedule<block = [64, 64], warps = [1, 1], mma = wmma, transport = register, stages = 2>}

// -----

// expected-error @+1 {{'alignment' is for the rows of A, B and C, each 1, 2, 4, 8 or 16 bytes, found [16, 16, 3]}}
func.func private @odd_alignment() attributes {tcc.schedule = #tcc.schedule<block = [64, 64, 32], warps = [1, 1], mma = wmma, transport = register, stages = 2, alignment = [16, 16, 3]>}

// -----

// Attributes of kernels and arguments.

// expected-error @+1 {{has the unknown attribute 'tcc.shedule'}}
func.func private @misspelt() attributes {tcc.shedule = 1}

// -----

// expected-error @+1 {{attribute 'tcc.schedule' must be a #tcc.schedule, found 1}}
func.func private @schedule_of_another_type() attributes {tcc.schedule = 1 : i32}

// -----

// expected-error @+1 {{'tcc.dims' names 1 dimensions, but 'memref<?x?xf16>' has 2}}
func.func @too_few_names(%A: memref<?x?xf16> {tcc.dims = ["M"]}) { return }

// -----

// expected-error @+1 {{argument 0: attribute 'tcc.direction' must be "in", "out" or "inout", found "both"}}
func.func @unknown_direction(%A: memref<?x?xf16> {tcc.direction = "both"}) { return }

// -----

// Shared buffers and pipelines.

func.func @copy_without_slot(%A: memref<?x?xf16>, %s: !tcc.shared<64x64xf16, stages = 2>, %i: index) {
  // expected-error @+1 {{expects a slot: the buffer has 2 stages}}
  tcc.copy cp_async %A[%i, %i], %s {bytes = 16} : memref<?x?xf16>, !tcc.shared<64x64xf16, stages = 2>
  return
}

// -----

func.func @copy_with_a_slot_too_many(%A: memref<?x?xf16>, %s: !tcc.shared<64x64xf16>, %i: index, %slot: i32) {
  // expected-error @+1 {{expects no slot: the buffer has one stage}}
  tcc.copy cp_async %A[%i, %i], %s slot %slot {bytes = 16} : memref<?x?xf16>, !tcc.shared<64x64xf16>
  return
}

// -----

func.func @copy_of_two_bytes(%A: memref<?x?xf16>, %s: !tcc.shared<64x64xf16>, %i: index) {
  // expected-error @+1 {{cp_async moves 4, 8 or 16 bytes, found 'bytes' = 2; use the transport 'register'}}
  tcc.copy cp_async %A[%i, %i], %s {bytes = 2} : memref<?x?xf16>, !tcc.shared<64x64xf16>
  return
}

// -----

func.func @local_load_outside(%s: !tcc.shared<64x64xf16>) {
  // expected-error @+1 {{expects a tile inside the buffer, found extent 16 at offset 56 in 64}}
  %0 = tcc.local_load %s at [0, 56] : !tcc.shared<64x64xf16> -> tensor<64x16xf16>
  return
}

// -----

func.func @local_store_of_another_shape(%t: tensor<32x64xf16>, %s: !tcc.shared<64x64xf16>) {
  // expected-error @+1 {{expects tile and buffer of the same shape and element type}}
  tcc.local_store %t, %s : tensor<32x64xf16>, !tcc.shared<64x64xf16>
  return
}

// -----

func.func @pipeline_of_other_stages(%s: !tcc.shared<64x64xf16, stages = 2>) {
  // expected-error @+1 {{expects buffers of the pipeline's 3 stages, found one of 2}}
  %p = tcc.create_pipeline %s : !tcc.shared<64x64xf16, stages = 2> -> !tcc.pipeline<cp_async, stages = 3>
  return
}

// -----

func.func @wait_for_the_past(%p: !tcc.pipeline<cp_async, stages = 3>, %slot: i32) {
  // expected-error @+1 {{'pending' is from 0 to one less than the pipeline's 3 stages, found 3}}
  tcc.consumer_wait %p[%slot, %slot] {pending = 3} : !tcc.pipeline<cp_async, stages = 3>
  return
}

// -----

func.func @conversion_of_values(%t: tensor<64x64xf32>) {
  // expected-error @+1 {{expects operand and result to differ in their encoding alone}}
  %0 = tcc.convert_layout %t : tensor<64x64xf32> -> tensor<64x64xf16>
  return
}

// -----

// Atoms.

func.func @unknown_atom(%r: vector<2xf16>, %c: f32) {
  // expected-error @+1 {{knows no atom mma_sync of shape [16, 16, 16]}}
  %d = tcc.mma mma_sync [16, 16, 16] a(%r : vector<2xf16>) b(%r : vector<2xf16>) c(%c : f32) -> f32
  return
}

// -----

func.func @too_few_registers(%r: vector<2xf16>, %c: f32) {
  // expected-error @+1 {{expects 4, 2 and 4 registers of A, B and C}}
  %d = tcc.mma mma_sync [16, 8, 16] a(%r : vector<2xf16>) b(%r : vector<2xf16>) c(%c : f32) -> f32
  return
}

// -----

func.func @registers_of_two_types(%r: vector<2xf16>, %q: vector<2xbf16>, %c: f32) {
  // expected-error @+1 {{expects the registers of A and B to be vector<2xf16> or vector<2xbf16>, all alike}}
  %d = tcc.mma mma_sync [16, 8, 16] a(%r : vector<2xf16>) b(%q : vector<2xbf16>) c(%c : f32) -> f32
  return
}

// -----

func.func @stride_off_16_bytes(%p: !llvm.ptr<3>) {
  // expected-error @+1 {{expects a stride of a multiple of 8 elements (16 bytes), found 33}}
  %a:4 = tcc.wmma_load a [16, 16, 16] %p, 33 {rowMajor = true} : !llvm.ptr<3>
    -> vector<2xbf16>, vector<2xbf16>, vector<2xbf16>, vector<2xbf16>
  return
}

// -----

func.func @matmul_without_slot(%a: !tcc.shared<64x64xf16, stages = 2>, %b: tensor<64x64xf16>, %c: tensor<64x64xf32>) {
  // expected-error @+1 {{expects a slot: an operand has 2 stages}}
  %0 = tcc.matmul %a, %b, %c : !tcc.shared<64x64xf16, stages = 2>, tensor<64x64xf16>, tensor<64x64xf32>
  return
}

// -----

func.func @matmul_with_a_slot_too_many(%a: tensor<64x64xf16>, %b: tensor<64x64xf16>, %c: tensor<64x64xf32>, %slot: i32) {
  // expected-error @+1 {{expects no slot: no operand has several stages}}
  %0 = tcc.matmul %a, %b, %c slot %slot : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
  return
}

// -----

// Roles and Hopper's atoms.

func.func @half_a_warpgroup_of_consumers() {
  // expected-error @+1 {{'consumers' is a multiple of 4 warps (whole warpgroups), found 2}}
  tcc.warp_specialize consumers = 2 producer {
  } consumer {
  }
  return
}

// -----

func.func @barrier_in_a_role() {
  // expected-error @+1 {{holds a barrier of the whole block}}
  tcc.warp_specialize consumers = 4 producer {
  } consumer {
    // expected-note @+1 {{the barrier is here}}
    gpu.barrier
  }
  return
}

// -----

func.func @box_too_long(%A: memref<?x?xf16>, %i: index, %slot: i32, %a: !llvm.ptr<3>, %p: !tcc.pipeline<tma, stages = 2>) {
  // expected-error @+1 {{expects extents of the box from 1 to 256, found 512}}
  tcc.tma_load %A[%i, %i] box [512, 64], %a, %p[%slot] {span = 128} : memref<?x?xf16>, !llvm.ptr<3>, !tcc.pipeline<tma, stages = 2>
  return
}

// -----

func.func @box_of_odd_span(%A: memref<?x?xf16>, %i: index, %slot: i32, %a: !llvm.ptr<3>, %p: !tcc.pipeline<tma, stages = 2>) {
  // expected-error @+1 {{'span' is 0, 32, 64 or 128 bytes, found 16}}
  tcc.tma_load %A[%i, %i] box [64, 64], %a, %p[%slot] {span = 16} : memref<?x?xf16>, !llvm.ptr<3>, !tcc.pipeline<tma, stages = 2>
  return
}

// -----

func.func @box_with_one_offset(%A: memref<?x?xf16>, %i: index, %slot: i32, %a: !llvm.ptr<3>, %p: !tcc.pipeline<tma, stages = 2>) {
  // expected-error @+1 {{expects a matrix of rank 2, two offsets and two extents of the box}}
  tcc.tma_load %A[%i] box [64, 64], %a, %p[%slot] {span = 128} : memref<?x?xf16>, !llvm.ptr<3>, !tcc.pipeline<tma, stages = 2>
  return
}

// -----

func.func @descriptor_off_16_bytes(%a: !llvm.ptr<3>) {
  // expected-error @+1 {{expects offsets of a multiple of 16 bytes below 2^18, found 8}}
  %d = tcc.matrix_descriptor %a {leading = 8, stride = 1024, span = 128} : !llvm.ptr<3>
  return
}

// -----

func.func @descriptor_of_odd_span(%a: !llvm.ptr<3>) {
  // expected-error @+1 {{'span' is 0, 32, 64 or 128 bytes, found 16}}
  %d = tcc.matrix_descriptor %a {leading = 16, stride = 1024, span = 16} : !llvm.ptr<3>
  return
}

// -----

func.func @wgmma_of_seven_columns(%d: i64, %c: f32) {
  // expected-error @+1 {{knows atoms of shape [64, n, 16], n a multiple of 8 from 8 to 256, found [64, 7, 16]}}
  %r = tcc.wgmma [64, 7, 16] f16 %d, %d acc(%c : f32)
  return
}

// -----

func.func @wgmma_of_floats(%d: i64, %c: f32) {
  // expected-error @+1 {{expects operands of f16 or bf16, found 'f32'}}
  %r = tcc.wgmma [64, 8, 16] f32 %d, %d acc(%c : f32)
  return
}

// -----

func.func @wgmma_with_one_accumulator(%d: i64, %c: f32) {
  // expected-error @+1 {{expects 4 accumulators, found 1}}
  %r = tcc.wgmma [64, 8, 16] f16 %d, %d acc(%c : f32)
  return
}
