// The metadata of all kernels stands at the head of the PTX, in the kernels' order.
// RUN: tcc-translate --tcc-to-ptx %s | FileCheck %s

// CHECK: // tcc-metadata begin: schema 1, 2 kernels
// CHECK: "entry": "scale_wide"
// CHECK: "entry": "scale"
// CHECK: // tcc-metadata end
// CHECK-NEXT: .version 7.0
// CHECK-NEXT: .target sm_80
// CHECK: .entry scale_wide(
// CHECK: .entry scale(
gpu.module @m [#nvvm.target<chip = "sm_80">] {
  llvm.func @scale_wide(%x: !llvm.ptr<1>, %n: i64) attributes {
    nvvm.kernel,
    tcc.metadata = "{\22schema\22: 1, \22name\22: \22scale\22, \22entry\22: \22scale_wide\22, \22target\22: \22sm_80\22, \22arguments\22: [{\22name\22: \22X\22, \22type\22: \22f32\22, \22shape\22: [\22N\22], \22strides\22: [1], \22direction\22: \22inout\22}], \22grid\22: [1, 1, 1], \22block\22: [32, 1, 1], \22preconditions\22: [\22X.ptr % 16 == 0\22]}"
  } {
    llvm.return
  }
  llvm.func @scale(%x: !llvm.ptr<1>, %n: i64) attributes {
    nvvm.kernel,
    tcc.metadata = "{\22schema\22: 1, \22name\22: \22scale\22, \22entry\22: \22scale\22, \22target\22: \22sm_80\22, \22arguments\22: [{\22name\22: \22X\22, \22type\22: \22f32\22, \22shape\22: [\22N\22], \22strides\22: [1], \22direction\22: \22inout\22}], \22grid\22: [1, 1, 1], \22block\22: [32, 1, 1]}"
  } {
    llvm.return
  }
}
