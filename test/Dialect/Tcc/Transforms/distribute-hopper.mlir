// RUN: tcc-opt %s --tcc-distribute --canonicalize --cse | FileCheck %s

// TMA copies and warpgroup multiplications.

#c = #tcc.fragment<wgmma, c, shape = [64, 32, 16], warps = [8, 1]>
#row = #tcc.layout<contiguous = 1, span = 128>
#narrow = #tcc.layout<contiguous = 1, span = 64>
#column = #tcc.layout<contiguous = 0, span = 64>

// A buffer of 128 columns is two swizzled blocks of 64, a box each.
// CHECK-LABEL: func.func @copy
// CHECK: %[[P:.*]] = tcc.shared_address %{{.*}} slot %{{.*}} offset %c0_i32
// CHECK: tcc.tma_load %{{.*}}[%{{.*}}, %[[K:.*]]] box [64, 64], %[[P]], %{{.*}}[%{{.*}}] {span = 128 : i64}
// CHECK: %[[NEXT:.*]] = arith.addi %[[K]], %c64
// CHECK: %[[Q:.*]] = llvm.getelementptr %[[P]][8192]
// CHECK: tcc.tma_load %{{.*}}[%{{.*}}, %[[NEXT]]] box [64, 64], %[[Q]]
func.func @copy(%A: memref<?x?xf16, strided<[?, 1]>>, %m: index, %k: index, %i: i32)
    attributes {tcc.level = "L4"} {
  %s = tcc.alloc_shared : !tcc.shared<64x128xf16, stages = 2, #row>
  %p = tcc.create_pipeline %s : !tcc.shared<64x128xf16, stages = 2, #row>
    -> !tcc.pipeline<tma, stages = 2>
  tcc.copy tma %A[%m, %k], %s slot %i {bytes = 16}
    : memref<?x?xf16, strided<[?, 1]>>, !tcc.shared<64x128xf16, stages = 2, #row>
  return
}

// A box has 256 lines at most: 304 lines are two boxes of 152.
// CHECK-LABEL: func.func @tall_copy
// CHECK: tcc.tma_load %{{.*}} box [152, 64]
// CHECK: llvm.getelementptr %{{.*}}[19456]
// CHECK: tcc.tma_load %{{.*}} box [152, 64]
func.func @tall_copy(%A: memref<?x?xf16, strided<[?, 1]>>, %m: index, %k: index, %i: i32)
    attributes {tcc.level = "L4"} {
  %s = tcc.alloc_shared : !tcc.shared<304x64xf16, stages = 2, #row>
  %p = tcc.create_pipeline %s : !tcc.shared<304x64xf16, stages = 2, #row> -> !tcc.pipeline<tma, stages = 2>
  tcc.copy tma %A[%m, %k], %s slot %i {bytes = 16}
    : memref<?x?xf16, strided<[?, 1]>>, !tcc.shared<304x64xf16, stages = 2, #row>
  return
}

// Two warpgroups have 64 rows each: the second one's begin 64 lines of 64 bytes on. Two K steps of
// 16 are 32 bytes apart in both operands' lines.
// CHECK-LABEL: func.func @matmul
// CHECK: %[[WARPGROUP:.*]] = arith.shrui %{{.*}}, %c2_i32
// CHECK: %[[ROWS:.*]] = arith.muli %[[WARPGROUP]], %c4096_i32
// CHECK: %[[A:.*]] = tcc.shared_address %{{.*}} offset %[[ROWS]]
// CHECK: %[[B:.*]] = tcc.shared_address %{{.*}} offset %c0_i32
// CHECK: %[[ZERO:.*]]:16 = tcc.wgmma_fence(
// CHECK: %[[DA:.*]] = tcc.matrix_descriptor %[[A]] {leading = 0 : i64, span = 64 : i64, stride = 512 : i64}
// CHECK: %[[DB:.*]] = tcc.matrix_descriptor %[[B]] {leading = 0 : i64, span = 64 : i64, stride = 512 : i64}
// CHECK: %[[D:.*]]:16 = tcc.wgmma [64, 32, 16] f16 %[[DA]], %[[DB]] acc(%[[ZERO]]#0,
// CHECK: llvm.getelementptr %[[A]][32]
// CHECK: llvm.getelementptr %[[B]][32]
// CHECK: %[[E:.*]]:16 = tcc.wgmma [64, 32, 16] f16 %{{.*}}, %{{.*}} acc(%[[D]]#0,
// CHECK: nvvm.wgmma.commit.group.sync.aligned
// CHECK: %[[F:.*]]:16 = tcc.wgmma_wait 0(%[[E]]#0,
// An accumulator's elements 0 and 1 are neighbours, 2 and 3 eight rows below.
// CHECK: vector.from_elements %[[F]]#0, %[[F]]#1
// CHECK: vector.from_elements %[[F]]#2, %[[F]]#3
func.func @matmul(%a: !tcc.shared<128x32xf16, #narrow>, %b: !tcc.shared<32x32xf16, #column>,
    %C: memref<128x32xf32>) attributes {tcc.level = "L4"} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<128x32xf32, #c>
  %d = tcc.matmul %a, %b, %zero
    : !tcc.shared<128x32xf16, #narrow>, !tcc.shared<32x32xf16, #column>, tensor<128x32xf32, #c>
  tcc.store %d, %C[%c0, %c0] {bytes = 8} : tensor<128x32xf32, #c>, memref<128x32xf32>
  return
}

