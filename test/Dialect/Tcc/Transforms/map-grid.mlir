// RUN: tcc-opt %s --tcc-map-grid | FileCheck %s

#plain = #tcc.schedule<block = [128, 256, 64], warps = [2, 4], mma = mma_sync, transport = cp_async, stages = 3>
#raster = #tcc.schedule<block = [128, 256, 64], warps = [2, 4], mma = mma_sync, transport = cp_async, stages = 3, raster = 8>
#cluster = #tcc.schedule<block = [128, 256, 64], warps = [8, 1], mma = wgmma, transport = tma, stages = 3, roles = cooperative, persistent = true, cluster = [2, 2]>
#two = #tcc.schedule<block = [128, 256, 64], warps = [8, 1], mma = wgmma, transport = tma, stages = 3, roles = cooperative, persistent = true, cluster = [2, 1]>
#persistent = #tcc.schedule<block = [128, 256, 64], warps = [2, 4], mma = mma_sync, transport = cp_async, stages = 3, persistent = true>

// CHECK-LABEL: func.func @plain
// CHECK-SAME:    tcc.block = 256 : i64
// CHECK-SAME:    tcc.grid = ["ceildiv(M, 128) * ceildiv(N, 256)", "1", "1"]
// CHECK-SAME:    tcc.level = "L3g"
// CHECK:         %[[N:.*]] = memref.dim %{{.*}}, %{{.*}} : memref<?x?xf16, strided<[1, ?]>>
// CHECK:         %[[TILES:.*]] = arith.ceildivui %[[N]], %{{.*}} : index
// CHECK:         tcc.alloc_shared
// CHECK:         %[[T:.*]] = gpu.block_id x
// CHECK:         %[[T32:.*]] = arith.index_castui %[[T]] : index to i32
// CHECK:         %[[TILES32:.*]] = arith.index_castui %[[TILES]] : index to i32
// CHECK:         %[[J32:.*]] = arith.remui %[[T32]], %[[TILES32]] : i32
// CHECK:         %[[I32:.*]] = arith.divui %[[T32]], %[[TILES32]] : i32
// CHECK:         %[[I:.*]] = arith.index_castui %[[I32]] : i32 to index
// CHECK:         %[[M0:.*]] = arith.muli %[[I]], %{{.*}} : index
// CHECK:         %[[J:.*]] = arith.index_castui %[[J32]] : i32 to index
// CHECK:         %[[N0:.*]] = arith.muli %[[J]], %{{.*}} : index
// CHECK:         tcc.load %{{.*}}[%[[M0]], %[[N0]]]
// CHECK-NOT:     scf.forall
func.func @plain(%A: memref<?x?xf16> {tcc.dims = ["M", "K"]}, %B: memref<?x?xf16> {tcc.dims = ["N", "K"]})
    attributes {tcc.level = "L3", tcc.schedule = #plain} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // The name of a size is found through a transpose.
  %BT = memref.transpose %B (i, j) -> (j, i) : memref<?x?xf16> to memref<?x?xf16, strided<[1, ?]>>
  %M = memref.dim %A, %c0 : memref<?x?xf16>
  %N = memref.dim %BT, %c1 : memref<?x?xf16, strided<[1, ?]>>
  scf.forall (%m, %n) = (0, 0) to (%M, %N) step (128, 256) {
    %s = tcc.alloc_shared : !tcc.shared<16x16xf16>
    %t = tcc.load %A[%m, %n] : memref<?x?xf16> -> tensor<16x16xf16>
    tcc.store %t, %A[%m, %n] : tensor<16x16xf16>, memref<?x?xf16>
  }
  return
}

