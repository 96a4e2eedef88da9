// RUN: tcc-opt %s --tcc-distribute --canonicalize --cse | FileCheck %s

// When no warp multiplies any more, the consumers tell all other blocks that the pipeline's buffers are free, and wait
// until they all have said so. A block sends what the others' slices need, to the next block first, as vectors of all
// threads, and adds what it is sent in the order of ranks. No barrier of the cluster is waited for but the first one, at
// which the mbarriers are initialised, and that only here.

#c = #tcc.fragment<wgmma, c, shape = [64, 16, 16], warps = [4, 1]>
#part = #tcc.fragment<wgmma, c, shape = [64, 8, 16], warps = [4, 1]>
#row = #tcc.layout<contiguous = 1, span = 32>
#s = #tcc.schedule<block = [64, 16, 16], warps = [4, 1], mma = wgmma, transport = tma, stages = 2, roles = cooperative, split_k = 3>
!bufferA = !tcc.shared<64x16xf16, #row>
!bufferB = !tcc.shared<16x16xf16, stages = 4, #row>
!acc = tensor<64x16xf32, #c>
!slice = tensor<64x8xf32, #part>

// A's buffer has room for the part of one other block, B's for the second.
// CHECK-LABEL: func.func @two_slices
// CHECK:         %[[A:.*]] = tcc.alloc_shared : <64x16xf16
// CHECK:         %[[B:.*]] = tcc.alloc_shared : <16x16xf16
// CHECK:         %[[BARRIERS:.*]] = tcc.alloc_shared : <1x2xi64
// CHECK:         %[[FIRST:.*]] = arith.cmpi eq, %[[THREAD:.*]], %c0_i32
// CHECK:         scf.if %[[FIRST]] {
// CHECK-NEXT:      %[[READY:.*]] = tcc.shared_address %[[BARRIERS]] offset %c0_i32
// CHECK-NEXT:      nvvm.mbarrier.init %[[READY]], %c2_i32
// CHECK-NEXT:      %[[FILLED:.*]] = tcc.shared_address %[[BARRIERS]] offset %c8_i32
// CHECK-NEXT:      nvvm.mbarrier.init %[[FILLED]], %c1_i32
// CHECK-NEXT:      nvvm.fence.mbarrier.init
// CHECK-NEXT:    }
// CHECK-NEXT:    nvvm.cluster.arrive.relaxed {aligned}
// CHECK-NEXT:    tcc.warp_specialize
// CHECK:         %[[P0:.*]] = llvm.load %{{.*}} : !llvm.ptr<1> -> vector<2xf32>
// CHECK:         %[[X0:.*]] = vector.extract %[[P0]][0]
// CHECK:         llvm.load
// CHECK:         %[[P2:.*]] = llvm.load %{{.*}} : !llvm.ptr<1> -> vector<2xf32>
// CHECK:         %[[Y0:.*]] = vector.extract %[[P2]][0]
// CHECK:         tcc.group_barrier
// CHECK-NEXT:    nvvm.cluster.wait {aligned}
// CHECK-NEXT:    %[[RANK:.*]] = nvvm.read.ptx.sreg.cluster.ctaid.x : i32
// CHECK-NEXT:    %[[PEER:.*]] = arith.cmpi slt, %[[THREAD]], %c3_i32
// CHECK-NEXT:    %[[OTHER:.*]] = arith.cmpi ne, %[[THREAD]], %[[RANK]]
// CHECK-NEXT:    %[[TELLS:.*]] = arith.andi %[[PEER]], %[[OTHER]]
// CHECK-NEXT:    scf.if %[[TELLS]] {
// CHECK:           %[[THERE:.*]] = nvvm.mapa %{{.*}}, %[[THREAD]]
// CHECK-NEXT:      nvvm.mbarrier.arrive %[[THERE]] : !llvm.ptr<7>
// CHECK:         %[[READY:.*]] = tcc.shared_address %[[BARRIERS]] offset %c0_i32
// CHECK:           nvvm.mbarrier.try_wait %[[READY]], %c0_i32
// Block 0 sends its part of the second slice to block 1, as the first of the parts that arrive there.
// CHECK:         %[[IS0:.*]] = arith.cmpi eq, %[[RANK]], %c0_i32
// CHECK-NEXT:    scf.if %[[IS0]] {
// CHECK:           %[[OFFSET:.*]] = arith.muli %[[THREAD]], %c16_i32
// CHECK-NEXT:      %[[HERE:.*]] = tcc.shared_address %[[A]] offset %[[OFFSET]]
// CHECK-NEXT:      %[[TO1:.*]] = nvvm.mapa %[[HERE]], %c1_i32 : !llvm.ptr<3> -> !llvm.ptr<7>
// CHECK:           %[[FILLED1:.*]] = nvvm.mapa %[[FILLED:.*]], %c1_i32
// CHECK-NEXT:      llvm.inline_asm has_side_effects "st.async{{.*}} %[[TO1]], %[[Y0]], {{.*}}, %[[FILLED1]] :
// CHECK-NOT:       st.async
// CHECK:           scf.if %[[FIRST]] {
// CHECK-NEXT:        nvvm.mbarrier.arrive.expect_tx %[[FILLED]], %c4096_i32
// CHECK:             nvvm.mbarrier.try_wait %[[FILLED]], %c0_i32
// CHECK:           %[[SECOND:.*]] = tcc.shared_address %[[B]] slot %c0_i32 offset %[[OFFSET]]
// CHECK:           %[[V1:.*]] = llvm.load %[[HERE]] {alignment = 16 : i64} : !llvm.ptr<3> -> vector<4xf32>
// CHECK:           %[[V2:.*]] = llvm.load %[[SECOND]] {alignment = 16 : i64} : !llvm.ptr<3> -> vector<4xf32>
// CHECK:           %[[E1:.*]] = vector.extract %[[V1]][0]
// CHECK:           %[[S1:.*]] = arith.addf %[[X0]], %[[E1]] : f32
// CHECK:           %[[E2:.*]] = vector.extract %[[V2]][0]
// CHECK:           arith.addf %[[S1]], %[[E2]] : f32
// CHECK-NOT:       llvm.load
// CHECK:           llvm.store %{{.*}} : vector<2xf32>, !llvm.ptr<1>
// Its own part comes second, and none goes to block 2.
// CHECK:         %[[IS1:.*]] = arith.cmpi eq, %[[RANK]], %c1_i32
// CHECK-NEXT:    scf.if %[[IS1]] {
// CHECK:           nvvm.mapa %{{.*}}, %c0_i32
// CHECK:           st.async
// CHECK-NOT:       st.async
// CHECK:           %[[V0:.*]] = llvm.load
// CHECK:           %[[V2:.*]] = llvm.load
// CHECK:           %[[E0:.*]] = vector.extract %[[V0]][0]
// CHECK:           %[[S1:.*]] = arith.addf %[[E0]], %[[Y0]] : f32
// CHECK:           %[[E2:.*]] = vector.extract %[[V2]][0]
// CHECK:           arith.addf %[[S1]], %[[E2]] : f32
// Block 2 sends to block 0 first, as the second of its parts, then to block 1.
// CHECK:         %[[IS2:.*]] = arith.cmpi eq, %[[RANK]], %c2_i32
// CHECK-NEXT:    scf.if %[[IS2]] {
// CHECK:           %[[HERE:.*]] = tcc.shared_address %[[B]] slot
// CHECK:           nvvm.mapa %[[HERE]], %c0_i32
// CHECK:           st.async
// CHECK:           nvvm.mapa %[[HERE]], %c1_i32
// CHECK:           st.async
// CHECK-NOT:       nvvm.mbarrier
// CHECK:         return
func.func @two_slices(%C: memref<64x16xf32>) attributes {tcc.level = "L4", tcc.schedule = #s, tcc.block = 256 : i64} {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %sa = tcc.alloc_shared : !bufferA
  %sb = tcc.alloc_shared : !bufferB
  tcc.warp_specialize consumers = 4 producer {
  } consumer {
    %p = tcc.load %C[%c0, %c0] {bytes = 8} : memref<64x16xf32> -> !acc
    tcc.cluster_reduce %p through %sa, %sb : !acc, !bufferA, !bufferB {
    ^bb0(%sum: !acc):
      %x = tensor.extract_slice %sum[0, 0] [64, 8] [1, 1] : !acc to !slice
      tcc.store %x, %C[%c0, %c0] {bytes = 8} : !slice, memref<64x16xf32>
    }, {
    ^bb0(%sum: !acc):
      %x = tensor.extract_slice %sum[0, 8] [64, 8] [1, 1] : !acc to !slice
      tcc.store %x, %C[%c0, %c8] {bytes = 8} : !slice, memref<64x16xf32>
    }, {
    ^bb0(%sum: !acc):
    }
  }
  return
}
