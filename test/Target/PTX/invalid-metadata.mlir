// RUN: tcc-translate --tcc-to-ptx --split-input-file --verify-diagnostics %s

gpu.module @m [#nvvm.target<chip = "sm_80">] {
  // expected-error@below {{tcc.metadata: }}
  llvm.func @no_json() attributes {nvvm.kernel, tcc.metadata = "{"} {
    llvm.return
  }
}

// -----

gpu.module @m [#nvvm.target<chip = "sm_80">] {
  // expected-error@below {{tcc.metadata: expected the entry 'kernel', found 'other'}}
  llvm.func @kernel() attributes {nvvm.kernel, tcc.metadata = "{\22schema\22: 1, \22name\22: \22k\22, \22entry\22: \22other\22, \22target\22: \22sm_80\22, \22arguments\22: [], \22grid\22: [1, 1, 1], \22block\22: [32, 1, 1]}"} {
    llvm.return
  }
}

// -----

gpu.module @m [#nvvm.target<chip = "sm_80">] {
  // expected-error@below {{tcc.metadata: expected the target 'sm_80', found 'sm_90'}}
  llvm.func @kernel() attributes {nvvm.kernel, tcc.metadata = "{\22schema\22: 1, \22name\22: \22k\22, \22entry\22: \22kernel\22, \22target\22: \22sm_90\22, \22arguments\22: [], \22grid\22: [1, 1, 1], \22block\22: [32, 1, 1]}"} {
    llvm.return
  }
}

// -----

// expected-error@below {{tcc.metadata: kernel}}
gpu.module @m [#nvvm.target<chip = "sm_80">] {
  llvm.func @kernel() attributes {nvvm.kernel, tcc.metadata = "{\22schema\22: 1, \22name\22: \22k\22, \22entry\22: \22kernel\22, \22target\22: \22sm_80\22, \22arguments\22: [], \22grid\22: [1, 1, 1], \22block\22: [0, 1, 1]}"} {
    llvm.return
  }
}
