//===- Fatal.h - end of the program with one message ------------*- C++ -*-===//
//
// Emitted code cannot return an error (a launch or a collective that failed in
// the middle of the forward pass), so the runtime ends the process there: one
// message, the rank's failure noted where its peers see it, exit code 1.
//
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_FATAL_H
#define TESSERA_RUNTIME_FATAL_H

#include <functional>
#include <string>

namespace tessera::rt {

/// Prints "error: MESSAGE" ("error: rank R: MESSAGE" once a prefix was set) to
/// standard error and ends the process with exit code 1 at once: no
/// destructors, no atexit handlers. The first caller wins when several threads
/// fail.
[[noreturn]] void fatal(const std::string &message);

/// Put before the message by `fatal`, e.g. "rank 3: ".
void setFatalPrefix(const std::string &prefix);

/// Called by `fatal` after printing, to tell peers and to remove temporary
/// files. Hooks run in reverse order of registration.
void addFatalHook(std::function<void(const std::string &message)> hook);

} // namespace tessera::rt

#endif // TESSERA_RUNTIME_FATAL_H
