//===- Tensor.h - Matrices in host memory -----------------------*- C++ -*-===//

#ifndef TCC_RUNTIME_TENSOR_H
#define TCC_RUNTIME_TENSOR_H

#include "tcc/Metadata/ElementType.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"
#include <memory>
#include <string>

namespace tcc::runtime {

using metadata::ElementType;
using Shape = llvm::SmallVector<int64_t, 4>;

/// Where the elements of an argument lie. Strides and offset count elements; strides are not
/// negative and no two elements overlap.
struct TensorLayout {
  ElementType type = ElementType::F32;
  Shape shape;
  Shape strides;
  int64_t offset = 0; // of element (0, …, 0) from the start of the allocation

  int64_t getNumElements() const;
  /// Elements from (0, …, 0) to the last one, both included; 0 where there is none.
  int64_t getSpan() const;
  int64_t getElementOffset(llvm::ArrayRef<int64_t> index) const;
  /// "1000x64 f16"
  std::string str() const;
};

/// Row-major without padding.
TensorLayout makeDenseLayout(ElementType type, llvm::ArrayRef<int64_t> shape);

/// Fails where sizes or strides are negative, two elements would overlap, or the bytes don't fit in
/// 2^47.
llvm::Error verifyLayout(const TensorLayout &layout);

/// Calls `visit(offset, count)` for every run of elements that lie side by side, in ascending
/// order of offsets (in elements from (0, …, 0)).
void forEachRun(const TensorLayout &layout, llvm::function_ref<void(int64_t, int64_t)> visit);

/// The bytes of an argument with `guard` bytes before and after.
class HostTensor {
public:
  HostTensor() = default;
  /// Every byte is 0 at first. Fails where the machine hasn't the memory.
  static llvm::Expected<HostTensor> create(TensorLayout layout, int64_t guard);

  const TensorLayout &getLayout() const { return layout; }
  int64_t getGuard() const { return guard; }
  /// All bytes, guards and offset included: what lies on the device.
  llvm::MutableArrayRef<uint8_t> getBytes() { return {bytes.get(), size}; }
  llvm::ArrayRef<uint8_t> getBytes() const { return {bytes.get(), size}; }
  /// Bytes from the start of getBytes() to element (0, …, 0).
  int64_t getBaseOffset() const;
  uint8_t *getElement(int64_t elementOffset);
  const uint8_t *getElement(int64_t elementOffset) const;

private:
  TensorLayout layout;
  int64_t guard = 0;
  std::unique_ptr<uint8_t[]> bytes;
  size_t size = 0;
};

/// A hash of the elements' bits in row-major order, whatever the strides.
uint64_t fingerprint(const HostTensor &tensor);

} // namespace tcc::runtime

#endif // TCC_RUNTIME_TENSOR_H
