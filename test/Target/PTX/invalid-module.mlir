// RUN: tcc-translate --tcc-to-ptx --split-input-file --verify-diagnostics %s

// expected-error@below {{expected a chip: give --chip, or a gpu.module with an #nvvm.target}}
module {
  llvm.func @no_chip() attributes {nvvm.kernel} {
    llvm.return
  }
}

// -----

// expected-error@below {{unknown chip 'sm_99'; known are sm_70,}}
gpu.module @unknown_chip [#nvvm.target<chip = "sm_99">] {
}

// -----

// expected-error@below {{expected one target, found 2}}
gpu.module @two_targets [#nvvm.target<chip = "sm_80">, #nvvm.target<chip = "sm_86">] {
}

// -----

module {
  // expected-note@below {{the first one}}
  gpu.module @first [#nvvm.target<chip = "sm_80">] {
  }
  // expected-error@below {{expected the target of the first gpu.module, since a PTX file has one; put the other into a file of its own}}
  gpu.module @second [#nvvm.target<chip = "sm_86">] {
  }
}

// -----

module {
  gpu.module @first [#nvvm.target<chip = "sm_80">] {
    // expected-note@below {{the other one}}
    llvm.func @kernel() attributes {nvvm.kernel} {
      llvm.return
    }
  }
  gpu.module @second [#nvvm.target<chip = "sm_80">] {
    // expected-error@below {{'kernel' is in two of the modules that become one PTX file; rename one of them}}
    llvm.func @kernel() attributes {nvvm.kernel} {
      llvm.return
    }
  }
}

// -----

// expected-error@below {{expected a kernel: an llvm.func with the attribute nvvm.kernel}}
gpu.module @no_kernel [#nvvm.target<chip = "sm_80">] {
  llvm.func @helper() {
    llvm.return
  }
}

// -----

gpu.module @leftover [#nvvm.target<chip = "sm_80">] {
  llvm.func @kernel() attributes {nvvm.kernel} {
    // expected-error@below {{expected only llvm and nvvm ops in a module that becomes PTX}}
    %c = arith.constant 0 : i32
    llvm.return
  }
}

// -----

gpu.module @library_call [#nvvm.target<chip = "sm_80">] {
  llvm.func @__nv_expf(f32) -> f32
  llvm.func @kernel(%x: f32, %out: !llvm.ptr<1>) attributes {nvvm.kernel} {
    // expected-error@below {{'__nv_expf' is called, and nothing defines it: PTX from tcc links with no library}}
    %y = llvm.call @__nv_expf(%x) : (f32) -> f32
    llvm.store %y, %out : f32, !llvm.ptr<1>
    llvm.return
  }
}

// -----

gpu.module @indirect_call [#nvvm.target<chip = "sm_80">] {
  llvm.func @kernel(%f: !llvm.ptr) attributes {nvvm.kernel} {
    // expected-error@below {{expected a direct call}}
    llvm.call %f() : !llvm.ptr, () -> ()
    llvm.return
  }
}

// -----

gpu.module @declared [#nvvm.target<chip = "sm_80">] {
  // expected-error@below {{expected a kernel with a body}}
  llvm.func @kernel() attributes {nvvm.kernel}
}

// -----

gpu.module @result [#nvvm.target<chip = "sm_80">] {
  // expected-error@below {{expected a kernel that returns nothing, found one that returns 'i32'}}
  llvm.func @kernel(%x: i32) -> i32 attributes {nvvm.kernel} {
    llvm.return %x : i32
  }
}

// -----

gpu.module @library_intrinsic [#nvvm.target<chip = "sm_80">] {
  llvm.func @kernel(%x: f32, %out: !llvm.ptr<1>) attributes {nvvm.kernel} {
    // expected-error@below {{'llvm.exp.f32' is called, and nothing defines it}}
    %y = llvm.intr.exp(%x) : (f32) -> f32
    llvm.store %y, %out : f32, !llvm.ptr<1>
    llvm.return
  }
}

// -----

gpu.module @name [#nvvm.target<chip = "sm_80">] {
  // expected-error@below {{'not a name' can't be a kernel's name in PTX: expected letters, digits, _ and $, not beginning with a digit}}
  llvm.func @"not a name"() attributes {nvvm.kernel} {
    llvm.return
  }
}

// -----

gpu.module @name [#nvvm.target<chip = "sm_80">] {
  // expected-error@below {{'a.b' can't be a kernel's name in PTX: expected letters, digits, _ and $, not beginning with a digit}}
  llvm.func @"a.b"() attributes {nvvm.kernel} {
    llvm.return
  }
}

// -----

gpu.module @name [#nvvm.target<chip = "sm_80">] {
  // expected-error@below {{'42' can't be a kernel's name in PTX: expected letters, digits, _ and $, not beginning with a digit}}
  llvm.func @"42"() attributes {nvvm.kernel} {
    llvm.return
  }
}

// -----

gpu.module @name [#nvvm.target<chip = "sm_80">] {
  // expected-error@below {{'WARP_SZ' can't be a kernel's name in PTX: expected letters, digits, _ and $, not beginning with a digit}}
  llvm.func @"WARP_SZ"() attributes {nvvm.kernel} {
    llvm.return
  }
}
