// RUN: %run-cuda
// RUN: %run-debug-cuda
// A struct by value, constant memory, and a local array with dynamic indices.
//! {"kernel": "k", "grid": [1, 1, 1], "block": [32, 1, 1], "cluster": null, "dynamic_shared": 0, "compare": "exact"}
//!arg {"kind": "bytes", "hex": "000020400a000000140000001e000000"}
//!arg {"kind": "buffer", "dir": "out", "type": "f32", "expect": [11.0, 24.5, 38.0, 21.5, 31.0, 44.5, 28.0, 41.5, 31.0, 14.5, 28.0, 41.5, 21.0, 34.5, 48.0, 31.5, 21.0, 34.5, 18.0, 31.5, 41.0, 24.5, 38.0, 51.5, 11.0, 24.5, 38.0, 21.5, 31.0, 44.5, 28.0, 41.5]}
__constant__ float table[4] = {1, 2, 3, 4};
struct Parameters {
  float x;
  int y[3];
};

extern "C" __global__ void k(Parameters p, float *out) {
  float local[8];
  for (int i = 0; i < 8; ++i)
    local[i] = p.x * i + table[i & 3];
  out[threadIdx.x] = local[threadIdx.x & 7] + p.y[threadIdx.x % 3];
}
