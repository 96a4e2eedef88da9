//===- Requirements.h - Checks of an LLVM module before code generation ---===//

#ifndef TCC_LIB_TARGET_PTX_REQUIREMENTS_H
#define TCC_LIB_TARGET_PTX_REQUIREMENTS_H

#include "mlir/IR/Location.h"
#include "mlir/Support/LLVM.h"
#include "tcc/Arch/Chip.h"
#include "llvm/IR/Module.h"

namespace mlir::tcc {

/// Checks all that LLVM would abort on or leave to a linker that isn't there: instructions that the
/// chip lacks, functions that nothing defines, attributes of kernels that the chip lacks. Returns
/// the PTX version to generate: `asked`, or where that is 0 the lowest that has everything. Errors
/// are placed by the instructions' debug locations, or at `loc` where they have none.
FailureOr<unsigned> checkRequirements(const llvm::Module &module, const ::tcc::arch::Chip &chip,
                                      unsigned asked, Location loc);

} // namespace mlir::tcc

#endif // TCC_LIB_TARGET_PTX_REQUIREMENTS_H
