// RUN: tcc-opt %s --tcc-select-target=chip=sm_90a | FileCheck %s
// RUN: tcc-opt %s --tcc-select-target=chip=sm_90a --remarks-filter=.* -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

// What the cost model chooses where much depends on it. All but @few_rows, @short_k and @odd_columns were among the
// fastest that were measured (docs/Performance.md).

// Rows off the 128-byte grid, four whole waves on 132 multiprocessors: a tile that two warpgroups split
// along wgmma's n, whose A two blocks share.
// CHECK-LABEL: func.func @whole_waves(
// CHECK-SAME:    #tcc.schedule<block = [176, 192, 64], warps = [2, 4], mma = wgmma, transport = tma, stages = 4, epilogue = tma, roles = cooperative, alignment = [16, 16, 16], raster = 8, persistent = true, cluster = [2, 1], pending = 1, swapped = true>
func.func @whole_waves(%A: memref<4104x4104xbf16>, %B: memref<4104x4104xbf16, strided<[1, 4104]>>, %C: memref<4104x4104xbf16>) {
  %z = arith.constant 0.0 : bf16
  linalg.fill ins(%z : bf16) outs(%C : memref<4104x4104xbf16>)
  linalg.matmul ins(%A, %B : memref<4104x4104xbf16>, memref<4104x4104xbf16, strided<[1, 4104]>>) outs(%C : memref<4104x4104xbf16>)
  return
}

// A cluster of four along N is one wave.
// CHECK-LABEL: func.func @one_wave(
// CHECK-SAME:    #tcc.schedule<block = [144, 64, 64], warps = [2, 4], mma = wgmma, transport = tma, stages = 8, epilogue = tma, roles = cooperative, alignment = [16, 16, 16], raster = 8, cluster = [1, 4], pending = 1, swapped = true>
func.func @one_wave(%A: memref<1000x1000xbf16>, %B: memref<1000x1000xbf16>, %C: memref<1000x1000xbf16>) {
  %z = arith.constant 0.0 : bf16
  linalg.fill ins(%z : bf16) outs(%C : memref<1000x1000xbf16>)
  linalg.matmul ins(%A, %B : memref<1000x1000xbf16>, memref<1000x1000xbf16>) outs(%C : memref<1000x1000xbf16>)
  return
}

// Many slabs, aligned rows: two groups in turn.
// CHECK-LABEL: func.func @ping_pong(
// CHECK-SAME:    #tcc.schedule<block = [128, 128, 64], warps = [4, 1], mma = wgmma, transport = tma, stages = 6, epilogue = tma, roles = ping_pong, alignment = [16, 16, 16], raster = 8, persistent = true, pending = 1, chunk = 64>
func.func @ping_pong(%A: memref<2048x2048xbf16>, %B: memref<2048x2048xbf16, strided<[1, 2048]>>, %C: memref<2048x2048xbf16>) {
  %z = arith.constant 0.0 : bf16
  linalg.fill ins(%z : bf16) outs(%C : memref<2048x2048xbf16>)
  linalg.matmul ins(%A, %B : memref<2048x2048xbf16>, memref<2048x2048xbf16, strided<[1, 2048]>>) outs(%C : memref<2048x2048xbf16>)
  return
}

// The memory's bandwidth is the bound: many rows of B on their way.
// CHECK-LABEL: func.func @memory(
// CHECK-SAME:    #tcc.schedule<block = [64, 256, 64], warps = [1, 8], mma = wgmma, transport = tma, stages = 5, epilogue = tma, roles = cooperative, alignment = [16, 16, 16], raster = 8, pending = 1, chunk = 32, swapped = true>
func.func @memory(%A: memref<128x4096xbf16>, %B: memref<4096x14336xbf16>, %C: memref<128x14336xbf16>) {
  %z = arith.constant 0.0 : bf16
  linalg.fill ins(%z : bf16) outs(%C : memref<128x14336xbf16>)
  linalg.matmul ins(%A, %B : memref<128x4096xbf16>, memref<4096x14336xbf16>) outs(%C : memref<128x14336xbf16>)
  return
}

