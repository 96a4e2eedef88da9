// RUN: tcc-opt %s --tcc-assign-fragments -split-input-file -verify-diagnostics

// expected-error @below {{tcc-assign-fragments expects a kernel on level L2, found L1: run tcc-stage-shared first}}
func.func @early() attributes {tcc.level = "L1"} {
  return
}

// -----

#s = #tcc.schedule<block = [32, 32, 32], warps = [2, 1], mma = mma_sync, transport = register, stages = 2>
func.func @no_layout() attributes {tcc.level = "L2", tcc.schedule = #s} {
  // expected-error @below {{expects a layout: run tcc-layout-shared first}}
  %s = tcc.alloc_shared : !tcc.shared<32x32xf16>
  return
}

// -----

#s = #tcc.schedule<block = [16, 16, 16], warps = [1, 1], mma = mma_sync, transport = register, stages = 2>
gpu.module @m [#nvvm.target<chip = "sm_70">] {
  // expected-error @below {{sm_70 has no mma_sync for f16; it is there on}}
  func.func @chip_without_atom(%K: index) attributes {tcc.level = "L2", tcc.schedule = #s} {
    %zero = arith.constant dense<0.0> : tensor<16x16xf32>
    %s = tcc.alloc_shared : !tcc.shared<16x16xf16, #tcc.layout<contiguous = 1>>
    %acc = scf.for %k = %K to %K step %K iter_args(%c = %zero) -> (tensor<16x16xf32>) {
      %a = tcc.local_load %s : !tcc.shared<16x16xf16, #tcc.layout<contiguous = 1>> -> tensor<16x16xf16>
      %d = tcc.matmul %a, %a, %c : tensor<16x16xf16>, tensor<16x16xf16>, tensor<16x16xf32>
      scf.yield %d : tensor<16x16xf32>
    }
    return
  }
}

// -----

#s = #tcc.schedule<block = [24, 16, 16], warps = [1, 1], mma = mma_sync, transport = register, stages = 2>
gpu.module @m [#nvvm.target<chip = "sm_80">] {
  func.func @tile_of_no_atoms(%K: index) attributes {tcc.level = "L2", tcc.schedule = #s} {
    %zero = arith.constant dense<0.0> : tensor<24x16xf32>
    %s = tcc.alloc_shared : !tcc.shared<24x16xf16, #tcc.layout<contiguous = 1>>
    %t = tcc.alloc_shared : !tcc.shared<16x16xf16, #tcc.layout<contiguous = 1>>
    %acc = scf.for %k = %K to %K step %K iter_args(%c = %zero) -> (tensor<24x16xf32>) {
      // expected-error @below {{a tile of 24x16 elements can't be built from atoms of 16x16 on 1x1 warps: its extents must be multiples of 16x16}}
      %a = tcc.local_load %s : !tcc.shared<24x16xf16, #tcc.layout<contiguous = 1>> -> tensor<24x16xf16>
      %b = tcc.local_load %t : !tcc.shared<16x16xf16, #tcc.layout<contiguous = 1>> -> tensor<16x16xf16>
      %d = tcc.matmul %a, %b, %c : tensor<24x16xf16>, tensor<16x16xf16>, tensor<24x16xf32>
      scf.yield %d : tensor<24x16xf32>
    }
    return
  }
}

// -----

#s = #tcc.schedule<block = [16, 16, 16], warps = [1, 1], mma = mma_sync, transport = register, stages = 2>
gpu.module @m [#nvvm.target<chip = "sm_80">] {
  func.func @operand_from_global(%A: memref<16x16xf16>, %K: index) attributes {tcc.level = "L2", tcc.schedule = #s} {
    %zero = arith.constant dense<0.0> : tensor<16x16xf32>
    %acc = scf.for %k = %K to %K step %K iter_args(%c = %zero) -> (tensor<16x16xf32>) {
      %a = tcc.load %A[%k, %k] : memref<16x16xf16> -> tensor<16x16xf16>
      // expected-error @below {{expects operand 'a' to be a tcc.local_load (L2.1): run tcc-stage-shared}}
      %d = tcc.matmul %a, %a, %c : tensor<16x16xf16>, tensor<16x16xf16>, tensor<16x16xf32>
      scf.yield %d : tensor<16x16xf32>
    }
    return
  }
}

// -----

#s = #tcc.schedule<block = [16, 16, 16], warps = [1, 1], mma = wmma, transport = register, stages = 2, epilogue = shared>
gpu.module @m [#nvvm.target<chip = "sm_70">] {
  func.func @opaque_epilogue(%C: memref<16x16xf32>, %K: index) attributes {tcc.level = "L2", tcc.schedule = #s} {
    %zero = arith.constant dense<0.0> : tensor<16x16xf32>
    %s = tcc.alloc_shared : !tcc.shared<16x16xf16, #tcc.layout<contiguous = 1>>
    %acc = scf.for %k = %K to %K step %K iter_args(%c = %zero) -> (tensor<16x16xf32>) {
      %a = tcc.local_load %s : !tcc.shared<16x16xf16, #tcc.layout<contiguous = 1>> -> tensor<16x16xf16>
      %b = tcc.local_load %s : !tcc.shared<16x16xf16, #tcc.layout<contiguous = 1>> -> tensor<16x16xf16>
      %d = tcc.matmul %a, %b, %c : tensor<16x16xf16>, tensor<16x16xf16>, tensor<16x16xf32>
      scf.yield %d : tensor<16x16xf32>
    }
    // expected-error @below {{needs to know where elements of a wmma fragment are, which is unspecified (PTX ISA, wmma): expects epilogue = shared (L2.3)}}
    %old = tcc.load %C[%K, %K] : memref<16x16xf32> -> tensor<16x16xf32>
    %r = arith.addf %acc, %old : tensor<16x16xf32>
    tcc.store %r, %C[%K, %K] {bytes = 4 : i64} : tensor<16x16xf32>, memref<16x16xf32>
    return
  }
}

