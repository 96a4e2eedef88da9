// Instructions that a whole warp executes together stay where the program has them. Both loads' only
// uses are in a divergent branch: left to LLVM, which does not know wmma.load to be convergent,
// instcombine sinks it there.
// RUN: tcc-translate --tcc-to-ptx --chip=sm_80 %s | FileCheck %s
// RUN: tcc-translate --tcc-to-ptx --chip=sm_80 --emit-llvm %s | FileCheck %s --check-prefix=LLVM

!fragment = !llvm.struct<(vector<2xf16>, vector<2xf16>, vector<2xf16>, vector<2xf16>, vector<2xf16>, vector<2xf16>, vector<2xf16>, vector<2xf16>)>

// CHECK-LABEL: .entry divergent_use(
// CHECK: wmma.load.a.sync
// CHECK: ldmatrix.sync
// CHECK: shfl.sync
// CHECK: bra
// CHECK-NOT: .sync
// CHECK: ret;

// LLVM-LABEL: define ptx_kernel void @divergent_use(
// LLVM: call {{.*}} @llvm.nvvm.wmma.m16n16k16.load.a.row.stride.f16.p3({{.*}}) #[[convergent:[0-9]+]]
// LLVM: call {{.*}} @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x1.b16.p3({{.*}}) #[[convergent]]
// LLVM: call {{.*}} asm {{.*}}shfl.sync{{.*}} #[[assembly:[0-9]+]]
// LLVM: call {{.*}} asm {{.*}}mov.b32{{.*}} #[[plain:[0-9]+]]
// LLVM-DAG: attributes #[[convergent]] = { convergent
// LLVM-DAG: attributes #[[assembly]] = { convergent
// LLVM-DAG: attributes #[[plain]] = { nounwind
llvm.func @divergent_use(%shared: !llvm.ptr<3>, %out: !llvm.ptr<1>) attributes {nvvm.kernel} {
  %tid = nvvm.read.ptx.sreg.tid.x : i32
  %c7 = llvm.mlir.constant(7 : i32) : i32
  %c16 = llvm.mlir.constant(16 : i32) : i32
  %fragment = nvvm.wmma.load %shared, %c16 {eltype = #nvvm.mma_type<f16>, frag = #nvvm.mma_frag<a>, layout = #nvvm.mma_layout<row>, m = 16 : i32, n = 16 : i32, k = 16 : i32} : (!llvm.ptr<3>) -> !fragment
  %matrix = nvvm.ldmatrix %shared {num = 1 : i32, layout = #nvvm.mma_layout<row>, shape = #nvvm.ld_st_matrix_shape<m = 8, n = 8>, eltType = #nvvm.ld_st_matrix_elt_type<b16>} : (!llvm.ptr<3>) -> i32
  %shuffled = llvm.inline_asm "shfl.sync.idx.b32 $0, $1, 0, 31, 0xffffffff;", "=r,r" %matrix : (i32) -> i32
  %moved = llvm.inline_asm "mov.b32 $0, $1;", "=r,r" %shuffled : (i32) -> i32
  %inside = llvm.icmp "ult" %tid, %c7 : i32
  llvm.cond_br %inside, ^store, ^exit
^store:
  %next = llvm.getelementptr %out[64] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
  llvm.store %fragment, %out : !fragment, !llvm.ptr<1>
  llvm.store %moved, %next : i32, !llvm.ptr<1>
  llvm.br ^exit
^exit:
  llvm.return
}
