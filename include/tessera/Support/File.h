//===- File.h - reading files, writing them whole or not at all -----------===//
#ifndef TESSERA_SUPPORT_FILE_H
#define TESSERA_SUPPORT_FILE_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"
#include <string>

namespace tessera {

/// The whole file as text; "-" is standard input.
llvm::Expected<std::string> readFile(llvm::StringRef path);

/// Writes to a temporary file beside `path` and renames it, so that a reader
/// sees the old file or the new one. "-" writes to standard output.
llvm::Error
writeFileAtomically(llvm::StringRef path,
                    llvm::function_ref<void(llvm::raw_ostream &)> write);

} // namespace tessera

#endif // TESSERA_SUPPORT_FILE_H