// -----

#s = #tcc.schedule<block = [16, 16, 16], warps = [1, 1], mma = mma_sync, transport = register, stages = 2>
gpu.module @m [#nvvm.target<chip = "sm_80">] {
  func.func @not_a_splat(%C: memref<16x2xf32>, %K: index) attributes {tcc.level = "L2", tcc.schedule = #s} {
    %zero = arith.constant dense<0.0> : tensor<16x8xf32>
    %s = tcc.alloc_shared : !tcc.shared<16x16xf16, #tcc.layout<contiguous = 1>>
    %t = tcc.alloc_shared : !tcc.shared<16x8xf16, #tcc.layout<contiguous = 1>>
    %acc = scf.for %k = %K to %K step %K iter_args(%c = %zero) -> (tensor<16x8xf32>) {
      %a = tcc.local_load %s : !tcc.shared<16x16xf16, #tcc.layout<contiguous = 1>> -> tensor<16x16xf16>
      %b = tcc.local_load %t : !tcc.shared<16x8xf16, #tcc.layout<contiguous = 1>> -> tensor<16x8xf16>
      %d = tcc.matmul %a, %b, %c : tensor<16x16xf16>, tensor<16x8xf16>, tensor<16x8xf32>
      scf.yield %d : tensor<16x8xf32>
    }
    // expected-error @below {{expects a splat: a tile has one value everywhere (L1.4)}}
    %ramp = arith.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]> : tensor<8xf32>
    %e = tensor.empty() : tensor<16x8xf32>
    %b = linalg.broadcast ins(%ramp : tensor<8xf32>) outs(%e : tensor<16x8xf32>) dimensions = [0]
    %r = arith.addf %acc, %b : tensor<16x8xf32>
    return
  }
}

// -----

#s = #tcc.schedule<block = [16, 8, 16], warps = [1, 1], mma = mma_sync, transport = register, stages = 2>
gpu.module @m [#nvvm.target<chip = "sm_80">] {
  func.func @column_is_stored(%v: memref<?xf32>, %K: index) attributes {tcc.level = "L2", tcc.schedule = #s} {
    %zero = arith.constant dense<0.0> : tensor<16x8xf32>
    %s = tcc.alloc_shared : !tcc.shared<16x16xf16, #tcc.layout<contiguous = 1>>
    %t = tcc.alloc_shared : !tcc.shared<16x8xf16, #tcc.layout<contiguous = 1>>
    %acc = scf.for %k = %K to %K step %K iter_args(%c = %zero) -> (tensor<16x8xf32>) {
      %a = tcc.local_load %s : !tcc.shared<16x16xf16, #tcc.layout<contiguous = 1>> -> tensor<16x16xf16>
      %b = tcc.local_load %t : !tcc.shared<16x8xf16, #tcc.layout<contiguous = 1>> -> tensor<16x8xf16>
      %d = tcc.matmul %a, %b, %c : tensor<16x16xf16>, tensor<16x8xf16>, tensor<16x8xf32>
      scf.yield %d : tensor<16x8xf32>
    }
    %x = tcc.load %v[%K] : memref<?xf32> -> tensor<8xf32>
    // expected-error @below {{expects a tile of two dimensions, found 'tensor<8xf32>' (L1.4)}}
    tcc.store %x, %v[%K] {bytes = 4 : i64} : tensor<8xf32>, memref<?xf32>
    return
  }
}

// -----

#s = #tcc.schedule<block = [16, 8, 16], warps = [1, 1], mma = mma_sync, transport = register, stages = 2>
gpu.module @m [#nvvm.target<chip = "sm_80">] {
  func.func @broadcast_of_a_scalar(%x: tensor<f32>, %K: index) attributes {tcc.level = "L2", tcc.schedule = #s} {
    %zero = arith.constant dense<0.0> : tensor<16x8xf32>
    %s = tcc.alloc_shared : !tcc.shared<16x16xf16, #tcc.layout<contiguous = 1>>
    %t = tcc.alloc_shared : !tcc.shared<16x8xf16, #tcc.layout<contiguous = 1>>
    %acc = scf.for %k = %K to %K step %K iter_args(%c = %zero) -> (tensor<16x8xf32>) {
      %a = tcc.local_load %s : !tcc.shared<16x16xf16, #tcc.layout<contiguous = 1>> -> tensor<16x16xf16>
      %b = tcc.local_load %t : !tcc.shared<16x8xf16, #tcc.layout<contiguous = 1>> -> tensor<16x8xf16>
      %d = tcc.matmul %a, %b, %c : tensor<16x16xf16>, tensor<16x8xf16>, tensor<16x8xf32>
      scf.yield %d : tensor<16x8xf32>
    }
    %e = tensor.empty() : tensor<16x8xf32>
    // expected-error @below {{expects a tile of one dimension to broadcast (L1.4)}}
    %b = linalg.broadcast ins(%x : tensor<f32>) outs(%e : tensor<16x8xf32>) dimensions = [0, 1]
    %r = arith.addf %acc, %b : tensor<16x8xf32>
    return
  }
}
