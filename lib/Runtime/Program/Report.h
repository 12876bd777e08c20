//===- Report.h - what a run prints -----------------------------*- C++ -*-===//
//
// Private to Program: the comparison of counted and expected collectives, and
// the texts of a run in plain and JSON form.
//
//===----------------------------------------------------------------------===//
#ifndef TESSERA_LIB_RUNTIME_PROGRAM_REPORT_H
#define TESSERA_LIB_RUNTIME_PROGRAM_REPORT_H

#include "Options.h"
#include "tessera/Runtime/Manifest.h"

namespace tessera::rt {

/// What a run found out.
struct RunResult {
  std::string device;
  double loss = 0;
  int64_t tokens = 0, counted = 0;
  std::vector<double> milliseconds; ///< of each forward pass
  std::vector<CollectiveCount> collectives;
};

/// Fails on the first difference between the manifest's collectives and what
/// was counted, naming the call, expected and got.
Status compareCollectives(const Manifest &manifest,
                          const std::vector<CollectiveCount> &counted);

/// Everything that rank 0 prints to standard output after a run.
std::string reportText(const Manifest &manifest, const ProgramOptions &options,
                       const RunResult &result);

/// The text of --describe (JSON with --json).
std::string describeText(const Manifest &manifest, bool json);

} // namespace tessera::rt

#endif // TESSERA_LIB_RUNTIME_PROGRAM_REPORT_H
