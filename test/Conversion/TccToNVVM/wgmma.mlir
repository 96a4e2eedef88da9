// RUN: tcc-opt %s --convert-tcc-to-nvvm | FileCheck %s

// CHECK-LABEL: llvm.func @wgmma
// CHECK-SAME: {llvm.align = 64 : i64, llvm.byval = !llvm.array<128 x i8>, nvvm.grid_constant}
// CHECK: %[[ADDRESS:.*]] = llvm.ptrtoint %{{.*}} : !llvm.ptr<3> to i32
// CHECK: %[[BITS:.*]] = llvm.and %[[ADDRESS]], %{{.*}} : i32
// CHECK: %[[START:.*]] = llvm.lshr %[[BITS]], %{{.*}} : i32
// CHECK: %[[WIDE:.*]] = llvm.zext %[[START]] : i32 to i64
// The fields that don't depend on the address: stride 1024 bytes, swizzle of 128 bytes.
// CHECK: %[[FIELDS:.*]] = llvm.mlir.constant(4611686293305294848 : i64) : i64
// CHECK: %[[D:.*]] = llvm.or %[[WIDE]], %[[FIELDS]] : i64
// Fence and wait carry the accumulators, so that what clears them stays ahead, and their uses behind.
// CHECK: llvm.inline_asm has_side_effects "wgmma.fence.sync.aligned;", "=f,=f,=f,=f,0,1,2,3,~{memory}" %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : (f32, f32, f32, f32) -> !llvm.struct<(f32, f32, f32, f32)>
// CHECK: nvvm.wgmma.mma_async %[[D]], %[[D]], %{{.*}}, <m = 64, n = 8, k = 16>, D[<f32>, <one>], A[<bf16>, <one>, <row>], B[<bf16>, <one>, <col>]
// CHECK: llvm.inline_asm has_side_effects "wgmma.wait_group.sync.aligned 0;", "=f,=f,=f,=f,0,1,2,3,~{memory}" %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : (f32, f32, f32, f32) -> !llvm.struct<(f32, f32, f32, f32)>
func.func @wgmma(%p: !llvm.ptr<3>, %c: f32, %o: !llvm.ptr<1>,
    %map: !llvm.ptr {llvm.align = 64 : i64, llvm.byval = !llvm.array<128 x i8>})
    attributes {tcc.level = "L4d", tcc.block = 128 : i64} {
  %d = tcc.matrix_descriptor %p {leading = 0, stride = 1024, span = 128} : !llvm.ptr<3>
  %f:4 = tcc.wgmma_fence (%c, %c, %c, %c : f32, f32, f32, f32)
  %0:4 = tcc.wgmma [64, 8, 16] bf16 %d, %d acc(%f#0, %f#1, %f#2, %f#3 : f32, f32, f32, f32)
    {rowMajorA = true, rowMajorB = false}
  %1:4 = tcc.wgmma_wait 0 (%0#0, %0#1, %0#2, %0#3 : f32, f32, f32, f32)
  llvm.store %1#3, %o : f32, !llvm.ptr<1>
  return
}
