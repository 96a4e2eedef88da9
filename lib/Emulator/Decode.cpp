//===- Decode.cpp - From a parsed module to a Program -----------*- C++ -*-===//

#include "Decode.h"
#include "AddressSpace.h"
#include "InstructionTable.h"
#include "Warp.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

#include <unordered_map>

using namespace tcc::emulator;
using llvm::StringRef;

namespace {

class Decoder {
public:
  Decoder(const ParsedModule &module, uint32_t entry, const LoadedModule &loaded)
      : module(module), loaded(loaded) {
    collect(entry);
  }
  Program decode();
  /// Places shared variables; returns the end of the static ones.
  uint64_t layOutShared();

private:
  void collect(uint32_t function);
  void collectOperand(const ParsedOperand &operand);
  void layOutFrame(uint32_t index);
  void place(const ParsedFunction &parsed, const std::vector<uint32_t> &list, FunctionCode &code,
             uint32_t index, std::vector<ParameterPlace> &out);
  void decodeInstruction(const ParsedInstruction &parsed, uint32_t function);
  Operand decodeOperand(const ParsedOperand &parsed, Instruction &instruction);
  Operand symbol(Space space, uint64_t address, uint64_t offset, uint32_t frameRow);
  void setImmediate(Operand &operand, uint64_t bits);
  void collectRows(Instruction &instruction);
  void addRows(const Operand &operand, llvm::SmallVectorImpl<uint32_t> &rows,
               llvm::SmallVectorImpl<uint32_t> &predicates);
  Operand special(SpecialRegister which, Instruction &instruction);
  void fail(Instruction &instruction, std::string message);

  const ParsedModule &module;
  const LoadedModule &loaded;
  Program program;
  /// Functions in the order of Program::functions.
  std::vector<uint32_t> reachable;
  llvm::DenseMap<uint32_t, uint32_t> functionIndex;
  llvm::DenseMap<uint32_t, uint64_t> sharedOffset;
  std::vector<llvm::DenseMap<uint32_t, uint64_t>> functionOffset;
  std::unordered_map<uint64_t, uint32_t> constantIndex; // every 64-bit value may be a key
  llvm::DenseMap<unsigned, uint32_t> specialIndex;
  std::vector<uint32_t> usedShared;
};

void reportUndecoded(Warp &warp, const Instruction &instruction) {
  warp.fault(FindingKind::Unsupported, instruction, *warp.lanes().begin(),
             *static_cast<const std::string *>(instruction.table));
}

} // namespace

void Decoder::collectOperand(const ParsedOperand &operand) {
  for (const ParsedOperand &element : operand.elements)
    collectOperand(element);
  if (operand.kind == ParsedOperand::Kind::ModuleVariable &&
      module.variables[operand.slot].space == Space::Shared &&
      sharedOffset.try_emplace(operand.slot, 0).second)
    usedShared.push_back(operand.slot);
  if (operand.kind == ParsedOperand::Kind::Function &&
      functionIndex.try_emplace(operand.slot, reachable.size()).second)
    reachable.push_back(operand.slot);
}

void Decoder::collect(uint32_t entry) {
  functionIndex[entry] = 0;
  reachable.push_back(entry);
  // Tables of function pointers.
  for (const Variable &variable : module.variables)
    for (const Relocation &relocation : variable.relocations) {
      auto callee = module.functionIndex.find(relocation.symbol);
      if (callee != module.functionIndex.end() &&
          functionIndex.try_emplace(callee->second, reachable.size()).second)
        reachable.push_back(callee->second);
    }
  for (size_t i = 0; i < reachable.size(); ++i) {
    const ParsedFunction &function = module.functions[reachable[i]];
    for (const ParsedInstruction &instruction : function.body)
      for (const ParsedOperand &operand : instruction.operands)
        collectOperand(operand);
    for (const auto &list : function.targetLists)
      for (const ParsedOperand &operand : list.second)
        collectOperand(operand);
  }
  llvm::sort(usedShared);
  functionOffset.resize(reachable.size());
}

