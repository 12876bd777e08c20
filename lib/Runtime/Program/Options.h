//===- Options.h - an executable's command line -----------------*- C++ -*-===//
//
// Private to Program.
//
//===----------------------------------------------------------------------===//
#ifndef TESSERA_LIB_RUNTIME_PROGRAM_OPTIONS_H
#define TESSERA_LIB_RUNTIME_PROGRAM_OPTIONS_H

#include "tessera/Runtime/Status.h"
#include <cstdint>
#include <optional>
#include <string>

namespace tessera::rt {

enum class DeviceChoice { Auto, Virtual, Cuda };

struct ProgramOptions {
  std::string program; ///< argv[0]
  std::string weights, tokens, output;
  DeviceChoice device = DeviceChoice::Auto;
  std::optional<uint64_t> initSeed;    ///< --init random:SEED
  std::optional<uint64_t> virtualSeed; ///< --seed
  bool check = false;
  bool json = false;
  bool reportCollectives = false;
  bool describe = false;
  bool time = false;
  bool help = false;
  int64_t repeat = 1;
};

/// Reads "--name value" and "--name=value".
Expected<ProgramOptions> parseOptions(int argc, const char *const *argv);

/// The text of --help.
std::string helpText(const std::string &program);

} // namespace tessera::rt

#endif // TESSERA_LIB_RUNTIME_PROGRAM_OPTIONS_H
