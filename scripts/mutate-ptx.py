#!/usr/bin/env python3
"""Breaks compiled kernels, one instruction at a time, and counts what the emulator notices.

    mutate-ptx.py [--tools FOLDER] [--state FILE] [--jobs N] [--only REGEX] [--sample N] MANIFEST

A manifest has one kernel a line; '#' begins a comment:

    NAME | options of tcc-translate | PROGRAM | schedule | options of tcc-run; of another run

PROGRAM is a function of test/Integration/gemm-cases.py with its arguments ('gemm f16 f32 NT'), to
which the schedule is attached, or a .ptx file: one that describes itself, or a kernel of
test/Emulator/golden, for which a run is 'M=136 N=392 K=456', or '-'. scripts/ptx_mutants.py says
what is changed.

A mutant is killed by a report where the emulator finds something in it, and by its result where
that is wrong. Not killed: what the emulator does not parse or cannot launch, what ptxas refuses
(such mutants do not count at all), what runs to the step limit. EQUIVALENTS lists mutants that
change no behaviour that the PTX ISA defines; they are run too, and one that is killed is an error.

With --state, verdicts are kept in a file of JSON lines, and a run that was interrupted goes on.
Exits 1 where a rate is below its goal, the list of equivalents is wrong or too long, or an
unmutated kernel fails.
"""

import argparse
import collections
import concurrent.futures
import fnmatch
import functools
import hashlib
import importlib.util
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import threading

sys.dont_write_bytecode = True  # no cache beside the sources
import manifest  # pylint: disable=wrong-import-position
import ptx_mutants  # pylint: disable=wrong-import-position

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
KINDS = ("sync", "address", "descriptor")
GOALS = {"sync": 97.0, "address": 95.0, "descriptor": 95.0}
MAX_EQUIVALENT_PERCENT = 10.0
# Orders of the emulated warps in which a mutant is tried, until one kills it.
SCHEDULE_SEEDS = (0, 1, 2)
# Mutants of a kernel that one ptxas compiles.
PTXAS_BATCH = 25
# No fault was shown: the emulator gave up, or has no such instruction.
NO_KILL = ("step-limit", "unsupported")


def digest(*texts):
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()[:24]


@functools.lru_cache
def file_digest(path):
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()[:24]


class State:
    """Verdicts by a hash of all that they depend on, kept in a file."""

    def __init__(self, path):
        self.known, self.lock, self.file = {}, threading.Lock(), None
        if path and os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                for line in file:
                    try:
                        self.known.update([json.loads(line)])
                    except ValueError:
                        pass  # the last line of a run that was stopped while it wrote
        if path:
            self.file = open(path, "a", encoding="utf-8")

    def put(self, key, value):
        with self.lock:
            self.known[key] = value
            if self.file:
                self.file.write(json.dumps([key, value]) + "\n")
                self.file.flush()

    def get(self, key, compute):
        if key not in self.known:
            self.put(key, compute())
        return self.known[key]


# ----------------------------------------------------------------------------
# Kernels
# ----------------------------------------------------------------------------