// An atom's m has 64 rows at least, its n from 8: operands are swapped. So little is multiplied that
// slabs of 128 save rounds of the loop.
// CHECK-LABEL: func.func @few_rows(
// CHECK-SAME:    #tcc.schedule<block = [8, 64, 128], warps = [1, 4], mma = wgmma, transport = tma, stages = 12, epilogue = tma, roles = cooperative, alignment = [16, 16, 16], raster = 8, pending = 1, chunk = 8, swapped = true>
func.func @few_rows(%A: memref<16x4096xbf16>, %B: memref<4096x4096xbf16, strided<[1, 4096]>>, %C: memref<16x4096xbf16>) {
  %z = arith.constant 0.0 : bf16
  linalg.fill ins(%z : bf16) outs(%C : memref<16x4096xbf16>)
  linalg.matmul ins(%A, %B : memref<16x4096xbf16>, memref<4096x4096xbf16, strided<[1, 4096]>>) outs(%C : memref<16x4096xbf16>)
  return
}

// Much is stored for few multiplications: lines of 128 bytes.
// CHECK-LABEL: func.func @short_k(
// CHECK-SAME:    #tcc.schedule<block = [160, 128, 64], warps = [1, 4], mma = wgmma, transport = tma, stages = 5, epilogue = tma, roles = ping_pong, alignment = [16, 16, 16], raster = 8, persistent = true, pending = 1, chunk = 80, swapped = true>
func.func @short_k(%A: memref<10448x256xbf16>, %B: memref<256x6808xbf16, strided<[1, 256]>>, %C: memref<10448x6808xbf16>) {
  %z = arith.constant 0.0 : bf16
  linalg.fill ins(%z : bf16) outs(%C : memref<10448x6808xbf16>)
  linalg.matmul ins(%A, %B : memref<10448x256xbf16>, memref<256x6808xbf16, strided<[1, 256]>>) outs(%C : memref<10448x6808xbf16>)
  return
}

// Few tiles and a long K: six blocks divide it.
// CHECK-LABEL: func.func @few_tiles(
// CHECK-SAME:    #tcc.schedule<block = [144, 64, 64], warps = [1, 4], mma = wgmma, transport = tma, stages = 8, epilogue = tma, roles = cooperative, alignment = [16, 16, 16], raster = 8, pending = 1, chunk = 24, swapped = true, split_k = 6>
func.func @few_tiles(%A: memref<424x3920xbf16>, %B: memref<3920x312xbf16>, %C: memref<424x312xbf16>) {
  %z = arith.constant 0.0 : bf16
  linalg.fill ins(%z : bf16) outs(%C : memref<424x312xbf16>)
  linalg.matmul ins(%A, %B : memref<424x3920xbf16>, memref<3920x312xbf16>) outs(%C : memref<424x312xbf16>)
  return
}

// Seven parts of a large tile: two stages would have no room for what the blocks send each other, four have.
// CHECK-LABEL: func.func @fewer_tiles(
// CHECK-SAME:    #tcc.schedule<block = [112, 256, 64], warps = [1, 8], mma = wgmma, transport = tma, stages = 4, epilogue = tma, roles = cooperative, alignment = [16, 16, 16], raster = 8, pending = 1, chunk = 16, swapped = true, split_k = 7>
func.func @fewer_tiles(%A: memref<320x11640xbf16>, %B: memref<11640x1192xbf16>, %C: memref<320x1192xbf16>) {
  %z = arith.constant 0.0 : bf16
  linalg.fill ins(%z : bf16) outs(%C : memref<320x1192xbf16>)
  linalg.matmul ins(%A, %B : memref<320x11640xbf16>, memref<11640x1192xbf16>) outs(%C : memref<320x1192xbf16>)
  return
}

