// RUN: tcc-opt %s --convert-tcc-to-nvvm | FileCheck %s

// CHECK-LABEL: llvm.func @f16
// CHECK-SAME: nvvm.kernel
// CHECK-SAME: nvvm.minctasm = 1 : i32
// CHECK-SAME: nvvm.reqntid = array<i32: 64>
// CHECK-SAME: tcc.level = "L5"
// CHECK: nvvm.mma.sync A[%[[A:.*]], %[[A]], %[[A]], %[[A]]] B[%[[A]], %[[A]]] C[%[[C:.*]], %[[C]], %[[C]], %[[C]]]
// CHECK-SAME: layoutA = #nvvm.mma_layout<row>, layoutB = #nvvm.mma_layout<col>
// CHECK-SAME: shape = #nvvm.shape<m = 16, n = 8, k = 16>
// CHECK-SAME: (vector<2xf16>, vector<2xf16>, f32) -> !llvm.struct<(f32, f32, f32, f32)>
func.func @f16(%p: !llvm.ptr<1>) attributes {tcc.level = "L4d", tcc.block = 64 : i64} {
  %a = llvm.load %p : !llvm.ptr<1> -> vector<2xf16>
  %c = llvm.load %p : !llvm.ptr<1> -> f32
  %d:4 = tcc.mma mma_sync [16, 8, 16]
    a(%a, %a, %a, %a : vector<2xf16>, vector<2xf16>, vector<2xf16>, vector<2xf16>)
    b(%a, %a : vector<2xf16>, vector<2xf16>) c(%c, %c, %c, %c : f32, f32, f32, f32)
    -> f32, f32, f32, f32
  llvm.store %d#3, %p : f32, !llvm.ptr<1>
  return
}

// Pairs of bf16 are words.
// CHECK-LABEL: llvm.func @bf16
// CHECK: %[[WORD:.*]] = llvm.bitcast %{{.*}} : vector<2xbf16> to i32
// CHECK: nvvm.mma.sync A[%[[WORD]],
// CHECK-SAME: multiplicandAPtxType = #nvvm.mma_type<bf16>, multiplicandBPtxType = #nvvm.mma_type<bf16>
// CHECK-SAME: (i32, i32, f32) -> !llvm.struct<(f32, f32, f32, f32)>
func.func @bf16(%p: !llvm.ptr<1>) attributes {tcc.level = "L4d", tcc.block = 64 : i64} {
  %a = llvm.load %p : !llvm.ptr<1> -> vector<2xbf16>
  %c = llvm.load %p : !llvm.ptr<1> -> f32
  %d:4 = tcc.mma mma_sync [16, 8, 16]
    a(%a, %a, %a, %a : vector<2xbf16>, vector<2xbf16>, vector<2xbf16>, vector<2xbf16>)
    b(%a, %a : vector<2xbf16>, vector<2xbf16>) c(%c, %c, %c, %c : f32, f32, f32, f32)
    -> f32, f32, f32, f32
  llvm.store %d#3, %p : f32, !llvm.ptr<1>
  return
}
