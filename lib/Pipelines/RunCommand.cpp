//===- RunCommand.cpp - `tessera run` -------------------------------------===//
#include "CommandLine.h"
#include "tessera/Pipelines/Commands.h"

#include "tessera/Runtime/Launch.h"
#include "tessera/Runtime/ProgramFile.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace tessera;

int tessera::runProgramCommand(int argc, char **argv) {
  constexpr StringLiteral help =
      "usage: tessera run [-n RANKS] PROGRAM [OPTION...]\n\n"
      "Starts the processes of an executable on this machine, one for each "
      "rank "
      "of\n"
      "its mesh (-n, --ranks: where the program does not say how many). The "
      "options\n"
      "after PROGRAM are the program's:\n"
      "--tokens FILE, --output FILE, --device, --check, --time, ...; 'PROGRAM "
      "--help'\n"
      "lists them, 'PROGRAM --describe' shows mesh, memory and kernels.\n";
  int ranks = 0, at = 1;
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
    if (value.getAsInteger(10, ranks) || ranks < 1 || ranks > rt::maxRanks)
      return usage("-n: expected a whole number from 1 to " +
                   Twine(rt::maxRanks) + ", got '" + value + "'");
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
  std::vector<std::string> arguments(argv + at + 1, argv + argc);
  std::optional<rt::ProgramFacts> facts = rt::programFacts(command[0]);
  if (ranks == 0)
    ranks = facts ? int(std::min<int64_t>(facts->ranks, rt::maxRanks)) : 1;
  // Once, and not by every rank.
  if (auto refusal = rt::whyNotStart(command[0], arguments, ranks)) {
    fail(refusal->message);
    return refusal->code;
  }
  command.insert(command.end(), arguments.begin(), arguments.end());
  return rt::launchRanks(ranks, command, /*tellsItself=*/facts.has_value());
}
