#!/usr/bin/env python3
"""Makes a test vector of a GEMM kernel that doesn't describe itself.

    gemm-vector.py KERNEL.ptx OUT.ptx

The first line of KERNEL.ptx is `//gemm {...}`: the launch, the problem, and the parameters in order:
  "mapA", "mapB", "mapC"   tensor maps ("boxA" ..., "swizzleC"; with "halvesA" ... two maps, of the
                           even and the odd rows, the latter unused where they are not aligned)
  "A", "B", "C"            pointers
  "M", "N", "K"            u32
  "null", "zero"           a pointer or u32 that the kernel doesn't use
  "nullmap", "nullmap2"    one or two tensor maps that it doesn't use
C = A * B. A is stored MxK; B is stored NxK ("TN") or KxN ("NN"). With "swapped" the kernel computes
the transpose: its A is our B. Inputs are small integers, so the result is exact.
"""

import base64
import json
import struct
import sys

BYTES = {"bf16": 2, "f16": 2, "f32": 4, "tf32": 4, "s32": 4, "s8": 1, "e4m3": 1}
MAP_TYPE = {"e4m3": "u8", "s8": "u8", "tf32": "f32"}


def bits(value, kind):
    """An integer of at most 8 (e4m3), or a value to be rounded to nearest even."""
    if kind in ("f32", "tf32"):
        return struct.pack("<f", value)
    if kind == "f16":
        return struct.pack("<e", value)
    if kind == "bf16":
        word = struct.unpack("<I", struct.pack("<f", value))[0]
        return struct.pack("<H", (word + 0x7FFF + (word >> 16 & 1)) >> 16)
    if kind == "s32":
        return struct.pack("<i", value)
    if kind == "s8":
        return struct.pack("<b", value)
    magnitude = [0x00, 0x38, 0x40, 0x44, 0x48, 0x4A, 0x4C, 0x4E, 0x50][abs(value)]
    return bytes([magnitude | (0x80 if value < 0 else 0)])


def element(seed, row, k):
    """An integer from -3 to 3. Rows repeat after 29 or 31, so few dot products are needed."""
    return (row % seed * 1103 + k * k * 7 + (row % seed) * k * 13) % 97 % 7 - 3


def buffer(rows, kind, expect=None):
    table = {}
    data = b"".join(b"".join(table.setdefault(v, bits(v, kind)) for v in row) for row in rows)
    text = base64.b64encode(data).decode()
    if expect:
        return {"kind": "buffer", "dir": "out", "bytes": len(data), "expect": text}
    return {"kind": "buffer", "dir": "in", "bytes": len(data), "data": text}


def main():
    source, target = sys.argv[1:]
    with open(source) as file:
        first, text = file.read().split("\n", 1)
    g = json.loads(first.removeprefix("//gemm "))
    m, n, k, kind, out = g["M"], g["N"], g["K"], g["in"], g["out"]
    a = [[element(31, i, p) for p in range(k)] for i in range(m)]
    b = [[element(29, j + 7, p) for p in range(k)] for j in range(n)]
    dots = {}
    for i in range(min(m, 31)):
        for j in range(min(n, 29)):
            dots[i, j] = sum(x * y for x, y in zip(a[i], b[j]))
    c = [[dots[i % 31, j % 29] for j in range(n)] for i in range(m)]
    stored_b = b if g["layout"] == "TN" else [list(row) for row in zip(*b)]
    data = {"A": (a, kind, m, k), "B": (stored_b, kind, len(stored_b), len(stored_b[0])),
            "C": (c, out, m, n)}
    if g.get("swapped"):
        names = {"A": "B", "B": "A", "C": "C"}
    else:
        names = {"A": "A", "B": "B", "C": "C"}

    arguments = []
    for parameter in g["parameters"]:
        if parameter.startswith("map"):
            arguments += maps(parameter, g, data, names)
        elif parameter in data:
            arguments.append({"use": names[parameter]})
        elif parameter in ("M", "N", "K"):
            value = {"M": m, "N": n, "K": k}[parameter]
            arguments.append({"kind": "scalar", "type": "u32", "value": value})
        elif parameter in ("nullmap", "nullmap2"):
            arguments.append({"kind": "bytes", "hex": "00" * (256 if parameter[-1] == "2" else 128)})
        else:
            kinds = {"null": "u64", "zero": "u32"}
            arguments.append({"kind": "scalar", "type": kinds[parameter], "value": 0})
    arguments = place_buffers(arguments, data)

    launch = {key: g.get(key) for key in ("kernel", "grid", "block", "cluster", "dynamic_shared")}
    with open(target, "w") as file:
        file.write("//! " + json.dumps(launch) + "\n")
        for argument in arguments:
            file.write("//!arg " + json.dumps(argument) + "\n")
        file.write(text)


def maps(parameter, g, data, names):
    name = parameter[-1]
    _, kind, rows, columns = data[names[name]]
    pitch = columns * BYTES[kind]
    halves = 2 if g.get("halves" + name) else 1
    result = []
    for half in range(halves):
        result.append({
            "kind": "tensormap", "dtype": MAP_TYPE.get(kind, kind), "rank": 2,
            "dims": [columns, (rows + halves - 1 - half) // halves], "strides": [pitch * halves],
            "box": g["box" + name], "element_strides": [1, 1], "interleave": 0,
            "swizzle": g.get("swizzle" + name, "128B"), "oob": "zero", "of": names[name],
            "append": half > 0, "offset": 0 if half * pitch % 16 else half * pitch})
    return result


def place_buffers(arguments, data):
    """Buffers stand where they are a parameter, the others at the end; maps name them."""
    def make(name):
        values, kind, _, _ = data[name]
        return buffer(values, kind, expect=name == "C")
    where = {}
    placed = []
    for argument in arguments:
        name = argument.get("use")
        if name and name not in where:
            where[name] = len(placed)
            argument = make(name)
        placed.append(argument)
    for argument in arguments:
        name = argument.get("of")
        if name and name not in where:
            where[name] = len(placed)
            placed.append({**make(name), "hidden": True})
    for argument in placed:
        if "of" in argument:
            argument["buffer"] = where[argument.pop("of")]
    return placed


if __name__ == "__main__":
    main()
