//===- Validation.h - what measurements say of predictions ------*- C++ -*-===//
//
// How far predicted step times lay from published ones, as
// `scripts/fit_cost_model.py --validate` wrote it beside the constants
// (data/cost_model_constants.json, "validation").
//
//===----------------------------------------------------------------------===//
#ifndef TESSERA_COSTMODEL_VALIDATION_H
#define TESSERA_COSTMODEL_VALIDATION_H

#include "tessera/Hardware/Cluster.h"
#include "tessera/Support/Json.h"
#include <string>
#include <vector>

namespace tessera {

/// What a run was, as far as predictions of it differ in how far off they are.
struct RunKind {
  std::string chip, stack;
  bool experts = false;
  bool contextParallel = false;
  /// Of the operands of matrix products: 32, 16, 8 or 4.
  int bits = 16;
  int64_t sequence = 0, gpus = 0;
  /// Gb/s of a GPU between NVLink domains; 0: all GPUs lie in one.
  double networkGbps = 0;
  /// The user's own efficiencies are in place of the fitted ones.
  bool ownEfficiencies = false;
};

/// RunKind::networkGbps of a cluster.
double networkGbps(const Cluster &cluster);

/// Published runs of one kind and one source with |predicted - measured| /
/// measured of each: by the constants that ship, and by constants that were
/// fitted without the source. Of many runs their quantiles.
struct MeasuredRuns {
  RunKind kind;
  std::string source;
  int64_t runs = 0;
  std::vector<double> fitted, heldOut;
};
using StepValidation = std::vector<MeasuredRuns>;

/// {"runs": [{"source", "chip", "stack", "experts", "context_parallel", "bits",
/// "sequence", "gpus", "network_gbps", "runs", "fitted": [...],
/// "held_out": [...]}]}
llvm::Expected<StepValidation> readValidation(const llvm::json::Value &value,
                                              llvm::StringRef where);

/// That of the constants that come with Tessera.
const StepValidation &defaultValidation();

/// How far off a predicted step time is to be expected. The errors are those of
/// the fit where enough runs of enough sources are like the one in question:
/// same chip, software, kind of model, format and use of context parallelism, a
/// sequence within a factor of two, within a factor of four as many GPUs, a
/// network about as fast. Elsewhere they are those of sources left out of a
/// fit: the runs most like it, or all, whichever are farther off.
struct ExpectedError {
  /// Runs like the one in question, and their sources.
  int64_t likeRuns = 0, likeSources = 0;
  bool heldOut = false;
  /// Why no errors of the fit: "no run with experts on h200-sxm with nemo".
  std::string why;
  /// Of each source the same weight; 0 runs: nothing at all is known.
  int64_t runs = 0, sources = 0;
  double median = 0, p90 = 0;

  /// "23 runs of 5 sources like it: within 4 % half the time, 12 % nine times
  /// of ten"
  std::string text() const;
};
ExpectedError expectedError(const StepValidation &validation,
                            const RunKind &kind);

} // namespace tessera

#endif // TESSERA_COSTMODEL_VALIDATION_H
