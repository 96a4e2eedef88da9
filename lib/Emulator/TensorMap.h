//===- TensorMap.h - Tensor maps and the boxes that TMA copies --*- C++ -*-===//
//
// The opaque 128 bytes of a tensor map, in the emulator's own encoding, and the walk over the box
// of one tensor copy (PTX ISA "Tensors", "Swizzling modes"; CUDA driver cuTensorMapEncodeTiled).
//
//===----------------------------------------------------------------------===//

#ifndef TCC_LIB_EMULATOR_TENSORMAP_H
#define TCC_LIB_EMULATOR_TENSORMAP_H

#include "tcc/Emulator/Emulator.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"

namespace tcc::emulator {

/// Bytes of an element.
unsigned elementBytes(TensorMapDescriptor::ElementType type);

/// The descriptor in the bytes that encodeTensorMap made; nothing for any other bytes.
std::optional<TensorMapDescriptor> decodeTensorMap(llvm::ArrayRef<uint8_t> bytes);

/// Sixteen bytes that a tensor copy moves. Rows of a box are whole numbers of them, and swizzling
/// moves them about as units.
struct TensorChunk {
  /// Shared address, swizzled.
  uint64_t shared;
  /// Address in the tensor; meaningless where `validBytes` is zero.
  uint64_t global;
  /// Leading bytes that lie in the tensor.
  unsigned validBytes;
};

/// One box of a tensor.
class TensorBox {
public:
  /// \p coordinates: innermost first, as many as the map has dimensions.
  TensorBox(const TensorMapDescriptor &map, llvm::ArrayRef<int32_t> coordinates);

  /// Bytes of all elements, inside the tensor or not: what a load adds to the mbarrier's count.
  uint64_t transactionBytes() const { return rows * rowBytes; }
  /// Bytes of shared memory that the box may touch: a swizzle moves a short row within its span.
  uint64_t sharedBytes() const { return rows * pitch; }

  /// Calls \p visit for every chunk, in the order of rows. For stores and reductions the tensor's
  /// innermost dimension is clipped at 16 bytes, not at the element: bytes up to the next multiple
  /// count as part of the tensor.
  void forEachChunk(uint64_t sharedBase, bool isStore,
                    llvm::function_ref<void(const TensorChunk &)> visit) const;

private:
  const TensorMapDescriptor &map;
  llvm::SmallVector<int64_t, 5> start;
  /// Elements of the box along each dimension, after element strides.
  llvm::SmallVector<uint64_t, 5> counts;
  uint64_t rows = 1, rowBytes = 0, pitch = 0;
};

/// A shared address as the swizzle of a tensor map or of a wgmma descriptor changes it: address
/// bits 4 to 6 are XORed with bits 7 to 9, less \p baseOffset, as far as the mode's span reaches.
uint64_t swizzleAddress(uint64_t address, unsigned spanBytes, unsigned baseOffset = 0);
/// 0, 32, 64 or 128.
unsigned swizzleSpan(TensorMapDescriptor::Swizzle swizzle);

/// What a load does to the bytes of elements inside the tensor (tf32 rounds), and what it fills
/// the others with.
void convertLoadedElements(TensorMapDescriptor::ElementType type,
                           llvm::MutableArrayRef<uint8_t> bytes);
void fillOutside(const TensorMapDescriptor &map, llvm::MutableArrayRef<uint8_t> bytes);

} // namespace tcc::emulator

#endif // TCC_LIB_EMULATOR_TENSORMAP_H
