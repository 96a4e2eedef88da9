// RUN: tcc-opt %s --tcc-distribute --canonicalize --cse | FileCheck %s

// Accumulators whose tile is the transpose of the atoms'.

#c = #tcc.fragment<wgmma, c, shape = [64, 24, 16], warps = [4, 2], transposed = true>
#row = #tcc.layout<contiguous = 1, span = 128>

// B is the atom's a, which is contiguous along its rows here; A is the atom's b, of which the second
// warpgroup has the rows 24 … 47, 24 lines of 128 bytes on.
// CHECK-LABEL: func.func @matmul
// CHECK:       %[[WARPGROUP:.*]] = arith.shrui %{{.*}}, %c2_i32
// CHECK:       %[[B:.*]] = tcc.shared_address %arg1 offset %c0_i32
// CHECK:       %[[ROWS:.*]] = arith.muli %[[WARPGROUP]], %c3072_i32
// CHECK:       %[[A:.*]] = tcc.shared_address %arg0 offset %[[ROWS]]
// CHECK-DAG:   %[[DB:.*]] = tcc.matrix_descriptor %[[B]] {leading = 8192 : i64, span = 128 : i64, stride = 1024 : i64}
// CHECK-DAG:   %[[DA:.*]] = tcc.matrix_descriptor %[[A]] {leading = 0 : i64, span = 128 : i64, stride = 1024 : i64}
// CHECK:       tcc.wgmma [64, 24, 16] f16 %[[DB]], %[[DA]] acc({{.*}}) {rowMajorA = false}
func.func @matmul(%a: !tcc.shared<48x64xf16, #row>, %b: !tcc.shared<64x64xf16, #row>, %C: memref<48x64xf32>)
    attributes {tcc.level = "L4"} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<48x64xf32, #c>
  %d = tcc.matmul %a, %b, %zero
    : !tcc.shared<48x64xf16, #row>, !tcc.shared<64x64xf16, #row>, tensor<48x64xf32, #c>
  tcc.store %d, %C[%c0, %c0] {bytes = 4} : tensor<48x64xf32, #c>, memref<48x64xf32>
  return
}

// Rows 16 … 31 of a tile of 32 are the atom's columns 16 … 31, registers 8 … 15. stmatrix transposes:
// lane l names row l % 8 of the lower 8 rows (of the upper ones from lane 16 on), and the lanes 8 … 15
// (24 … 31) the next 8 columns.
// CHECK-LABEL: func.func @staged_rows
// CHECK:       %[[D:.*]]:16 = tcc.wgmma_wait 0(
// CHECK-DAG:   %[[EIGHTH:.*]] = arith.shrui %[[LANE:.*]], %c3_i32
// CHECK-DAG:   %[[ODD:.*]] = arith.andi %[[EIGHTH]], %c1_i32
// CHECK-DAG:   arith.muli %[[ODD]], %c16_i32
// CHECK-DAG:   %[[HALF:.*]] = arith.shrui %[[LANE]], %c4_i32
// CHECK-DAG:   %[[LOWER:.*]] = arith.muli %[[HALF]], %c8_i32
// CHECK-DAG:   %[[LINE:.*]] = arith.andi %[[LANE]], %c7_i32
// CHECK-DAG:   arith.addi %[[LOWER]], %[[LINE]]
// CHECK-DAG:   vector.from_elements %[[D]]#8, %[[D]]#9 : vector<2xf32>
// CHECK-DAG:   vector.from_elements %[[D]]#14, %[[D]]#15 : vector<2xf32>
// CHECK:       nvvm.stmatrix %{{.*}} {{.*}}layout = #nvvm.mma_layout<col>
// CHECK:       tcc.tma_store %{{.*}}, %{{.*}}[%{{.*}}, %{{.*}}] box [16, 64] {span = 128 : i64}
#whole = #tcc.fragment<wgmma, c, shape = [64, 32, 16], warps = [4, 1], transposed = true>
#part = #tcc.fragment<wgmma, c, shape = [64, 16, 16], warps = [4, 1], transposed = true>
!staging = !tcc.shared<16x64xbf16, #row>
func.func @staged_rows(%a: !tcc.shared<32x64xf16, #row>, %b: !tcc.shared<64x64xf16, #row>, %C: memref<?x?xbf16>, %m: index,
    %n: index) attributes {tcc.level = "L4", tcc.block = 128 : i64} {
  %zero = arith.constant dense<0.0> : tensor<32x64xf32, #whole>
  %s = tcc.alloc_shared : !staging
  %acc = tcc.matmul %a, %b, %zero
    : !tcc.shared<32x64xf16, #row>, !tcc.shared<64x64xf16, #row>, tensor<32x64xf32, #whole>
  %x = tensor.extract_slice %acc[16, 0] [16, 64] [1, 1] : tensor<32x64xf32, #whole> to tensor<16x64xf32, #part>
  %r = arith.truncf %x : tensor<16x64xf32, #part> to tensor<16x64xbf16, #part>
  tcc.local_store %r, %s : tensor<16x64xbf16, #part>, !staging
  tcc.bulk_store %s, %C[%m, %n] : !staging, memref<?x?xbf16>
  return
}
