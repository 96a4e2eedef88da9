// RUN: tcc-opt %s -split-input-file -verify-diagnostics

// What a field of a schedule can't hold by itself, and the nearest that it can.

// expected-error @+1 {{'block' is M, N and K of the tile, each from 1 to 65536, found [64, 0, 100000]; nearest value: block = [64, 1, 65536]}}
func.func private @block() attributes {s = #tcc.schedule<block = [64, 0, 100000], warps = [2, 2], mma = mma_sync, transport = register, stages = 2>}

// -----

// expected-error @+1 {{found [64, 64]; nearest value: block = [64, 64, 32]}}
func.func private @block_short() attributes {s = #tcc.schedule<block = [64, 64], warps = [2, 2], mma = mma_sync, transport = register, stages = 2>}

// -----

// expected-error @+1 {{'warps' is the number of warps along M and N, found [2, 2, 1]; nearest value: warps = [2, 2]}}
func.func private @warps_long() attributes {s = #tcc.schedule<block = [64, 64, 32], warps = [2, 2, 1], mma = mma_sync, transport = register, stages = 2>}

// -----

// expected-error @+1 {{'warps' is the number of warps along M and N, found [-4, 2]; nearest value: warps = [1, 2]}}
func.func private @warps() attributes {s = #tcc.schedule<block = [64, 64, 32], warps = [-4, 2], mma = mma_sync, transport = register, stages = 2>}

// -----

// expected-error @+1 {{'stages' is from 1 to 65536, found 0; nearest value: stages = 1}}
func.func private @stages() attributes {s = #tcc.schedule<block = [64, 64, 32], warps = [2, 2], mma = mma_sync, transport = register, stages = 0>}

// -----

// expected-error @+1 {{'stages' is from 1 to 65536, found 70000; nearest value: stages = 65536}}
func.func private @many_stages() attributes {s = #tcc.schedule<block = [64, 64, 32], warps = [2, 2], mma = mma_sync, transport = register, stages = 70000>}

// -----

// expected-error @+1 {{'raster' is from 1 to 65536, found 0; nearest value: raster = 1}}
func.func private @raster() attributes {s = #tcc.schedule<block = [64, 64, 32], warps = [2, 2], mma = mma_sync, transport = register, stages = 2, raster = 0>}

// -----

// expected-error @+1 {{'split_k' is from 1 to 65536, found -1; nearest value: split_k = 1}}
func.func private @split_k() attributes {s = #tcc.schedule<block = [64, 64, 32], warps = [4, 1], mma = wgmma, transport = tma, stages = 2, split_k = -1>}

// -----

// expected-error @+1 {{'producer_warps' is from 1 to 65536, found 0; nearest value: producer_warps = 1}}
func.func private @producer_warps() attributes {s = #tcc.schedule<block = [64, 64, 32], warps = [4, 1], mma = wgmma, transport = tma, stages = 2, producer_warps = 0>}

// -----

// A smaller alignment is a promise that still holds.
// expected-error @+1 {{'alignment' is for the rows of A, B and C, each 1, 2, 4, 8 or 16 bytes, found [32, 12, 0]; nearest value: alignment = [16, 8, 1]}}
func.func private @alignment() attributes {s = #tcc.schedule<block = [64, 64, 32], warps = [2, 2], mma = mma_sync, transport = register, stages = 2, alignment = [32, 12, 0]>}

// -----

// expected-error @+1 {{'cluster' is the number of blocks along M and N, found [2]; nearest value: cluster = [2, 1]}}
func.func private @cluster() attributes {s = #tcc.schedule<block = [64, 64, 32], warps = [4, 1], mma = wgmma, transport = tma, stages = 2, cluster = [2]>}

// -----

// expected-error @+1 {{'pending' is from 0 to one less than 'stages', found 3; nearest value: pending = 1}}
func.func private @pending() attributes {s = #tcc.schedule<block = [64, 64, 32], warps = [4, 1], mma = wgmma, transport = tma, stages = 2, pending = 3>}

// -----

// Of the divisors those that an epilogue can store: multiples of 8.
// expected-error @+1 {{'chunk' divides block N = 96, found 37; nearest value: chunk = 32}}
func.func private @chunk() attributes {s = #tcc.schedule<block = [64, 96, 32], warps = [4, 1], mma = wgmma, transport = tma, stages = 2, epilogue = tma, chunk = 37>}

// -----

// expected-error @+1 {{'chunk' divides block M = 100, found 30; nearest value: chunk = 25}}
func.func private @odd_chunk() attributes {s = #tcc.schedule<block = [100, 64, 32], warps = [1, 4], mma = wgmma, transport = tma, stages = 2, epilogue = tma, swapped = true, chunk = 30>}

// -----

// expected-error @+1 {{'chunk' divides block N = 96, found -8; nearest value: chunk = 0}}
func.func private @negative_chunk() attributes {s = #tcc.schedule<block = [64, 96, 32], warps = [4, 1], mma = wgmma, transport = tma, stages = 2, epilogue = tma, chunk = -8>}
