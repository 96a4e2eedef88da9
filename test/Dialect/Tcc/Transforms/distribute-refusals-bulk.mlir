// RUN: tcc-opt %s --tcc-distribute -split-input-file -verify-diagnostics

// Bulk stores and slices of columns.

func.func @no_layout(%C: memref<?x?xf16>, %i: index) attributes {tcc.level = "L4", tcc.block = 128 : i64} {
  %s = tcc.alloc_shared : !tcc.shared<64x16xf16>
  // expected-error @below {{needs a shared buffer with a layout}}
  tcc.bulk_store %s, %C[%i, %i] : !tcc.shared<64x16xf16>, memref<?x?xf16>
  return
}

// -----

func.func @dense(%C: memref<?x?xf16>, %i: index) attributes {tcc.level = "L4", tcc.block = 128 : i64} {
  %s = tcc.alloc_shared : !tcc.shared<64x16xf16, #tcc.layout<contiguous = 1>>
  // expected-error @below {{needs a buffer in blocks (#tcc.layout with 'span'), found}}
  tcc.bulk_store %s, %C[%i, %i] : !tcc.shared<64x16xf16, #tcc.layout<contiguous = 1>>, memref<?x?xf16>
  return
}

// -----

func.func @transposed(%C: memref<?x?xf16, strided<[1, ?]>>, %i: index) attributes {tcc.level = "L4", tcc.block = 128 : i64} {
  %s = tcc.alloc_shared : !tcc.shared<64x16xf16, #tcc.layout<contiguous = 1, span = 32>>
  // expected-error @below {{stores runs along dimension 0 of the matrix, but the buffer's layout is contiguous along dimension 1}}
  tcc.bulk_store %s, %C[%i, %i] : !tcc.shared<64x16xf16, #tcc.layout<contiguous = 1, span = 32>>, memref<?x?xf16, strided<[1, ?]>>
  return
}

// -----

func.func @no_unit_stride(%C: memref<?x?xf16, strided<[?, ?]>>, %i: index) attributes {tcc.level = "L4", tcc.block = 128 : i64} {
  %s = tcc.alloc_shared : !tcc.shared<64x16xf16, #tcc.layout<contiguous = 1, span = 32>>
  // expected-error @below {{expects a matrix with a stride that is statically 1}}
  tcc.bulk_store %s, %C[%i, %i] : !tcc.shared<64x16xf16, #tcc.layout<contiguous = 1, span = 32>>, memref<?x?xf16, strided<[?, ?]>>
  return
}

// -----

func.func @boxes_of_two_heights(%C: memref<?x?xf16>, %i: index) attributes {tcc.level = "L4", tcc.block = 128 : i64} {
  %s = tcc.alloc_shared : !tcc.shared<324x16xf16, #tcc.layout<contiguous = 1, span = 32>>
  // expected-error @below {{by TMA needs at most 256 lines or a multiple of 8, found 324}}
  tcc.bulk_store %s, %C[%i, %i] : !tcc.shared<324x16xf16, #tcc.layout<contiguous = 1, span = 32>>, memref<?x?xf16>
  return
}

// -----

func.func @misaligned_boxes(%C: memref<?x?xf16>, %i: index) attributes {tcc.level = "L4", tcc.block = 128 : i64} {
  %s = tcc.alloc_shared : !tcc.shared<12x48xf16, #tcc.layout<contiguous = 1, span = 48>>
  // expected-error @below {{blocks of 12 lines of 48 bytes don't start at multiples of 128 bytes, as boxes of TMA do; use a multiple of 8 lines}}
  tcc.bulk_store %s, %C[%i, %i] : !tcc.shared<12x48xf16, #tcc.layout<contiguous = 1, span = 48>>, memref<?x?xf16>
  return
}

// -----

// wgmma reads swizzled blocks; TMA stores others, too.
#acc = #tcc.fragment<wgmma, c, shape = [64, 32, 16], warps = [4, 1]>
#blocks = #tcc.layout<contiguous = 1, span = 48>
#swizzled = #tcc.layout<contiguous = 0, span = 32>
func.func @operand_in_blocks(%a: !tcc.shared<64x48xf16, #blocks>, %b: !tcc.shared<48x32xf16, #swizzled>,
    %C: memref<?x?xf32>, %i: index) attributes {tcc.level = "L4", tcc.block = 128 : i64} {
  %acc = arith.constant dense<0.0> : tensor<64x32xf32, #acc>
  // expected-error @below {{needs a swizzled buffer (#tcc.layout with 'span' 32, 64 or 128), found}}
  %d = tcc.matmul %a, %b, %acc : !tcc.shared<64x48xf16, #blocks>, !tcc.shared<48x32xf16, #swizzled>, tensor<64x32xf32, #acc>
  tcc.store %d, %C[%i, %i] {bytes = 8} : tensor<64x32xf32, #acc>, memref<?x?xf32>
  return
}

// -----

// Columns of two warps along N have other owners in the slice.
#c = #tcc.fragment<wgmma, c, shape = [64, 32, 16], warps = [4, 2]>
#part = #tcc.fragment<wgmma, c, shape = [64, 16, 16], warps = [4, 2]>
func.func @columns_of_two_warps(%C: memref<?x?xf32>, %i: index) attributes {tcc.level = "L4", tcc.block = 256 : i64} {
  %acc = arith.constant dense<0.0> : tensor<64x64xf32, #c>
  // expected-error @below {{slices tiles of one fragment only}}
  %x = tensor.extract_slice %acc[0, 0] [64, 32] [1, 1] : tensor<64x64xf32, #c> to tensor<64x32xf32, #part>
  tcc.store %x, %C[%i, %i] {bytes = 8} : tensor<64x32xf32, #part>, memref<?x?xf32>
  return
}

// -----

#c = #tcc.fragment<wgmma, c, shape = [64, 32, 16], warps = [4, 1]>
#part = #tcc.fragment<wgmma, c, shape = [64, 16, 16], warps = [4, 1]>
func.func @columns_between_atoms(%C: memref<?x?xf32>, %i: index) attributes {tcc.level = "L4", tcc.block = 128 : i64} {
  %acc = arith.constant dense<0.0> : tensor<64x32xf32, #c>
  // expected-error @below {{is not made of atoms that each warp has in both tiles}}
  %x = tensor.extract_slice %acc[0, 8] [64, 16] [1, 1] : tensor<64x32xf32, #c> to tensor<64x16xf32, #part>
  tcc.store %x, %C[%i, %i] {bytes = 8} : tensor<64x16xf32, #part>, memref<?x?xf32>
  return
}
