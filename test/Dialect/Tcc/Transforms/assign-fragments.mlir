// RUN: tcc-opt %s --tcc-assign-fragments | FileCheck %s

#direct = #tcc.schedule<block = [32, 32, 32], warps = [2, 1], mma = mma_sync,
                        transport = cp_async, stages = 2>
#staged = #tcc.schedule<block = [32, 32, 32], warps = [1, 2], mma = wmma, transport = register,
                        stages = 2, epilogue = shared>
#row = #tcc.layout<contiguous = 1, span = 64>
#column = #tcc.layout<contiguous = 0, span = 64>
#padded = #tcc.layout<contiguous = 1, pad = 16>


gpu.module @m [#nvvm.target<chip = "sm_80">] {
  // The fragments of the atom flow along the loop, forward through the epilogue, and backward into
  // constants, loads and broadcasts. A constant that two distributions need is made twice.
  // CHECK-LABEL: func.func @direct
  // CHECK-SAME:    tcc.level = "L3"
  // CHECK:         %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : tensor<32x32xf32, #tcc.fragment<mma_sync, c, shape = [16, 8, 16], warps = [2, 1]>>
  // CHECK:         %[[ACC:.*]] = scf.for {{.*}} iter_args(%{{.*}} = %[[ZERO]]) -> (tensor<32x32xf32, #tcc.fragment<mma_sync, c, shape = [16, 8, 16], warps = [2, 1]>>)
  // CHECK:           tcc.local_load {{.*}} -> tensor<32x32xf16, #tcc.fragment<mma_sync, a, shape = [16, 8, 16], warps = [2, 1]>>
  // CHECK:           tcc.local_load {{.*}} -> tensor<32x32xf16, #tcc.fragment<mma_sync, b, shape = [16, 8, 16], warps = [2, 1]>>
  // CHECK:           tcc.matmul {{.*}} : tensor<32x32xf16, #tcc.fragment<mma_sync, a, shape = [16, 8, 16], warps = [2, 1]>>, tensor<32x32xf16, #tcc.fragment<mma_sync, b, shape = [16, 8, 16], warps = [2, 1]>>, tensor<32x32xf32, #tcc.fragment<mma_sync, c, shape = [16, 8, 16], warps = [2, 1]>>
  // CHECK:         tcc.load {{.*}} : memref<?xf32> -> tensor<32xf32, #tcc.slice<dim = 0, size = 32, parent = #tcc.fragment<mma_sync, c, shape = [16, 8, 16], warps = [2, 1]>>>
  // CHECK:         tensor.empty() : tensor<32x32xf32, #tcc.fragment<mma_sync, c, shape = [16, 8, 16], warps = [2, 1]>>
  // CHECK:         %[[BIASED:.*]] = arith.addf %[[ACC]], %{{.*}} : tensor<32x32xf32, #tcc.fragment<mma_sync, c, shape = [16, 8, 16], warps = [2, 1]>>
  // CHECK:         arith.maximumf %[[BIASED]], %[[ZERO]] : tensor<32x32xf32, #tcc.fragment<mma_sync, c, shape = [16, 8, 16], warps = [2, 1]>>
  // CHECK:         tcc.load {{.*}} -> tensor<32x32xf16, #tcc.fragment<mma_sync, c, shape = [16, 8, 16], warps = [2, 1]>>
  // CHECK:         arith.extf {{.*}} : tensor<32x32xf16, #tcc.fragment<mma_sync, c, shape = [16, 8, 16], warps = [2, 1]>> to tensor<32x32xf32, #tcc.fragment<mma_sync, c, shape = [16, 8, 16], warps = [2, 1]>>
  // CHECK:         %[[MASK:.*]] = arith.cmpf ogt, {{.*}} : tensor<32x32xf32, #tcc.fragment<mma_sync, c, shape = [16, 8, 16], warps = [2, 1]>>
  // CHECK:         arith.select %[[MASK]], {{.*}} : tensor<32x32xi1, #tcc.fragment<mma_sync, c, shape = [16, 8, 16], warps = [2, 1]>>, tensor<32x32xf32, #tcc.fragment<mma_sync, c, shape = [16, 8, 16], warps = [2, 1]>>
  // CHECK:         tcc.store %{{.*}} : tensor<32x32xf16, #tcc.fragment<mma_sync, c, shape = [16, 8, 16], warps = [2, 1]>>, memref<?x?xf16>
  func.func @direct(%A: memref<?x?xf16>, %B: memref<?x?xf16, strided<[1, ?]>>, %C: memref<?x?xf16>,
                    %v: memref<?xf32>)
      attributes {tcc.level = "L2", tcc.schedule = #direct} {
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %zero = arith.constant dense<0.0> : tensor<32x32xf32>
    scf.forall (%m, %n) = (0, 0) to (%c32, %c32) step (32, 32) {
      %sa = tcc.alloc_shared : !tcc.shared<32x32xf16, #row>
      %sb = tcc.alloc_shared : !tcc.shared<32x32xf16, #column>
      %acc = scf.for %k = %c0 to %c32 step %c32 iter_args(%c = %zero) -> (tensor<32x32xf32>) {
        tcc.copy cp_async %A[%m, %k], %sa {bytes = 16 : i64, clamp = 0 : i64} : memref<?x?xf16>, !tcc.shared<32x32xf16, #row>
        tcc.copy cp_async %B[%k, %n], %sb {bytes = 16 : i64, clamp = 1 : i64} : memref<?x?xf16, strided<[1, ?]>>, !tcc.shared<32x32xf16, #column>
        %a = tcc.local_load %sa : !tcc.shared<32x32xf16, #row> -> tensor<32x32xf16>
        %b = tcc.local_load %sb : !tcc.shared<32x32xf16, #column> -> tensor<32x32xf16>
        %d = tcc.matmul %a, %b, %c : tensor<32x32xf16>, tensor<32x32xf16>, tensor<32x32xf32>
        scf.yield %d : tensor<32x32xf32>
      }
      %bias = tcc.load %v[%n] : memref<?xf32> -> tensor<32xf32>
      %e = tensor.empty() : tensor<32x32xf32>
      %bb = linalg.broadcast ins(%bias : tensor<32xf32>) outs(%e : tensor<32x32xf32>) dimensions = [0]
      %x = arith.addf %acc, %bb : tensor<32x32xf32>
      %y = arith.maximumf %x, %zero : tensor<32x32xf32>
      %old = tcc.load %C[%m, %n] : memref<?x?xf16> -> tensor<32x32xf16>
      %wide = arith.extf %old : tensor<32x32xf16> to tensor<32x32xf32>
      %mask = arith.cmpf ogt, %y, %wide : tensor<32x32xf32>
      %z = arith.select %mask, %y, %wide : tensor<32x32xi1>, tensor<32x32xf32>
      %h = arith.truncf %z : tensor<32x32xf32> to tensor<32x32xf16>
      tcc.store %h, %C[%m, %n] {bytes = 4 : i64} : tensor<32x32xf16>, memref<?x?xf16>
    }
    return
  }

  // Slices keep the accumulator's fragments; what comes back from the buffer is dealt by rows, four
  // f32 a thread. The zero that the loop starts with and the one of the relu differ.
  // CHECK-LABEL: func.func @staged
  // CHECK:         iter_args(%{{.*}} = %{{.*}}) -> (tensor<32x32xf32, #tcc.fragment<wmma, c, shape = [16, 16, 16], warps = [1, 2]>>)
  // CHECK:         tensor.extract_slice {{.*}} to tensor<16x32xf32, #tcc.fragment<wmma, c, shape = [16, 16, 16], warps = [1, 2]>>
  // CHECK:         %[[ROWS:.*]] = tcc.local_load {{.*}} -> tensor<16x32xf32, #tcc.blocked<vector = 4, contiguous = 1, threads = 64>>
  // CHECK:         arith.constant dense<0.000000e+00> : tensor<16x32xf32, #tcc.blocked<vector = 4, contiguous = 1, threads = 64>>
  // CHECK:         arith.maximumf %[[ROWS]], %{{.*}} : tensor<16x32xf32, #tcc.blocked<vector = 4, contiguous = 1, threads = 64>>
  // CHECK:         tcc.store {{.*}} : tensor<16x32xf32, #tcc.blocked<vector = 4, contiguous = 1, threads = 64>>
  func.func @staged(%A: memref<?x?xf16>, %C: memref<?x?xf32>)
      attributes {tcc.level = "L2", tcc.schedule = #staged} {
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %zero = arith.constant dense<0.0> : tensor<32x32xf32>
    scf.forall (%m, %n) = (0, 0) to (%c32, %c32) step (32, 32) {
      %sa = tcc.alloc_shared : !tcc.shared<32x32xf16, #padded>
      %sc = tcc.alloc_shared : !tcc.shared<16x32xf32, #padded>
      %acc = scf.for %k = %c0 to %c32 step %c32 iter_args(%c = %zero) -> (tensor<32x32xf32>) {
        tcc.copy register %A[%m, %k], %sa {bytes = 16 : i64, clamp = 0 : i64} : memref<?x?xf16>, !tcc.shared<32x32xf16, #padded>
        %a = tcc.local_load %sa : !tcc.shared<32x32xf16, #padded> -> tensor<32x32xf16>
        %b = tcc.local_load %sa : !tcc.shared<32x32xf16, #padded> -> tensor<32x32xf16>
        %d = tcc.matmul %a, %b, %c : tensor<32x32xf16>, tensor<32x32xf16>, tensor<32x32xf32>
        scf.yield %d : tensor<32x32xf32>
      }
      %s = tensor.extract_slice %acc[0, 0] [16, 32] [1, 1] : tensor<32x32xf32> to tensor<16x32xf32>
      tcc.local_store %s, %sc : tensor<16x32xf32>, !tcc.shared<16x32xf32, #padded>
      %t = tcc.local_load %sc : !tcc.shared<16x32xf32, #padded> -> tensor<16x32xf32>
      %z = arith.constant dense<0.0> : tensor<16x32xf32>
      %r = arith.maximumf %t, %z : tensor<16x32xf32>
      tcc.store %r, %C[%m, %n] {bytes = 16 : i64} : tensor<16x32xf32>, memref<?x?xf32>
    }
    return
  }
}
