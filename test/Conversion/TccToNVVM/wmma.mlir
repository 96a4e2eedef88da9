// RUN: tcc-opt %s --convert-tcc-to-nvvm | FileCheck %s

// CHECK-LABEL: llvm.func @f16
// CHECK: %[[LDA:.*]] = llvm.mlir.constant(40 : i32) : i32
// CHECK: nvvm.wmma.load %{{.*}}, %[[LDA]] {eltype = #nvvm.mma_type<f16>, frag = #nvvm.mma_frag<a>, k = 16 : i32, layout = #nvvm.mma_layout<row>, m = 16 : i32, n = 16 : i32}
// CHECK: nvvm.wmma.load {{.*}} frag = #nvvm.mma_frag<b>, k = 16 : i32, layout = #nvvm.mma_layout<col>
// CHECK: nvvm.wmma.mma {{.*}} {eltypeA = #nvvm.mma_type<f16>, eltypeB = #nvvm.mma_type<f32>, k = 16 : i32, layoutA = #nvvm.mma_layout<row>, layoutB = #nvvm.mma_layout<col>
// CHECK: nvvm.wmma.store {{.*}} {eltype = #nvvm.mma_type<f32>, k = 16 : i32, layout = #nvvm.mma_layout<row>
func.func @f16(%p: !llvm.ptr<3>, %z: f32) attributes {tcc.level = "L4d", tcc.block = 32 : i64} {
  %a:8 = tcc.wmma_load a [16, 16, 16] %p, 40 {rowMajor = true} : !llvm.ptr<3>
    -> vector<2xf16>, vector<2xf16>, vector<2xf16>, vector<2xf16>, vector<2xf16>, vector<2xf16>,
       vector<2xf16>, vector<2xf16>
  %b:8 = tcc.wmma_load b [16, 16, 16] %p, 40 {rowMajor = false} : !llvm.ptr<3>
    -> vector<2xf16>, vector<2xf16>, vector<2xf16>, vector<2xf16>, vector<2xf16>, vector<2xf16>,
       vector<2xf16>, vector<2xf16>
  %d:8 = tcc.mma wmma [16, 16, 16]
    a(%a#0, %a#1, %a#2, %a#3, %a#4, %a#5, %a#6, %a#7 : vector<2xf16>, vector<2xf16>, vector<2xf16>,
      vector<2xf16>, vector<2xf16>, vector<2xf16>, vector<2xf16>, vector<2xf16>)
    b(%b#0, %b#1, %b#2, %b#3, %b#4, %b#5, %b#6, %b#7 : vector<2xf16>, vector<2xf16>, vector<2xf16>,
      vector<2xf16>, vector<2xf16>, vector<2xf16>, vector<2xf16>, vector<2xf16>)
    c(%z, %z, %z, %z, %z, %z, %z, %z : f32, f32, f32, f32, f32, f32, f32, f32)
    -> f32, f32, f32, f32, f32, f32, f32, f32
  tcc.wmma_store [16, 16, 16] %p, 40, %d#0, %d#1, %d#2, %d#3, %d#4, %d#5, %d#6, %d#7
    : !llvm.ptr<3>, f32, f32, f32, f32, f32, f32, f32, f32
  return
}

// NVVM's ops know no bf16; the intrinsics do.
// CHECK-LABEL: llvm.func @bf16
// CHECK: llvm.call_intrinsic "llvm.nvvm.wmma.m16n16k16.load.a.col.stride.bf16.p3"(%{{.*}}, %{{.*}}) : (!llvm.ptr<3>, i32) -> !llvm.struct<(i32, i32, i32, i32)>
// CHECK: llvm.call_intrinsic "llvm.nvvm.wmma.m16n16k16.load.b.row.stride.bf16.p3"
// CHECK: llvm.call_intrinsic "llvm.nvvm.wmma.m16n16k16.mma.col.row.bf16"
func.func @bf16(%p: !llvm.ptr<3>, %z: f32) attributes {tcc.level = "L4d", tcc.block = 32 : i64} {
  %a:4 = tcc.wmma_load a [16, 16, 16] %p, 40 {rowMajor = false} : !llvm.ptr<3>
    -> vector<2xbf16>, vector<2xbf16>, vector<2xbf16>, vector<2xbf16>
  %b:4 = tcc.wmma_load b [16, 16, 16] %p, 40 {rowMajor = true} : !llvm.ptr<3>
    -> vector<2xbf16>, vector<2xbf16>, vector<2xbf16>, vector<2xbf16>
  %d:8 = tcc.mma wmma [16, 16, 16]
    a(%a#0, %a#1, %a#2, %a#3 : vector<2xbf16>, vector<2xbf16>, vector<2xbf16>, vector<2xbf16>)
    b(%b#0, %b#1, %b#2, %b#3 : vector<2xbf16>, vector<2xbf16>, vector<2xbf16>, vector<2xbf16>)
    c(%z, %z, %z, %z, %z, %z, %z, %z : f32, f32, f32, f32, f32, f32, f32, f32)
    {rowMajorA = false, rowMajorB = true} -> f32, f32, f32, f32, f32, f32, f32, f32
  tcc.wmma_store [16, 16, 16] %p, 40, %d#0, %d#1, %d#2, %d#3, %d#4, %d#5, %d#6, %d#7
    : !llvm.ptr<3>, f32, f32, f32, f32, f32, f32, f32, f32
  return
}
