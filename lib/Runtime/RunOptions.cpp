//===- RunOptions.cpp - Values of command-line options --------------------===//

#include "tcc/Runtime/Run.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace tcc::runtime {

Error parseIntegers(StringRef option, StringRef text, StringMap<int64_t> &out) {
  for (StringRef item : split(text, ',')) {
    auto [name, number] = item.split('=');
    int64_t value;
    if (name.trim().empty() || number.trim().getAsInteger(10, value))
      return createStringError("--" + option + ": expected name=integer, found '" + item + "'");
    auto [entry, isNew] = out.try_emplace(name.trim(), value);
    if (!isNew && entry->second != value)
      return createStringError("--" + option + ": " + name.trim() + " is given as " +
                               Twine(entry->second) + " and as " + Twine(value));
  }
  return Error::success();
}

Error parseFile(StringRef option, StringRef text, FileMap &out) {
  auto [name, path] = text.split('=');
  if (name.empty() || path.empty())
    return createStringError("--" + option + ": expected argument=file.npy, found '" + text + "'");
  if (!out.insert({name.str(), path.str()}).second)
    return createStringError("--" + option + ": '" + name + "' is given twice");
  return Error::success();
}

} // namespace tcc::runtime
