//===- ScalingLawsTest.cpp - the laws against their papers' tables --------===//
#include "tessera/Planning/ScalingLaws.h"

#include "gtest/gtest.h"

#include <cmath>
#include <map>

using namespace tessera::scaling;

namespace {

std::map<std::string, Recommendation> byLaw(const Budget &budget) {
  auto rows = recommend(budget);
  EXPECT_TRUE(static_cast<bool>(rows));
  std::map<std::string, Recommendation> result;
  for (const Recommendation &row : *rows)
    result[row.law] = row;
  return result;
}

// Hoffmann et al. 2022, section 4: Gopher's budget of 5.76e23 FLOPs trains a
// model of 70 billion parameters on 1.4 trillion tokens.
TEST(ScalingLaws, ChinchillaForGophersBudget) {
  Budget budget;
  budget.flops = 5.76e23;
  auto laws = byLaw(budget);
  EXPECT_NEAR(laws["chinchilla-1"].parameters, 70e9, 0.05 * 70e9);
  EXPECT_NEAR(laws["chinchilla-1"].tokens, 1.4e12, 0.05 * 1.4e12);
  EXPECT_NEAR(laws["ratio"].parameters, 70e9, 0.02 * 70e9);
  EXPECT_NEAR(laws["ratio"].tokens, 1.4e12, 0.02 * 1.4e12);
}

// Hoffmann et al. 2022, tables 3 and A3: model size against the FLOPs at which
// it is optimal. The paper counts FLOPs exactly rather than by 6ND, hence 12 %.
// Approach 3's printed constants are rounded and do not reproduce its own table
// closely (Besiroglu et al. 2024, section 2), hence 30 %.
TEST(ScalingLaws, ChinchillaTables) {
  struct Row {
    const char *law;
    double flops, parameters, tolerance = 0.12;
  };
  for (const Row &row :
       {Row{"chinchilla-1", 1.23e22, 10e9}, Row{"chinchilla-1", 3.85e24, 175e9},
        Row{"chinchilla-1", 9.90e24, 280e9}, Row{"chinchilla-2", 1.32e22, 10e9},
        Row{"chinchilla-2", 4.54e24, 175e9}, Row{"chinchilla-2", 1.59e26, 1e12},
        Row{"chinchilla-3", 2.46e22, 10e9, 0.30},
        Row{"chinchilla-3", 1.71e24, 67e9, 0.30},
        Row{"chinchilla-3", 3.52e25, 280e9, 0.30}}) {
    Budget budget;
    budget.flops = row.flops;
    EXPECT_NEAR(byLaw(budget)[row.law].parameters, row.parameters,
                row.tolerance * row.parameters)
        << row.law << " at " << row.flops;
  }
}

// The closed form is the minimum of the loss along 6 N D = C.
TEST(ScalingLaws, ClosedFormIsTheMinimum) {
  for (const ParametricLoss *fit : {&hoffmannLoss(), &besirogluLoss()})
    for (double c : {1e19, 1e22, 5.76e23, 1e26}) {
      double n = fit->optimalParameters(c);
      double best = fit->loss(n, c / (6 * n));
      for (double factor : {0.5, 0.9, 0.99, 1.01, 1.1, 2.0})
        EXPECT_GT(fit->loss(n * factor, c / (6 * n * factor)), best);
    }
}

// Besiroglu et al. 2024: about 20 tokens per parameter at Chinchilla's budget.
TEST(ScalingLaws, RefitGivesTwentyTokensPerParameter) {
  Budget budget;
  budget.flops = 5.76e23;
  Recommendation row = byLaw(budget)["besiroglu"];
  EXPECT_NEAR(row.tokens / row.parameters, 20, 5);
}

// Kaplan et al. 2020: sizes grow as C^0.73, so they are larger than
// Chinchilla's at large budgets; GPT-3 (3.14e23 FLOPs) has 175e9 parameters.
TEST(ScalingLaws, KaplanFavoursLargeModels) {
  Budget budget;
  budget.flops = 3.14e23;
  auto laws = byLaw(budget);
  EXPECT_GT(laws["kaplan"].parameters, 2 * laws["chinchilla-1"].parameters);
  EXPECT_LT(laws["kaplan"].parameters, 4 * 175e9);
}

// Sardana et al. 2023: serving tokens moves the optimum to a smaller model
// trained longer; the loss stays, the lifetime compute falls.
TEST(ScalingLaws, InferenceFavoursSmallerModels) {
  Budget budget;
  budget.flops = 5.76e23;
  budget.inferenceTokens = 2e13;
  auto laws = byLaw(budget);
  const Recommendation &plain = laws["besiroglu"], &lifetime = laws["lifetime"];
  EXPECT_LT(lifetime.parameters, plain.parameters);
  EXPECT_GT(lifetime.tokens, plain.tokens);
  EXPECT_LT(lifetime.lifetimeFlops, plain.lifetimeFlops);
  EXPECT_NEAR(besirogluLoss().loss(lifetime.parameters, lifetime.tokens),
              *plain.loss, 1e-6);
  // No neighbour at the same loss is cheaper.
  for (double factor : {0.97, 1.03}) {
    double n = lifetime.parameters * factor;
    const ParametricLoss &fit = besirogluLoss();
    double d = std::pow(fit.b / (*plain.loss - fit.irreducible -
                                 fit.a / std::pow(n, fit.alpha)),
                        1 / fit.beta);
    EXPECT_GT(6 * n * d + 2 * n * budget.inferenceTokens,
              lifetime.lifetimeFlops);
  }
}

TEST(ScalingLaws, FixedSizesAndBadBudgets) {
  Budget budget;
  budget.flops = 6e20;
  budget.parameters = 1e9;
  auto rows = recommend(budget);
  ASSERT_TRUE(static_cast<bool>(rows));
  for (const Recommendation &row : *rows)
    EXPECT_NEAR(row.tokens, 1e11, 1);
  budget.tokens = 5e11;
  auto clash = recommend(budget);
  ASSERT_FALSE(static_cast<bool>(clash));
  EXPECT_NE(llvm::toString(clash.takeError()).find("give two of the three"),
            std::string::npos);
  budget = Budget();
  auto none = recommend(budget);
  ASSERT_FALSE(static_cast<bool>(none));
  llvm::consumeError(none.takeError());
}

} // namespace
