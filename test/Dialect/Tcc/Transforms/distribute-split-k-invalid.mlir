// RUN: tcc-opt %s --tcc-distribute -split-input-file -verify-diagnostics

#c = #tcc.fragment<wgmma, c, shape = [64, 16, 16], warps = [4, 1]>
!buffer = !tcc.shared<64x16xf16, #tcc.layout<contiguous = 1, span = 32>>
!acc = tensor<64x16xf32, #c>
func.func @no_roles() attributes {tcc.level = "L4", tcc.block = 128 : i64} {
  %s = tcc.alloc_shared : !buffer
  %acc = arith.constant dense<0.0> : !acc
  // expected-error @below {{expects to stand in the region 'consumer' of a tcc.warp_specialize with one group}}
  tcc.cluster_reduce %acc through %s, %s : !acc, !buffer, !buffer {
  ^bb0(%sum: !acc):
  }, {
  ^bb0(%sum: !acc):
  }
  return
}

// -----

#c = #tcc.fragment<wgmma, c, shape = [64, 16, 16], warps = [4, 1]>
!buffer = !tcc.shared<64x16xf16, #tcc.layout<contiguous = 1, span = 32>>
!acc = tensor<64x16xf32, #c>
func.func @two_groups() attributes {tcc.level = "L4", tcc.block = 384 : i64} {
  %s = tcc.alloc_shared : !buffer
  tcc.warp_specialize consumers = 8 groups = 2 producer {
  } consumer {
    %acc = arith.constant dense<0.0> : !acc
    // expected-error @below {{expects to stand in the region 'consumer' of a tcc.warp_specialize with one group}}
    tcc.cluster_reduce %acc through %s, %s : !acc, !buffer, !buffer {
    ^bb0(%sum: !acc):
    }, {
    ^bb0(%sum: !acc):
    }
  }
  return
}

// -----

#rows = #tcc.blocked<vector = 4, contiguous = 1, threads = 128>
!buffer = !tcc.shared<64x16xf16, #tcc.layout<contiguous = 1, span = 32>>
!acc = tensor<64x16xf32, #rows>
func.func @rows() attributes {tcc.level = "L4", tcc.block = 256 : i64} {
  %s = tcc.alloc_shared : !buffer
  tcc.warp_specialize consumers = 4 producer {
  } consumer {
    %acc = arith.constant dense<0.0> : !acc
    // expected-error @below {{expects an f32 accumulator of wgmma, found}}
    tcc.cluster_reduce %acc through %s, %s : !acc, !buffer, !buffer {
    ^bb0(%sum: !acc):
    }, {
    ^bb0(%sum: !acc):
    }
  }
  return
}

// -----

#c = #tcc.fragment<wgmma, c, shape = [64, 16, 16], warps = [4, 1]>
!buffer = !tcc.shared<64x16xf16, #tcc.layout<contiguous = 1, span = 32>>
!acc = tensor<64x16xf32, #c>
func.func @too_small(%C: memref<64x16xf32>) attributes {tcc.level = "L4", tcc.block = 256 : i64} {
  %c0 = arith.constant 0 : index
  %s = tcc.alloc_shared : !buffer
  tcc.warp_specialize consumers = 4 producer {
  } consumer {
    %acc = arith.constant dense<0.0> : !acc
    // expected-error @below {{sends 1 parts of 4096 bytes to the block of rank 1, but its buffers have room for fewer}}
    tcc.cluster_reduce %acc through %s : !acc, !buffer {
    ^bb0(%sum: !acc):
    }, {
    ^bb0(%sum: !acc):
      tcc.store %sum, %C[%c0, %c0] {bytes = 8} : !acc, memref<64x16xf32>
    }
  }
  return
}

// -----

#c = #tcc.fragment<wgmma, c, shape = [64, 16, 16], warps = [4, 1]>
#part = #tcc.fragment<wgmma, c, shape = [64, 8, 16], warps = [4, 1]>
!buffer = !tcc.shared<64x16xf32, #tcc.layout<contiguous = 1, span = 32>>
!acc = tensor<64x16xf32, #c>
!slice = tensor<64x8xf32, #part>
func.func @slice_anywhere(%C: memref<64x16xf32>, %i: index) attributes {tcc.level = "L4", tcc.block = 256 : i64} {
  %c0 = arith.constant 0 : index
  %s = tcc.alloc_shared : !buffer
  tcc.warp_specialize consumers = 4 producer {
  } consumer {
    %acc = arith.constant dense<0.0> : !acc
    tcc.cluster_reduce %acc through %s : !acc, !buffer {
    ^bb0(%sum: !acc):
      // expected-error @below {{of a tile needs constant offsets and strides of 1}}
      %x = tensor.extract_slice %sum[0, %i] [64, 8] [1, 1] : !acc to !slice
      tcc.store %x, %C[%c0, %c0] {bytes = 8} : !slice, memref<64x16xf32>
    }, {
    ^bb0(%sum: !acc):
    }
  }
  return
}
