// RUN: %run-cuda
// RUN: %run-debug-cuda
// Shuffles and ballots.
//! {"kernel": "k", "grid": [1, 1, 1], "block": [32, 1, 1], "cluster": null, "dynamic_shared": 0, "compare": "exact"}
//!arg {"kind": "buffer", "dir": "out", "type": "s32", "expect": [512, 512, 512, 512, 512, 512, 512, 512, 512, 512, 512, 512, 512, 512, 512, 512, 512, 512, 512, 512, 512, 512, 512, 512, 512, 512, 512, 512, 512, 512, 512, 512]}
extern "C" __global__ void k(int *out) {
  int sum = threadIdx.x;
  for (int distance = 16; distance; distance >>= 1)
    sum += __shfl_xor_sync(~0u, sum, distance);
  out[threadIdx.x] = sum + __popc(__ballot_sync(~0u, threadIdx.x & 1));
}
