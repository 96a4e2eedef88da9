//===- Decode.h - From a parsed module to a Program -------------*- C++ -*-===//

#ifndef TCC_LIB_EMULATOR_DECODE_H
#define TCC_LIB_EMULATOR_DECODE_H

#include "Program.h"
#include "Syntax.h"

namespace tcc::emulator {

/// Device addresses of a module's variables: by index in ParsedModule::variables, and for those
/// that functions declare by function and index. 0 where a variable has none.
struct LoadedModule {
  std::vector<uint64_t> variables;
  std::vector<std::vector<uint64_t>> functionVariables;
};

/// Decodes entry `entry` and what it may call. Never fails: an instruction that cannot be decoded
/// reports its error when it is executed.
Program decodeProgram(const ParsedModule &module, uint32_t entry, const LoadedModule &loaded);

/// Statically declared shared memory that an entry uses, for KernelInfo.
uint64_t staticSharedBytes(const ParsedModule &module, uint32_t entry);

/// Fills Instruction::reconvergence.
void computeReconvergence(Program &program);

} // namespace tcc::emulator

#endif // TCC_LIB_EMULATOR_DECODE_H
