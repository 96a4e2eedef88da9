// RUN: tcc-opt %s --tcc-verify-level -split-input-file -verify-diagnostics

#a = #tcc.fragment<mma_sync, a, shape = [16, 8, 16], warps = [2, 1]>
#b = #tcc.fragment<mma_sync, b, shape = [16, 8, 16], warps = [2, 1]>
#c = #tcc.fragment<mma_sync, c, shape = [16, 8, 16], warps = [2, 1]>
#x = #tcc.fragment<mma_sync, c, shape = [16, 8, 16], warps = [1, 1]>
#row = #tcc.layout<contiguous = 1, span = 64>
#s = #tcc.schedule<block = [32, 32, 32], warps = [2, 1], mma = mma_sync, transport = cp_async, stages = 2, alignment = [16, 16, 16]>
!buffer = !tcc.shared<32x32xf16>
gpu.module @m [#nvvm.target<chip = "sm_80">] {
  func.func @no_layout(%A: memref<64x64xf16> {tcc.name = "A", tcc.dims = ["M", "K"], tcc.direction = "in"}, %B: memref<64x64xf16> {tcc.name = "B", tcc.dims = ["K", "N"], tcc.direction = "in"},
                %C: memref<64x64xf32> {tcc.name = "C", tcc.dims = ["M", "N"], tcc.direction = "out"})
      attributes {tcc.level = "L3", tcc.kernel = "k", tcc.variant = "all", tcc.preconditions = [], tcc.schedule = #s} {
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant dense<0.0> : tensor<32x32xf32, #c>
    scf.forall (%m, %n) = (0, 0) to (64, 64) step (32, 32) {
      // expected-error @below {{expects a layout (L3.1)}}
      %sa = tcc.alloc_shared : !buffer
      %acc = scf.for %k = %c0 to %c64 step %c32 iter_args(%c = %zero) -> (tensor<32x32xf32, #c>) {
        tcc.copy cp_async %A[%m, %k], %sa {bytes = 16 : i64, clamp = 0 : i64} : memref<64x64xf16>, !buffer
        %a = tcc.local_load %sa : !buffer -> tensor<32x32xf16, #a>
        %b = tcc.local_load %sa : !buffer -> tensor<32x32xf16, #b>
        %d = tcc.matmul %a, %b, %c : tensor<32x32xf16, #a>, tensor<32x32xf16, #b>, tensor<32x32xf32, #c>
        scf.yield %d : tensor<32x32xf32, #c>
      }
      tcc.store %acc, %C[%m, %n] {bytes = 8 : i64} : tensor<32x32xf32, #c>, memref<64x64xf32>
    }
    return
  }
}

// -----

#a = #tcc.fragment<mma_sync, a, shape = [16, 8, 16], warps = [2, 1]>
#b = #tcc.fragment<mma_sync, b, shape = [16, 8, 16], warps = [2, 1]>
#c = #tcc.fragment<mma_sync, c, shape = [16, 8, 16], warps = [2, 1]>
#x = #tcc.fragment<mma_sync, c, shape = [16, 8, 16], warps = [1, 1]>
#row = #tcc.layout<contiguous = 1, span = 64>
#s = #tcc.schedule<block = [32, 32, 32], warps = [2, 1], mma = mma_sync, transport = cp_async, stages = 2, alignment = [16, 16, 16]>
!buffer = !tcc.shared<32x32xf16, #tcc.layout<contiguous = 0>>
gpu.module @m [#nvvm.target<chip = "sm_80">] {
  func.func @other_order(%A: memref<64x64xf16> {tcc.name = "A", tcc.dims = ["M", "K"], tcc.direction = "in"}, %B: memref<64x64xf16> {tcc.name = "B", tcc.dims = ["K", "N"], tcc.direction = "in"},
                %C: memref<64x64xf32> {tcc.name = "C", tcc.dims = ["M", "N"], tcc.direction = "out"})
      attributes {tcc.level = "L3", tcc.kernel = "k", tcc.variant = "all", tcc.preconditions = [], tcc.schedule = #s} {
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant dense<0.0> : tensor<32x32xf32, #c>
    scf.forall (%m, %n) = (0, 0) to (64, 64) step (32, 32) {
      %sa = tcc.alloc_shared : !buffer
      %acc = scf.for %k = %c0 to %c64 step %c32 iter_args(%c = %zero) -> (tensor<32x32xf32, #c>) {
        // expected-error @below {{expects dimension 1 of the buffer to be contiguous, as in the matrix, found #tcc.layout<contiguous = 0> (L3.1)}}
        tcc.copy cp_async %A[%m, %k], %sa {bytes = 16 : i64, clamp = 0 : i64} : memref<64x64xf16>, !buffer
        %a = tcc.local_load %sa : !buffer -> tensor<32x32xf16, #a>
        %b = tcc.local_load %sa : !buffer -> tensor<32x32xf16, #b>
        %d = tcc.matmul %a, %b, %c : tensor<32x32xf16, #a>, tensor<32x32xf16, #b>, tensor<32x32xf32, #c>
        scf.yield %d : tensor<32x32xf32, #c>
      }
      tcc.store %acc, %C[%m, %n] {bytes = 8 : i64} : tensor<32x32xf32, #c>, memref<64x64xf32>
    }
    return
  }
}

