#!/usr/bin/env python3
"""Writes GEMMs whose schedules cover all pairs of choices for TMA and wgmma, and compares their results.

    schedule-cases.py --out FOLDER [--full] [--tools FOLDER]
    schedule-cases.py --compare RESULTS.json

What is legal, the compiler says: it is asked about a pool of random combinations, and what it refuses
is counted by its message. From the others a greedy choice covers every pair of choices that occurs in
a legal combination; the pairs that occur in none are listed. With --full all legal combinations of the
pool are written. The manifest is for scripts/gpu-check.py; --compare takes its results. Each program
runs a size of its type, layout and kind alone, which must have the same bits under all schedules, and
sizes around its own tiles, stages and groups.
"""

import argparse
import collections
import importlib.util
import itertools
import json
import math
import os
import random
import re
import subprocess
import sys

CHIP = "sm_90a"
BLOCK_K = 64
CHOICES = {
    "block": [(64, 64), (64, 144), (128, 64), (128, 96), (192, 176), (128, 192), (64, 256)],
    "warps": [(4, 1), (8, 1), (4, 2)],
    "swapped": [False, True],
    "roles": ["cooperative", "ping_pong"],
    "persistent": [False, True],
    "pending": [0, 1],
    "epilogue": ["direct", "shared", "tma", "tma, chunk = 16", "tma, chunk = 24"],
    # Blocks along M and N, or so many that divide K.
    "cluster": [(1, 1), (2, 1), (1, 2), (2, 2), 2, 3, 8],
    "stages": [2, 3, 5],
    "raster": [1, 3, 8],
    "producer_warps": [1, 4],
    "dependent_launch": [False, True],
    "layout": ["NN", "NT", "TN", "TT"],
    "types": [("f16", "f32"), ("f16", "f16"), ("bf16", "bf16")],
    "kind": ["set", "add"],
}
POOL = 8000
COMMON_SIZE = (200, 136, 200)


