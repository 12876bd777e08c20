//===- StatisticsTest.cpp - quantiles and ranks by hand -------------------===//
#include "lib/Planning/Validate/Report.h"
#include "gtest/gtest.h"
#include <cmath>

using namespace tessera;

TEST(Statistics, WeighedQuantiles) {
  // A source of four runs and a source of one: the one weighs as much.
  ErrorSummary s = summarize({0.01, -0.02, 0.03, 0.04, -0.50},
                             {0.25, 0.25, 0.25, 0.25, 1.0});
  EXPECT_DOUBLE_EQ(s.median, 0.04); // half the weight lies at or below
  EXPECT_DOUBLE_EQ(s.p90, 0.50);
  EXPECT_DOUBLE_EQ(s.bias, -0.50);
  EXPECT_EQ(s.runs, 5u);
}

TEST(Statistics, SpearmanKnownValues) {
  // Textbook example (hours of television against IQ, ten people): -29/165.
  std::vector<double> iq = {86, 97, 99, 100, 101, 103, 106, 110, 112, 113};
  std::vector<double> tv = {2, 20, 28, 27, 50, 29, 7, 17, 6, 12};
  EXPECT_NEAR(spearman(iq, tv), -29.0 / 165.0, 1e-12);
  EXPECT_DOUBLE_EQ(spearman({1, 2, 3}, {10, 20, 30}), 1.0);
  EXPECT_DOUBLE_EQ(spearman({1, 2, 3}, {30, 20, 10}), -1.0);
  // Ties share their mean rank: ranks 1, 2.5, 2.5, 4 against 1, 2, 3, 4.
  EXPECT_NEAR(spearman({1, 2, 2, 3}, {1, 2, 3, 4}), 4.5 / std::sqrt(4.5 * 5),
              1e-12);
  EXPECT_TRUE(std::isnan(spearman({1}, {1})));
  EXPECT_TRUE(std::isnan(spearman({1, 1}, {1, 2})));
}
