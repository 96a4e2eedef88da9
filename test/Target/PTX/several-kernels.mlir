// RUN: tcc-translate --tcc-to-ptx --chip=sm_80 --split-input-file %s | FileCheck %s

// Kernels are compiled side by side, and the text is that of one module: one head, the shared
// memory that all have, then the kernels in their order.

// CHECK: .version
// CHECK-NEXT: .target sm_80
// CHECK: .extern .shared .align 16 .b8 dynamic[];
// CHECK: .visible .entry first(
// CHECK: st.volatile.shared.b32 [dynamic], 1;
// CHECK-NOT: .version
// CHECK-NOT: .extern
// CHECK: .visible .entry second(
// CHECK: st.volatile.shared.b32 [dynamic], 2;
gpu.module @kernels {
  llvm.mlir.global external @dynamic() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<0 x i8>
  llvm.func @first() attributes {nvvm.kernel} {
    %c = llvm.mlir.addressof @dynamic : !llvm.ptr<3>
    %one = llvm.mlir.constant(1 : i32) : i32
    llvm.store volatile %one, %c : i32, !llvm.ptr<3>
    llvm.return
  }
  llvm.func @second() attributes {nvvm.kernel} {
    %c = llvm.mlir.addressof @dynamic : !llvm.ptr<3>
    %two = llvm.mlir.constant(2 : i32) : i32
    llvm.store volatile %two, %c : i32, !llvm.ptr<3>
    llvm.return
  }
}

// -----

// What the module defines is there once: a table, a buffer, a function that kernels call.

// CHECK: .version
// CHECK-DAG: .shared .align 4 .b8 buffer[256];
// CHECK-DAG: .const .align 4 .b8 table[8]
// CHECK: .func helper()
// CHECK: .visible .entry one(
// CHECK-NOT: .func helper
// CHECK-NOT: buffer[256]
// CHECK: .visible .entry two(
gpu.module @callers {
  llvm.mlir.global private constant @table(dense<[1, 2]> : tensor<2xi32>) {addr_space = 4 : i32} : !llvm.array<2 x i32>
  llvm.mlir.global internal @buffer() {addr_space = 3 : i32} : !llvm.array<64 x i32>
  llvm.func @helper() attributes {no_inline} {
    llvm.return
  }
  llvm.func @one() attributes {nvvm.kernel} {
    llvm.call @helper() : () -> ()
    %b = llvm.mlir.addressof @buffer : !llvm.ptr<3>
    %zero = llvm.mlir.constant(0 : i32) : i32
    llvm.store volatile %zero, %b : i32, !llvm.ptr<3>
    llvm.return
  }
  llvm.func @two() attributes {nvvm.kernel} {
    llvm.call @helper() : () -> ()
    %t = llvm.mlir.addressof @table : !llvm.ptr<4>
    %b = llvm.mlir.addressof @buffer : !llvm.ptr<3>
    %first = llvm.load volatile %t : !llvm.ptr<4> -> i32
    llvm.store volatile %first, %b : i32, !llvm.ptr<3>
    llvm.return
  }
}