def load_gemm_cases():
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "gemm-cases.py")
    spec = importlib.util.spec_from_file_location("gemm_cases", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


gemm_cases = load_gemm_cases()


def block_of(choice):
    """M and N: a choice's block and warps are along wgmma's m and n, which swapped operands turn."""
    return choice["block"][::-1] if choice["swapped"] else choice["block"]


def cluster_of(choice):
    """Blocks along M, N and K."""
    cluster = choice["cluster"]
    return (1, 1, cluster) if isinstance(cluster, int) else (*cluster, 1)


def schedule(choice):
    m, n = block_of(choice)
    warps = choice["warps"][::-1] if choice["swapped"] else choice["warps"]
    cluster_m, cluster_n, split_k = cluster_of(choice)
    return (f"#tcc.schedule<block = [{m}, {n}, {BLOCK_K}], warps = {list(warps)}, "
            f"mma = wgmma, transport = tma, stages = {choice['stages']}, "
            f"roles = {choice['roles']}, persistent = {str(choice['persistent']).lower()}, "
            f"pending = {choice['pending']}, cluster = [{cluster_m}, {cluster_n}], "
            f"raster = {choice['raster']}, epilogue = {choice['epilogue']}, "
            f"swapped = {str(choice['swapped']).lower()}, split_k = {split_k}, "
            f"producer_warps = {choice['producer_warps']}, "
            f"dependent_launch = {str(choice['dependent_launch']).lower()}>")


def program(choice):
    element, result = choice["types"]
    text = gemm_cases.gemm(element, result, choice["layout"], accumulate=choice["kind"] == "add")
    return text.replace(") {", f")\n    attributes {{tcc.schedule = {schedule(choice)}}} {{", 1)


def choose_pool():
    """Combinations without repetition, always the same ones."""
    generator = random.Random(90)
    pool = {}
    while len(pool) < POOL:
        values = tuple(generator.choice(values) for values in CHOICES.values())
        pool[values] = dict(zip(CHOICES, values))
    return list(pool.values())


def ask_compiler(pool, tools):
    """The message that each combination is refused with, or None."""
    separator, text, starts = "// -----\n", "", []
    for choice in pool:
        starts.append(text.count("\n") + 1 if not starts else line)
        part = program(choice) + separator
        line = starts[-1] + part.count("\n")
        text += part
    command = [os.path.join(tools, "tcc-opt"), f"--tcc-select-target=chip={CHIP}", "-o", os.devnull,
               "-split-input-file"]
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    messages = dict.fromkeys(range(len(pool)))
    for number, message in re.findall(r"^<stdin>:(\d+):\d+: error: (.*)$", done.stderr, re.M):
        index = max(i for i, start in enumerate(starts) if start <= int(number))
        messages[index] = messages[index] or message
    if done.returncode and not any(messages.values()):
        sys.exit(done.stderr)
    return [messages[i] for i in range(len(pool))]


def pairs(choice):
    return set(itertools.combinations(choice.items(), 2))


def cover(legal):
    """A few of the combinations that have all pairs that occur in any."""
    missing = set().union(*map(pairs, legal))
    chosen, left = [], {i: pairs(choice) for i, choice in enumerate(legal)}
    while missing:
        best = max(left, key=lambda i: len(left[i] & missing))
        missing -= left.pop(best)
        chosen.append(legal[best])
    return chosen


def group_of(choice):
    """Programs of a group compute the same from the same, and add products in the same order."""
    element, result = choice["types"]
    return "-".join([element, result, choice["layout"], choice["kind"]] +
                    [f"k{split}" for split in cluster_of(choice)[2:] if split > 1])


def find_partners(chosen, legal):
    """For each group with one program, the combination that differs most from it."""
    groups = collections.defaultdict(list)
    for choice in chosen:
        groups[group_of(choice)].append(choice)
    alone = {group: choices[0] for group, choices in groups.items() if len(choices) == 1}
    return [max((other for other in legal if group_of(other) == group),
                key=lambda other: len(other.items() - choice.items()))
            for group, choice in alone.items()]


def report(pool, messages, legal):
    """What was refused, and which pairs no legal combination has."""
    print(f"{len(pool)} combinations, {len(legal)} legal")
    kinds = collections.Counter(re.sub(r"\d+", "N", message.partition("; nearest legal")[0])
                                for message in messages if message)
    for kind, count in kinds.most_common():
        print(f"refused: {count} {kind}")
    covered = set().union(*map(pairs, legal))
    for (first, firsts), (second, seconds) in itertools.combinations(CHOICES.items(), 2):
        for one, other in itertools.product(firsts, seconds):
            if ((first, one), (second, other)) not in covered:
                print(f"never legal: {first} = {one} with {second} = {other}")


def own_size(choice, tiles_m, tiles_n, k):
    """Clusters' tiles along M and N, the last ones cut; rows that a tensor map allows."""
    block_m, block_n = block_of(choice)
    cluster_m, cluster_n, _ = cluster_of(choice)
    m = block_m * (cluster_m * tiles_m - 1) + 24
    n = block_n * (cluster_n * tiles_n - 1) + 40
    odd = 1 if choice["layout"][0] == "N" else 0
    return m + odd, n, k


def add_runs(cases, number, choice, has_own_sizes):
    group = group_of(choice)
    m, n = block_of(choice)
    summary = "-".join([f"{m}x{n}", "swapped" if choice["swapped"] else "plain", choice["roles"], str(choice["stages"]),
                        re.sub(r"\W+", "", choice["epilogue"]),
                        "x".join(map(str, cluster_of(choice)))])
    name, text = f"{number:03}-{group}-{summary}", program(choice)
    blocks, split_k = math.prod(cluster_of(choice)), cluster_of(choice)[2]

    def run(what, size, clusters):
        cases.add(name, text, what, gemm_cases.size_option(*size) +
                  f" --sm-count={blocks * clusters}")

    stages = choice["stages"]
    run(f"same={group}", COMMON_SIZE, 2)
    if not has_own_sizes:
        return
    run("one slab", own_size(choice, 1, 1, 40), 1)
    # Three tiles for one block: groups have two and one. Then slots wrap in the middle of a tile.
    run("stages - 1", own_size(choice, 3, 1, BLOCK_K * split_k * (stages - 1)), 1)
    run("stages + 1", own_size(choice, 1, 2, BLOCK_K * split_k * (stages + 1) - 8), 1)


def compare(path):
    """Fails if results that must have the same bits don't."""
    with open(path, encoding="utf-8") as file:
        results = json.load(file)
    groups = collections.defaultdict(lambda: collections.defaultdict(list))
    for case in results:
        name, _, group = case["case"].partition(" same=")
        if not group or "result" not in case:
            continue
        prints = tuple(check["fingerprint"] for check in case["result"]["checks"])
        groups[group][prints].append(name)
    alone = [group for group, prints in groups.items() if sum(map(len, prints.values())) == 1]
    differ = [group for group, prints in groups.items() if len(prints) > 1]
    for group in differ:
        print(f"{group}: results differ")
        for prints, names in groups[group].items():
            print("  ", *prints, *names)
    for group in alone:
        print(f"{group}: has one result, nothing to compare it with")
    print(f"{len(groups)} groups of equal results, {len(differ)} differ, {len(alone)} have one")
    sys.exit(1 if differ or alone or not groups else 0)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", help="folder of programs and manifest")
    parser.add_argument("--tools", default="build/bin", help="folder of tcc-opt")
    parser.add_argument("--full", action="store_true", help="write all legal combinations")
    parser.add_argument("--compare", metavar="RESULTS", help="JSON that gpu-check.py wrote")
    arguments = parser.parse_args()
    if arguments.compare:
        compare(arguments.compare)
    if not arguments.out:
        parser.error("expected --out or --compare")
    pool = choose_pool()
    messages = ask_compiler(pool, arguments.tools)
    legal = [choice for choice, message in zip(pool, messages) if not message]
    report(pool, messages, legal)
    cases = gemm_cases.Cases(CHIP, arguments.out)
    chosen = legal if arguments.full else cover(legal)
    partners = find_partners(chosen, legal)
    print(f"{len(chosen)} programs, and {len(partners)} to compare with")
    for number, choice in enumerate(chosen + partners):
        add_runs(cases, number, choice, has_own_sizes=number < len(chosen))
    cases.write()


if __name__ == "__main__":
    main()
