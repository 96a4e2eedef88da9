// RUN: tcc-opt %s --tcc-distribute -split-input-file -verify-diagnostics

// expected-error@+1 {{tcc-distribute expects a kernel on level L4, found L3g: run tcc-pipeline, tcc-split-slabs and tcc-insert-barriers first}}
func.func @too_early() attributes {tcc.level = "L3g"} {
  return
}

// -----

func.func @no_encoding(%C: memref<16x8xf32>) attributes {tcc.level = "L4"} {
  %c0 = arith.constant 0 : index
  // expected-error@+1 {{has the tile 'tensor<16x8xf32>', which can't be distributed over threads: it has no distribution over threads; tcc-assign-fragments gives it one}}
  %0 = tcc.load %C[%c0, %c0] : memref<16x8xf32> -> tensor<16x8xf32>
  return
}

// -----

#k8 = #tcc.fragment<mma_sync, a, shape = [16, 8, 8], warps = [1, 1]>

func.func @unknown_atom(%s: !tcc.shared<16x8xf16, #tcc.layout<contiguous = 1>>)
    attributes {tcc.level = "L4"} {
  // expected-error@+1 {{the atom's registers are not known; known are mma_sync [16, 8, 16] and wmma [16, 16, 16] with operands of f16 or bf16, and accumulators of wgmma [64, n, 16]}}
  %0 = tcc.local_load %s : !tcc.shared<16x8xf16, #tcc.layout<contiguous = 1>>
    -> tensor<16x8xf16, #k8>
  return
}

// -----

#opaque = #tcc.fragment<wmma, c, shape = [16, 16, 16], warps = [1, 1]>

func.func @slice_of_opaque(%bias: memref<16xf32>) attributes {tcc.level = "L4"} {
  %c0 = arith.constant 0 : index
  // expected-error@+1 {{which rows and columns a thread holds is unspecified for wmma (PTX ISA, "Matrix Fragments for WMMA"); take the tile through shared memory first}}
  %0 = tcc.load %bias[%c0] : memref<16xf32>
    -> tensor<16xf32, #tcc.slice<dim = 0, size = 16, parent = #opaque>>
  return
}

// -----

#opaque = #tcc.fragment<wmma, c, shape = [16, 16, 16], warps = [1, 1]>

func.func @store_opaque(%C: memref<16x16xf32>) attributes {tcc.level = "L4"} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<16x16xf32, #opaque>
  // expected-error@+1 {{can't store a wmma fragment element by element: which elements a thread holds is unspecified; go through shared memory (epilogue = shared)}}
  tcc.store %zero, %C[%c0, %c0] : tensor<16x16xf32, #opaque>, memref<16x16xf32>
  return
}

// -----

#c = #tcc.fragment<mma_sync, c, shape = [16, 8, 16], warps = [1, 1]>
#rows = #tcc.blocked<vector = 4, contiguous = 1, threads = 32>

func.func @convert_layout(%C: memref<16x8xf32>) attributes {tcc.level = "L4"} {
  %c0 = arith.constant 0 : index
  %0 = tcc.load %C[%c0, %c0] : memref<16x8xf32> -> tensor<16x8xf32, #c>
  // expected-error@+1 {{moves elements between threads, which needs a shared buffer}}
  %1 = tcc.convert_layout %0 : tensor<16x8xf32, #c> -> tensor<16x8xf32, #rows>
  tcc.store %1, %C[%c0, %c0] : tensor<16x8xf32, #rows>, memref<16x8xf32>
  return
}

// -----

