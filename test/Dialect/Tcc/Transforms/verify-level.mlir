// Every level that the passes make keeps its own invariants, with each pass run by itself.
// RUN: tcc-opt %s --tcc-verify-level --tcc-stage-shared --tcc-verify-level --tcc-layout-shared \
// RUN:   --tcc-verify-level --tcc-assign-fragments --tcc-verify-level --tcc-map-grid \
// RUN:   --tcc-verify-level --tcc-pipeline --tcc-verify-level --tcc-split-slabs \
// RUN:   --tcc-verify-level --tcc-insert-barriers --tcc-verify-level | FileCheck %s

#mma_sync = #tcc.schedule<block = [64, 64, 32], warps = [2, 2], mma = mma_sync,
                          transport = cp_async, stages = 4, alignment = [16, 16, 16]>
#wmma = #tcc.schedule<block = [64, 64, 32], warps = [2, 2], mma = wmma, transport = register,
                      stages = 2, epilogue = shared, persistent = true, raster = 4>

// CHECK: func.func @mma_sync({{.*}} tcc.level = "L4"
// CHECK: func.func @wmma({{.*}} tcc.level = "L4"
// CHECK: func.func @wgmma({{.*}} tcc.level = "L4"
// CHECK: func.func @split_k({{.*}} tcc.level = "L4"
#wgmma = #tcc.schedule<block = [128, 256, 64], warps = [8, 1], mma = wgmma, transport = tma,
                       stages = 4, roles = cooperative, alignment = [16, 16, 16], persistent = true>
#split_k = #tcc.schedule<block = [128, 128, 64], warps = [8, 1], mma = wgmma, transport = tma, stages = 4,
                         roles = cooperative, epilogue = tma, alignment = [16, 16, 16], pending = 1, split_k = 2>

gpu.module @m [#nvvm.target<chip = "sm_80">] {
  func.func @mma_sync(
      %A: memref<?x?xf16> {tcc.name = "A", tcc.dims = ["M", "K"], tcc.direction = "in"},
      %B: memref<?x?xf16, strided<[1, ?]>> {tcc.name = "B", tcc.dims = ["K", "N"], tcc.direction = "in"},
      %C: memref<?x?xf32> {tcc.name = "C", tcc.dims = ["M", "N"], tcc.direction = "out"})
      attributes {tcc.level = "L1", tcc.kernel = "mma_sync", tcc.variant = "all",
                  tcc.preconditions = [], tcc.schedule = #mma_sync} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    %zero = arith.constant dense<0.0> : tensor<64x64xf32>
    %M = memref.dim %A, %c0 : memref<?x?xf16>
    %K = memref.dim %A, %c1 : memref<?x?xf16>
    %N = memref.dim %B, %c1 : memref<?x?xf16, strided<[1, ?]>>
    scf.forall (%m, %n) = (0, 0) to (%M, %N) step (64, 64) {
      %acc = scf.for %k = %c0 to %K step %c32 iter_args(%c = %zero) -> (tensor<64x64xf32>) {
        %a = tcc.load %A[%m, %k] : memref<?x?xf16> -> tensor<64x32xf16>
        %b = tcc.load %B[%k, %n] : memref<?x?xf16, strided<[1, ?]>> -> tensor<32x64xf16>
        %d = tcc.matmul %a, %b, %c : tensor<64x32xf16>, tensor<32x64xf16>, tensor<64x64xf32>
        scf.yield %d : tensor<64x64xf32>
      }
      %r = math.absf %acc : tensor<64x64xf32>
      tcc.store %r, %C[%m, %n] : tensor<64x64xf32>, memref<?x?xf32>
    }
    return
  }

  func.func @wmma(
      %A: memref<100x72xbf16> {tcc.name = "A", tcc.dims = ["M", "K"], tcc.direction = "in"},
      %B: memref<72x33xbf16> {tcc.name = "B", tcc.dims = ["K", "N"], tcc.direction = "in"},
      %C: memref<100x33xbf16> {tcc.name = "C", tcc.dims = ["M", "N"], tcc.direction = "inout"})
      attributes {tcc.level = "L1", tcc.kernel = "wmma", tcc.variant = "all",
                  tcc.preconditions = [], tcc.schedule = #wmma} {
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %c72 = arith.constant 72 : index
    %zero = arith.constant dense<0.0> : tensor<64x64xf32>
    scf.forall (%m, %n) = (0, 0) to (100, 33) step (64, 64) {
      %acc = scf.for %k = %c0 to %c72 step %c32 iter_args(%c = %zero) -> (tensor<64x64xf32>) {
        %a = tcc.load %A[%m, %k] : memref<100x72xbf16> -> tensor<64x32xbf16>
        %b = tcc.load %B[%k, %n] : memref<72x33xbf16> -> tensor<32x64xbf16>
        %d = tcc.matmul %a, %b, %c : tensor<64x32xbf16>, tensor<32x64xbf16>, tensor<64x64xf32>
        scf.yield %d : tensor<64x64xf32>
      }
      %old = tcc.load %C[%m, %n] : memref<100x33xbf16> -> tensor<64x64xbf16>
      %wide = arith.extf %old : tensor<64x64xbf16> to tensor<64x64xf32>
      %sum = arith.addf %acc, %wide : tensor<64x64xf32>
      %h = arith.truncf %sum : tensor<64x64xf32> to tensor<64x64xbf16>
      tcc.store %h, %C[%m, %n] : tensor<64x64xbf16>, memref<100x33xbf16>
    }
    return
  }
}

