// RUN: tcc-opt %s --tcc-finalize-kernel | FileCheck %s

// Each matrix becomes a pointer, its dynamic sizes, its dynamic strides; buffers get their places.

#swizzled = #tcc.layout<contiguous = 1, span = 128>
#padded = #tcc.layout<contiguous = 1, pad = 16>

// CHECK: gpu.module @m
// CHECK: llvm.mlir.global external @tcc_shared() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
gpu.module @m [#nvvm.target<chip = "sm_80">] {

// CHECK-LABEL: func.func @gemm_align16
// CHECK-SAME: (%[[A:.*]]: !llvm.ptr<1>, %[[A0:.*]]: i64, %[[A1:.*]]: i64, %[[LDA:.*]]: i64, %[[B:.*]]: !llvm.ptr<1>, %[[B1:.*]]: i64)
// CHECK-SAME: tcc.metadata = "{
// CHECK-SAME: \22schema\22: 1,
// CHECK-SAME: \22name\22: \22gemm\22,
// CHECK-SAME: \22entry\22: \22gemm_align16\22,
// CHECK-SAME: \22variant\22: \22align16\22,
// CHECK-SAME: \22target\22: \22sm_80\22,
// CHECK-SAME: {\22name\22:\22A\22,\22type\22:\22f16\22,\22shape\22:[\22M\22,\22K\22],\22strides\22:[\22A.stride0\22,1],\22direction\22:\22in\22}
// CHECK-SAME: {\22name\22:\22B\22,\22type\22:\22f32\22,\22shape\22:[64,\22N\22],\22strides\22:[\22N\22,1],\22direction\22:\22out\22}
// CHECK-SAME: \22grid\22: [\22ceildiv(M, 128)\22,1,1],
// CHECK-SAME: \22block\22: [256,1,1],
// CHECK-SAME: \22dynamicSharedBytes\22: 11008,
// CHECK-SAME: \22preconditions\22: [\22A.ptr % 16 == 0\22],
// CHECK-SAME: \22mma\22:\22mma_sync\22
// CHECK-SAME: \22reference\22: [
// CHECK-SAME: {\22id\22:0,\22op\22:\22input\22,\22argument\22:\22A\22,\22dims\22:[\22M\22,\22K\22],\22type\22:\22f16\22}
// CHECK-SAME: \22outputs\22: [
// CHECK-SAME: {\22argument\22:\22B\22,\22node\22:2}
// CHECK-SAME: tcc.shared_bytes = 11008 : i64
func.func @gemm_align16(
    %A: memref<?x?xf16, strided<[?, 1], offset: ?>>
      {tcc.name = "A", tcc.dims = ["M", "K"], tcc.direction = "in"},
    %B: memref<64x?xf32> {tcc.name = "B", tcc.dims = ["L", "N"], tcc.direction = "out"})
    attributes {tcc.level = "L4d", tcc.kernel = "gemm", tcc.variant = "align16",
      tcc.preconditions = ["A.ptr % 16 == 0"], tcc.block = 256 : i64,
      tcc.grid = ["ceildiv(M, 128)", "1", "1"],
      tcc.schedule = #tcc.schedule<block = [128, 256, 64], warps = [2, 4], mma = mma_sync,
                                   transport = cp_async, stages = 2>,
      tcc.reference = [{id = 0, op = "input", argument = "A", dims = ["M", "K"], type = f16},
                       {id = 1, op = "constant", dims = [], value = 1.0 : f32, type = f32},
                       {id = 2, op = "addf", operands = [1, 1], dims = ["L", "N"], type = f32},
                       {op = "output", argument = "B", node = 2}]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %slot = arith.constant 1 : i32
  %offset = arith.constant 4 : i32
  // CHECK-DAG: %[[COLUMNS:.*]] = arith.index_cast %[[A1]] : i64 to index
  // CHECK-DAG: %[[STRIDE:.*]] = arith.index_cast %[[LDA]] : i64 to index
  %t = memref.transpose %A (i, j) -> (j, i)
    : memref<?x?xf16, strided<[?, 1], offset: ?>> to memref<?x?xf16, strided<[1, ?], offset: ?>>
  %columns = memref.dim %t, %c0 : memref<?x?xf16, strided<[1, ?], offset: ?>>
  %rows = memref.dim %B, %c0 : memref<64x?xf32>
  // The row first, which a loop over columns leaves alone.
  // CHECK: %[[ROW:.*]] = arith.muli %c64, %[[STRIDE]]
  // CHECK: %[[ROW64:.*]] = arith.index_cast %[[ROW]] : index to i64
  // CHECK: %[[P:.*]] = llvm.getelementptr %[[A]][%[[ROW64]]] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f16
  // CHECK: %[[COLUMN:.*]] = arith.index_cast %[[COLUMNS]] : index to i64
  // CHECK: %[[Q:.*]] = llvm.getelementptr %[[P]][%[[COLUMN]]] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f16
  %p = tcc.global_address %t[%columns, %rows]
    : memref<?x?xf16, strided<[1, ?], offset: ?>> -> !llvm.ptr<1>

  // 128x16xf16 padded by 16 bytes are 768 bytes; the swizzle starts at a multiple of 1024.
  %padded = tcc.alloc_shared : !tcc.shared<16x16xf16, #padded>
  %swizzled = tcc.alloc_shared : !tcc.shared<39x64xf16, stages = 2, #swizzled>
  // CHECK: %[[S:.*]] = llvm.mlir.addressof @tcc_shared : !llvm.ptr<3>
  // CHECK: llvm.getelementptr %[[S]][%c4_i32] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
  %s0 = tcc.shared_address %padded offset %offset : !tcc.shared<16x16xf16, #padded> -> !llvm.ptr<3>
  // CHECK: llvm.getelementptr %{{.*}}[1024] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
  // CHECK: %[[STAGE:.*]] = arith.muli %c1_i32, %c4992_i32 : i32
  // CHECK: %[[T:.*]] = llvm.getelementptr %{{.*}}[%[[STAGE]]] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
  %s1 = tcc.shared_address %swizzled slot %slot offset %offset
    : !tcc.shared<39x64xf16, stages = 2, #swizzled> -> !llvm.ptr<3>
  %x = llvm.load %p : !llvm.ptr<1> -> f16
  llvm.store %x, %s0 : f16, !llvm.ptr<3>
  llvm.store %x, %s1 : f16, !llvm.ptr<3>
  return
}
}
