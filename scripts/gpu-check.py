#!/usr/bin/env python3
"""Runs a list of cases with tcc-run, prints a table and writes every result as JSON.

    gpu-check.py [--tools FOLDER] [--out FILE [--resume]] [--budget SECONDS] [--only TEXT]
                 [--device cuda] MANIFEST...

A manifest has one case a line, paths relative to it; '#' begins a comment:

    NAME | PROGRAM [options of tcc-translate] | options of tcc-run

PROGRAM is a .ptx file, or an .mlir file that tcc-translate compiles first. The exit code is 0 where
every case passed. Needs Python alone, so that it runs on a bare GPU machine.
"""

import argparse
import concurrent.futures
import itertools
import json
import math
import os
import shlex
import subprocess
import sys
import tempfile
import threading
import time

import assemble
import manifest


def read_manifest(path):
    return [{"case": name, "folder": os.path.dirname(path), "program": shlex.split(program),
             "options": shlex.split(options)}
            for name, program, options in manifest.read(path, "NAME | PROGRAM | OPTIONS")]


def command(arguments, timeout, cwd):
    """The exit code, standard output, and what went wrong."""
    try:
        done = subprocess.run(arguments, cwd=cwd or None, timeout=timeout, capture_output=True,
                              text=True, check=False)
    except subprocess.TimeoutExpired:
        return 124, "", f"no end after {timeout} s"
    except OSError as error:
        return 127, "", str(error)
    return done.returncode, done.stdout, done.stderr.strip()


class Programs:
    """Compiles each program once, however many cases run it."""

    def __init__(self, arguments, scratch):
        self.tools, self.scratch, self.timeout = arguments.tools, scratch, arguments.timeout
        self.assembler = arguments.assembler
        self.lock, self.compiled = threading.Lock(), {}

    def get(self, case):
        """The PTX file of a case, and an error."""
        key = (case["folder"], *case["program"])
        with self.lock:
            entry = self.compiled.setdefault(key, {"lock": threading.Lock(),
                                                   "number": len(self.compiled)})
        with entry["lock"]:
            if "result" not in entry:
                ptx = os.path.join(self.scratch, f"{entry['number']}.ptx")
                ptx, error = compile_program(case, self.tools, ptx, self.timeout)
                if self.assembler and not error:
                    path = os.path.join(case["folder"], ptx)
                    error = "\n".join(assemble.assemble(self.assembler, path))
                entry["result"] = ptx, error
        return entry["result"]


def compile_program(case, tools, ptx, timeout):
    """Compiles a case's program to `ptx`; the PTX file, and an error."""
    program, *options = case["program"]
    if program.endswith(".ptx"):
        return program, ""
    translate = [os.path.join(tools, "tcc-translate"), "--tcc-to-ptx", program, *options, "-o", ptx]
    start = time.monotonic()
    code, _, error = command(translate, timeout, case["folder"])
    case["compile_ms"] = round(1000 * (time.monotonic() - start), 1)
    return ptx, error if code else ""


def run_case(case, arguments, programs):
    ptx, error = programs.get(case)
    if not error:
        run = [os.path.join(arguments.tools, "tcc-run"), ptx, "--json",
               f"--device={arguments.device}", *case["options"]]
        case["returncode"], output, error = command(run, arguments.timeout, case["folder"])
        try:
            case["result"] = json.loads(output)
            # The emulator's counts of every instruction are megabytes a case.
            case["result"].get("report", {}).pop("instructions", None)
        except ValueError:
            error = error or "tcc-run printed no JSON"
    case.pop("folder")
    if error:
        case["error"] = error
    case["passed"] = case.get("returncode") == 0 and bool(case.get("result", {}).get("passed"))


def read_known(path):
    """The cases of an earlier run that passed, by name."""
    try:
        with open(path, encoding="utf-8") as file:
            return {case["case"]: case for case in json.load(file) if case["passed"]}
    except (OSError, TypeError):
        return {}


def describe(case):
    """One line of the table."""
    result = case.get("result")
    if not result:
        return case.get("error", "no result").splitlines()[0]
    parts = [result["variant"]]
    for check in result["checks"]:
        if not check["compared"]:
            continue
        how = "equal" if check["exact"] and check["passed"] else f"{check['max_abs_error']:.3g}" \
            if check["max_abs_error"] is not None else "infinite"
        if not check["exact"] and check["worst_of_bound"] is not None:
            how += f" ({check['worst_of_bound']:.2f} of bound)"
        parts.append(f"{check['argument']} {check['data']}: {how}"
                     + (" sampled" if check["sampled"] else "")
                     + ("" if check["passed"] else f" {check['failures']} WRONG"))
    parts += result["findings"]
    if "time" in result:
        measured = result["time"]
        parts.append(f"{measured['median_ms']:.4g} ms {measured['teraflops']:.1f} TFLOP/s")
        if "of_cublaslt" in measured:
            parts.append(f"{measured['of_cublaslt']:.3f} of cublasLt")
    if case.get("error"):
        parts.append(case["error"].splitlines()[0])
    return ", ".join(parts)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("manifests", nargs="+")
    parser.add_argument("--tools", default="build/bin", help="folder of tcc-run and tcc-translate")
    parser.add_argument("--out", help="JSON file of the results")
    parser.add_argument("--only", default="", help="run only cases whose name contains this")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--assembler", metavar="PTXAS",
                        help="fail programs that ptxas has something against (assemble.py)")
    parser.add_argument("--jobs", type=int, default=1,
                        help="cases at a time; those that measure time run alone, at the end")
    parser.add_argument("--timeout", type=float, default=120, help="seconds per command")
    parser.add_argument("--budget", type=float, default=math.inf,
                        help="begin no case after so many seconds")
    parser.add_argument("--resume", action="store_true",
                        help="keep the cases of --out that passed, and run the others")
    arguments = parser.parse_args()
    arguments.tools = os.path.abspath(arguments.tools)

    cases = [case for path in arguments.manifests for case in read_manifest(os.path.abspath(path))
             if arguments.only in case["case"]]
    if not cases:
        sys.exit("no case")
    begin = time.monotonic()
    known = read_known(arguments.out) if arguments.resume else {}
    for case in cases:
        case.update(known.get(case["case"], {}))

    def finish(case):
        if "passed" not in case and time.monotonic() - begin < arguments.budget:
            run_case(case, arguments, programs)
        return case

    # Times are only true of a machine that does nothing else.
    timed = [case for case in cases if "--time" in case["options"]]
    others = [case for case in cases if "--time" not in case["options"]]
    width = max(len(case["case"]) for case in cases)
    with tempfile.TemporaryDirectory() as scratch:
        programs = Programs(arguments, scratch)
        with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
            for case in itertools.chain(pool.map(finish, others), map(finish, timed)):
                if "passed" not in case:
                    continue
                print(f"{'ok  ' if case['passed'] else 'FAIL'} {case['case']:<{width}}  "
                      f"{describe(case)}", flush=True)
                # After each case, so that an interrupted run leaves what it has.
                if arguments.out:
                    with open(arguments.out, "w", encoding="utf-8") as file:
                        json.dump([case for case in cases if "passed" in case], file, indent=1)
    passed = sum(case.get("passed", False) for case in cases)
    left = sum("passed" not in case for case in cases)
    print(f"{passed} passed, {len(cases) - passed - left} failed"
          + (f", {left} left out: --budget is spent" if left else ""))
    return 0 if passed == len(cases) else 1


if __name__ == "__main__":
    sys.exit(main())
