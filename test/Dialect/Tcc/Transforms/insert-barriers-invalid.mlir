// RUN: tcc-opt %s --tcc-insert-barriers -split-input-file -verify-diagnostics

// expected-error @below {{tcc-insert-barriers expects a kernel on level L3g, found L3: run tcc-map-grid first}}
func.func @early() attributes {tcc.level = "L3"} {
  return
}

// -----

func.func @not_pipelined(%A: memref<?x?xf16>, %i: index) attributes {tcc.level = "L3g"} {
  %s = tcc.alloc_shared : !tcc.shared<16x16xf16>
  // expected-error @below {{goes to a buffer that no pipeline guards (L4.1): run tcc-pipeline first}}
  tcc.copy register %A[%i, %i], %s {bytes = 2 : i64} : memref<?x?xf16>, !tcc.shared<16x16xf16>
  return
}

// -----

#c = #tcc.fragment<wgmma, c, shape = [64, 16, 16], warps = [4, 1]>
#row = #tcc.layout<contiguous = 1, span = 32>
func.func @unguarded_operands(%acc: tensor<64x16xf32, #c>) attributes {tcc.level = "L3g"} {
  %a = tcc.alloc_shared : !tcc.shared<64x16xf16, #row>
  %b = tcc.alloc_shared : !tcc.shared<16x16xf16, #row>
  // expected-error @below {{reads a buffer that no pipeline guards (L4.1): run tcc-pipeline first}}
  %d = tcc.matmul %a, %b, %acc : !tcc.shared<64x16xf16, #row>, !tcc.shared<16x16xf16, #row>, tensor<64x16xf32, #c>
  return
}

// -----

func.func @in_a_branch(%c: i1) attributes {tcc.level = "L3g"} {
  %s = tcc.alloc_shared : !tcc.shared<16x16xf16>
  // expected-error @below {{can't hold accesses to shared memory: only scf.for, tcc.warp_specialize and tcc.cluster_reduce may (L4.4)}}
  scf.if %c {
    %0 = tcc.local_load %s : !tcc.shared<16x16xf16> -> tensor<16x16xf16>
  }
  return
}

// -----

#c = #tcc.fragment<wgmma, c, shape = [64, 16, 16], warps = [4, 1]>
#row = #tcc.layout<contiguous = 1, span = 32>
func.func @unguarded_in_a_branch(%acc: tensor<64x16xf32, #c>, %c: i1) attributes {tcc.level = "L3g"} {
  %a = tcc.alloc_shared : !tcc.shared<64x16xf16, #row>
  %b = tcc.alloc_shared : !tcc.shared<16x16xf16, #row>
  scf.if %c {
    // expected-error @below {{reads a buffer that no pipeline guards (L4.1): run tcc-pipeline first}}
    %d = tcc.matmul %a, %b, %acc : !tcc.shared<64x16xf16, #row>, !tcc.shared<16x16xf16, #row>, tensor<64x16xf32, #c>
  }
  return
}
