//===- Printable.h - names of others' making, fit for a terminal ----------===//
//
// Names of files, models and chips come from outside: they may hold bytes that
// are no UTF-8, which no JSON takes, and escape sequences, which a terminal
// obeys.
//
//===----------------------------------------------------------------------===//
#ifndef TESSERA_SUPPORT_PRINTABLE_H
#define TESSERA_SUPPORT_PRINTABLE_H

#include "llvm/ADT/StringRef.h"
#include <string>

namespace tessera {

/// Valid UTF-8 (what is none becomes U+FFFD) without control characters:
/// "\x1b" for the byte 27. Line feeds and tabs stay.
std::string printable(llvm::StringRef text);

/// The same on one line: line feeds and tabs become "\n" and "\t".
std::string printableName(llvm::StringRef text);

} // namespace tessera

#endif // TESSERA_SUPPORT_PRINTABLE_H
