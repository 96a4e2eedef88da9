#!/usr/bin/env python3
"""Measures what blocks get from a Hopper GPU's L2 cache by TMA, by which copy the same rows.

    bench/l2-fetches.py [--out l2.json]

One thread of each block copies boxes of rows of 128 bytes into a ring of slots, waits, and begins
again: nothing is computed, all data is in the L2 cache. A case says which rows each block copies.
Prints the cycles of a block for a row, and the bytes that all blocks together get a cycle; last
where the device places blocks and clusters. lib/Arch's cyclesPerGpcRow comes from it. Needs Python
and the driver alone.
"""

import argparse
import ctypes
import json
import statistics
import sys

BLOCKS = 132
ROWS, SLOTS, SLABS = 128, 4, 256
MATRIX_BYTES, COLUMNS, PITCH = 90 << 20, 1024, 2048
SHARED_BYTES = 225 * 1024

# A block's row is found by its number, or by its multiprocessor's.
PTX = """
.version 8.0
.target sm_90a
.address_size 64
.extern .shared .align 1024 .b8 shared[];
.visible .entry fetch(.param .align 64 .b8 map[128], .param .u64 rows, .param .u64 results,
                      .param .u32 by_multiprocessor)
{
  .reg .b64 %rd<16>;
  .reg .b32 %r<32>;
  .reg .pred %p<8>;
  mov.u32 %r0, %tid.x;
  setp.ne.u32 %p0, %r0, 0;
  @%p0 bra DONE;
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %smid;
  ld.param.u32 %r3, [by_multiprocessor];
  setp.ne.u32 %p1, %r3, 0;
  selp.u32 %r4, %r2, %r1, %p1;
  ld.param.u64 %rd0, [rows];
  cvta.to.global.u64 %rd0, %rd0;
  mul.wide.u32 %rd1, %r4, 4;
  add.u64 %rd0, %rd0, %rd1;
  ld.global.u32 %r5, [%rd0];
  mov.u32 %r10, shared;
  add.u32 %r11, %r10, 1024;
  mov.u32 %r12, 0;
INIT:
  shl.b32 %r13, %r12, 3;
  add.u32 %r13, %r13, %r10;
  mbarrier.init.shared.b64 [%r13], 1;
  add.u32 %r12, %r12, 1;
  setp.lt.u32 %p2, %r12, SLOTS;
  @%p2 bra INIT;
  fence.proxy.async;
  mov.b64 %rd2, map;
  cvta.param.u64 %rd2, %rd2;
  mov.u64 %rd3, %clock64;
  mov.u32 %r20, 0;
  mov.u32 %r21, 0;
  mov.u32 %r22, 1;
LOOP:
  shl.b32 %r23, %r21, 3;
  add.u32 %r23, %r23, %r10;
  setp.lt.u32 %p3, %r20, SLOTS;
  @%p3 bra COPY;
WAIT:
  mbarrier.try_wait.parity.shared.b64 %p4, [%r23], %r22;
  @!%p4 bra WAIT;
COPY:
  setp.ge.u32 %p5, %r20, SLABS;
  @%p5 bra NEXT;
  mbarrier.arrive.expect_tx.shared.b64 _, [%r23], BYTES;
  mad.lo.u32 %r25, %r21, BYTES, %r11;
  and.b32 %r26, %r20, 15;
  shl.b32 %r26, %r26, 6;
  cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes
      [%r25], [%rd2, {%r26, %r5}], [%r23];
NEXT:
  add.u32 %r20, %r20, 1;
  add.u32 %r21, %r21, 1;
  setp.eq.u32 %p6, %r21, SLOTS;
  @!%p6 bra SAME_ROUND;
  mov.u32 %r21, 0;
  xor.b32 %r22, %r22, 1;
SAME_ROUND:
  setp.lt.u32 %p7, %r20, SLABS_AND_SLOTS;
  @%p7 bra LOOP;
  mov.u64 %rd4, %clock64;
  sub.u64 %rd4, %rd4, %rd3;
  cvt.u32.u64 %r28, %rd4;
  ld.param.u64 %rd5, [results];
  cvta.to.global.u64 %rd5, %rd5;
  mul.wide.u32 %rd6, %r1, 8;
  add.u64 %rd5, %rd5, %rd6;
  st.global.v2.u32 [%rd5], {%r28, %r2};
DONE:
  ret;
}
"""


