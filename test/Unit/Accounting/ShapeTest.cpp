//===- ShapeTest.cpp - shipped configs as shapes --------------------------===//
//
// The shape's parameter count against the list of tensors that the config
// stands for: they may differ by biases and small norms only.
//
//===----------------------------------------------------------------------===//
#include "lib/Planning/Search/Problem.h"
#include "tessera/Import/ShippedModels.h"
#include <gtest/gtest.h>

using namespace tessera;

namespace {

TEST(Shape, CountsEveryShippedModel) {
  int models = 0;
  for (const ShippedModel &model : getShippedModels()) {
    ModelConfig c = llvm::cantFail(readModelConfig(model.name));
    ModelShape s = shapeOf(c, c.maxPositions);
    double total = double(c.numParameters());
    EXPECT_NEAR(double(s.totalParameters()) / total, 1.0, 2e-3)
        << model.name.str();
    EXPECT_NEAR(double(s.activeParameters()) / double(c.numActiveParameters()),
                1.0, 2e-3)
        << model.name.str();
    ++models;
  }
  EXPECT_GT(models, 20);
}

TEST(Shape, Experts) {
  ModelShape s = shapeOf(llvm::cantFail(readModelConfig("deepseek-v3")), 4096);
  // arXiv 2412.19437, section 4.2.
  EXPECT_EQ(s.layers, 61);
  EXPECT_EQ(s.denseLayers, 3);
  EXPECT_EQ(s.experts, 256);
  EXPECT_EQ(s.topk, 8);
  EXPECT_EQ(s.expertFfn, 2048);
  EXPECT_EQ(s.sharedFfn, 2048);
  EXPECT_EQ(s.queryRank, 1536);
  EXPECT_EQ(s.keyRank, 512);
  EXPECT_EQ(s.ropeDim, 64);
}

} // namespace
