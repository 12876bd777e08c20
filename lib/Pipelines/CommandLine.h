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

/// Reads argv into the flags of `category`, and nothing else: LLVM's own
/// options are none of ours. `positional` names the one argument that is no
/// option ("MODEL"), "" if there is none. Returns the exit code where the
/// command has ended: after an error, which has been printed, or --help.
std::optional<int> parseFlags(llvm::cl::OptionCategory &category, int argc,
                              char **argv, llvm::StringRef overview,
                              llvm::StringRef positional);

/// "--top", "-o"
std::string flagText(const llvm::cl::Option &option);
/// What badValue (Flags.h) has kept, "" if nothing.
std::string takeFlagMistake();

/// Fails where the command line names no MODEL.
llvm::Error requireModel(llvm::StringRef model);

/// Prints each as "note: ..." to the error stream.
void showNotes(llvm::ArrayRef<std::string> notes);

} // namespace tessera

#endif // TESSERA_LIB_PIPELINES_COMMANDLINE_H