// Copies of another slab stand between the multiplication and the release of its slot: they are
// issued before it is waited for.
// CHECK-LABEL: func.func @copies_beside
// CHECK:       nvvm.wgmma.commit.group.sync.aligned
// CHECK-NEXT:  tcc.producer_acquire
// CHECK:       nvvm.cp.async.shared.global
// CHECK:       tcc.producer_commit
// CHECK-NEXT:  tcc.wgmma_wait 0
// CHECK-NEXT:  tcc.consumer_release
func.func @copies_beside(%A: memref<?x?xf16>, %b: !tcc.shared<32x32xf16, stages = 2, #column>, %m: index,
    %k: index, %rd: i32, %wr: i32, %phase: i32, %C: memref<128x32xf32>)
    attributes {tcc.level = "L4", tcc.block = 256 : i64} {
  %c = arith.constant dense<0.0> : tensor<128x32xf32, #c>
  %a = tcc.alloc_shared : !tcc.shared<128x32xf16, stages = 2, #narrow>
  %p = tcc.create_pipeline %a : !tcc.shared<128x32xf16, stages = 2, #narrow> -> !tcc.pipeline<cp_async, stages = 2>
  tcc.consumer_wait %p[%rd, %phase] : !tcc.pipeline<cp_async, stages = 2>
  %d = tcc.matmul %a, %b, %c slot %rd : !tcc.shared<128x32xf16, stages = 2, #narrow>,
    !tcc.shared<32x32xf16, stages = 2, #column>, tensor<128x32xf32, #c>
  tcc.producer_acquire %p[%wr, %phase] : !tcc.pipeline<cp_async, stages = 2>
  tcc.copy cp_async %A[%m, %k], %a slot %wr {bytes = 16, clamp = 0} : memref<?x?xf16>, !tcc.shared<128x32xf16, stages = 2, #narrow>
  tcc.producer_commit %p[%wr, %phase] : !tcc.pipeline<cp_async, stages = 2>
  tcc.consumer_release %p[%rd, %phase] : !tcc.pipeline<cp_async, stages = 2>
  tcc.store %d, %C[%m, %k] {bytes = 8} : tensor<128x32xf32, #c>, memref<128x32xf32>
  return
}

