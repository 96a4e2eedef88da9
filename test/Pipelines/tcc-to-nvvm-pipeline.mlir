// RUN: tcc-opt %S/../../examples/gemm.mlir --tcc-to-nvvm-pipeline=chip=sm_80 | FileCheck %s --check-prefixes=ALL,MMA
// RUN: tcc-opt %S/../../examples/gemm.mlir --tcc-to-nvvm-pipeline=chip=sm_75 | FileCheck %s --check-prefixes=ALL,WMMA
// RUN: tcc-opt %S/../../examples/gemm.mlir "--tcc-to-nvvm-pipeline=chip=sm_80 backend=wmma" | FileCheck %s --check-prefixes=ALL,WMMA
// RUN: tcc-opt %S/../../examples/tile-gemm.mlir --tcc-to-nvvm-pipeline=chip=sm_80 | FileCheck %s --check-prefixes=ALL,MMA

// From the problem, or from a tile program, to llvm and nvvm ops alone.

// ALL: gpu.module
// ALL: llvm.func @{{.*}} attributes {{.*}}nvvm.kernel{{.*}}tcc.level = "L5", tcc.metadata =
// MMA: nvvm.cp.async.shared.global
// MMA: nvvm.ldmatrix
// MMA: nvvm.mma.sync
// WMMA: nvvm.wmma.load
// WMMA: nvvm.wmma.mma
// ALL-NOT: tcc.{{[a-z_]+}} %
// ALL-NOT: func.func
