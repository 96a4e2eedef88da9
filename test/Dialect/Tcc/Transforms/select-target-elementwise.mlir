// RUN: tcc-opt %s --split-input-file --tcc-select-target=chip=sm_80 | FileCheck %s

// Conditions and their constants are part of the reference.

// CHECK-LABEL: func.func @conditions(
// CHECK-SAME:    {dims = [], id = 5 : i64, op = "constant", type = i1, value = 1.000000e+00 : f64}
// CHECK-SAME:    {dims = ["M", "N"], id = 6 : i64, op = "xori", operands = [4, 5], type = i1}
func.func @conditions(%A: memref<16x16xf16>, %B: memref<16x16xf16>, %C: memref<16x16xf32>) {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  linalg.fill ins(%zero : f32) outs(%C : memref<16x16xf32>)
  linalg.matmul ins(%A, %B : memref<16x16xf16>, memref<16x16xf16>) outs(%C : memref<16x16xf32>)
  linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]}
      outs(%C : memref<16x16xf32>) {
  ^bb0(%x: f32):
    %true = arith.constant true
    %above = arith.cmpf ogt, %x, %zero : f32
    %not = arith.xori %above, %true : i1
    %r = arith.select %not, %one, %x : f32
    linalg.yield %r : f32
  }
  return
}

// -----

// A matmul by its body, whose factors stand the other way round and whose sum is rounded.

// CHECK-LABEL: func.func @body(
// CHECK-SAME:    op = "matmul"
func.func @body(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf16>) {
  linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>,
                                   affine_map<(m, n, k) -> (m, n)>],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%A, %B : memref<?x?xf16>, memref<?x?xf16>) outs(%C : memref<?x?xf16>) {
  ^bb0(%a: f16, %b: f16, %c: f16):
    %wide_a = arith.extf %a : f16 to f32
    %wide_b = arith.extf %b : f16 to f32
    %wide_c = arith.extf %c : f16 to f32
    %product = arith.mulf %wide_b, %wide_a : f32
    %sum = arith.addf %product, %wide_c : f32
    %narrow = arith.truncf %sum : f32 to f16
    linalg.yield %narrow : f16
  }
  return
}

// -----

// A value that is used twice is looked at once: 2^64 paths lead to the product.

// CHECK-LABEL: func.func @shared(
func.func @shared(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %v: memref<?xf32>, %C: memref<?x?xf32>) {
  linalg.matmul ins(%A, %B : memref<?x?xf16>, memref<?x?xf16>) outs(%C : memref<?x?xf32>)
  linalg.generic {indexing_maps = [affine_map<(n, m) -> (n)>, affine_map<(n, m) -> (m, n)>], iterator_types = ["parallel", "parallel"]}
      ins(%v : memref<?xf32>) outs(%C : memref<?x?xf32>) {
  ^bb0(%x: f32, %c: f32):
    %0 = arith.addf %x, %c : f32
    %1 = arith.addf %0, %0 : f32
    %2 = arith.addf %1, %1 : f32
    %3 = arith.addf %2, %2 : f32
    %4 = arith.addf %3, %3 : f32
    %5 = arith.addf %4, %4 : f32
    %6 = arith.addf %5, %5 : f32
    %7 = arith.addf %6, %6 : f32
    %8 = arith.addf %7, %7 : f32
    %9 = arith.addf %8, %8 : f32
    %10 = arith.addf %9, %9 : f32
    %11 = arith.addf %10, %10 : f32
    %12 = arith.addf %11, %11 : f32
    %13 = arith.addf %12, %12 : f32
    %14 = arith.addf %13, %13 : f32
    %15 = arith.addf %14, %14 : f32
    %16 = arith.addf %15, %15 : f32
    %17 = arith.addf %16, %16 : f32
    %18 = arith.addf %17, %17 : f32
    %19 = arith.addf %18, %18 : f32
    %20 = arith.addf %19, %19 : f32
    %21 = arith.addf %20, %20 : f32
    %22 = arith.addf %21, %21 : f32
    %23 = arith.addf %22, %22 : f32
    %24 = arith.addf %23, %23 : f32
    %25 = arith.addf %24, %24 : f32
    %26 = arith.addf %25, %25 : f32
    %27 = arith.addf %26, %26 : f32
    %28 = arith.addf %27, %27 : f32
    %29 = arith.addf %28, %28 : f32
    %30 = arith.addf %29, %29 : f32
    %31 = arith.addf %30, %30 : f32
    %32 = arith.addf %31, %31 : f32
    %33 = arith.addf %32, %32 : f32
    %34 = arith.addf %33, %33 : f32
    %35 = arith.addf %34, %34 : f32
    %36 = arith.addf %35, %35 : f32
    %37 = arith.addf %36, %36 : f32
    %38 = arith.addf %37, %37 : f32
    %39 = arith.addf %38, %38 : f32
    %40 = arith.addf %39, %39 : f32
    %41 = arith.addf %40, %40 : f32
    %42 = arith.addf %41, %41 : f32
    %43 = arith.addf %42, %42 : f32
    %44 = arith.addf %43, %43 : f32
    %45 = arith.addf %44, %44 : f32
    %46 = arith.addf %45, %45 : f32
    %47 = arith.addf %46, %46 : f32
    %48 = arith.addf %47, %47 : f32
    %49 = arith.addf %48, %48 : f32
    %50 = arith.addf %49, %49 : f32
    %51 = arith.addf %50, %50 : f32
    %52 = arith.addf %51, %51 : f32
    %53 = arith.addf %52, %52 : f32
    %54 = arith.addf %53, %53 : f32
    %55 = arith.addf %54, %54 : f32
    %56 = arith.addf %55, %55 : f32
    %57 = arith.addf %56, %56 : f32
    %58 = arith.addf %57, %57 : f32
    %59 = arith.addf %58, %58 : f32
    %60 = arith.addf %59, %59 : f32
    %61 = arith.addf %60, %60 : f32
    %62 = arith.addf %61, %61 : f32
    %63 = arith.addf %62, %62 : f32
    %64 = arith.addf %63, %63 : f32
    linalg.yield %64 : f32
  }
  return
}
