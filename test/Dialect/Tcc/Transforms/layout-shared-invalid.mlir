// RUN: tcc-opt %s --tcc-layout-shared -split-input-file -verify-diagnostics

#wmma = #tcc.schedule<block = [32, 64, 32], warps = [1, 2], mma = wmma, transport = register, stages = 2>
func.func @swizzle_for_wmma(%A: memref<?x?xf16>) attributes {tcc.level = "L2", tcc.schedule = #wmma} {
  %c0 = arith.constant 0 : index
  // expected-error @below {{wmma reads and writes by a leading dimension: expects a layout that is dense or padded (L3.1)}}
  %sa = tcc.alloc_shared : !tcc.shared<32x32xf16, #tcc.layout<contiguous = 1, span = 64>>
  tcc.copy register %A[%c0, %c0], %sa {bytes = 2 : i64} : memref<?x?xf16>, !tcc.shared<32x32xf16, #tcc.layout<contiguous = 1, span = 64>>
  return
}

// -----

#wgmma = #tcc.schedule<block = [128, 128, 64], warps = [4, 1], mma = wgmma, transport = tma, stages = 2>
func.func @padding_for_wgmma(%A: memref<?x?xf16>) attributes {tcc.level = "L2", tcc.schedule = #wgmma} {
  %c0 = arith.constant 0 : index
  // expected-error @below {{wgmma's descriptors expect a swizzled layout (L3.1)}}
  %sa = tcc.alloc_shared : !tcc.shared<128x64xf16, #tcc.layout<contiguous = 1, pad = 16>>
  tcc.copy tma %A[%c0, %c0], %sa {bytes = 16 : i64} : memref<?x?xf16>, !tcc.shared<128x64xf16, #tcc.layout<contiguous = 1, pad = 16>>
  return
}

// -----

#wgmma = #tcc.schedule<block = [128, 128, 64], warps = [4, 1], mma = wgmma, transport = tma, stages = 2>
func.func @blocks_for_wgmma(%A: memref<?x?xf16>) attributes {tcc.level = "L2", tcc.schedule = #wgmma} {
  %c0 = arith.constant 0 : index
  // expected-error @below {{is in blocks of 48 bytes, but wgmma's descriptors expect a swizzled layout (L3.1)}}
  %sa = tcc.alloc_shared : !tcc.shared<128x48xf16, #tcc.layout<contiguous = 1, span = 48>>
  tcc.copy tma %A[%c0, %c0], %sa {bytes = 16 : i64} : memref<?x?xf16>, !tcc.shared<128x48xf16, #tcc.layout<contiguous = 1, span = 48>>
  return
}

// -----

#wgmma = #tcc.schedule<block = [64, 88, 64], warps = [4, 1], mma = wgmma, transport = tma, stages = 2>
func.func @padding_for_boxes(%C: memref<?x?xf16>) attributes {tcc.level = "L2", tcc.schedule = #wgmma} {
  %c0 = arith.constant 0 : index
  // expected-error @below {{is padded by 16 bytes, but TMA stores boxes: expects a layout with 'span' (L3.1)}}
  %sc = tcc.alloc_shared : !tcc.shared<64x64xf16, #tcc.layout<contiguous = 1, pad = 16>>
  tcc.bulk_store %sc, %C[%c0, %c0] : !tcc.shared<64x64xf16, #tcc.layout<contiguous = 1, pad = 16>>, memref<?x?xf16>
  return
}

// -----

#wgmma = #tcc.schedule<block = [64, 264, 64], warps = [4, 1], mma = wgmma, transport = tma, stages = 2>
func.func @wide_box(%C: memref<?x?xf16>) attributes {tcc.level = "L2", tcc.schedule = #wgmma} {
  %c0 = arith.constant 0 : index
  // expected-error @below {{blocks of 528 bytes have lines of 264 elements, but a box of TMA has at most 256 (L3.1)}}
  %sc = tcc.alloc_shared : !tcc.shared<64x264xf16, #tcc.layout<contiguous = 1, span = 528>>
  tcc.bulk_store %sc, %C[%c0, %c0] : !tcc.shared<64x264xf16, #tcc.layout<contiguous = 1, span = 528>>, memref<?x?xf16>
  return
}

// -----

#s = #tcc.schedule<block = [32, 64, 32], warps = [1, 2], mma = mma_sync, transport = register, stages = 2>
func.func @contiguous_mismatch(%A: memref<?x?xf16>) attributes {tcc.level = "L2", tcc.schedule = #s} {
  %c0 = arith.constant 0 : index
  // expected-error @below {{expects dimension 1 to be contiguous, as in the matrix that is copied}}
  %sa = tcc.alloc_shared : !tcc.shared<32x32xf16, #tcc.layout<contiguous = 0>>
  tcc.copy register %A[%c0, %c0], %sa {bytes = 2 : i64} : memref<?x?xf16>, !tcc.shared<32x32xf16, #tcc.layout<contiguous = 0>>
  return
}

// -----

#s = #tcc.schedule<block = [32, 64, 32], warps = [1, 2], mma = mma_sync, transport = register, stages = 2>
func.func @no_unit_stride(%A: memref<?x?xf16, strided<[?, ?]>>) attributes {tcc.level = "L2", tcc.schedule = #s} {
  %c0 = arith.constant 0 : index
  %sa = tcc.alloc_shared : !tcc.shared<32x32xf16>
  // expected-error @below {{expects a matrix with a stride that is statically 1}}
  tcc.copy register %A[%c0, %c0], %sa {bytes = 2 : i64} : memref<?x?xf16, strided<[?, ?]>>, !tcc.shared<32x32xf16>
  return
}

// -----

#s = #tcc.schedule<block = [32, 64, 32], warps = [1, 2], mma = mma_sync, transport = register, stages = 2>
func.func @two_orders(%A: memref<?x?xf16>, %B: memref<?x?xf16, strided<[1, ?]>>) attributes {tcc.level = "L2", tcc.schedule = #s} {
  %c0 = arith.constant 0 : index
  %sa = tcc.alloc_shared : !tcc.shared<32x32xf16>
  // expected-error @below {{expects all copies into a buffer to come from matrices with the same contiguous dimension}}
  tcc.copy register %A[%c0, %c0], %sa {bytes = 2 : i64} : memref<?x?xf16>, !tcc.shared<32x32xf16>
  tcc.copy register %B[%c0, %c0], %sa {bytes = 2 : i64} : memref<?x?xf16, strided<[1, ?]>>, !tcc.shared<32x32xf16>
  return
}

// -----

#s = #tcc.schedule<block = [32, 64, 4], warps = [1, 2], mma = mma_sync, transport = register, stages = 2>
func.func @short_lines(%A: memref<?x?xf16>) attributes {tcc.level = "L2", tcc.schedule = #s} {
  %c0 = arith.constant 0 : index
  // expected-error @below {{has no layout: }}
  %sa = tcc.alloc_shared : !tcc.shared<32x4xf16>
  tcc.copy register %A[%c0, %c0], %sa {bytes = 2 : i64} : memref<?x?xf16>, !tcc.shared<32x4xf16>
  return
}

// -----

// expected-error @below {{tcc-layout-shared expects a kernel on level L2, found L1: run tcc-stage-shared first}}
func.func @early() attributes {tcc.level = "L1"} {
  return
}

// -----

// expected-error @below {{expects the attribute 'tcc.schedule': write one, or run tcc-select-target first}}
func.func @no_schedule() attributes {tcc.level = "L2"} {
  return
}
