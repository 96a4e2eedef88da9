// RUN: tcc-opt %s --canonicalize | FileCheck %s

#rows = #tcc.blocked<vector = 4, contiguous = 1, threads = 256>
#columns = #tcc.blocked<vector = 4, contiguous = 0, threads = 256>

// CHECK-LABEL: func.func @conversion_to_the_same_layout
// CHECK-SAME: (%[[T:.*]]: tensor
// CHECK-NEXT: return %[[T]]
func.func @conversion_to_the_same_layout(%t: tensor<32x64xf32, #rows>)
    -> tensor<32x64xf32, #rows> {
  %0 = tcc.convert_layout %t : tensor<32x64xf32, #rows> -> tensor<32x64xf32, #rows>
  return %0 : tensor<32x64xf32, #rows>
}

// CHECK-LABEL: func.func @conversion_there_and_back
// CHECK-SAME: (%[[T:.*]]: tensor
// CHECK-NEXT: return %[[T]]
func.func @conversion_there_and_back(%t: tensor<32x64xf32, #rows>) -> tensor<32x64xf32, #rows> {
  %0 = tcc.convert_layout %t : tensor<32x64xf32, #rows> -> tensor<32x64xf32, #columns>
  %1 = tcc.convert_layout %0 : tensor<32x64xf32, #columns> -> tensor<32x64xf32, #rows>
  return %1 : tensor<32x64xf32, #rows>
}
