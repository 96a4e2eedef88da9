#!/usr/bin/env python3
"""Writes end-to-end GEMM cases: .mlir programs and a manifest for scripts/gpu-check.py.

    gemm-cases.py --chip sm_80 --set emulate|device --out FOLDER

The sets share their kinds of program (element types, layouts, results, static and dynamic sizes,
sub-matrices, accumulation, a fused epilogue) and differ in their sizes: what an emulator does in
minutes, or what a GPU does.
"""

import argparse
import itertools
import os

# Element types that a chip's Tensor Cores multiply; others have both.
INPUT_TYPES = {"sm_70": ["f16"], "sm_75": ["f16"]}
# Where a chip has several backends, the one that its own cases are for.
BACKEND = {"sm_90a": "wgmma"}
RESULT_TYPES = ["f32", "f16", "bf16"]
LAYOUTS = ["NN", "NT", "TN", "TT"]

ROWS = "strided<[?, 1], offset: ?>"

# The first letter is A's: N for row-major MxK, T for A stored KxM. The second is B's: N for
# row-major KxN, T for B stored NxK. (BLAS calls NT "TN": its matrices are column-major.)
MAP_A = {"N": "(m, k)", "T": "(k, m)"}
MAP_B = {"N": "(k, n)", "T": "(n, k)"}


def memref(element, dims, sizes, strided=False):
    extents = "x".join("?" if sizes is None else str(sizes[d]) for d in dims)
    return f"memref<{extents}x{element}{', ' + ROWS if strided else ''}>"


def gemm(element, result, layout, sizes=None, strided_c=False, accumulate=False):
    """C = A * B or C += A * B as a function on memrefs."""
    a = memref(element, "MK" if layout[0] == "N" else "KM", sizes)
    b = memref(element, "KN" if layout[1] == "N" else "NK", sizes)
    c = memref(result, "MN", sizes, strided_c)
    if {element, result} == {"f16", "bf16"}:
        return gemm_through_f32(a, b, c, result, layout, accumulate)
    fill = "" if accumulate else f"""
  %zero = arith.constant 0.0 : {result}
  linalg.fill ins(%zero : {result}) outs(%C : {c})"""
    return f"""func.func @gemm(%A: {a}, %B: {b}, %C: {c}) {{{fill}
  linalg.matmul
    indexing_maps = [affine_map<(m, n, k) -> {MAP_A[layout[0]]}>,
                     affine_map<(m, n, k) -> {MAP_B[layout[1]]}>, affine_map<(m, n, k) -> (m, n)>]
    ins(%A, %B : {a}, {b}) outs(%C : {c})
  return
}}
"""


def gemm_through_f32(a, b, c, result, layout, accumulate):
    """The same where linalg.matmul has no cast from the operands' type to the result's."""
    dim_m, dim_n = "01"[layout[0] == "T"], "10"[layout[1] == "T"]
    sum_up = "%r = arith.truncf %product"
    if accumulate:
        sum_up = f"""%wide = arith.extf %old : {result} to f32
    %sum = arith.addf %product, %wide : f32
    %r = arith.truncf %sum"""
    return f"""func.func @gemm(%A: {a}, %B: {b}, %C: {c} {{tcc.name = "C"}}) {{
  %zero = arith.constant 0.0 : f32
  %cm = arith.constant {dim_m} : index
  %cn = arith.constant {dim_n} : index
  %M = memref.dim %A, %cm : {a}
  %N = memref.dim %B, %cn : {b}
  %acc = memref.alloc(%M, %N) : memref<?x?xf32>
  linalg.fill ins(%zero : f32) outs(%acc : memref<?x?xf32>)
  linalg.matmul
    indexing_maps = [affine_map<(m, n, k) -> {MAP_A[layout[0]]}>,
                     affine_map<(m, n, k) -> {MAP_B[layout[1]]}>, affine_map<(m, n, k) -> (m, n)>]
    ins(%A, %B : {a}, {b}) outs(%acc : memref<?x?xf32>)
  linalg.generic {{indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>],
                  iterator_types = ["parallel", "parallel"]}}
      ins(%acc : memref<?x?xf32>) outs(%C : {c}) {{
  ^bb0(%product: f32, %old: {result}):
    {sum_up} : f32 to {result}
    linalg.yield %r : {result}
  }}
  return
}}
"""


