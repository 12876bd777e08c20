//===- Validate.h - predictions against published measurements ------------===//
#ifndef TESSERA_PLANNING_VALIDATE_H
#define TESSERA_PLANNING_VALIDATE_H

#include "tessera/Planning/FeatureSource.h"
#include "llvm/Support/raw_ostream.h"
#include <string>

namespace tessera {

struct ValidateOptions {
  /// Measurements in the form of test/Data/published/points.csv.
  std::string points;
  /// Constants to use in place of the built-in ones; the file may hold an
  /// array of them, then JSON output has one list of predictions for each.
  std::string constants;
  bool json = false;
  bool details = false; ///< JSON with a figure as SVG
  /// Print every run, not only the summary.
  bool runs = false;
  /// Only sources whose name contains this.
  std::string source;
  /// Where the models' costs come from; needed.
  FeatureSourceMaker features;
};

/// A file of measurements to fill: the header and a row.
std::string validateTemplate();

/// Reads, predicts and reports. Returns 0, or 1 after a message on `err`.
int runValidate(const ValidateOptions &options, llvm::raw_ostream &out,
                llvm::raw_ostream &err);

} // namespace tessera

#endif // TESSERA_PLANNING_VALIDATE_H
