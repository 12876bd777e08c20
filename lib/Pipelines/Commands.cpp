//===- Commands.cpp - dispatch, run, phases -------------------------------===//
#include "tessera/Pipelines/Commands.h"

#include "tessera/Pipelines/Phase.h"
#include "tessera/Runtime/Launch.h"
#include "tessera/Support/File.h"
#include "tessera/Support/Suggest.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace tessera;

static constexpr int kUsageError = 2;

static void showCommands(ArrayRef<Command> commands, raw_ostream &out) {
  out << "Tessera compiles transformer models to sharded executables.\n\n"
         "usage: tessera COMMAND [OPTION...]\n\ncommands:\n";
  for (const Command &command : commands)
    out << formatv("  {0,-12} {1}\n", command.name, command.summary);
  out << "\n'tessera COMMAND --help' shows a command's options\n";
}

static int dispatch(ArrayRef<Command> commands, int argc, char **argv) {
  if (argc < 2) {
    showCommands(commands, errs());
    return kUsageError;
  }
  StringRef name = argv[1];
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
  errs() << "error: unknown command '" << name << "'" << didYouMean(name, names)
         << "\n";
  return kUsageError;
}

int tessera::runCommand(ArrayRef<Command> commands, int argc, char **argv) {
  int code = dispatch(commands, argc, argv);
  if (Error error = flushStandardOutput()) {
    errs() << "error: " << toString(std::move(error)) << "\n";
    return code ? code : 1;
  }
  return code;
}

static int usage(const Twine &message) {
  errs() << "error: " << message << "\n";
  return kUsageError;
}

int tessera::runProgramCommand(int argc, char **argv) {
  constexpr StringLiteral help =
      "usage: tessera run [-n RANKS] PROGRAM [OPTION...]\n\n"
      "Starts RANKS (default 1) processes of an executable on this machine. "
      "The\n"
      "options after PROGRAM are the program's; 'PROGRAM --help' shows them.\n";
  int ranks = 1, at = 1;
  for (; at < argc; ++at) {
    StringRef argument = argv[at];
    if (argument == "--help" || argument == "-h") {
      outs() << help;
      return 0;
    }
    StringRef value;
    if (argument == "-n" || argument == "--ranks") {
      if (++at == argc)
        return usage(argument + " needs a number of ranks");
      value = argv[at];
    } else if (argument.consume_front("-n=") ||
               argument.consume_front("--ranks=")) {
      value = argument;
    } else if (argument.starts_with("-")) {
      return usage("unknown option '" + argument +
                   "'; the program's options come after it");
    } else {
      break;
    }
    if (value.getAsInteger(10, ranks) || ranks < 1)
      return usage("the number of ranks must be at least 1, got '" + value +
                   "'");
  }
  if (at == argc)
    return usage("no program to run; " + help.split('\n').first);
  std::string program = argv[at];
  if (!sys::fs::exists(program))
    return usage("no file '" + Twine(program) + "'");
  if (!sys::fs::can_execute(program))
    return usage("'" + Twine(program) + "' is no executable");
  // A bare name would be looked up on PATH.
  SmallString<128> absolute(program);
  sys::fs::make_absolute(absolute);
  std::vector<std::string> command = {std::string(absolute)};
  command.insert(command.end(), argv + at + 1, argv + argc);
  return rt::launchRanks(ranks, command);
}

int tessera::phasesCommand(int argc, char **argv) {
  bool asJson = argc > 1 && StringRef(argv[1]) == "--json";
  if (argc > 1 && !asJson)
    return usage("'tessera phases' takes --json or nothing");
  if (!asJson) {
    for (const PhaseInfo &info : allPhases())
      outs() << formatv("{0,-10} {1}\n", info.name, info.description);
    return 0;
  }
  json::Array phases;
  for (const PhaseInfo &info : allPhases())
    phases.push_back(
        json::Object{{"name", info.name}, {"description", info.description}});
  outs() << formatv("{0:2}\n", json::Value(std::move(phases)));
  return 0;
}