class LaunchConfig(ctypes.Structure):
    _fields_ = [("grid", ctypes.c_uint * 3), ("block", ctypes.c_uint * 3),
                ("shared_bytes", ctypes.c_uint), ("stream", ctypes.c_void_p),
                ("attributes", ctypes.c_void_p), ("attribute_count", ctypes.c_uint)]


class LaunchAttribute(ctypes.Structure):
    _fields_ = [("id", ctypes.c_int), ("padding", ctypes.c_int), ("value", ctypes.c_uint * 16)]


ATTRIBUTE_CLUSTER, FUNCTION_SHARED_BYTES = 4, 8
TYPE_BF16, SWIZZLE_128, PROMOTION_128 = 9, 3, 2


class Device:
    def __init__(self, library):
        self.driver = ctypes.CDLL(library)
        self.call("cuInit", 0)
        device, context = ctypes.c_int(), ctypes.c_void_p()
        self.call("cuDeviceGet", ctypes.byref(device), 0)
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        self.call("cuCtxSetCurrent", context)
        text = PTX
        for name, value in (("SLABS_AND_SLOTS", SLABS + SLOTS), ("SLABS", SLABS),
                            ("SLOTS", SLOTS), ("BYTES", ROWS * 128)):
            text = text.replace(name, str(value))
        module, self.kernel = ctypes.c_void_p(), ctypes.c_void_p()
        self.call("cuModuleLoadData", ctypes.byref(module), text.encode() + b"\0")
        self.call("cuModuleGetFunction", ctypes.byref(self.kernel), module, b"fetch")
        self.call("cuFuncSetAttribute", self.kernel, FUNCTION_SHARED_BYTES, SHARED_BYTES)
        self.matrix = self.allocate(MATRIX_BYTES + (1 << 20))
        self.call("cuMemsetD8_v2", self.matrix, 1, ctypes.c_size_t(MATRIX_BYTES + (1 << 20)))
        self.rows, self.results = self.allocate(4 * BLOCKS), self.allocate(8 * BLOCKS)

    def call(self, name, *arguments):
        status = getattr(self.driver, name)(*arguments)
        if status:
            raise RuntimeError(f"{name} failed with status {status}")

    def allocate(self, size):
        pointer = ctypes.c_uint64()
        self.call("cuMemAlloc_v2", ctypes.byref(pointer), ctypes.c_size_t(size))
        return pointer

    def encode_map(self, row_count, pitch):
        """A tensor map, which must lie on a 64-byte boundary."""
        storage = (ctypes.c_uint8 * 256)()
        offset = -ctypes.addressof(storage) % 64
        tensor_map = (ctypes.c_uint8 * 128).from_buffer(storage, offset)
        self.call("cuTensorMapEncodeTiled", ctypes.byref(tensor_map), TYPE_BF16, 2, self.matrix,
                  (ctypes.c_uint64 * 2)(COLUMNS, row_count), (ctypes.c_uint64 * 1)(pitch),
                  (ctypes.c_uint32 * 2)(64, ROWS), (ctypes.c_uint32 * 2)(1, 1), 0, SWIZZLE_128,
                  PROMOTION_128, 0)
        return tensor_map

    def run(self, rows, blocks=BLOCKS, cluster=1, by_multiprocessor=False, pitch=PITCH,
            row_count=None, repeat=4):
        """Cycles and multiprocessor of each block, of the fastest launch."""
        tensor_map = self.encode_map(row_count or MATRIX_BYTES // pitch, pitch)
        table = (ctypes.c_uint32 * BLOCKS)(*rows)
        self.call("cuMemcpyHtoD_v2", self.rows, table, ctypes.c_size_t(4 * BLOCKS))
        values = [tensor_map, self.rows, self.results, ctypes.c_uint32(by_multiprocessor)]
        parameters = (ctypes.c_void_p * 4)(
            *[ctypes.cast(ctypes.byref(value), ctypes.c_void_p) for value in values])
        config = LaunchConfig()
        config.grid[:], config.block[:] = [blocks, 1, 1], [32, 1, 1]
        config.shared_bytes = SHARED_BYTES
        attribute = LaunchAttribute(id=ATTRIBUTE_CLUSTER)
        attribute.value[0:3] = [cluster, 1, 1]
        if cluster > 1:
            config.attributes, config.attribute_count = ctypes.addressof(attribute), 1
        best = None
        for _ in range(repeat):
            self.call("cuLaunchKernelEx", ctypes.byref(config), self.kernel, parameters, None)
            self.call("cuCtxSynchronize")
            out = (ctypes.c_uint32 * (2 * blocks))()
            self.call("cuMemcpyDtoH_v2", out, self.results, ctypes.c_size_t(8 * blocks))
            found = list(out[0::2]), list(out[1::2])
            if best is None or sum(found[0]) < sum(best[0]):
                best = found
        return best


def get_cases():
    """Name, the rows at which blocks begin, and options."""
    every = range(BLOCKS)
    different = [block * ROWS for block in every]
    for blocks in (1, 33, 66, 99, BLOCKS):
        yield f"{blocks} blocks, each its own rows", different, {"blocks": blocks}
    yield "all the same rows", [0] * BLOCKS, {}
    for size in (2, 4, 8, 16):
        yield (f"{size} blocks in a row have the same rows",
               [block // size * ROWS for block in every], {})
        yield (f"every {BLOCKS // size}th block has the same rows",
               [block % (BLOCKS // size) * ROWS for block in every], {})
    for size in (2, 4, 8, 16):
        yield (f"{size} multiprocessors in a row have the same rows",
               [number // size * ROWS for number in every], {"by_multiprocessor": True})
    for pitch in (PITCH + 16, PITCH + 32, PITCH + 64):
        for blocks in (1, 66, BLOCKS):
            yield (f"{blocks} blocks, each its own rows, pitch {pitch}", different,
                   {"blocks": blocks, "pitch": pitch})
        for size in (2, 4, 16):
            yield (f"{size} blocks in a row have the same rows, pitch {pitch}",
                   [block // size * ROWS for block in every], {"pitch": pitch})
    for blocks in (1, 16, 33, 66, BLOCKS):
        yield (f"{blocks} blocks, rows beyond the matrix",
               [2048 + row for row in different], {"blocks": blocks, "row_count": 1024})


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", help="JSON file of the results")
    parser.add_argument("--library", default="libcuda.so.1", help="the driver's library")
    arguments = parser.parse_args()
    try:
        device = Device(arguments.library)
        places = {cluster: device.run([0] * BLOCKS, blocks, cluster, repeat=1)[1]
                  for cluster, blocks in ((1, 132), (2, 132), (4, 120), (8, 120))}
        results = []
        for name, rows, options in get_cases():
            cycles, _ = device.run(rows, **options)
            per_row = [count / SLABS / ROWS for count in cycles]
            results.append({"case": name, "cycles_per_row": round(statistics.mean(per_row), 2),
                            "slowest_block": round(max(per_row), 2),
                            "bytes_per_cycle": round(sum(128 / value for value in per_row))})
            print("{case}: {cycles_per_row} cycles a row (slowest block {slowest_block}), "
                  "{bytes_per_cycle} bytes a cycle".format(**results[-1]))
    except (OSError, RuntimeError) as error:
        print(f"l2-fetches.py: {error}; it needs a Hopper GPU and its driver", file=sys.stderr)
        return 1
    for cluster, multiprocessors in places.items():
        print(f"clusters of {cluster}: multiprocessors {multiprocessors}")
    if arguments.out:
        with open(arguments.out, "w", encoding="utf-8") as file:
            json.dump({"multiprocessors_of_blocks": places, "cases": results}, file, indent=1)
    return 0


if __name__ == "__main__":
    sys.exit(main())
