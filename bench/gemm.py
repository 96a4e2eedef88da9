#!/usr/bin/env python3
"""Measures tcc's GEMMs beside cublasLt's on a GPU, checks them, and reports the ratios.

    bench/gemm.py --tools build-static/bin --out bench/results/h200 [--group large] [--budget 550]

Each case is a program of its own, with its sizes static, so that tcc chooses the schedule for them.
It runs in one process in which tcc's kernel and the fastest of cublasLt's candidates take turns on
rotated inputs (tcc-run --time --vs=cublaslt); its result is checked against float64 as well.
Writes gemm.json (every number), gemm.md (the tables) and gemm.svg (the ratios) into the folder.
A ratio of 1.00 is cublasLt's speed, more is faster. With --budget a run stops in time; the same
command with --resume goes on. Needs Python alone, and libcublasLt where the loader finds it.

On a machine without a GPU `--device emulator --size 64x64x64` runs each kind of case once, small.
"""

import argparse
import json
import math
import os
import random
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

LARGE = [(2048, 2048, 2048), (4096, 4096, 4096), (8192, 8192, 8192), (16384, 16384, 16384),
         (4096, 14336, 4096), (4096, 4096, 14336), (8192, 28672, 8192)]
SMALL = [(512, 512, 512), (1000, 1000, 1000), (1024, 1024, 1024), (4104, 4104, 4104),
         (3000, 2056, 1192)]
WIDE = [(2048, 2048, 2048), (4096, 4096, 4096), (8192, 8192, 8192)]
SKINNY = [(128, 14336, 4096), (64, 8192, 8192)]

RANDOM_CASES = 20

# BLAS's names, whose matrices are column-major: TN has A stored MxK and B stored NxK by rows, NN
# has B stored KxN.
B_MAP = {"TN": "(n, k)", "NN": "(k, n)"}


class Group:
    def __init__(self, elements, result, forms, sizes, mean, lowest, fused=False):
        self.elements, self.result, self.forms, self.sizes = elements, result, forms, sizes
        self.mean, self.lowest, self.fused = mean, lowest, fused

    def cases(self, sizes):
        """(element, result, form, (M, N, K)) of each case; `sizes` replaces the group's."""
        return [(element, self.result or element, form, size) for element in self.elements
                for form in self.forms for size in sizes or self.sizes]


