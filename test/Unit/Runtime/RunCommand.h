//===- RunCommand.h - commands and their output -----------------*- C++ -*-===//
//
// For tests that run executables.
//
//===----------------------------------------------------------------------===//
#ifndef TESSERA_TEST_UNIT_RUNTIME_RUNCOMMAND_H
#define TESSERA_TEST_UNIT_RUNTIME_RUNCOMMAND_H

#include "TestFiles.h"
#include <chrono>
#include <sstream>
#include <sys/wait.h>

namespace tessera::test {

struct CommandResult {
  int code = 0; ///< exit code, 128 + signal
  std::string out, err;
  double seconds = 0;
};

/// Runs a shell command, at most for a minute.
inline CommandResult runCommand(const std::string &command) {
  TempFolder folder;
  auto read = [&](const char *name) {
    std::ifstream in(folder.file(name), std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
  };
  auto start = std::chrono::steady_clock::now();
  int status = std::system(("timeout -k 2 60 sh -c '" + command + "' >" +
                            folder.file("out") + " 2>" + folder.file("err") +
                            " </dev/null")
                               .c_str());
  CommandResult result;
  result.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
          .count();
  result.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128;
  result.out = read("out");
  result.err = read("err");
  return result;
}

} // namespace tessera::test

#endif // TESSERA_TEST_UNIT_RUNTIME_RUNCOMMAND_H
