// RUN: tcc-opt %s --verify-roundtrip | FileCheck %s

#fa = #tcc.fragment<mma_sync, a, shape = [16, 8, 16], warps = [2, 4]>
#fb = #tcc.fragment<mma_sync, b, shape = [16, 8, 16], warps = [2, 4]>
#fc = #tcc.fragment<mma_sync, c, shape = [16, 8, 16], warps = [2, 4]>
#rows = #tcc.blocked<vector = 4, contiguous = 1, threads = 256>
#swizzled = #tcc.layout<contiguous = 1, span = 128>
#padded = #tcc.layout<contiguous = 0, pad = 16>
#blocks = #tcc.layout<contiguous = 1, span = 176>

// CHECK-LABEL: func.func @schedule
// CHECK-SAME: tcc.schedule = #tcc.schedule<block = [128, 256, 64], warps = [2, 4], mma = mma_sync, transport = cp_async, stages = 3>
func.func @schedule() attributes {tcc.schedule = #tcc.schedule<block = [128, 256, 64],
    warps = [2, 4], mma = mma_sync, transport = cp_async, stages = 3>} {
  return
}

// CHECK-LABEL: func.func @schedule_with_every_field
// CHECK-SAME: stages = 4, epilogue = shared, roles = ping_pong, alignment = [16, 8, 4], raster = 8, persistent = true, cluster = [2, 1], pending = 1, chunk = 32, swapped = true, dependent_launch = true, split_k = 4, producer_warps = 1>
func.func @schedule_with_every_field() attributes {tcc.schedule = #tcc.schedule<
    producer_warps = 1, split_k = 4, dependent_launch = true, swapped = true, chunk = 32, pending = 1, cluster = [2, 1], persistent = true, raster = 8, alignment = [16, 8, 4], roles = ping_pong,
    epilogue = shared, stages = 4, transport = tma, mma = wgmma, warps = [8, 1],
    block = [128, 256, 64]>} {
  return
}

// CHECK-LABEL: func.func @kernel_attributes
func.func @kernel_attributes(%A: memref<?x?xf16> {tcc.name = "A", tcc.dims = ["M", "K"],
                                                  tcc.direction = "in"})
    attributes {tcc.level = "L1", tcc.kernel = "gemm", tcc.variant = "align16",
                tcc.preconditions = ["A.ptr % 16 == 0"], tcc.grid = ["1", "1", "1"],
                tcc.block = 256 : i32, tcc.shared_bytes = 1024 : i64, tcc.reference = []} {
  return
}

// CHECK-LABEL: func.func @transposed
// CHECK-SAME: tensor<24x64xf32, #tcc.fragment<wgmma, c, shape = [64, 24, 16], warps = [4, 1], transposed = true>>
func.func @transposed(%t: tensor<24x64xf32, #tcc.fragment<wgmma, c, shape = [64, 24, 16], warps = [4, 1], transposed = true>>) {
  return
}

// CHECK-LABEL: func.func @tiles
func.func @tiles(%A: memref<?x?xf16>, %B: memref<?x?xf16, strided<[1, ?]>>, %C: memref<?x?xf32>,
                 %i: index, %acc: tensor<128x256xf32>) {
  // CHECK: tcc.load %{{.*}}[%{{.*}}, %{{.*}}] : memref<?x?xf16> -> tensor<128x64xf16>
  %a = tcc.load %A[%i, %i] : memref<?x?xf16> -> tensor<128x64xf16>
  // CHECK: tcc.load %{{.*}}[%{{.*}}, %{{.*}}] {bytes = 16 : i64, clamp = 1 : i64}
  %b = tcc.load %B[%i, %i] {bytes = 16, clamp = 1}
    : memref<?x?xf16, strided<[1, ?]>> -> tensor<64x256xf16>
  // CHECK: tcc.matmul
  %d = tcc.matmul %a, %b, %acc : tensor<128x64xf16>, tensor<64x256xf16>, tensor<128x256xf32>
  // CHECK: tcc.store %{{.*}}, %{{.*}}[%{{.*}}, %{{.*}}] {bytes = 8 : i64}
  tcc.store %d, %C[%i, %i] {bytes = 8} : tensor<128x256xf32>, memref<?x?xf32>
  return
}

