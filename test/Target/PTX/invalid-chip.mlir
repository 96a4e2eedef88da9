// What a chip or a PTX version lacks is an error at the op, not an abort of the code generator.
// RUN: tcc-translate --tcc-to-ptx --split-input-file --verify-diagnostics %s

gpu.module @m [#nvvm.target<chip = "sm_75">] {
  llvm.func @cp_async(%shared: !llvm.ptr<3>, %global: !llvm.ptr<1>) attributes {nvvm.kernel} {
    // expected-error@below {{'cp.async.cg.shared.global.16': sm_75 has no cp.async; sm_80, sm_86}}
    nvvm.cp.async.shared.global %shared, %global, 16, cache = cg : !llvm.ptr<3>, !llvm.ptr<1>
    // The same instruction is reported once.
    nvvm.cp.async.shared.global %shared, %global, 16, cache = cg : !llvm.ptr<3>, !llvm.ptr<1>
    llvm.return
  }
}

// -----

gpu.module @m [#nvvm.target<chip = "sm_70">] {
  llvm.func @ldmatrix(%shared: !llvm.ptr<3>) attributes {nvvm.kernel} {
    // expected-error@below {{'ldmatrix.sync.aligned.m8n8.x1.b16.p3': sm_70 has no ldmatrix; sm_75,}}
    %a = nvvm.ldmatrix %shared {num = 1 : i32, layout = #nvvm.mma_layout<row>, shape = #nvvm.ld_st_matrix_shape<m = 8, n = 8>, eltType = #nvvm.ld_st_matrix_elt_type<b16>} : (!llvm.ptr<3>) -> i32
    llvm.store %a, %shared : i32, !llvm.ptr<3>
    llvm.return
  }
}

// -----

gpu.module @m [#nvvm.target<chip = "sm_75">] {
  llvm.func @larger_shape(%a: vector<2xf16>, %c: f32) attributes {nvvm.kernel} {
    // expected-error@below {{sm_75 has no mma_sync m16n8k16 on f16 elements; it has mma_sync m16n8k8 f16 x f16 -> f32}}
    %d = nvvm.mma.sync A[%a, %a, %a, %a] B[%a, %a] C[%c, %c, %c, %c] {layoutA = #nvvm.mma_layout<row>, layoutB = #nvvm.mma_layout<col>, shape = #nvvm.shape<m = 16, n = 8, k = 16>} : (vector<2xf16>, vector<2xf16>, f32) -> !llvm.struct<(f32, f32, f32, f32)>
    llvm.return
  }
}

// -----

gpu.module @m [#nvvm.target<chip = "sm_75">] {
  llvm.func @bf16(%a: i32, %c: f32) attributes {nvvm.kernel} {
    // expected-error@below {{sm_75 has no mma_sync m16n8k16 on bf16 elements; such instructions are on sm_80, sm_86}}
    %d = nvvm.mma.sync A[%a, %a, %a, %a] B[%a, %a] C[%c, %c, %c, %c] {layoutA = #nvvm.mma_layout<row>, layoutB = #nvvm.mma_layout<col>, multiplicandAPtxType = #nvvm.mma_type<bf16>, multiplicandBPtxType = #nvvm.mma_type<bf16>, shape = #nvvm.shape<m = 16, n = 8, k = 16>} : (i32, i32, f32) -> !llvm.struct<(f32, f32, f32, f32)>
    llvm.return
  }
}

// -----

gpu.module @m [#nvvm.target<chip = "sm_75">] {
  llvm.func @wmma_bf16(%shared: !llvm.ptr<3>, %ld: i32) attributes {nvvm.kernel} {
    // expected-error@below {{sm_75 has no wmma m16n16k16 on bf16 elements; such instructions are on sm_80}}
    %a = llvm.call_intrinsic "llvm.nvvm.wmma.m16n16k16.load.a.row.stride.bf16.p3"(%shared, %ld) : (!llvm.ptr<3>, i32) -> !llvm.struct<(i32, i32, i32, i32)>
    llvm.return
  }
}

// -----

// wgmma is on sm_90a only: neither on sm_90 nor on what came later.
gpu.module @m [#nvvm.target<chip = "sm_100a">] {
  llvm.func @wgmma() attributes {nvvm.kernel} {
    // expected-error@below {{'wgmma.wait_group.sync.aligned': sm_100a has no wgmma.mma_async; sm_90a has it}}
    llvm.inline_asm has_side_effects "{ .reg .pred p; @p bra done; wgmma.wait_group.sync.aligned 0; done: }", "" : () -> ()
    llvm.return
  }
}

// -----

// expected-error@below {{a kernel with thread block clusters: sm_80 has no barrier.cluster; sm_90, sm_90a}}
gpu.module @m [#nvvm.target<chip = "sm_80">] {
  llvm.func @cluster() attributes {nvvm.kernel, nvvm.cluster_max_blocks = 2 : i32} {
    llvm.return
  }
}

// -----

// LLVM alone knows this one: its refusal is an error, too.
// expected-error@below {{LLVM can't generate code for sm_80 and ptx70: Cannot select: intrinsic %llvm.nvvm.tcgen05.wait.ld}}
gpu.module @m [#nvvm.target<chip = "sm_80">] {
  llvm.func @unknown() attributes {nvvm.kernel} {
    llvm.call_intrinsic "llvm.nvvm.tcgen05.wait.ld"() : () -> ()
    llvm.return
  }
}
