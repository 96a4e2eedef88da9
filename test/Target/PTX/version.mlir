// The PTX version is the lowest that knows the chip and all instructions used.
// RUN: tcc-translate --tcc-to-ptx --split-input-file %s | FileCheck %s
// RUN: tcc-translate --tcc-to-ptx --split-input-file --ptx-version=88 %s | FileCheck %s --check-prefix=ASKED

// CHECK: .version 6.0
// CHECK-NEXT: .target sm_70
// CHECK: .entry plain_sm_70(
// ASKED: .version 8.8
gpu.module @m [#nvvm.target<chip = "sm_70">] {
  llvm.func @plain_sm_70() attributes {nvvm.kernel} {
    llvm.return
  }
}

// -----

// CHECK: .version 6.3
// CHECK-NEXT: .target sm_70
// CHECK: wmma.load.a.sync.aligned.row.m16n16k16.shared.f16
gpu.module @m [#nvvm.target<chip = "sm_70">] {
  llvm.func @wmma(%shared: !llvm.ptr<3>) attributes {nvvm.kernel} {
    %c16 = llvm.mlir.constant(16 : i32) : i32
    %a = nvvm.wmma.load %shared, %c16 {eltype = #nvvm.mma_type<f16>, frag = #nvvm.mma_frag<a>, layout = #nvvm.mma_layout<row>, m = 16 : i32, n = 16 : i32, k = 16 : i32} : (!llvm.ptr<3>) -> !llvm.struct<(vector<2xf16>, vector<2xf16>, vector<2xf16>, vector<2xf16>, vector<2xf16>, vector<2xf16>, vector<2xf16>, vector<2xf16>)>
    llvm.store %a, %shared : !llvm.struct<(vector<2xf16>, vector<2xf16>, vector<2xf16>, vector<2xf16>, vector<2xf16>, vector<2xf16>, vector<2xf16>, vector<2xf16>)>, !llvm.ptr<3>
    llvm.return
  }
}

// -----

// CHECK: .version 6.5
// CHECK-NEXT: .target sm_75
// CHECK: ldmatrix.sync.aligned.m8n8.x4.shared.b16
gpu.module @m [#nvvm.target<chip = "sm_75">] {
  llvm.func @ldmatrix(%shared: !llvm.ptr<3>) attributes {nvvm.kernel} {
    %a = nvvm.ldmatrix %shared {num = 4 : i32, layout = #nvvm.mma_layout<row>, shape = #nvvm.ld_st_matrix_shape<m = 8, n = 8>, eltType = #nvvm.ld_st_matrix_elt_type<b16>} : (!llvm.ptr<3>) -> !llvm.struct<(i32, i32, i32, i32)>
    llvm.store %a, %shared : !llvm.struct<(i32, i32, i32, i32)>, !llvm.ptr<3>
    llvm.return
  }
}

// -----

// CHECK: .version 7.0
// CHECK-NEXT: .target sm_80
// CHECK: cp.async.cg.shared.global
gpu.module @m [#nvvm.target<chip = "sm_80">] {
  llvm.func @cp_async(%shared: !llvm.ptr<3>, %global: !llvm.ptr<1>) attributes {nvvm.kernel} {
    nvvm.cp.async.shared.global %shared, %global, 16, cache = cg : !llvm.ptr<3>, !llvm.ptr<1>
    llvm.return
  }
}

// -----

// LLVM's intrinsic is an instruction that came later than the chip.
// CHECK: .version 7.0
// CHECK-NEXT: .target sm_75
// CHECK: tanh.approx.f32
gpu.module @m [#nvvm.target<chip = "sm_75">] {
  llvm.func @tanh(%global: !llvm.ptr<1>, %x: f32) attributes {nvvm.kernel} {
    %y = llvm.intr.tanh(%x) {fastmathFlags = #llvm.fastmath<afn>} : (f32) -> f32
    llvm.store %y, %global : f32, !llvm.ptr<1>
    llvm.return
  }
}

// -----

// An intrinsic that no nvvm op reaches.
// CHECK: .version 8.4
// CHECK-NEXT: .target sm_89
// CHECK: mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32
gpu.module @m [#nvvm.target<chip = "sm_89">] {
  llvm.func @fp8(%a: i32, %c: f32, %out: !llvm.ptr<1>) attributes {nvvm.kernel} {
    %d = llvm.call_intrinsic "llvm.nvvm.mma.m16n8k32.row.col.f32.e4m3.e4m3.f32"(%a, %a, %a, %a, %a, %a, %c, %c, %c, %c) : (i32, i32, i32, i32, i32, i32, f32, f32, f32, f32) -> !llvm.struct<(f32, f32, f32, f32)>
    llvm.store %d, %out : !llvm.struct<(f32, f32, f32, f32)>, !llvm.ptr<1>
    llvm.return
  }
}

// -----

// A parameter that lives where the launcher put it is younger than the chip.
// CHECK: .version 7.7
// CHECK-NEXT: .target sm_80
// CHECK: .param .align 64 .b8 grid_constant_param_0[128]
gpu.module @m [#nvvm.target<chip = "sm_80">] {
  llvm.func @grid_constant(%map: !llvm.ptr {llvm.byval = !llvm.array<128 x i8>, llvm.align = 64 : i64, nvvm.grid_constant}) attributes {nvvm.kernel} {
    llvm.return
  }
}

// -----

// CHECK: .version 8.0
// CHECK-NEXT: .target sm_90a
// CHECK: .explicitcluster
// CHECK: wgmma.fence.sync.aligned
gpu.module @m [#nvvm.target<chip = "sm_90a">] {
  llvm.func @cluster() attributes {nvvm.kernel, nvvm.cluster_dim = array<i32: 2, 1, 1>} {
    nvvm.wgmma.fence.aligned
    llvm.return
  }
}