// CHECK-LABEL: func.func @shared_buffers
func.func @shared_buffers(%A: memref<?x?xf16>, %i: index, %slot: i32, %t: tensor<32x256xf32>) {
  // CHECK: tcc.alloc_shared : <128x64xf16>
  %s0 = tcc.alloc_shared : !tcc.shared<128x64xf16>
  // CHECK: tcc.alloc_shared : <128x64xf16, stages = 3, #tcc.layout<contiguous = 1, span = 128>>
  %s1 = tcc.alloc_shared : !tcc.shared<128x64xf16, stages = 3, #swizzled>
  // CHECK: tcc.alloc_shared : <32x256xf32, #tcc.layout<contiguous = 0, pad = 16>>
  %s2 = tcc.alloc_shared : !tcc.shared<32x256xf32, #padded>
  // CHECK: tcc.alloc_shared : <64x176xbf16, #tcc.layout<contiguous = 1, span = 176>>
  %s3 = tcc.alloc_shared : !tcc.shared<64x176xbf16, #blocks>
  // CHECK: tcc.copy register
  tcc.copy register %A[%i, %i], %s0 {bytes = 2} : memref<?x?xf16>, !tcc.shared<128x64xf16>
  // CHECK: tcc.copy cp_async %{{.*}}[%{{.*}}, %{{.*}}], %{{.*}} slot %{{.*}} {bytes = 16 : i64, clamp = 0 : i64}
  tcc.copy cp_async %A[%i, %i], %s1 slot %slot {bytes = 16, clamp = 0}
    : memref<?x?xf16>, !tcc.shared<128x64xf16, stages = 3, #swizzled>
  // CHECK: tcc.local_load %{{.*}} slot %{{.*}} at [0, 16]
  %a = tcc.local_load %s1 slot %slot at [0, 16]
    : !tcc.shared<128x64xf16, stages = 3, #swizzled> -> tensor<128x16xf16, #fa>
  // CHECK: tcc.local_store
  tcc.local_store %t, %s2 : tensor<32x256xf32>, !tcc.shared<32x256xf32, #padded>
  return
}

// CHECK-LABEL: func.func @distributed_matmul
func.func @distributed_matmul(%a: tensor<128x16xf16, #fa>, %b: tensor<16x256xf16, #fb>,
                              %c: tensor<128x256xf32, #fc>) -> tensor<128x256xf32, #rows> {
  // CHECK: tcc.matmul
  %d = tcc.matmul %a, %b, %c
    : tensor<128x16xf16, #fa>, tensor<16x256xf16, #fb>, tensor<128x256xf32, #fc>
  // CHECK: tcc.convert_layout
  %e = tcc.convert_layout %d : tensor<128x256xf32, #fc> -> tensor<128x256xf32, #rows>
  return %e : tensor<128x256xf32, #rows>
}

// CHECK-LABEL: func.func @pipeline
func.func @pipeline(%slot: i32, %phase: i32) {
  %s = tcc.alloc_shared : !tcc.shared<128x64xf16, stages = 3>
  // CHECK: tcc.create_pipeline
  %p = tcc.create_pipeline %s
    : !tcc.shared<128x64xf16, stages = 3> -> !tcc.pipeline<cp_async, stages = 3>
  // CHECK: tcc.producer_acquire
  tcc.producer_acquire %p[%slot, %phase] : !tcc.pipeline<cp_async, stages = 3>
  // CHECK: tcc.producer_commit
  tcc.producer_commit %p[%slot, %phase] : !tcc.pipeline<cp_async, stages = 3>
  // CHECK: tcc.consumer_wait %{{.*}} {pending = 1 : i64}
  tcc.consumer_wait %p[%slot, %phase] {pending = 1} : !tcc.pipeline<cp_async, stages = 3>
  // CHECK: tcc.consumer_release
  tcc.consumer_release %p[%slot, %phase] : !tcc.pipeline<cp_async, stages = 3>
  // CHECK: tcc.advance
  %slot1, %phase1 = tcc.advance %p[%slot, %phase] : !tcc.pipeline<cp_async, stages = 3>
  // CHECK: tcc.drain
  tcc.drain %p : !tcc.pipeline<cp_async, stages = 3>
  return
}

