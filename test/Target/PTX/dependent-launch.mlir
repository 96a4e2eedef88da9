// RUN: tcc-translate %s --tcc-to-ptx --chip=sm_90a -o %t.ptx && FileCheck %s < %t.ptx
// RUN: tcc-run %t.ptx --device=emulator --size M=200,N=136,K=200 --check | FileCheck %s --check-prefix=CORRECT

// The header tells launchers that the kernel waits for what runs ahead of it; variants that can't use TMA don't. In the
// text no access to global memory stands before the wait.

// CHECK:       "variant": "align16"
// CHECK:       "dependentLaunch": true,
// CHECK:       "schedule": {{.*}}"dependent_launch":true
// CHECK:       "variant": "align8
// CHECK-NOT:   "dependentLaunch"
// CHECK:       tcc-metadata end
// CHECK-LABEL: .visible .entry gemm(
// CHECK-NOT:   {{(ld|st)\.global|cp\.async}}
// CHECK:       griddepcontrol.wait;
// CHECK:       cp.async.bulk.tensor.2d.shared
// CHECK:       griddepcontrol.launch_dependents;

// CORRECT: check normal: C ok
// CORRECT: check integer: C ok
func.func @gemm(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf32>)
    attributes {tcc.schedule = #tcc.schedule<block = [64, 64, 64], warps = [4, 1], mma = wgmma, transport = tma, stages = 2,
                                             roles = ping_pong, persistent = true, epilogue = tma, dependent_launch = true>} {
  linalg.matmul ins(%A, %B : memref<?x?xf16>, memref<?x?xf16>) outs(%C : memref<?x?xf32>)
  return
}
