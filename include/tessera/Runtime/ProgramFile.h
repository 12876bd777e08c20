//===- ProgramFile.h - executables as files ---------------------*- C++ -*-===//
//
// A program that was cut short or changed on its way would end by a signal
// that says nothing. The compiler seals every executable with its size and a
// checksum behind the ELF image (loaders ignore what is there), and the
// manifest lies in a section of its own, so that a launcher can ask what a
// file is before it starts anything.
//
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_PROGRAMFILE_H
#define TESSERA_RUNTIME_PROGRAMFILE_H

#include "tessera/Runtime/Status.h"

#include <optional>
#include <string>
#include <vector>

namespace tessera::rt {

/// ELF section of tessera_manifest.
inline constexpr const char manifestSection[] = ".tessera.manifest";

/// Appends the seal to a linked executable.
Status sealProgram(const std::string &path);

/// Fails if the file is an ELF image that is cut short, or was sealed and no
/// longer is what was sealed. Scripts and unsealed (say, stripped) programs
/// pass.
Status checkProgram(const std::string &path);

/// The manifest's text; nothing in a file that holds none.
std::optional<std::string> manifestOf(const std::string &path);

/// What a program in a file is.
struct ProgramFacts {
  int64_t ranks; ///< of its mesh
  size_t kernels;
};

/// From the manifest of the file; nothing where it holds none that can be read.
std::optional<ProgramFacts> programFacts(const std::string &path);

/// A reason not to start a program, and the exit code that goes with it.
struct Refusal {
  std::string message;
  int code;
};

/// What `path`, started with `arguments` as a job of `ranks`, would refuse by
/// itself, each rank on its own: a damaged file, options that it does not
/// have, another number of ranks. Nothing if it may start.
std::optional<Refusal> whyNotStart(const std::string &path,
                                   const std::vector<std::string> &arguments,
                                   int ranks);

} // namespace tessera::rt

#endif // TESSERA_RUNTIME_PROGRAMFILE_H