gpu.module @hopper [#nvvm.target<chip = "sm_90a">] {
  func.func @wgmma(
      %A: memref<?x?xbf16, strided<[1, ?]>> {tcc.name = "A", tcc.dims = ["M", "K"], tcc.direction = "in"},
      %B: memref<?x?xbf16> {tcc.name = "B", tcc.dims = ["K", "N"], tcc.direction = "in"},
      %C: memref<?x?xbf16> {tcc.name = "C", tcc.dims = ["M", "N"], tcc.direction = "out"})
      attributes {tcc.level = "L1", tcc.kernel = "wgmma", tcc.variant = "all",
                  tcc.preconditions = [], tcc.schedule = #wgmma} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant dense<0.0> : tensor<128x256xf32>
    %M = memref.dim %C, %c0 : memref<?x?xbf16>
    %N = memref.dim %C, %c1 : memref<?x?xbf16>
    %K = memref.dim %B, %c0 : memref<?x?xbf16>
    scf.forall (%m, %n) = (0, 0) to (%M, %N) step (128, 256) {
      %acc = scf.for %k = %c0 to %K step %c64 iter_args(%c = %zero) -> (tensor<128x256xf32>) {
        %a = tcc.load %A[%m, %k] : memref<?x?xbf16, strided<[1, ?]>> -> tensor<128x64xbf16>
        %b = tcc.load %B[%k, %n] : memref<?x?xbf16> -> tensor<64x256xbf16>
        %d = tcc.matmul %a, %b, %c : tensor<128x64xbf16>, tensor<64x256xbf16>, tensor<128x256xf32>
        scf.yield %d : tensor<128x256xf32>
      }
      %h = arith.truncf %acc : tensor<128x256xf32> to tensor<128x256xbf16>
      tcc.store %h, %C[%m, %n] : tensor<128x256xbf16>, memref<?x?xbf16>
    }
    return
  }

  func.func @split_k(
      %A: memref<?x?xbf16, strided<[1, ?]>> {tcc.name = "A", tcc.dims = ["M", "K"], tcc.direction = "in"},
      %B: memref<?x?xbf16> {tcc.name = "B", tcc.dims = ["K", "N"], tcc.direction = "in"},
      %C: memref<?x?xbf16> {tcc.name = "C", tcc.dims = ["M", "N"], tcc.direction = "out"})
      attributes {tcc.level = "L1", tcc.kernel = "split_k", tcc.variant = "all",
                  tcc.preconditions = [], tcc.schedule = #split_k} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant dense<0.0> : tensor<128x128xf32>
    %M = memref.dim %C, %c0 : memref<?x?xbf16>
    %N = memref.dim %C, %c1 : memref<?x?xbf16>
    %K = memref.dim %B, %c0 : memref<?x?xbf16>
    scf.forall (%m, %n) = (0, 0) to (%M, %N) step (128, 128) {
      %acc = scf.for %k = %c0 to %K step %c64 iter_args(%c = %zero) -> (tensor<128x128xf32>) {
        %a = tcc.load %A[%m, %k] : memref<?x?xbf16, strided<[1, ?]>> -> tensor<128x64xbf16>
        %b = tcc.load %B[%k, %n] : memref<?x?xbf16> -> tensor<64x128xbf16>
        %d = tcc.matmul %a, %b, %c : tensor<128x64xbf16>, tensor<64x128xbf16>, tensor<128x128xf32>
        scf.yield %d : tensor<128x128xf32>
      }
      %h = arith.truncf %acc : tensor<128x128xf32> to tensor<128x128xbf16>
      tcc.store %h, %C[%m, %n] : tensor<128x128xbf16>, memref<?x?xbf16>
    }
    return
  }
}
