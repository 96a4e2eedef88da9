// RUN: tcc-opt %s --tcc-distribute | FileCheck %s

// Work on tiles becomes work on registers.

#a = #tcc.fragment<mma_sync, a, shape = [16, 8, 16], warps = [1, 1]>
#b = #tcc.fragment<mma_sync, b, shape = [16, 8, 16], warps = [1, 1]>
#c = #tcc.fragment<mma_sync, c, shape = [16, 8, 16], warps = [1, 1]>
#rows = #tcc.blocked<vector = 4, contiguous = 1, threads = 32>

// Registers of an accumulator are scalars: four an atom. Their order is the conversion's.
// CHECK-LABEL: func.func @elementwise
// CHECK-SAME: tcc.level = "L4d"
// CHECK: %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
// CHECK-DAG: arith.addf %{{.*}}, %[[ZERO]] fastmath<contract> : f32
// CHECK-DAG: arith.addf %{{.*}}, %[[ZERO]] fastmath<contract> : f32
// CHECK-DAG: arith.addf %{{.*}}, %[[ZERO]] fastmath<contract> : f32
// CHECK-DAG: arith.addf %{{.*}}, %[[ZERO]] fastmath<contract> : f32
// CHECK-DAG: math.tanh %{{.*}} : f32
// CHECK-DAG: math.tanh %{{.*}} : f32
// CHECK-DAG: math.tanh %{{.*}} : f32
// CHECK-DAG: math.tanh %{{.*}} : f32
// CHECK-DAG: arith.cmpf ogt
// CHECK-DAG: arith.cmpf ogt
// CHECK-DAG: arith.cmpf ogt
// CHECK-DAG: arith.cmpf ogt
// CHECK-DAG: arith.select %{{.*}} : f32
// CHECK-DAG: arith.select %{{.*}} : f32
// CHECK-DAG: arith.select %{{.*}} : f32
// CHECK-DAG: arith.select %{{.*}} : f32
// CHECK-DAG: arith.truncf %{{.*}} : f32 to f16
// CHECK-DAG: arith.truncf %{{.*}} : f32 to f16
// CHECK-DAG: arith.truncf %{{.*}} : f32 to f16
// CHECK-DAG: arith.truncf %{{.*}} : f32 to f16
// CHECK-NOT: tensor
func.func @elementwise(%C: memref<16x8xf32>, %D: memref<16x8xf16>) attributes {tcc.level = "L4"} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<16x8xf32, #c>
  %0 = tcc.load %C[%c0, %c0] : memref<16x8xf32> -> tensor<16x8xf32, #c>
  %1 = arith.addf %0, %zero fastmath<contract> : tensor<16x8xf32, #c>
  %2 = math.tanh %1 : tensor<16x8xf32, #c>
  %3 = arith.cmpf ogt, %2, %zero : tensor<16x8xf32, #c>
  %4 = arith.select %3, %2, %zero : tensor<16x8xi1, #c>, tensor<16x8xf32, #c>
  %5 = arith.truncf %4 : tensor<16x8xf32, #c> to tensor<16x8xf16, #c>
  tcc.store %5, %D[%c0, %c0] : tensor<16x8xf16, #c>, memref<16x8xf16>
  return
}

// A blocked tile's are vectors: here 16 x 8 elements are 32 vectors of 4, one a thread.
// CHECK-LABEL: func.func @blocked
// CHECK: %[[HALF:.*]] = arith.constant dense<5.000000e-01> : vector<4xf32>
// CHECK: arith.mulf %{{.*}}, %[[HALF]] : vector<4xf32>
func.func @blocked(%C: memref<16x8xf32>) attributes {tcc.level = "L4"} {
  %c0 = arith.constant 0 : index
  %half = arith.constant dense<0.5> : tensor<16x8xf32, #rows>
  %0 = tcc.load %C[%c0, %c0] {bytes = 16} : memref<16x8xf32> -> tensor<16x8xf32, #rows>
  %1 = arith.mulf %0, %half : tensor<16x8xf32, #rows>
  tcc.store %1, %C[%c0, %c0] {bytes = 16} : tensor<16x8xf32, #rows>, memref<16x8xf32>
  return
}

