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
#include "llvm/ADT/Twine.h"
#include "llvm/Support/raw_ostream.h"
#include <string>

namespace tessera {

/// Valid UTF-8 (what is none becomes U+FFFD) without control characters:
/// "\x1b" for the byte 27. Line feeds and tabs stay.
std::string printable(llvm::StringRef text);

/// The same on one line: line feeds and tabs become "\n" and "\t".
std::string printableName(llvm::StringRef text);

/// `printableName` of a message that may quote a file: of a very long one the
/// middle is left out, since place and reason stand at the ends.
std::string printableMessage(llvm::StringRef text);

/// "error: MESSAGE", as every command reports a mistake: one line, whatever the
/// message quotes; on a terminal wrapped.
void printError(llvm::raw_ostream &os, const llvm::Twine &message);

} // namespace tessera

#endif // TESSERA_SUPPORT_PRINTABLE_H
