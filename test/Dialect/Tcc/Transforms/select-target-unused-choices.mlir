// RUN: tcc-opt %s --split-input-file --verify-diagnostics --tcc-select-target=chip=sm_90a

// A choice in a written schedule that no variant can use is not dropped in silence.

// expected-warning @below {{no variant can use the schedule's transport = tma; the first one has instead: block = [64, 64, 32], warps = [4, 1], transport = register, stages = 2, roles = uniform; write that, or mend what the notes say}}
func.func @rows(%A: memref<64x128xf16>,
    // expected-note @below {{rows of B are 130 bytes apart, but tma needs a multiple of 16: pad them to 72 elements}}
    %B: memref<128x65xf16>, %C: memref<64x65xf32>)
    attributes {tcc.schedule = #tcc.schedule<block = [128, 128, 64], warps = [8, 1], mma = wgmma, transport = tma, stages = 4, roles = cooperative>} {
  linalg.matmul ins(%A, %B : memref<64x128xf16>, memref<128x65xf16>) outs(%C : memref<64x65xf32>)
  return
}

// What the warning says is then taken without one.
func.func @as_told(%A: memref<64x128xf16>, %B: memref<128x65xf16>, %C: memref<64x65xf32>)
    attributes {tcc.schedule = #tcc.schedule<block = [64, 64, 32], warps = [4, 1], mma = wgmma, transport = register, stages = 2>} {
  linalg.matmul ins(%A, %B : memref<64x128xf16>, memref<128x65xf16>) outs(%C : memref<64x65xf32>)
  return
}

// -----

// Both matrices, with rows that cp.async can copy.
// expected-warning @below {{no variant can use the schedule's transport = tma; the first one has instead: block = [64, 64, 64], warps = [4, 1], transport = cp_async, stages = 8, roles = uniform}}
func.func @both(
    // expected-note @below {{columns of A are 136 bytes apart, but tma needs a multiple of 16: pad them to 72 elements}}
    %A: memref<68x64xf16, strided<[1, 68]>>,
    // expected-note @below {{rows of B are 152 bytes apart, but tma needs a multiple of 16: pad them to 80 elements}}
    %B: memref<64x72xf16, strided<[76, 1]>>, %C: memref<68x72xf32>)
    attributes {tcc.schedule = #tcc.schedule<block = [128, 128, 64], warps = [8, 1], mma = wgmma, transport = tma, stages = 4, roles = cooperative>} {
  linalg.matmul ins(%A, %B : memref<68x64xf16, strided<[1, 68]>>, memref<64x72xf16, strided<[76, 1]>>) outs(%C : memref<68x72xf32>)
  return
}

// -----

// expected-warning @below {{no variant can use the schedule's transport = cp_async; the first one has instead: transport = register, stages = 2}}
func.func @cp_async(
    // expected-note @below {{rows of A are 66 bytes apart, but cp_async needs a multiple of 4: pad them to 34 elements}}
    %A: memref<64x33xf16>, %B: memref<33x64xf16>, %C: memref<64x64xf32>)
    attributes {tcc.schedule = #tcc.schedule<block = [64, 64, 32], warps = [2, 2], mma = mma_sync, transport = cp_async, stages = 4>} {
  linalg.matmul ins(%A, %B : memref<64x33xf16>, memref<33x64xf16>) outs(%C : memref<64x64xf32>)
  return
}

// -----

// expected-warning @below {{no variant can use the schedule's transport = tma}}
// expected-note @below {{the schedule's alignment = [16, 8, 16] allows accesses of fewer bytes than the 16 that tma needs}}
func.func @cap(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf32>)
    attributes {tcc.schedule = #tcc.schedule<block = [128, 128, 64], warps = [8, 1], mma = wgmma, transport = tma, stages = 4, roles = cooperative, alignment = [16, 8, 16]>} {
  linalg.matmul ins(%A, %B : memref<?x?xf16>, memref<?x?xf16>) outs(%C : memref<?x?xf32>)
  return
}

// -----

// expected-warning @below {{no variant can use the schedule's transport = tma}}
// expected-note @below {{K is 0, and tma copies no empty matrices}}
func.func @empty(%A: memref<64x0xf16>, %B: memref<0x64xf16>, %C: memref<64x64xf32>)
    attributes {tcc.schedule = #tcc.schedule<block = [128, 128, 64], warps = [8, 1], mma = wgmma, transport = tma, stages = 4, roles = cooperative>} {
  linalg.matmul ins(%A, %B : memref<64x0xf16>, memref<0x64xf16>) outs(%C : memref<64x64xf32>)
  return
}

// -----

// expected-warning @below {{no variant can use the schedule's epilogue = tma; the first one has instead: epilogue = direct, chunk = 0}}
func.func @epilogue(%A: memref<64x64xf16>, %B: memref<64x72xf16, strided<[72, 1]>>,
    // expected-note @below {{rows of C are 148 bytes apart, but epilogue = tma needs a multiple of 16: pad them to 80 elements}}
    %C: memref<64x72xf16, strided<[74, 1]>>)
    attributes {tcc.schedule = #tcc.schedule<block = [128, 128, 64], warps = [8, 1], mma = wgmma, transport = tma, stages = 3, roles = cooperative, epilogue = tma, chunk = 64>} {
  linalg.matmul ins(%A, %B : memref<64x64xf16>, memref<64x72xf16, strided<[72, 1]>>) outs(%C : memref<64x72xf16, strided<[74, 1]>>)
  return
}

// -----

// Where a launch decides, the first variants have what was written, and the others' choices are no news.
func.func @dynamic(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf16>)
    attributes {tcc.schedule = #tcc.schedule<block = [128, 128, 64], warps = [8, 1], mma = wgmma, transport = tma, stages = 3, roles = cooperative, epilogue = tma, chunk = 64>} {
  linalg.matmul ins(%A, %B : memref<?x?xf16>, memref<?x?xf16>) outs(%C : memref<?x?xf16>)
  return
}

// Nobody wrote a schedule.
func.func @chosen(%A: memref<64x128xf16>, %B: memref<128x65xf16>, %C: memref<64x65xf32>) {
  linalg.matmul ins(%A, %B : memref<64x128xf16>, memref<128x65xf16>) outs(%C : memref<64x65xf32>)
  return
}
