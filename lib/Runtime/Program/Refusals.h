//===- Refusals.h - what a program will not start with ----------*- C++ -*-===//
//
// Private to Program.
//
//===----------------------------------------------------------------------===//
#ifndef TESSERA_LIB_RUNTIME_PROGRAM_REFUSALS_H
#define TESSERA_LIB_RUNTIME_PROGRAM_REFUSALS_H

#include "Options.h"
#include "tessera/Runtime/Launch.h"
#include "tessera/Runtime/Manifest.h"
#include "tessera/Runtime/ProgramFile.h"

namespace tessera::rt {

/// Options and a number of ranks that the program was not compiled for; every
/// rank comes to the same answer.
std::optional<Refusal> refuse(const Manifest &manifest,
                              const ProgramOptions &options,
                              const RankInfo &info);

} // namespace tessera::rt

#endif // TESSERA_LIB_RUNTIME_PROGRAM_REFUSALS_H
