// RUN: tcc-opt %s --tcc-map-grid -split-input-file -verify-diagnostics

// expected-error @below {{tcc-map-grid expects a kernel on level L3, found L2: run tcc-layout-shared and tcc-assign-fragments first}}
func.func @early() attributes {tcc.level = "L2"} {
  return
}

// -----

#s = #tcc.schedule<block = [32, 32, 32], warps = [1, 2], mma = mma_sync, transport = cp_async, stages = 2>
// expected-error @below {{expects one scf.forall over output tiles in its body, found 0 (L1.1)}}
func.func @no_tile_loop() attributes {tcc.level = "L3", tcc.schedule = #s} {
  return
}

// -----

#s = #tcc.schedule<block = [32, 32, 32], warps = [1, 2], mma = mma_sync, transport = cp_async, stages = 2>
func.func @one_dimension() attributes {tcc.level = "L3", tcc.schedule = #s} {
  // expected-error @below {{expects two dimensions, M and N, and no results (L1.1)}}
  scf.forall (%m) = (0) to (64) step (32) {
  }
  return
}

// -----

#s = #tcc.schedule<block = [32, 32, 32], warps = [1, 2], mma = mma_sync, transport = cp_async, stages = 2>
func.func @dynamic_step(%step: index) attributes {tcc.level = "L3", tcc.schedule = #s} {
  // expected-error @below {{expects lower bounds of 0 and constant steps (L1.1)}}
  scf.forall (%m, %n) = (0, 0) to (64, 64) step (%step, 32) {
  }
  return
}

// -----

#s = #tcc.schedule<block = [32, 32, 32], warps = [1, 2], mma = mma_sync, transport = cp_async, stages = 2>
func.func @bound_is_not_a_size(%size: index) attributes {tcc.level = "L3", tcc.schedule = #s} {
  // expected-error @below {{expects the bounds of the tile loop to be constants or sizes of arguments by memref.dim (L1.1)}}
  scf.forall (%m, %n) = (0, 0) to (%size, 64) step (32, 32) {
  }
  return
}

// -----

#s = #tcc.schedule<block = [32, 32, 32], warps = [1, 2], mma = mma_sync, transport = cp_async, stages = 2>
// expected-error @below {{expects 'tcc.dims' on argument 0, whose sizes the grid depends on (L0t.4)}}
func.func @nameless_size(%A: memref<?x?xf16>) attributes {tcc.level = "L3", tcc.schedule = #s} {
  %c0 = arith.constant 0 : index
  %M = memref.dim %A, %c0 : memref<?x?xf16>
  scf.forall (%m, %n) = (0, 0) to (%M, 64) step (32, 32) {
  }
  return
}

// -----

#s = #tcc.schedule<block = [32, 32, 32], warps = [1, 2], mma = mma_sync, transport = cp_async, stages = 2>
func.func @negative_bound() attributes {tcc.level = "L3", tcc.schedule = #s} {
  %size = arith.constant -64 : index
  // expected-error @below {{expects upper bounds that aren't negative, found -64}}
  scf.forall (%m, %n) = (0, 0) to (%size, 64) step (32, 32) {
  }
  return
}

// -----

#s = #tcc.schedule<block = [32, 32, 32], warps = [1, 2], mma = mma_sync, transport = cp_async, stages = 2>
func.func @no_such_dimension(%A: memref<?x?xf16> {tcc.dims = ["M", "K"]}) attributes {tcc.level = "L3", tcc.schedule = #s} {
  %c7 = arith.constant 7 : index
  %M = memref.dim %A, %c7 : memref<?x?xf16>
  // expected-error @below {{expects the bounds of the tile loop to be constants or sizes of arguments by memref.dim (L1.1)}}
  scf.forall (%m, %n) = (0, 0) to (%M, 64) step (32, 32) {
  }
  return
}

// -----

#s = #tcc.schedule<block = [32, 32, 32], warps = [1, 2], mma = mma_sync, transport = cp_async, stages = 2>
// expected-error @below {{expects a body of one block, found control flow between blocks}}
func.func @blocks() attributes {tcc.level = "L3", tcc.schedule = #s} {
  cf.br ^next
^next:
  return
}
