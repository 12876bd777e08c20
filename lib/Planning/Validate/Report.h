//===- Report.h - statistics of predictions -------------------------------===//
#ifndef TESSERA_LIB_PLANNING_VALIDATE_REPORT_H
#define TESSERA_LIB_PLANNING_VALIDATE_REPORT_H

#include "Case.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include <set>

namespace tessera {

/// A predicted run.
struct Outcome {
  const Case *run = nullptr;
  Prediction prediction;
  double measured = 0; ///< seconds, by the run's best metric; 0: none
  Metric metric = Metric::StepTime;
  double measuredMemory = 0, predictedMemory = 0; ///< bytes; 0: none
  bool complete = false;

  /// (predicted - measured) / measured.
  double timeError() const { return prediction.step.seconds / measured - 1.0; }
  double memoryError() const { return predictedMemory / measuredMemory - 1.0; }
};

struct ErrorSummary {
  size_t runs = 0;
  double median = 0, p90 = 0; ///< absolute, each sample with its weight
  double bias = 0;            ///< weighted median of the signed error
};

/// Weighted quantiles of |error|.
ErrorSummary summarize(const std::vector<double> &errors,
                       const std::vector<double> &weights);

/// Rank correlation with ties; NaN below two samples.
double spearman(const std::vector<double> &a, const std::vector<double> &b);

struct SweepSummary {
  std::string source, what;
  size_t layouts = 0;
  double correlation = 0, regret = 0;
};

struct Report {
  std::vector<Outcome> outcomes;
  std::vector<std::pair<std::string, std::string>> skipped; ///< run, reason
  std::vector<SweepSummary> sweeps;
  /// Sources that the constants were fitted to; the others are held out.
  std::set<std::string> fitted;
};

void findSweeps(Report &report);
void printText(const Report &report, bool runs, llvm::raw_ostream &os);
llvm::json::Value toJson(const Report &report);
/// Predicted against measured step times, one `<svg>` element.
std::string scatterFigure(const Report &report);

} // namespace tessera

#endif // TESSERA_LIB_PLANNING_VALIDATE_REPORT_H