// 1000 / 128 = 8 tiles (rounded up) by 4: a number.
// CHECK-LABEL: func.func @static
// CHECK-SAME:    tcc.grid = ["32", "1", "1"]
func.func @static(%A: memref<1000x1000xf16>) attributes {tcc.level = "L3", tcc.schedule = #plain} {
  scf.forall (%m, %n) = (0, 0) to (1000, 1000) step (128, 256) {
    %t = tcc.load %A[%m, %n] : memref<1000x1000xf16> -> tensor<16x16xf16>
    tcc.store %t, %A[%m, %n] : tensor<16x16xf16>, memref<1000x1000xf16>
  }
  return
}

// Groups of 8 rows of tiles, the last one as high as what is left.
// CHECK-LABEL: func.func @raster
// CHECK-SAME:    tcc.grid = ["ceildiv(M, 128) * 4", "1", "1"]
// CHECK:         %[[TILES_M:.*]] = arith.ceildivui
// CHECK:         %[[TILES_N:.*]] = arith.constant 4 : index
// CHECK:         %[[BLOCK:.*]] = gpu.block_id x
// CHECK:         %[[T:.*]] = arith.index_castui %[[BLOCK]] : index to i32
// CHECK:         %[[M32:.*]] = arith.index_castui %[[TILES_M]] : index to i32
// CHECK:         %[[N32:.*]] = arith.index_castui %[[TILES_N]] : index to i32
// CHECK:         %[[HEIGHT:.*]] = arith.constant 8 : i32
// CHECK:         %[[SIZE:.*]] = arith.muli %[[HEIGHT]], %[[N32]]
// CHECK:         %[[IN:.*]] = arith.remui %[[T]], %[[SIZE]]
// CHECK:         %[[GROUP:.*]] = arith.divui %[[T]], %[[SIZE]]
// CHECK:         %[[FIRST:.*]] = arith.muli %[[GROUP]], %[[HEIGHT]]
// CHECK:         %[[REST:.*]] = arith.subi %[[M32]], %[[FIRST]]
// CHECK:         %[[ROWS:.*]] = arith.minui %[[REST]], %{{.*}} : i32
// CHECK:         %[[ROW:.*]] = arith.remui %[[IN]], %[[ROWS]]
// CHECK:         %[[J:.*]] = arith.divui %[[IN]], %[[ROWS]]
// CHECK:         %[[I:.*]] = arith.addi %[[FIRST]], %[[ROW]]
// CHECK:         arith.index_castui %[[I]]
// CHECK:         arith.index_castui %[[J]]
func.func @raster(%A: memref<?x1000xf16> {tcc.dims = ["M", "N"]}) attributes {tcc.level = "L3", tcc.schedule = #raster} {
  %c0 = arith.constant 0 : index
  %M = memref.dim %A, %c0 : memref<?x1000xf16>
  scf.forall (%m, %n) = (0, 0) to (%M, 1000) step (128, 256) {
    %t = tcc.load %A[%m, %n] : memref<?x1000xf16> -> tensor<16x16xf16>
    tcc.store %t, %A[%m, %n] : tensor<16x16xf16>, memref<?x1000xf16>
  }
  return
}

