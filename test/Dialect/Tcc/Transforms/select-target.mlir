// RUN: tcc-opt %s --split-input-file --tcc-select-target=chip=sm_80 | FileCheck %s

// Sizes known at launch: five variants, by what rows of A, B and C are aligned to.

// CHECK-LABEL: gpu.module @dynamic [#nvvm.target<chip = "sm_80">] {
// CHECK:       func.func @dynamic(
// CHECK-SAME:    memref<?x?xf16> {tcc.dims = ["M", "K"], tcc.direction = "in", tcc.name = "A"}
// CHECK-SAME:    memref<?x?xf16> {tcc.dims = ["K", "N"], tcc.direction = "in", tcc.name = "B"}
// CHECK-SAME:    memref<?x?xf32> {tcc.dims = ["M", "N"], tcc.direction = "out", tcc.name = "C"}
// CHECK-SAME:    tcc.kernel = "dynamic", tcc.level = "L0t"
// CHECK-SAME:    tcc.preconditions = ["A.ptr % 16 == 0", "A.stride0 * 2 % 16 == 0", "B.ptr % 16 == 0", "B.stride0 * 2 % 16 == 0", "C.ptr % 16 == 0", "C.stride0 * 4 % 16 == 0"]
// CHECK-SAME:    tcc.reference = [
// CHECK-SAME:      {argument = "A", dims = ["M", "K"], id = 0 : i64, op = "input", type = f16},
// CHECK-SAME:      {argument = "B", dims = ["K", "N"], id = 1 : i64, op = "input", type = f16},
// CHECK-SAME:      {dims = ["M", "N"], id = 2 : i64, op = "matmul", operands = [0, 1], type = f32},
// CHECK-SAME:      {argument = "C", node = 2 : i64, op = "output"}]
// CHECK-SAME:    tcc.schedule = #tcc.schedule<block = [128, 256, 64], warps = [2, 4], mma = mma_sync, transport = cp_async, stages = 3, alignment = [16, 16, 16], raster = 8>
// CHECK-SAME:    tcc.variant = "align16"
// CHECK:         linalg.matmul
// CHECK:       func.func @dynamic_align16_narrow_store(
// CHECK-SAME:    tcc.kernel = "dynamic"
// CHECK-SAME:    tcc.preconditions = ["A.ptr % 16 == 0", "A.stride0 * 2 % 16 == 0", "B.ptr % 16 == 0", "B.stride0 * 2 % 16 == 0"]
// CHECK-SAME:    alignment = [16, 16, 4]
// CHECK:       func.func @dynamic_align8(
// CHECK-SAME:    tcc.preconditions = ["A.ptr % 8 == 0", "A.stride0 * 2 % 8 == 0", "B.ptr % 8 == 0", "B.stride0 * 2 % 8 == 0"]
// CHECK-SAME:    transport = cp_async
// CHECK-SAME:    alignment = [8, 8, 4]
// CHECK:       func.func @dynamic_align4(
// CHECK-SAME:    tcc.preconditions = ["A.ptr % 4 == 0", "A.stride0 * 2 % 4 == 0", "B.ptr % 4 == 0", "B.stride0 * 2 % 4 == 0"]
// CHECK-SAME:    transport = cp_async
// CHECK-SAME:    alignment = [4, 4, 4]
// CHECK:       func.func @dynamic_align2(
// CHECK-SAME:    tcc.preconditions = []
// CHECK-SAME:    transport = register, stages = 2, alignment = [2, 2, 4]
// CHECK-NOT:   func.func
func.func @dynamic(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%C : memref<?x?xf32>)
  linalg.matmul ins(%A, %B : memref<?x?xf16>, memref<?x?xf16>) outs(%C : memref<?x?xf32>)
  return
}

// -----

// Static strides that are multiples of 16 bytes: only the pointers are left to check.

