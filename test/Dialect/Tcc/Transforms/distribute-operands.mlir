// RUN: tcc-opt %s --tcc-distribute --canonicalize --cse | FileCheck %s

// Operands of atoms, read from shared memory in both majors.

#a = #tcc.fragment<mma_sync, a, shape = [16, 8, 16], warps = [2, 1]>
#b = #tcc.fragment<mma_sync, b, shape = [16, 8, 16], warps = [2, 1]>
#wa = #tcc.fragment<wmma, a, shape = [16, 16, 16], warps = [1, 1]>
#wb = #tcc.fragment<wmma, b, shape = [16, 16, 16], warps = [1, 1]>
#wc = #tcc.fragment<wmma, c, shape = [16, 16, 16], warps = [1, 1]>
#row = #tcc.layout<contiguous = 1, span = 128>
#column = #tcc.layout<contiguous = 0, span = 128>
#dense = #tcc.layout<contiguous = 1>
#padded_row = #tcc.layout<contiguous = 1, pad = 16>
#padded_column = #tcc.layout<contiguous = 0, pad = 16>

// A row-major: lane l gives row l mod 16 of its warp's atom, at K half l div 16. The K step of 16
// is 32 bytes of the swizzled row, an exclusive-or; the next atom's rows are two warps' atoms on,
// 32 rows of 128 bytes, an immediate.
// CHECK-LABEL: func.func @a_row_major
// CHECK: %[[LANE:.*]] = arith.andi %{{.*}}, %c31_i32
// CHECK: %[[HALF:.*]] = arith.shrui %[[LANE]], %c4_i32
// CHECK: %[[STEP:.*]] = arith.xori %{{.*}}, %c32_i32 : i32
// CHECK: %[[P:.*]] = tcc.shared_address %{{.*}} offset %[[STEP]]
// CHECK: nvvm.ldmatrix %[[P]] {{.*}}layout = #nvvm.mma_layout<row>, num = 4 : i32
// CHECK: %[[Q:.*]] = llvm.getelementptr %[[P]][4096]
// CHECK: nvvm.ldmatrix %[[Q]] {{.*}}layout = #nvvm.mma_layout<row>, num = 4 : i32
// CHECK-NOT: nvvm.ldmatrix
func.func @a_row_major(%s: !tcc.shared<64x64xf16, #row>, %t: !tcc.shared<64x16xf16, #dense>)
    attributes {tcc.level = "L4"} {
  %0 = tcc.local_load %s at [0, 16] : !tcc.shared<64x64xf16, #row> -> tensor<64x16xf16, #a>
  tcc.local_store %0, %t : tensor<64x16xf16, #a>, !tcc.shared<64x16xf16, #dense>
  return
}

// A column-major: lines run along M, and the matrices are transposed on the way. The K step is 16
// lines; the next atom is 32 elements on, 64 bytes of the swizzled line.
// CHECK-LABEL: func.func @a_column_major
// CHECK: %[[P:.*]] = tcc.shared_address
// CHECK: llvm.getelementptr %[[P]][2048]
// CHECK: nvvm.ldmatrix {{.*}}layout = #nvvm.mma_layout<col>, num = 4 : i32
// CHECK: arith.xori %{{.*}}, %c64_i32
// CHECK: nvvm.ldmatrix {{.*}}layout = #nvvm.mma_layout<col>, num = 4 : i32
func.func @a_column_major(%s: !tcc.shared<64x64xf16, #column>, %t: !tcc.shared<64x16xf16, #dense>)
    attributes {tcc.level = "L4"} {
  %0 = tcc.local_load %s at [0, 16] : !tcc.shared<64x64xf16, #column> -> tensor<64x16xf16, #a>
  tcc.local_store %0, %t : tensor<64x16xf16, #a>, !tcc.shared<64x16xf16, #dense>
  return
}

// B column-major: two atoms' columns a load; the last atom of three by half a load.
// CHECK-LABEL: func.func @b_column_major
// CHECK: nvvm.ldmatrix {{.*}}layout = #nvvm.mma_layout<row>, num = 4 : i32
// CHECK: nvvm.ldmatrix {{.*}}layout = #nvvm.mma_layout<row>, num = 2 : i32
func.func @b_column_major(%s: !tcc.shared<64x24xf16, #column>, %t: !tcc.shared<16x24xf16, #dense>)
    attributes {tcc.level = "L4"} {
  %0 = tcc.local_load %s at [16, 0] : !tcc.shared<64x24xf16, #column> -> tensor<16x24xf16, #b>
  tcc.local_store %0, %t : tensor<16x24xf16, #b>, !tcc.shared<16x24xf16, #dense>
  return
}

// B row-major: lines run along N, the matrices are transposed.
// CHECK-LABEL: func.func @b_row_major
// CHECK: nvvm.ldmatrix {{.*}}layout = #nvvm.mma_layout<col>, num = 4 : i32
func.func @b_row_major(%s: !tcc.shared<64x64xf16, #row>, %t: !tcc.shared<16x64xf16, #dense>)
    attributes {tcc.level = "L4"} {
  %0 = tcc.local_load %s at [16, 0] : !tcc.shared<64x64xf16, #row> -> tensor<16x64xf16, #b>
  tcc.local_store %0, %t : tensor<16x64xf16, #b>, !tcc.shared<16x64xf16, #dense>
  return
}

// wmma: the leading dimension includes the padding; the atom states how its operands were loaded,
// here a loop away.
// CHECK-LABEL: func.func @wmma
// CHECK: tcc.wmma_load a [16, 16, 16] %{{.*}}, 40 {rowMajor = true}
// CHECK: tcc.wmma_load b [16, 16, 16] %{{.*}}, 40 {rowMajor = false}
// CHECK: tcc.mma wmma [16, 16, 16]
// CHECK: tcc.wmma_store [16, 16, 16] %{{.*}}, 20,
func.func @wmma(%sa: !tcc.shared<16x32xf16, #padded_row>, %sb: !tcc.shared<32x16xf16, #padded_column>,
    %sc: !tcc.shared<16x16xf32, #padded_row>, %n: index) attributes {tcc.level = "L4"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : tensor<16x16xf32, #wc>
  %a = tcc.local_load %sa at [0, 16] : !tcc.shared<16x32xf16, #padded_row> -> tensor<16x16xf16, #wa>
  %b = tcc.local_load %sb : !tcc.shared<32x16xf16, #padded_column> -> tensor<16x16xf16, #wb>
  %0:2 = scf.for %i = %c0 to %n step %c1 iter_args(%x = %zero, %y = %a)
      -> (tensor<16x16xf32, #wc>, tensor<16x16xf16, #wa>) {
    %d = tcc.matmul %y, %b, %x
      : tensor<16x16xf16, #wa>, tensor<16x16xf16, #wb>, tensor<16x16xf32, #wc>
    scf.yield %d, %y : tensor<16x16xf32, #wc>, tensor<16x16xf16, #wa>
  }
  tcc.local_store %0#0, %sc : tensor<16x16xf32, #wc>, !tcc.shared<16x16xf32, #padded_row>
  return
}
