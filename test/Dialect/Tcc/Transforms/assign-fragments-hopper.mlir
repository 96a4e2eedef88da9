// RUN: tcc-opt %s --tcc-assign-fragments | FileCheck %s

#tma = #tcc.schedule<block = [64, 64, 64], warps = [4, 1], mma = wgmma, transport = tma, stages = 3,
                     roles = ping_pong, persistent = true, epilogue = tma, chunk = 32>
#shared = #tcc.schedule<block = [64, 64, 64], warps = [4, 1], mma = wgmma, transport = tma, stages = 3,
                        roles = ping_pong, persistent = true, epilogue = shared>
#swapped = #tcc.schedule<block = [24, 64, 64], warps = [1, 4], mma = wgmma, transport = tma, stages = 3,
                         roles = cooperative, epilogue = tma, chunk = 8, swapped = true>
#row = #tcc.layout<contiguous = 1, span = 128>
#line = #tcc.layout<contiguous = 1, span = 64>
#dense = #tcc.layout<contiguous = 1>
!operand = !tcc.shared<64x64xf16, #row>

gpu.module @m [#nvvm.target<chip = "sm_90a">] {
  // Columns of an accumulator of wgmma are the fragment of a narrower atom; what is loaded for them
  // has it too.
  // CHECK-LABEL: func.func @columns
  // CHECK:         %[[ACC:.*]] = scf.for {{.*}} -> (tensor<64x64xf32, #tcc.fragment<wgmma, c, shape = [64, 64, 16], warps = [4, 1]>>)
  // CHECK:         %[[S:.*]] = tensor.extract_slice %[[ACC]][0, 32] {{.*}} to tensor<64x32xf32, #tcc.fragment<wgmma, c, shape = [64, 32, 16], warps = [4, 1]>>
  // CHECK:         %[[OLD:.*]] = tcc.load {{.*}} -> tensor<64x32xf16, #tcc.fragment<wgmma, c, shape = [64, 32, 16], warps = [4, 1]>>
  // CHECK:         tcc.local_store %{{.*}} : tensor<64x32xf16, #tcc.fragment<wgmma, c, shape = [64, 32, 16], warps = [4, 1]>>
  func.func @columns(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf16>)
      attributes {tcc.level = "L2", tcc.schedule = #tma} {
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant dense<0.0> : tensor<64x64xf32>
    scf.forall (%m, %n) = (0, 0) to (%c64, %c64) step (64, 64) {
      %sa = tcc.alloc_shared : !operand
      %sb = tcc.alloc_shared : !operand
      %sc = tcc.alloc_shared : !tcc.shared<64x32xf16, #line>
      %acc = scf.for %k = %c0 to %c64 step %c64 iter_args(%c = %zero) -> (tensor<64x64xf32>) {
        tcc.copy tma %A[%m, %k], %sa {bytes = 16 : i64} : memref<?x?xf16>, !operand
        tcc.copy tma %B[%k, %n], %sb {bytes = 16 : i64} : memref<?x?xf16>, !operand
        %d = tcc.matmul %sa, %sb, %c : !operand, !operand, tensor<64x64xf32>
        scf.yield %d : tensor<64x64xf32>
      }
      %s = tensor.extract_slice %acc[0, 32] [64, 32] [1, 1] : tensor<64x64xf32> to tensor<64x32xf32>
      %n1 = arith.addi %n, %c32 : index
      %old = tcc.load %C[%m, %n1] {bytes = 4 : i64} : memref<?x?xf16> -> tensor<64x32xf16>
      %wide = arith.extf %old : tensor<64x32xf16> to tensor<64x32xf32>
      %sum = arith.addf %s, %wide : tensor<64x32xf32>
      %r = arith.truncf %sum : tensor<64x32xf32> to tensor<64x32xf16>
      tcc.local_store %r, %sc : tensor<64x32xf16>, !tcc.shared<64x32xf16, #line>
      tcc.bulk_store %sc, %C[%m, %n1] : !tcc.shared<64x32xf16, #line>, memref<?x?xf16>
    }
    return
  }

  // Rows from a staging buffer are dealt to the 128 threads that share the tile, not to the block's 384.
  // CHECK-LABEL: func.func @rows
  // CHECK:         tcc.local_load {{.*}} -> tensor<64x64xf32, #tcc.blocked<vector = 4, contiguous = 1, threads = 128>>
  func.func @rows(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf32>)
      attributes {tcc.level = "L2", tcc.schedule = #shared} {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant dense<0.0> : tensor<64x64xf32>
    scf.forall (%m, %n) = (0, 0) to (%c64, %c64) step (64, 64) {
      %sa = tcc.alloc_shared : !operand
      %sb = tcc.alloc_shared : !operand
      %sc = tcc.alloc_shared : !tcc.shared<64x64xf32, #dense>
      %acc = scf.for %k = %c0 to %c64 step %c64 iter_args(%c = %zero) -> (tensor<64x64xf32>) {
        tcc.copy tma %A[%m, %k], %sa {bytes = 16 : i64} : memref<?x?xf16>, !operand
        tcc.copy tma %B[%k, %n], %sb {bytes = 16 : i64} : memref<?x?xf16>, !operand
        %d = tcc.matmul %sa, %sb, %c : !operand, !operand, tensor<64x64xf32>
        scf.yield %d : tensor<64x64xf32>
      }
      %s = tensor.extract_slice %acc[0, 0] [64, 64] [1, 1] : tensor<64x64xf32> to tensor<64x64xf32>
      tcc.local_store %s, %sc : tensor<64x64xf32>, !tcc.shared<64x64xf32, #dense>
      %t = tcc.local_load %sc : !tcc.shared<64x64xf32, #dense> -> tensor<64x64xf32>
      tcc.store %t, %C[%m, %n] {bytes = 16 : i64} : tensor<64x64xf32>, memref<?x?xf32>
    }
    return
  }

  // With swapped operands the tile is the transpose of the atoms': its rows are their columns.
  // CHECK-LABEL: func.func @swapped
  // CHECK:         %[[ACC:.*]] = scf.for {{.*}} -> (tensor<24x64xf32, #tcc.fragment<wgmma, c, shape = [64, 24, 16], warps = [4, 1], transposed = true>>)
  // CHECK:         tensor.extract_slice %[[ACC]][16, 0] {{.*}} to tensor<8x64xf32, #tcc.fragment<wgmma, c, shape = [64, 8, 16], warps = [4, 1], transposed = true>>
  func.func @swapped(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf32>)
      attributes {tcc.level = "L2", tcc.schedule = #swapped} {
    %c0 = arith.constant 0 : index
    %c24 = arith.constant 24 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant dense<0.0> : tensor<24x64xf32>
    scf.forall (%m, %n) = (0, 0) to (%c24, %c64) step (24, 64) {
      %sa = tcc.alloc_shared : !tcc.shared<24x64xf16, #row>
      %sb = tcc.alloc_shared : !operand
      %acc = scf.for %k = %c0 to %c64 step %c64 iter_args(%c = %zero) -> (tensor<24x64xf32>) {
        tcc.copy tma %A[%m, %k], %sa {bytes = 16 : i64} : memref<?x?xf16>, !tcc.shared<24x64xf16, #row>
        tcc.copy tma %B[%k, %n], %sb {bytes = 16 : i64} : memref<?x?xf16>, !operand
        %d = tcc.matmul %sa, %sb, %c : !tcc.shared<24x64xf16, #row>, !operand, tensor<24x64xf32>
        scf.yield %d : tensor<24x64xf32>
      }
      %s = tensor.extract_slice %acc[16, 0] [8, 64] [1, 1] : tensor<24x64xf32> to tensor<8x64xf32>
      tcc.store %s, %C[%m, %n] {bytes = 4 : i64} : tensor<8x64xf32>, memref<?x?xf32>
    }
    return
  }
}