uint64_t Decoder::layOutShared() {
  uint64_t end = kSharedBase;
  uint64_t dynamicAlignment = 1;
  for (uint32_t index : usedShared) {
    const Variable &variable = module.variables[index];
    if (variable.isExtern || variable.size == 0) {
      dynamicAlignment = std::max(dynamicAlignment, variable.alignment);
      continue;
    }
    end = llvm::alignTo(end, variable.alignment);
    sharedOffset[index] = end;
    end += variable.size;
  }
  for (size_t f = 0; f < reachable.size(); ++f) {
    const ParsedFunction &function = module.functions[reachable[f]];
    for (size_t v = 0; v < function.variables.size(); ++v) {
      const Variable &variable = function.variables[v];
      if (variable.space != Space::Shared)
        continue;
      if (variable.isExtern || variable.size == 0) {
        dynamicAlignment = std::max(dynamicAlignment, variable.alignment);
        functionOffset[f][v] = ~uint64_t(0);
        continue;
      }
      end = llvm::alignTo(end, variable.alignment);
      functionOffset[f][v] = end;
      end += variable.size;
    }
  }
  program.staticSharedEnd = end;
  program.dynamicSharedBegin = llvm::alignTo(end, dynamicAlignment);
  for (uint32_t index : usedShared)
    if (module.variables[index].isExtern || module.variables[index].size == 0)
      sharedOffset[index] = program.dynamicSharedBegin;
  for (auto &offsets : functionOffset)
    for (auto &entry : offsets)
      if (entry.second == ~uint64_t(0))
        entry.second = program.dynamicSharedBegin;
  return end;
}

/// Local variables and parameters of functions lie in a frame of the thread's stack; an entry's
/// parameters do not.
void Decoder::layOutFrame(uint32_t index) {
  const ParsedFunction &parsed = module.functions[reachable[index]];
  FunctionCode &code = program.functions[index];
  uint64_t end = 0;
  uint64_t parameterEnd = 0;
  for (size_t v = 0; v < parsed.variables.size(); ++v) {
    const Variable &variable = parsed.variables[v];
    bool isEntryParameter = parsed.isEntry && v < parsed.parameters.size();
    if (isEntryParameter) {
      parameterEnd = llvm::alignTo(parameterEnd, variable.alignment);
      functionOffset[index][v] = parameterEnd;
      parameterEnd += variable.size;
    } else if (variable.space == Space::Local || variable.space == Space::Param) {
      end = llvm::alignTo(end, variable.alignment);
      functionOffset[index][v] = end;
      end += variable.size;
    }
  }
  code.frameBytes = llvm::alignTo(end, 16);
  if (!parsed.isEntry) {
    place(parsed, parsed.parameters, code, index, code.parameters);
    place(parsed, parsed.results, code, index, code.results);
  }
}

void Decoder::place(const ParsedFunction &parsed, const std::vector<uint32_t> &list,
                    FunctionCode &code, uint32_t index, std::vector<ParameterPlace> &out) {
  for (uint32_t v : list) {
    const Variable &variable = parsed.variables[v];
    ParameterPlace parameter;
    parameter.bytes = variable.size;
    if (variable.space == Space::Register)
      parameter.row = code.firstRow + variable.slot;
    else
      parameter.offset = functionOffset[index][v];
    out.push_back(parameter);
  }
}

Program Decoder::decode() {
  program.sharedBaseRow = program.rowCount++;
  program.functionOfModule.assign(module.functions.size(), kNoSlot);
  for (auto [moduleIndex, index] : functionIndex)
    program.functionOfModule[moduleIndex] = index;
  layOutShared();
  uint64_t total = 0;
  for (uint32_t f : reachable)
    total += module.functions[f].body.size() + 1;
  program.code.reserve(total);
  for (size_t i = 0; i < reachable.size(); ++i) {
    const ParsedFunction &parsed = module.functions[reachable[i]];
    FunctionCode &code = program.functions.emplace_back();
    code.name = parsed.name;
    code.hasBody = parsed.hasBody;
    code.frameRow = program.rowCount++;
    code.firstRow = program.rowCount;
    code.rowCount = parsed.registerRows;
    program.rowCount += parsed.registerRows;
    code.firstPredicate = program.predicateCount;
    code.predicateCount = parsed.predicates;
    program.predicateCount += parsed.predicates;
    layOutFrame(i);
  }
  uint32_t begin = 0;
  for (size_t i = 0; i < reachable.size(); ++i) {
    program.functions[i].begin = begin;
    begin += module.functions[reachable[i]].body.size() + 1;
    program.functions[i].end = begin;
  }
  for (size_t i = 0; i < reachable.size(); ++i) {
    for (const ParsedInstruction &parsed : module.functions[reachable[i]].body)
      decodeInstruction(parsed, i);
    // Falling off the end of a body returns.
    ParsedInstruction last;
    last.opcode = last.text = "ret";
    last.location = module.functions[reachable[i]].location;
    decodeInstruction(last, i);
  }
  computeReconvergence(program);
  return std::move(program);
}

void Decoder::fail(Instruction &instruction, std::string message) {
  program.messages.push_back(std::move(message));
  instruction.handler = reportUndecoded;
  instruction.table = &program.messages.back();
  instruction.convergence = Convergence::None;
  instruction.destinations = 0;
  instruction.propagatesUndefined = true;
}

