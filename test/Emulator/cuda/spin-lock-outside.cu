// RUN: %run-cuda
// The lane that has left the spin loop must go on to release the lock the others spin for.
//! {"kernel": "k", "grid": [1, 1, 1], "block": [64, 1, 1], "cluster": null, "dynamic_shared": 0, "compare": "exact"}
//!arg {"kind": "buffer", "dir": "inout", "type": "s32", "data": [0], "expect": [0]}
//!arg {"kind": "buffer", "dir": "inout", "type": "s32", "data": [0], "expect": [64]}
extern "C" __global__ void k(int *lock, int *counter) {
  while (atomicCAS(lock, 0, 1) != 0)
    ;
  *(volatile int *)counter = *(volatile int *)counter + 1;
  __threadfence();
  atomicExch(lock, 0);
}
