//===- File.h - reading files, writing them whole or not at all -----------===//
#ifndef TESSERA_SUPPORT_FILE_H
#define TESSERA_SUPPORT_FILE_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"
#include <string>

namespace tessera {

/// The whole file as text, of at most 64 MiB; "-" is standard input.
llvm::Expected<std::string> readFile(llvm::StringRef path);

/// Whether something other than a regular file or a folder is there: a device, a
/// pipe. Output goes into it; renaming a file over it would destroy it.
bool isSpecialFile(llvm::StringRef path);

/// Flushes standard output; an error names what went wrong. (Left to LLVM, it
/// would end the process with an internal error.)
llvm::Error flushStandardOutput();

/// Writes to a temporary file beside `path` and renames it, so that a reader
/// sees the old file or the new one. "-" writes to standard output, and special
/// files are written into.
llvm::Error
writeFileAtomically(llvm::StringRef path,
                    llvm::function_ref<void(llvm::raw_ostream &)> write);

/// Whether a file can appear at `path` ("-": always): its folder exists and may
/// be written, and no folder has its name. To be asked before long work whose
/// result is written last.
llvm::Error checkWritable(llvm::StringRef path);

} // namespace tessera

#endif // TESSERA_SUPPORT_FILE_H