void Decoder::decodeInstruction(const ParsedInstruction &parsed, uint32_t function) {
  Instruction &inst = program.code.emplace_back();
  const FunctionCode &code = program.functions[function];
  inst.index = program.code.size() - 1;
  inst.function = function;
  inst.line = parsed.location.line;
  inst.opcode = parsed.opcode;
  inst.text = parsed.text;
  program.targetLists.emplace_back();
  if (parsed.guard != kNoSlot) {
    inst.guard = code.firstPredicate + parsed.guard;
    inst.guardNegated = parsed.guardNegated;
  }
  auto [family, prefix] = InstructionTable::get().find(parsed.opcode);
  llvm::SmallVector<StringRef, 12> parts;
  parsed.opcode.drop_front(std::min(prefix, parsed.opcode.size()))
      .split(parts, '.', -1, /*KeepEmpty=*/false);
  for (StringRef part : parts)
    if (std::optional<Type> type = parseType(part))
      inst.types.push_back(*type);
  inst.type = inst.types.empty() ? Type::None : inst.types.back();
  inst.space = parseSpace(Modifiers(parsed.opcode, parts));
  for (const ParsedOperand &operand : parsed.operands) {
    inst.operands.push_back(decodeOperand(operand, inst));
    if (operand.kind != ParsedOperand::Kind::Label)
      continue;
    auto list = module.functions[reachable[function]].targetLists.find(operand.name);
    if (list == module.functions[reachable[function]].targetLists.end())
      continue;
    for (const ParsedOperand &target : list->second)
      program.targetLists.back().push_back(target.kind == ParsedOperand::Kind::Function
                                               ? functionIndex.lookup(target.slot)
                                               : uint32_t(code.begin + target.value));
  }
  if (!family) {
    fail(inst, ("the emulator does not know the instruction '" + parsed.opcode + "'").str());
  } else if (llvm::Error error = family(Modifiers(parsed.opcode, parts), inst)) {
    fail(inst, llvm::toString(std::move(error)));
  }
  collectRows(inst);
}

void Decoder::setImmediate(Operand &operand, uint64_t bits) {
  auto [entry, isNew] = constantIndex.try_emplace(bits, program.constants.size());
  if (isNew) {
    Row &row = program.constants.emplace_back();
    row.fill(bits);
  }
  operand.kind = Operand::Kind::Immediate;
  operand.slot = entry->second;
  operand.immediate = bits;
}

Operand Decoder::special(SpecialRegister which, Instruction &instruction) {
  Operand operand;
  operand.bits = bitWidth(which);
  instruction.readsClock |= isVolatile(which);
  if (which == SpecialRegister::IsExplicitCluster) {
    if (program.explicitClusterPredicate == kNoSlot)
      program.explicitClusterPredicate = program.predicateCount++;
    operand.kind = Operand::Kind::Predicate;
    operand.slot = program.explicitClusterPredicate;
    return operand;
  }
  auto [entry, isNew] = specialIndex.try_emplace(unsigned(which), program.rowCount);
  if (isNew)
    program.specialRows.push_back({program.rowCount++, which});
  operand.kind = Operand::Kind::Register;
  operand.slot = entry->second;
  return operand;
}

/// A variable's address: a constant, or relative to the CTA's shared memory or the thread's frame.
Operand Decoder::symbol(Space space, uint64_t address, uint64_t offset, uint32_t frameRow) {
  Operand operand;
  operand.space = space;
  if (space == Space::Shared || space == Space::Local) {
    operand.kind = Operand::Kind::Address;
    operand.slot = space == Space::Shared ? program.sharedBaseRow : frameRow;
    operand.immediate = int64_t(address + offset);
    operand.bits = 64;
    return operand;
  }
  setImmediate(operand, address + offset);
  return operand;
}

