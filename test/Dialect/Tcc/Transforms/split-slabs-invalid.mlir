// RUN: tcc-opt %s --tcc-split-slabs -split-input-file -verify-diagnostics

// expected-error @below {{tcc-split-slabs expects a kernel on level L3g, found L4, which is past it}}
func.func @late() attributes {tcc.level = "L4"} {
  return
}

// -----

func.func @no_fragments(%K: index) attributes {tcc.level = "L3g"} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  %s = tcc.alloc_shared : !tcc.shared<16x32xf16>
  %t = tcc.alloc_shared : !tcc.shared<32x16xf16>
  %acc = scf.for %k = %c0 to %K step %c32 iter_args(%c = %zero) -> (tensor<16x16xf32>) {
    %a = tcc.local_load %s : !tcc.shared<16x32xf16> -> tensor<16x32xf16>
    %b = tcc.local_load %t : !tcc.shared<32x16xf16> -> tensor<32x16xf16>
    // expected-error @below {{expects operands from tcc.local_load, and fragments (L3.4): run tcc-assign-fragments first}}
    %d = tcc.matmul %a, %b, %c : tensor<16x32xf16>, tensor<32x16xf16>, tensor<16x16xf32>
    scf.yield %d : tensor<16x16xf32>
  }
  return
}

// -----

func.func @outside_a_loop(%a: tensor<16x16xf16>, %c: tensor<16x16xf32>) attributes {tcc.level = "L3g"} {
  // expected-error @below {{expects to stand in the body of an scf.for over K (L1.3)}}
  %d = tcc.matmul %a, %a, %c : tensor<16x16xf16>, tensor<16x16xf16>, tensor<16x16xf32>
  return
}

// -----

func.func @two_loops(%a: tensor<16x16xf16>, %zero: tensor<16x16xf32>, %K: index) attributes {tcc.level = "L3g"} {
  // expected-note @below {{another loop with a matmul is here}}
  %0 = scf.for %k = %K to %K step %K iter_args(%c = %zero) -> (tensor<16x16xf32>) {
    %d = tcc.matmul %a, %a, %c : tensor<16x16xf16>, tensor<16x16xf16>, tensor<16x16xf32>
    scf.yield %d : tensor<16x16xf32>
  }
  %1 = scf.for %k = %K to %K step %K iter_args(%c = %zero) -> (tensor<16x16xf32>) {
    // expected-error @below {{expects all matmuls of a kernel in one loop (L1.3)}}
    %d = tcc.matmul %a, %a, %c : tensor<16x16xf16>, tensor<16x16xf16>, tensor<16x16xf32>
    scf.yield %d : tensor<16x16xf32>
  }
  return
}

// -----

func.func @accumulator_from_outside(%a: tensor<16x16xf16>, %zero: tensor<16x16xf32>, %K: index) attributes {tcc.level = "L3g"} {
  %0 = scf.for %k = %K to %K step %K iter_args(%c = %zero) -> (tensor<16x16xf32>) {
    // expected-error @below {{expects an iteration argument of the loop as accumulator (L1.3)}}
    %d = tcc.matmul %a, %a, %zero : tensor<16x16xf16>, tensor<16x16xf16>, tensor<16x16xf32>
    scf.yield %d : tensor<16x16xf32>
  }
  return
}

// -----

func.func @accumulator_is_lost(%a: tensor<16x16xf16>, %zero: tensor<16x16xf32>, %K: index) attributes {tcc.level = "L3g"} {
  %0 = scf.for %k = %K to %K step %K iter_args(%c = %zero) -> (tensor<16x16xf32>) {
    %d = tcc.matmul %a, %a, %c : tensor<16x16xf16>, tensor<16x16xf16>, tensor<16x16xf32>
    // expected-error @below {{expects to yield the matmul's result as accumulator (L1.3)}}
    scf.yield %c : tensor<16x16xf32>
  }
  return
}