// CHECK-LABEL: func.func @atoms
func.func @atoms(%A: memref<?x?xf16>, %i: index, %o: i32, %c: f32) {
  %s = tcc.alloc_shared : !tcc.shared<128x64xf16>
  // CHECK: tcc.global_address
  %g = tcc.global_address %A[%i, %i] : memref<?x?xf16> -> !llvm.ptr<1>
  // CHECK: tcc.shared_address
  %p = tcc.shared_address %s offset %o : !tcc.shared<128x64xf16> -> !llvm.ptr<3>
  // CHECK: tcc.wmma_load a
  %a:8 = tcc.wmma_load a [16, 16, 16] %p, 40 {rowMajor = true} : !llvm.ptr<3>
    -> vector<2xf16>, vector<2xf16>, vector<2xf16>, vector<2xf16>, vector<2xf16>, vector<2xf16>,
       vector<2xf16>, vector<2xf16>
  // CHECK: tcc.mma mma_sync
  %d:4 = tcc.mma mma_sync [16, 8, 16]
    a(%a#0, %a#1, %a#2, %a#3 : vector<2xf16>, vector<2xf16>, vector<2xf16>, vector<2xf16>)
    b(%a#4, %a#5 : vector<2xf16>, vector<2xf16>) c(%c, %c, %c, %c : f32, f32, f32, f32)
    -> f32, f32, f32, f32
  // CHECK: tcc.wmma_store
  tcc.wmma_store [16, 16, 16] %p, 20, %c, %c, %c, %c, %c, %c, %c, %c
    : !llvm.ptr<3>, f32, f32, f32, f32, f32, f32, f32, f32
  return
}

#sa = #tcc.layout<contiguous = 1, span = 128>
#wc = #tcc.fragment<wgmma, c, shape = [64, 8, 16], warps = [4, 1]>

// CHECK-LABEL: func.func @roles
func.func @roles(%c: tensor<64x8xf32, #wc>, %slot: i32) {
  %sa = tcc.alloc_shared : !tcc.shared<64x64xf16, stages = 2, #sa>
  %sb = tcc.alloc_shared : !tcc.shared<64x8xf16, stages = 2>
  // CHECK: tcc.warp_specialize consumers = 4 producer {
  tcc.warp_specialize consumers = 4 producer {
  // CHECK: } consumer {
  } consumer {
    // CHECK: tcc.matmul %{{.*}}, %{{.*}}, %{{.*}} slot %{{.*}} : !tcc.shared<64x64xf16
    %d = tcc.matmul %sa, %sb, %c slot %slot : !tcc.shared<64x64xf16, stages = 2, #sa>,
      !tcc.shared<64x8xf16, stages = 2>, tensor<64x8xf32, #wc>
  }
  return
}

// CHECK-LABEL: func.func @hopper_atoms
func.func @hopper_atoms(%A: memref<?x?xf16>, %i: index, %slot: i32, %o: i32, %c: f32,
                        %p: !tcc.pipeline<tma, stages = 2>) {
  %s = tcc.alloc_shared : !tcc.shared<64x64xf16, #sa>
  %a = tcc.shared_address %s offset %o : !tcc.shared<64x64xf16, #sa> -> !llvm.ptr<3>
  // CHECK: tcc.tma_load %{{.*}} box [64, 64], %{{.*}}, %{{.*}}[%{{.*}}] {span = 128 : i64}
  tcc.tma_load %A[%i, %i] box [64, 64], %a, %p[%slot] {span = 128}
    : memref<?x?xf16>, !llvm.ptr<3>, !tcc.pipeline<tma, stages = 2>
  // CHECK: tcc.matrix_descriptor
  %d = tcc.matrix_descriptor %a {leading = 16, stride = 1024, span = 128} : !llvm.ptr<3>
  // CHECK: tcc.wgmma_fence(
  %f:4 = tcc.wgmma_fence(%c, %c, %c, %c : f32, f32, f32, f32)
  // CHECK: tcc.wgmma [64, 8, 16] f16
  %r:4 = tcc.wgmma [64, 8, 16] f16 %d, %d acc(%f#0, %f#1, %f#2, %f#3 : f32, f32, f32, f32)
  // CHECK: tcc.wgmma_wait 0
  %w:4 = tcc.wgmma_wait 0(%r#0, %r#1, %r#2, %r#3 : f32, f32, f32, f32)
  return
}

#staging = #tcc.layout<contiguous = 1, span = 64>

// CHECK-LABEL: func.func @groups
func.func @groups(%turn: i32, %n: i32, %slot: i32, %phase: i32, %A: memref<?x?xf16>, %C: memref<?x?xf16>,
                  %i: index, %c: tensor<64x8xf32, #wc>, %p: !tcc.pipeline<tma, stages = 2>) {
  %sa = tcc.alloc_shared : !tcc.shared<64x64xf16, stages = 2, #sa>
  %sb = tcc.alloc_shared : !tcc.shared<64x8xf16, stages = 2>
  %sc = tcc.alloc_shared : !tcc.shared<64x32xf16, stages = 2, #staging>
  // CHECK: tcc.warp_specialize consumers = 8 groups = 2 producer {
  tcc.warp_specialize consumers = 8 groups = 2 producer {
    // CHECK: tcc.copy tma {{.*}} {bytes = 16 : i64, multicast = 1 : i64}
    tcc.copy tma %A[%i, %i], %sa slot %slot {bytes = 16, multicast = 1}
      : memref<?x?xf16>, !tcc.shared<64x64xf16, stages = 2, #sa>
    // CHECK: tcc.producer_tail %{{.*}}[%{{.*}}, %{{.*}}] : <tma, stages = 2>
    tcc.producer_tail %p[%slot, %phase] : !tcc.pipeline<tma, stages = 2>
  } consumer {
    // CHECK: %[[G:.*]] = tcc.consumer_group
    %g = tcc.consumer_group
    // CHECK: tcc.advance %{{.*}}[%{{.*}}, %{{.*}}] by %{{.*}} : <tma, stages = 2>
    %slot1, %phase1 = tcc.advance %p[%slot, %phase] by %n : !tcc.pipeline<tma, stages = 2>
    // CHECK: tcc.turn_wait %{{.*}}[%[[G]], %{{.*}}] : <tma, stages = 2>
    tcc.turn_wait %p[%g, %turn] : !tcc.pipeline<tma, stages = 2>
    // CHECK: %[[D:.*]] = tcc.matmul %{{.*}} slot %{{.*}} {pending = 1 : i64}
    %d = tcc.matmul %sa, %sb, %c slot %slot1 {pending = 1} : !tcc.shared<64x64xf16, stages = 2, #sa>,
      !tcc.shared<64x8xf16, stages = 2>, tensor<64x8xf32, #wc>
    // CHECK: tcc.turn_pass %{{.*}}[%[[G]], %{{.*}}] : <tma, stages = 2>
    tcc.turn_pass %p[%g, %turn] : !tcc.pipeline<tma, stages = 2>
    // CHECK: tcc.matmul_wait %[[D]] : tensor<64x8xf32
    %w = tcc.matmul_wait %d : tensor<64x8xf32, #wc>
    // CHECK: tcc.bulk_wait read
    tcc.bulk_wait read
    // CHECK: tcc.group_barrier
    tcc.group_barrier
    // CHECK: tcc.bulk_store %{{.*}} slot %[[G]], %{{.*}}[%{{.*}}, %{{.*}}]
    tcc.bulk_store %sc slot %g, %C[%i, %i] : !tcc.shared<64x32xf16, stages = 2, #staging>, memref<?x?xf16>
    // CHECK: tcc.bulk_wait{{$}}
    tcc.bulk_wait
  }
  return
}

// CHECK-LABEL: func.func @cluster_sum
func.func @cluster_sum(%acc: tensor<64x8xf32, #wc>, %C: memref<?x?xf32>, %i: index) {
  %sa = tcc.alloc_shared : !tcc.shared<64x64xf16, stages = 2, #sa>
  %sb = tcc.alloc_shared : !tcc.shared<64x8xf16, stages = 2>
  // CHECK: tcc.cluster_reduce %{{.*}} through %{{.*}}, %{{.*}} : tensor<64x8xf32, #{{.*}}>, !tcc.shared<{{.*}}>, !tcc.shared<{{.*}}> {
  tcc.cluster_reduce %acc through %sa, %sb
    : tensor<64x8xf32, #wc>, !tcc.shared<64x64xf16, stages = 2, #sa>, !tcc.shared<64x8xf16, stages = 2> {
  // CHECK: ^bb0(%[[SUM:.*]]: tensor<64x8xf32
  ^bb0(%sum: tensor<64x8xf32, #wc>):
    // CHECK: tcc.store %[[SUM]]
    tcc.store %sum, %C[%i, %i] : tensor<64x8xf32, #wc>, memref<?x?xf32>
  // CHECK: }, {
  }, {
  // CHECK-NEXT: ^bb0(%{{.*}}: tensor<64x8xf32
  ^bb0(%sum: tensor<64x8xf32, #wc>):
  }
  return
}

// CHECK-LABEL: func.func @cluster_atoms
func.func @cluster_atoms(%A: memref<?x?xf16>, %i: index, %slot: i32, %a: !llvm.ptr<3>, %mask: i16,
                         %p: !tcc.pipeline<tma, stages = 2>) {
  // CHECK: tcc.tma_load %{{.*}} box [32, 64], %{{.*}}, %{{.*}}[%{{.*}}] multicast %{{.*}} {span = 128 : i64}
  tcc.tma_load %A[%i, %i] box [32, 64], %a, %p[%slot] multicast %mask {span = 128}
    : memref<?x?xf16>, !llvm.ptr<3>, !tcc.pipeline<tma, stages = 2>
  // CHECK: tcc.tma_store %{{.*}}, %{{.*}}[%{{.*}}, %{{.*}}] box [128, 32] {span = 64 : i64}
  tcc.tma_store %a, %A[%i, %i] box [128, 32] {span = 64} : !llvm.ptr<3>, memref<?x?xf16>
  return
}

// CHECK-LABEL: func.func @non_empty
func.func @non_empty(%lower: index, %upper: index, %step: index) {
  scf.for %k = %lower to %upper step %step {
  // CHECK: } {tcc.non_empty}
  } {tcc.non_empty}
  return
}
