// RUN: %run-cuda
// RUN: %run-debug-cuda
// Lanes of one warp take a lock in turn: each must make progress while others spin.
//! {"kernel": "k", "grid": [2, 1, 1], "block": [64, 1, 1], "cluster": null, "dynamic_shared": 0, "compare": "exact"}
//!arg {"kind": "buffer", "dir": "inout", "type": "s32", "data": [0], "expect": [0]}
//!arg {"kind": "buffer", "dir": "inout", "type": "s32", "data": [0], "expect": [384]}
extern "C" __global__ void k(int *lock, int *counter) {
  for (int round = 0; round < 3; ++round) {
    bool done = false;
    while (!done) {
      if (atomicCAS(lock, 0, 1) == 0) {
        *(volatile int *)counter = *(volatile int *)counter + 1;
        __threadfence();
        atomicExch(lock, 0);
        done = true;
      }
    }
  }
}
