// RUN: tcc-opt %s --tcc-verify-level -split-input-file -verify-diagnostics

#s = #tcc.schedule<block = [32, 32, 32], warps = [2, 1], mma = mma_sync, transport = cp_async, stages = 2, alignment = [16, 16, 16]>
gpu.module @m [#nvvm.target<chip = "sm_80">] {
  func.func @tile(%A: memref<64x64xf16> {tcc.name = "A", tcc.dims = ["M", "K"], tcc.direction = "in"})
      attributes {tcc.level = "L4d", tcc.kernel = "k", tcc.variant = "all", tcc.preconditions = [], tcc.schedule = #s, tcc.grid = ["1", "1", "1"], tcc.block = 64} {
    // expected-error @below {{makes a tile, which tcc-distribute should have turned into registers (L4d.1)}}
    %e = tensor.empty() : tensor<32x32xf32>
    return
  }
}

// -----

#s = #tcc.schedule<block = [32, 32, 32], warps = [2, 1], mma = mma_sync, transport = cp_async, stages = 2, alignment = [16, 16, 16]>
gpu.module @m [#nvvm.target<chip = "sm_80">] {
  func.func @divergent(%A: memref<64x64xf16> {tcc.name = "A", tcc.dims = ["M", "K"], tcc.direction = "in"})
      attributes {tcc.level = "L4d", tcc.kernel = "k", tcc.variant = "all", tcc.preconditions = [], tcc.schedule = #s, tcc.grid = ["1", "1", "1"], tcc.block = 64} {
    %c5 = arith.constant 5 : index
    %a = arith.constant dense<0.0> : vector<2xf16>
    %z = arith.constant 0.0 : f32
    %t = gpu.thread_id x
    %few = arith.cmpi ult, %t, %c5 : index
    // expected-note @below {{this condition depends on the thread}}
    scf.if %few {
      // expected-error @below {{is done by the whole warp and can't stand where threads of a warp part ways (L4d.2)}}
      %d:4 = tcc.mma mma_sync [16, 8, 16] a(%a, %a, %a, %a : vector<2xf16>, vector<2xf16>, vector<2xf16>, vector<2xf16>) b(%a, %a : vector<2xf16>, vector<2xf16>) c(%z, %z, %z, %z : f32, f32, f32, f32) -> f32, f32, f32, f32
    }
    return
  }
}
