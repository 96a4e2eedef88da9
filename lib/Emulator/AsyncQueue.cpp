//===- AsyncQueue.cpp - Asynchronous work that has not landed ---*- C++ -*-===//

#include "AsyncQueue.h"

using namespace tcc::emulator;

bool AsyncQueue::performFirst(const std::function<bool(const AsyncOperation &)> &isWanted) {
  for (auto it = operations.begin(); it != operations.end(); ++it) {
    if (!isWanted(*it))
      continue;
    // Performing may push further operations.
    AsyncOperation operation = std::move(*it);
    operations.erase(it);
    if (operation.readSource)
      operation.readSource();
    operation.perform();
    return true;
  }
  return false;
}

void AsyncQueue::readSources(const std::function<bool(const AsyncOperation &)> &isWanted) {
  for (AsyncOperation &operation : operations) {
    if (!operation.readSource || !isWanted(operation))
      continue;
    operation.readSource();
    operation.readSource = nullptr;
  }
}