// -----

#a = #tcc.fragment<mma_sync, a, shape = [16, 8, 16], warps = [2, 1]>
#b = #tcc.fragment<mma_sync, b, shape = [16, 8, 16], warps = [2, 1]>
#c = #tcc.fragment<mma_sync, c, shape = [16, 8, 16], warps = [2, 1]>
#x = #tcc.fragment<mma_sync, c, shape = [16, 8, 16], warps = [1, 1]>
#row = #tcc.layout<contiguous = 1, span = 64>
#s = #tcc.schedule<block = [32, 32, 32], warps = [2, 1], mma = wgmma, transport = cp_async, stages = 2, alignment = [16, 16, 16]>
!buffer = !tcc.shared<32x32xf16, #tcc.layout<contiguous = 1, pad = 16>>
gpu.module @m [#nvvm.target<chip = "sm_80">] {
  func.func @padded_for_wgmma(%A: memref<64x64xf16> {tcc.name = "A", tcc.dims = ["M", "K"], tcc.direction = "in"}, %B: memref<64x64xf16> {tcc.name = "B", tcc.dims = ["K", "N"], tcc.direction = "in"},
                %C: memref<64x64xf32> {tcc.name = "C", tcc.dims = ["M", "N"], tcc.direction = "out"})
      attributes {tcc.level = "L3", tcc.kernel = "k", tcc.variant = "all", tcc.preconditions = [], tcc.schedule = #s} {
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant dense<0.0> : tensor<32x32xf32, #c>
    scf.forall (%m, %n) = (0, 0) to (64, 64) step (32, 32) {
      // expected-error @below {{is padded by 16 bytes, but wgmma's descriptors expect a swizzled layout (L3.1)}}
      %sa = tcc.alloc_shared : !buffer
      %acc = scf.for %k = %c0 to %c64 step %c32 iter_args(%c = %zero) -> (tensor<32x32xf32, #c>) {
        tcc.copy cp_async %A[%m, %k], %sa {bytes = 16 : i64, clamp = 0 : i64} : memref<64x64xf16>, !buffer
        %a = tcc.local_load %sa : !buffer -> tensor<32x32xf16, #a>
        %b = tcc.local_load %sa : !buffer -> tensor<32x32xf16, #b>
        %d = tcc.matmul %a, %b, %c : tensor<32x32xf16, #a>, tensor<32x32xf16, #b>, tensor<32x32xf32, #c>
        scf.yield %d : tensor<32x32xf32, #c>
      }
      tcc.store %acc, %C[%m, %n] {bytes = 8 : i64} : tensor<32x32xf32, #c>, memref<64x64xf32>
    }
    return
  }
}

// -----

#a = #tcc.fragment<mma_sync, a, shape = [16, 8, 16], warps = [2, 1]>
#b = #tcc.fragment<mma_sync, b, shape = [16, 8, 16], warps = [2, 1]>
#c = #tcc.fragment<mma_sync, c, shape = [16, 8, 16], warps = [2, 1]>
#x = #tcc.fragment<mma_sync, c, shape = [16, 8, 16], warps = [1, 1]>
#row = #tcc.layout<contiguous = 1, span = 64>
#s = #tcc.schedule<block = [32, 32, 32], warps = [2, 1], mma = mma_sync, transport = cp_async, stages = 2, alignment = [16, 16, 16]>
!buffer = !tcc.shared<32x32xf16, #row>
gpu.module @m [#nvvm.target<chip = "sm_80">] {
  func.func @no_encoding(%A: memref<64x64xf16> {tcc.name = "A", tcc.dims = ["M", "K"], tcc.direction = "in"}, %B: memref<64x64xf16> {tcc.name = "B", tcc.dims = ["K", "N"], tcc.direction = "in"},
                %C: memref<64x64xf32> {tcc.name = "C", tcc.dims = ["M", "N"], tcc.direction = "out"})
      attributes {tcc.level = "L3", tcc.kernel = "k", tcc.variant = "all", tcc.preconditions = [], tcc.schedule = #s} {
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant dense<0.0> : tensor<32x32xf32, #c>
    scf.forall (%m, %n) = (0, 0) to (64, 64) step (32, 32) {
      %sa = tcc.alloc_shared : !buffer
      %acc = scf.for %k = %c0 to %c64 step %c32 iter_args(%c = %zero) -> (tensor<32x32xf32, #c>) {
        tcc.copy cp_async %A[%m, %k], %sa {bytes = 16 : i64, clamp = 0 : i64} : memref<64x64xf16>, !buffer
        %a = tcc.local_load %sa : !buffer -> tensor<32x32xf16, #a>
        %b = tcc.local_load %sa : !buffer -> tensor<32x32xf16, #b>
        %d = tcc.matmul %a, %b, %c : tensor<32x32xf16, #a>, tensor<32x32xf16, #b>, tensor<32x32xf32, #c>
        scf.yield %d : tensor<32x32xf32, #c>
      }
      // expected-error @below {{expects a distribution over threads as the encoding of 'tensor<32x32xf32>' (L3.3)}}
      %e = tensor.empty() : tensor<32x32xf32>
      tcc.store %acc, %C[%m, %n] {bytes = 8 : i64} : tensor<32x32xf32, #c>, memref<64x64xf32>
    }
    return
  }
}

