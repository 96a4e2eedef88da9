// RUN: tcc-opt %s --convert-tcc-to-nvvm | FileCheck %s

// CHECK-LABEL: llvm.func @ids
// CHECK: nvvm.read.ptx.sreg.tid.x : i32
// CHECK: nvvm.read.ptx.sreg.ctaid.y : i32
// CHECK: nvvm.read.ptx.sreg.nctaid.z : i32
// CHECK: nvvm.barrier
// CHECK: llvm.cond_br
func.func @ids(%p: !llvm.ptr<1>) attributes {tcc.level = "L4d", tcc.block = 32 : i64} {
  %x = gpu.thread_id x
  %y = gpu.block_id y
  %z = gpu.grid_dim z
  gpu.barrier
  %0 = arith.addi %x, %y : index
  %1 = arith.cmpi slt, %0, %z : index
  scf.if %1 {
    %2 = arith.index_cast %0 : index to i64
    llvm.store %2, %p : i64, !llvm.ptr<1>
  }
  return
}

// Functions are arithmetic, also on f16 (computed in f32); nothing is called.
// CHECK-LABEL: llvm.func @functions
// CHECK-NOT: llvm.call
// CHECK-NOT: math.
// CHECK: llvm.return
func.func @functions(%p: !llvm.ptr<1>) attributes {tcc.level = "L4d", tcc.block = 32 : i64} {
  %x = llvm.load %p : !llvm.ptr<1> -> f32
  %v = llvm.load %p : !llvm.ptr<1> -> vector<4xf32>
  %h = llvm.load %p : !llvm.ptr<1> -> f16
  %0 = math.tanh %x : f32
  %1 = math.erf %0 : f32
  %2 = math.exp %1 : f32
  %3 = math.log %2 : f32
  %4 = math.sin %3 : f32
  %5 = math.powf %4, %x : f32
  %6 = math.rsqrt %5 : f32
  llvm.store %6, %p : f32, !llvm.ptr<1>
  %7 = math.tanh %v : vector<4xf32>
  llvm.store %7, %p : vector<4xf32>, !llvm.ptr<1>
  %8 = math.tanh %h : f16
  llvm.store %8, %p : f16, !llvm.ptr<1>
  return
}

// CHECK-LABEL: llvm.func @approximate_exp
// CHECK: %[[LOG2E:.*]] = llvm.mlir.constant(1.44269502 : f32) : f32
// CHECK: %[[SCALED:.*]] = llvm.fmul %{{.*}}, %[[LOG2E]]
// CHECK: llvm.intr.exp2(%[[SCALED]])
func.func @approximate_exp(%p: !llvm.ptr<1>) attributes {tcc.level = "L4d", tcc.block = 32 : i64} {
  %x = llvm.load %p : !llvm.ptr<1> -> f32
  %0 = math.exp %x fastmath<afn> : f32
  llvm.store %0, %p : f32, !llvm.ptr<1>
  return
}

// tanh.approx is there from sm_75 on, f16 is computed in f32; without `afn` tanh is a polynomial.
gpu.module @sm_75 [#nvvm.target<chip = "sm_75">] {
  // CHECK-LABEL: llvm.func @approximate_tanh_sm_75
  // CHECK: llvm.intr.tanh(%{{.*}}) {fastmathFlags = #llvm.fastmath<afn>} : (f32) -> f32
  // CHECK: llvm.intr.tanh(%{{.*}}) {fastmathFlags = #llvm.fastmath<afn>} : (vector<4xf32>) -> vector<4xf32>
  // CHECK: %[[WIDE:.*]] = llvm.fpext
  // CHECK: llvm.intr.tanh(%[[WIDE]]) {fastmathFlags = #llvm.fastmath<afn>} : (f32) -> f32
  // CHECK-NOT: llvm.intr.tanh
  // CHECK: llvm.return
  func.func @approximate_tanh_sm_75(%p: !llvm.ptr<1>) attributes {tcc.level = "L4d", tcc.block = 32 : i64} {
    %x = llvm.load %p : !llvm.ptr<1> -> f32
    %v = llvm.load %p : !llvm.ptr<1> -> vector<4xf32>
    %h = llvm.load %p : !llvm.ptr<1> -> f16
    %0 = math.tanh %x fastmath<afn> : f32
    llvm.store %0, %p : f32, !llvm.ptr<1>
    %1 = math.tanh %v fastmath<afn> : vector<4xf32>
    llvm.store %1, %p : vector<4xf32>, !llvm.ptr<1>
    %2 = math.tanh %h fastmath<afn> : f16
    llvm.store %2, %p : f16, !llvm.ptr<1>
    %3 = math.tanh %x : f32
    llvm.store %3, %p : f32, !llvm.ptr<1>
    return
  }
}

