#!/usr/bin/env python3
"""Measures tcc's GEMMs beside cublasLt's on a GPU, checks them, and reports the ratios.

    bench/gemm.py --tools build-static/device --out bench/results/h200 [--group large] [--chip sm_90a]

Each case is one process in which tcc's kernel and the fastest of cublasLt's candidates take turns
on rotated inputs (tcc-run --time --vs=cublaslt); its result is checked against float64 as well.
Writes gemm.json (every number), gemm.md (the table) and gemm.svg (the ratios) into the folder.
A ratio of 1.00 is cublasLt's speed, more is faster. Needs Python alone.
"""

import argparse
import json
import math
import os
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

# group: input types, result (None: the input's), forms, sizes (M, N, K), geometric mean to reach
GROUPS = {
    "large": (["bf16", "f16"], None, ["TN", "NN"], LARGE, 1.00),
    "small": (["bf16", "f16"], None, ["TN", "NN"], SMALL, 0.98),
    "f32": (["f16"], "f32", ["TN"], WIDE, 0.98),
    "skinny": (["bf16", "f16"], None, ["TN", "NN"], SKINNY, 1.00),
}

# BLAS's names, whose matrices are column-major: TN has A stored MxK and B stored NxK by rows, NN
# has B stored KxN.
B_MAP = {"TN": "(n, k)", "NN": "(k, n)"}


def program(element, result, form):
    return f"""func.func @gemm(%A: memref<?x?x{element}>, %B: memref<?x?x{element}>,
                %C: memref<?x?x{result}>) {{
  %zero = arith.constant 0.0 : {result}
  linalg.fill ins(%zero : {result}) outs(%C : memref<?x?x{result}>)
  linalg.matmul
    indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> {B_MAP[form]}>,
                     affine_map<(m, n, k) -> (m, n)>]
    ins(%A, %B : memref<?x?x{element}>, memref<?x?x{element}>) outs(%C : memref<?x?x{result}>)
  return
}}
"""


def write_manifest(folder, groups, chip, repeats):
    path = os.path.join(folder, "manifest")
    with open(path, "w", encoding="utf-8") as manifest:
        for group in groups:
            elements, fixed_result, forms, sizes, _ = GROUPS[group]
            for element in elements:
                result = fixed_result or element
                for form in forms:
                    name = f"{element}-{result}-{form}"
                    with open(os.path.join(folder, f"{name}.mlir"), "w", encoding="utf-8") as file:
                        file.write(program(element, result, form))
                    for m, n, k in sizes:
                        manifest.write(
                            f"{group} {name} {m}x{n}x{k} | {name}.mlir --chip={chip} | "
                            f"--size M={m},N={n},K={k} --check --time --repeat={repeats} "
                            "--vs=cublaslt\n")
    return path


def geometric_mean(ratios):
    return math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else None


def ratio_of(case):
    return case.get("result", {}).get("time", {}).get("of_cublaslt")


def write_table(path, cases, groups):
    with open(path, "w", encoding="utf-8") as file:
        device = next((c["result"]["device"] for c in cases if "result" in c), {})
        file.write(f"{device.get('name', 'no device')}, {device.get('driver', '')}\n\n")
        file.write("| case | variant | check | tcc ms | TFLOP/s | cublasLt ms | ratio |\n"
                   "|---|---|---|---|---|---|---|\n")
        for case in cases:
            measured = case.get("result", {}).get("time")
            if not measured or "of_cublaslt" not in measured:
                file.write(f"| {case['case']} | {case.get('error', 'no time').splitlines()[0]} "
                           "| | | | | |\n")
                continue
            file.write(f"| {case['case']} | {case['result']['variant']} "
                       f"| {'ok' if case['passed'] else 'FAILED'} | {measured['median_ms']:.4g} "
                       f"| {measured['teraflops']:.0f} | {measured['cublaslt_median_ms']:.4g} "
                       f"| {measured['of_cublaslt']:.3f} |\n")
        file.write("\n| group | cases | geometric mean | lowest | to reach |\n|---|---|---|---|---|\n")
        for group in groups:
            ratios = [r for c in cases if c["case"].startswith(group + " ") and (r := ratio_of(c))]
            if ratios:
                file.write(f"| {group} | {len(ratios)} | {geometric_mean(ratios):.3f} "
                           f"| {min(ratios):.3f} | {GROUPS[group][4]:.2f} |\n")


def write_plot(path, cases):
    """One bar per case, with a line at cublasLt's speed."""
    bars = [(case["case"], ratio) for case in cases if (ratio := ratio_of(case))]
    row, left, scale = 16, 260, 400
    height = row * len(bars) + 30
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + scale + 160}" '
             f'height="{height}" font-family="sans-serif" font-size="11">',
             '<rect width="100%" height="100%" fill="white"/>']
    for i, (name, ratio) in enumerate(bars):
        y = row * i + 10
        lines.append(f'<text x="{left - 6}" y="{y + 10}" text-anchor="end">{name}</text>'
                     f'<rect x="{left}" y="{y}" width="{scale * min(ratio, 1.3):.0f}" height="11" '
                     f'fill="{"#4a7" if ratio >= 0.995 else "#c84"}"/>'
                     f'<text x="{left + scale * min(ratio, 1.3) + 4:.0f}" y="{y + 10}">{ratio:.3f}</text>')
    lines.append(f'<line x1="{left + scale}" y1="0" x2="{left + scale}" y2="{height - 18}" '
                 f'stroke="black"/><text x="{left + scale}" y="{height - 6}" '
                 'text-anchor="middle">cublasLt</text></svg>')
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tools", default="build/bin", help="folder of tcc-translate and tcc-run")
    parser.add_argument("--out", required=True, help="folder of the results")
    parser.add_argument("--group", action="append", choices=list(GROUPS), help="default: all")
    parser.add_argument("--chip", default="sm_90a")
    parser.add_argument("--repeat", type=int, default=33)
    arguments = parser.parse_args()
    groups = arguments.group or list(GROUPS)
    os.makedirs(arguments.out, exist_ok=True)
    results = os.path.join(arguments.out, "gemm.json")
    with tempfile.TemporaryDirectory() as folder:
        manifest = write_manifest(folder, groups, arguments.chip, arguments.repeat)
        code = subprocess.run([sys.executable, os.path.join(ROOT, "scripts", "gpu-check.py"),
                               manifest, "--tools", arguments.tools, "--out", results],
                              check=False).returncode
    with open(results, encoding="utf-8") as file:
        cases = json.load(file)
    write_table(os.path.join(arguments.out, "gemm.md"), cases, groups)
    write_plot(os.path.join(arguments.out, "gemm.svg"), cases)
    for group in groups:
        ratios = [r for c in cases if c["case"].startswith(group + " ") and (r := ratio_of(c))]
        if ratios:
            print(f"{group}: {geometric_mean(ratios):.3f} of cublasLt (geometric mean of "
                  f"{len(ratios)}), lowest {min(ratios):.3f}")
    return code


if __name__ == "__main__":
    sys.exit(main())
