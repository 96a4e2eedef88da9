// RUN: tcc-opt %s --tcc-distribute --canonicalize --cse | FileCheck %s

// Blocks of a cluster, numbered along M first, bring shares of what they have in common.

#row = #tcc.layout<contiguous = 1, span = 128>
#s21 = #tcc.schedule<block = [64, 64, 64], warps = [4, 1], mma = wgmma, transport = tma, stages = 2, roles = cooperative, cluster = [2, 1]>
#s12 = #tcc.schedule<block = [64, 64, 64], warps = [4, 1], mma = wgmma, transport = tma, stages = 2, roles = cooperative, cluster = [1, 2]>
#s22 = #tcc.schedule<block = [64, 64, 64], warps = [4, 1], mma = wgmma, transport = tma, stages = 2, roles = cooperative, cluster = [2, 2]>
!buffer = !tcc.shared<64x64xf16, stages = 2, #row>
!pipe = !tcc.pipeline<tma, stages = 2>

// Both blocks take both halves of B: block r brings lines 32 r ….
// CHECK-LABEL: func.func @along_m
// CHECK:         %[[RANK:.*]] = nvvm.read.ptx.sreg.cluster.ctaid.x : i32
// CHECK:         %[[M:.*]] = arith.andi %[[RANK]], %c1_i32
// CHECK:         %[[LINES:.*]] = arith.muli %[[M]], %c32_i32
// CHECK:         %[[LINE:.*]] = arith.index_cast %[[LINES]] : i32 to index
// CHECK:         %[[K:.*]] = arith.addi %{{.*}}, %[[LINE]] : index
// CHECK:         %[[BYTES:.*]] = arith.muli %[[M]], %c4096_i32
// CHECK:         %[[P:.*]] = tcc.shared_address %{{.*}} slot %{{.*}} offset %[[BYTES]]
// CHECK:         tcc.tma_load %{{.*}}[%[[K]], %{{.*}}] box [32, 64], %[[P]], %{{.*}} multicast %c3_i16 {span = 128 : i64}
func.func @along_m(%B: memref<?x?xf16>, %k: index, %n: index, %i: i32) attributes {tcc.level = "L4", tcc.schedule = #s21} {
  %s = tcc.alloc_shared : !buffer
  %p = tcc.create_pipeline %s : !buffer -> !pipe
  tcc.copy tma %B[%k, %n], %s slot %i {bytes = 16, multicast = 0} : memref<?x?xf16>, !buffer
  return
}

// The rank along N is the block's in a cluster of one row.
// CHECK-LABEL: func.func @along_n
// CHECK:         %[[RANK:.*]] = nvvm.read.ptx.sreg.cluster.ctaid.x : i32
// CHECK:         %[[LINES:.*]] = arith.muli %[[RANK]], %c32_i32
// CHECK:         %[[LINE:.*]] = arith.index_cast %[[LINES]] : i32 to index
// CHECK:         %[[M:.*]] = arith.addi %{{.*}}, %[[LINE]] : index
// CHECK:         tcc.tma_load %{{.*}}[%[[M]], %{{.*}}] box [32, 64], %{{.*}} multicast %c3_i16 {span = 128 : i64}
func.func @along_n(%A: memref<?x?xf16>, %m: index, %k: index, %i: i32) attributes {tcc.level = "L4", tcc.schedule = #s12} {
  %s = tcc.alloc_shared : !buffer
  %p = tcc.create_pipeline %s : !buffer -> !pipe
  tcc.copy tma %A[%m, %k], %s slot %i {bytes = 16, multicast = 1} : memref<?x?xf16>, !buffer
  return
}

// TMA swizzles by address: shares may begin between the groups of 8 lines after which a swizzle repeats.
// CHECK-LABEL: func.func @shares_of_12_lines
// CHECK:         %[[BYTES:.*]] = arith.muli %{{.*}}, %c1536_i32
// CHECK:         %[[P:.*]] = tcc.shared_address %{{.*}} slot %{{.*}} offset %[[BYTES]]
// CHECK:         tcc.tma_load %{{.*}} box [12, 64], %[[P]], %{{.*}} multicast
func.func @shares_of_12_lines(%A: memref<?x?xf16>, %m: index, %k: index, %i: i32) attributes {tcc.level = "L4", tcc.schedule = #s12} {
  %s = tcc.alloc_shared : !tcc.shared<24x64xf16, stages = 2, #row>
  %p = tcc.create_pipeline %s : !tcc.shared<24x64xf16, stages = 2, #row> -> !pipe
  tcc.copy tma %A[%m, %k], %s slot %i {bytes = 16, multicast = 1} : memref<?x?xf16>, !tcc.shared<24x64xf16, stages = 2, #row>
  return
}

// Rank r is in row r % 2 and column r / 2. Blocks r and r + 2 have A in common, blocks 2 n and 2 n + 1 have B.
// CHECK-LABEL: func.func @both
// CHECK:         %[[RANK:.*]] = nvvm.read.ptx.sreg.cluster.ctaid.x : i32
// CHECK-DAG:     %[[M:.*]] = arith.andi %[[RANK]], %c1_i32
// CHECK-DAG:     %[[N:.*]] = arith.shrui %[[RANK]], %c1_i32
// CHECK:         %[[MASK:.*]] = arith.shli %c5_i32, %[[M]]
// CHECK:         %[[MASK_A:.*]] = arith.trunci %[[MASK]] : i32 to i16
// CHECK:         arith.muli %[[N]], %c32_i32
// CHECK:         tcc.tma_load %{{.*}} box [32, 64], %{{.*}} multicast %[[MASK_A]]
// CHECK:         %[[PLACE:.*]] = arith.muli %[[N]], %c2_i32
// CHECK:         %[[MASK:.*]] = arith.shli %c3_i32, %[[PLACE]]
// CHECK:         %[[MASK_B:.*]] = arith.trunci %[[MASK]] : i32 to i16
// CHECK:         arith.muli %[[M]], %c32_i32
// CHECK:         tcc.tma_load %{{.*}} box [32, 64], %{{.*}} multicast %[[MASK_B]]
func.func @both(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %m: index, %n: index, %k: index, %i: i32)
    attributes {tcc.level = "L4", tcc.schedule = #s22} {
  %sa = tcc.alloc_shared : !buffer
  %sb = tcc.alloc_shared : !buffer
  %p = tcc.create_pipeline %sa, %sb : !buffer, !buffer -> !pipe
  tcc.copy tma %A[%m, %k], %sa slot %i {bytes = 16, multicast = 1} : memref<?x?xf16>, !buffer
  tcc.copy tma %B[%k, %n], %sb slot %i {bytes = 16, multicast = 0} : memref<?x?xf16>, !buffer
  return
}
