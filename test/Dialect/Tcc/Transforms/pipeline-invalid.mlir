// RUN: tcc-opt %s --tcc-pipeline -split-input-file -verify-diagnostics

// expected-error @below {{tcc-pipeline expects a kernel on level L3g, found L1: run tcc-map-grid first}}
func.func @early() attributes {tcc.level = "L1"} {
  return
}

// -----

#c = #tcc.fragment<mma_sync, c, shape = [16, 8, 16], warps = [2, 1]>
#a = #tcc.fragment<mma_sync, a, shape = [16, 8, 16], warps = [2, 1]>
#b = #tcc.fragment<mma_sync, b, shape = [16, 8, 16], warps = [2, 1]>
#s = #tcc.schedule<block = [32, 32, 32], warps = [2, 1], mma = mma_sync, transport = tma, stages = 2>
!buffer = !tcc.shared<32x32xf16, #tcc.layout<contiguous = 1, span = 64>>
gpu.module @m [#nvvm.target<chip = "sm_80">] {
  func.func @tma_uniform(%A: memref<?x?xf16>, %m: index, %K: index) attributes {tcc.level = "L3g", tcc.schedule = #s} {
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %zero = arith.constant dense<0.0> : tensor<32x32xf32, #c>
    %s = tcc.alloc_shared : !buffer
    // expected-error @below {{can't be pipelined with transport = tma and roles = uniform: tma is issued by one thread, use roles = cooperative}}
    %acc:2 = scf.for %k = %c0 to %K step %c32 iter_args(%c = %zero, %i = %c0) -> (tensor<32x32xf32, #c>, index) {
      tcc.copy tma %A[%m, %k], %s {bytes = 16 : i64} : memref<?x?xf16>, !buffer
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
#s = #tcc.schedule<block = [32, 32, 32], warps = [2, 1], mma = mma_sync, transport = register, stages = 3>
!buffer = !tcc.shared<32x32xf16, #tcc.layout<contiguous = 1, span = 64>>
gpu.module @m [#nvvm.target<chip = "sm_80">] {
  func.func @register_stages(%A: memref<?x?xf16>, %m: index, %K: index) attributes {tcc.level = "L3g", tcc.schedule = #s} {
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %zero = arith.constant dense<0.0> : tensor<32x32xf32, #c>
    %s = tcc.alloc_shared : !buffer
    // expected-error @below {{expects stages = 2 with transport = register, where one slab is in shared memory and the next in registers, found 3}}
    %acc:2 = scf.for %k = %c0 to %K step %c32 iter_args(%c = %zero, %i = %c0) -> (tensor<32x32xf32, #c>, index) {
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
#s = #tcc.schedule<block = [32, 32, 32], warps = [2, 1], mma = mma_sync, transport = cp_async, stages = 1>
!buffer = !tcc.shared<32x32xf16, #tcc.layout<contiguous = 1, span = 64>>
gpu.module @m [#nvvm.target<chip = "sm_80">] {
  func.func @one_stage(%A: memref<?x?xf16>, %m: index, %K: index) attributes {tcc.level = "L3g", tcc.schedule = #s} {
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %zero = arith.constant dense<0.0> : tensor<32x32xf32, #c>
    %s = tcc.alloc_shared : !buffer
    // expected-error @below {{expects at least 2 stages to pipeline, found 1}}
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
#s = #tcc.schedule<block = [32, 32, 32], warps = [2, 1], mma = mma_sync, transport = cp_async, stages = 2, roles = cooperative>
!buffer = !tcc.shared<32x32xf16, #tcc.layout<contiguous = 1, span = 64>>
gpu.module @m [#nvvm.target<chip = "sm_80">] {
  func.func @roles_without_tma(%A: memref<?x?xf16>, %m: index, %K: index) attributes {tcc.level = "L3g", tcc.schedule = #s} {
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %zero = arith.constant dense<0.0> : tensor<32x32xf32, #c>
    %s = tcc.alloc_shared : !buffer
    // expected-error @below {{can't be pipelined with roles = cooperative and transport = cp_async: one thread copies for all, which takes transport = tma}}
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
#s = #tcc.schedule<block = [32, 32, 32], warps = [2, 1], mma = mma_sync, transport = tma, stages = 2, roles = ping_pong>
!buffer = !tcc.shared<32x32xf16, #tcc.layout<contiguous = 1, span = 64>>
gpu.module @m [#nvvm.target<chip = "sm_80">] {
  func.func @ping_pong(%A: memref<?x?xf16>, %m: index, %K: index) attributes {tcc.level = "L3g", tcc.schedule = #s} {
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %zero = arith.constant dense<0.0> : tensor<32x32xf32, #c>
    %s = tcc.alloc_shared : !buffer
    // expected-error @below {{can't be pipelined with roles = ping_pong without a loop over tiles: expects persistent = true}}
    %acc:2 = scf.for %k = %c0 to %K step %c32 iter_args(%c = %zero, %i = %c0) -> (tensor<32x32xf32, #c>, index) {
      tcc.copy tma %A[%m, %k], %s {bytes = 16 : i64} : memref<?x?xf16>, !buffer
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
#s = #tcc.schedule<block = [32, 32, 32], warps = [2, 1], mma = mma_sync, transport = cp_async, stages = 100>
!buffer = !tcc.shared<32x32xf16, #tcc.layout<contiguous = 1, span = 64>>
gpu.module @m [#nvvm.target<chip = "sm_80">] {
  // expected-error @below {{needs 204800 bytes of shared memory with 100 stages, but sm_80 has 166912 for a block: use fewer stages or a smaller block}}
  func.func @too_much(%A: memref<?x?xf16>, %m: index, %K: index) attributes {tcc.level = "L3g", tcc.schedule = #s} {
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %zero = arith.constant dense<0.0> : tensor<32x32xf32, #c>
    // expected-note @below {{takes 204800 bytes}}
    %s = tcc.alloc_shared : !buffer
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