// CHECK-LABEL: func.func @static_aligned(
// CHECK-SAME:    tcc.preconditions = ["A.ptr % 16 == 0", "B.ptr % 16 == 0", "C.ptr % 16 == 0"]
// CHECK:       func.func @static_aligned_align2(
// CHECK-SAME:    tcc.preconditions = []
// CHECK-NOT:   func.func
func.func @static_aligned(%A: memref<256x128xf16>, %B: memref<128x512xf16>, %C: memref<256x512xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%C : memref<256x512xf32>)
  linalg.matmul ins(%A, %B : memref<256x128xf16>, memref<128x512xf16>) outs(%C : memref<256x512xf32>)
  return
}

// -----

// Odd rows of A rule out everything but single elements.

// CHECK-LABEL: func.func @static_odd(
// CHECK-SAME:    tcc.preconditions = []
// CHECK-SAME:    transport = register
// CHECK-SAME:    tcc.variant = "align2"
// CHECK-NOT:   func.func
func.func @static_odd(%A: memref<17x65xf16>, %B: memref<65x33xf16>, %C: memref<17x33xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%C : memref<17x33xf32>)
  linalg.matmul ins(%A, %B : memref<17x65xf16>, memref<65x33xf16>) outs(%C : memref<17x33xf32>)
  return
}

// -----

// Names of arguments and dimensions are the user's; a column-major operand's rows are its columns.

// CHECK-LABEL: func.func @named(
// CHECK-SAME:    {tcc.dims = ["rows", "depth"], tcc.direction = "in", tcc.name = "lhs"}
// CHECK-SAME:    {tcc.dims = ["depth", "cols"], tcc.direction = "in", tcc.name = "B"}
// CHECK-SAME:    {tcc.dims = ["rows", "cols"], tcc.direction = "inout", tcc.name = "result"}
// CHECK-SAME:    tcc.preconditions = ["lhs.ptr % 16 == 0", "lhs.stride0 * 2 % 16 == 0", "B.ptr % 16 == 0", "B.stride1 * 2 % 16 == 0",
// CHECK-SAME:      "result.ptr % 16 == 0", "result.stride0 * 4 % 16 == 0"]
func.func @named(%A: memref<?x?xf16> {tcc.name = "lhs", tcc.dims = ["rows", "depth"]},
                 %B: memref<?x?xf16, strided<[1, ?]>>,
                 %C: memref<?x?xf32> {tcc.name = "result", tcc.dims = ["rows", "cols"]}) {
  linalg.matmul ins(%A, %B : memref<?x?xf16>, memref<?x?xf16, strided<[1, ?]>>) outs(%C : memref<?x?xf32>)
  return
}

// -----

// What one argument knows statically, all know.

// CHECK-LABEL: func.func @refined(
// CHECK-SAME:    memref<?x64xf16> {tcc.dims = ["M", "K"]
// CHECK-SAME:    memref<64x?xf16> {tcc.dims = ["K", "N"]
// CHECK:         memref.cast %{{.*}} : memref<64x?xf16> to memref<?x?xf16>
func.func @refined(%A: memref<?x64xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf32>) {
  linalg.matmul ins(%A, %B : memref<?x64xf16>, memref<?x?xf16>) outs(%C : memref<?x?xf32>)
  return
}

// -----

// Tensors become memrefs; the result goes to its destination's.

