// RUN: %run-cuda
// RUN: %run-debug-cuda
// A dense switch with fall-through, which nvcc turns into brx.idx.
//! {"kernel": "k", "grid": [1, 1, 1], "block": [32, 1, 1], "cluster": null, "dynamic_shared": 0, "compare": "exact"}
//!arg {"kind": "buffer", "dir": "out", "type": "s32", "expect": [1, 4, -3, 0, 12, 0, 76, 8, 32, -10, 0, 33, 7, 65, 15, 60, -17, 0, 54, 14, 90, 22, 88, -24, 0, 75, 21, 87, 29, 116, -31, 0]}
//!arg {"kind": "scalar", "type": "s32", "value": 3}
extern "C" __global__ void k(int *out, int offset) {
  int v = threadIdx.x;
  switch ((v + offset) % 7) {
  case 0: v *= 3; break;
  case 1: v -= 5; break;
  case 2: v ^= 77; // falls through
  case 3: v += 1; break;
  case 4: v <<= 2; break;
  case 5: v = ~v; break;
  default: v = 0;
  }
  out[threadIdx.x] = v;
}
