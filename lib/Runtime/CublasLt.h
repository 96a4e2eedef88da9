//===- CublasLt.h - cublasLt as a peer to be measured against ---*- C++ -*-===//

#ifndef TCC_LIB_RUNTIME_CUBLASLT_H
#define TCC_LIB_RUNTIME_CUBLASLT_H

#include "CudaDriver.h"
#include "tcc/Runtime/Device.h"

namespace tcc::runtime::cuda {

/// One matmul on several input sets, by the algorithms that cublasLt's heuristic names. The library
/// is loaded at run time.
class CublasLt {
public:
  /// Fails where libcublasLt can't be loaded or has no algorithm for these types and shapes.
  static llvm::Expected<std::unique_ptr<CublasLt>> create(const Driver &driver,
                                                          llvm::ArrayRef<MatmulCall> calls);
  ~CublasLt();

  size_t getNumCandidates() const;
  /// Puts the matmul of one input set into the default stream.
  llvm::Error enqueue(size_t candidate, size_t set);

private:
  struct State;
  explicit CublasLt(std::unique_ptr<State> state);
  std::unique_ptr<State> state;
};

} // namespace tcc::runtime::cuda

#endif // TCC_LIB_RUNTIME_CUBLASLT_H
