//===- Instructions.h - What instructions ask of chip and PTX version -----===//
//
// An instruction goes by the name of its LLVM intrinsic without "llvm.nvvm." or by its PTX
// mnemonic: the two agree in their first words, which is what the tables go by.
//
//===----------------------------------------------------------------------===//

#ifndef TCC_LIB_TARGET_PTX_INSTRUCTIONS_H
#define TCC_LIB_TARGET_PTX_INSTRUCTIONS_H

#include "tcc/Arch/Chip.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace mlir::tcc {

/// The lowest PTX version, as major * 10 + minor, that has the instruction on the chip; an error
/// where the chip lacks it. Names that no table knows pass with the version of the chip: what LLVM
/// can't select then is reported by the code generator.
llvm::Expected<unsigned> requiredPTXVersion(llvm::StringRef name, const ::tcc::arch::Chip &chip);

/// All threads of the warp (or warpgroup, or block) must execute the instruction together.
bool isCollective(llvm::StringRef name);

/// The mnemonics in an inline assembly text.
llvm::SmallVector<llvm::StringRef> mnemonicsOf(llvm::StringRef assembly);

/// "8.0" for 80.
std::string ptxVersionString(unsigned version);

} // namespace mlir::tcc

#endif // TCC_LIB_TARGET_PTX_INSTRUCTIONS_H
