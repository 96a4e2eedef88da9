// RUN: tcc-opt %s --tcc-distribute --canonicalize --cse | FileCheck %s

// Boxes that are not swizzled.

#half = #tcc.fragment<wgmma, c, shape = [64, 24, 16], warps = [4, 2]>
#whole = #tcc.fragment<wgmma, c, shape = [64, 48, 16], warps = [4, 1]>
#blocks = #tcc.layout<contiguous = 1, span = 48>
!staging = !tcc.shared<64x48xf16, #blocks>

// Each warpgroup has a block of 24 columns, the second one's 64 lines of 48 bytes on. It stores 16
// columns as four matrices, and the last 8 as two, whose address is a constant away from the first.
// CHECK-LABEL: func.func @split
// CHECK-DAG:   %[[GROUP:.*]] = arith.shrui %{{.*}}, %c2_i32
// CHECK-DAG:   arith.muli %[[GROUP]], %c3072_i32
// CHECK-NOT:   arith.divui
// CHECK:       %[[P:.*]] = tcc.shared_address
// CHECK:       nvvm.stmatrix %[[P]], %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} {
// CHECK-NOT:   tcc.shared_address
// CHECK:       %[[Q:.*]] = llvm.getelementptr %[[P]][32]
// CHECK:       nvvm.stmatrix %[[Q]], %{{[^,]*}}, %{{[^,]*}} {
// CHECK-NOT:   nvvm.stmatrix
// CHECK:       %[[BOX:.*]] = tcc.shared_address %{{.*}} offset %c0_i32
// CHECK:       tcc.tma_store %[[BOX]], %{{.*}}[%{{.*}}, %[[N:.*]]] box [64, 24] {span = 0 : i64}
// CHECK:       %[[N1:.*]] = arith.addi %[[N]], %c24
// CHECK:       %[[NEXT:.*]] = llvm.getelementptr %[[BOX]][3072]
// CHECK:       tcc.tma_store %[[NEXT]], %{{.*}}[%{{.*}}, %[[N1]]] box [64, 24] {span = 0 : i64}
func.func @split(%C: memref<?x?xf16>, %m: index, %n: index) attributes {tcc.level = "L4", tcc.block = 256 : i64} {
  %zero = arith.constant dense<0.0> : tensor<64x48xf16, #half>
  %s = tcc.alloc_shared : !staging
  tcc.local_store %zero, %s : tensor<64x48xf16, #half>, !staging
  tcc.bulk_store %s, %C[%m, %n] : !staging, memref<?x?xf16>
  return
}

// One warpgroup stores two blocks. None of its stores crosses from one to the other.
// CHECK-LABEL: func.func @two_blocks
// CHECK:       %[[P:.*]] = tcc.shared_address
// CHECK:       nvvm.stmatrix %[[P]], %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} {
// CHECK:       llvm.getelementptr %[[P]][32]
// CHECK:       nvvm.stmatrix %{{.*}}, %{{[^,]*}}, %{{[^,]*}} {
// CHECK:       llvm.getelementptr %[[P]][3072]
// CHECK:       nvvm.stmatrix %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} {
// CHECK:       llvm.getelementptr %[[P]][3104]
// CHECK:       nvvm.stmatrix %{{.*}}, %{{[^,]*}}, %{{[^,]*}} {
func.func @two_blocks(%C: memref<?x?xf16>, %m: index, %n: index) attributes {tcc.level = "L4", tcc.block = 128 : i64} {
  %zero = arith.constant dense<0.0> : tensor<64x48xf16, #whole>
  %s = tcc.alloc_shared : !staging
  tcc.local_store %zero, %s : tensor<64x48xf16, #whole>, !staging
  tcc.bulk_store %s, %C[%m, %n] : !staging, memref<?x?xf16>
  return
}

// Eight columns of f32 are 32 bytes: those at byte 64 lie in two blocks of 80 bytes, and their lanes
// compute in which.
// CHECK-LABEL: func.func @crossing
// CHECK:       %[[PAIR:.*]] = arith.muli %{{.*}}, %c8_i32
// CHECK:       %[[P:.*]] = tcc.shared_address
// CHECK:       llvm.getelementptr %[[P]][32]
// CHECK:       %[[BYTE:.*]] = arith.addi %[[PAIR]], %c64_i32
// CHECK-NEXT:  %[[BLOCK:.*]] = arith.divui %[[BYTE]], %c80_i32
// CHECK-NEXT:  arith.muli %[[BLOCK]], %c5040_i32
// CHECK:       llvm.getelementptr %[[P]][5136]
// CHECK-NOT:   arith.divui
// CHECK:       tcc.tma_store %{{.*}} box [64, 20] {span = 0 : i64}
#forty = #tcc.fragment<wgmma, c, shape = [64, 40, 16], warps = [4, 1]>
#wide = #tcc.layout<contiguous = 1, span = 80>
func.func @crossing(%C: memref<?x?xf32>, %m: index, %n: index) attributes {tcc.level = "L4", tcc.block = 128 : i64} {
  %zero = arith.constant dense<0.0> : tensor<64x40xf32, #forty>
  %s = tcc.alloc_shared : !tcc.shared<64x40xf32, #wide>
  tcc.local_store %zero, %s : tensor<64x40xf32, #forty>, !tcc.shared<64x40xf32, #wide>
  tcc.bulk_store %s, %C[%m, %n] : !tcc.shared<64x40xf32, #wide>, memref<?x?xf32>
  return
}
