//===- ArgumentSet.cpp - A kernel's arguments on host and device ----------===//

#include "ArgumentSet.h"
#include "tcc/Runtime/Fill.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace tcc::runtime {

Expected<ArgumentSet> ArgumentSet::create(Device &device, const Kernel &kernel,
                                          const Problem &problem) {
  ArgumentSet set;
  set.device = &device;
  set.symbols = problem.symbols;
  set.symbols["sm_count"] = device.getInfo().smCount;
  // A multiple of 256, so that guards leave the alignment as it is.
  int64_t guard = device.detectsOutOfBounds() ? 0 : 4096;
  for (auto [argument, layout] : zip(kernel.arguments, problem.layouts)) {
    Expected<HostTensor> tensor = HostTensor::create(layout, guard);
    if (!tensor)
      return createStringError("argument '" + argument.name + "': " + toString(tensor.takeError()));
    Expected<DeviceBuffer> buffer = DeviceBuffer::create(device, tensor->getBytes().size());
    if (!buffer)
      return createStringError("argument '" + argument.name + "': " + toString(buffer.takeError()));
    poison(*tensor);
    set.symbols[argument.name + ".ptr"] = buffer->getAddress() + tensor->getBaseOffset();
    set.host.push_back(std::move(*tensor));
    set.buffers.push_back(std::move(*buffer));
  }
  return set;
}

StringMap<const HostTensor *> ArgumentSet::getHostByName(const Kernel &kernel) const {
  StringMap<const HostTensor *> byName;
  for (auto [argument, tensor] : zip(kernel.arguments, host))
    byName[argument.name] = &tensor;
  return byName;
}

void ArgumentSet::copyHostFrom(ArgumentSet &other) {
  for (auto [to, from] : zip_equal(host, other.host))
    copy(from.getBytes(), to.getBytes().begin());
}

Error ArgumentSet::upload() {
  for (auto [tensor, buffer] : zip(host, buffers))
    if (Error error = device->copyIn(buffer.getAddress(), tensor.getBytes()))
      return error;
  return Error::success();
}

Expected<HostTensor> ArgumentSet::download(size_t argument) {
  const HostTensor &before = host[argument];
  Expected<HostTensor> after = HostTensor::create(before.getLayout(), before.getGuard());
  if (!after)
    return after;
  if (Error error = device->copyOut(buffers[argument].getAddress(), after->getBytes()))
    return std::move(error);
  return after;
}

} // namespace tcc::runtime
