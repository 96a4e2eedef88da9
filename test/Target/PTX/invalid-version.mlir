// RUN: tcc-translate --tcc-to-ptx --ptx-version=70 --split-input-file --verify-diagnostics %s

gpu.module @m [#nvvm.target<chip = "sm_80">] {
  llvm.func @movmatrix(%a: i32) attributes {nvvm.kernel} {
    // expected-error@below {{'movmatrix.sync.aligned.m8n8.trans.b16' needs PTX 7.8, and PTX 7.0 was asked for; without --ptx-version the lowest that works is used}}
    %b = llvm.inline_asm has_side_effects "movmatrix.sync.aligned.m8n8.trans.b16 $0, $1;", "=r,r" %a : (i32) -> i32
    llvm.return
  }
}

// -----

// expected-error@below {{'sm_90a' needs PTX 8.0, and PTX 7.0 was asked for}}
gpu.module @m [#nvvm.target<chip = "sm_90a">] {
  llvm.func @chip() attributes {nvvm.kernel} {
    llvm.return
  }
}
