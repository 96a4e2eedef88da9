// RUN: tcc-opt %s --tcc-pipeline -split-input-file -verify-diagnostics
// What a loop must look like for its copies to run ahead.

#c = #tcc.fragment<mma_sync, c, shape = [16, 8, 16], warps = [2, 1]>
#a = #tcc.fragment<mma_sync, a, shape = [16, 8, 16], warps = [2, 1]>
#b = #tcc.fragment<mma_sync, b, shape = [16, 8, 16], warps = [2, 1]>
#s = #tcc.schedule<block = [32, 32, 64], warps = [2, 1], mma = mma_sync, transport = cp_async, stages = 2>
!buffer = !tcc.shared<32x32xf16, #tcc.layout<contiguous = 1, span = 64>>
gpu.module @m [#nvvm.target<chip = "sm_80">] {
  func.func @wrong_step(%A: memref<?x?xf16>, %m: index, %K: index) attributes {tcc.level = "L3g", tcc.schedule = #s} {
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %zero = arith.constant dense<0.0> : tensor<32x32xf32, #c>
    %s = tcc.alloc_shared : !buffer
    // expected-error @below {{expects the schedule's block K of 64 as its step (L1.5)}}
    %acc:2 = scf.for %k = %c0 to %K step %c32 iter_args(%c = %zero, %i = %c0) -> (tensor<32x32xf32, #c>, index) {
      tcc.copy cp_async %A[%m, %k], %s {bytes = 16 : i64} : memref<?x?xf16>, !buffer
      %a = tcc.local_load %s : !buffer -> tensor<32x32xf16, #a>
      %b = tcc.local_load %s : !buffer -> tensor<32x32xf16, #b>
      %d = tcc.matmul %a, %b, %c : tensor<32x32xf16, #a>, tensor<32x32xf16, #b>, tensor<32x32xf32, #c>
      scf.yield %d, %i : tensor<32x32xf32, #c>, index
    }
    return
  }
}

// -----

#c = #tcc.fragment<mma_sync, c, shape = [16, 8, 16], warps = [2, 1]>
#a = #tcc.fragment<mma_sync, a, shape = [16, 8, 16], warps = [2, 1]>
#b = #tcc.fragment<mma_sync, b, shape = [16, 8, 16], warps = [2, 1]>
#s = #tcc.schedule<block = [32, 32, 32], warps = [2, 1], mma = mma_sync, transport = cp_async, stages = 2>
!buffer = !tcc.shared<32x32xf16>
gpu.module @m [#nvvm.target<chip = "sm_80">] {
  func.func @no_layout(%A: memref<?x?xf16>, %m: index, %K: index) attributes {tcc.level = "L3g", tcc.schedule = #s} {
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %zero = arith.constant dense<0.0> : tensor<32x32xf32, #c>
    %s = tcc.alloc_shared : !buffer
    %acc:2 = scf.for %k = %c0 to %K step %c32 iter_args(%c = %zero, %i = %c0) -> (tensor<32x32xf32, #c>, index) {
      // expected-error @below {{expects a buffer with a layout (L3.1): run tcc-layout-shared}}
      tcc.copy cp_async %A[%m, %k], %s {bytes = 16 : i64} : memref<?x?xf16>, !buffer
      %a = tcc.local_load %s : !buffer -> tensor<32x32xf16, #a>
      %b = tcc.local_load %s : !buffer -> tensor<32x32xf16, #b>
      %d = tcc.matmul %a, %b, %c : tensor<32x32xf16, #a>, tensor<32x32xf16, #b>, tensor<32x32xf32, #c>
      scf.yield %d, %i : tensor<32x32xf32, #c>, index
    }
    return
  }
}

// -----