// Nothing is divided by what isn't a constant: of 11 rows of tiles the last group has 3.
// CHECK-LABEL: func.func @static_raster
// CHECK:         %[[HEIGHT:.*]] = arith.constant 8 : i32
// CHECK:         %[[IN:.*]] = arith.remui %{{.*}}, %[[SIZE:.*]] : i32
// CHECK:         %[[GROUP:.*]] = arith.divui %{{.*}}, %[[SIZE]]
// CHECK:         %[[FIRST:.*]] = arith.muli %[[GROUP]], %[[HEIGHT]]
// CHECK:         %[[EIGHT:.*]] = arith.constant 8 : i32
// CHECK:         %[[ROW:.*]] = arith.remui %[[IN]], %[[EIGHT]]
// CHECK:         %[[COLUMN:.*]] = arith.divui %[[IN]], %[[EIGHT]]
// CHECK:         %[[LAST:.*]] = arith.constant 3 : i32
// CHECK:         %[[LAST_ROW:.*]] = arith.remui %[[IN]], %[[LAST]]
// CHECK:         %[[LAST_COLUMN:.*]] = arith.divui %[[IN]], %[[LAST]]
// CHECK:         %[[IS_LAST:.*]] = arith.cmpi eq, %[[FIRST]], %c8{{.*}} : i32
// CHECK:         %[[R:.*]] = arith.select %[[IS_LAST]], %[[LAST_ROW]], %[[ROW]]
// CHECK:         %[[J:.*]] = arith.select %[[IS_LAST]], %[[LAST_COLUMN]], %[[COLUMN]]
// CHECK:         %[[I:.*]] = arith.addi %[[FIRST]], %[[R]]
func.func @static_raster(%A: memref<1408x1000xf16>) attributes {tcc.level = "L3", tcc.schedule = #raster} {
  scf.forall (%m, %n) = (0, 0) to (1408, 1000) step (128, 256) {
    %t = tcc.load %A[%m, %n] : memref<1408x1000xf16> -> tensor<16x16xf16>
    tcc.store %t, %A[%m, %n] : tensor<16x16xf16>, memref<1408x1000xf16>
  }
  return
}

// Groups of equal height, and one group of all rows.
// CHECK-LABEL: func.func @even_raster
// CHECK:         arith.muli %{{.*}}, %c8{{.*}} : i32
// CHECK-NOT:     arith.select
// CHECK-NOT:     arith.minui
// CHECK:         return
func.func @even_raster(%A: memref<2048x1000xf16>) attributes {tcc.level = "L3", tcc.schedule = #raster} {
  scf.forall (%m, %n) = (0, 0) to (2048, 1000) step (128, 256) {
    %t = tcc.load %A[%m, %n] : memref<2048x1000xf16> -> tensor<16x16xf16>
    tcc.store %t, %A[%m, %n] : tensor<16x16xf16>, memref<2048x1000xf16>
  }
  return
}
// CHECK-LABEL: func.func @one_group
// CHECK:         %[[T:.*]] = arith.index_castui %{{.*}} : index to i32
// CHECK:         %[[ROWS:.*]] = arith.index_castui %{{.*}} : index to i32
// CHECK:         arith.remui %[[T]], %[[ROWS]]
// CHECK-NEXT:    arith.divui %[[T]], %[[ROWS]]
// CHECK-NOT:     arith.select
// CHECK:         return
func.func @one_group(%A: memref<640x1000xf16>) attributes {tcc.level = "L3", tcc.schedule = #raster} {
  scf.forall (%m, %n) = (0, 0) to (640, 1000) step (128, 256) {
    %t = tcc.load %A[%m, %n] : memref<640x1000xf16> -> tensor<16x16xf16>
    tcc.store %t, %A[%m, %n] : tensor<16x16xf16>, memref<640x1000xf16>
  }
  return
}