gpu.module @sm_70 [#nvvm.target<chip = "sm_70">] {
  // CHECK-LABEL: llvm.func @approximate_tanh_sm_70
  // CHECK-NOT: llvm.intr.tanh
  // CHECK: llvm.fdiv
  func.func @approximate_tanh_sm_70(%p: !llvm.ptr<1>) attributes {tcc.level = "L4d", tcc.block = 32 : i64} {
    %x = llvm.load %p : !llvm.ptr<1> -> f32
    %0 = math.tanh %x fastmath<afn> : f32
    llvm.store %0, %p : f32, !llvm.ptr<1>
    return
  }
}

// The chip may be unknown.
gpu.module @unknown [#nvvm.target<chip = "sm_61">] {
  // CHECK-LABEL: llvm.func @approximate_tanh_unknown
  // CHECK-NOT: llvm.intr.tanh
  // CHECK: llvm.fdiv
  func.func @approximate_tanh_unknown(%p: !llvm.ptr<1>) attributes {tcc.level = "L4d", tcc.block = 32 : i64} {
    %x = llvm.load %p : !llvm.ptr<1> -> f32
    %0 = math.tanh %x fastmath<afn> : f32
    llvm.store %0, %p : f32, !llvm.ptr<1>
    return
  }
}

// CHECK-LABEL: llvm.func @approximate_tanh_anywhere
// CHECK-NOT: llvm.intr.tanh
// CHECK: llvm.fdiv
func.func @approximate_tanh_anywhere(%p: !llvm.ptr<1>) attributes {tcc.level = "L4d", tcc.block = 32 : i64} {
  %x = llvm.load %p : !llvm.ptr<1> -> f32
  %0 = math.tanh %x fastmath<afn> : f32
  llvm.store %0, %p : f32, !llvm.ptr<1>
  return
}

// Blocks of a cluster lie along x; a kernel without clusters says nothing.
// CHECK-LABEL: llvm.func @cluster
// CHECK-SAME: nvvm.cluster_dim = array<i32: 4, 1, 1>
// CHECK: nvvm.read.ptx.sreg.cluster.ctaid.x : i32
func.func @cluster(%p: !llvm.ptr<1>) attributes {tcc.level = "L4d", tcc.block = 256 : i64,
    tcc.schedule = #tcc.schedule<block = [64, 64, 64], warps = [4, 1], mma = wgmma, transport = tma, stages = 2, roles = cooperative, cluster = [2, 2]>} {
  %x = gpu.cluster_block_id x
  %0 = arith.index_cast %x : index to i64
  llvm.store %0, %p : i64, !llvm.ptr<1>
  return
}

// CHECK-LABEL: llvm.func @alone
// CHECK-NOT: nvvm.cluster_dim
// CHECK: llvm.return
func.func @alone() attributes {tcc.level = "L4d", tcc.block = 256 : i64,
    tcc.schedule = #tcc.schedule<block = [64, 64, 64], warps = [4, 1], mma = wgmma, transport = tma, stages = 2, roles = cooperative, cluster = [1, 1]>} {
  return
}