func.func @copy_through_registers(
    %A: memref<16x64xf16>, %s: !tcc.shared<16x64xf16, #tcc.layout<contiguous = 1>>)
    attributes {tcc.level = "L4", tcc.block = 32 : i64} {
  %c0 = arith.constant 0 : index
  // expected-error@+1 {{with transport 'register' can't be distributed; tcc-pipeline splits copies through registers into a tcc.load and a tcc.local_store}}
  tcc.copy register %A[%c0, %c0], %s {bytes = 16}
    : memref<16x64xf16>, !tcc.shared<16x64xf16, #tcc.layout<contiguous = 1>>
  return
}

// -----

func.func @copy_without_block(
    %A: memref<16x64xf16>, %s: !tcc.shared<16x64xf16, #tcc.layout<contiguous = 1>>)
    attributes {tcc.level = "L4"} {
  %c0 = arith.constant 0 : index
  // expected-error@+1 {{needs the number of threads of the block, 'tcc.block' on the kernel; tcc-map-grid sets it}}
  tcc.copy cp_async %A[%c0, %c0], %s {bytes = 16}
    : memref<16x64xf16>, !tcc.shared<16x64xf16, #tcc.layout<contiguous = 1>>
  return
}

// -----

func.func @copy_across(
    %A: memref<16x64xf16>, %s: !tcc.shared<16x64xf16, #tcc.layout<contiguous = 0>>)
    attributes {tcc.level = "L4", tcc.block = 32 : i64} {
  %c0 = arith.constant 0 : index
  // expected-error@+1 {{copies runs along dimension 1 of the matrix, but the buffer's layout is contiguous along dimension 0}}
  tcc.copy cp_async %A[%c0, %c0], %s {bytes = 16}
    : memref<16x64xf16>, !tcc.shared<16x64xf16, #tcc.layout<contiguous = 0>>
  return
}

// -----

func.func @copy_too_wide(
    %A: memref<16x12xf16>, %s: !tcc.shared<16x12xf16, #tcc.layout<contiguous = 1>>)
    attributes {tcc.level = "L4", tcc.block = 32 : i64} {
  %c0 = arith.constant 0 : index
  // expected-error@+1 {{in pieces of 16 bytes does not divide the buffer's rows of 24 bytes}}
  tcc.copy cp_async %A[%c0, %c0], %s {bytes = 16}
    : memref<16x12xf16>, !tcc.shared<16x12xf16, #tcc.layout<contiguous = 1>>
  return
}

// -----

#a = #tcc.fragment<mma_sync, a, shape = [16, 8, 16], warps = [1, 1]>

func.func @no_layout(%s: !tcc.shared<16x16xf16>) attributes {tcc.level = "L4"} {
  // expected-error@+1 {{needs a shared buffer with a layout, found '!tcc.shared<16x16xf16>'; tcc-layout-shared gives it one}}
  %0 = tcc.local_load %s : !tcc.shared<16x16xf16> -> tensor<16x16xf16, #a>
  return
}

// -----

#a = #tcc.fragment<wmma, a, shape = [16, 16, 16], warps = [1, 1]>

func.func @wmma_swizzled(%s: !tcc.shared<16x16xf16, #tcc.layout<contiguous = 1, span = 32>>)
    attributes {tcc.level = "L4"} {
  // expected-error@+1 {{reads by wmma.load, which takes a leading dimension: the buffer's layout can't be swizzled, use padding}}
  %0 = tcc.local_load %s : !tcc.shared<16x16xf16, #tcc.layout<contiguous = 1, span = 32>>
    -> tensor<16x16xf16, #a>
  return
}

// -----

#a = #tcc.fragment<mma_sync, a, shape = [16, 8, 16], warps = [1, 1]>

func.func @ldmatrix_offset(%s: !tcc.shared<16x32xf16, #tcc.layout<contiguous = 1>>)
    attributes {tcc.level = "L4"} {
  // expected-error@+1 {{reads operands of mma.sync with ldmatrix, whose rows begin at multiples of 8 elements, found offset 4}}
  %0 = tcc.local_load %s at [0, 4] : !tcc.shared<16x32xf16, #tcc.layout<contiguous = 1>>
    -> tensor<16x16xf16, #a>
  return
}

// -----

func.func @tma_unswizzled(
    %A: memref<16x64xf16>, %s: !tcc.shared<16x64xf16, stages = 2, #tcc.layout<contiguous = 1>>, %i: i32)
    attributes {tcc.level = "L4"} {
  %c0 = arith.constant 0 : index
  // expected-error@+1 {{needs a buffer in blocks (#tcc.layout with 'span'), found '!tcc.shared<16x64xf16, stages = 2, #tcc.layout<contiguous = 1>>'}}
  tcc.copy tma %A[%c0, %c0], %s slot %i {bytes = 16}
    : memref<16x64xf16>, !tcc.shared<16x64xf16, stages = 2, #tcc.layout<contiguous = 1>>
  return
}

// -----

func.func @tma_without_pipeline(
    %A: memref<16x64xf16>, %s: !tcc.shared<16x64xf16, #tcc.layout<contiguous = 1, span = 128>>)
    attributes {tcc.level = "L4"} {
  %c0 = arith.constant 0 : index
  // expected-error@+1 {{by TMA needs a pipeline that guards the buffer}}
  tcc.copy tma %A[%c0, %c0], %s {bytes = 16}
    : memref<16x64xf16>, !tcc.shared<16x64xf16, #tcc.layout<contiguous = 1, span = 128>>
  return
}

// -----

#c = #tcc.fragment<wgmma, c, shape = [64, 96, 16], warps = [4, 1]>
#row = #tcc.layout<contiguous = 1, span = 128>

func.func @wgmma_columns(%sa: !tcc.shared<64x64xf16, #row>, %sb: !tcc.shared<64x192xf16, #row>)
    attributes {tcc.level = "L4"} {
  %zero = arith.constant dense<0.0> : tensor<64x192xf32, #c>
  // expected-error@+1 {{by wgmma with B contiguous along N needs atoms of a multiple of 64 columns, found 96}}
  %d = tcc.matmul %sa, %sb, %zero
    : !tcc.shared<64x64xf16, #row>, !tcc.shared<64x192xf16, #row>, tensor<64x192xf32, #c>
  return
}
