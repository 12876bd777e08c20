//===- CommandLine.h - what the subcommands' files share --------*- C++ -*-===//
//
// One file a command; how a command reads its flags and reports a failure is
// here.
//
//===----------------------------------------------------------------------===//
#ifndef TESSERA_LIB_PIPELINES_COMMANDLINE_H
#define TESSERA_LIB_PIPELINES_COMMANDLINE_H

#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Error.h"

#include <optional>

namespace tessera {

/// The exit code of a command line that cannot be meant.
constexpr int kUsageError = 2;

/// Prints "error: `message`" and returns the exit code 1.
int fail(const llvm::Twine &message);
int fail(llvm::Error error);

/// Prints "error: `message`" and returns kUsageError.
int usage(const llvm::Twine &message);

/// Reads argv; --help shows the flags of `category` alone. False after an
/// error, which has been printed: the command returns kUsageError.
bool parseFlags(llvm::cl::OptionCategory &category, int argc, char **argv,
                llvm::StringRef overview);

/// Fails where the command line names no MODEL.
llvm::Error requireModel(llvm::StringRef model);

/// Reads a count like 7B or 1e12, the value of --`flag`; an empty text leaves
/// `out` alone.
llvm::Error readCountFlag(llvm::StringRef flag, llvm::StringRef text,
                          std::optional<double> &out);

/// Prints each as "note: ..." to the error stream.
void showNotes(llvm::ArrayRef<std::string> notes);

} // namespace tessera

#endif // TESSERA_LIB_PIPELINES_COMMANDLINE_H
