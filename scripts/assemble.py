#!/usr/bin/env python3
"""Assembles tcc's PTX with ptxas, and fails where a kernel spills or ptxas has something to remark.

    assemble.py [--assembler PTXAS] [--tools FOLDER] [--chip CHIP] FILE...

FILE is PTX, or an .mlir program that tcc-translate compiles for CHIP first. What ptxas only remarks
on costs speed all the same: wgmma that it serialises, waits that it adds, a setmaxnreg that it
ignores, local memory.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile

REMARK = re.compile(r"warning|advisory|\(C\d{4}\)|Potential Performance Loss")
PLACE = re.compile(r"line (\d+)")
FUNCTION = re.compile(r"Function properties for '?([\w.$]+)")
MEMORY = re.compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")
# What ptxas 13 no longer assembles for; its PTX runs on the next chip, too.
STAND_IN = {"sm_70": "sm_75"}


def read_headers(ptx):
    """The kernels that the PTX describes, by the names of their entries."""
    kernels, decoder = {}, json.JSONDecoder()
    header, end, _ = ptx.partition("// tcc-metadata end")
    if not end:
        return kernels
    comment = "\n".join(line[2:] for line in header.splitlines())
    position = comment.find("{")
    while position >= 0:
        kernel, end = decoder.raw_decode(comment, position)
        kernels[kernel["entry"]] = kernel
        position = comment.find("{", end)
    return kernels


def name_kernel(entry, kernels):
    """An entry, with the variant and the schedule it was made from."""
    kernel = kernels.get(entry)
    if not kernel:
        return entry
    schedule = kernel.get("schedule") or {}
    made_from = ", ".join(f"{key} = {schedule[key]}" for key in
                          ("block", "warps", "mma", "transport", "stages") if key in schedule)
    return f"{entry} (variant {kernel['variant']}: {made_from})"


def find_problems(output, ptx):
    """What ptxas said against the kernels, each with the kernel and the PTX line."""
    lines, kernels = ptx.splitlines(), read_headers(ptx)
    problems, entry = [], ""
    for line in output.splitlines():
        if function := FUNCTION.search(line):
            entry = function[1]
        elif memory := MEMORY.search(line):
            if any(int(count) for count in memory.groups()):
                problems.append(f"{name_kernel(entry, kernels)}: {memory[0]}")
        elif REMARK.search(line):
            name = next((name_kernel(name, kernels) + ": " for name in kernels
                         if f"'{name}'" in line), "")
            place = PLACE.search(line)
            text = lines[int(place[1]) - 1].strip() if place and int(place[1]) <= len(lines) else ""
            problems.append(name + line.strip() + (f"\n    {text[:100]}" if text else ""))
    return problems


def assemble(ptxas, path):
    """What is wrong with a PTX file; empty if nothing is."""
    with open(path, encoding="utf-8") as file:
        ptx = file.read()
    target = re.search(r"^\.target\s+(\w+)", ptx, re.MULTILINE)
    if not target:
        return [f"{path}: expected a .target, found none"]
    arch = STAND_IN.get(target[1], target[1])
    done = subprocess.run([ptxas, "-v", f"-arch={arch}", path, "-o", os.devnull],
                          capture_output=True, text=True, check=False)
    if done.returncode:
        return [(done.stdout + done.stderr).strip() or f"ptxas failed: {done.returncode}"]
    return find_problems(done.stdout + done.stderr, ptx)


def translate(arguments, program, ptx):
    """Compiles a program to a PTX file."""
    tool = os.path.join(arguments.tools, "tcc-translate")
    done = subprocess.run([tool, "--tcc-to-ptx", f"--chip={arguments.chip}", program, "-o", ptx],
                          check=False)
    if done.returncode:
        sys.exit(f"{program}: tcc-translate failed for '{arguments.chip}'")
    return ptx


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="+")
    parser.add_argument("--assembler", default="ptxas", metavar="PTXAS")
    parser.add_argument("--tools", default="build/bin", help="folder of tcc-translate")
    parser.add_argument("--chip", help="chip for which .mlir programs are compiled")
    arguments = parser.parse_args()
    failed = 0
    with tempfile.TemporaryDirectory() as scratch:
        for path in arguments.files:
            ptx = path
            if path.endswith(".mlir"):
                if not arguments.chip:
                    parser.error(f"{path} needs --chip")
                ptx = translate(arguments, path, os.path.join(scratch, "program.ptx"))
            problems = assemble(arguments.assembler, ptx)
            failed += bool(problems)
            print(f"{'FAIL' if problems else 'ok  '} {path}")
            for problem in problems:
                print(f"  {problem}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
