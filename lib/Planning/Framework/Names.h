//===- Names.h - sets of values in words ------------------------*- C++ -*-===//
#ifndef TESSERA_LIB_PLANNING_FRAMEWORK_NAMES_H
#define TESSERA_LIB_PLANNING_FRAMEWORK_NAMES_H

#include "tessera/Planning/Framework.h"

#include "llvm/ADT/StringExtras.h"

namespace tessera {

template <typename T>
bool in(ValueSet set, T value) {
  return set >> static_cast<unsigned>(value) & 1;
}

/// "a", "a and b", "a, b and c"
inline std::string listed(llvm::ArrayRef<std::string> words) {
  if (words.size() < 2)
    return words.empty() ? "" : words[0];
  return llvm::join(words.drop_back(), ", ") + " and " + words.back();
}

/// The names of the members of a set.
template <typename Kind>
std::vector<std::string> namesOf(ValueSet set, int count) {
  std::vector<std::string> names;
  for (int i = 0; i < count; ++i)
    if (in(set, i))
      names.push_back(nameOf(static_cast<Kind>(i)).str());
  return names;
}

inline std::vector<std::string> numbersOf(ValueSet set, int count,
                                          bool members = true) {
  std::vector<std::string> numbers;
  for (int i = 0; i < count; ++i)
    if (in(set, i) == members)
      numbers.push_back(std::to_string(i));
  return numbers;
}

inline std::string stagesOf(ValueSet set) {
  return "ZeRO " + listed(numbersOf(set, 4));
}

} // namespace tessera

#endif // TESSERA_LIB_PLANNING_FRAMEWORK_NAMES_H