#c = #tcc.fragment<mma_sync, c, shape = [16, 8, 16], warps = [2, 1]>
#a = #tcc.fragment<mma_sync, a, shape = [16, 8, 16], warps = [2, 1]>
#b = #tcc.fragment<mma_sync, b, shape = [16, 8, 16], warps = [2, 1]>
#s = #tcc.schedule<block = [32, 32, 32], warps = [2, 1], mma = mma_sync, transport = cp_async, stages = 2>
!buffer = !tcc.shared<32x32xf16, #tcc.layout<contiguous = 1, span = 64>>
gpu.module @m [#nvvm.target<chip = "sm_80">] {
  func.func @other_transport(%A: memref<?x?xf16>, %m: index, %K: index) attributes {tcc.level = "L3g", tcc.schedule = #s} {
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %zero = arith.constant dense<0.0> : tensor<32x32xf32, #c>
    %s = tcc.alloc_shared : !buffer
    %acc:2 = scf.for %k = %c0 to %K step %c32 iter_args(%c = %zero, %i = %c0) -> (tensor<32x32xf32, #c>, index) {
      // expected-error @below {{has the transport register, but the schedule has cp_async}}
      tcc.copy register %A[%m, %k], %s {bytes = 16 : i64} : memref<?x?xf16>, !buffer
      %a = tcc.local_load %s : !buffer -> tensor<32x32xf16, #a>
      %b = tcc.local_load %s : !buffer -> tensor<32x32xf16, #b>
      %d = tcc.matmul %a, %b, %c : tensor<32x32xf16, #a>, tensor<32x32xf16, #b>, tensor<32x32xf32, #c>
      scf.yield %d, %i : tensor<32x32xf32, #c>, index
    }
    return
  }
}

// -----

#c = #tcc.fragment<mma_sync, c, shape = [16, 8, 16], warps = [2, 1]>
#a = #tcc.fragment<mma_sync, a, shape = [16, 8, 16], warps = [2, 1]>
#b = #tcc.fragment<mma_sync, b, shape = [16, 8, 16], warps = [2, 1]>
#s = #tcc.schedule<block = [32, 32, 32], warps = [2, 1], mma = mma_sync, transport = cp_async, stages = 2>
!buffer = !tcc.shared<32x32xf16, #tcc.layout<contiguous = 1, span = 64>>
gpu.module @m [#nvvm.target<chip = "sm_80">] {
  func.func @no_copy(%A: memref<?x?xf16>, %m: index, %K: index) attributes {tcc.level = "L3g", tcc.schedule = #s} {
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %zero = arith.constant dense<0.0> : tensor<32x32xf32, #c>
    %s = tcc.alloc_shared : !buffer
    // expected-error @below {{expects copies to shared memory (L2.1): run tcc-stage-shared, or the kernel is pipelined already}}
    %acc:2 = scf.for %k = %c0 to %K step %c32 iter_args(%c = %zero, %i = %c0) -> (tensor<32x32xf32, #c>, index) {
      %a = tcc.local_load %s : !buffer -> tensor<32x32xf16, #a>
      %b = tcc.local_load %s : !buffer -> tensor<32x32xf16, #b>
      %d = tcc.matmul %a, %b, %c : tensor<32x32xf16, #a>, tensor<32x32xf16, #b>, tensor<32x32xf32, #c>
      scf.yield %d, %i : tensor<32x32xf32, #c>, index
    }
    return
  }
}

// -----

#c = #tcc.fragment<mma_sync, c, shape = [16, 8, 16], warps = [2, 1]>
#a = #tcc.fragment<mma_sync, a, shape = [16, 8, 16], warps = [2, 1]>
#b = #tcc.fragment<mma_sync, b, shape = [16, 8, 16], warps = [2, 1]>
#s = #tcc.schedule<block = [32, 32, 32], warps = [2, 1], mma = mma_sync, transport = cp_async, stages = 2>
!buffer = !tcc.shared<32x32xf16, #tcc.layout<contiguous = 1, span = 64>>
gpu.module @m [#nvvm.target<chip = "sm_80">] {
  func.func @carried(%A: memref<?x?xf16>, %m: index, %K: index) attributes {tcc.level = "L3g", tcc.schedule = #s} {
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %zero = arith.constant dense<0.0> : tensor<32x32xf32, #c>
    %s = tcc.alloc_shared : !buffer
    %acc:2 = scf.for %k = %c0 to %K step %c32 iter_args(%c = %zero, %i = %c0) -> (tensor<32x32xf32, #c>, index) {
      // expected-error @below {{can't run ahead of the loop: it depends on a value that the loop carries}}
      tcc.copy cp_async %A[%m, %i], %s {bytes = 16 : i64} : memref<?x?xf16>, !buffer
      %a = tcc.local_load %s : !buffer -> tensor<32x32xf16, #a>
      %b = tcc.local_load %s : !buffer -> tensor<32x32xf16, #b>
      %d = tcc.matmul %a, %b, %c : tensor<32x32xf16, #a>, tensor<32x32xf16, #b>, tensor<32x32xf32, #c>
      scf.yield %d, %i : tensor<32x32xf32, #c>, index
    }
    return
  }
}

