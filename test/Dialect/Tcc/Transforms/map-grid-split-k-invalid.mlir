// RUN: tcc-opt %s --tcc-map-grid -split-input-file -verify-diagnostics

#a = #tcc.fragment<mma_sync, a, shape = [16, 8, 16], warps = [1, 1]>
#b = #tcc.fragment<mma_sync, b, shape = [16, 8, 16], warps = [1, 1]>
#c = #tcc.fragment<mma_sync, c, shape = [16, 8, 16], warps = [1, 1]>
#s = #tcc.schedule<block = [16, 8, 16], warps = [1, 1], mma = mma_sync, transport = cp_async, stages = 2, split_k = 2>
func.func @operands_in_registers(%a: tensor<16x16xf16, #a>, %b: tensor<16x8xf16, #b>, %C: memref<16x8xf32>)
    attributes {tcc.level = "L3", tcc.schedule = #s} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  scf.forall (%m, %n) = (0, 0) to (16, 8) step (16, 8) {
    %zero = arith.constant dense<0.0> : tensor<16x8xf32, #c>
    %acc = scf.for %k = %c0 to %c64 step %c16 iter_args(%c = %zero) -> (tensor<16x8xf32, #c>) {
      // expected-error @below {{expects operands in shared memory, where split_k = 2 exchanges parts of the sum}}
      %d = tcc.matmul %a, %b, %c : tensor<16x16xf16, #a>, tensor<16x8xf16, #b>, tensor<16x8xf32, #c>
      scf.yield %d : tensor<16x8xf32, #c>
    }
    tcc.store %acc, %C[%m, %n] {bytes = 8} : tensor<16x8xf32, #c>, memref<16x8xf32>
  }
  return
}

// -----

#c = #tcc.fragment<wgmma, c, shape = [64, 32, 16], warps = [4, 1]>
#part = #tcc.fragment<wgmma, c, shape = [64, 16, 16], warps = [4, 1]>
#row = #tcc.layout<contiguous = 1, span = 64>
#s = #tcc.schedule<block = [64, 32, 32], warps = [4, 1], mma = wgmma, transport = tma, stages = 2, roles = cooperative, split_k = 2>
!bufferA = !tcc.shared<64x32xf16, #row>
!bufferB = !tcc.shared<32x32xf16, #row>
!acc = tensor<64x32xf32, #c>
!slice = tensor<64x16xf32, #part>
func.func @slices_meet(%C: memref<64x32xf32>) attributes {tcc.level = "L3", tcc.schedule = #s} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  scf.forall (%m, %n) = (0, 0) to (64, 32) step (64, 32) {
    %sa = tcc.alloc_shared : !bufferA
    %sb = tcc.alloc_shared : !bufferB
    %zero = arith.constant dense<0.0> : !acc
    %acc = scf.for %k = %c0 to %c64 step %c32 iter_args(%c = %zero) -> (!acc) {
      %d = tcc.matmul %sa, %sb, %c : !bufferA, !bufferB, !acc
      scf.yield %d : !acc
    }
    %x = tensor.extract_slice %acc[0, 0] [64, 16] [1, 1] : !acc to !slice
    %y = tensor.extract_slice %acc[0, 16] [64, 16] [1, 1] : !acc to !slice
    // expected-error @below {{needs slices of the accumulator that two blocks of the cluster have: expects each slice to be stored by itself}}
    %sum = arith.addf %x, %y : !slice
    tcc.store %sum, %C[%m, %n] {bytes = 8} : !slice, memref<64x32xf32>
  }
  return
}
