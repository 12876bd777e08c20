//===- EditDistance.h - which name was meant --------------------*- C++ -*-===//
//
// Private to the runtime, which has no LLVM to ask.
//
//===----------------------------------------------------------------------===//
#ifndef TESSERA_LIB_RUNTIME_EDITDISTANCE_H
#define TESSERA_LIB_RUNTIME_EDITDISTANCE_H

#include <cstddef>
#include <cstdint>
#include <string>

namespace tessera::rt {

/// Levenshtein distance: insertions, deletions and replacements of a character.
/// Where the lengths alone differ by more than `limit`, limit + 1.
size_t editDistance(const std::string &a, const std::string &b,
                    size_t limit = SIZE_MAX / 2);

} // namespace tessera::rt

#endif // TESSERA_LIB_RUNTIME_EDITDISTANCE_H