Operand Decoder::decodeOperand(const ParsedOperand &parsed, Instruction &inst) {
  const FunctionCode &code = program.functions[inst.function];
  Operand operand;
  switch (parsed.kind) {
  case ParsedOperand::Kind::Sink:
    operand.kind = Operand::Kind::Sink;
    break;
  case ParsedOperand::Kind::Register:
    operand.kind = Operand::Kind::Register;
    operand.slot = code.firstRow + parsed.slot;
    operand.bits = bitWidth(parsed.type);
    break;
  case ParsedOperand::Kind::Predicate:
    operand.kind = Operand::Kind::Predicate;
    operand.slot = code.firstPredicate + parsed.slot;
    operand.bits = 1;
    break;
  case ParsedOperand::Kind::Special:
    operand = special(SpecialRegister(parsed.slot), inst);
    break;
  case ParsedOperand::Kind::Integer:
    setImmediate(operand, parsed.value);
    break;
  case ParsedOperand::Kind::Single: {
    bool wide =
        llvm::is_contained(inst.types, Type::F64) && !llvm::is_contained(inst.types, Type::F32);
    float value = llvm::bit_cast<float>(uint32_t(parsed.value));
    setImmediate(operand, wide ? llvm::bit_cast<uint64_t>(double(value)) : parsed.value);
    break;
  }
  case ParsedOperand::Kind::Double: {
    bool narrow = llvm::is_contained(inst.types, Type::F32);
    double value = llvm::bit_cast<double>(parsed.value);
    setImmediate(operand, narrow ? llvm::bit_cast<uint32_t>(float(value)) : parsed.value);
    break;
  }
  case ParsedOperand::Kind::ModuleVariable: {
    const Variable &variable = module.variables[parsed.slot];
    uint64_t address = variable.space == Space::Shared ? sharedOffset.lookup(parsed.slot)
                                                       : loaded.variables[parsed.slot];
    operand = symbol(variable.space, address, parsed.value, code.frameRow);
    break;
  }
  case ParsedOperand::Kind::FunctionVariable: {
    const ParsedFunction &function = module.functions[reachable[inst.function]];
    const Variable &variable = function.variables[parsed.slot];
    uint64_t address = functionOffset[inst.function].lookup(parsed.slot);
    Space space = variable.space;
    if (function.isEntry && parsed.slot < function.parameters.size())
      address += kKernelParameterTag;
    else if (space == Space::Param)
      space = Space::Local;
    else if (space == Space::Global || space == Space::Const)
      address = loaded.functionVariables[reachable[inst.function]][parsed.slot];
    operand = symbol(space, address, parsed.value, code.frameRow);
    break;
  }
  case ParsedOperand::Kind::Function:
    setImmediate(operand, kFunctionTag + parsed.slot);
    break;
  case ParsedOperand::Kind::Label:
    operand.kind = Operand::Kind::Label;
    operand.immediate = int64_t(code.begin + parsed.value);
    break;
  case ParsedOperand::Kind::Address:
  case ParsedOperand::Kind::Vector:
  case ParsedOperand::Kind::Pair: {
    std::vector<Operand> elements;
    for (const ParsedOperand &element : parsed.elements)
      elements.push_back(decodeOperand(element, inst));
    if (parsed.kind == ParsedOperand::Kind::Address) {
      Operand base = elements.front();
      elements.erase(elements.begin());
      operand.kind = Operand::Kind::Address;
      operand.space = base.space;
      operand.bits = base.bits ? base.bits : 64;
      operand.slot = base.isImmediate() ? kNoSlot : base.slot;
      operand.immediate = int64_t(parsed.value) + (base.isRegister() ? 0 : base.immediate);
    } else {
      operand.kind =
          parsed.kind == ParsedOperand::Kind::Vector ? Operand::Kind::Vector : Operand::Kind::Pair;
    }
    program.elementStorage.push_back(std::move(elements));
    operand.elements = program.elementStorage.back();
    break;
  }
  }
  operand.negated = parsed.negated;
  return operand;
}

void Decoder::addRows(const Operand &operand, llvm::SmallVectorImpl<uint32_t> &rows,
                      llvm::SmallVectorImpl<uint32_t> &predicates) {
  if (operand.kind == Operand::Kind::Register || operand.kind == Operand::Kind::Address) {
    if (operand.slot != kNoSlot)
      rows.push_back(operand.slot);
    if (operand.kind == Operand::Kind::Register && operand.bits == 128)
      rows.push_back(operand.slot + 1);
  } else if (operand.kind == Operand::Kind::Predicate) {
    predicates.push_back(operand.slot);
  }
  for (const Operand &element : operand.elements)
    addRows(element, rows, predicates);
}

void Decoder::collectRows(Instruction &inst) {
  for (size_t i = 0; i < inst.operands.size(); ++i) {
    bool isDestination = i < inst.destinations && inst.operands[i].kind != Operand::Kind::Address;
    if (isDestination)
      addRows(inst.operands[i], inst.destinationRows, inst.destinationPredicates);
    else
      addRows(inst.operands[i], inst.sourceRows, inst.sourcePredicates);
  }
}

Program tcc::emulator::decodeProgram(const ParsedModule &module, uint32_t entry,
                                     const LoadedModule &loaded) {
  return Decoder(module, entry, loaded).decode();
}

uint64_t tcc::emulator::staticSharedBytes(const ParsedModule &module, uint32_t entry) {
  LoadedModule none;
  return Decoder(module, entry, none).layOutShared() - kSharedBase;
}
