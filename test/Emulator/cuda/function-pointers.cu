// RUN: %run-cuda
// RUN: %run-debug-cuda
// Calls through a table of function pointers, to different functions in one warp.
//! {"kernel": "k", "grid": [1, 1, 1], "block": [32, 1, 1], "cluster": null, "dynamic_shared": 0, "compare": "exact"}
//!arg {"kind": "buffer", "dir": "out", "type": "s32", "expect": [1, 2, 3, 6, 5, 10, 7, 14, 9, 18, 11, 22, 13, 26, 15, 30, 17, 34, 19, 38, 21, 42, 23, 46, 25, 50, 27, 54, 29, 58, 31, 62]}
typedef int (*Function)(int);
__device__ int increment(int x) { return x + 1; }
__device__ int twice(int x) { return x * 2; }
__device__ Function table[2] = {increment, twice};

extern "C" __global__ void k(int *out) { out[threadIdx.x] = table[threadIdx.x & 1](threadIdx.x); }