// CHECK-LABEL: func.func @tensors(
// CHECK-SAME:    %[[A:[a-z0-9]+]]: memref<?x?xf16> {tcc.dims = ["M", "K"]
// CHECK-SAME:    %[[B:[a-z0-9]+]]: memref<?x?xf16> {tcc.dims = ["K", "N"]
// CHECK-SAME:    %[[C:[a-z0-9]+]]: memref<?x?xf32> {tcc.dims = ["M", "N"], tcc.direction = "out", tcc.name = "C"})
// CHECK:         bufferization.to_tensor %[[A]] restrict
// CHECK:         bufferization.materialize_in_destination %{{.*}} in restrict writable %[[C]]
// CHECK-NEXT:    return
func.func @tensors(%A: tensor<?x?xf16>, %B: tensor<?x?xf16>, %m: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %zero = arith.constant 0.0 : f32
  %init = linalg.fill ins(%zero : f32) outs(%m : tensor<?x?xf32>) -> tensor<?x?xf32>
  %r = linalg.matmul ins(%A, %B : tensor<?x?xf16>, tensor<?x?xf16>) outs(%init : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// -----

// A result without a destination among the arguments becomes the last argument.

// CHECK-LABEL: func.func @new_result(
// CHECK-SAME:    memref<64x64xf32> {tcc.dims = ["M", "N"], tcc.direction = "out", tcc.name = "C"})
func.func @new_result(%A: tensor<64x64xf16>, %B: tensor<64x64xf16>) -> tensor<64x64xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x64xf32>
  %init = linalg.fill ins(%zero : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %r = linalg.matmul ins(%A, %B : tensor<64x64xf16>, tensor<64x64xf16>) outs(%init : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %r : tensor<64x64xf32>
}

// -----

// A tile program keeps its body and its tile; it has no reference.

// CHECK-LABEL: func.func @tiles(
// CHECK-SAME:    {tcc.dims = ["M", "K"], tcc.direction = "in", tcc.name = "A"}
// CHECK-SAME:    {tcc.dims = ["N", "K"], tcc.direction = "in", tcc.name = "B"}
// CHECK-SAME:    {tcc.dims = ["M", "N"], tcc.direction = "inout", tcc.name = "C"}
// CHECK-SAME:    tcc.level = "L1"
// CHECK-NOT:     tcc.reference
// CHECK-SAME:    block = [64, 128, 32]
// CHECK:         scf.forall
func.func @tiles(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %M = memref.dim %A, %c0 : memref<?x?xf16>
  %K = memref.dim %A, %c1 : memref<?x?xf16>
  %N = memref.dim %B, %c0 : memref<?x?xf16>
  %Bt = memref.transpose %B (i, j) -> (j, i) : memref<?x?xf16> to memref<?x?xf16, strided<[1, ?]>>
  scf.forall (%m, %n) = (0, 0) to (%M, %N) step (64, 128) {
    %zero = arith.constant dense<0.0> : tensor<64x128xf32>
    %acc = scf.for %k = %c0 to %K step %c32 iter_args(%c = %zero) -> (tensor<64x128xf32>) {
      %a = tcc.load %A[%m, %k] : memref<?x?xf16> -> tensor<64x32xf16>
      %b = tcc.load %Bt[%k, %n] : memref<?x?xf16, strided<[1, ?]>> -> tensor<32x128xf16>
      %d = tcc.matmul %a, %b, %c : tensor<64x32xf16>, tensor<32x128xf16>, tensor<64x128xf32>
      scf.yield %d : tensor<64x128xf32>
    }
    %old = tcc.load %C[%m, %n] : memref<?x?xf32> -> tensor<64x128xf32>
    %sum = arith.addf %acc, %old : tensor<64x128xf32>
    tcc.store %sum, %C[%m, %n] : tensor<64x128xf32>, memref<?x?xf32>
  }
  return
}

// -----

// The reference says where the program allows approximate functions, and only of functions.

// CHECK-LABEL: func.func @approximate(
// CHECK-SAME:    {approximate = true, dims = ["M", "N"], id = 3 : i64, op = "tanh", operands = [2], type = f32}
// CHECK-SAME:    {dims = ["M", "N"], id = 4 : i64, op = "exp", operands = [3], type = f32}
// CHECK-SAME:    {dims = ["M", "N"], id = 5 : i64, op = "addf", operands = [4, 4], type = f32}
func.func @approximate(%A: memref<16x16xf16>, %B: memref<16x16xf16>, %C: memref<16x16xf32>) {
  %zero = arith.constant 0.0 : f32
  %acc = memref.alloc() : memref<16x16xf32>
  linalg.fill ins(%zero : f32) outs(%acc : memref<16x16xf32>)
  linalg.matmul ins(%A, %B : memref<16x16xf16>, memref<16x16xf16>) outs(%acc : memref<16x16xf32>)
  linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]}
      ins(%acc : memref<16x16xf32>) outs(%C : memref<16x16xf32>) {
  ^bb0(%x: f32, %out: f32):
    %0 = math.tanh %x fastmath<afn> : f32
    %1 = math.exp %0 : f32
    %2 = arith.addf %1, %1 fastmath<fast> : f32
    linalg.yield %2 : f32
  }
  return
}