def load_gemm_cases():
    path = os.path.join(ROOT, "test", "Integration", "gemm-cases.py")
    spec = importlib.util.spec_from_file_location("gemm_cases", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def read_manifest(path):
    form = "NAME | OPTIONS | PROGRAM | SCHEDULE | RUNS"
    return [{"name": name, "options": shlex.split(options), "program": program.split(),
             "schedule": schedule, "folder": os.path.dirname(os.path.abspath(path)),
             "runs": [shlex.split(run) for run in runs.split(";")]}
            for name, options, program, schedule, runs in manifest.read(path, form)]


GOLDEN = "//gemm "


def read_golden(text, kernel, runner):
    """A kernel of test/Emulator/golden, as it stands, and what its header would say. Each run
    becomes the comments by which tcc-ptx-vectors launches it."""
    first, body = text.split("\n", 1)
    launch = json.loads(first.removeprefix(GOLDEN))
    make = os.path.join(ROOT, "test", "Emulator", "golden", "gemm-vector.py")
    kernel["vectors"] = {}
    for run in kernel["runs"]:
        sizes = {name: int(value) for name, value in (size.split("=") for size in run
                                                      if size != "-")}
        source = runner.scratch_file(f"{GOLDEN}{json.dumps({**launch, **sizes})}\n")
        subprocess.run([sys.executable, make, source, source + ".out"], check=True)
        with open(source + ".out", encoding="utf-8") as file:
            comments = file.read()
        kernel["vectors"][shlex.join(run)] = comments
    target = re.search(r"^\.target\s+(\w+)", body, re.MULTILINE)[1]
    return body, {"entry": launch["kernel"], "target": target}


def compile_kernel(kernel, runner):
    """The PTX of the kernel's first variant, and its header as an object."""
    program, *arguments = kernel["program"]
    if program.endswith(".ptx"):
        with open(os.path.join(kernel["folder"], program), encoding="utf-8") as file:
            text = file.read()
        if text.startswith(GOLDEN):
            return read_golden(text, kernel, runner)
        return ptx_mutants.only_variant(text)
    text = getattr(load_gemm_cases(), program)(*arguments)
    attribute = f") attributes {{tcc.schedule = #tcc.schedule<{kernel['schedule']}>}} {{\n"
    text = text.replace(") {\n", attribute, 1)

    def translate():
        done = subprocess.run([runner.translate, "--tcc-to-ptx", "-", *kernel["options"]],
                              input=text, capture_output=True, text=True, check=False)
        if done.returncode:
            sys.exit(f"{kernel['name']}: {done.stderr.strip()}")
        return ptx_mutants.only_variant(done.stdout)

    key = digest("compile", text, file_digest(runner.translate), repr(kernel["options"]))
    return runner.state.get(key, translate)


# ----------------------------------------------------------------------------
# Running
# ----------------------------------------------------------------------------

FINDING = re.compile(r"^\s*[\w$.]+:\d+: (?!error:)([a-z-]+): ")


def judge_findings(findings):
    """The verdict on what the emulator reports, and the finding that decides it."""
    faults = [line for line in findings if FINDING.match(line)[1] not in NO_KILL]
    return ("report", faults[0]) if faults else ("limit", findings[0])


class Runner:
    def __init__(self, arguments, scratch, state):
        self.tool = os.path.join(arguments.tools, "tcc-run")
        self.vectors = os.path.join(arguments.tools, "tcc-ptx-vectors")
        self.translate = os.path.join(arguments.tools, "tcc-translate")
        self.scratch, self.state = scratch, state
        self.ptxas = None if arguments.no_assembler else \
            shutil.which("ptxas") or shutil.which("ptxas", path="/usr/local/cuda/bin")
        self.timeout = arguments.timeout

    def scratch_file(self, text):
        handle, path = tempfile.mkstemp(suffix=".ptx", dir=self.scratch)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def execute(self, command):
        try:
            return subprocess.run(command, capture_output=True, text=True, check=False,
                                  timeout=self.timeout)
        except subprocess.TimeoutExpired:
            return subprocess.CompletedProcess(command, 1, "", f"k:0: step-limit: {self.timeout} s")

    def launch(self, kernel, text, options, seed, max_steps):
        """(verdict, detail, steps): clean, report, result, limit, or invalid."""
        if "vectors" in kernel:
            return self.launch_vector(kernel, text, options, seed, max_steps)
        path = self.scratch_file(text)
        done = self.execute([self.tool, path, "--device=emulator", "--check", "--json",
                             "--init=integer", f"--schedule-seed={seed}",
                             f"--max-steps={max_steps}", *options])
        os.unlink(path)
        result = json.loads(done.stdout) if done.stdout.startswith("{") else {}
        findings = [line.strip() for line in done.stderr.splitlines() + result.get("findings", [])
                    if FINDING.match(line)]
        steps = result.get("report", {}).get("warp_instructions", 0)
        if findings:
            return *judge_findings(findings), steps
        if not result:
            return "invalid", done.stderr.strip().splitlines()[0], steps
        if not result.get("passed"):
            return "result", f"exit code {done.returncode}", steps
        return "clean", "", steps

    def launch_vector(self, kernel, text, options, seed, max_steps):
        """The same by tcc-ptx-vectors, which doesn't count steps."""
        comments = kernel["vectors"][shlex.join(options)]
        limit = f'//! {{"max_steps": {max_steps}, '
        path = self.scratch_file(comments.replace("//! {", limit, 1) + text)
        done = self.execute([self.vectors, f"--seed={seed}", path])
        os.unlink(path)
        if not done.returncode and not done.stdout.startswith("SKIP"):
            return "clean", "", 0
        message = (done.stdout + done.stderr).split(path + ": ", 1)[-1].splitlines()[0]
        if FINDING.match(message):
            return *judge_findings([message]), 0
        return ("result" if message.startswith("argument ") else "invalid"), message, 0

    def judge(self, text, kernel):
        """The verdict on PTX over all runs and orders: what kills it, else why nothing did."""
        verdict = "clean", ""
        for seed in SCHEDULE_SEEDS:
            for options, limit in zip(kernel["runs"], kernel["max_steps"]):
                kind, detail, _ = self.launch(kernel, text, options, seed, limit)
                if kind in ("report", "result", "invalid"):
                    return kind, detail
                if kind == "limit":
                    verdict = kind, detail
        return verdict

    def verdict(self, mutant, kernel):
        tool = self.vectors if "vectors" in kernel else self.tool
        key = digest(mutant.text, file_digest(tool), repr(kernel["runs"]), repr(SCHEDULE_SEEDS))
        return self.state.get(key, lambda: self.judge(mutant.text, kernel))

    def assemble(self, bodies, entry, arch):
        """What ptxas says against each body; empty where it accepts it. Puts them in one file."""
        texts = []
        for number, body in enumerate(bodies):
            begin = ptx_mutants.body_of(body, entry)[0]
            texts.append(body[:begin] if not number else "")
            texts.append(re.sub(rf"(\.entry\s+{re.escape(entry)})\b", rf"\1_{number}", body[begin:],
                                count=1))
        path = self.scratch_file("\n".join(texts))
        done = subprocess.run([self.ptxas, f"-arch={arch}", "-O0", path, "-o", "/dev/null"],
                              capture_output=True, text=True, check=False)
        os.unlink(path)
        if not done.returncode:
            return [""] * len(bodies)
        if len(bodies) == 1:
            return [next((line for line in done.stderr.splitlines() if "error" in line),
                         done.stderr.strip())]
        half = len(bodies) // 2
        return self.assemble(bodies[:half], entry, arch) + self.assemble(bodies[half:], entry, arch)


def ask_ptxas(pairs, runner, pool):
    """Mutant's name → what ptxas says against it, where it does."""
    if not runner.ptxas:
        return {}
    bodies, unknown = {}, {}
    for kernel, mutant in pairs:
        body = mutant.text[ptx_mutants.end_of_header(mutant.text):]
        key = bodies[mutant.name] = digest("ptxas", body)
        if key not in runner.state.known:
            unknown.setdefault((kernel["name"], kernel["entry"], kernel["target"]), {})[key] = body

    def ask(job):
        (_, entry, target), keys, texts = job
        # CUDA 13 compiles for nothing older than sm_75; the text is the same.
        arch = {"sm_70": "sm_75"}.get(target, target)
        for key, message in zip(keys, runner.assemble(texts, entry, arch)):
            runner.state.put(key, message)

    jobs = []
    for kernel, texts in unknown.items():
        keys = list(texts)
        for begin in range(0, len(keys), PTXAS_BATCH):
            some = keys[begin:begin + PTXAS_BATCH]
            jobs.append((kernel, some, [texts[key] for key in some]))
    list(pool.map(ask, jobs))
    return {name: runner.state.known[key] for name, key in bodies.items()
            if runner.state.known[key]}


def steps_of(kernel, text, options, runner):
    """The most steps of the unmutated kernel in any order; the run must be clean."""
    most = 0
    for seed in SCHEDULE_SEEDS:
        kind, detail, steps = runner.launch(kernel, text, options, seed, 10**8)
        if kind != "clean":
            sys.exit(f"{kernel['name']}: the unmutated kernel is not clean with "
                     f"{shlex.join(options)}, schedule seed {seed}: {kind} {detail}")
        most = max(most, steps)
    return most or 10**6


def prepare(kernel, runner):
    """Compiles a kernel, sees that it is clean, and returns its mutants."""
    text, header = compile_kernel(kernel, runner)
    kernel.update(target=header["target"], entry=header["entry"], max_steps=[])
    for options in kernel["runs"]:
        key = digest("steps", text, file_digest(runner.tool), repr(options), repr(SCHEDULE_SEEDS))
        steps = runner.state.get(key, lambda o=options: steps_of(kernel, text, o, runner))
        kernel["max_steps"].append(4 * steps + 10000)
    return list(ptx_mutants.mutants(kernel["name"], text, header))


# ----------------------------------------------------------------------------
# Equivalents and tables
# ----------------------------------------------------------------------------


def read_equivalents(path):
    with open(path, encoding="utf-8") as file:
        entries = json.load(file)
    for entry in entries:
        missing = {"mutants", "isa", "reason"} - entry.keys()
        if missing:
            sys.exit(f"{path}: an entry lacks {', '.join(sorted(missing))}: {entry}")
        entry["matched"] = 0
    return entries


def mark_equivalents(results, entries):
    for result in results:
        for entry in entries:
            if any(fnmatch.fnmatchcase(result["mutant"], pattern) for pattern in entry["mutants"]):
                result["equivalent"] = True
                entry["matched"] += 1
                break


class Row:
    """Counts of one kind, family or kernel."""

    def __init__(self):
        self.verdicts, self.equivalent = collections.Counter(), 0

    def add(self, result):
        if result.get("equivalent") and result["verdict"] != "invalid":
            self.equivalent += 1
        else:
            self.verdicts[result["verdict"]] += 1

    def counted(self):
        return sum(self.verdicts.values()) - self.verdicts["invalid"]

    def killed(self):
        return self.verdicts["report"] + self.verdicts["result"]

    def rate(self):
        return 100.0 * self.killed() / self.counted() if self.counted() else 100.0

    def equivalent_percent(self):
        return 100.0 * self.equivalent / max(1, self.counted() + self.equivalent)

    def cells(self):
        survived = self.verdicts["clean"] + self.verdicts["limit"]
        return f"{self.counted()} | {self.verdicts['report']} | {self.verdicts['result']} | " \
               f"{survived} | {self.rate():.1f} % | {self.equivalent} | {self.verdicts['invalid']}"


def print_table(results, key, title, names=None):
    rows = {name: Row() for name in names or sorted({result[key] for result in results})}
    for result in results:
        rows[result[key]].add(result)
    print(f"| {title} | mutants | by report | by result | survived | killed | equivalent | "
          "invalid |")
    print("|---|---|---|---|---|---|---|---|")
    for name, row in rows.items():
        print(f"| {name} | {row.cells()} |")
    print()
    return rows


def report(results, entries, arguments):
    """Prints the tables and what is wrong; the number of complaints."""
    rows = print_table(results, "kind", "kind", KINDS)
    if arguments.tables:
        print_table(results, "kernel", "kernel")
        print_table([{**result, "family": f"{result['kind']}: {result['family']}"}
                     for result in results], "family", "what is changed")
    complaints = []
    for result in results:
        if result.get("equivalent") and result["verdict"] in ("report", "result"):
            complaints.append(f"{result['mutant']} is listed as equivalent, but is killed: "
                              f"{result['detail']}")
    if not arguments.sample and not arguments.only and not arguments.kind:
        complaints += [f"no mutant matches the equivalents {entry['mutants']}" for entry in entries
                       if not entry["matched"]]
        complaints += [f"{row.equivalent_percent():.1f} % of the {kind} mutants are listed as "
                       f"equivalent; at most {MAX_EQUIVALENT_PERCENT} % may be"
                       for kind, row in rows.items()
                       if row.equivalent_percent() > MAX_EQUIVALENT_PERCENT]
    for kind, row in rows.items():
        goal = arguments.goal if arguments.goal is not None else GOALS[kind]
        if row.rate() < goal:
            complaints.append(f"{row.rate():.1f} % of the {kind} mutants are killed, the goal is "
                              f"{goal} %")
    for complaint in complaints:
        print(f"error: {complaint}")
    return len(complaints)


def sampled(pairs, count):
    """`count` mutants, as many of each kind as there are, in an order that their names decide."""
    ordered = sorted(pairs, key=lambda pair: digest(pair[1].name))
    by_kind = {kind: [pair for pair in ordered if pair[1].kind == kind] for kind in KINDS}
    chosen = []
    while len(chosen) < count and any(by_kind.values()):
        chosen += [queue.pop(0) for queue in by_kind.values() if queue]
    return chosen[:count]


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("manifest")
    parser.add_argument("--tools", default=os.path.join(ROOT, "build", "bin"),
                        help="folder of tcc-run and tcc-translate")
    parser.add_argument("--equivalents", help="default: equivalents.json beside the manifest")
    parser.add_argument("--state", help="file that keeps the verdicts of this and earlier runs")
    parser.add_argument("--out", help="JSON lines: every mutant and its verdict")
    parser.add_argument("--no-assembler", action="store_true", help="don't ask ptxas")
    parser.add_argument("--only", help="kernels whose name matches this regular expression")
    parser.add_argument("--kind", choices=KINDS, help="mutants of this kind alone")
    parser.add_argument("--sample", type=int, help="run this many mutants, the same in each run")
    parser.add_argument("--goal", type=float, help="percent to be killed, for all kinds")
    parser.add_argument("--tables", action="store_true", help="also by kernel and by instruction")
    parser.add_argument("--survivors", action="store_true", help="list the mutants that survive")
    parser.add_argument("--list", action="store_true", help="list every mutant, run none")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--timeout", type=float, default=60, help="seconds per launch")
    return parser.parse_args()


def main():
    arguments = parse_arguments()
    kernels = [kernel for kernel in read_manifest(arguments.manifest)
               if not arguments.only or re.search(arguments.only, kernel["name"])]
    if not kernels:
        sys.exit("no kernel")
    equivalents = arguments.equivalents or os.path.join(os.path.dirname(arguments.manifest),
                                                        "equivalents.json")
    entries = read_equivalents(equivalents)
    with tempfile.TemporaryDirectory() as scratch, \
            concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        runner = Runner(arguments, scratch, State(arguments.state))
        prepared = pool.map(lambda kernel: prepare(kernel, runner), kernels)
        pairs = [(kernel, mutant) for kernel, mutants in zip(kernels, prepared)
                 for mutant in mutants if arguments.kind in (None, mutant.kind)]
        if arguments.sample:
            pairs = sampled(pairs, arguments.sample)
        if arguments.list:
            for _, mutant in pairs:
                print(f"{mutant.name} [{mutant.kind}] {mutant.before} -> {mutant.after}")
            return 0

        def run(pair):
            kernel, mutant = pair
            verdict, detail = runner.verdict(mutant, kernel)
            return {"mutant": mutant.name, "kernel": kernel["name"], "kind": mutant.kind,
                    "family": mutant.family, "verdict": verdict, "detail": detail,
                    "before": mutant.before, "after": mutant.after}

        results = []
        for result in pool.map(run, pairs):
            results.append(result)
            if sys.stderr.isatty():
                print(f"\r{len(results)} of {len(pairs)}", end="", file=sys.stderr)
        refused = ask_ptxas([pair for pair, result in zip(pairs, results)
                             if result["verdict"] != "invalid"], runner, pool)
    for result in results:
        if result["mutant"] in refused:
            result["verdict"], result["detail"] = "invalid", refused[result["mutant"]]
    mark_equivalents(results, entries)
    if arguments.out:
        with open(arguments.out, "w", encoding="utf-8") as file:
            file.writelines(json.dumps(result) + "\n" for result in results)
    if arguments.survivors:
        for result in results:
            if result["verdict"] in ("clean", "limit") and not result.get("equivalent"):
                print(f"survived: {result['mutant']}: {result['before']} -> {result['after']} "
                      f"{result['detail']}")
    return 1 if report(results, entries, arguments) else 0


if __name__ == "__main__":
    sys.exit(main())