// Nine rows of tiles: in groups of eight the last row's blocks would share nothing but A with their
// neighbours, and wait for B from the L2 cache.
// CHECK-LABEL: func.func @raster(
// CHECK-SAME:    #tcc.schedule<block = [48, 128, 64], warps = [1, 8], mma = wgmma, transport = tma, stages = 9, epilogue = tma, roles = cooperative, alignment = [16, 16, 16], raster = 9, pending = 1, chunk = 48, swapped = true>
func.func @raster(%A: memref<408x1856xbf16>, %B: memref<1856x1792xbf16, strided<[1, 1856]>>, %C: memref<408x1792xbf16>) {
  %z = arith.constant 0.0 : bf16
  linalg.fill ins(%z : bf16) outs(%C : memref<408x1792xbf16>)
  linalg.matmul ins(%A, %B : memref<408x1856xbf16>, memref<1856x1792xbf16, strided<[1, 1856]>>) outs(%C : memref<408x1792xbf16>)
  return
}

// Eleven columns of tiles of 128: the twelfth, which clusters of two would add, lies beyond the matrix, and
// its zeros would delay the others.
// CHECK-LABEL: func.func @odd_columns(
// CHECK-SAME:    #tcc.schedule<block = [80, 256, 64], warps = [1, 8], mma = wgmma, transport = tma, stages = 5, epilogue = tma, roles = cooperative, alignment = [16, 16, 16], raster = 8, cluster = [4, 1], pending = 1, chunk = 16, swapped = true>
func.func @odd_columns(%A: memref<1544x6680xbf16>, %B: memref<6680x1408xbf16>, %C: memref<1544x1408xbf16>) {
  %z = arith.constant 0.0 : bf16
  linalg.fill ins(%z : bf16) outs(%C : memref<1544x1408xbf16>)
  linalg.matmul ins(%A, %B : memref<1544x6680xbf16>, memref<6680x1408xbf16>) outs(%C : memref<1544x1408xbf16>)
  return
}

// Sizes that no memory has room for: the number of tiles is beyond 64 bits, which mustn't keep the search.
// CHECK-LABEL: func.func @beyond_memory(
// CHECK-SAME:    transport = tma
// REMARK: remark: [Passed] Schedule | {{.*}}predicted {{[1-9][0-9]+\.[0-9]}} kcycles: {{[1-9][0-9]+}} waves, {{[1-9][0-9]+}} cycles of multiplications, {{[1-9][0-9]+}} of copies and {{[1-9][0-9]+}} of the L2 cache
func.func @beyond_memory(%A: memref<64x274877906944xbf16>, %B: memref<64x9223372036854775800xbf16>, %C: memref<274877906944x9223372036854775800xbf16>) {
  %z = arith.constant 0.0 : bf16
  linalg.fill ins(%z : bf16) outs(%C : memref<274877906944x9223372036854775800xbf16>)
  linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
    ins(%A, %B : memref<64x274877906944xbf16>, memref<64x9223372036854775800xbf16>) outs(%C : memref<274877906944x9223372036854775800xbf16>)
  return
}

// A schedule of the user's is predicted, too, so that it can be compared with others.
// CHECK-LABEL: func.func @given(
// CHECK-SAME:    block = [128, 128, 64], warps = [8, 1]
// REMARK: remark: [Passed] Schedule | {{.*}}"block 128x128x64, 8x1 warps of wgmma {{.*}}registers; predicted {{[0-9]+\.[0-9]}} kcycles: 2 waves, 512 cycles of multiplications, {{[0-9]+}} of copies and {{[0-9]+}} of the L2 cache a slab, at least {{[0-9]+}} kcycles of memory"
func.func @given(%A: memref<2048x2048xbf16>, %B: memref<2048x2048xbf16, strided<[1, 2048]>>, %C: memref<2048x2048xbf16>)
    attributes {tcc.schedule = #tcc.schedule<block = [128, 128, 64], warps = [8, 1], mma = wgmma, transport = tma, stages = 5, roles = cooperative, persistent = true>} {
  %z = arith.constant 0.0 : bf16
  linalg.fill ins(%z : bf16) outs(%C : memref<2048x2048xbf16>)
  linalg.matmul ins(%A, %B : memref<2048x2048xbf16>, memref<2048x2048xbf16, strided<[1, 2048]>>) outs(%C : memref<2048x2048xbf16>)
  return
}