// -----

#a = #tcc.fragment<mma_sync, a, shape = [16, 8, 16], warps = [2, 1]>
#b = #tcc.fragment<mma_sync, b, shape = [16, 8, 16], warps = [2, 1]>
#c = #tcc.fragment<mma_sync, c, shape = [16, 8, 16], warps = [2, 1]>
#x = #tcc.fragment<mma_sync, c, shape = [16, 8, 16], warps = [1, 1]>
#row = #tcc.layout<contiguous = 1, span = 64>
#s = #tcc.schedule<block = [32, 32, 32], warps = [2, 1], mma = mma_sync, transport = cp_async, stages = 2, alignment = [16, 16, 16]>
!buffer = !tcc.shared<32x32xf16, #row>
gpu.module @m [#nvvm.target<chip = "sm_80">] {
  func.func @other_warps(%A: memref<64x64xf16> {tcc.name = "A", tcc.dims = ["M", "K"], tcc.direction = "in"}, %B: memref<64x64xf16> {tcc.name = "B", tcc.dims = ["K", "N"], tcc.direction = "in"},
                %C: memref<64x64xf32> {tcc.name = "C", tcc.dims = ["M", "N"], tcc.direction = "out"})
      attributes {tcc.level = "L3", tcc.kernel = "k", tcc.variant = "all", tcc.preconditions = [], tcc.schedule = #s} {
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant dense<0.0> : tensor<32x32xf32, #tcc.fragment<mma_sync, c, shape = [16, 8, 16], warps = [1, 1]>>
    scf.forall (%m, %n) = (0, 0) to (64, 64) step (32, 32) {
      %sa = tcc.alloc_shared : !buffer
      %acc = scf.for %k = %c0 to %c64 step %c32 iter_args(%c = %zero) -> (tensor<32x32xf32, #tcc.fragment<mma_sync, c, shape = [16, 8, 16], warps = [1, 1]>>) {
        tcc.copy cp_async %A[%m, %k], %sa {bytes = 16 : i64, clamp = 0 : i64} : memref<64x64xf16>, !buffer
        %a = tcc.local_load %sa : !buffer -> tensor<32x32xf16, #tcc.fragment<mma_sync, a, shape = [16, 8, 16], warps = [1, 1]>>
        %b = tcc.local_load %sa : !buffer -> tensor<32x32xf16, #tcc.fragment<mma_sync, b, shape = [16, 8, 16], warps = [1, 1]>>
        // expected-error @below {{expects an accumulator distributed as #tcc.fragment<mma_sync, c, shape = [16, 8, 16], warps = [2, 1]> (L3.4)}}
        %d = tcc.matmul %a, %b, %c : tensor<32x32xf16, #tcc.fragment<mma_sync, a, shape = [16, 8, 16], warps = [1, 1]>>, tensor<32x32xf16, #tcc.fragment<mma_sync, b, shape = [16, 8, 16], warps = [1, 1]>>, tensor<32x32xf32, #tcc.fragment<mma_sync, c, shape = [16, 8, 16], warps = [1, 1]>>
        scf.yield %d : tensor<32x32xf32, #tcc.fragment<mma_sync, c, shape = [16, 8, 16], warps = [1, 1]>>
      }
      tcc.store %acc, %C[%m, %n] {bytes = 8 : i64} : tensor<32x32xf32, #tcc.fragment<mma_sync, c, shape = [16, 8, 16], warps = [1, 1]>>, memref<64x64xf32>
    }
    return
  }
}