// -----

#c = #tcc.fragment<mma_sync, c, shape = [16, 8, 16], warps = [2, 1]>
#a = #tcc.fragment<mma_sync, a, shape = [16, 8, 16], warps = [2, 1]>
#b = #tcc.fragment<mma_sync, b, shape = [16, 8, 16], warps = [2, 1]>
#s = #tcc.schedule<block = [32, 32, 32], warps = [2, 1], mma = mma_sync, transport = cp_async, stages = 2>
!buffer = !tcc.shared<32x32xf16, #tcc.layout<contiguous = 1, span = 64>>
gpu.module @m [#nvvm.target<chip = "sm_80">] {
  func.func private @where() -> index
  func.func @side_effects(%A: memref<?x?xf16>, %m: index, %K: index) attributes {tcc.level = "L3g", tcc.schedule = #s} {
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %zero = arith.constant dense<0.0> : tensor<32x32xf32, #c>
    %s = tcc.alloc_shared : !buffer
    %acc:2 = scf.for %k = %c0 to %K step %c32 iter_args(%c = %zero, %i = %c0) -> (tensor<32x32xf32, #c>, index) {
      // expected-error @below {{can't run ahead of the loop, as the copy that uses it must: it has side effects or may be undefined}}
      %j = func.call @where() : () -> index
      tcc.copy cp_async %A[%m, %j], %s {bytes = 16 : i64} : memref<?x?xf16>, !buffer
      %a = tcc.local_load %s : !buffer -> tensor<32x32xf16, #a>
      %b = tcc.local_load %s : !buffer -> tensor<32x32xf16, #b>
      %d = tcc.matmul %a, %b, %c : tensor<32x32xf16, #a>, tensor<32x32xf16, #b>, tensor<32x32xf32, #c>
      scf.yield %d, %i : tensor<32x32xf32, #c>, index
    }
    return
  }
}

// -----

#c = #tcc.fragment<mma_sync, c, shape = [16, 8, 16], warps = [2, 1]>
#a = #tcc.fragment<mma_sync, a, shape = [16, 8, 16], warps = [2, 1]>
#b = #tcc.fragment<mma_sync, b, shape = [16, 8, 16], warps = [2, 1]>
#s = #tcc.schedule<block = [32, 32, 32], warps = [2, 1], mma = mma_sync, transport = cp_async, stages = 2>
!buffer = !tcc.shared<32x32xf16, #tcc.layout<contiguous = 1, span = 64>>
gpu.module @m [#nvvm.target<chip = "sm_80">] {
  func.func @read_after_the_loop(%A: memref<?x?xf16>, %m: index, %K: index) attributes {tcc.level = "L3g", tcc.schedule = #s} {
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %zero = arith.constant dense<0.0> : tensor<32x32xf32, #c>
    %s = tcc.alloc_shared : !buffer
    %acc:2 = scf.for %k = %c0 to %K step %c32 iter_args(%c = %zero, %i = %c0) -> (tensor<32x32xf32, #c>, index) {
      tcc.copy cp_async %A[%m, %k], %s {bytes = 16 : i64} : memref<?x?xf16>, !buffer
      %a = tcc.local_load %s : !buffer -> tensor<32x32xf16, #a>
      %b = tcc.local_load %s : !buffer -> tensor<32x32xf16, #b>
      %d = tcc.matmul %a, %b, %c : tensor<32x32xf16, #a>, tensor<32x32xf16, #b>, tensor<32x32xf32, #c>
      scf.yield %d, %i : tensor<32x32xf32, #c>, index
    }
    // expected-error @below {{can't read a slot of a pipeline: expects a tcc.local_load or tcc.matmul in the loop}}
    %late = tcc.local_load %s : !buffer -> tensor<32x32xf16, #a>
    return
  }
}

