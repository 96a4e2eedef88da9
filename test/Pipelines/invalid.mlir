// RUN: not tcc-translate %s --tcc-to-ptx --chip=sm_80 -split-input-file 2>&1 | FileCheck %s

// CHECK: error: is on the unknown level 'L9'
gpu.module @unknown [#nvvm.target<chip = "sm_80">] {
  func.func @kernel() attributes {tcc.level = "L9"} {
    return
  }
}

// -----

// CHECK: error: is on level L2, but another kernel of the module is on level L1; run the passes between them first
// CHECK: note: here
gpu.module @mixed [#nvvm.target<chip = "sm_80">] {
  func.func @first() attributes {tcc.level = "L1"} {
    return
  }
  func.func @second() attributes {tcc.level = "L2"} {
    return
  }
}
