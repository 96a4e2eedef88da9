//===- Codegen.h - From LLVM IR to PTX text -------------------------------===//

#ifndef TCC_LIB_TARGET_PTX_CODEGEN_H
#define TCC_LIB_TARGET_PTX_CODEGEN_H

#include "llvm/IR/Module.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Target/TargetMachine.h"
#include <memory>
#include <string>

namespace mlir::tcc {

/// Marks every call that all threads of a warp must execute together as `convergent`. LLVM's own
/// declarations leave that out for wmma, ldmatrix and others, and its passes then sink such calls
/// into divergent branches.
void markCollectives(llvm::Module &module);

/// A code generator for the chip and PTX version (as major * 10 + minor), with shared, constant and
/// local addresses of 32 bits.
llvm::Expected<std::unique_ptr<llvm::TargetMachine>> createTargetMachine(llvm::StringRef chip,
                                                                         unsigned ptxVersion);

/// Runs the fixed LLVM pipeline (docs/Rationale.md, "LLVM pipeline").
void optimize(llvm::Module &module, llvm::TargetMachine &machine);

/// While one stands, what LLVM treats as fatal (an intrinsic that can't be selected, say) comes
/// back from generatePTX as an error. One at a time in a process, for LLVM's handler is global;
/// threads share it.
class FatalErrorsAsErrors {
public:
  FatalErrorsAsErrors();
  ~FatalErrorsAsErrors();

private:
  llvm::ScopedFatalErrorHandler handler;
};

/// The PTX text of the module.
llvm::Expected<std::string> generatePTX(llvm::Module &module, llvm::TargetMachine &machine);

} // namespace mlir::tcc

#endif // TCC_LIB_TARGET_PTX_CODEGEN_H
