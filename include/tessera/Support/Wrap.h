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

/// Prints a command line to copy: `indent` blanks, and where it goes on in the
/// next line a backslash. Quoted words stay whole.
void printCommand(llvm::raw_ostream &out, llvm::StringRef command,
                  unsigned indent);

} // namespace tessera

#endif // TESSERA_SUPPORT_WRAP_H
