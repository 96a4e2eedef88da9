#!/usr/bin/env python3
"""Times schedules of a problem on a GPU, and tells how well the cost model ranks them.

    bench/schedules.py measure list.txt --tools build-static/bin --out kernels.json
    bench/schedules.py regret kernels.json --tools build/bin [--above 1.03]

A line of the list is a problem, its form (TN or NN, BLAS's names) and a schedule or `own`, tcc's
choice:

    1024x1024x1024 TN block = [128, 64, 64], warps = [8, 1], mma = wgmma, transport = tma, stages = 9, …

`measure` times each beside cublasLt (bf16) and appends to the file what isn't there yet; it asks
tcc-opt which schedule `own` is. `regret`
compares the measured cycles with the cost model's: the regret of a problem is the time of the
schedule that the model ranks first, among those measured, over the time of the fastest.
"""

import argparse
import json
import math
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

from gemm import geometric_mean, parse_size, plain_program

ELEMENT, CHIP = "bf16", "sm_90a"


def write_program(path, size, form, schedule):
    program = plain_program(ELEMENT, ELEMENT, form, size)
    if schedule != "own":
        head, body = program.split(" {\n", 1)
        attribute = f"attributes {{tcc.schedule = #tcc.schedule<{schedule}>}}"
        program = f"{head}\n  {attribute} {{\n{body}"
    with open(path, "w", encoding="utf-8") as file:
        file.write(program)


def run(command, **options):
    return subprocess.run(command, capture_output=True, text=True, check=False, **options)


def get_chosen(tools, path):
    """The schedule of the kernel's first variant and the model's cycles, or None and the reason."""
    result = run([os.path.join(tools, "tcc-opt"), f"--tcc-select-target=chip={CHIP}",
                  "--remarks-filter=tcc-select-target", path])
    schedule = re.search(r"#tcc\.schedule<([^>]*)>", result.stdout)
    predicted = re.search(r"predicted ([0-9.]+) kcycles", result.stderr)
    if result.returncode or not schedule or not predicted:
        return None, result.stderr.strip() or "no prediction"
    return schedule[1], float(predicted[1]) * 1000


def measure(arguments):
    with open(arguments.list, encoding="utf-8") as file:
        wanted = [line.split(None, 2) for line in file if line.strip()]
    for words in wanted:
        if len(words) != 3 or words[1] not in ("TN", "NN"):
            raise ValueError(f"expected MxNxK, TN or NN, and a schedule or own; found "
                             f"'{' '.join(words).strip()}'")
    kernels = []
    if os.path.exists(arguments.out):
        with open(arguments.out, encoding="utf-8") as file:
            kernels = json.load(file)["kernels"]
    known = {(k["problem"], k["form"], k["asked"]) for k in kernels}
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        source, ptx = os.path.join(folder, "gemm.mlir"), os.path.join(folder, "gemm.ptx")
        for problem, form, schedule in wanted:
            schedule = schedule.strip()
            if (problem, form, schedule) in known:
                continue
            write_program(source, parse_size(problem), form, schedule)
            result = run([os.path.join(arguments.tools, "tcc-translate"), "--tcc-to-ptx",
                          f"--chip={CHIP}", source, "-o", ptx])
            if result.returncode == 0:
                result = run([os.path.join(arguments.tools, "tcc-run"), "--device=cuda", "--json",
                              "--time", f"--repeat={arguments.repeat}", "--vs=cublaslt", ptx])
            if result.returncode:
                failed += 1
                print(f"{problem} {form} {schedule}: {result.stderr.strip()}", file=sys.stderr)
                continue
            time = json.loads(result.stdout)["time"]
            timed = schedule
            if schedule == "own":
                timed, reason = get_chosen(arguments.tools, source)
                if not timed:
                    raise ValueError(reason)
            kernels.append({"problem": problem, "form": form, "asked": schedule, "schedule": timed,
                            "us": round(time["median_ms"] * 1e3, 2),
                            "cycles": round(time["median_cycles"]),
                            "of_cublaslt": round(time["of_cublaslt"], 3)})
            with open(arguments.out, "w", encoding="utf-8") as file:
                json.dump({"kernels": kernels}, file, indent=0)
    return 1 if failed else 0


def regret(arguments):
    with open(arguments.kernels, encoding="utf-8") as file:
        kernels = json.load(file)["kernels"]
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(os.cpu_count()) as pool:

        def predict(numbered):
            number, kernel = numbered
            path = os.path.join(folder, f"{number}.mlir")
            write_program(path, parse_size(kernel["problem"]), kernel["form"], kernel["schedule"])
            return get_chosen(arguments.tools, path)[1]

        predictions = list(pool.map(predict, enumerate(kernels)))
    problems = {}
    for kernel, predicted in zip(kernels, predictions):
        if isinstance(predicted, str):
            print(f"{kernel['problem']} {kernel['form']}: {predicted}", file=sys.stderr)
            continue
        key = f"{kernel['problem']} {kernel['form']}"
        problems.setdefault(key, []).append((predicted, kernel["cycles"], kernel["schedule"]))
    regrets, errors = [], []
    for key, found in problems.items():
        best = min(cycles for _, cycles, _ in found)
        _, picked, schedule = min(found)
        regrets.append((picked / best, key, schedule))
        errors += [abs(math.log(predicted / cycles)) for predicted, cycles, _ in found]
    for ratio, key, schedule in sorted(regrets, reverse=True):
        if ratio > arguments.above:
            print(f"{ratio:.3f} {key}: {schedule}")
    print(f"regret {geometric_mean([ratio for ratio, _, _ in regrets]):.4f} (geometric mean of "
          f"{len(regrets)} problems), median error of {len(errors)} predictions "
          f"{math.exp(sorted(errors)[len(errors) // 2]) - 1:.1%}")
    return 0 if regrets else 1


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(required=True)
    for name, function in (("measure", measure), ("regret", regret)):
        command = commands.add_parser(name)
        command.set_defaults(function=function)
        command.add_argument("--tools", default="build/bin", help="folder of tcc's tools")
        if name == "measure":
            command.add_argument("list")
            command.add_argument("--out", required=True, help="JSON; is added to")
            command.add_argument("--repeat", type=int, default=21, help="launches of each kernel")
        else:
            command.add_argument("kernels")
            command.add_argument("--above", type=float, default=1.03,
                                 help="list problems whose regret is greater")
    arguments = parser.parse_args()
    try:
        return arguments.function(arguments)
    except (OSError, ValueError, KeyError, argparse.ArgumentTypeError) as error:
        print(f"schedules.py: error: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
