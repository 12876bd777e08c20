//===- Commands.cpp - dispatch to the subcommands -------------------------===//
#include "tessera/Pipelines/Commands.h"
#include "CommandLine.h"

#include "tessera/Support/File.h"
#include "tessera/Support/Suggest.h"

#include "llvm/Config/llvm-config.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

#include <csignal>
#include <cstdlib>

using namespace llvm;
using namespace tessera;

static void showCommands(ArrayRef<Command> commands, raw_ostream &out) {
  out << "Tessera compiles transformer models to sharded executables.\n\n"
         "usage: tessera COMMAND [OPTION...]\n\ncommands:\n";
  for (const Command &command : commands)
    out << formatv("  {0,-12} {1}\n", command.name, command.summary);
  out << "\n'tessera COMMAND --help' shows a command's options, 'tessera "
         "--version' the version\n";
}

static int dispatch(ArrayRef<Command> commands, int argc, char **argv) {
  if (argc < 2) {
    showCommands(commands, errs());
    return kUsageError;
  }
  StringRef name = argv[1];
  if (name == "--version" || name == "version") {
    outs() << "tessera " << TESSERA_VERSION << " (LLVM " << LLVM_VERSION_STRING
           << ")\n";
    return 0;
  }
  if (name == "--help" || name == "-h" || name == "help") {
    showCommands(commands, outs());
    return 0;
  }
  SmallVector<StringRef> names;
  for (const Command &command : commands) {
    names.push_back(command.name);
    if (command.name != name)
      continue;
    std::string program = "tessera " + name.str();
    SmallVector<char *> arguments = {program.data()};
    arguments.append(argv + 2, argv + argc);
    arguments.push_back(nullptr);
    return command.run(argc - 1, arguments.data());
  }
  return usage("unknown command '" + name + "'" + didYouMean(name, names));
}

/// LLVM's --help ends the process itself.
static void flushAtExit() {
  if (Error error = flushStandardOutput()) {
    fail(std::move(error));
    std::_Exit(1);
  }
}

int tessera::runCommand(ArrayRef<Command> commands, int argc, char **argv) {
  // A file that outgrows the process's limit is an error to report. Blocked,
  // not ignored: LLVM sets a handler of its own with the first temporary file.
  sigset_t outgrown;
  sigemptyset(&outgrown);
  sigaddset(&outgrown, SIGXFSZ);
  pthread_sigmask(SIG_BLOCK, &outgrown, nullptr);
  outs(); // made before the handler is registered, so destroyed behind it
  std::atexit(flushAtExit);
  int code = dispatch(commands, argc, argv);
  if (Error error = flushStandardOutput()) {
    int failed = fail(std::move(error));
    return code ? code : failed;
  }
  return code;
}
