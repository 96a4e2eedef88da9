//===- AsyncQueue.h - Asynchronous work that has not landed -----*- C++ -*-===//
//
// Asynchronous work is as late as the ISA allows: an operation is performed only when a wait
// demands it, or when no warp can go on without it.
//
//===----------------------------------------------------------------------===//

#ifndef TCC_LIB_EMULATOR_ASYNCQUEUE_H
#define TCC_LIB_EMULATOR_ASYNCQUEUE_H

#include <cstdint>
#include <functional>
#include <list>

namespace tcc::emulator {

class Warp;

struct AsyncOperation {
  uint64_t id = 0;
  /// Who issued it.
  Warp *warp = nullptr;
  uint32_t lane = 0;
  /// Index of the instruction, for reports.
  uint32_t instruction = 0;
  /// The bulk group of the lane that it belongs to, if it completes by groups.
  bool usesBulkGroup = false;
  uint32_t bulkGroup = 0;
  /// The mbarrier that it completes on (shared-space address), or 0.
  uint64_t mbarrier = 0;
  /// Takes the bytes of a source that may be reused before the result is visible; null where there
  /// is no such source, or when it is done.
  std::function<void()> readSource;
  /// Moves the data and signals. The source has been read.
  std::function<void()> perform;
};

class AsyncQueue {
public:
  void push(AsyncOperation operation) {
    operation.id = nextId++;
    operations.push_back(std::move(operation));
  }
  bool empty() const { return operations.empty(); }
  std::list<AsyncOperation> &pending() { return operations; }
  /// Performs the first operation that `isWanted` accepts; false when there is none.
  bool performFirst(const std::function<bool(const AsyncOperation &)> &isWanted);
  /// Reads the sources of all operations that `isWanted` accepts; their results stay invisible.
  void readSources(const std::function<bool(const AsyncOperation &)> &isWanted);

private:
  std::list<AsyncOperation> operations;
  uint64_t nextId = 1;
};

} // namespace tcc::emulator

#endif // TCC_LIB_EMULATOR_ASYNCQUEUE_H
