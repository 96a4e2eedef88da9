// RUN: tcc-opt %s --tcc-map-grid | FileCheck %s

// Blocks of a cluster divide a tile's K, and what is done with its slices.

#c = #tcc.fragment<wgmma, c, shape = [64, 32, 16], warps = [4, 1]>
#part = #tcc.fragment<wgmma, c, shape = [64, 8, 16], warps = [4, 1]>
#row = #tcc.layout<contiguous = 1, span = 64>
#box = #tcc.layout<contiguous = 1, span = 32>
#s = #tcc.schedule<block = [64, 32, 32], warps = [4, 1], mma = wgmma, transport = tma, stages = 2, roles = cooperative, split_k = 3>
!bufferA = !tcc.shared<64x32xf16, #row>
!bufferB = !tcc.shared<32x32xf16, #row>
!staging = !tcc.shared<64x8xf32, #box>
!acc = tensor<64x32xf32, #c>
!slice = tensor<64x8xf32, #part>

// The slices go to the blocks in turn. What they all need is built in each region that does: the constant
// in the first alone, where the slices' sum with it is.
// CHECK-LABEL: func.func @slices
// CHECK-SAME:    tcc.grid = ["(ceildiv(M, 64) * ceildiv(N, 32)) * 3", "1", "1"]
// CHECK:         %[[K:.*]] = memref.dim %arg0, %c1
// CHECK:         %[[BLOCK:.*]] = gpu.block_id x
// CHECK:         arith.divui %[[BLOCK]], %c3{{.*}} : index
// CHECK:         %[[RANK:.*]] = gpu.cluster_block_id x
// CHECK:         %[[SLABS:.*]] = arith.ceildivui %[[K]], %c96{{.*}} : index
// CHECK:         %[[PART:.*]] = arith.muli %[[SLABS]], %c32{{.*}} : index
// CHECK:         %[[FIRST:.*]] = arith.muli %[[RANK]], %[[PART]] : index
// CHECK:         %[[LAST:.*]] = arith.addi %[[FIRST]], %[[PART]] : index
// CHECK:         %[[ACC:.*]] = scf.for %{{.*}} = %[[FIRST]] to %[[LAST]] step %c32
// CHECK:         tcc.cluster_reduce %[[ACC]] through %{{.*}}, %{{.*}} : {{.*}} {
// CHECK-NEXT:    ^bb0(%[[SUM:.*]]: tensor<64x32xf32, {{.*}}):
// CHECK-NEXT:      arith.constant dense<1.0
// CHECK-NEXT:      %[[X:.*]] = tensor.extract_slice %[[SUM]][0, 0]
// CHECK-NEXT:      arith.addf %[[X]]
// CHECK-NEXT:      tcc.store
// CHECK-NEXT:      %[[W:.*]] = tensor.extract_slice %[[SUM]][0, 24]
// CHECK-NEXT:      tcc.store %[[W]]
// CHECK-NEXT:    }, {
// CHECK-NEXT:    ^bb0(%[[SUM:.*]]: tensor<64x32xf32, {{.*}}):
// CHECK-NEXT:      %[[Y:.*]] = tensor.extract_slice %[[SUM]][0, 8]
// CHECK-NEXT:      tcc.store %[[Y]]
// CHECK-NEXT:    }, {
// CHECK-NEXT:    ^bb0(%[[SUM:.*]]: tensor<64x32xf32, {{.*}}):
// CHECK-NEXT:      %[[Z:.*]] = tensor.extract_slice %[[SUM]][0, 16]
// CHECK-NEXT:      tcc.store %[[Z]]
// CHECK-NEXT:    {{^ +}}}
// CHECK-NEXT:    return
func.func @slices(%A: memref<?x?xf16> {tcc.dims = ["M", "K"]}, %B: memref<?x?xf16> {tcc.dims = ["K", "N"]}, %C: memref<?x?xf32>)
    attributes {tcc.level = "L3", tcc.schedule = #s} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %M = memref.dim %A, %c0 : memref<?x?xf16>
  %K = memref.dim %A, %c1 : memref<?x?xf16>
  %N = memref.dim %B, %c1 : memref<?x?xf16>
  scf.forall (%m, %n) = (0, 0) to (%M, %N) step (64, 32) {
    %sa = tcc.alloc_shared : !bufferA
    %sb = tcc.alloc_shared : !bufferB
    %zero = arith.constant dense<0.0> : !acc
    %acc = scf.for %k = %c0 to %K step %c32 iter_args(%c = %zero) -> (!acc) {
      tcc.copy tma %A[%m, %k], %sa {bytes = 16} : memref<?x?xf16>, !bufferA
      tcc.copy tma %B[%k, %n], %sb {bytes = 16} : memref<?x?xf16>, !bufferB
      %d = tcc.matmul %sa, %sb, %c : !bufferA, !bufferB, !acc
      scf.yield %d : !acc
    }
    %one = arith.constant dense<1.0> : !slice
    %x = tensor.extract_slice %acc[0, 0] [64, 8] [1, 1] : !acc to !slice
    %x1 = arith.addf %x, %one : !slice
    tcc.store %x1, %C[%m, %n] {bytes = 8} : !slice, memref<?x?xf32>
    %y = tensor.extract_slice %acc[0, 8] [64, 8] [1, 1] : !acc to !slice
    tcc.store %y, %C[%m, %n] {bytes = 8} : !slice, memref<?x?xf32>
    %z = tensor.extract_slice %acc[0, 16] [64, 8] [1, 1] : !acc to !slice
    tcc.store %z, %C[%m, %n] {bytes = 8} : !slice, memref<?x?xf32>
    %w = tensor.extract_slice %acc[0, 24] [64, 8] [1, 1] : !acc to !slice
    tcc.store %w, %C[%m, %n] {bytes = 8} : !slice, memref<?x?xf32>
  }
  return
}

