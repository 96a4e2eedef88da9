//===- InstructionTable.cpp - Which family executes an opcode ---*- C++ -*-===//

#include "InstructionTable.h"

using namespace tcc::emulator;
using llvm::StringRef;

StringRef Modifiers::oneOf(llvm::ArrayRef<StringRef> candidates) const {
  for (StringRef part : parts)
    if (llvm::is_contained(candidates, part))
      return part;
  return {};
}

llvm::Error Modifiers::checkKnown(llvm::ArrayRef<StringRef> known) const {
  for (StringRef part : parts)
    if (!parseType(part) && !llvm::is_contained(known, part))
      return error("unknown modifier '." + part + "'");
  return llvm::Error::success();
}

llvm::Error Modifiers::error(const llvm::Twine &message) const {
  return llvm::createStringError((opcode + ": " + message).str());
}

std::pair<DecodeFunction, size_t> InstructionTable::find(StringRef opcode) const {
  StringRef prefix = opcode;
  while (true) {
    auto family = families.find(prefix);
    if (family != families.end())
      return {family->second, prefix.size()};
    size_t dot = prefix.rfind('.');
    if (dot == StringRef::npos)
      return {nullptr, 0};
    prefix = prefix.take_front(dot);
  }
}

const InstructionTable &InstructionTable::get() {
  static const InstructionTable table = [] {
    InstructionTable families;
    registerIntegerInstructions(families);
    registerControlInstructions(families);
    registerMemoryInstructions(families);
    registerAtomicInstructions(families);
    registerWarpInstructions(families);
    registerBarrierInstructions(families);
    registerAsyncCopyInstructions(families);
    registerMbarrierInstructions(families);
    registerBulkGroupInstructions(families);
    registerBulkCopyInstructions(families);
    registerClusterInstructions(families);
    registerFloatInstructions(families);
    registerConvertInstructions(families);
    registerMatrixMoveInstructions(families);
    registerMmaInstructions(families);
    registerWmmaInstructions(families);
    registerTensorCopyInstructions(families);
    registerWgmmaInstructions(families);
    return families;
  }();
  return table;
}
