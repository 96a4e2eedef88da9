// RUN: tcc-opt %s --tcc-split-slabs | FileCheck %s

#a = #tcc.fragment<mma_sync, a, shape = [16, 8, 16], warps = [1, 2]>
#b = #tcc.fragment<mma_sync, b, shape = [16, 8, 16], warps = [1, 2]>
#c = #tcc.fragment<mma_sync, c, shape = [16, 8, 16], warps = [1, 2]>
#wgmma = #tcc.fragment<wgmma, c, shape = [64, 32, 16], warps = [4, 1]>
#row = #tcc.layout<contiguous = 1, span = 32>
#column = #tcc.layout<contiguous = 0, span = 32>

// Loads are one step ahead of the matmuls, offsets in tile coordinates whatever the layout.
// CHECK-LABEL: func.func @steps
// CHECK:         scf.for {{.*}} iter_args(%[[C:.*]] = %{{.*}})
// CHECK-NEXT:      %[[A0:.*]] = tcc.local_load %{{.*}} slot %[[SLOT:.*]] : {{.*}} -> tensor<16x16xf16, #{{.*}}>
// CHECK-NEXT:      %[[B0:.*]] = tcc.local_load %{{.*}} slot %[[SLOT]] : {{.*}} -> tensor<16x32xf16, #{{.*}}>
// CHECK-NEXT:      %[[A1:.*]] = tcc.local_load %{{.*}} slot %[[SLOT]] at [0, 16]
// CHECK-NEXT:      %[[B1:.*]] = tcc.local_load %{{.*}} slot %[[SLOT]] at [16, 0]
// CHECK-NEXT:      %[[D0:.*]] = tcc.matmul %[[A0]], %[[B0]], %[[C]]
// CHECK-NEXT:      %[[A2:.*]] = tcc.local_load %{{.*}} slot %[[SLOT]] at [0, 32]
// CHECK-NEXT:      %[[B2:.*]] = tcc.local_load %{{.*}} slot %[[SLOT]] at [32, 0]
// CHECK-NEXT:      %[[D1:.*]] = tcc.matmul %[[A1]], %[[B1]], %[[D0]]
// CHECK-NEXT:      %[[D2:.*]] = tcc.matmul %[[A2]], %[[B2]], %[[D1]]
// CHECK-NEXT:      scf.yield %[[D2]]
func.func @steps(%K: index, %slot: i32) attributes {tcc.level = "L3g"} {
  %c0 = arith.constant 0 : index
  %c48 = arith.constant 48 : index
  %zero = arith.constant dense<0.0> : tensor<16x32xf32, #c>
  %sa = tcc.alloc_shared : !tcc.shared<16x48xf16, stages = 2, #row>
  %sb = tcc.alloc_shared : !tcc.shared<48x32xf16, stages = 2, #column>
  %acc = scf.for %k = %c0 to %K step %c48 iter_args(%c = %zero) -> (tensor<16x32xf32, #c>) {
    %a = tcc.local_load %sa slot %slot : !tcc.shared<16x48xf16, stages = 2, #row> -> tensor<16x48xf16, #a>
    %b = tcc.local_load %sb slot %slot : !tcc.shared<48x32xf16, stages = 2, #column> -> tensor<48x32xf16, #b>
    %d = tcc.matmul %a, %b, %c : tensor<16x48xf16, #a>, tensor<48x32xf16, #b>, tensor<16x32xf32, #c>
    scf.yield %d : tensor<16x32xf32, #c>
  }
  return
}

// A slab of one atom's k is left alone; so is one that the atom reads from shared memory.
// CHECK-LABEL: func.func @one_step
// CHECK-COUNT-1: tcc.matmul
// CHECK-LABEL: func.func @from_shared_memory
// CHECK:         tcc.matmul %{{.*}} : !tcc.shared<64x64xf16, {{.*}}>, !tcc.shared<64x32xf16, {{.*}}>
func.func @one_step(%K: index) attributes {tcc.level = "L3g"} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant dense<0.0> : tensor<16x32xf32, #c>
  %sa = tcc.alloc_shared : !tcc.shared<16x16xf16, #tcc.layout<contiguous = 1>>
  %sb = tcc.alloc_shared : !tcc.shared<16x32xf16, #row>
  %acc = scf.for %k = %c0 to %K step %c16 iter_args(%c = %zero) -> (tensor<16x32xf32, #c>) {
    %a = tcc.local_load %sa : !tcc.shared<16x16xf16, #tcc.layout<contiguous = 1>> -> tensor<16x16xf16, #a>
    %b = tcc.local_load %sb : !tcc.shared<16x32xf16, #row> -> tensor<16x32xf16, #b>
    %d = tcc.matmul %a, %b, %c : tensor<16x16xf16, #a>, tensor<16x32xf16, #b>, tensor<16x32xf32, #c>
    scf.yield %d : tensor<16x32xf32, #c>
  }
  return
}

func.func @from_shared_memory(%K: index) attributes {tcc.level = "L3g"} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : tensor<64x32xf32, #wgmma>
  %sa = tcc.alloc_shared : !tcc.shared<64x64xf16, #row>
  %sb = tcc.alloc_shared : !tcc.shared<64x32xf16, #row>
  %acc = scf.for %k = %c0 to %K step %c64 iter_args(%c = %zero) -> (tensor<64x32xf32, #wgmma>) {
    %d = tcc.matmul %sa, %sb, %c : !tcc.shared<64x64xf16, #row>, !tcc.shared<64x32xf16, #row>, tensor<64x32xf32, #wgmma>
    scf.yield %d : tensor<64x32xf32, #wgmma>
  }
  return
}