// A bias per column: two of the atom's four registers share a column, so two loads.
// CHECK-LABEL: func.func @bias_per_column
// CHECK: scf.if
// CHECK: llvm.load
// CHECK-NEXT: vector.extract
// CHECK-NOT: llvm.load
// CHECK: } else {
func.func @bias_per_column(%bias: memref<8xf32>, %C: memref<16x8xf32>)
    attributes {tcc.level = "L4"} {
  %c0 = arith.constant 0 : index
  %0 = tcc.load %bias[%c0] {bytes = 8} : memref<8xf32>
    -> tensor<8xf32, #tcc.slice<dim = 0, size = 16, parent = #c>>
  %e = tensor.empty() : tensor<16x8xf32, #c>
  %1 = linalg.broadcast ins(%0 : tensor<8xf32, #tcc.slice<dim = 0, size = 16, parent = #c>>)
    outs(%e : tensor<16x8xf32, #c>) dimensions = [0]
  tcc.store %1, %C[%c0, %c0] : tensor<16x8xf32, #c>, memref<16x8xf32>
  return
}

// A bias per row of a blocked tile: a thread's vector lies in one row and repeats one element.
// CHECK-LABEL: func.func @bias_per_row
// CHECK: vector.broadcast %{{.*}} : f32 to vector<4xf32>
func.func @bias_per_row(%bias: memref<16xf32>, %C: memref<16x8xf32>)
    attributes {tcc.level = "L4"} {
  %c0 = arith.constant 0 : index
  %0 = tcc.load %bias[%c0] : memref<16xf32>
    -> tensor<16xf32, #tcc.slice<dim = 1, size = 8, parent = #rows>>
  %e = tensor.empty() : tensor<16x8xf32, #rows>
  %1 = linalg.broadcast ins(%0 : tensor<16xf32, #tcc.slice<dim = 1, size = 8, parent = #rows>>)
    outs(%e : tensor<16x8xf32, #rows>) dimensions = [1]
  tcc.store %1, %C[%c0, %c0] : tensor<16x8xf32, #rows>, memref<16x8xf32>
  return
}

// All rows for one column of atoms, then back: (0,0) (1,0) (1,1) (0,1).
// CHECK-LABEL: func.func @matmul
// CHECK: %[[A0:.*]] = nvvm.ldmatrix
// CHECK: %[[W0:.*]] = llvm.extractvalue %[[A0]][0]
// CHECK: %[[R0:.*]] = llvm.bitcast %[[W0]] : i32 to vector<2xf16>
// CHECK: %[[A1:.*]] = nvvm.ldmatrix
// CHECK: %[[W1:.*]] = llvm.extractvalue %[[A1]][0]
// CHECK: %[[R1:.*]] = llvm.bitcast %[[W1]] : i32 to vector<2xf16>
// CHECK: tcc.mma mma_sync [16, 8, 16] a(%[[R0]],
// CHECK: tcc.mma mma_sync [16, 8, 16] a(%[[R1]],
// CHECK: tcc.mma mma_sync [16, 8, 16] a(%[[R1]],
// CHECK: tcc.mma mma_sync [16, 8, 16] a(%[[R0]],
func.func @matmul(%C: memref<32x16xf32>) attributes {tcc.level = "L4"} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<32x16xf32, #c>
  %sa = tcc.alloc_shared : !tcc.shared<32x16xf16, #tcc.layout<contiguous = 1>>
  %sb = tcc.alloc_shared : !tcc.shared<16x16xf16, #tcc.layout<contiguous = 0>>
  %a = tcc.local_load %sa : !tcc.shared<32x16xf16, #tcc.layout<contiguous = 1>>
    -> tensor<32x16xf16, #a>
  %b = tcc.local_load %sb : !tcc.shared<16x16xf16, #tcc.layout<contiguous = 0>>
    -> tensor<16x16xf16, #b>
  %d = tcc.matmul %a, %b, %zero
    : tensor<32x16xf16, #a>, tensor<16x16xf16, #b>, tensor<32x16xf32, #c>
  tcc.store %d, %C[%c0, %c0] : tensor<32x16xf32, #c>, memref<32x16xf32>
  return
}

// Loops carry registers; a slice of rows is the registers of its atoms.
// CHECK-LABEL: func.func @loop_and_slice
// CHECK: %[[LOOP:.*]]:8 = scf.for {{.*}} -> (f32, f32, f32, f32, f32, f32, f32, f32)
// CHECK: llvm.store %[[LOOP]]#4
func.func @loop_and_slice(%C: memref<16x8xf32>, %n: index) attributes {tcc.level = "L4"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : tensor<32x8xf32, #c>
  %one = arith.constant dense<1.0> : tensor<32x8xf32, #c>
  %0 = scf.for %i = %c0 to %n step %c1 iter_args(%x = %zero) -> tensor<32x8xf32, #c> {
    %y = arith.addf %x, %one : tensor<32x8xf32, #c>
    scf.yield %y : tensor<32x8xf32, #c>
  }
  %1 = tensor.extract_slice %0[16, 0] [16, 8] [1, 1]
    : tensor<32x8xf32, #c> to tensor<16x8xf32, #c>
  tcc.store %1, %C[%c0, %c0] : tensor<16x8xf32, #c>, memref<16x8xf32>
  return
}
