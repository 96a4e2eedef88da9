// RUN: tcc-opt %s --tcc-verify-level -split-input-file -verify-diagnostics

#s = #tcc.schedule<block = [32, 32, 32], warps = [2, 1], mma = mma_sync, transport = cp_async, stages = 2, alignment = [16, 16, 16]>
// expected-error @below {{expects exactly one target, an #nvvm.target (L0t.1)}}
gpu.module @m {
  func.func @no_target(%A: memref<64x64xf16> {tcc.name = "A", tcc.dims = ["M", "K"], tcc.direction = "in"}) attributes {tcc.level = "L0t", tcc.kernel = "k", tcc.variant = "all", tcc.preconditions = [], tcc.schedule = #s} {
    return
  }
}

// -----

#s = #tcc.schedule<block = [32, 32, 32], warps = [2, 1], mma = mma_sync, transport = cp_async, stages = 2, alignment = [16, 16, 16]>
// expected-error @below {{unknown chip 'sm_42'}}
gpu.module @m [#nvvm.target<chip = "sm_42">] {
  func.func @unknown_chip(%A: memref<64x64xf16> {tcc.name = "A", tcc.dims = ["M", "K"], tcc.direction = "in"}) attributes {tcc.level = "L0t", tcc.kernel = "k", tcc.variant = "all", tcc.preconditions = [], tcc.schedule = #s} {
    return
  }
}

// -----

#s = #tcc.schedule<block = [32, 32, 32], warps = [2, 1], mma = mma_sync, transport = cp_async, stages = 2, alignment = [16, 16, 16]>
// expected-error @below {{expects to be in a gpu.module with one #nvvm.target (L0t.1): run tcc-select-target first}}
func.func @no_module() attributes {tcc.level = "L0t", tcc.kernel = "k", tcc.variant = "all", tcc.preconditions = [], tcc.schedule = #s} {
  return
}

// -----

#s = #tcc.schedule<block = [32, 32, 32], warps = [2, 1], mma = mma_sync, transport = cp_async, stages = 2, alignment = [16, 16, 16]>
gpu.module @m [#nvvm.target<chip = "sm_80">] {
  // expected-error @below {{expects the attribute 'tcc.variant' (L0t.2)}}
  func.func @no_variant(%A: memref<64x64xf16> {tcc.name = "A", tcc.dims = ["M", "K"], tcc.direction = "in"}) attributes {tcc.level = "L0t", tcc.kernel = "k", tcc.preconditions = [], tcc.schedule = #s} {
    return
  }
}

// -----

#s = #tcc.schedule<block = [32, 32, 32], warps = [2, 1], mma = mma_sync, transport = cp_async, stages = 2, alignment = [16, 16, 16]>
gpu.module @m [#nvvm.target<chip = "sm_80">] {
  // expected-error @below {{expects 'tcc.dims' on argument 0 (L0t.4)}}
  func.func @no_dims(%A: memref<64x64xf16> {tcc.name = "A", tcc.direction = "in"}) attributes {tcc.level = "L0t", tcc.kernel = "k", tcc.variant = "all", tcc.preconditions = [], tcc.schedule = #s} {
    return
  }
}

// -----

#s = #tcc.schedule<block = [32, 32, 32], warps = [2, 1], mma = mma_sync, transport = cp_async, stages = 2, alignment = [16, 16, 16]>
gpu.module @m [#nvvm.target<chip = "sm_80">] {
  // expected-error @below {{is the last variant of 'k' and must have no preconditions (L0t.3)}}
  func.func @last_has_preconditions(%A: memref<64x64xf16> {tcc.name = "A", tcc.dims = ["M", "K"], tcc.direction = "in"}) attributes {tcc.level = "L0t", tcc.kernel = "k", tcc.variant = "all", tcc.preconditions = ["M % 8 == 0"], tcc.schedule = #s} {
    return
  }
}

// -----

#s = #tcc.schedule<block = [32, 32, 32], warps = [2, 1], mma = mma_sync, transport = cp_async, stages = 2, alignment = [16, 16, 16]>
gpu.module @m [#nvvm.target<chip = "sm_80">] {
  // expected-error @below {{has no preconditions, so that later variants of 'k' are never tried (L0t.3)}}
  func.func @shadows_others(%A: memref<64x64xf16> {tcc.name = "A", tcc.dims = ["M", "K"], tcc.direction = "in"}) attributes {tcc.level = "L0t", tcc.kernel = "k", tcc.variant = "all", tcc.preconditions = [], tcc.schedule = #s} {
    return
  }
  func.func @second() attributes {tcc.level = "L0t", tcc.kernel = "k", tcc.variant = "all", tcc.preconditions = [], tcc.schedule = #s} {
    return
  }
}