// Multiplications may go on behind the matmul, up to the wait. Columns 16 … 31 of an accumulator of 32
// are registers 8 … 15. They are narrowed in pairs and stored as four matrices of 8 x 8 by a warp: lane
// l names row l % 16 of half l / 16. One thread starts the copy and waits for it.
// CHECK-LABEL: func.func @staged_columns
// CHECK:       nvvm.wgmma.commit.group.sync.aligned
// CHECK:       %[[U:.*]]:16 = tcc.wgmma_wait 1(
// CHECK:       %[[D:.*]]:16 = tcc.wgmma_wait 0(%[[U]]#0,
// CHECK-DAG:   %[[ROW:.*]] = arith.andi %[[LANE:.*]], %c15_i32
// CHECK-DAG:   %[[HALF:.*]] = arith.shrui %[[LANE]], %c4_i32
// CHECK:       %[[PAIR:.*]] = vector.from_elements %[[D]]#8, %[[D]]#9 : vector<2xf32>
// CHECK-NEXT:  %[[NARROW:.*]] = arith.truncf %[[PAIR]] : vector<2xf32> to vector<2xbf16>
// CHECK-NEXT:  %[[M0:.*]] = llvm.bitcast %[[NARROW]] : vector<2xbf16> to i32
// CHECK:       vector.from_elements %[[D]]#14, %[[D]]#15
// CHECK:       %[[M3:.*]] = llvm.bitcast
// CHECK:       arith.muli %[[HALF]], %c16_i32
// CHECK:       %[[P:.*]] = tcc.shared_address
// CHECK:       nvvm.stmatrix %[[P]], %[[M0]], %{{.*}}, %{{.*}}, %[[M3]]
// CHECK:       %[[FIRST:.*]] = arith.cmpi eq, %{{.*}}, %c0_i32 : i32
// CHECK:       scf.if %[[FIRST]] {
// CHECK:         tcc.tma_store %{{.*}}, %{{.*}}[%{{.*}}, %{{.*}}] box [64, 16] {span = 32 : i64}
// CHECK-NEXT:    nvvm.cp.async.bulk.commit.group
// CHECK:       scf.if %[[FIRST]] {
// CHECK-NEXT:    nvvm.cp.async.bulk.wait_group 0 {read}
// CHECK:       scf.if %[[FIRST]] {
// CHECK-NEXT:    nvvm.cp.async.bulk.wait_group 0{{$}}
#whole = #tcc.fragment<wgmma, c, shape = [64, 32, 16], warps = [4, 1]>
#part = #tcc.fragment<wgmma, c, shape = [64, 16, 16], warps = [4, 1]>
#line = #tcc.layout<contiguous = 1, span = 32>
!staging = !tcc.shared<64x16xbf16, stages = 2, #line>
func.func @staged_columns(%a: !tcc.shared<64x32xf16, #narrow>, %b: !tcc.shared<32x32xf16, #column>,
    %C: memref<?x?xbf16>, %m: index, %n: index, %g: i32) attributes {tcc.level = "L4", tcc.block = 384 : i64} {
  %zero = arith.constant dense<0.0> : tensor<64x32xf32, #whole>
  %s = tcc.alloc_shared : !staging
  %d = tcc.matmul %a, %b, %zero {pending = 1}
    : !tcc.shared<64x32xf16, #narrow>, !tcc.shared<32x32xf16, #column>, tensor<64x32xf32, #whole>
  %acc = tcc.matmul_wait %d : tensor<64x32xf32, #whole>
  %x = tensor.extract_slice %acc[0, 16] [64, 16] [1, 1] : tensor<64x32xf32, #whole> to tensor<64x16xf32, #part>
  %r = arith.truncf %x : tensor<64x16xf32, #part> to tensor<64x16xbf16, #part>
  tcc.local_store %r, %s slot %g : tensor<64x16xbf16, #part>, !staging
  tcc.bulk_store %s slot %g, %C[%m, %n] : !staging, memref<?x?xbf16>
  tcc.bulk_wait read
  tcc.bulk_wait
  return
}

// A buffer of two lines' width leaves in two boxes, and f32 goes there in pairs, without stmatrix.
// CHECK-LABEL: func.func @wide_bulk_store
// CHECK-NOT:   nvvm.stmatrix
// CHECK:       llvm.store %{{.*}} : vector<2xf32>, !llvm.ptr<3>
// CHECK:       tcc.tma_store %{{.*}}, %{{.*}}[%{{.*}}, %[[N:.*]]] box [64, 8] {span = 32 : i64}
// CHECK:       %[[N1:.*]] = arith.addi %[[N]], %c8
// CHECK:       tcc.tma_store %{{.*}}, %{{.*}}[%{{.*}}, %[[N1]]] box [64, 8] {span = 32 : i64}
// CHECK-NEXT:  nvvm.cp.async.bulk.commit.group
#atom = #tcc.fragment<wgmma, c, shape = [64, 16, 16], warps = [4, 1]>
func.func @wide_bulk_store(%C: memref<?x?xf32>, %m: index, %n: index) attributes {tcc.level = "L4", tcc.block = 128 : i64} {
  %zero = arith.constant dense<0.0> : tensor<64x16xf32, #atom>
  %s = tcc.alloc_shared : !tcc.shared<64x16xf32, #line>
  tcc.local_store %zero, %s : tensor<64x16xf32, #atom>, !tcc.shared<64x16xf32, #line>
  tcc.bulk_store %s, %C[%m, %n] : !tcc.shared<64x16xf32, #line>, memref<?x?xf32>
  return
}
