//===- ScalingLaws.h - from a compute budget to model and token sizes -----===//
//
// Published scaling laws as plain functions. Compute C is in FLOPs, with
// C = 6 N D (Kaplan et al. 2020, section 2.1); N is a parameter count, D a
// number of training tokens; losses are in nats per token and hold for the
// data of the paper that fitted them.
//
//===----------------------------------------------------------------------===//
#ifndef TESSERA_PLANNING_SCALINGLAWS_H
#define TESSERA_PLANNING_SCALINGLAWS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <optional>
#include <string>
#include <vector>

namespace tessera::scaling {

/// Loss as a function of size and data: E + A / N^alpha + B / D^beta.
struct ParametricLoss {
  llvm::StringRef name, source;
  double irreducible, a, b, alpha, beta;

  double loss(double parameters, double tokens) const;
  /// N that minimises the loss at 6 N D = C; closed form (Hoffmann et al.
  /// 2022, equation 4).
  double optimalParameters(double flops) const;
};

/// Hoffmann et al. 2022, arXiv 2203.15556, section 3.3 ("approach 3").
const ParametricLoss &hoffmannLoss();
/// The same data fitted again: Besiroglu et al. 2024, arXiv 2404.10102.
const ParametricLoss &besirogluLoss();
/// Kaplan et al. 2020, arXiv 2001.08361, equation 1.5; N without embeddings.
double kaplanLoss(double parameters, double tokens);

/// One law's answer to a budget.
struct Recommendation {
  std::string law;    ///< short name
  std::string source; ///< paper
  double parameters = 0;
  double tokens = 0;
  /// Loss predicted by the law's own fit; absent where the paper gives none.
  std::optional<double> loss;
  /// Training FLOPs (6 N D), and with inference (2 N per token) if asked.
  double trainingFlops = 0;
  double lifetimeFlops = 0;
};

struct Budget {
  double flops = 0;
  /// Tokens that the trained model will serve (prompt and answer).
  double inferenceTokens = 0;
  /// For the tokens-per-parameter rule.
  double tokensPerParameter = 20;
  /// Fixes one side: the other follows from C = 6 N D.
  std::optional<double> parameters, tokens;
};

/// Every law's recommendation, in the order: Chinchilla approaches 1, 2 and 3,
/// the refit, Kaplan, tokens per parameter; with inference tokens also the
/// model of least lifetime compute that reaches the loss of the refit's
/// optimum (Sardana et al. 2023, arXiv 2401.00448). With a fixed N or D one
/// row per law that predicts a loss. Fails on a budget that is not positive or
/// that fixes both sides inconsistently.
llvm::Expected<std::vector<Recommendation>> recommend(const Budget &budget);

struct ScaleOptions {
  Budget budget;
  /// What the budget was computed from, "" where it was given as FLOPs.
  std::string budgetFrom;
  bool json = false;
  bool details = false; ///< JSON with the plot as SVG
  std::string plot; ///< SVG file, "" for none
};

/// `tessera scale`: prints the table, writes the plot.
llvm::Error runScale(const ScaleOptions &options, llvm::raw_ostream &os);

} // namespace tessera::scaling

#endif // TESSERA_PLANNING_SCALINGLAWS_H
