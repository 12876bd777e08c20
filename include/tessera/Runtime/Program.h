//===- Program.h - main of every executable ---------------------*- C++ -*-===//
//
// What an executable does around its forward pass: options, ranks, weights,
// tokens, the run, outputs. See docs/running.md.
//
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_PROGRAM_H
#define TESSERA_RUNTIME_PROGRAM_H

#include "tessera/Runtime/Manifest.h"

namespace tessera::rt {

/// Runs the program that `manifest` describes. Returns the exit code: 0, or one
/// of those in Launch.h after a message on standard error.
int programMain(int argc, char **argv, const char *manifest,
                ForwardFunction forward);

} // namespace tessera::rt

#endif // TESSERA_RUNTIME_PROGRAM_H
