// RUN: tcc-opt %s --tcc-distribute --canonicalize --cse | FileCheck %s

// The consumers leave their part of the sum in the pipeline's buffers, a vector of all threads after the other, when
// no warp multiplies there any more. Two barriers of the cluster: then all parts are there, and then all are read. A
// block adds what its slices need, in the order of ranks, and reads from the next block's on.

#c = #tcc.fragment<wgmma, c, shape = [64, 16, 16], warps = [4, 1]>
#part = #tcc.fragment<wgmma, c, shape = [64, 8, 16], warps = [4, 1]>
#row = #tcc.layout<contiguous = 1, span = 32>
#s = #tcc.schedule<block = [64, 16, 16], warps = [4, 1], mma = wgmma, transport = tma, stages = 2, roles = cooperative, split_k = 3>
!bufferA = !tcc.shared<64x16xf16, #row>
!bufferB = !tcc.shared<16x16xf16, stages = 4, #row>
!acc = tensor<64x16xf32, #c>
!slice = tensor<64x8xf32, #part>

// A thread's first vector is in A's buffer, which has 2 KiB, the other in B's.
// CHECK-LABEL: func.func @two_slices
// CHECK:         %[[A:.*]] = tcc.alloc_shared : <64x16xf16
// CHECK:         %[[B:.*]] = tcc.alloc_shared : <16x16xf16
// CHECK:         tcc.group_barrier
// CHECK:         %[[OFFSET:.*]] = arith.muli %{{.*}}, %c16_i32 : i32
// CHECK:         %[[PA:.*]] = tcc.shared_address %[[A]] offset %[[OFFSET]]
// CHECK:         %[[PB:.*]] = tcc.shared_address %[[B]] slot %c0_i32 offset %[[OFFSET]]
// CHECK:         llvm.store %{{.*}}, %[[PA]] {alignment = 16 : i64} : vector<4xf32>, !llvm.ptr<3>
// CHECK:         llvm.store %{{.*}}, %[[PB]] {alignment = 16 : i64} : vector<4xf32>, !llvm.ptr<3>
// CHECK:         nvvm.cluster.arrive {aligned}
// CHECK-NEXT:    nvvm.cluster.wait {aligned}
// CHECK-NEXT:    %[[RANK:.*]] = nvvm.read.ptx.sreg.cluster.ctaid.x : i32
// CHECK-NEXT:    %[[IS0:.*]] = arith.cmpi eq, %[[RANK]], %c0_i32
// CHECK-NEXT:    scf.if %[[IS0]] {
// CHECK:           %[[P1:.*]] = nvvm.mapa %[[PA]], %c1_i32 : !llvm.ptr<3> -> !llvm.ptr<7>
// CHECK:           %[[P2:.*]] = nvvm.mapa %[[PA]], %c2_i32 : !llvm.ptr<3> -> !llvm.ptr<7>
// CHECK:           %[[V1:.*]] = llvm.load %[[P1]] {alignment = 16 : i64} : !llvm.ptr<7> -> vector<4xf32>
// CHECK:           %[[V2:.*]] = llvm.load %[[P2]] {alignment = 16 : i64} : !llvm.ptr<7> -> vector<4xf32>
// CHECK:           %[[E1:.*]] = vector.extract %[[V1]][0]
// CHECK:           %[[S1:.*]] = arith.addf %{{.*}}, %[[E1]] : f32
// CHECK:           %[[E2:.*]] = vector.extract %[[V2]][0]
// CHECK:           arith.addf %[[S1]], %[[E2]] : f32
// CHECK-NOT:       llvm.load
// CHECK:           nvvm.cluster.arrive {aligned}
// CHECK-NOT:       nvvm.cluster
// CHECK:           llvm.store %{{.*}} : vector<2xf32>, !llvm.ptr<1>
// CHECK:         %[[IS1:.*]] = arith.cmpi eq, %[[RANK]], %c1_i32
// CHECK-NEXT:    scf.if %[[IS1]] {
// CHECK:           %[[P2:.*]] = nvvm.mapa %[[PB]], %c2_i32
// CHECK:           %[[P0:.*]] = nvvm.mapa %[[PB]], %c0_i32
// CHECK:           %[[V2:.*]] = llvm.load %[[P2]]
// CHECK:           %[[V0:.*]] = llvm.load %[[P0]]
// CHECK:           %[[E0:.*]] = vector.extract %[[V0]][0]
// CHECK:           %[[S1:.*]] = arith.addf %[[E0]], %{{.*}} : f32
// CHECK:           %[[E2:.*]] = vector.extract %[[V2]][0]
// CHECK:           arith.addf %[[S1]], %[[E2]] : f32
// CHECK-NOT:       llvm.load
// CHECK:           nvvm.cluster.arrive {aligned}
// CHECK:         %[[IS2:.*]] = arith.cmpi eq, %[[RANK]], %c2_i32
// CHECK-NEXT:    scf.if %[[IS2]] {
// CHECK-NEXT:      nvvm.cluster.arrive {aligned}
// CHECK-NEXT:    }
// CHECK-NOT:     nvvm.cluster
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
