// RUN: tcc-opt %s --tcc-distribute -split-input-file -verify-diagnostics

// What verifiers accept and threads can't do.

#c = #tcc.fragment<mma_sync, c, shape = [16, 8, 16], warps = [1, 1]>

func.func @different_constants(%C: memref<16x8xf32>) attributes {tcc.level = "L4"} {
  %c0 = arith.constant 0 : index
  // expected-error@+1 {{is a tile of different constants; supported are tiles of one}}
  %0 = arith.constant sparse<[[0, 0]], [1.0]> : tensor<16x8xf32, #c>
  tcc.store %0, %C[%c0, %c0] : tensor<16x8xf32, #c>, memref<16x8xf32>
  return
}

// -----

#c = #tcc.fragment<mma_sync, c, shape = [16, 8, 16], warps = [1, 1]>
#slice = #tcc.slice<dim = 0, size = 32, parent = #c>

func.func @broadcast_of_another_size(%bias: memref<8xf32>, %C: memref<16x8xf32>)
    attributes {tcc.level = "L4"} {
  %c0 = arith.constant 0 : index
  %0 = tcc.load %bias[%c0] : memref<8xf32> -> tensor<8xf32, #slice>
  %e = tensor.empty() : tensor<16x8xf32, #c>
  // expected-error@+1 {{expects the result's slice along the dimension of the broadcast}}
  %1 = linalg.broadcast ins(%0 : tensor<8xf32, #slice>) outs(%e : tensor<16x8xf32, #c>)
    dimensions = [0]
  tcc.store %1, %C[%c0, %c0] : tensor<16x8xf32, #c>, memref<16x8xf32>
  return
}

// -----

#c = #tcc.fragment<mma_sync, c, shape = [16, 8, 16], warps = [2, 1]>

func.func @slice_between_atoms(%C: memref<32x8xf32>) attributes {tcc.level = "L4"} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<64x8xf32, #c>
  // expected-error@+1 {{is not made of atoms that each warp has in both tiles: rows begin at multiples of 32, and all columns are taken}}
  %0 = tensor.extract_slice %zero[16, 0] [32, 8] [1, 1]
    : tensor<64x8xf32, #c> to tensor<32x8xf32, #c>
  tcc.store %0, %C[%c0, %c0] : tensor<32x8xf32, #c>, memref<32x8xf32>
  return
}

// -----

#c = #tcc.fragment<mma_sync, c, shape = [16, 8, 16], warps = [1, 1]>

func.func @slice_at_a_value(%C: memref<16x8xf32>, %m: index) attributes {tcc.level = "L4"} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<32x8xf32, #c>
  // expected-error@+1 {{of a tile needs constant offsets and strides of 1}}
  %0 = tensor.extract_slice %zero[%m, 0] [16, 8] [1, 1]
    : tensor<32x8xf32, #c> to tensor<16x8xf32, #c>
  tcc.store %0, %C[%c0, %c0] : tensor<16x8xf32, #c>, memref<16x8xf32>
  return
}

// -----

#rows = #tcc.blocked<vector = 4, contiguous = 1, threads = 32>

func.func @slice_of_rows(%C: memref<16x8xf32>) attributes {tcc.level = "L4"} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<32x8xf32, #rows>
  // expected-error@+1 {{slices tiles of one fragment only}}
  %0 = tensor.extract_slice %zero[16, 0] [16, 8] [1, 1]
    : tensor<32x8xf32, #rows> to tensor<16x8xf32, #rows>
  tcc.store %0, %C[%c0, %c0] : tensor<16x8xf32, #rows>, memref<16x8xf32>
  return
}

// -----

#c = #tcc.fragment<mma_sync, c, shape = [16, 8, 16], warps = [1, 1]>

func.func @not_elementwise(%C: memref<32x8xf32>) attributes {tcc.level = "L4"} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<32x8xf32, #c>
  %one = arith.constant dense<1.0> : tensor<16x8xf32, #c>
  // expected-error@+1 {{can't be distributed over threads: it is not elementwise with one result}}
  %0 = tensor.insert_slice %one into %zero[0, 0] [16, 8] [1, 1]
    : tensor<16x8xf32, #c> into tensor<32x8xf32, #c>
  tcc.store %0, %C[%c0, %c0] : tensor<32x8xf32, #c>, memref<32x8xf32>
  return
}

// -----

#opaque = #tcc.fragment<wmma, c, shape = [16, 16, 16], warps = [1, 1]>

