//===- Refusals.cpp - what a program will not start with ------------------===//
#include "Refusals.h"

namespace tessera::rt {

static std::string wrongRanks(const Manifest &manifest,
                              const ProgramOptions &options,
                              const RankInfo &info) {
  std::ostringstream message;
  message << "this program was compiled for " << manifest.ranks()
          << (manifest.ranks() == 1 ? " rank" : " ranks") << " (mesh "
          << manifest.meshText() << "), but ";
  if (info.starter.empty())
    message << "one process was started";
  else
    message << info.starter << " started " << info.worldSize;
  message << "; run it with: ";
  if (manifest.ranks() > 1)
    message << "tessera run -n " << manifest.ranks() << " ";
  message << options.program;
  return message.str();
}

std::optional<Refusal> refuse(const Manifest &manifest,
                              const ProgramOptions &options,
                              const RankInfo &info) {
  if (options.help || options.describe)
    return std::nullopt;
  if (manifest.ranks() != info.worldSize)
    return Refusal{wrongRanks(manifest, options, info), exitFailure};
  if (options.check && manifest.virtualCode &&
      !manifest.virtualCode->instrumented)
    return Refusal{"--check needs a program that was compiled with "
                   "--instrument, '" +
                       options.program + "' was compiled without",
                   exitUsage};
  return std::nullopt;
}

} // namespace tessera::rt