class RandomGroup(Group):
    """Shapes by a seed: rows of 16-byte multiples, sizes even on a logarithmic scale."""

    def __init__(self, mean, lowest):
        super().__init__(["bf16", "f16"], None, ["TN", "NN"], [], mean, lowest)
        self.seed = 0

    def cases(self, sizes):
        if sizes:
            return super().cases(sizes)
        source = random.Random(self.seed)

        def draw():
            return round(math.exp(source.uniform(math.log(256), math.log(12288))) / 8) * 8

        return [(self.elements[i // 2 % 2], self.elements[i // 2 % 2], self.forms[i % 2],
                 (draw(), draw(), draw())) for i in range(RANDOM_CASES)]


# With the geometric mean and the lowest ratio to reach.
GROUPS = {
    "large": Group(["bf16", "f16"], None, ["TN", "NN"], LARGE, 1.00, 0.96),
    "small": Group(["bf16", "f16"], None, ["TN", "NN"], SMALL, 0.98, 0),
    "f32": Group(["f16"], "f32", ["TN"], WIDE, 0.98, 0),
    "skinny": Group(["bf16", "f16"], None, ["TN", "NN"], SKINNY, 1.00, 0.97),
    "fused": Group(["bf16", "f16"], None, ["TN", "NN"], [(4096, 4096, 4096)], 1.00, 0, fused=True),
    "random": RandomGroup(0.93, 0.80),
}


def matrices(element, form, size):
    """The types of A and B, and the matmul's maps."""
    m, n, k = size
    b_shape = f"{n}x{k}" if form == "TN" else f"{k}x{n}"
    maps = (f"affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> {B_MAP[form]}>,\n"
            "                     affine_map<(m, n, k) -> (m, n)>")
    return f"memref<{m}x{k}x{element}>", f"memref<{b_shape}x{element}>", maps


def plain_program(element, result, form, size):
    a, b, maps = matrices(element, form, size)
    c = f"memref<{size[0]}x{size[1]}x{result}>"
    return f"""func.func @gemm(%A: {a}, %B: {b}, %C: {c}) {{
  %zero = arith.constant 0.0 : {result}
  linalg.fill ins(%zero : {result}) outs(%C : {c})
  linalg.matmul
    indexing_maps = [{maps}]
    ins(%A, %B : {a}, {b}) outs(%C : {c})
  return
}}
"""


def fused_program(element, result, form, size):
    """D = gelu(A * B + bias) with a bias in the result's type, as cublasLt's fused epilogue has it.
    GELU by tanh is the form that cublasLt computes."""
    a, b, maps = matrices(element, form, size)
    m, n, _ = size
    product, d, bias = f"memref<{m}x{n}xf32>", f"memref<{m}x{n}x{result}>", f"memref<{n}x{result}>"
    return f"""func.func @gemm(%A: {a}, %B: {b},
                %bias: {bias} {{tcc.name = "bias"}}, %D: {d} {{tcc.name = "D"}}) {{
  %zero = arith.constant 0.0 : f32
  %half = arith.constant 0.5 : f32
  %linear = arith.constant 0.797884561 : f32
  %cubic = arith.constant 0.0356774081 : f32
  %acc = memref.alloc() : {product}
  linalg.fill ins(%zero : f32) outs(%acc : {product})
  linalg.matmul
    indexing_maps = [{maps}]
    ins(%A, %B : {a}, {b}) outs(%acc : {product})
  linalg.generic {{indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (n)>,
                                   affine_map<(m, n) -> (m, n)>],
                  iterator_types = ["parallel", "parallel"]}}
      ins(%acc, %bias : {product}, {bias}) outs(%D : {d}) {{
  ^bb0(%p: f32, %narrow: {result}, %out: {result}):
    %b = arith.extf %narrow : {result} to f32
    %x = arith.addf %p, %b : f32
    %square = arith.mulf %x, %x : f32
    %slope = math.fma %square, %cubic, %linear : f32
    %inner = arith.mulf %slope, %x : f32
    %tanh = math.tanh %inner fastmath<afn> : f32
    %halved = arith.mulf %x, %half : f32
    %gelu = math.fma %halved, %tanh, %halved : f32
    %rounded = arith.truncf %gelu : f32 to {result}
    linalg.yield %rounded : {result}
  }}
  return
}}
"""


def write_manifest(folder, groups, arguments):
    path = os.path.join(folder, "manifest")
    on_gpu = arguments.device == "cuda"
    timing = f"--time --repeat={arguments.repeat} --vs=cublaslt" if on_gpu else ""
    with open(path, "w", encoding="utf-8") as manifest:
        for name in groups:
            group = GROUPS[name]
            for element, result, form, size in group.cases(arguments.size):
                write = fused_program if group.fused else plain_program
                shape = "x".join(map(str, size))
                file = f"{name}-{element}-{result}-{form}-{shape}.mlir"
                with open(os.path.join(folder, file), "w", encoding="utf-8") as program:
                    program.write(write(element, result, form, size))
                manifest.write(f"{name} {element}-{result}-{form} {shape} | "
                               f"{file} --chip={arguments.chip} | --check {timing}\n")
    return path


def geometric_mean(ratios):
    return math.exp(sum(map(math.log, ratios)) / len(ratios))


def ratio_of(case):
    return case.get("result", {}).get("time", {}).get("of_cublaslt")


def ratios_of(cases, group):
    return [ratio for case in cases
            if case["case"].startswith(group + " ") and (ratio := ratio_of(case))]


def case_row(case):
    result = case.get("result")
    if not result:
        return [case["case"], case.get("error", "no result").splitlines()[0]] + [""] * 7
    row = [case["case"], result["variant"], "ok" if case["passed"] else "FAILED"]
    time = result.get("time", {})
    if "of_cublaslt" not in time:
        return row + [""] * 6
    cycles, clock = time.get("median_cycles"), time.get("sm_clock_mhz")
    return row + [f"{time['median_ms']:.4g}", f"{time['teraflops']:.0f}",
                  f"{cycles:.0f}" if cycles else "", f"{clock:.0f}" if clock else "",
                  f"{time['cublaslt_median_ms']:.4g}", f"{time['of_cublaslt']:.3f}"]


def write_tables(path, cases, groups):
    device = next((c["result"]["device"] for c in cases if "result" in c), {})
    lines = [f"{device.get('name', 'no device')}, {device.get('driver', '')}", "",
             "| case | variant | check | tcc ms | TFLOP/s | cycles | SM MHz | cublasLt ms | ratio |",
             "|---|---|---|---|---|---|---|---|---|"]
    lines += ["| " + " | ".join(case_row(case)) + " |" for case in cases]
    lines += ["", "| group | cases | geometric mean | to reach | lowest | to reach |",
              "|---|---|---|---|---|---|"]
    for name in groups:
        ratios, group = ratios_of(cases, name), GROUPS[name]
        if ratios:
            lines.append(f"| {name} | {len(ratios)} | {geometric_mean(ratios):.3f} | "
                         f"{group.mean:.2f} | {min(ratios):.3f} | {group.lowest or ''} |")
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")


def write_plot(path, cases):
    """One bar per case, with a line at cublasLt's speed."""
    bars = [(case["case"], ratio) for case in cases if (ratio := ratio_of(case))]
    row, left, scale = 16, 260, 400
    height = row * len(bars) + 30
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + scale + 160}" '
             f'height="{height}" font-family="sans-serif" font-size="11">',
             '<rect width="100%" height="100%" fill="white"/>']
    for i, (name, ratio) in enumerate(bars):
        y, width = row * i + 10, scale * min(ratio, 1.3)
        fill = "#4a7" if ratio >= 0.995 else "#c84"
        lines.append(f'<text x="{left - 6}" y="{y + 10}" text-anchor="end">{name}</text>'
                     f'<rect x="{left}" y="{y}" width="{width:.0f}" height="11" fill="{fill}"/>'
                     f'<text x="{left + width + 4:.0f}" y="{y + 10}">{ratio:.3f}</text>')
    lines.append(f'<line x1="{left + scale}" y1="0" x2="{left + scale}" y2="{height - 18}" '
                 f'stroke="black"/><text x="{left + scale}" y="{height - 6}" '
                 'text-anchor="middle">cublasLt</text></svg>')
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")


