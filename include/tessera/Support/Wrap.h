//===- Wrap.h - running text that fits a terminal ---------------*- C++ -*-===//
#ifndef TESSERA_SUPPORT_WRAP_H
#define TESSERA_SUPPORT_WRAP_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"
#include <string>
#include <vector>

namespace tessera {

/// Columns of running text: those of the terminal, at most 100.
unsigned textWidth();

/// `text` as lines of at most `width` columns, broken at blanks; a word that is
/// longer has a line of its own. At least one line.
std::vector<std::string> wrapText(llvm::StringRef text, size_t width);

/// Prints `text`, whose first line begins in column 0, and what does not fit on
/// it in further lines that begin with `hang` blanks.
void printWrapped(llvm::raw_ostream &out, llvm::StringRef text,
                  unsigned hang = 2);

/// A command line to copy as lines of at most `width` columns: where it goes on
/// in the next a backslash, and that two columns in. Quoted words and an option
/// with its value stay whole.
std::vector<std::string> commandLines(llvm::StringRef command, size_t width);

/// Prints them in the width of running text: `indent` blanks before each.
void printCommand(llvm::raw_ostream &out, llvm::StringRef command,
                  unsigned indent);

} // namespace tessera

#endif // TESSERA_SUPPORT_WRAP_H
