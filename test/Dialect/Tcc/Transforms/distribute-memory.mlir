// RUN: tcc-opt %s --tcc-distribute --canonicalize --cse | FileCheck %s

// Accesses to global and shared memory.

#c = #tcc.fragment<mma_sync, c, shape = [16, 8, 16], warps = [1, 1]>
#rows = #tcc.blocked<vector = 8, contiguous = 1, threads = 32>
#swizzled = #tcc.layout<contiguous = 1, span = 128>

// 16 rows of 8 chunks on 32 threads: four rows a pass. Rows are clamped to the matrix, bytes beyond
// K become zero: one size for all passes.
// CHECK-LABEL: func.func @copy
// CHECK: %[[TID:.*]] = gpu.thread_id x
// CHECK: %[[LEFT:.*]] = arith.subi %{{.*}}, %{{.*}} : i32
// CHECK: %[[BYTES:.*]] = arith.muli %[[LEFT]], %c2_i32 : i32
// CHECK: %[[MIN:.*]] = arith.minsi %[[BYTES]], %c16_i32 : i32
// CHECK: %[[SIZE:.*]] = arith.maxsi %[[MIN]], %c0_i32 : i32
// CHECK: %[[P:.*]] = tcc.shared_address %{{.*}} slot %{{.*}} offset %{{.*}}
// CHECK: nvvm.cp.async.shared.global %[[P]], %{{.*}}, 16, cache = cg, %[[SIZE]]
// CHECK: nvvm.cp.async.shared.global %{{.*}}, %{{.*}}, 16, cache = cg, %[[SIZE]]
// CHECK: nvvm.cp.async.shared.global %{{.*}}, %{{.*}}, 16, cache = cg, %[[SIZE]]
// CHECK: nvvm.cp.async.shared.global %{{.*}}, %{{.*}}, 16, cache = cg, %[[SIZE]]
// CHECK-NOT: nvvm.cp.async
func.func @copy(%A: memref<?x?xf16, strided<[?, 1]>>, %m: index, %k: index, %slot: i32,
    %s: !tcc.shared<16x64xf16, stages = 2, #swizzled>)
    attributes {tcc.level = "L4", tcc.block = 32 : i64} {
  tcc.copy cp_async %A[%m, %k], %s slot %slot {bytes = 16, clamp = 0}
    : memref<?x?xf16, strided<[?, 1]>>, !tcc.shared<16x64xf16, stages = 2, #swizzled>
  return
}

// Without a clamp a chunk of a row outside the matrix is zero; 4 bytes go through L1.
// CHECK-LABEL: func.func @copy_narrow
// CHECK: %[[IN:.*]] = arith.cmpi slt
// CHECK: %[[SIZE:.*]] = arith.select %[[IN]], %{{.*}}, %c0_i32 : i32
// CHECK: nvvm.cp.async.shared.global %{{.*}}, %{{.*}}, 4, cache = ca, %[[SIZE]]
func.func @copy_narrow(%A: memref<?x?xf16, strided<[?, 1]>>, %m: index, %k: index,
    %s: !tcc.shared<16x64xf16, #swizzled>) attributes {tcc.level = "L4", tcc.block = 512 : i64} {
  tcc.copy cp_async %A[%m, %k], %s {bytes = 4}
    : memref<?x?xf16, strided<[?, 1]>>, !tcc.shared<16x64xf16, #swizzled>
  return
}

// More threads than chunks: the others copy nothing.
// CHECK-LABEL: func.func @copy_partial_pass
// CHECK: %[[OWNED:.*]] = arith.cmpi slt, %{{.*}}, %c128_i32
// CHECK: scf.if %[[OWNED]]
// CHECK: nvvm.cp.async
// CHECK-NEXT: }
// CHECK-NEXT: return
func.func @copy_partial_pass(%A: memref<?x?xf16, strided<[?, 1]>>, %m: index, %k: index,
    %s: !tcc.shared<16x64xf16, #swizzled>) attributes {tcc.level = "L4", tcc.block = 256 : i64} {
  tcc.copy cp_async %A[%m, %k], %s {bytes = 16, clamp = 0}
    : memref<?x?xf16, strided<[?, 1]>>, !tcc.shared<16x64xf16, #swizzled>
  return
}

// Vectors where the tile is inside, elements where it crosses an edge.
// CHECK-LABEL: func.func @load_store
// CHECK: %[[INSIDE:.*]] = arith.cmpi eq, %{{.*}}, %c32_i32
// CHECK: scf.if %[[INSIDE]] -> (vector<8xf16>, vector<8xf16>)
// CHECK-COUNT-2: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<8xf16>
// CHECK: } else {
// CHECK-COUNT-16: llvm.load %{{.*}} {alignment = 2 : i64} : !llvm.ptr<1> -> f16
// CHECK: scf.if
// CHECK-COUNT-2: llvm.store %{{.*}}, %{{.*}} {alignment = 16 : i64} : vector<8xf16>, !llvm.ptr<1>
// CHECK: } else {
// CHECK-COUNT-16: llvm.store %{{.*}}, %{{.*}} {alignment = 2 : i64} : f16, !llvm.ptr<1>
func.func @load_store(%A: memref<?x?xf16, strided<[?, 1]>>, %m: index, %k: index)
    attributes {tcc.level = "L4"} {
  %0 = tcc.load %A[%m, %k] {bytes = 16, clamp = 0}
    : memref<?x?xf16, strided<[?, 1]>> -> tensor<16x32xf16, #rows>
  tcc.store %0, %A[%m, %k] {bytes = 16}
    : tensor<16x32xf16, #rows>, memref<?x?xf16, strided<[?, 1]>>
  return
}

// Neighbouring accumulators share an access.
// CHECK-LABEL: func.func @store_fragment
// CHECK-COUNT-2: llvm.store %{{.*}}, %{{.*}} {alignment = 8 : i64} : vector<2xf32>, !llvm.ptr<1>
// CHECK: } else {
// CHECK-COUNT-4: llvm.store %{{.*}}, %{{.*}} {alignment = 4 : i64} : f32, !llvm.ptr<1>
func.func @store_fragment(%C: memref<16x?xf32>, %n: index) attributes {tcc.level = "L4"} {
  %c0 = arith.constant 0 : index
  %one = arith.constant dense<1.0> : tensor<16x8xf32, #c>
  tcc.store %one, %C[%c0, %n] {bytes = 16} : tensor<16x8xf32, #c>, memref<16x?xf32>
  return
}

// Eight f32 are two accesses of 16 bytes, each in its own chunk of the swizzle.
// CHECK-LABEL: func.func @through_shared
// CHECK-COUNT-2: llvm.store %{{.*}}, %{{.*}} {alignment = 16 : i64} : vector<4xf32>, !llvm.ptr<3>
// CHECK-COUNT-2: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<3> -> vector<4xf32>
func.func @through_shared(%C: memref<8x32xf32>, %s: !tcc.shared<8x32xf32, #swizzled>)
    attributes {tcc.level = "L4"} {
  %c0 = arith.constant 0 : index
  %one = arith.constant dense<1.0> : tensor<8x32xf32, #rows>
  tcc.local_store %one, %s : tensor<8x32xf32, #rows>, !tcc.shared<8x32xf32, #swizzled>
  %0 = tcc.local_load %s : !tcc.shared<8x32xf32, #swizzled> -> tensor<8x32xf32, #rows>
  tcc.store %0, %C[%c0, %c0] {bytes = 16} : tensor<8x32xf32, #rows>, memref<8x32xf32>
  return
}