func.func @load_opaque(%C: memref<16x16xf32>) attributes {tcc.level = "L4"} {
  %c0 = arith.constant 0 : index
  // expected-error@+1 {{can't fill a wmma fragment element by element: which elements a thread holds is unspecified; go through shared memory}}
  %0 = tcc.load %C[%c0, %c0] : memref<16x16xf32> -> tensor<16x16xf32, #opaque>
  return
}

// -----

#c = #tcc.fragment<mma_sync, c, shape = [16, 8, 16], warps = [1, 1]>
#slice = #tcc.slice<dim = 0, size = 16, parent = #c>

func.func @store_slice(%bias: memref<8xf32>) attributes {tcc.level = "L4"} {
  %c0 = arith.constant 0 : index
  %0 = tcc.load %bias[%c0] : memref<8xf32> -> tensor<8xf32, #slice>
  // expected-error@+1 {{can't store a slice: several threads hold each element}}
  tcc.store %0, %bias[%c0] : tensor<8xf32, #slice>, memref<8xf32>
  return
}

// -----

#a = #tcc.fragment<wmma, a, shape = [16, 16, 16], warps = [1, 1]>

func.func @wmma_offset(%s: !tcc.shared<16x32xf16, #tcc.layout<contiguous = 1>>)
    attributes {tcc.level = "L4"} {
  // expected-error@+1 {{reads wmma fragments at multiples of 16 elements (PTX ISA, wmma.load: 32-byte alignment), found offset 8}}
  %0 = tcc.local_load %s at [0, 8] : !tcc.shared<16x32xf16, #tcc.layout<contiguous = 1>>
    -> tensor<16x16xf16, #a>
  return
}

// -----

#opaque = #tcc.fragment<wmma, c, shape = [16, 16, 16], warps = [1, 1]>

func.func @wmma_accumulator(%s: !tcc.shared<16x16xf32, #tcc.layout<contiguous = 1>>)
    attributes {tcc.level = "L4"} {
  // expected-error@+1 {{can't load an accumulator of wmma; it starts as a constant}}
  %0 = tcc.local_load %s : !tcc.shared<16x16xf32, #tcc.layout<contiguous = 1>>
    -> tensor<16x16xf32, #opaque>
  return
}

// -----

#opaque = #tcc.fragment<wmma, c, shape = [16, 16, 16], warps = [1, 1]>

func.func @wmma_store_columns(%s: !tcc.shared<16x16xf32, #tcc.layout<contiguous = 0>>)
    attributes {tcc.level = "L4"} {
  %zero = arith.constant dense<0.0> : tensor<16x16xf32, #opaque>
  // expected-error@+1 {{stores by wmma.store, row-major with a leading dimension: the buffer's layout must be contiguous along dimension 1 without a swizzle}}
  tcc.local_store %zero, %s
    : tensor<16x16xf32, #opaque>, !tcc.shared<16x16xf32, #tcc.layout<contiguous = 0>>
  return
}

// -----

#opaque = #tcc.fragment<wmma, c, shape = [16, 16, 16], warps = [1, 1]>
#a = #tcc.fragment<wmma, a, shape = [16, 16, 16], warps = [1, 1]>
#b = #tcc.fragment<wmma, b, shape = [16, 16, 16], warps = [1, 1]>

func.func @wmma_operand_from_nowhere() attributes {tcc.level = "L4"} {
  %zero = arith.constant dense<0.0> : tensor<16x16xf32, #opaque>
  %x = arith.constant dense<1.0> : tensor<16x16xf16, #a>
  %y = arith.constant dense<1.0> : tensor<16x16xf16, #b>
  // expected-error@+1 {{by wmma needs operands from tcc.local_load: wmma.mma states the order in which they were loaded}}
  %0 = tcc.matmul %x, %y, %zero
    : tensor<16x16xf16, #a>, tensor<16x16xf16, #b>, tensor<16x16xf32, #opaque>
  return
}

// -----

#row = #tcc.layout<contiguous = 1, span = 128>

func.func @tma_lines(%A: memref<300x64xf16>, %i: i32) attributes {tcc.level = "L4"} {
  %c0 = arith.constant 0 : index
  %s = tcc.alloc_shared : !tcc.shared<300x64xf16, stages = 2, #row>
  %p = tcc.create_pipeline %s : !tcc.shared<300x64xf16, stages = 2, #row>
    -> !tcc.pipeline<tma, stages = 2>
  // expected-error@+1 {{by TMA needs at most 256 lines or a multiple of 8, found 300}}
  tcc.copy tma %A[%c0, %c0], %s slot %i {bytes = 16}
    : memref<300x64xf16>, !tcc.shared<300x64xf16, stages = 2, #row>
  return
}
