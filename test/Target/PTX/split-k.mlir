// RUN: tcc-translate %s --tcc-to-ptx --chip=sm_90a | FileCheck %s

// A cluster for each tile. Rows that TMA can't load are loaded by blocks that have a tile each.

// CHECK:       "variant": "align16"
// CHECK:       "grid": ["ceildiv(M, 64) * ceildiv(N, 64) * 4",1,1],
// CHECK:       "cluster": [4,1,1],
// CHECK:       "schedule": {{.*}}"split_k":4
// CHECK:       "variant": "align8
// CHECK-NOT:   "cluster": [4
// CHECK-NOT:   "split_k"
// CHECK:       tcc-metadata end
// CHECK-LABEL: .visible .entry gemm(
// CHECK:       .reqnctapercluster 4, 1, 1
// CHECK:       barrier.cluster.arrive.relaxed.aligned
// CHECK:       barrier.cluster.wait.aligned
// CHECK:       mbarrier.arrive.shared::cluster
// CHECK:       mapa.shared::cluster.u32
// CHECK:       st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.f32
// CHECK:       ld.shared.v4.b32
// CHECK-NOT:   barrier.cluster
// CHECK:       ret;
func.func @gemm(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf32>)
    attributes {tcc.schedule = #tcc.schedule<block = [64, 64, 64], warps = [4, 1], mma = wgmma, transport = tma, stages = 3,
                                             roles = cooperative, epilogue = tma, split_k = 4>} {
  linalg.matmul ins(%A, %B : memref<?x?xf16>, memref<?x?xf16>) outs(%C : memref<?x?xf32>)
  return
}