// -----

#c = #tcc.fragment<mma_sync, c, shape = [16, 8, 16], warps = [2, 1]>
#a = #tcc.fragment<mma_sync, a, shape = [16, 8, 16], warps = [2, 1]>
#b = #tcc.fragment<mma_sync, b, shape = [16, 8, 16], warps = [2, 1]>
#s = #tcc.schedule<block = [32, 32, 32], warps = [2, 1], mma = mma_sync, transport = cp_async, stages = 2>
!buffer = !tcc.shared<32x32xf16, stages = 2, #tcc.layout<contiguous = 1, span = 64>>
func.func @twice(%A: memref<?x?xf16>, %m: index, %K: index, %slot: i32) attributes {tcc.level = "L3g", tcc.schedule = #s} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant dense<0.0> : tensor<32x32xf32, #c>
  %s = tcc.alloc_shared : !buffer
  %acc = scf.for %k = %c0 to %K step %c32 iter_args(%c = %zero) -> (tensor<32x32xf32, #c>) {
    // expected-error @below {{goes to a buffer with 2 stages: the kernel is pipelined already}}
    tcc.copy cp_async %A[%m, %k], %s slot %slot {bytes = 16 : i64} : memref<?x?xf16>, !buffer
    %a = tcc.local_load %s slot %slot : !buffer -> tensor<32x32xf16, #a>
    %b = tcc.local_load %s slot %slot : !buffer -> tensor<32x32xf16, #b>
    %d = tcc.matmul %a, %b, %c : tensor<32x32xf16, #a>, tensor<32x32xf16, #b>, tensor<32x32xf32, #c>
    scf.yield %d : tensor<32x32xf32, #c>
  }
  return
}

// -----

#c = #tcc.fragment<wgmma, c, shape = [64, 64, 16], warps = [4, 1]>
#row = #tcc.layout<contiguous = 1, span = 128>
#s = #tcc.schedule<block = [64, 64, 64], warps = [4, 1], mma = wgmma, transport = tma, stages = 4, roles = ping_pong, persistent = true>
!buffer = !tcc.shared<64x64xf16, #row>
!acc = tensor<64x64xf32, #c>
gpu.module @m [#nvvm.target<chip = "sm_90a">] {
  func.func @two_loops_of_tiles(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf32>, %n: index)
      attributes {tcc.level = "L3g", tcc.schedule = #s} {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %sa = tcc.alloc_shared : !buffer
    %sb = tcc.alloc_shared : !buffer
    scf.for %m = %c0 to %n step %c64 {
      scf.for %j = %c0 to %n step %c64 {
        %zero = arith.constant dense<0.0> : !acc
        // expected-error @below {{expects to stand in the kernel's body or in one loop over tiles}}
        %acc = scf.for %k = %c0 to %n step %c64 iter_args(%c = %zero) -> (!acc) {
          tcc.copy tma %A[%m, %k], %sa {bytes = 16 : i64} : memref<?x?xf16>, !buffer
          tcc.copy tma %B[%k, %j], %sb {bytes = 16 : i64} : memref<?x?xf16>, !buffer
          %d = tcc.matmul %sa, %sb, %c : !buffer, !buffer, !acc
          scf.yield %d : !acc
        }
        tcc.store %acc, %C[%m, %j] {bytes = 8 : i64} : !acc, memref<?x?xf32>
      }
    }
    return
  }
}