def bias_gelu(element, result, layout):
    """D = gelu(A * B + row vector), rounded once."""
    a = memref(element, "MK" if layout[0] == "N" else "KM", None)
    b = memref(element, "KN" if layout[1] == "N" else "NK", None)
    dim_m, dim_n = "01"[layout[0] == "T"], "10"[layout[1] == "T"]
    store = "linalg.yield %gelu : f32"
    if result != "f32":
        store = f"%r = arith.truncf %gelu : f32 to {result}\n    linalg.yield %r : {result}"
    return f"""func.func @gemm(%A: {a}, %B: {b}, %bias: memref<?xf32> {{tcc.name = "bias"}},
                %C: memref<?x?x{result}> {{tcc.name = "C"}}) {{
  %zero = arith.constant 0.0 : f32
  %half = arith.constant 0.5 : f32
  %one = arith.constant 1.0 : f32
  %rsqrt2 = arith.constant 0.707106781 : f32
  %cm = arith.constant {dim_m} : index
  %cn = arith.constant {dim_n} : index
  %M = memref.dim %A, %cm : {a}
  %N = memref.dim %B, %cn : {b}
  %acc = memref.alloc(%M, %N) : memref<?x?xf32>
  linalg.fill ins(%zero : f32) outs(%acc : memref<?x?xf32>)
  linalg.matmul
    indexing_maps = [affine_map<(m, n, k) -> {MAP_A[layout[0]]}>,
                     affine_map<(m, n, k) -> {MAP_B[layout[1]]}>, affine_map<(m, n, k) -> (m, n)>]
    ins(%A, %B : {a}, {b}) outs(%acc : memref<?x?xf32>)
  linalg.generic {{indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (n)>,
                                   affine_map<(m, n) -> (m, n)>],
                  iterator_types = ["parallel", "parallel"]}}
      ins(%acc, %bias : memref<?x?xf32>, memref<?xf32>) outs(%C : memref<?x?x{result}>) {{
  ^bb0(%product: f32, %b: f32, %out: {result}):
    %x = arith.addf %product, %b : f32
    %scaled = arith.mulf %x, %rsqrt2 : f32
    %erf = math.erf %scaled : f32
    %shifted = arith.addf %erf, %one : f32
    %halved = arith.mulf %x, %half : f32
    %gelu = arith.mulf %halved, %shifted : f32
    {store}
  }}
  return
}}
"""


def size_option(m, n, k):
    return f"--size M={m},N={n},K={k}"


class Cases:
    """Programs, each written once, and the runs of them."""

    def __init__(self, chip, folder):
        self.chip, self.folder, self.lines = chip, folder, []
        os.makedirs(folder, exist_ok=True)

    def add(self, name, text, run, options, backend=None):
        target = f"--chip={self.chip}"
        if backend := backend or BACKEND.get(self.chip):
            target += f" --backend={backend}"
        with open(os.path.join(self.folder, f"{name}.mlir"), "w", encoding="utf-8") as file:
            file.write(text)
        self.lines.append(f"{self.chip} {name} {run} | {name}.mlir {target} | "
                          f"{options} --check")

    def write(self):
        with open(os.path.join(self.folder, "manifest"), "w", encoding="utf-8") as file:
            file.write("\n".join(self.lines) + "\n")


