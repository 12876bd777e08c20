//===- ScalingLaws.cpp - the published fits -------------------------------===//
#include "tessera/Planning/ScalingLaws.h"

#include "tessera/Support/Error.h"
#include "tessera/Support/Units.h"

#include "llvm/Support/FormatVariadic.h"

#include <cmath>

namespace tessera::scaling {

double ParametricLoss::loss(double parameters, double tokens) const {
  return irreducible + a / std::pow(parameters, alpha) +
         b / std::pow(tokens, beta);
}

double ParametricLoss::optimalParameters(double flops) const {
  double g = std::pow(alpha * a / (beta * b), 1 / (alpha + beta));
  return g * std::pow(flops / 6, beta / (alpha + beta));
}

const ParametricLoss &hoffmannLoss() {
  // Section 3.3 and appendix D.3 (rounded as printed).
  static const ParametricLoss fit{"chinchilla-3",
                                  "Hoffmann et al. 2022, approach 3",
                                  1.69,
                                  406.4,
                                  410.7,
                                  0.34,
                                  0.28};
  return fit;
}

const ParametricLoss &besirogluLoss() {
  // Table 1, "our estimate".
  static const ParametricLoss fit{
      "besiroglu", "Besiroglu et al. 2024", 1.8172, 482.01, 2085.43, 0.3478,
      0.3658};
  return fit;
}

double kaplanLoss(double parameters, double tokens) {
  // Table 3: alpha_N = 0.076, alpha_D = 0.103, N_c = 6.4e13, D_c = 1.8e13.
  const double alphaN = 0.076, alphaD = 0.103, nc = 6.4e13, dc = 1.8e13;
  return std::pow(std::pow(nc / parameters, alphaN / alphaD) + dc / tokens,
                  alphaD);
}

namespace {

constexpr double kPetaflopDay = 1e15 * 86400;

/// N = anchorN (C / anchorC)^exponent.
struct PowerLaw {
  const char *name, *source;
  double anchorParameters, anchorFlops, exponent;
};

// Exponents: table 2. Anchors: the 67-billion rows of tables 3 and A3.
const PowerLaw kApproaches[] = {
    {"chinchilla-1", "Hoffmann et al. 2022, approach 1", 67e9, 5.76e23, 0.50},
    {"chinchilla-2", "Hoffmann et al. 2022, approach 2", 67e9, 6.88e23, 0.49},
};

Recommendation make(llvm::StringRef law, llvm::StringRef source, double n,
                    double d, std::optional<double> loss,
                    double inferenceTokens) {
  Recommendation r;
  r.law = law.str();
  r.source = source.str();
  r.parameters = n;
  r.tokens = d;
  r.loss = loss;
  r.trainingFlops = 6 * n * d;
  r.lifetimeFlops = r.trainingFlops + 2 * n * inferenceTokens;
  return r;
}

/// Tokens that bring a model of `n` parameters to `loss`, or infinity.
double tokensForLoss(const ParametricLoss &fit, double n, double loss) {
  double left = loss - fit.irreducible - fit.a / std::pow(n, fit.alpha);
  return left <= 0 ? INFINITY : std::pow(fit.b / left, 1 / fit.beta);
}

/// Least 6 N D + 2 N I at the given loss. The cost is unimodal in log N: a
/// golden-section search from the smallest model that can reach the loss.
Recommendation lifetimeOptimum(const ParametricLoss &fit, double loss,
                               double largest, double inferenceTokens) {
  auto cost = [&](double logN) {
    double n = std::exp(logN);
    return 6 * n * tokensForLoss(fit, n, loss) + 2 * n * inferenceTokens;
  };
  double low = std::log(
             std::pow(fit.a / (loss - fit.irreducible), 1 / fit.alpha)),
         high = std::log(largest);
  const double ratio = (std::sqrt(5.0) - 1) / 2;
  for (int i = 0; i < 200 && high - low > 1e-10; ++i) {
    double left = high - ratio * (high - low),
           right = low + ratio * (high - low);
    if (cost(left) <= cost(right))
      high = right;
    else
      low = left;
  }
  double n = std::exp((low + high) / 2);
  return make("lifetime", "Sardana et al. 2023 on the refit", n,
              tokensForLoss(fit, n, loss), loss, inferenceTokens);
}

} // namespace

llvm::Expected<std::vector<Recommendation>> recommend(const Budget &budget) {
  const double c = budget.flops, inference = budget.inferenceTokens;
  // Beyond these the laws speak of less than one token or of more than
  // numbers hold.
  constexpr double least = 1, most = 1e60;
  if (!(c >= least && c <= most))
    return makeError(
        llvm::formatv("compute budget must be a positive number "
                      "of FLOPs, from {0:e0} to {1:e0}, got {2:e3}",
                      least, most, c));
  if (!(budget.tokensPerParameter > 0 && budget.tokensPerParameter <= 1e12))
    return makeError(llvm::formatv(
        "tokens per parameter must be positive and at most 1e12, got {0}",
        budget.tokensPerParameter));
  if (inference < 0)
    return makeError(llvm::formatv(
        "inference tokens must not be negative, got {0}", inference));
  for (const auto &side : {budget.parameters, budget.tokens})
    if (side && !(*side > 0))
      return makeError(llvm::formatv(
          "a fixed model or token size must be positive, got {0}", *side));
  std::vector<Recommendation> rows;
  if (budget.parameters || budget.tokens) {
    double n =
        budget.parameters ? *budget.parameters : c / (6 * *budget.tokens);
    double d = budget.tokens ? *budget.tokens : c / (6 * n);
    if (budget.parameters && budget.tokens &&
        std::abs(6 * n * d / c - 1) > 0.01)
      return makeError(llvm::formatv(
          "6 x {0} parameters x {1} tokens is {2:e3} FLOPs, the budget is "
          "{3:e3}; give two of the three",
          formatCount(n), formatCount(d), 6 * n * d, c));
    for (const ParametricLoss *fit : {&hoffmannLoss(), &besirogluLoss()})
      rows.push_back(
          make(fit->name, fit->source, n, d, fit->loss(n, d), inference));
    rows.push_back(make("kaplan", "Kaplan et al. 2020, equation 1.5", n, d,
                        kaplanLoss(n, d), inference));
    return rows;
  }

  for (const PowerLaw &law : kApproaches) {
    double n =
        law.anchorParameters * std::pow(c / law.anchorFlops, law.exponent);
    rows.push_back(
        make(law.name, law.source, n, c / (6 * n), std::nullopt, inference));
  }
  for (const ParametricLoss *fit : {&hoffmannLoss(), &besirogluLoss()}) {
    double n = fit->optimalParameters(c), d = c / (6 * n);
    rows.push_back(
        make(fit->name, fit->source, n, d, fit->loss(n, d), inference));
  }
  {
    // Table 6: N = 1.3e9 C^0.73 with C in petaflop-days; L = (3.1e8 / C)^0.050.
    double pfDays = c / kPetaflopDay;
    double n = 1.3e9 * std::pow(pfDays, 0.73);
    rows.push_back(make("kaplan", "Kaplan et al. 2020, table 6", n, c / (6 * n),
                        std::pow(3.1e8 / pfDays, 0.050), inference));
  }
  {
    double n = std::sqrt(c / (6 * budget.tokensPerParameter));
    rows.push_back(make(
        "ratio",
        llvm::formatv("{0:f1} tokens per parameter", budget.tokensPerParameter)
            .str(),
        n, c / (6 * n), std::nullopt, inference));
  }
  if (inference > 0) {
    const ParametricLoss &fit = besirogluLoss();
    double n = fit.optimalParameters(c);
    rows.push_back(
        lifetimeOptimum(fit, fit.loss(n, c / (6 * n)), n, inference));
  }
  return rows;
}

} // namespace tessera::scaling
