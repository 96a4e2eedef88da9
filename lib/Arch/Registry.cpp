//===- Registry.cpp - All chips -------------------------------------------===//

#include "Generations.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace tcc::arch;

bool Availability::includes(const ChipDescription &chip) const {
  switch (kind) {
  case Kind::Onwards:
    return chip.capability >= from;
  case Kind::OnwardsArchSpecific:
    return chip.capability >= from && chip.archSpecific;
  case Kind::OnlyArchSpecific:
    return chip.capability == from && chip.archSpecific;
  }
  llvm_unreachable("covered switch");
}

llvm::ArrayRef<Chip> tcc::arch::knownChips() {
  static const std::vector<Chip> chips = [] {
    std::vector<Chip> all;
    for (llvm::ArrayRef<ChipDescription> generation :
         {sm70Chips(), sm80Chips(), sm90Chips(), sm100Chips()})
      for (const ChipDescription &description : generation)
        all.emplace_back(description);
    return all;
  }();
  return chips;
}

Chip::Chip(const ChipDescription &description) : description(description) {
  // Newer generations first: of one family and type, their shapes are the larger ones.
  for (llvm::ArrayRef<AtomRow> generation : {sm90Atoms(), sm80Atoms(), sm70Atoms()})
    for (const AtomRow &row : generation)
      if (row.available.includes(description))
        atoms.push_back(row.atom);
}

llvm::StringRef Chip::name() const { return description.name; }
unsigned Chip::ptxVersion() const { return description.ptxVersion; }
const Limits &Chip::limits() const { return description.limits; }

const Throughput &Chip::throughput() const { return description.throughput; }

bool Chip::has(Feature feature) const { return availability(feature).includes(description); }

/// "sm_80", "sm_80 and sm_86", "sm_80, sm_86 and sm_87".
static std::string listChips(llvm::function_ref<bool(const Chip &)> predicate) {
  llvm::SmallVector<llvm::StringRef> names;
  for (const Chip &chip : knownChips())
    if (predicate(chip))
      names.push_back(chip.name());
  if (names.size() < 2)
    return llvm::join(names, "");
  llvm::StringRef last = names.pop_back_val();
  return (llvm::join(names, ", ") + " and " + last).str();
}

llvm::Error Chip::require(Feature feature) const {
  if (has(feature))
    return llvm::Error::success();
  std::string others = listChips([&](const Chip &chip) { return chip.has(feature); });
  return llvm::createStringError(
      llvm::formatv("{0} has no {1}; {2} {3} it", name(), info(feature).instruction, others,
                    llvm::StringRef(others).contains(' ') ? "have" : "has"));
}

bool Chip::hasFamily(MmaFamily family, ElementType type) const {
  return llvm::any_of(atoms,
                      [&](const MmaAtom &atom) { return atom.family == family && atom.a == type; });
}

bool Chip::hasBf16() const { return hasWmma(ElementType::BF16) || hasMmaSync(ElementType::BF16); }

const MmaAtom *Chip::findAtom(MmaFamily family, ElementType type, ElementType accumulator) const {
  for (const MmaAtom &atom : atoms)
    if (atom.family == family && atom.a == type && atom.accumulator == accumulator)
      return &atom;
  return nullptr;
}

llvm::Expected<const Chip *> tcc::arch::lookupChip(llvm::StringRef name) {
  for (const Chip &chip : knownChips())
    if (chip.name() == name)
      return &chip;
  std::string problem =
      name.empty() ? std::string("no chip is named") : ("unknown chip '" + name + "'").str();
  return llvm::createStringError(problem + "; known are " +
                                 listChips([](const Chip &) { return true; }));
}

std::string tcc::arch::chipsWithAtom(MmaFamily family, ElementType type) {
  return listChips([&](const Chip &chip) {
    return llvm::any_of(chip.mmaAtoms(), [&](const MmaAtom &atom) {
      return atom.family == family && atom.a == type;
    });
  });
}
