// RUN: %run-cuda
// RUN: %run-debug-cuda
// A recursive device function, called by diverged lanes.
//! {"kernel": "k", "grid": [1, 1, 1], "block": [32, 1, 1], "cluster": null, "dynamic_shared": 0, "compare": "exact"}
//!arg {"kind": "buffer", "dir": "out", "type": "s32", "expect": [1, 1, 2, 6, 24, 120, 720, 5040, 1, 1, 2, 6, 24, 120, 720, 5040, 1, 1, 2, 6, 24, 120, 720, 5040, 1, 1, 2, 6, 24, 120, 720, 5040]}
__device__ __noinline__ int factorial(int n) { return n <= 1 ? 1 : n * factorial(n - 1); }

extern "C" __global__ void k(int *out) { out[threadIdx.x] = factorial(threadIdx.x % 8); }