// Clusters of 2 x 2 blocks take tiles of 256 x 512; a block adds its own place.
// CHECK-LABEL: func.func @cluster
// CHECK-SAME:    tcc.grid = ["(min(ceildiv(M, 256) * 2, max(1, sm_count / 4))) * 4", "1", "1"]
// CHECK:         %[[B:.*]] = gpu.block_id x
// CHECK:         %[[C:.*]] = arith.divui %[[B]], %{{.*}} : index
// CHECK:         %[[G:.*]] = gpu.grid_dim x
// CHECK:         %[[CS:.*]] = arith.divui %[[G]], %{{.*}} : index
// CHECK:         scf.for %{{.*}} = %[[C]] to %{{.*}} step %[[CS]] {
// CHECK:           %[[RANK:.*]] = gpu.cluster_block_id x
// CHECK:           %[[RM:.*]] = arith.remui %[[RANK]], %{{.*}} : index
// CHECK:           %[[RN:.*]] = arith.divui %[[RANK]], %{{.*}} : index
// CHECK:           %[[OM:.*]] = arith.muli %[[RM]], %{{.*}} : index
// CHECK:           %[[ON:.*]] = arith.muli %[[RN]], %{{.*}} : index
// CHECK:           %[[M:.*]] = arith.addi %{{.*}}, %[[OM]] : index
// CHECK:           %[[N:.*]] = arith.addi %{{.*}}, %[[ON]] : index
// CHECK:           tcc.load %{{.*}}[%[[M]], %[[N]]]
func.func @cluster(%A: memref<?x1000xf16> {tcc.dims = ["M", "N"]}) attributes {tcc.level = "L3", tcc.schedule = #cluster} {
  %c0 = arith.constant 0 : index
  %M = memref.dim %A, %c0 : memref<?x1000xf16>
  scf.forall (%m, %n) = (0, 0) to (%M, 1000) step (128, 256) {
    %t = tcc.load %A[%m, %n] : memref<?x1000xf16> -> tensor<16x16xf16>
    tcc.store %t, %A[%m, %n] : tensor<16x16xf16>, memref<?x1000xf16>
  }
  return
}

// CHECK-LABEL: func.func @persistent
// CHECK-SAME:    tcc.grid = ["min(32, sm_count)", "1", "1"]
// CHECK:         tcc.alloc_shared
// CHECK:         %[[T:.*]] = gpu.block_id x
// CHECK:         %[[TILES:.*]] = arith.muli
// CHECK:         %[[BLOCKS:.*]] = gpu.grid_dim x
// CHECK:         scf.for %[[TILE:.*]] = %[[T]] to %[[TILES]] step %[[BLOCKS]] {
// CHECK:           arith.index_castui %[[TILE]]
// CHECK:           tcc.store
// CHECK-NEXT:    }
func.func @persistent(%A: memref<1000x1000xf16>) attributes {tcc.level = "L3", tcc.schedule = #persistent} {
  scf.forall (%m, %n) = (0, 0) to (1000, 1000) step (128, 256) {
    %s = tcc.alloc_shared : !tcc.shared<16x16xf16>
    %t = tcc.load %A[%m, %n] : memref<1000x1000xf16> -> tensor<16x16xf16>
    tcc.store %t, %A[%m, %n] : tensor<16x16xf16>, memref<1000x1000xf16>
  }
  return
}

// Of an H200's 132 multiprocessors 120 have a place in clusters of four, all in clusters of two.
gpu.module @h200 [#nvvm.target<chip = "sm_90a">] {
  // CHECK-LABEL: func.func @four_blocks
  // CHECK-SAME:    tcc.grid = ["(min(8, max(1, sm_count * 30 / 132))) * 4", "1", "1"]
  func.func @four_blocks(%A: memref<1000x1000xf16>) attributes {tcc.level = "L3", tcc.schedule = #cluster} {
    scf.forall (%m, %n) = (0, 0) to (1000, 1000) step (128, 256) {
      %t = tcc.load %A[%m, %n] : memref<1000x1000xf16> -> tensor<16x16xf16>
      tcc.store %t, %A[%m, %n] : tensor<16x16xf16>, memref<1000x1000xf16>
    }
    return
  }
  // CHECK-LABEL: func.func @two_blocks
  // CHECK-SAME:    tcc.grid = ["(min(16, max(1, sm_count / 2))) * 2", "1", "1"]
  func.func @two_blocks(%A: memref<1000x1000xf16>) attributes {tcc.level = "L3", tcc.schedule = #two} {
    scf.forall (%m, %n) = (0, 0) to (1000, 1000) step (128, 256) {
      %t = tcc.load %A[%m, %n] : memref<1000x1000xf16> -> tensor<16x16xf16>
      tcc.store %t, %A[%m, %n] : tensor<16x16xf16>, memref<1000x1000xf16>
    }
    return
  }
}
