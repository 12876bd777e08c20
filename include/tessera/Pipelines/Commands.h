//===- Commands.h - the subcommands of `tessera` ----------------*- C++ -*-===//
//
// Each command parses its own arguments (argv[0] is "tessera NAME") and returns
// the exit code. A new command is a function here and a line in the table of
// tools/tessera/tessera.cpp.
//
//===----------------------------------------------------------------------===//
#ifndef TESSERA_PIPELINES_COMMANDS_H
#define TESSERA_PIPELINES_COMMANDS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace tessera {

struct Command {
  llvm::StringRef name;
  llvm::StringRef summary;
  int (*run)(int argc, char **argv);
};

/// Runs the command that argv[1] names; without one, or with --help, shows the
/// table.
int runCommand(llvm::ArrayRef<Command> commands, int argc, char **argv);

int compileCommand(int argc, char **argv);
int runProgramCommand(int argc, char **argv);
int phasesCommand(int argc, char **argv);
int modelsCommand(int argc, char **argv);
int scaleCommand(int argc, char **argv);
int validateCommand(int argc, char **argv);
int planCommand(int argc, char **argv);
int explainCommand(int argc, char **argv);
int estimateCommand(int argc, char **argv);
int clustersCommand(int argc, char **argv);
int exportCommand(int argc, char **argv);

} // namespace tessera

#endif // TESSERA_PIPELINES_COMMANDS_H