def emulated(cases, inputs):
    """Small sizes: each kind once, edges and short K where the pipeline begins and ends."""
    for element, layout in itertools.product(inputs, LAYOUTS):
        cases.add(f"{element}-f32-{layout}", gemm(element, "f32", layout), "17x33x65",
                  size_option(17, 33, 65))
    for element, result in itertools.product(inputs, RESULT_TYPES[1:]):
        cases.add(f"{element}-{result}-NT", gemm(element, result, "NT"), "40x72x48",
                  size_option(40, 72, 48))
    element = inputs[-1]
    name, text = f"{element}-f32-NT", gemm(element, "f32", "NT")
    cases.add(name, text, "1x1x1", size_option(1, 1, 1))
    cases.add(name, text, "0x8x8", size_option(0, 8, 8))
    for k in (0, 16, 64, 128, 192, 256):
        cases.add(name, text, f"24x40x{k}", size_option(24, 40, k))
    for k in (196, 198, 195):  # rows of 8, 4 and 2 bytes' alignment, four slabs and a rest
        cases.add(name, text, f"130x72x{k}", size_option(130, 72, k))
    for edge in (-1, 1):
        cases.add(name, text, f"tile{edge:+}", size_option(128 + edge, 256 + edge, 64 + edge))
    cases.add(f"{element}-f32-NN-static", gemm(element, "f32", "NN", {"M": 17, "N": 33, "K": 65}),
              "17x33x65", "")
    cases.add(f"{element}-f32-NN-mixed", gemm(element, "f32", "NN", {"M": 33, "N": 65, "K": 84}),
              "33x65x84", "")  # rows of A are aligned to 8 bytes, rows of B to 2
    cases.add(f"{element}-f32-NN-sub", gemm(element, "f32", "NN", strided_c=True), "33x65x72",
              size_option(33, 65, 72) + " --ld C=77 --offset C=3")
    cases.add(f"{element}-f32-TN-offset", gemm(element, "f32", "TN"), "33x65x72",
              size_option(33, 65, 72) + " --offset A=1,B=1")
    cases.add(f"{element}-f32-NN-add", gemm(element, "f32", "NN", accumulate=True), "33x72x65",
              size_option(33, 72, 65))
    cases.add(f"{element}-f16-gelu", bias_gelu(element, "f16", "NT"), "33x72x65",
              size_option(33, 72, 65))
    cases.add(f"{element}-f32-NT", text, "512x512x512", size_option(512, 512, 512))


DEVICE_SIZES = [(17, 33, 65), (1, 1, 1), (129, 72, 200), (1000, 1000, 1000)]


def on_device(cases, inputs):
    """Every pair of types, every layout, static and dynamic, at the sizes a GPU does at once."""
    for element, result, layout in itertools.product(inputs, RESULT_TYPES, LAYOUTS):
        name = f"{element}-{result}-{layout}"
        text = gemm(element, result, layout)
        for size in DEVICE_SIZES:
            cases.add(name, text, "x".join(map(str, size)), size_option(*size))
            m, n, k = size
            cases.add(f"{name}-{m}x{n}x{k}",
                      gemm(element, result, layout, {"M": m, "N": n, "K": k}), "static", "")
        cases.add(f"{name}-sub", gemm(element, result, layout, strided_c=True), "129x71x200",
                  size_option(129, 71, 200) + " --ld C=93 --offset C=3")
        cases.add(f"{name}-add", gemm(element, result, layout, accumulate=True), "129x72x200",
                  size_option(129, 72, 200))
        cases.add(f"{name}-gelu", bias_gelu(element, result, layout), "129x72x200",
                  size_option(129, 72, 200))
        for k in (64, 192, 256, 320):  # one slab, and stages - 1, stages, stages + 1 of them
            cases.add(name, text, f"136x264x{k}", size_option(136, 264, k))
    for element, layout in itertools.product(inputs, ("NT", "NN")):
        text = gemm(element, "f32", layout)
        for size in ((4096, 4096, 4096), (4095, 4097, 4100), (64, 8192, 8192)):
            cases.add(f"{element}-f32-{layout}", text, "x".join(map(str, size)),
                      size_option(*size) + " --time")
        # Rows that TMA can't load: aligned to 8, 4 and 2 bytes; static, and without wgmma.
        for k in (4100, 4098, 4097):
            cases.add(f"{element}-f32-{layout}", text, f"4096x4096x{k}",
                      size_option(4096, 4096, k) + " --time")
        odd = gemm(element, "f32", layout, {"M": 4095, "N": 4097, "K": 4100})
        cases.add(f"{element}-f32-{layout}-odd", odd, "static", "--time")
        if cases.chip in BACKEND:
            cases.add(f"{element}-f32-{layout}-odd", odd, "static-mma_sync", "--time",
                      backend="mma_sync")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--chip", required=True)
    parser.add_argument("--set", required=True, choices=["emulate", "device"])
    parser.add_argument("--out", required=True)
    arguments = parser.parse_args()
    cases = Cases(arguments.chip, arguments.out)
    inputs = INPUT_TYPES.get(arguments.chip, ["f16", "bf16"])
    (emulated if arguments.set == "emulate" else on_device)(cases, inputs)
    cases.write()


if __name__ == "__main__":
    main()