def run_cases(manifest, results, arguments):
    command = [sys.executable, os.path.join(ROOT, "scripts", "gpu-check.py"), manifest,
               "--tools", arguments.tools, "--out", results, "--device", arguments.device]
    if arguments.budget:
        command += ["--budget", str(arguments.budget)]
    if arguments.resume:
        command.append("--resume")
    return subprocess.run(command, check=False).returncode


def parse_size(text):
    size = tuple(int(part) for part in text.split("x"))
    if len(size) != 3:
        raise argparse.ArgumentTypeError(f"expected MxNxK, found '{text}'")
    return size


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tools", default="build/bin", help="folder of tcc-translate and tcc-run")
    parser.add_argument("--out", required=True, help="folder of the results")
    parser.add_argument("--group", action="append", choices=list(GROUPS), help="default: all")
    parser.add_argument("--size", action="append", type=parse_size, metavar="MxNxK",
                        help="instead of the groups' sizes")
    parser.add_argument("--seed", type=int, default=2026, help="of the random group's shapes")
    parser.add_argument("--chip", default="sm_90a")
    parser.add_argument("--device", default="cuda", choices=["cuda", "emulator"])
    parser.add_argument("--repeat", type=int, default=33, help="launches of each kernel")
    parser.add_argument("--budget", type=float, help="begin no case after so many seconds")
    parser.add_argument("--resume", action="store_true", help="keep what an earlier run measured")
    arguments = parser.parse_args()
    groups = arguments.group or list(GROUPS)
    GROUPS["random"].seed = arguments.seed
    os.makedirs(arguments.out, exist_ok=True)
    results = os.path.join(arguments.out, "gemm.json")
    with tempfile.TemporaryDirectory() as folder:
        code = run_cases(write_manifest(folder, groups, arguments), results, arguments)
    if not os.path.exists(results):  # the budget allowed no case
        return code
    with open(results, encoding="utf-8") as file:
        cases = json.load(file)
    write_tables(os.path.join(arguments.out, "gemm.md"), cases, groups)
    write_plot(os.path.join(arguments.out, "gemm.svg"), cases)
    for name in groups:
        ratios = ratios_of(cases, name)
        if ratios:
            print(f"{name}: {geometric_mean(ratios):.3f} of cublasLt (geometric mean of "
                  f"{len(ratios)}), lowest {min(ratios):.3f}")
    return code


if __name__ == "__main__":
    sys.exit(main())