// A staging buffer holds the slice that was written last. The store of a constant is the first block's. A
// static K is divided here.
// CHECK-LABEL: func.func @staging
// CHECK:         %[[RANK:.*]] = gpu.cluster_block_id x
// CHECK:         %[[FIRST:.*]] = arith.muli %[[RANK]], %c64{{.*}} : index
// CHECK:         tcc.cluster_reduce
// CHECK:           tensor.extract_slice %{{.*}}[0, 0]
// CHECK-NEXT:      tcc.local_store
// CHECK-NEXT:      tcc.bulk_store %[[S:.*]], %{{.*}}[%{{.*}}, %{{.*}}]
// CHECK-NEXT:      arith.constant dense<0.0
// CHECK-NEXT:      tcc.store
// CHECK-NEXT:    }, {
// CHECK:           tensor.extract_slice %{{.*}}[0, 8]
// CHECK-NEXT:      tcc.local_store
// CHECK-NEXT:      tcc.bulk_store %[[S]]
// CHECK-NEXT:    }, {
// CHECK-NEXT:    ^bb0
// CHECK-NEXT:    {{^ +}}}
func.func @staging(%A: memref<64x136xf16>, %B: memref<136x32xf16>, %C: memref<64x32xf32>)
    attributes {tcc.level = "L3", tcc.schedule = #s} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %K = arith.constant 136 : index
  scf.forall (%m, %n) = (0, 0) to (64, 32) step (64, 32) {
    %sa = tcc.alloc_shared : !bufferA
    %sb = tcc.alloc_shared : !bufferB
    %sc = tcc.alloc_shared : !staging
    %zero = arith.constant dense<0.0> : !acc
    %acc = scf.for %k = %c0 to %K step %c32 iter_args(%c = %zero) -> (!acc) {
      tcc.copy tma %A[%m, %k], %sa {bytes = 16} : memref<64x136xf16>, !bufferA
      tcc.copy tma %B[%k, %n], %sb {bytes = 16} : memref<136x32xf16>, !bufferB
      %d = tcc.matmul %sa, %sb, %c : !bufferA, !bufferB, !acc
      scf.yield %d : !acc
    }
    %x = tensor.extract_slice %acc[0, 0] [64, 8] [1, 1] : !acc to !slice
    tcc.local_store %x, %sc : !slice, !staging
    tcc.bulk_store %sc, %C[%m, %n] : !staging, memref<64x32xf32>
    %y = tensor.extract_slice %acc[0, 8] [64, 8] [1, 1] : !acc to !slice
    tcc.local_store %y, %sc : !slice, !staging
    tcc.bulk_store %sc, %C[%m, %n] : !staging, memref<64x32xf32>
    %none = arith.constant dense<0.0> : !slice
    tcc.store %none, %C[%m, %n] {bytes = 8} : !slice, memref<64x32xf32>
  }
  return
}
