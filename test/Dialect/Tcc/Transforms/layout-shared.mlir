// RUN: tcc-opt %s --tcc-layout-shared | FileCheck %s
// RUN: tcc-opt %s --tcc-layout-shared --remarks-filter=tcc-layout-shared --remark-policy=all -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

#mma_sync = #tcc.schedule<block = [128, 256, 64], warps = [2, 4], mma = mma_sync,
                          transport = cp_async, stages = 3, epilogue = shared>
#wmma = #tcc.schedule<block = [128, 256, 32], warps = [2, 4], mma = wmma, transport = register,
                      stages = 2, epilogue = shared>

// Buffers follow their matrix: the contiguous dimension of a column-major B is K.
// CHECK-LABEL: func.func @mma_sync
// CHECK:         tcc.alloc_shared : <128x64xf16, #tcc.layout<contiguous = 1, span = 128>>
// CHECK:         tcc.alloc_shared : <64x256xf16, #tcc.layout<contiguous = 0, span = 128>>
// CHECK:         tcc.alloc_shared : <32x256xf32, #tcc.layout<contiguous = 1, pad = 32>>
// REMARK:        128x64xf16{{.*}}is swizzled by 128 bytes: free of bank conflicts
func.func @mma_sync(%A: memref<?x?xf16>, %B: memref<?x?xf16, strided<[1, ?]>>)
    attributes {tcc.level = "L2", tcc.schedule = #mma_sync} {
  %c0 = arith.constant 0 : index
  %sa = tcc.alloc_shared : !tcc.shared<128x64xf16>
  %sb = tcc.alloc_shared : !tcc.shared<64x256xf16>
  %sc = tcc.alloc_shared : !tcc.shared<32x256xf32>
  tcc.copy cp_async %A[%c0, %c0], %sa {bytes = 16 : i64} : memref<?x?xf16>, !tcc.shared<128x64xf16>
  tcc.copy cp_async %B[%c0, %c0], %sb {bytes = 16 : i64} : memref<?x?xf16, strided<[1, ?]>>, !tcc.shared<64x256xf16>
  return
}

// wmma takes a leading dimension: no swizzle, lines padded by 16 bytes.
// CHECK-LABEL: func.func @wmma
// CHECK:         tcc.alloc_shared : <128x32xf16, #tcc.layout<contiguous = 1, pad = 16>>
// CHECK:         tcc.alloc_shared : <32x256xf16, #tcc.layout<contiguous = 1, pad = 16>>
// CHECK:         tcc.alloc_shared : <32x256xf32, #tcc.layout<contiguous = 1, pad = 16>>
func.func @wmma(%A: memref<?x?xf16>, %B: memref<?x?xf16>)
    attributes {tcc.level = "L2", tcc.schedule = #wmma} {
  %c0 = arith.constant 0 : index
  %sa = tcc.alloc_shared : !tcc.shared<128x32xf16>
  %sb = tcc.alloc_shared : !tcc.shared<32x256xf16>
  %sc = tcc.alloc_shared : !tcc.shared<32x256xf32>
  tcc.copy register %A[%c0, %c0], %sa {bytes = 16 : i64} : memref<?x?xf16>, !tcc.shared<128x32xf16>
  tcc.copy register %B[%c0, %c0], %sb {bytes = 16 : i64} : memref<?x?xf16>, !tcc.shared<32x256xf16>
  return
}

// A layout that the user wrote is kept; what it costs is said.
// CHECK-LABEL: func.func @given
// CHECK:         tcc.alloc_shared : <128x64xf16, #tcc.layout<contiguous = 1>>
// REMARK:        128x64xf16{{.*}}is dense: the worst access by fragments takes 8 times
func.func @given(%A: memref<?x?xf16>) attributes {tcc.level = "L2", tcc.schedule = #mma_sync} {
  %c0 = arith.constant 0 : index
  %sa = tcc.alloc_shared : !tcc.shared<128x64xf16, #tcc.layout<contiguous = 1>>
  tcc.copy cp_async %A[%c0, %c0], %sa {bytes = 16 : i64} : memref<?x?xf16>, !tcc.shared<128x64xf16, #tcc.layout<contiguous = 1>>
  return
}

#tma = #tcc.schedule<block = [128, 64, 64], warps = [8, 1], mma = wgmma, transport = tma, stages = 3,
                     roles = cooperative, epilogue = tma, chunk = 32>

// TMA reads a buffer in the swizzled form in which it would write it, as wide as a line allows. Lines
// of f32, which is written in pairs, are as wide: few boxes are worth the conflicts.
// CHECK-LABEL: func.func @bulk_store
// CHECK:         tcc.alloc_shared : <128x32xf16, #tcc.layout<contiguous = 1, span = 64>>
// CHECK:         tcc.alloc_shared : <128x32xf32, #tcc.layout<contiguous = 1, span = 128>>
// REMARK:        128x32xf16{{.*}}is swizzled by 64 bytes: free of bank conflicts
// REMARK:        128x32xf32{{.*}}is swizzled by 128 bytes: the worst access by fragments takes 2 times
func.func @bulk_store(%C: memref<?x?xf16>, %D: memref<?x?xf32>) attributes {tcc.level = "L2", tcc.schedule = #tma} {
  %c0 = arith.constant 0 : index
  %sc = tcc.alloc_shared : !tcc.shared<128x32xf16>
  %sd = tcc.alloc_shared : !tcc.shared<128x32xf32>
  tcc.bulk_store %sc, %C[%c0, %c0] : !tcc.shared<128x32xf16>, memref<?x?xf16>
  tcc.bulk_store %sd, %D[%c0, %c0] : !tcc.shared<128x32xf32>, memref<?x?xf32>
  return
}

#split = #tcc.schedule<block = [64, 176, 64], warps = [4, 2], mma = wgmma, transport = tma, stages = 3,
                       roles = cooperative, epilogue = tma>

// Where no wide swizzle divides the lines, blocks of an odd multiple of 16 bytes need none. Warps that
// split the columns have whole blocks each: half of 288 columns are 4.5 of 64 bytes, half of 192 are 1.5
// of 128.
// CHECK-LABEL: func.func @bulk_store_split
// CHECK:         tcc.alloc_shared : <64x176xf16, #tcc.layout<contiguous = 1, span = 176>>
// CHECK:         tcc.alloc_shared : <64x288xf16, #tcc.layout<contiguous = 1, span = 144>>
// CHECK:         tcc.alloc_shared : <64x192xf16, #tcc.layout<contiguous = 1, span = 64>>
// REMARK:        64x176xf16{{.*}}is in blocks of 176 bytes: free of bank conflicts
func.func @bulk_store_split(%C: memref<?x?xf16>) attributes {tcc.level = "L2", tcc.schedule = #split} {
  %c0 = arith.constant 0 : index
  %s = tcc.alloc_shared : !tcc.shared<64x176xf16>
  %t = tcc.alloc_shared : !tcc.shared<64x288xf16>
  %u = tcc.alloc_shared : !tcc.shared<64x192xf16>
  tcc.bulk_store %s, %C[%c0, %c0] : !tcc.shared<64x176xf16>, memref<?x?xf16>
  tcc.bulk_store %t, %C[%c0, %c0] : !tcc.shared<64x288xf16>, memref<?x?xf16>
  tcc.bulk_store %u, %C[%c0, %c0] : !tcc.shared<64x192xf16>, memref<?x?xf16>
  return
}
