#!/usr/bin/env python3
"""Measures where the milliseconds go from MLIR to PTX, and to the cubin where ptxas is.

    bench/compile-time.py --translate build-static/bin/tcc-translate --json compile-time.json

Each time is the median of --repeat processes, start-up included. Variants compile side by side;
`cpu` is user and system time of all threads. The steps are those of `tcc-translate --timing` on one
thread, for all variants of the program together. --one-thread measures everything so.
"""

import argparse
import collections
import json
import os
import platform
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
CHIPS = ["sm_70", "sm_75", "sm_80", "sm_90a"]
# A line of MLIR's time report: seconds, percent, name; nested steps are indented further.
REPORT_LINE = re.compile(r"\s+([0-9.]+) \(\s*[0-9.]+%\)  ( *)(.+)")


def run(command):
    """Runs the command; returns its result, wall seconds and CPU seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.perf_counter()
    result = subprocess.run(command, capture_output=True, text=True)
    wall = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if result.returncode != 0:
        sys.exit(f"error: {' '.join(command)} failed:\n{result.stderr}")
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return result, wall, cpu


def read_report(text):
    """The steps of a time report in milliseconds, those of one name added up. What a step's own
    steps take is not counted to it again."""
    steps = collections.Counter()
    parents = []  # (depth, name)
    for line in text.splitlines():
        match = REPORT_LINE.fullmatch(line)
        if not match or match[3] == "Total":
            continue
        depth, name, ms = len(match[2]), match[3], float(match[1]) * 1000
        while parents and parents[-1][0] >= depth:
            parents.pop()
        if parents:
            steps[parents[-1][1]] -= ms
        steps[name] += ms
        parents.append((depth, name))
    return dict(steps)


def median_of(values):
    return round(statistics.median(values), 2)


def measure(translate, program, chip, ptxas, repeat):
    command = [*translate, "--tcc-to-ptx", f"--chip={chip}", program]
    one_thread = [] if "--mlir-disable-threading" in command else ["--mlir-disable-threading"]
    walls, cpus, reports = [], [], []
    for _ in range(repeat):
        result, wall, cpu = run(command)
        walls.append(wall * 1000)
        cpus.append(cpu * 1000)
        reports.append(read_report(run(command + one_thread + ["--timing", "-o", os.devnull])[0].stderr))
    ptx = result.stdout
    variants = len(re.findall(r"^\.visible \.entry", ptx, re.MULTILINE))
    record = {
        "chip": chip,
        "variants": variants,
        "ptx_lines": ptx.count("\n"),
        "ms_per_variant": median_of(walls) / variants,
        "cpu_ms_per_variant": median_of(cpus) / variants,
        "steps_ms": {name: median_of([report.get(name, 0) for report in reports])
                     for name in reports[0]},
    }
    if ptxas:
        # CUDA 13's ptxas begins at sm_75.
        arch = "sm_75" if chip == "sm_70" else chip
        with tempfile.NamedTemporaryFile("w", suffix=".ptx") as file:
            file.write(ptx)
            file.flush()
            assemble = [ptxas, f"-arch={arch}", file.name, "-o", os.devnull]
            record["ptxas_ms_per_variant"] = (
                median_of([run(assemble)[1] * 1000 for _ in range(min(repeat, 3))]) / variants)
    return record


def print_record(record):
    print(f"{record['chip']}: {record['variants']} variants, "
          f"{record['ms_per_variant']:.0f} ms a variant ({record['cpu_ms_per_variant']:.0f} ms CPU)"
          + (f", then ptxas {record['ptxas_ms_per_variant']:.0f} ms"
             if "ptxas_ms_per_variant" in record else ""))
    total = sum(record["steps_ms"].values()) or 1
    for name, ms in sorted(record["steps_ms"].items(), key=lambda step: -step[1]):
        if ms >= total / 100:
            print(f"  {ms / record['variants']:7.1f} ms {100 * ms / total:5.1f}%  {name}")


def cpu_name():
    try:
        with open("/proc/cpuinfo") as file:
            return next(line.split(":")[1].strip() for line in file if "model name" in line)
    except (OSError, StopIteration):
        return platform.processor()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--translate", default=os.path.join(ROOT, "build-static/bin/tcc-translate"))
    parser.add_argument("--program", default=os.path.join(ROOT, "examples/gemm.mlir"))
    parser.add_argument("--chips", nargs="+", default=CHIPS)
    parser.add_argument("--ptxas", default=shutil.which("ptxas") or "/usr/local/cuda/bin/ptxas",
                        help="left out if it isn't there")
    parser.add_argument("--repeat", type=int, default=10)
    parser.add_argument("--json", help="write the record there")
    parser.add_argument("--one-thread", action="store_true")
    args = parser.parse_args()

    translate = [args.translate] + (["--mlir-disable-threading"] if args.one_thread else [])
    ptxas = args.ptxas if os.access(args.ptxas, os.X_OK) else None
    record = {
        "command": " ".join(sys.argv),
        "machine": f"{cpu_name()}, {os.cpu_count()} cores",
        "load_before": round(os.getloadavg()[0], 2),
        "chips": [],
    }
    print(f"{record['machine']}, load {record['load_before']}")
    for chip in args.chips:
        record["chips"].append(measure(translate, args.program, chip, ptxas, args.repeat))
        print_record(record["chips"][-1])
    if args.json:
        with open(args.json, "w") as file:
            json.dump(record, file, indent=2)
            file.write("\n")


if __name__ == "__main__":
    main()
