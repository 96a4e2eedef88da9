//===- Tensor.cpp - Matrices in host memory -------------------------------===//

#include "tcc/Runtime/Tensor.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"
#include <cstring>
#include <new>
#include <unistd.h>

using namespace llvm;

namespace tcc::runtime {

int64_t TensorLayout::getNumElements() const {
  int64_t count = 1;
  for (int64_t size : shape)
    count *= size;
  return count;
}

int64_t TensorLayout::getSpan() const {
  int64_t last = 0;
  for (auto [size, stride] : zip(shape, strides)) {
    if (size == 0)
      return 0;
    last += (size - 1) * stride;
  }
  return last + 1;
}

int64_t TensorLayout::getElementOffset(ArrayRef<int64_t> index) const {
  int64_t result = 0;
  for (auto [i, stride] : zip(index, strides))
    result += i * stride;
  return result;
}

std::string TensorLayout::str() const {
  std::string dims = join(map_range(shape, [](int64_t size) { return std::to_string(size); }), "x");
  return dims + (dims.empty() ? "" : " ") + getName(type).str();
}

TensorLayout makeDenseLayout(ElementType type, ArrayRef<int64_t> shape) {
  TensorLayout layout{type, Shape(shape), Shape(shape.size(), 1)};
  for (size_t i = shape.size(); i-- > 1;)
    layout.strides[i - 1] = layout.strides[i] * std::max<int64_t>(shape[i], 1);
  return layout;
}

/// The dimensions from the largest stride to the smallest.
static SmallVector<unsigned, 4> sortByStride(const TensorLayout &layout) {
  auto dims = to_vector<4>(seq<unsigned>(0, layout.shape.size()));
  stable_sort(dims, [&](unsigned a, unsigned b) { return layout.strides[a] > layout.strides[b]; });
  return dims;
}

Error verifyLayout(const TensorLayout &layout) {
  constexpr int64_t maxBytes = int64_t(1) << 47; // the user address space of x86-64 and of CUDA
  if (layout.offset < 0 || layout.offset > maxBytes)
    return createStringError("the offset " + Twine(layout.offset) + " is out of range");
  int64_t span = 1, elements = 1;
  // Elements that aren't there overlap nothing: a packed matrix of K = 0 has a leading dimension of
  // 0.
  bool isEmpty = is_contained(layout.shape, 0);
  // From the innermost out: a stride must step over all that lies within.
  for (unsigned dim : reverse(sortByStride(layout))) {
    int64_t size = layout.shape[dim], stride = layout.strides[dim], step, end;
    if (size < 0 || stride < 0)
      return createStringError("sizes and strides must not be negative, found size " + Twine(size) +
                               " and stride " + Twine(stride));
    if (MulOverflow(std::max<int64_t>(size - 1, 0), stride, step) || AddOverflow(step, span, end) ||
        MulOverflow(elements, std::max<int64_t>(size, 1), elements))
      return createStringError("the size doesn't fit in 64 bits");
    if (!isEmpty && size > 1 && stride < span)
      return createStringError("stride " + Twine(stride) + " of dimension " + Twine(dim) +
                               " makes elements overlap, expected at least " + Twine(span));
    span = end;
  }
  int64_t bytes;
  if (MulOverflow(span, int64_t(getByteSize(layout.type)), bytes) || bytes > maxBytes)
    return createStringError("more than 2^47 bytes");
  return Error::success();
}

void forEachRun(const TensorLayout &layout, function_ref<void(int64_t, int64_t)> visit) {
  if (is_contained(layout.shape, 0))
    return;
  SmallVector<unsigned, 4> dims = sortByStride(layout);
  int64_t run = 1;
  // Dimensions that continue the run are part of it.
  while (!dims.empty() && (layout.strides[dims.back()] == run || layout.shape[dims.back()] == 1))
    run *= layout.shape[dims.pop_back_val()];
  Shape index(dims.size(), 0);
  while (true) {
    int64_t offset = 0;
    for (auto [i, dim] : zip(index, dims))
      offset += i * layout.strides[dim];
    visit(offset, run);
    size_t i = dims.size();
    while (i > 0 && ++index[i - 1] == layout.shape[dims[i - 1]])
      index[--i] = 0;
    if (i == 0)
      return;
  }
}

Expected<HostTensor> HostTensor::create(TensorLayout layout, int64_t guard) {
  if (Error error = verifyLayout(layout))
    return std::move(error);
  HostTensor tensor;
  tensor.size = 2 * guard + (layout.offset + layout.getSpan()) * getByteSize(layout.type);
  tensor.layout = std::move(layout);
  tensor.guard = guard;
  // Linux hands out memory that it doesn't have, and kills the process later.
  uint64_t memory = uint64_t(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
  if (tensor.size < memory)
    tensor.bytes.reset(new (std::nothrow) uint8_t[tensor.size]());
  if (!tensor.bytes)
    return createStringError("needs " + Twine(tensor.size >> 20) +
                             " MiB of host memory, this "
                             "machine has " +
                             Twine(memory >> 20));
  return tensor;
}

int64_t HostTensor::getBaseOffset() const {
  return guard + layout.offset * getByteSize(layout.type);
}

uint8_t *HostTensor::getElement(int64_t elementOffset) {
  return bytes.get() + getBaseOffset() + elementOffset * getByteSize(layout.type);
}

const uint8_t *HostTensor::getElement(int64_t elementOffset) const {
  return bytes.get() + getBaseOffset() + elementOffset * getByteSize(layout.type);
}

uint64_t fingerprint(const HostTensor &tensor) {
  const TensorLayout &layout = tensor.getLayout();
  unsigned bytes = getByteSize(layout.type);
  uint64_t result = 0xcbf29ce484222325; // FNV-1a, an element at a time
  Shape index(layout.shape.size(), 0);
  for (int64_t i = 0, count = layout.getNumElements(); i < count; ++i) {
    uint64_t bits = 0;
    std::memcpy(&bits, tensor.getElement(layout.getElementOffset(index)), bytes);
    result = (result ^ bits) * 0x100000001b3;
    result ^= result >> 32;
    for (size_t dim = index.size(); dim-- > 0 && ++index[dim] == layout.shape[dim];)
      index[dim] = 0;
  }
  return result;
}

} // namespace tcc::runtime
