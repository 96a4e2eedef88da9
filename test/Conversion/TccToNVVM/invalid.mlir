// RUN: tcc-opt %s --convert-tcc-to-nvvm -split-input-file -verify-diagnostics

// expected-error@+1 {{convert-tcc-to-nvvm expects a kernel on level L4d, found L4}}
func.func @too_early() attributes {tcc.level = "L4"} {
  return
}

// -----

// expected-error@+1 {{expects the number of threads, 'tcc.block'; tcc-map-grid sets it}}
func.func @no_block() attributes {tcc.level = "L4d"} {
  return
}

// -----

// expected-error@+1 {{has an argument of type 'memref<4xf32>', which is no parameter; run tcc-finalize-kernel first}}
func.func @matrix(%A: memref<4xf32>) attributes {tcc.level = "L4d", tcc.block = 32 : i64} {
  return
}

// -----

func.func @buffer() attributes {tcc.level = "L4d", tcc.block = 32 : i64} {
  // expected-error@+1 {{is not a thread's op; run tcc-distribute, tcc-lower-pipeline and tcc-finalize-kernel first}}
  %s = tcc.alloc_shared : !tcc.shared<16x16xf16>
  return
}

// -----

func.func @no_expansion(%p: !llvm.ptr<1>) attributes {tcc.level = "L4d", tcc.block = 32 : i64} {
  %x = llvm.load %p : !llvm.ptr<1> -> f64
  // expected-error@+1 {{has no expansion for 'f64', and a kernel can't call a library}}
  %0 = math.tanh %x : f64
  llvm.store %0, %p : f64, !llvm.ptr<1>
  return
}
